"""What search is worth: beams, length normalisation, ensembles, unknown words replaced.

Takes the book's recorded models (trained again where ``_build/models`` does not have them),
searches the test sentences in several ways, and stores BLEU and paired-bootstrap p-values in
``results/studies/decoding.json``, which chapter 7 reads. Only scores are stored, no sentences.
What the file already holds is not computed again: delete the file to start anew.
Usage: make study NAME=decoding
"""

import time
from collections.abc import Callable
from dataclasses import asdict, replace

from attnmt import Ensemble, beam_search, bleu, force_align, greedy, replace_unknown
from attnmt.corpus import Corpus, Pair
from attnmt.decoding import Translation, read_dictionary
from attnmt.evidence.corpora import CORPORA
from attnmt.metrics import paired_bootstrap, texts
from studies.study import head_of, open_store, recorded, save_store, store_of

STORE = store_of(__file__)
NAMES = ("grammar", "multi30k")  # of the corpora
SEEDS = (0, 1, 2)
SYSTEMS = ("rnnsearch", "luong-bidirectional")
BEAMS = (1, 2, 5, 10, 25)
PENALTIES = (0.0, 0.5, 1.0, 1.5)
WIDTHS = (1, 2, 5, 10)


class Judge:
    """Measures translations of the same pairs against their references."""

    def __init__(self, model, pairs: list[Pair]):
        self.model = model
        self.sentences = [pair.source for pair in pairs]
        self.references = [pair.target_text for pair in pairs]

    def score(self, found: list[Translation]) -> dict:
        """BLEU, and how long the translations are against the references."""
        result = bleu(texts(self.model, found), self.references, lowercase=True)
        words = sum(len(text.split()) for text in texts(self.model, found))
        ratio = words / sum(len(text.split()) for text in self.references)
        return {
            "bleu": result.score,
            "length": ratio,
            "log_p": sum(translation.score for translation in found) / len(found),
            "signature": result.signature,
        }

    def compare(self, baseline: list[Translation], system: list[Translation]) -> dict:
        """The second's gain over the first, with its p-value."""
        both = [texts(self.model, found) for found in (baseline, system)]
        return asdict(paired_bootstrap(*both, self.references, lowercase=True))


def with_unknown(model, pairs: list[Pair]) -> list[Pair]:
    """Those whose source has a word that the model does not know."""
    return [p for p in pairs if any(word not in model.source_vocabulary for word in p.source)]


def without_unknown(model, corpus: Corpus, sentences, found: list[Translation]) -> dict:
    """What may be done about ``<unk>``: each way's translations."""
    dictionary = read_dictionary(force_align(model, corpus.train), corpus.train)
    return {
        "copied": replace_unknown(found, sentences),
        "looked up": replace_unknown(found, sentences, dictionary),
        "known words only": greedy(model, sentences, unknown=False),
    }


def unknown_words(model, corpus: Corpus, pairs: list[Pair]) -> dict:
    """What each way of doing without ``<unk>`` gains, where a source word is unknown."""
    judge = Judge(model, with_unknown(model, pairs))
    found = greedy(model, judge.sentences)
    others = without_unknown(model, corpus, judge.sentences, found=found)
    return {
        "pairs": len(judge.sentences),
        "written": sum("<unk>" in translation.words for translation in found),
        **{way: judge.compare(found, other) for way, other in others.items()},
    }


def study(system: str, name: str) -> dict:
    """All comparisons of one system on one corpus."""
    corpus = CORPORA[name]()
    pairs = corpus.test + corpus.long
    models = [recorded(f"{system}-{name}-{seed}") for seed in SEEDS]
    judge = Judge(models[0], pairs)
    ones = [greedy(model, judge.sentences) for model in models]
    began = time.process_time()
    fives = [beam_search(model, judge.sentences, beam=5) for model in models]
    beam_seconds = time.process_time() - began
    ensemble = Ensemble(models)
    together = greedy(ensemble, judge.sentences)
    together_5 = beam_search(ensemble, judge.sentences, beam=5)
    found = {
        "greedy": [judge.score(one) for one in ones],
        "beam 5 over greedy": [judge.compare(*both) for both in zip(ones, fives, strict=True)],
        "beam 5 CPU-seconds": beam_seconds / len(models),
        "ensemble of 3, greedy, over each": [judge.compare(one, together) for one in ones],
        "ensemble of 3, beam 5, over each": [judge.compare(five, together_5) for five in fives],
        "width": {},
        "length penalty": {},
        "unknown words": [unknown_words(model, corpus, corpus.test) for model in models],
    }
    if corpus.names:
        found["unseen names"] = [unknown_words(model, corpus, corpus.names) for model in models]
    for beam in BEAMS if system == SYSTEMS[-1] else ():
        wide = [beam_search(model, judge.sentences, beam=beam) for model in models]
        found["width"][str(beam)] = [judge.score(one) for one in wide]
    for penalty in PENALTIES:
        some = [beam_search(m, judge.sentences, beam=5, length_penalty=penalty) for m in models]
        found["length penalty"][str(penalty)] = [judge.score(one) for one in some]
    return found


def blanked(found: list[Translation]) -> list[Translation]:
    """``<unk>`` as a word that sacreBLEU's tokeniser leaves whole: it cuts ``<unk>`` into three."""
    return [replace(t, words=["unk" if w == "<unk>" else w for w in t.words]) for t in found]


def as_one_token(system: str, name: str) -> dict:
    """The comparisons once more, with each ``<unk>`` measured as one wrong word, not as three."""
    corpus = CORPORA[name]()
    models = [recorded(f"{system}-{name}-{seed}") for seed in SEEDS]
    judge = Judge(models[0], corpus.test)
    ones = [greedy(model, judge.sentences) for model in models]
    fives = [beam_search(model, judge.sentences, beam=5) for model in models]
    together = blanked(beam_search(Ensemble(models), judge.sentences, beam=5))
    found = {
        "greedy": [judge.score(blanked(one)) for one in ones],
        "beam 5": [judge.score(blanked(five)) for five in fives],
        "beam 5 over greedy": [
            judge.compare(blanked(one), blanked(five))
            for one, five in zip(ones, fives, strict=True)
        ],
        "ensemble of 3, beam 5, over each": [judge.compare(blanked(f), together) for f in fives],
    }
    for part in ("test", "names"):
        if not getattr(corpus, part):
            continue
        found[part] = []
        for model in models:
            judge = Judge(model, with_unknown(model, getattr(corpus, part)))
            raw = greedy(model, judge.sentences)
            others = without_unknown(model, corpus, judge.sentences, found=raw)
            found[part].append(
                {"<unk> as one word": judge.compare(raw, blanked(raw))}
                | {way: judge.compare(blanked(raw), other) for way, other in others.items()}
            )
    return found


def wide(name: str, penalty: float, beam: int) -> list[dict]:
    """One width of the beam with one length penalty, on the test sentences: each seed's scores.

    Beside BLEU, how often the search came back with no word at all, and how often with a
    translation that is less probable than greedy's.
    """
    corpus = CORPORA[name]()
    scores = []
    for seed in SEEDS:
        model = recorded(f"{SYSTEMS[-1]}-{name}-{seed}")
        judge = Judge(model, corpus.test)
        ones = greedy(model, judge.sentences)
        found = beam_search(
            model,
            judge.sentences,
            beam,
            length_penalty=penalty,
            batch_size=max(16, 320 // beam),
        )
        below = sum(a.score < b.score - 1e-3 for a, b in zip(found, ones, strict=True))
        empty = sum(not translation.words for translation in found)
        more = {"<unk> as three": judge.score(found)["bleu"], "empty": empty, "below greedy": below}
        scores.append(judge.score(blanked(found)) | more)
    return scores


def normalised(system: str, name: str) -> dict:
    """A beam of 5 on the test sentences with several length penalties."""
    models = [recorded(f"{system}-{name}-{seed}") for seed in SEEDS]
    judge = Judge(models[0], CORPORA[name]().test)
    found = {}
    for penalty in PENALTIES:
        some = [beam_search(m, judge.sentences, beam=5, length_penalty=penalty) for m in models]
        found[str(penalty)] = [judge.score(blanked(one)) for one in some]
    return found


def main() -> None:
    """Fill the store, one system and corpus after the other."""
    head = {
        **head_of(__file__),
        "corpora": {name: CORPORA[name]().fingerprint for name in NAMES},
        "seeds": SEEDS,
    }
    store = open_store(STORE, head)

    def keep(key: str, compute: Callable[..., object], *arguments: object) -> None:
        if key not in store:
            store[key] = compute(*arguments)
            print(key, flush=True)
            save_store(STORE, store)

    for name in NAMES:
        for system in SYSTEMS:
            keep(f"{system}-{name}", study, system, name)
            keep(f"{system}-{name}, <unk> as one word", as_one_token, system, name)
    for system in SYSTEMS:
        keep(f"{system}-multi30k, length penalty", normalised, system, "multi30k")
    for beam in WIDTHS:
        for penalty in (0.0, 1.0):
            keep(f"width {beam}, penalty {penalty}, multi30k", wide, "multi30k", penalty, beam)
