"""fast.py: the same numbers as PyTorch's own, and the same gradients."""

from types import SimpleNamespace

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from attnmt import fast
from attnmt.fast import Linear, cross_entropy_, product

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
