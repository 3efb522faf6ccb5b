"""The encoder reads the source sentence and leaves an annotation for each of its words."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnmt.batches import Source


@dataclass(frozen=True)
class Memory:
    """What the decoder may look at: one annotation for each source word.

    ``annotations`` (B, S, d), ``mask`` (B, S) True = a real token; all real tokens come first.
    ``keys`` (B, S, k) is whatever the attention's score computed of the annotations once for the
    whole sentence; ``None`` where nothing attends.
    """

    annotations: Tensor
    mask: Tensor
    keys: Tensor | None = None

    @property
    def lengths(self) -> Tensor:
        """The true lengths, (B,), as the mask tells them."""
        return self.mask.sum(dim=1)

    def select(self, rows: Tensor) -> "Memory":
        """The memory of some sentences, by index: a beam repeats them, a finished one leaves."""
        keys = None if self.keys is None else self.keys[rows]
        return Memory(self.annotations[rows], self.mask[rows], keys)


class RecurrentEncoder(nn.Module):
    """What the encoders share: the words' ``embedding``, and the recurrent network ``rnn``.

    Attributes:
        annotation_size: d, size of an annotation.
        dropout: share of each word's embedding that training sets to zero.
    """

    embedding: nn.Embedding
    rnn: nn.GRU | nn.LSTM
    annotation_size: int
    dropout: float

    def read(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Any]:
        """Run the network over sentences of different lengths.

        It never reads padding: the forward direction stops at the last real word, and the backward
        one starts there.

        Args:
            ids: word indices, (B, S).
            lengths: true lengths, (B,).

        Returns:
            states (B, S, d), zeros on padding; and the network's own final state.
        """
        embedded = dropout(self.embedding(ids), self.dropout, self.training)  # (B, S, m)
        packed = pack_padded_sequence(
            embedded, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        packed, final = self.rnn(packed)
        states, _ = pad_packed_sequence(packed, batch_first=True, total_length=ids.size(1))
        return states, final


class ForwardGRU(RecurrentEncoder):
    """The encoder of RNNencdec (Cho et al. 2014): one GRU, from the first word to the last.

    It is PyTorch's GRU, which is not quite the papers': r multiplies *after* the product with U,
    ``n = tanh(W x + r * (U h))``, and z and 1 - z have changed places. (The decoder's is theirs.)

    Args:
        vocab_size: number of words in the source vocabulary.
        embedding_size: m, size of a word's embedding.
        hidden_size: n, units, which is the size of an annotation.
        dropout: share of each word's embedding that training sets to zero.
    """

    directions = 1

    def __init__(
        self, vocab_size: int, embedding_size: int, hidden_size: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.rnn = nn.GRU(
            embedding_size, hidden_size, batch_first=True, bidirectional=self.directions == 2
        )
        self.annotation_size = self.directions * hidden_size
        self.dropout = dropout

    def forward(self, source: Source) -> tuple[Memory, Tensor]:
        """Read the sentences.

        Returns:
            The memory, and the last direction's final state (B, n), which has read the whole
            sentence: ``h_S``, or, of two directions, ``h_1(backward)``.
        """
        annotations, final = self.read(source.ids, source.lengths)
        return Memory(annotations, source.mask), final[-1]


class BidirectionalGRU(ForwardGRU):
    """Bahdanau et al. 2015, section 3.2: ``h_j = [h_j(forward); h_j(backward)]``.

    Each annotation knows the words on both sides of word j, and most about those near it. The GRU
    is PyTorch's, which departs from the paper's as :class:`ForwardGRU` says.

    Args:
        vocab_size: number of words in the source vocabulary.
        embedding_size: m, size of a word's embedding.
        hidden_size: n, units in each direction; an annotation has 2n numbers. The final state is
            ``h_1(backward)``, which has read the sentence from its end to its beginning.
        dropout: share of each word's embedding that training sets to zero.
    """

    directions = 2


class StackedLSTM(RecurrentEncoder):
    """The encoder of Sutskever et al. 2014 and Luong et al. 2015: layers of LSTM.

    The top layer's states are the annotations. A sentence may be read from its end to its beginning
    (``reverse``); its annotations are put back into the order of the words, so that whatever comes
    after, attention included, speaks of the words as they were written.

    Args:
        vocab_size: number of words in the source vocabulary.
        embedding_size: m, size of a word's embedding.
        hidden_size: n, size of an annotation; of two directions, each has n/2 units.
        layers: LSTMs on top of each other.
        bidirectional: read in both directions (neither paper does).
        reverse: read backwards (Sutskever et al. 2014, section 3.3).
        dropout: share of the inputs of each layer that training sets to zero (Zaremba et al. 2014).

    Raises:
        ValueError: two directions, and an odd ``hidden_size``.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        hidden_size: int,
        layers: int = 1,
        bidirectional: bool = False,
        reverse: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        if bidirectional and hidden_size % 2:
            raise ValueError(f"hidden must be even for a bidirectional encoder, not {hidden_size}")
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.rnn = nn.LSTM(
            embedding_size,
            hidden_size // 2 if bidirectional else hidden_size,
            layers,
            batch_first=True,
            dropout=dropout if layers > 1 else 0.0,  # between layers
            bidirectional=bidirectional,
        )
        self.annotation_size = hidden_size
        self.reverse = reverse
        self.dropout = dropout

    def forward(self, source: Source) -> tuple[Memory, tuple[Tensor, Tensor]]:
        """Read the sentences.

        Returns:
            The memory, and every layer's final state and cell, each (layers, B, n).
        """
        if self.reverse:
            order = reversed_positions(source)  # (B, S)
            states, final = self.read(source.ids.gather(1, order), source.lengths)  # (B, S, n)
            states = states.gather(1, order[..., None].expand_as(states))  # the words' order again
        else:
            states, final = self.read(source.ids, source.lengths)  # (B, S, n)
        if self.rnn.bidirectional:  # (layers * 2, B, n/2) to (layers, B, n)
            final = tuple(torch.cat([part[0::2], part[1::2]], dim=-1) for part in final)
        return Memory(states, source.mask), final


def reversed_positions(source: Source) -> Tensor:
    """For each position the one that it changes places with when a sentence is turned: (B, S).

    Padding stays where it is.
    """
    positions = torch.arange(source.ids.size(1), device=source.ids.device)  # (S,)
    return torch.where(source.mask, source.lengths[:, None] - 1 - positions, positions)
