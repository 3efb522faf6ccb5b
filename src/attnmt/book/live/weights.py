"""Models from a full run, and the compact file that they come in.

One file serves PyTorch and the page: it is the file of :meth:`.Translator.save`, with two bytes a
number instead of four. Who reads it casts to float32 and computes in float32, so that both say the
same words. In detail, all little-endian::

    8 bytes     length of the header, N
    N bytes     the header, JSON: name -> {"dtype": "F16", "shape": [...], "data_offsets": [a, b]},
                and under "__metadata__" texts: "format", and, each JSON again, "config",
                "source_vocabulary" and "target_vocabulary"
    the rest    the numbers, tensor by tensor, row by row; a and b count from here

That is safetensors. 128 units and two vocabularies of 1,024 words make 1.4 to 2.0 MB; the model of
attention alone has more to hold, 2.7 MB.

``python -m attnmt.book.live.weights FOLDER`` makes the package's models again, from those that
recording left in FOLDER (``attnmt record rnnsearch-grammar-0 --work FOLDER``, and so on).
"""

import hashlib
import os
import sys
from copy import deepcopy
from pathlib import Path

import torch

from attnmt.checks import one_of
from attnmt.evidence.models import load
from attnmt.evidence.plan import LACKING
from attnmt.files import write_aside
from attnmt.model import Translator

FOLDER = Path(__file__).with_name("weights")
RECORDED = "{}-grammar-0"  # the recorded run that a model is of: one seed of each
CHECKSUMS = "weights.sha256"  # in the folder: a line "name.safetensors SHA-256" for each file
SHOWN = (  # the models that a page computes with, too
    "rnnencdec",
    "rnnsearch",
    "luong-dot",
    "luong-feeding",
    "luong-local-p-feeding",
)
KEPT = (*SHOWN, "attention-only")


def save_compact(model: Translator, path: str | os.PathLike) -> None:
    """Write a model with two bytes a number.

    Args:
        model: made by a constructor. It is not changed.
        path: of the file.

    Raises:
        ValueError: a weight that is too large for two bytes (65,504 is the largest), or no number.
    """
    small = deepcopy(model).to(device="cpu", dtype=torch.float16)
    for name, weights in small.state_dict().items():
        if not weights.isfinite().all():
            raise ValueError(f"{name} has a weight that two bytes cannot hold: save it by `save`")
    small.save(path)


def load_compact(path: str | os.PathLike) -> Translator:
    """Read a model that :func:`save_compact` wrote, in float32.

    Raises:
        FileNotFoundError: no such file.
        ValueError: the file is damaged, or no model of this package.
    """
    return load(path).float().eval()


def checksums(folder: Path = FOLDER) -> dict[str, str]:
    """File name -> SHA-256 of the models that the package holds."""
    lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines)


def names(folder: Path = FOLDER) -> list[str]:
    """What :func:`pretrained` can be asked for."""
    return [file.removesuffix(".safetensors") for file in checksums(folder)]


def pretrained(name: str, folder: Path = FOLDER) -> Translator:
    """A model that was trained in a full run on the controlled corpus, German to English.

    Args:
        name: one of :func:`names`: "rnnencdec", "rnnsearch", "luong-dot", ...
        folder: where the models are, those of the package if not given.

    Raises:
        FileNotFoundError: the package was installed without them.
        ValueError: an unknown name, or a file that is not the one that was recorded.
    """
    one_of(names(folder), name=name)
    path = folder / f"{name}.safetensors"
    if not path.exists():
        raise FileNotFoundError(LACKING.format("trained models"))
    if sha256(path) != checksums(folder)[path.name]:
        raise ValueError(f"{path} is not the file that was recorded: get it again")
    return load_compact(path)


def sha256(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def collect(trained: str | os.PathLike, folder: Path = FOLDER) -> list[str]:
    """Write the models of the package as compact files, with their checksums.

    Args:
        trained: the folder where recording saved them: rnnsearch-grammar-0.safetensors and so on.
        folder: where to write them.

    Returns:
        The names of those that were there. The others stay as they are.
    """
    sources = {name: Path(trained) / f"{RECORDED.format(name)}.safetensors" for name in KEPT}
    found = [name for name, source in sources.items() if source.exists()]
    for name in found:
        save_compact(load(sources[name]), folder / f"{name}.safetensors")
    kept = [folder / f"{name}.safetensors" for name in KEPT]
    lines = [f"{path.name} {sha256(path)}\n" for path in kept if path.exists()]
    write_aside(folder / CHECKSUMS, "".join(lines).encode())
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Where are the trained models? python -m attnmt.book.live.weights FOLDER")
    print(f"{FOLDER}: {', '.join(collect(sys.argv[1])) or 'nothing'} from {sys.argv[1]}")
