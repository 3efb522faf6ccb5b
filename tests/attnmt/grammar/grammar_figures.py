"""Print what the controlled corpus is like: `python tests/attnmt/grammar/grammar_figures.py`.

Every figure is computed from pairs drawn now: 24,000 in all, of which 5,000 are the test set.
"""

import time
from collections import Counter

from attnmt import alignment_error_rate, grammar_corpus
from attnmt.grammar import Grammar, linked, names


def reordering(pairs):
    """Share of sure links more than 3 positions off the diagonal, and of pairs whose length ratio
    is outside 0.9 to 1.1."""
    far = links = unequal = 0
    for pair in pairs:
        ratio = len(pair.target) / len(pair.source)
        far += sum(abs(i * ratio - j) > 3 for i, j in pair.sure)
        links += len(pair.sure)
        unequal += not 0.9 <= ratio <= 1.1
    return far / links, unequal / len(pairs)


def one_link(pair):
    """The best that one link a target word can do: a sure one, or else a possible one."""
    best = {j: (i, j) for i, j in sorted(pair.possible)}
    best |= {j: (i, j) for i, j in sorted(pair.sure)}
    return set(best.values())


def diagonal(pair):
    """Each target word linked to the source word at the same place."""
    m, n = len(pair.source), len(pair.target)
    return {(min(m - 1, round(j * m / n)), j) for j in range(n)}


def two_readings(count):
    """Sources that came with different targets among `count` sentences drawn as they come."""
    grammar, seen = Grammar(99), {}
    for _ in range(count):
        pair = linked(*grammar.sentence(4 + int(37 * grammar.random())))
        for side in (0, 1):
            seen.setdefault((side, pair[side]), set()).add(pair[1 - side])
    return [sum(len(t) > 1 for (s, _), t in seen.items() if s == side) for side in (0, 1)]


def main():
    start = time.process_time()
    corpus = grammar_corpus(train=17_900, valid=500, test=5_000, long=300, names=300)
    seconds = time.process_time() - start
    parts = {p: getattr(corpus, p) for p in ("train", "valid", "test", "long", "names")}
    everything = [pair for part in parts.values() for pair in part]
    print(
        f"{len(everything):,} pairs in {seconds:.1f} CPU-seconds, fingerprint {corpus.fingerprint}"
    )
    for part, pairs in parts.items():
        far, unequal = reordering(pairs)
        lengths = [len(pair.source) for pair in pairs]
        print(
            f"{part:6} {len(pairs):6,} pairs  {min(lengths)}-{max(lengths)} words, mean "
            f"{sum(lengths) / len(pairs):.1f}  off the diagonal {far:.1%}  unequal {unequal:.1%}"
        )
    known = {
        n for kind in ("person", "town") for list_ in names(kind)[:2] for p in list_ for n in p
    }
    for side, language in enumerate(("German", "English")):
        words = Counter(w for pair in corpus.train for w in (pair.source, pair.target)[side])
        plain = sum(word not in known for word in words)
        print(f"{language}: {plain} word types and {len(words) - plain} names in train")
    for name, align in (("one link a word, at best", one_link), ("diagonal", diagonal)):
        rate = alignment_error_rate([align(pair) for pair in corpus.test], corpus.test)
        print(f"test AER, {name}: {rate:.3f}")
    print(
        "20,000 sentences drawn freely, with two targets: de-en {}, en-de {}".format(
            *two_readings(20_000)
        )
    )


if __name__ == "__main__":
    main()
