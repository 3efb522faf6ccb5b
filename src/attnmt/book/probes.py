"""Probes: what a vector holds, and what one attention decision does to the next.

A linear probe reads source words off the vector that an encoder hands over. With input feeding, the
vector that holds what step t found is read in step t + 1: further functions reach into that path,
change what is fed, or follow the gradient back through it.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnmt.attention import Attention, Dot, Global
from attnmt.batches import pad
from attnmt.decoder import LuongDecoder
from attnmt.encoder import Memory, StackedLSTM
from attnmt.model import Translator, evaluating
from attnmt.pairs import Pair
from attnmt.vocab import BOS

CHUNK = 500  # sentences that are read at once
Feed = Callable[[Tensor, Tensor], Tensor]  # h_t and h~_t (B, 1, n), to what the next step reads


def handed_over(model: Translator, pairs: Sequence[Pair]) -> Tensor:
    """The last encoder state of every pair's source, with a 1 for the bias: (pairs, n + 1)."""
    rows = []
    with torch.no_grad():
        for start in range(0, len(pairs), CHUNK):
            some = pairs[start : start + CHUNK]
            ids = [model.source_vocabulary.encode(pair.source) for pair in some]
            rows.append(model.encoder(pad(ids))[1].double())
    c = torch.cat(rows)
    return torch.cat([c, torch.ones(len(c), 1, dtype=c.dtype)], dim=1)


def fit_probe(c: Tensor, y: Tensor, words: int) -> Tensor:
    """Weights (n + 1, words) that map vectors to one-hot words by damped least squares.

    Args:
        c: (pairs, n + 1), as :func:`handed_over` gives them.
        y: (pairs,), the index of each pair's word.
        words: size of the vocabulary.

    Raises:
        ValueError: there are more or fewer words than vectors.
    """
    if len(c) != len(y):
        raise ValueError(f"{len(c)} vectors for {len(y)} words: give one word for each vector")
    hits = c.new_zeros(words, c.size(1)).index_add(0, y, c).T  # (n + 1, words)
    return torch.linalg.solve(c.T @ c + torch.eye(c.size(1), dtype=c.dtype), hits)


def make_decoder(feeding: bool) -> tuple[StackedLSTM, LuongDecoder]:
    """A small encoder and decoder to test, always with the same weights.

    12 words, embeddings of 4 numbers, 6 units, the dot score.
    """
    torch.manual_seed(1)
    encoder = StackedLSTM(vocab_size=12, embedding_size=4, hidden_size=6)
    attention = Attention(Dot(6, 6), Global())
    decoder = LuongDecoder(12, 4, 6, attention=attention, annotation_size=6, feeding=feeding)
    return encoder, decoder


def next_look(
    model: Translator, source: Sequence[str], words: Sequence[str], found_at: int | None = None
) -> tuple[Tensor, str]:
    """Where a decoder looks after some words, and what it would write there.

    Args:
        model: a one-layer Luong model, with input feeding or without.
        source: S source words.
        words: what is already written, at least one word.
        found_at: pretend that the last of these words was found at this place of the source: its
            annotation becomes the whole context of that step. None: leave it as it was.

    Returns:
        The weights of the next step, (S,), and its most probable word.
    """
    read = pad([model.source_vocabulary.encode(source)])
    ids = [BOS, *model.target_vocabulary.encode(words)]
    with evaluating(model):
        memory, state = model.start(read)
        for y_prev in ids[:-1]:
            _, _, state = model.step(torch.tensor([y_prev]), state, memory)
        if found_at is not None:
            joined = torch.cat([memory.annotations[:, found_at], state.h[-1]], dim=-1)
            state = state._replace(h_tilde=torch.tanh(model.decoder.W_c(joined)))
        log_p, align, _ = model.step(torch.tensor([ids[-1]]), state, memory)
    return align[0], model.target_vocabulary.words[int(log_p.argmax())]


def unroll(
    decoder: LuongDecoder,
    target_in: Tensor,
    memory: Memory,
    final: tuple[Tensor, Tensor],
    *,
    feed: Feed | None = None,
) -> tuple[list[Tensor], list[Tensor]]:
    """The decoder's loop, written out, so that every a_t can be held.

    Args:
        decoder: of one layer.
        target_in: what it reads, (B, T).
        memory, final: from the encoder.
        feed: says what the next step reads, h~_t if not given. Only a decoder with input feeding
            reads it.

    Returns:
        All a_t (B, 1, S) and all h~_t (B, n), as parts of one graph.
    """
    memory, state = decoder.start(memory, final)
    recurrent = (state.h, state.cell)
    fed = state.h_tilde
    aligns = []
    vectors = []
    for t, Ey in enumerate(decoder.embedding(target_in).unbind(dim=1)):
        read = torch.cat([Ey, fed], dim=-1) if decoder.feeding else Ey
        h_t, recurrent = decoder.rnn(read[:, None], recurrent)
        h_tilde, align = decoder.attend(h_t, memory, t)
        aligns.append(align)
        vectors.append(h_tilde.squeeze(1))
        fed = (feed(h_t, h_tilde) if feed else h_tilde).squeeze(1)
    return aligns, vectors


def influence(aligns: Sequence[Tensor], t: int, earlier: int) -> float:
    """Norm of the gradient of the largest weight of a_t by the row a_earlier; 0 without a path."""
    (gradient,) = torch.autograd.grad(
        aligns[t].max(), aligns[earlier], retain_graph=True, allow_unused=True
    )
    return 0.0 if gradient is None else float(gradient.norm())


def deepest(last: Tensor) -> int:
    """Most softmaxes on any path of the graph that ends in a tensor."""
    known: dict[object, int] = {}
    stack = [last.grad_fn]
    while stack:
        node = stack[-1]
        before = [n for n, _ in node.next_functions if n is not None]
        if waiting := [n for n in before if n not in known]:
            stack += waiting
            continue
        most = max((known[n] for n in before), default=0)
        known[stack.pop()] = most + ("Softmax" in type(node).__name__)
    return known[last.grad_fn]
