"""A translator made of look-ups, without recurrence: the model of chapter 9.

It is a small Transformer (Vaswani et al. 2017, "Attention is all you need") that keeps the core's
protocol: an encoder makes a :class:`.Memory`, and a :class:`.Decoder` goes on word by word, with a
state that is a value. So the core trains it, searches with it and measures it as it is.

Shapes: B sentences, T queries or target words, S keys or source words, n numbers a word, H heads.
A mask is True where a query may look.
"""

from dataclasses import replace
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from attnmt.batches import Batch, Source
from attnmt.checks import whole
from attnmt.decoder import Decoder
from attnmt.encoder import Memory
from attnmt.model import Translator, Vocabularies, check_options, evaluating, seeded


def look_up(
    query: Tensor, keys: Tensor, values: Tensor, mask: Tensor, *, scaled: bool = True
) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention, ``softmax(Q K^T / sqrt(n)) V``.

    Vaswani et al. 2017, equation 1.

    Args:
        query: (..., T, n).
        keys: (..., S, n).
        values: (..., S, d).
        mask: (..., T, S) or (..., 1, S), True where a query may look, at least once a row.
        scaled: whether the scores are divided by ``sqrt(n)``.

    Returns:
        The answers (..., T, d), and the weights (..., T, S).
    """
    scores = query @ keys.transpose(-1, -2)  # (..., T, S)
    if scaled:
        scores = scores / keys.size(-1) ** 0.5
    align = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return align @ values, align


def positional_encoding(first: int, count: int, n: int) -> Tensor:
    """Sines and cosines of the positions first, first + 1, ...: (count, n), n even.

    Vaswani et al. 2017, section 3.5.
    """
    p = torch.arange(first, first + count)[:, None]  # (count, 1)
    speed = 10_000 ** (-torch.arange(0, n, 2) / n)  # (n/2,)
    angle = p * speed  # (count, n/2)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def causal_mask(t: int, T: int) -> Tensor:
    """Who may look at whom among t words that are kept and T new ones: (1, T, t + T).

    New word k, from 0, sees t + k + 1 words: those kept, the new ones before it, and itself.
    """
    return torch.ones(1, T, t + T, dtype=torch.bool).tril(diagonal=t)


class MultiHeadAttention(nn.Module):
    """H look-ups side by side, each with n/H numbers (Vaswani et al. 2017, section 3.2.2).

    The matrices of all heads lie in one. Keys and values are made outside of ``forward``, by
    ``W_KV``, so that a decoder can keep them.

    Args:
        hidden_size: n, numbers of a word, a multiple of ``heads``.
        heads: H.
    """

    def __init__(self, hidden_size: int, heads: int):
        super().__init__()
        self.heads = heads
        self.W_Q = nn.Linear(hidden_size, hidden_size)
        self.W_KV = nn.Linear(hidden_size, 2 * hidden_size)  # [W_K; W_V]
        self.W_O = nn.Linear(hidden_size, hidden_size)

    def split(self, x: Tensor) -> Tensor:
        """Cut each word's numbers into heads: (B, T, n) to (B, H, T, n/H)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def by_head(self, x: Tensor, read: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """As ``forward``, before the heads are joined.

        Returns:
            answers (B, H, T, n/H), align (B, H, T, S).
        """
        query = self.split(self.W_Q(x))
        keys, values = (self.split(half) for half in read.chunk(2, dim=-1))
        return look_up(query, keys, values, mask=mask[:, None])

    def forward(self, x: Tensor, read: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Words x (B, T, n) ask; ``read`` (B, S, 2n) is ``W_KV`` of those that answer.

        Returns:
            (B, T, n), and the weights, a mean over the heads (B, T, S).
        """
        answers, align = self.by_head(x, read, mask)
        joined = answers.transpose(1, 2).flatten(2)  # (B, T, n)
        return self.W_O(joined), align.mean(dim=1)


def feed_forward(hidden_size: int) -> nn.Sequential:
    """What a block computes of each word alone (Vaswani et al. 2017, equation 2)."""
    wider = 4 * hidden_size
    return nn.Sequential(nn.Linear(hidden_size, wider), nn.ReLU(), nn.Linear(wider, hidden_size))


class EncoderBlock(nn.Module):
    """One layer of the encoder: self-attention and a feed-forward layer, each added to its input.

    Each part reads its *normalised* input. (Vaswani et al. 2017, section 3.1, normalise after the
    addition; this order trains without a warm-up, Xiong et al. 2020.)

    Args:
        hidden_size: n, numbers of a word.
        heads: of the look-up.
        dropout: of what each part adds (section 5.4).
    """

    def __init__(self, hidden_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.own = MultiHeadAttention(hidden_size, heads)
        self.feed = feed_forward(hidden_size)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_size) for _ in range(2))
        self.drop = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Words x (B, S, n), mask (B, 1, S) or (B, S, S), to (B, S, n)."""
        normed = self.norms[0](x)
        x = x + self.drop(self.own(normed, self.own.W_KV(normed), mask)[0])
        return x + self.drop(self.feed(self.norms[1](x)))


class SelfAttentionEncoder(nn.Module):
    """Embeddings and positions, through some blocks (Vaswani et al. 2017, section 3.1).

    Args:
        vocab_size: number of words in the source vocabulary.
        hidden_size: n, numbers of a word.
        heads: of each look-up.
        blocks: how many.
        dropout: of embeddings with their positions, and in each block.

    Attributes:
        first: position of the first word.
    """

    first = 0

    def __init__(
        self, vocab_size: int, hidden_size: int, heads: int, blocks: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.blocks = nn.ModuleList(
            EncoderBlock(hidden_size, heads, dropout) for _ in range(blocks)
        )
        self.norm = nn.LayerNorm(hidden_size)
        self.drop = nn.Dropout(dropout)

    def forward(self, source: Source) -> tuple[Memory, None]:
        """Source words (B, S) to annotations (B, S, n); there is no final state."""
        x = self.embedding(source.ids)  # (B, S, n)
        x = self.drop(x + positional_encoding(self.first, *x.shape[1:]).to(x))
        for block in self.blocks:
            x = block(x, source.mask[:, None])
        return Memory(self.norm(x), source.mask), None


class DecoderBlock(nn.Module):
    """One layer of the decoder: target words read those before them, then the source.

    The second look-up, cross-attention, is where the papers before had their attention: queries
    from the decoder, keys and values from the annotations. Its arguments are those of
    :class:`EncoderBlock`.
    """

    def __init__(self, hidden_size: int, heads: int, dropout: float = 0.0):
        super().__init__()
        self.own = MultiHeadAttention(hidden_size, heads)
        self.cross = MultiHeadAttention(hidden_size, heads)
        self.feed = feed_forward(hidden_size)
        self.norms = nn.ModuleList(nn.LayerNorm(hidden_size) for _ in range(3))
        self.drop = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, past: Tensor, causal: Tensor, *, read: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """T new words after the t whose keys and values are kept.

        Args:
            x: the new words (B, T, n).
            past: ``W_KV`` of the words before (B, t, 2n).
            causal: (1, T, t + T), of :func:`causal_mask`.
            read: ``W_KV`` of the source (B, S, 2n).
            mask: of the source (B, 1, S).

        Returns:
            (B, T, n); past with the new words (B, t + T, 2n); the weights on the source (B, T, S).
        """
        normed = self.norms[0](x)
        past = torch.cat([past, self.own.W_KV(normed)], dim=1)
        x = x + self.drop(self.own(normed, past, causal)[0])
        found, align = self.cross(self.norms[1](x), read, mask)
        x = x + self.drop(found)
        return x + self.drop(self.feed(self.norms[2](x))), past, align


class Past(NamedTuple):
    """The decoder's state, its cache: ``seen``, keys and values of t words (blocks, B, t, 2n)."""

    seen: Tensor

    def select(self, rows: Tensor) -> "Past":
        """The past of some hypotheses, by index."""
        return Past(self.seen[:, rows])


class SelfAttentionDecoder(Decoder):
    """Target words so far to features of the next one (Vaswani et al. 2017, section 3.1).

    In training all words go through at once; in search each step adds one word to the cache. The
    alignment is that of the last block's cross-attention, a mean over its heads. Its arguments are
    those of :class:`SelfAttentionEncoder`, with the size V of the target vocabulary.
    """

    attention = None  # it has several
    attends = True
    first = 0

    def __init__(
        self, vocab_size: int, hidden_size: int, heads: int, blocks: int, dropout: float = 0.0
    ):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, hidden_size)
        self.blocks = nn.ModuleList(
            DecoderBlock(hidden_size, heads, dropout) for _ in range(blocks)
        )
        self.norm = nn.LayerNorm(hidden_size)
        self.dropout = dropout
        self.W_o = nn.Linear(hidden_size, vocab_size)

    @property
    def each_block(self) -> list[DecoderBlock]:
        """The blocks, one by one."""
        return cast(list[DecoderBlock], list(self.blocks))

    def start(self, memory: Memory, final: None) -> tuple[Memory, Past]:
        """Keys and values of the source, once for all blocks and steps; an empty past."""
        h = memory.annotations  # (B, S, n)
        read = torch.cat([block.cross.W_KV(h) for block in self.each_block], dim=-1)
        empty = h.new_empty(len(self.blocks), len(h), 0, 2 * h.size(-1))
        return replace(memory, keys=read), Past(empty)

    def run(self, Ey: Tensor, state: Past, memory: Memory) -> tuple[Tensor, Tensor, Past]:
        """T new words Ey (B, T, n): features (B, T, n), align (B, T, S), the longer past."""
        t = state.seen.size(2)
        T = Ey.size(1)
        x = self.drop(Ey + positional_encoding(self.first + t, T, Ey.size(-1)).to(Ey))
        causal = causal_mask(t, T).to(x.device)
        mask = memory.mask[:, None]  # (B, 1, S)
        assert memory.keys is not None, "the memory must be prepared by start"
        reads = memory.keys.chunk(len(self.blocks), dim=-1)
        seen = []
        for block, past, read in zip(self.blocks, state.seen, reads, strict=True):
            x, past, align = block(x, past, causal, read=read, mask=mask)
            seen.append(past)
        return self.norm(x), align, Past(torch.stack(seen))

    def step(self, Ey: Tensor, state: Past, memory: Memory) -> tuple[Tensor, Tensor, Past]:
        """One word, Ey (B, n): features (B, n), align (B, S), the longer past."""
        features, align, state = self.run(Ey[:, None], state, memory)
        return features[:, 0], align[:, 0], state

    def forward(self, target_in: Tensor, memory: Memory, final: None) -> tuple[Tensor, Tensor]:
        """All words of the reference (B, T) at once: features (B, T, n), align (B, T, S)."""
        memory, state = self.start(memory, final)
        features, align, _ = self.run(self.embed(target_in), state, memory)
        return features, align

    def readout(self, features: Tensor) -> Tensor:
        """Features (..., n) to logits (..., V)."""
        return self.W_o(features)


def attention_only(
    corpus: Vocabularies,
    hidden: int = 128,
    heads: int = 4,
    *,
    blocks: int = 2,
    dropout: float = 0.0,
    seed: int = 0,
) -> Translator:
    """The model of chapter 9: look-ups, and no recurrence (after Vaswani et al. 2017).

    Args:
        corpus: gives the vocabularies.
        hidden: n, numbers of a word, a multiple of ``heads``.
        heads: of each look-up.
        blocks: of the encoder, and of the decoder.
        dropout: see :class:`SelfAttentionDecoder`.
        seed: draws the first weights.

    Raises:
        ValueError: ``hidden`` is odd, or no multiple of ``heads``; an argument out of its range.
    """
    check_options(corpus, "torch", 0.0, seed)
    whole(1, hidden=hidden, heads=heads, blocks=blocks)
    if hidden % heads or hidden % 2:
        raise ValueError(f"hidden must be even and a multiple of heads, not {hidden} of {heads}")
    source = len(corpus.source_vocabulary)
    target = len(corpus.target_vocabulary)
    with seeded(seed):
        encoder = SelfAttentionEncoder(source, hidden, heads, blocks, dropout)
        decoder = SelfAttentionDecoder(target, hidden, heads, blocks, dropout)
    model = Translator(encoder, decoder, corpus)
    model.config = {"model": "attention_only", "hidden": hidden, "heads": heads, "blocks": blocks}
    model.config |= {"seed": seed, "dropout": dropout}
    return model


def align_by_head(model: Translator, batch: Batch) -> Tensor:
    """Where each head of the cross-attention looks while the model reads the references.

    Returns:
        The weights, (blocks, B, H, T, S).

    Raises:
        ValueError: another kind of model.
    """
    if not isinstance(model.decoder, SelfAttentionDecoder):
        raise ValueError("only a model made by attention_only has heads")
    crosses = [block.cross for block in model.decoder.each_block]
    asked: list[tuple] = []
    hooks = [
        cross.register_forward_pre_hook(lambda _, given: asked.append(given)) for cross in crosses
    ]
    try:
        with evaluating(model):
            model(batch)
            each = zip(crosses, asked, strict=True)
            return torch.stack([cross.by_head(*given)[1] for cross, given in each])
    finally:
        for hook in hooks:
            hook.remove()
