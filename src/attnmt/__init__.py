"""attnmt: the small package behind the book *Learning to Align*.

An order of reading, equations first::

    attention   scores, windows, softmax, the context: Bahdanau et al. 2015, Luong et al. 2015
    encoder     from words to annotations, and the memory that a decoder attends to
    decoder     the step: previous word, state and context to the next word
    model       encoder and decoder as one translator; the papers' models by name
    training    the loop: batches, losses, clipped gradients, validation, checkpoints
    decoding    greedy search, beam search, ensembles
    alignment   which words belong together; alignment error; unknown words

Then the text (``vocab``, ``pairs``, ``corpus``, ``batches``), how to train (``recipes``), what
measures a translator (``metrics``), the Transformer of chapter 9 (``attention_only``), the same
numbers sooner (``fast``), several processes (``scale``), the command (``cli``), and what all of
them use (``files``, ``checks``).
"""

from attnmt.attention import Additive, Concat, Dot, General, Location, ScaledDot
from attnmt.attention import Attention, Global, Local, Monotonic, Predictive
from attnmt.attention import SCORES, FixedContext, weigh
from attnmt.encoder import BidirectionalGRU, ForwardGRU, Memory, StackedLSTM
from attnmt.decoder import BahdanauDecoder, Decoder, LuongDecoder, LuongState
from attnmt.decoder import SutskeverDecoder
from attnmt.model import Translator, luong, rnnencdec, rnnsearch, sutskever
from attnmt.training import History, fit
from attnmt.recipes import BAHDANAU, LUONG, LUONG_DROPOUT, Recipe
from attnmt.decoding import Ensemble, Translation, beam_search, greedy
from attnmt.alignment import force_align, read_dictionary, replace_unknown
from attnmt.alignment import alignment_error_by_class, alignment_error_rate
from attnmt.metrics import bleu, bleu_by_length, chrf, paired_bootstrap, perplexity
from attnmt.metrics import texts, without_unknown
from attnmt.batches import make_batch, pad
from attnmt.pairs import Corpus, Pair
from attnmt.corpus import corpus_from_files, grammar_corpus, multi30k
from attnmt.vocab import BOS, EOS, PAD, Vocabulary, detokenise, tokenise
from attnmt.text import DataUnavailable

__version__ = "2.0.0"
