"""Attention: compare a query with every annotation, weigh, and blend.

``Attention(score, window)`` is put together of two small parts. A *score* says how well each source
position matches the query; a *window* says which positions may take part, and what multiplies their
weights afterwards. A query always has a time axis: one decoder step is T = 1, a whole sentence T
steps at once.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from attnmt.checks import whole
from attnmt.encoder import Memory
from attnmt.fast import Linear

# ---------------------------------------------------------------------------------------- scores


class Additive(nn.Module):
    """Bahdanau's alignment model: ``e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)``.

    Bahdanau et al. 2015, appendix A.1.2.

    Args:
        query: n, size of the query s_{i-1}.
        annotation: size of an annotation h_j (2n for a bidirectional encoder).
        hidden: units of the alignment model.
    """

    def __init__(self, query: int, annotation: int, hidden: int):
        super().__init__()
        self.W_a = Linear(query, hidden, bias=False)
        self.U_a = Linear(annotation, hidden, bias=False)
        self.v_a = Linear(hidden, 1, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """``U_a h_j`` does not depend on i: (B, S, d) -> (B, S, hidden), once a sentence."""
        return self.U_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, hidden): (B, T, S)."""
        hidden = torch.tanh(self.W_a(query)[:, :, None] + keys[:, None])  # (B, T, S, hidden)
        return self.v_a(hidden).squeeze(-1)  # (B, T, S)


class Concat(nn.Module):
    """``v_a^T tanh(W_a [h_t; hbar_s])``, Luong et al. 2015, section 3.1.

    The left half of ``W_a`` meets h_t and the right half hbar_s, so the product is the sum of two,
    and the second is computed once a sentence. It is Bahdanau's additive score, asked by h_t.

    Args:
        query: n, size of the query h_t.
        annotation: size of an annotation hbar_s.
        hidden: rows of W_a.
    """

    def __init__(self, query: int, annotation: int, hidden: int):
        super().__init__()
        self.W_a = Linear(query + annotation, hidden, bias=False)
        self.v_a = Linear(hidden, 1, bias=False)
        self.n = query  # the columns of W_a that meet h_t

    def prepare(self, annotations: Tensor) -> Tensor:
        """The product of ``W_a``'s right half and hbar_s: (B, S, d) -> (B, S, hidden)."""
        return annotations @ self.W_a.weight[:, self.n :].T

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, hidden): (B, T, S)."""
        asked = query @ self.W_a.weight[:, : self.n].T  # (B, T, hidden)
        hidden = torch.tanh(asked[:, :, None] + keys[:, None])  # (B, T, S, hidden)
        return self.v_a(hidden).squeeze(-1)  # (B, T, S)


class Dot(nn.Module):
    """``h_t^T hbar_s``, Luong et al. 2015, section 3.1: no parameters, and equal sizes.

    Args:
        query: n, size of the query h_t.
        annotation: size of an annotation hbar_s.

    Raises:
        ValueError: the sizes differ.
    """

    def __init__(self, query: int, annotation: int):
        super().__init__()
        if query != annotation:
            raise ValueError(
                f"a dot product needs a query and annotations of one size, not {query} and "
                f"{annotation}: make them equal, or use General"
            )

    def prepare(self, annotations: Tensor) -> Tensor:
        """The annotations themselves, (B, S, n)."""
        return annotations

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, n): (B, T, S)."""
        return query @ keys.transpose(1, 2)


class ScaledDot(Dot):
    """``h_t^T hbar_s / sqrt(n)``, Vaswani et al. 2017, section 3.2.1."""

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, n): (B, T, S)."""
        return super().forward(query, keys) / math.sqrt(query.size(-1))


class General(nn.Module):
    """``h_t^T W_a hbar_s``, Luong et al. 2015, section 3.1: the sizes may differ.

    Args:
        query: n, size of the query h_t.
        annotation: size of an annotation hbar_s.
    """

    def __init__(self, query: int, annotation: int):
        super().__init__()
        self.W_a = Linear(annotation, query, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """``W_a hbar_s``, (B, S, d) -> (B, S, n), once a sentence."""
        return self.W_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, n): (B, T, S)."""
        return query @ keys.transpose(1, 2)


class Location(nn.Module):
    """``a_t = softmax(W_a h_t)``, Luong et al. 2015, section 3.1: positions, whatever stands there.

    ``W_a`` has a row for each position up to ``max_length``, and a sentence uses as many rows as it
    has words (footnote 6). Words behind ``max_length`` get no weight.

    Args:
        query: n, size of the query h_t.
        max_length: source positions that the score knows, at least 1.
    """

    def __init__(self, query: int, max_length: int):
        super().__init__()
        whole(1, max_length=max_length)
        self.W_a = Linear(query, max_length, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """Only how many annotations there are is kept, not what is in them: (B, S, 0)."""
        return annotations[..., :0]

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) for each of S positions: (B, T, S)."""
        scores = self.W_a(query)  # (B, T, max_length)
        missing = keys.size(1) - scores.size(-1)  # below 0 where the score knows more: cut off
        return pad(scores, (0, missing), value=-torch.inf)


# --------------------------------------------------------------------------------------- windows


class Window(nn.Module, ABC):
    """Which source positions take part, and what multiplies their weights."""

    @abstractmethod
    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor | None]:
        """Look at the source with T queries.

        Args:
            query: (B, T, n).
            memory: of S source positions.
            time: the target position of the first query, counted from 0.

        Returns:
            keep (B, T, S) or (B, 1, S), True = takes part; gain, of the same shape, or None for 1.
        """

    def is_narrow(self, memory: Memory) -> bool:
        """Whether so little takes part that touching nothing else is faster."""
        return False


class Global(Window):
    """The window that leaves nothing out: every real source word takes part."""

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, None]:
        """As :meth:`Window.forward`: the mask, and no gain."""
        return memory.mask[:, None], None


class Local(Window):
    """The window ``[p_t - D, p_t + D]`` of Luong et al. 2015, section 3.2.

    A subclass says where the window's ``centre`` p_t is, and may give its positions a ``gain``.

    Args:
        D: positions on either side of p_t, a whole number, at least 0.
        narrow: touch only the words of the window (True), or score all and mask (False). The
            numbers are the same. None decides by the length of the source.
    """

    def __init__(self, D: int, narrow: bool | None = None):
        super().__init__()
        whole(0, D=D)
        self.D = D
        self.narrow = narrow

    def is_narrow(self, memory: Memory) -> bool:
        """Whether the source is so long that touching only the window is faster.

        Measured on one core, D = 10: general gains from 200 to 400 words on (the page *What it
        costs* has the table); concat, whose score costs more, from fewer.
        """
        if self.narrow is not None:
            return self.narrow
        return memory.mask.size(1) > 16 * (2 * self.D + 1)

    @abstractmethod
    def centre(self, query: Tensor, memory: Memory, time: int) -> Tensor:
        """``p_t`` of each query: (B, T)."""

    def gain(self, s: Tensor, p: Tensor) -> Tensor | None:
        """What multiplies the weights of positions s around p_t: nothing here."""
        return None

    def look(self, s: Tensor, p: Tensor, memory: Memory) -> tuple[Tensor, Tensor | None]:
        """keep and gain of positions s, (S,) or (B, T, S), around ``p_t`` (B, T, 1)."""
        keep = ((s - p).abs() <= self.D) & (s < memory.lengths[:, None, None])
        return keep, self.gain(s, p)

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor | None]:
        """As :meth:`Window.forward`; at most 2D + 1 positions are kept."""
        s = torch.arange(memory.mask.size(1), device=query.device)  # (S,)
        return self.look(s, self.centre(query, memory, time)[..., None], memory)


class Monotonic(Local):
    """local-m: the window moves with the target, ``p_t = t``, Luong et al. 2015, section 3.2.

    Past the end of the sentence the window stays at the last word: it would be empty otherwise.
    """

    def centre(self, query: Tensor, memory: Memory, time: int) -> Tensor:
        """``p_t`` of each query: (B, T)."""
        t = torch.arange(time, time + query.size(1), device=query.device)  # (T,)
        return torch.minimum(t, memory.lengths[:, None] - 1)


class Predictive(Local):
    """local-p: ``p_t = S sigma(v_p^T tanh(W_p h_t))``, Luong et al. 2015, section 3.2.

    The weights are multiplied by ``exp(-(s - p_t)^2 / (2 sigma^2))``, sigma = D/2, and not
    normalised again. ``p_t`` learns through this Gaussian alone. S is the true length. Positions s
    count from 0 here, to S - 1, and p_t lies in (0, S); the paper counts words from 1.

    Args:
        query: n, size of the query h_t.
        D: positions on either side of p_t, which is a real number; D is whole, and at least 1.
        narrow: as of :class:`Local`.
    """

    def __init__(self, query: int, D: int, narrow: bool | None = None):
        whole(1, D=D)  # with D = 0 the Gaussian would have no width
        super().__init__(D, narrow)
        self.W_p = Linear(query, query, bias=False)
        self.v_p = Linear(query, 1, bias=False)

    def centre(self, query: Tensor, memory: Memory, time: int) -> Tensor:
        """``p_t`` of each query: (B, T), from 0 to the sentence's length."""
        share = torch.sigmoid(self.v_p(torch.tanh(self.W_p(query)))).squeeze(-1)  # (B, T)
        return memory.lengths[:, None] * share

    def gain(self, s: Tensor, p: Tensor) -> Tensor:
        """The Gaussian around p_t, of the shape of ``s - p``."""
        sigma = self.D / 2
        return torch.exp(-((s - p) ** 2) / (2 * sigma**2))


# ------------------------------------------------------------------------------- score x window


class Attention(nn.Module):
    """A score and a window, put together.

    Raises:
        ValueError: a location score with a local window, which say where to look twice.
    """

    def __init__(self, score: nn.Module, window: Window):
        super().__init__()
        if isinstance(score, Location) and isinstance(window, Local):
            raise ValueError(
                "a location score has one row for each position of the whole sentence, so it takes "
                "the global window; a local window needs a score that compares contents"
            )
        self.score = score
        self.window = window

    def prepare(self, memory: Memory) -> Memory:
        """Compute once for a sentence what does not depend on the query."""
        return replace(memory, keys=self.score.prepare(memory.annotations))

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor]:
        """Attend with T queries, the first of them at target position ``time``.

        Args:
            query: (B, T, n).
            memory: prepared, of S source positions.
            time: target position of the first query, counted from 0.

        Returns:
            context (B, T, d), the weighted sum of annotations; align (B, T, S), the weights.
        """
        if self.window.is_narrow(memory):
            return self.attend_within(query, memory, time)
        keep, gain = self.window(query, memory, time)
        align = weigh(self.score(query, memory.keys), keep, gain)  # (B, T, S)
        return align @ memory.annotations, align

    def attend_within(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor]:
        """The same as :meth:`forward`, touching only the 2D + 1 words of each local window."""
        B, T, _ = query.shape
        S = memory.mask.size(1)
        p = self.window.centre(query, memory, time)[..., None]  # (B, T, 1)
        first = (p.detach() - self.window.D).ceil().long().clamp(min=0)  # (B, T, 1)
        s = first + torch.arange(2 * self.window.D + 1, device=query.device)  # (B, T, W)
        keep, gain = self.window.look(s, p, memory)  # (B, T, W)
        s = s.clamp(max=S - 1)  # past the end, where nothing is kept, any position will do
        rows = torch.arange(B, device=query.device)[:, None, None]  # (B, 1, 1)
        keys = memory.keys[rows, s]  # (B, T, W, k)
        annotations = memory.annotations[rows, s]  # (B, T, W, d)
        # each query meets its own window: B T sentences of W words, one query each
        scores = self.score(query.flatten(0, 1)[:, None], keys.flatten(0, 1))  # (B T, 1, W)
        weights = weigh(scores.view(keep.shape), keep, gain)  # (B, T, W)
        context = (weights[:, :, None] @ annotations).squeeze(2)  # (B, T, d)
        align = weights.new_zeros(B, T, S).scatter_add(2, s, weights)
        return context, align


def weigh(scores: Tensor, keep: Tensor, gain: Tensor | None) -> Tensor:
    """Softmax over the positions that are kept, zero elsewhere, times the gain."""
    align = scores.masked_fill(~keep, -torch.inf).softmax(dim=-1)
    return align if gain is None else align * gain


class FixedContext(nn.Module):
    """What stands in attention's place in RNNencdec: the same ``c = h_S`` at every step.

    Bahdanau et al. 2015, section 2.1 and appendix A: RNNsearch with c_i fixed to the last forward
    state *is* the RNN encoder-decoder of Cho et al. 2014. Nothing attends, so there are no weights.
    """

    def prepare(self, memory: Memory) -> Memory:
        """Nothing to prepare."""
        return memory

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, None]:
        """``c`` for each of T queries: (B, T, d), and no weights."""
        rows = torch.arange(len(memory.lengths), device=memory.lengths.device)
        c = memory.annotations[rows, memory.lengths - 1]  # (B, d)
        return c[:, None].expand(-1, query.size(1), -1), None


# ----------------------------------------------------------------------------- both, by their names

# A score is made of n, numbers of a query, d, of an annotation, and the positions it may know.
SCORES: dict[str, Callable[[int, int, int], nn.Module]] = {
    "additive": lambda n, d, max_length: Additive(n, d, n),
    "concat": lambda n, d, max_length: Concat(n, d, n),
    "dot": lambda n, d, max_length: Dot(n, d),
    "scaled-dot": lambda n, d, max_length: ScaledDot(n, d),
    "general": lambda n, d, max_length: General(n, d),
    "location": lambda n, d, max_length: Location(n, max_length),
}
# A window is made of n, numbers of a query, and D.
WINDOWS: dict[str, Callable[[int, int], Window]] = {
    "global": lambda n, D: Global(),
    "local-m": lambda n, D: Monotonic(D),
    "local-p": lambda n, D: Predictive(n, D),
}
