"""The corpora by their names: of recorded runs, studies and the command line.

To add one, write a function that returns a :class:`.Corpus` and takes ``train``, how many training
pairs, and list it here.
"""

from collections.abc import Callable

from attnmt.corpus import Corpus, corpus_from_files, grammar_corpus, multi30k
from attnmt.evidence.joined import joined_captions

CORPORA: dict[str, Callable[..., Corpus]] = {
    "grammar": grammar_corpus,
    "multi30k": multi30k,
    "joined": joined_captions,
    "files": corpus_from_files,
}
