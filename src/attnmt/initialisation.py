"""The first weights of a model, drawn as the papers say."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

LAYERS = (nn.Linear, nn.Embedding, nn.GRU, nn.LSTM)


def layers_of(model: nn.Module) -> Iterator[tuple[str, str, Tensor]]:
    """The weights and biases of a model's layers: the layer's name, the weights' name, a tensor.

    The papers' initialisations speak of these. What a score holds besides, such as a learned scale,
    keeps the value that its class gives it.
    """
    for path, layer in model.named_modules():
        if isinstance(layer, LAYERS):
            for name, weights in layer.named_parameters(recurse=False):
                yield path.rpartition(".")[2], name, weights


def init_as_bahdanau(model: nn.Module) -> None:
    """Draw the weights as in Bahdanau et al. 2015, appendix B.1.

    Recurrent matrices are orthogonal, each gate for itself; W_a and U_a are N(0, 0.001^2), v_a and
    biases 0, and the rest N(0, 0.01^2).
    """
    with torch.no_grad():
        for layer, name, weights in layers_of(model):
            if "bias" in name or layer == "v_a":
                nn.init.zeros_(weights)
            elif "weight_hh" in name or layer in ("U_zr", "U"):
                for gate in weights.split(weights.size(1)):
                    nn.init.orthogonal_(gate)
            else:
                nn.init.normal_(weights, std=0.001 if layer in ("W_a", "U_a") else 0.01)


def init_uniformly(model: nn.Module, bound: float) -> None:
    """Draw all weights and biases uniformly from [-bound, bound]."""
    with torch.no_grad():
        for _, _, weights in layers_of(model):
            nn.init.uniform_(weights, -bound, bound)
