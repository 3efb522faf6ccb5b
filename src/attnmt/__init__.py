"""attnmt: the small package behind the book *Learning to Align*."""

from attnmt.attention import Additive, Attention, Global
from attnmt.corpus import Corpus, DataUnavailable, Pair
from attnmt.corpus import corpus_from_files, grammar_corpus, multi30k
from attnmt.decoding import Translation, force_align, greedy
from attnmt.metrics import alignment_error_rate, bleu, bleu_by_length, perplexity
from attnmt.model import Translator, rnnsearch
from attnmt.training import History, Recipe, fit
from attnmt.vocab import Vocabulary, detokenise, tokenise

__version__ = "0.1.0"
