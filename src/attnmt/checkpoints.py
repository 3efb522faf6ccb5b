"""Checkpoints: a training on the disk, so that one that was killed can go on where it was.

A checkpoint is one safetensors file. Weights, the optimiser's state, the best epoch's weights and
the random generators' states are its tensors; texts beside them say how far the training has come
and which training it is. It is data only: reading it cannot run code.
"""

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from attnmt.tensors import read_tensors, write_tensors

CHECKPOINT_FORMAT = "attnmt-checkpoint-1"


class Checkpoint:
    """The file of one training.

    Args:
        path: of the file.
        model: whose weights are kept, and put back in place.
        optimiser: of these weights; its state is kept, too.
        facts: what tells this training from another, by name. They must be what JSON can hold.
    """

    def __init__(
        self,
        path: Path,
        model: nn.Module,
        optimiser: torch.optim.Optimizer,
        facts: Mapping[str, Any],
    ):
        self.path = path
        self.model = model
        self.optimiser = optimiser
        self.facts = json.loads(json.dumps(facts))  # as they look when read back

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    def write(self, best: Mapping[str, Tensor], texts: Mapping[str, str]) -> None:
        """Write the file aside, flush it, and rename it over the last.

        Args:
            best: the weights of the best epoch; empty if there is none to be kept.
            texts: how far the training has come.

        Raises:
            OSError: it cannot be written. The last one is still whole.
        """
        tensors = {"random/cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            tensors["random/cuda"] = torch.cuda.get_rng_state(self.device)
        tensors |= {f"model/{name}": value for name, value in self.model.state_dict().items()}
        tensors |= {f"best/{name}": value for name, value in best.items()}
        for name, weights in self.model.named_parameters():
            for key, value in self.optimiser.state.get(weights, {}).items():
                if value is not None:  # a momentum that plain SGD does not have
                    tensors[f"{key}/{name}"] = value
        tensors = {name: value.detach().cpu().clone() for name, value in tensors.items()}
        metadata = {**texts, "facts": json.dumps(self.facts)}
        write_tensors(self.path, tensors, format=CHECKPOINT_FORMAT, metadata=metadata)

    def restore(self) -> tuple[dict[str, Tensor], dict[str, str]]:
        """Put weights, optimiser and random generators back; returns ``best`` and ``texts``.

        Raises:
            ValueError: the file is damaged, or the checkpoint of another training.
        """
        texts, tensors = read_tensors(self.path, CHECKPOINT_FORMAT, "a checkpoint of attnmt")
        self._compare(json.loads(texts["facts"]))
        parts: dict[str, dict[str, Tensor]] = defaultdict(dict)
        for name, value in tensors.items():
            part, _, rest = name.partition("/")
            parts[part][rest] = value
        self.model.load_state_dict(parts.pop("model"))
        random = parts.pop("random")
        torch.set_rng_state(random["cpu"])
        if "cuda" in random:
            torch.cuda.set_rng_state(random["cuda"], self.device)
        best = {name: value.to(self.device) for name, value in parts.pop("best", {}).items()}
        state = {  # what is left is the optimiser's
            index: {part: values[name] for part, values in parts.items() if name in values}
            for index, (name, _) in enumerate(self.model.named_parameters())
        }
        self.optimiser.load_state_dict(self.optimiser.state_dict() | {"state": state})
        return best, texts

    def _compare(self, there: dict[str, Any]) -> None:
        """Refuse the facts of another training."""
        here = self.facts
        if other := [name for name in here | there if there.get(name) != here.get(name)]:
            raise ValueError(
                f"{self.path} is the checkpoint of another training: its {other[0]} is "
                f"{there.get(other[0])!r}, not {here.get(other[0])!r} (of {len(other)} differences)"
            )
