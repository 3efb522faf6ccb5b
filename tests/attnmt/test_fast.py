"""fast.py: the same numbers as PyTorch's own, and the same gradients.

That whole models are the same by it is in test_family.py.
"""

import pytest
import torch
from conftest import batch_of
from torch.nn.functional import cross_entropy

from attnmt import (
    Ensemble,
    Recipe,
    Translator,
    beam_search,
    fast,
    fit,
    greedy,
    luong,
    perplexity,
    rnnencdec,
    rnnsearch,
)
from attnmt.alignment import force_align
from attnmt.attention_only import attention_only
from attnmt.decoder import Decoder, LuongDecoder
from attnmt.encoder import StackedLSTM
from attnmt.fast import (
    HeldEncoder,
    HeldLSTM,
    InPlaceTranslator,
    Steps,
    cross_entropy_,
    sooner,
)

V = 35  # words


@pytest.mark.kernels
def test_a_matrix_of_steps_gets_the_gradient_of_all_of_them_each_time():
    torch.manual_seed(0)
    W = torch.randn(3, 3, dtype=torch.double, requires_grad=True)
    x = torch.randn(2, 3, dtype=torch.double, requires_grad=True)

    def after(steps, times):
        h = x
        for _ in range(times):
            h = (h @ steps).tanh()
        return h.square().sum()

    steps = Steps(W)
    for times in (1, 4):
        loss = after(steps, times)
        plain = torch.autograd.grad(after(W, times), [W, x])
        for _ in range(2):  # and once more: nothing is left of the first time
            found = torch.autograd.grad(loss, [W, x], retain_graph=True)
            torch.testing.assert_close(found, plain)


@pytest.mark.kernels
@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("constructor", [rnnsearch, rnnencdec])
def test_large_matrices_and_words_dropped_change_no_loss_and_no_gradient(
    constructor, dropout, corpus, monkeypatch
):
    monkeypatch.setattr(fast, "LARGE", 0)  # the family's models are all too small for Steps
    model = constructor(corpus, hidden=6, dropout=dropout).double()
    batch = batch_of(model, corpus.test[:5], extra=2)

    def run():
        torch.manual_seed(0)  # what is dropped
        losses = model.token_losses(batch)
        grads = torch.autograd.grad(losses.sum(), [*model.parameters()], allow_unused=True)
        return losses, grads, model.encoder(batch.source)[0].annotations  # of padding: zero

    plain = run()
    with sooner(model):
        torch.testing.assert_close(run(), plain)


@pytest.mark.kernels
@pytest.mark.parametrize("of", ["mean", "each"])
def test_cross_entropy_is_pytorchs_and_so_is_its_gradient(of):
    torch.manual_seed(0)
    x = 10 * torch.randn(6, V, dtype=torch.double)
    x[0, 3], x[1, 4] = 1e4, -1e4  # where exp(x) is no number
    y = torch.tensor([3, 4, 0, V - 1, 7, 7])
    grads, weights = [], torch.ones(6) / 6 if of == "mean" else torch.rand(6)
    ours, theirs = x.clone().requires_grad_(), x.clone().requires_grad_()
    losses = cross_entropy_(ours.clone(), y), cross_entropy(theirs, y, reduction="none")
    torch.testing.assert_close(*losses)
    for loss, given in zip(losses, (ours, theirs), strict=True):
        (loss * weights).sum().backward()
        grads.append(given.grad)
    torch.testing.assert_close(*grads)


@pytest.mark.kernels
def test_in_mixed_precision_the_loss_is_computed_in_full():
    torch.manual_seed(1)
    logits = torch.randn(10, V).bfloat16()
    y = torch.arange(10)
    losses = cross_entropy_(logits.clone(), y)
    assert losses.dtype == torch.float32
    torch.testing.assert_close(losses, cross_entropy(logits.float(), y, reduction="none"))


# ------------------------------------------------------------------------------------ the switch


@pytest.mark.parametrize(
    "use",
    [
        lambda model, corpus: fit(model, corpus, Recipe(epochs=1), progress=False),
        lambda model, corpus: greedy(model, [corpus.test[0].source]),
        lambda model, corpus: beam_search(model, [corpus.test[0].source]),
        lambda model, corpus: force_align(model, corpus.test[:2]),
        lambda model, corpus: perplexity(model, corpus.test[:2]),
    ],
    ids=["fit", "greedy", "beam_search", "force_align", "perplexity"],
)
def test_training_search_and_measurement_switch_it_on_and_off_again(use, corpus, monkeypatch):
    model = luong(corpus, hidden=4)
    seen = []
    read = HeldEncoder.read
    monkeypatch.setattr(HeldEncoder, "read", lambda *given: (seen.append(1), read(*given))[1])
    use(model, corpus)
    assert seen
    assert type(model.encoder) is StackedLSTM


def test_it_is_switched_off_after_an_error_and_by_the_outermost_alone(corpus):
    model = luong(corpus, hidden=4)
    with sooner(model):
        with sooner(model):
            pass
        assert type(model.encoder) is HeldLSTM
    assert type(model.encoder) is StackedLSTM
    with pytest.raises(TypeError), sooner(model):
        model.encoder.read(None)
    assert type(model.encoder) is StackedLSTM


def test_a_subclass_that_a_reader_wrote_stays_as_it_is(corpus):
    """Its ``step`` may say something else, so no trick may go round it."""

    class Mine(LuongDecoder):
        def step(self, Ey, state, memory):
            features, align, state = super().step(Ey, state, memory)
            return features + 1, align, state

    model = luong(corpus, feeding=True, hidden=4)
    model.decoder.__class__ = Mine
    batch = batch_of(model, corpus.test[:3])
    expected = Decoder.forward(model.decoder, batch.target_in, *model.encoder(batch.source))
    with sooner(model):
        assert type(model.decoder) is Mine
        found = model(batch)
    torch.testing.assert_close(found, expected)


def test_the_members_of_an_ensemble_have_it(corpus):
    models = luong(corpus, hidden=4), attention_only(corpus, hidden=4, heads=1)
    with sooner(Ensemble(models)):
        assert {type(model) for model in models} == {InPlaceTranslator}
        assert type(models[0].encoder) is HeldLSTM
    assert {type(model) for model in models} == {Translator}
