"""The encoder reads the source sentence and leaves an annotation for each of its words."""

from dataclasses import dataclass, replace

from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from attnmt.batches import Source


@dataclass(frozen=True)
class Memory:
    """What the decoder may look at: one annotation for each source word.

    ``annotations`` (B, S, d), ``mask`` (B, S) True = a real token, ``lengths`` (B,) true lengths.
    ``keys`` (B, S, k) is whatever the attention's score computed of the annotations once for the
    whole sentence; ``None`` where nothing attends.
    """

    annotations: Tensor
    mask: Tensor
    lengths: Tensor
    keys: Tensor | None = None

    def select(self, rows: Tensor) -> "Memory":
        """The memory of some sentences, by index: a beam repeats them, a finished one leaves."""
        return replace(
            self,
            annotations=self.annotations[rows],
            mask=self.mask[rows],
            lengths=self.lengths[rows],
            keys=None if self.keys is None else self.keys[rows],
        )


class BidirectionalGRU(nn.Module):
    """Bahdanau et al. 2015, section 3.2: ``h_j = [h_j(forward); h_j(backward)]``.

    Each annotation knows the words on both sides of word j, and most about those near it.

    Args:
        words: size of the source vocabulary.
        embedding: m, size of a word's embedding.
        hidden: n, units in each direction; an annotation has 2n numbers.
    """

    def __init__(self, words: int, embedding: int, hidden: int):
        super().__init__()
        self.embedding = nn.Embedding(words, embedding)
        self.rnn = nn.GRU(embedding, hidden, batch_first=True, bidirectional=True)
        self.annotation_size = 2 * hidden

    def forward(self, source: Source) -> tuple[Memory, Tensor]:
        """Read the sentences.

        Packing tells the GRU where each sentence ends, so that neither direction reads padding: the
        backward one starts at the last real word.

        Returns:
            The memory, and ``h_1(backward)`` (B, n): the state that has read the whole sentence
            from its end to its beginning.
        """
        embedded = self.embedding(source.ids)  # (B, S, m)
        packed = pack_padded_sequence(
            embedded, source.lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        packed_annotations, final = self.rnn(packed)  # final: (2, B, n), forward and backward
        annotations, _ = pad_packed_sequence(
            packed_annotations, batch_first=True, total_length=source.ids.size(1)
        )  # (B, S, 2n), zeros on padding
        return Memory(annotations, source.mask, source.lengths), final[1]
