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


def read(rnn: nn.RNNBase, embedded: Tensor, source: Source) -> tuple[Tensor, Any]:
    """Run a recurrent network over sentences of different lengths.

    It never reads padding: the forward direction stops at the last real word, and the backward one
    starts there.

    Args:
        rnn: a torch.nn.GRU or LSTM, ``batch_first``.
        embedded: (B, S, m).
        source: whose words were embedded.

    Returns:
        states (B, S, d), zeros on padding; and the network's own final state.
    """
    if isinstance(rnn, nn.LSTM) and rnn.num_layers == 1 and not embedded.is_cuda:
        return held(rnn, embedded, source)
    return packed(rnn, embedded, source)


def packed(rnn: nn.RNNBase, embedded: Tensor, source: Source) -> tuple[Tensor, Any]:
    """As :func:`read`: PyTorch is told where each sentence ends."""
    lengths = source.lengths.cpu()
    S = embedded.size(1)
    words = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
    words, final = rnn(words)
    states, _ = pad_packed_sequence(words, batch_first=True, total_length=S)
    return states, final


def held(lstm: nn.LSTM, embedded: Tensor, source: Source) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """As :func:`read`, of one layer of LSTM, in half the time: packing keeps it from one call.

    All positions are read, but a further input, 1 on padding, opens the forget gate and shuts the
    input gate, so that the cell is held: ``c_j = 1 c_{j-1} + 0 g_j``. The backward direction waits
    so at zero until it meets the last real word. (The output gate is not asked: h on padding means
    nothing.)
    """
    n = lstm.hidden_size
    hold = embedded.new_zeros(4 * n, 1)  # on the gates i, f, g, o
    hold[:n] = -FAR
    hold[n : 2 * n] = FAR
    weights: list[Tensor] = []
    for W, *others in lstm.all_weights:  # of each direction
        weights += [torch.cat([W, hold], dim=1), *others]
    words = torch.cat([embedded, ~source.mask[..., None]], dim=-1)  # (B, S, m + 1)
    zero = embedded.new_zeros(len(lstm.all_weights), len(words), n)
    how = {"has_biases": True, "num_layers": 1, "dropout": 0.0, "batch_first": True}
    how |= {"train": lstm.training, "bidirectional": lstm.bidirectional}
    states, _, c = torch.lstm(words, (zero, zero), weights, **how)
    rows = torch.arange(len(words))
    last = [states[rows, source.lengths - 1, :n], states[:, 0, n:]]  # forward, backward
    return states * source.mask[..., None], (torch.stack(last[: len(c)]), c)


FAR = 1e4  # sigmoid(1e4) = 1 and sigmoid(-1e4) = 0


class ForwardGRU(nn.Module):
    """The encoder of RNNencdec (Cho et al. 2014): one GRU, from the first word to the last.

    It is PyTorch's GRU, which is not quite the papers': r multiplies *after* the product with U,
    ``n = tanh(W x + r * (U h))``, and z and 1 - z have changed places. (The decoder's is theirs.)

    Args:
        words: size of the source vocabulary.
        embedding: m, size of a word's embedding.
        hidden: n, units, which is the size of an annotation.
        dropout: share of each word's embedding that training sets to zero.
    """

    directions = 1

    def __init__(self, words: int, embedding: int, hidden: int, dropout: float = 0.0):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.rnn = nn.GRU(embedding, hidden, batch_first=True, bidirectional=self.directions == 2)
        self.annotation_size = self.directions * hidden
        self.dropout = dropout

    def forward(self, source: Source) -> tuple[Memory, Tensor]:
        """Read the sentences.

        Returns:
            The memory, and the last direction's final state (B, n), which has read the whole
            sentence: ``h_S``, or, of two directions, ``h_1(backward)``.
        """
        embedded = dropout(self.embedding(source.ids), self.dropout, self.training)
        annotations, final = read(self.rnn, embedded, source)
        return Memory(annotations, source.mask), final[-1]


class BidirectionalGRU(ForwardGRU):
    """Bahdanau et al. 2015, section 3.2: ``h_j = [h_j(forward); h_j(backward)]``.

    Each annotation knows the words on both sides of word j, and most about those near it. The GRU
    is PyTorch's, which departs from the paper's as :class:`ForwardGRU` says.

    Args:
        words: size of the source vocabulary.
        embedding: m, size of a word's embedding.
        hidden: n, units in each direction; an annotation has 2n numbers. The final state is
            ``h_1(backward)``, which has read the sentence from its end to its beginning.
        dropout: share of each word's embedding that training sets to zero.
    """

    directions = 2


class StackedLSTM(nn.Module):
    """The encoder of Sutskever et al. 2014 and Luong et al. 2015: layers of LSTM.

    The top layer's states are the annotations. A sentence may be read from its end to its beginning
    (``reverse``); its annotations are put back into the order of the words, so that whatever comes
    after, attention included, speaks of the words as they were written.

    Args:
        words: size of the source vocabulary.
        embedding: m, size of a word's embedding.
        hidden: n, size of an annotation; of two directions, each has n/2 units.
        layers: LSTMs on top of each other.
        bidirectional: read in both directions (neither paper does).
        reverse: read backwards (Sutskever et al. 2014, section 3.3).
        dropout: share of the inputs of each layer that training sets to zero (Zaremba et al. 2014).
    """

    def __init__(
        self,
        words: int,
        embedding: int,
        hidden: int,
        layers: int = 1,
        bidirectional: bool = False,
        reverse: bool = False,
        dropout: float = 0.0,
    ):
        super().__init__()
        if bidirectional and hidden % 2:
            raise ValueError(f"hidden must be even for a bidirectional encoder, not {hidden}")
        self.embedding = nn.Embedding(words, embedding)
        units = hidden // 2 if bidirectional else hidden
        inner = dropout if layers > 1 else 0.0
        options = {"batch_first": True, "dropout": inner, "bidirectional": bidirectional}
        self.rnn = nn.LSTM(embedding, units, layers, **options)
        self.annotation_size = hidden
        self.reverse = reverse
        self.dropout = dropout

    def forward(self, source: Source) -> tuple[Memory, tuple[Tensor, Tensor]]:
        """Read the sentences.

        Returns:
            The memory, and every layer's final state and cell, each (layers, B, n).
        """
        ids = source.ids
        order = None
        if self.reverse:
            order = reversed_positions(source)  # (B, S)
            ids = ids.gather(1, order)
        embedded = dropout(self.embedding(ids), self.dropout, self.training)
        states, final = read(self.rnn, embedded, source)  # (B, S, n)
        if order is not None:  # turning round twice is the order of the words
            states = states.gather(1, order[..., None].expand_as(states))
        if self.rnn.bidirectional:  # (layers * 2, B, n/2) -> (layers, B, n)
            final = tuple(torch.cat([part[0::2], part[1::2]], dim=-1) for part in final)
        return Memory(states, source.mask), final


def reversed_positions(source: Source) -> Tensor:
    """For each position the one that it changes places with when a sentence is turned: (B, S).

    Padding stays where it is.
    """
    positions = torch.arange(source.ids.size(1), device=source.ids.device)  # (S,)
    return torch.where(source.mask, source.lengths[:, None] - 1 - positions, positions)
