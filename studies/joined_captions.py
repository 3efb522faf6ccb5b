"""What becomes of captions that are joined? BLEU on one, two and three captions read at once.

Takes the book's recorded models of captions (trained again where ``_build/models`` does not have
them) and lets each translate test captions joined to longer sentences. The control is the same
captions translated one by one and joined after that. Scores, and no sentences, go to
``results/studies/joined_captions.json``, which chapter 2 reads. It can be stopped and started
again: what is stored is not measured again. Usage: make study NAME=joined_captions
"""

from collections.abc import Sequence

from attnmt import Translator, bleu, greedy, multi30k
from attnmt.corpus import Pair
from attnmt.metrics import Bleu, texts
from studies.study import head_of, open_store, recorded, save_store, store_of

STORE = store_of(__file__)
SEEDS = (0, 1, 2)
SYSTEMS = ("rnnencdec", "sutskever", "sutskever-forward", "rnnsearch", "luong-bidirectional")
NUMBERS = (1, 2, 3)  # captions to a sentence


def join(sentences: Sequence[str], number: int, word: str) -> list[str]:
    """Each ``number`` neighbours as one sentence: a word between them, one full stop at the end.

    Sentences that are left over are left out.
    """
    groups = zip(*[iter(sentences)] * number, strict=False)
    return [f" {word} ".join(s.rstrip(" .") for s in group) + "." for group in groups]


def join_words(sentences: Sequence[Sequence[str]], number: int, word: str) -> list[list[str]]:
    """The same for sentences that are lists of words."""
    joined = join([" ".join(words) for words in sentences], number, word)
    return [[*sentence.removesuffix(".").split(), "."] for sentence in joined]


def scores(score: Bleu) -> dict:
    """What is stored of a BLEU score."""
    return {
        "bleu": score.score,
        "brevity_penalty": score.brevity_penalty,
        "precisions": score.precisions,
        "signature": score.signature,
    }


def measure(model: Translator, pairs: Sequence[Pair]) -> dict:
    """BLEU of joined captions, read at once and one by one, against the same references."""
    sources = [pair.source for pair in pairs]
    alone = texts(model, greedy(model, sources))
    found = {}
    for number in NUMBERS:
        references = join([pair.target_text for pair in pairs], number, "and")
        at_once = texts(model, greedy(model, join_words(sources, number, "und")))
        one_by_one = join(alone, number, "and")
        found[str(number)] = {
            "at once": scores(bleu(at_once, references, lowercase=True)),
            "one by one": scores(bleu(one_by_one, references, lowercase=True)),
        }
    return found


def main() -> None:
    """Fill the store."""
    corpus = multi30k()
    pairs = [pair for pair in corpus.test if pair.source[-1] == "." == pair.target[-1]]
    sources = [pair.source for pair in pairs]
    joined = {str(number): join_words(sources, number, "und") for number in NUMBERS}
    words = {key: [len(sentence) for sentence in some] for key, some in joined.items()}
    lengths = [len(pair.source) for pair in corpus.train]
    means = {key: sum(some) / len(some) for key, some in words.items()}
    head = {
        **head_of(__file__),
        "corpus": {"name": corpus.name, "fingerprint": corpus.fingerprint},
        "pairs": len(pairs),
        "sentences": {key: len(some) for key, some in words.items()},
        "mean_words": means,
        "training_captions": len(lengths),
        "as_long_in_training": {
            key: sum(length >= mean for length in lengths) for key, mean in means.items()
        },
        "systems": {},
    }
    store = open_store(STORE, head, "systems")
    for system in SYSTEMS:
        runs = store["systems"].setdefault(system, [])
        for seed in SEEDS:
            if seed in [run["seed"] for run in runs]:
                continue
            model = recorded(f"{system}-multi30k-{seed}")
            runs.append({"seed": seed, "joined": measure(model, pairs)})
            save_store(STORE, store)
            at_once = [runs[-1]["joined"][str(n)]["at once"]["bleu"] for n in NUMBERS]
            print(system, seed, [round(score, 1) for score in at_once], flush=True)
