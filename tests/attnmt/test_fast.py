"""fast.py: the same numbers as PyTorch's own, and the same gradients."""

import pytest
import torch
from torch.nn.functional import cross_entropy, linear

from attnmt.fast import ROW, OutputLayer, cross_entropy_

N, V = 5, 2 * ROW + 3


def layer_of(words=V):
    torch.manual_seed(0)
    return OutputLayer(N, words).double()


@pytest.mark.parametrize("words", [1, ROW - 1, ROW, V])
@pytest.mark.parametrize("shape", [(N,), (7, N), (2, 3, N)])
def test_an_output_layer_is_a_linear_layer(words, shape):
    layer, x = layer_of(words), torch.randn(shape, dtype=torch.double)
    logits = layer(x)
    torch.testing.assert_close(logits, linear(x, layer.weight, layer.bias))
    assert all(step % ROW == 0 for step in logits.stride()[:-1])  # each row begins aligned
    assert list(layer.state_dict()) == ["weight", "bias"]  # as any linear layer is kept


def test_gradients_of_the_output_layer():
    layer, x = layer_of(), torch.randn(2, 3, N, dtype=torch.double, requires_grad=True)
    weights = dict(layer.named_parameters())

    def run(x, *values):
        return torch.func.functional_call(layer, dict(zip(weights, values, strict=True)), x)

    assert torch.autograd.gradcheck(run, (x, *weights.values()))


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


def test_in_mixed_precision_the_loss_is_computed_in_full():
    torch.manual_seed(1)
    layer = OutputLayer(6, 21)
    x = torch.randn(4, 6)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = layer(x)
    assert logits.dtype == torch.float32
    torch.testing.assert_close(logits, layer(x), rtol=0.02, atol=0.02)
    assert not torch.equal(logits, layer(x))  # the product was not
