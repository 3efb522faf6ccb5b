"""Attention: compare a query with every annotation, weigh, and blend.

``Attention(score, window)`` is put together of two small parts. A *score* says how well each source
position matches the query. A *window* says which positions may take part, and what multiplies their
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

# ---------------------------------------------------------------------------------------- scores


class Score(nn.Module, ABC):
    """How well a query matches each annotation.

    A new score is a subclass with ``prepare`` and ``forward``, and an entry in ``SCORES`` below. If
    it needs queries and annotations of one size, or looks at positions alone, it says so by the two
    attributes.

    Attributes:
        equal_sizes: whether ``query_size`` and ``annotation_size`` must be the same.
        reads_contents: whether the scores depend on what is in the annotations. A score that only
            knows positions takes no local window.
    """

    equal_sizes = False
    reads_contents = True

    @classmethod
    def of(cls, query_size: int, annotation_size: int, max_length: int) -> "Score":
        """The score of a whole model, which knows these three sizes."""
        return cls(query_size, annotation_size)

    @abstractmethod
    def prepare(self, annotations: Tensor) -> Tensor:
        """Annotations (B, S, d) to keys (B, S, k): what does not depend on the query."""

    @abstractmethod
    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, k): (B, T, S)."""


class Additive(Score):
    """Bahdanau's alignment model: ``e_ij = v_a^T tanh(W_a s_{i-1} + U_a h_j)``.

    Bahdanau et al. 2015, appendix A.1.2.

    Args:
        query_size: n, size of the query s_{i-1}.
        annotation_size: d, size of an annotation h_j (2n for a bidirectional encoder).
        hidden_size: units of the alignment model; n if not given.
    """

    def __init__(self, query_size: int, annotation_size: int, hidden_size: int | None = None):
        super().__init__()
        hidden_size = query_size if hidden_size is None else hidden_size
        self.W_a = nn.Linear(query_size, hidden_size, bias=False)
        self.U_a = nn.Linear(annotation_size, hidden_size, bias=False)
        self.v_a = nn.Linear(hidden_size, 1, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """``U_a h_j`` does not depend on i: (B, S, d) to (B, S, hidden), once a sentence."""
        return self.U_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, hidden): (B, T, S)."""
        hidden = torch.tanh(self.W_a(query)[:, :, None] + keys[:, None])  # (B, T, S, hidden)
        return self.v_a(hidden).squeeze(-1)  # (B, T, S)


class Concat(Score):
    """``v_a^T tanh(W_a [h_t; hbar_s])``, Luong et al. 2015, section 3.1.

    The left half of ``W_a`` meets h_t and the right half hbar_s, so the product is the sum of two,
    and the second is computed once a sentence. This is Bahdanau's additive score with h_t as the
    query.

    Args:
        query_size: n, size of the query h_t.
        annotation_size: d, size of an annotation hbar_s.
        hidden_size: rows of W_a; n if not given.
    """

    def __init__(self, query_size: int, annotation_size: int, hidden_size: int | None = None):
        super().__init__()
        hidden_size = query_size if hidden_size is None else hidden_size
        self.query_size = query_size  # the columns of W_a that meet h_t
        self.W_a = nn.Linear(query_size + annotation_size, hidden_size, bias=False)
        self.v_a = nn.Linear(hidden_size, 1, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """The product of ``W_a``'s right half and hbar_s: (B, S, d) to (B, S, hidden)."""
        return annotations @ self.W_a.weight[:, self.query_size :].T

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, hidden): (B, T, S)."""
        of_query = query @ self.W_a.weight[:, : self.query_size].T  # (B, T, hidden)
        hidden = torch.tanh(of_query[:, :, None] + keys[:, None])  # (B, T, S, hidden)
        return self.v_a(hidden).squeeze(-1)  # (B, T, S)


class Dot(Score):
    """``h_t^T hbar_s``, Luong et al. 2015, section 3.1: no parameters, and equal sizes.

    Args:
        query_size: n, size of the query h_t.
        annotation_size: size of an annotation hbar_s; n too.

    Raises:
        ValueError: the sizes differ.
    """

    equal_sizes = True

    def __init__(self, query_size: int, annotation_size: int):
        super().__init__()
        if query_size != annotation_size:
            raise ValueError(
                f"a dot product needs a query and annotations of one size, not {query_size} and "
                f"{annotation_size}: make them equal, or use General"
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


class General(Score):
    """``h_t^T W_a hbar_s``, Luong et al. 2015, section 3.1: the sizes may differ.

    Args:
        query_size: n, size of the query h_t.
        annotation_size: d, size of an annotation hbar_s.
    """

    def __init__(self, query_size: int, annotation_size: int):
        super().__init__()
        self.W_a = nn.Linear(annotation_size, query_size, bias=False)

    def prepare(self, annotations: Tensor) -> Tensor:
        """``W_a hbar_s``, (B, S, d) to (B, S, n), once a sentence."""
        return self.W_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores of queries (B, T, n) against prepared keys (B, S, n): (B, T, S)."""
        return query @ keys.transpose(1, 2)


class Location(Score):
    """``a_t = softmax(W_a h_t)``, Luong et al. 2015, section 3.1: positions, whatever stands there.

    ``W_a`` has a row for each position up to ``max_length``, and a sentence uses as many rows as it
    has words (footnote 6). Words behind ``max_length`` get no weight.

    Args:
        query_size: n, size of the query h_t.
        max_length: source positions that the score knows, at least 1.
    """

    reads_contents = False

    def __init__(self, query_size: int, max_length: int):
        super().__init__()
        whole(1, max_length=max_length)
        self.W_a = nn.Linear(query_size, max_length, bias=False)

    @classmethod
    def of(cls, query_size: int, annotation_size: int, max_length: int) -> "Location":
        """As :meth:`Score.of`: it needs the number of positions, and not the annotations' size."""
        return cls(query_size, max_length)

    def prepare(self, annotations: Tensor) -> Tensor:
        """Only the number of annotations is kept, not what is in them: (B, S, 0)."""
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
            mask (B, T, S) or (B, 1, S), True = takes part; weight, what multiplies the weights of
            these positions after the softmax, (B, T, S), or None for 1.
        """


class Global(Window):
    """Global attention, Luong et al. 2015, section 3.1: every real source word takes part."""

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, None]:
        """As :meth:`Window.forward`: the sentence's mask, and no weight."""
        return memory.mask[:, None], None


class Local(Window):
    """The window ``[p_t - D, p_t + D]`` of Luong et al. 2015, section 3.2.

    A subclass says where the window's ``centre`` p_t is, and may ``weight`` its positions.

    Args:
        D: positions on either side of p_t, a whole number, at least 0.
    """

    def __init__(self, D: int):
        super().__init__()
        whole(0, D=D)
        self.D = D

    @abstractmethod
    def centre(self, query: Tensor, memory: Memory, time: int) -> Tensor:
        """``p_t`` of each query: (B, T)."""

    def weight(self, s: Tensor, p_t: Tensor) -> Tensor | None:
        """What multiplies the attention to positions s (S,) around ``p_t`` (B, T, 1): nothing."""
        return None

    def forward(self, query: Tensor, memory: Memory, time: int) -> tuple[Tensor, Tensor | None]:
        """As :meth:`Window.forward`; at most 2D + 1 positions take part."""
        s = torch.arange(memory.mask.size(1), device=query.device)  # (S,)
        p_t = self.centre(query, memory, time)[..., None]  # (B, T, 1)
        mask = ((s - p_t).abs() <= self.D) & memory.mask[:, None]  # (B, T, S)
        return mask, self.weight(s, p_t)


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
        query_size: n, size of the query h_t.
        D: positions on either side of p_t, which is a real number; D is whole, and at least 1.
    """

    def __init__(self, query_size: int, D: int):
        whole(1, D=D)  # with D = 0 the Gaussian would have no width
        super().__init__(D)
        self.W_p = nn.Linear(query_size, query_size, bias=False)
        self.v_p = nn.Linear(query_size, 1, bias=False)

    def centre(self, query: Tensor, memory: Memory, time: int) -> Tensor:
        """``p_t`` of each query: (B, T), from 0 to the sentence's length."""
        share = torch.sigmoid(self.v_p(torch.tanh(self.W_p(query)))).squeeze(-1)  # (B, T)
        return memory.lengths[:, None] * share

    def weight(self, s: Tensor, p_t: Tensor) -> Tensor:
        """The Gaussian around ``p_t`` (B, T, 1) at positions s (S,): (B, T, S)."""
        sigma = self.D / 2
        return torch.exp(-((s - p_t) ** 2) / (2 * sigma**2))


# ------------------------------------------------------------------------------- score x window


class Attention(nn.Module):
    """A score and a window, put together.

    Raises:
        ValueError: a score of positions alone with a local window: both would say where to look.
    """

    def __init__(self, score: Score, window: Window):
        super().__init__()
        if not score.reads_contents and isinstance(window, Local):
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
        mask, weight = self.window(query, memory, time)
        align = weigh(self.score(query, memory.keys), mask, weight)  # (B, T, S)
        return align @ memory.annotations, align


def weigh(scores: Tensor, mask: Tensor, weight: Tensor | None) -> Tensor:
    """Softmax of scores (B, T, S) over the mask, 0 elsewhere, times the window's weight."""
    align = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    return align if weight is None else align * weight


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
        context = memory.annotations[rows, memory.lengths - 1]  # (B, d)
        return context[:, None].expand(-1, query.size(1), -1), None


# ----------------------------------------------------------------------------- both, by their names

SCORES: dict[str, type[Score]] = {
    "additive": Additive,
    "concat": Concat,
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "general": General,
    "location": Location,
}
# A window is made of n, the size of a query, and D.
WINDOWS: dict[str, Callable[[int, int], Window]] = {
    "global": lambda query_size, D: Global(),
    "local-m": lambda query_size, D: Monotonic(D),
    "local-p": lambda query_size, D: Predictive(query_size, D),
}
