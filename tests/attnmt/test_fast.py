"""fast.py: the same numbers as PyTorch's own, and the same gradients.

That whole models are the same by it is in test_family.py.
"""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

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
    rnnsearch,
)
from attnmt.attention_only import attention_only
from attnmt.batches import make_batch
from attnmt.decoder import Decoder, LuongDecoder
from attnmt.decoding import force_align
from attnmt.encoder import StackedLSTM
from attnmt.fast import (
    HeldEncoder,
    HeldLSTM,
    InPlaceTranslator,
    Linear,
    Steps,
    cross_entropy_,
    product,
    sooner,
)

pytestmark = pytest.mark.kernels

N, V = 5, 35


@pytest.fixture
def all_are_large(monkeypatch):
    """Every product of float32 is left to oneDNN, whatever the processor."""
    if not fast.has_onednn():
        pytest.skip("this PyTorch has no product by oneDNN")
    monkeypatch.setattr(fast, "ONEDNN", True)
    monkeypatch.setattr(fast, "LARGE", 0)


def drawn(*shape, columns=False):
    """Numbers of a shape, gradient wanted; in columns they lie transposed in memory."""
    draw = torch.randn(*shape[:-2], shape[-1], shape[-2]).mT if columns else torch.randn(*shape)
    return draw.requires_grad_()


@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("columns", [True, False])
@pytest.mark.parametrize("words", [1, 16, V])
@pytest.mark.parametrize("shape", [(1, N), (7, N), (2, 3, N)])
def test_a_product_and_its_gradients_are_those_of_a_linear_layer(
    shape, words, columns, biased, all_are_large
):
    torch.manual_seed(0)
    x, W = drawn(*shape, columns=columns), drawn(words, N, columns=columns)
    given = (x, W, drawn(words)) if biased else (x, W)
    out, expected = product(*given), linear(*given)
    assert "_Product" in out.grad_fn.name()
    torch.testing.assert_close(out, expected)
    weights = torch.randn_like(out)
    grads = [torch.autograd.grad((of * weights).sum(), given) for of in (out, expected)]
    torch.testing.assert_close(*grads)


def test_what_needs_no_gradient_gets_none(all_are_large):
    x, W = drawn(3, N).detach(), drawn(V, N)
    b = drawn(V).detach()
    product(x, W, b).sum().backward()
    assert x.grad is None and b.grad is None
    torch.testing.assert_close(W.grad, x.sum(0).expand(V, N))


@pytest.mark.filterwarnings("ignore:TF32")  # of PyTorch's own switch, on putting it back
@pytest.mark.parametrize("why", ["small", "double", "switched off", "does not pay"])
def test_other_products_are_left_to_pytorch(why, monkeypatch):
    monkeypatch.setattr(fast, "ONEDNN", why != "does not pay")
    monkeypatch.setattr(fast, "LARGE", 3 * V * N + (why == "small"))
    x, W = drawn(3, N), drawn(V, N)
    if why == "double":
        x, W = x.double(), W.double()
    with torch.backends.mkldnn.flags(enabled=why != "switched off"):
        assert "_Product" not in product(x, W).grad_fn.name()


@pytest.mark.parametrize("operator", [True, False])
@pytest.mark.parametrize("processor", ["AVX512", "AVX2", "DEFAULT", "SVE256"])
def test_onednn_pays_with_avx512_and_its_operator_alone(processor, operator, monkeypatch):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: processor)
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    there = SimpleNamespace(_linear_pointwise=None) if operator else SimpleNamespace()
    monkeypatch.setattr(torch.ops, "mkldnn", there)
    assert fast.onednn_pays() == (operator and processor == "AVX512")


def test_a_linear_layer_is_kept_as_pytorchs_is():
    torch.manual_seed(0)
    ours = Linear(N, V)
    torch.manual_seed(0)
    theirs = torch.nn.Linear(N, V)
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=0, atol=0)
    x = torch.randn(2, N)
    assert torch.equal(ours(x), theirs(x))


def test_a_matrix_of_steps_gets_the_gradient_of_all_of_them_each_time():
    torch.manual_seed(0)
    W = torch.randn(3, 3, dtype=torch.double, requires_grad=True)
    x = torch.randn(2, 3, dtype=torch.double, requires_grad=True)

    def after(steps, times):
        h = x
        for _ in range(times):
            h = steps(h).tanh()
        return h.square().sum()

    steps = Steps(W)
    for times in (1, 4):
        loss = after(steps, times)
        plain = torch.autograd.grad(after(lambda h: linear(h, W), times), [W, x])
        for _ in range(2):  # and once more: nothing is left of the first time
            found = torch.autograd.grad(loss, [W, x], retain_graph=True)
            torch.testing.assert_close(found, plain)


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


def test_the_logits_are_used_up_and_no_second_gradient_is_given():
    x = torch.randn(3, V, dtype=torch.double, requires_grad=True)
    loss = cross_entropy_(x.clone(), torch.tensor([1, 2, 3])).sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="compute the losses again for each gradient"):
        loss.backward()


def test_in_mixed_precision_the_product_is_short_and_the_loss_is_computed_in_full():
    torch.manual_seed(1)
    layer = Linear(600, 600)  # large enough for oneDNN, were it not for the mixed precision
    x = torch.randn(10, 600)
    y = torch.arange(10)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = layer(x)
        losses = cross_entropy_(logits.clone(), y)
    assert logits.dtype == torch.bfloat16
    assert losses.dtype == torch.float32
    torch.testing.assert_close(
        losses, torch.nn.functional.cross_entropy(logits.float(), y, reduction="none")
    )


def test_where_no_numbers_are_computed_it_is_pytorchs_own():
    with torch.device("meta"):
        assert Linear(600, 600)(torch.empty(10, 600)).shape == (10, 600)


# ------------------------------------------------------------------------------------ LSTMs


@pytest.mark.parametrize(
    "make",
    [partial(luong, feeding=True, hidden=4), partial(rnnsearch, hidden=4)],
    ids=["feeding", "rnnsearch"],
)
def test_the_encoder_is_held_and_the_loop_is_taken_apart(make, corpus, monkeypatch):
    """What is proved equal elsewhere is indeed another way: neither packs nor takes a step."""
    model = make(corpus)
    batch = make_batch(corpus.test[:3], model.source_vocabulary, model.target_vocabulary)

    def refuse(*_, **__):
        raise AssertionError("the plain way")

    monkeypatch.setattr("attnmt.encoder.pack_padded_sequence", refuse)
    with pytest.raises(AssertionError, match="the plain way"):
        model(batch)
    monkeypatch.setattr(type(model.decoder), "step", refuse)
    with sooner(model):
        model(batch)


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
    batch = make_batch(corpus.test[:3], model.source_vocabulary, model.target_vocabulary)
    expected = Decoder.forward(model.decoder, batch.target_in, *model.encoder(batch.source))
    with sooner(model):
        assert type(model.decoder) is Mine
        found = model(batch)
    torch.testing.assert_close(found, expected)


def test_the_members_of_an_ensemble_have_it_and_look_ups_alone_do_not(corpus):
    """A model without recurrence is trained as plain PyTorch, but for its losses."""
    models = luong(corpus, hidden=4), attention_only(corpus, hidden=4, heads=1)
    with sooner(Ensemble(models)):
        assert {type(model) for model in models} == {InPlaceTranslator}
        assert type(models[0].decoder.W_out) is Linear
        assert type(models[1].decoder.W_o) is torch.nn.Linear
    assert {type(model) for model in models} == {Translator}
