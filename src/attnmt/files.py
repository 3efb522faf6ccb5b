"""Files that are either whole or not there: bytes, tensors with texts, and checkpoints.

Models and checkpoints are safetensors files: tensors, and texts beside them. They are data only;
reading them cannot run code. A checkpoint is a training on the disk, so that one that was killed
can go on where it was: weights, the optimiser's state, the best epoch's weights and the random
generators' states are its tensors; its texts say how far the training has come and which it is.
"""

import glob
import json
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor, nn

from attnmt.checks import as_python

CHECKPOINT_FORMAT = "attnmt-checkpoint-1"


def write_aside(path: str | os.PathLike, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it, and a failure leaves the old one alone.

    The content goes to a file beside it, is flushed to the disk, and takes the name last.

    Raises:
        OSError: it cannot be written: a full disk, a folder that is closed to the user.
    """
    path = Path(path)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(aside, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
    except OSError as error:
        was = " What was there before is unchanged." if path.exists() else ""
        raise type(error)(f"{path} could not be written ({error}).{was}") from error


def remove_leftovers(path: str | os.PathLike) -> None:
    """Remove what processes left that were killed while they wrote this file aside."""
    for leftover in glob.glob(f".{glob.escape(Path(path).name)}.*", root_dir=Path(path).parent):
        if leftover.rpartition(".")[2].isdigit():  # a process's number, see write_aside
            (Path(path).parent / leftover).unlink(missing_ok=True)


def write_tensors(
    path: str | os.PathLike, tensors: Mapping[str, Tensor], format: str, metadata: Mapping[str, str]
) -> None:
    """Write a safetensors file, aside; the same tensors and metadata give the same bytes.

    The library writes the metadata in an order that changes from call to call, so the file's head,
    which is JSON, is written again with its keys sorted.

    Raises:
        OSError: it cannot be written.
    """
    whole = {
        name: tensor.clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    data = to_safetensors(whole, {**metadata, "format": format})
    end = 8 + int.from_bytes(data[:8], "little")  # the head's length stands in front of it
    head = json.dumps(json.loads(data[8:end]), sort_keys=True).encode()
    head += b" " * (-len(head) % 8)  # the tensors begin at a multiple of 8 bytes
    write_aside(path, len(head).to_bytes(8, "little") + head + data[end:])


def read_tensors(
    path: str | os.PathLike, format: str, what: str
) -> tuple[dict[str, str], dict[str, Tensor]]:
    """The metadata and the tensors of a safetensors file.

    Raises:
        ValueError: the file is damaged, or something else.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            # copies: Windows does not let a file be renamed over one that tensors lie in
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged, or not {what} ({error})") from error
    if metadata.get("format") != format:
        raise ValueError(f"{path} is a safetensors file, but not {what}")
    return metadata, tensors


class Checkpoint:
    """The file of one training; ``facts``, which JSON can hold, tell it from another."""

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
        self.facts = json.loads(json.dumps(facts, default=as_python))  # as they look when read back

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    def write(self, best: Mapping[str, Tensor], texts: Mapping[str, str]) -> None:
        """Write the file aside, flush it, and rename it over the last.

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
