"""attnmt: the small package behind the book *Learning to Align*."""

from attnmt.attention import Additive, Concat, Dot, General, Location, ScaledDot
from attnmt.attention import Attention, Global, Monotonic, Predictive
from attnmt.corpus import Corpus, Pair
from attnmt.corpus import corpus_from_files, grammar_corpus, multi30k
from attnmt.decoding import Ensemble, Translation, beam_search, greedy
from attnmt.decoding import force_align, read_dictionary, replace_unknown
from attnmt.metrics import alignment_error_by_class, alignment_error_rate
from attnmt.metrics import bleu, bleu_by_length, paired_bootstrap, perplexity
from attnmt.model import Translator, luong, rnnencdec, rnnsearch, sutskever
from attnmt.recipes import BAHDANAU, LUONG, LUONG_DROPOUT, Recipe
from attnmt.training import History, fit
from attnmt.vocab import Vocabulary, detokenise, tokenise
from attnmt.text import DataUnavailable

__version__ = "1.0.0"

__all__ = [
    "BAHDANAU",
    "LUONG",
    "LUONG_DROPOUT",
    "Additive",
    "Attention",
    "Concat",
    "Corpus",
    "DataUnavailable",
    "Dot",
    "Ensemble",
    "General",
    "Global",
    "History",
    "Location",
    "Monotonic",
    "Pair",
    "Predictive",
    "Recipe",
    "ScaledDot",
    "Translation",
    "Translator",
    "Vocabulary",
    "alignment_error_by_class",
    "alignment_error_rate",
    "beam_search",
    "bleu",
    "bleu_by_length",
    "corpus_from_files",
    "detokenise",
    "fit",
    "force_align",
    "grammar_corpus",
    "greedy",
    "luong",
    "multi30k",
    "paired_bootstrap",
    "perplexity",
    "read_dictionary",
    "replace_unknown",
    "rnnencdec",
    "rnnsearch",
    "sutskever",
    "tokenise",
]
