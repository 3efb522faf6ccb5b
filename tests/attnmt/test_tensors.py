"""tensors.py: what is written is read, byte for byte the same each time, or is refused."""

import pytest
import torch
from safetensors.torch import save_file

from attnmt.tensors import read_tensors, write_tensors


def test_tensors_are_read_with_their_metadata(tmp_path):
    path = tmp_path / "file"
    save_file({"a": torch.ones(2)}, path, {"format": "mine", "more": "x"})
    metadata, tensors = read_tensors(path, "mine", "a thing of mine")
    assert metadata["more"] == "x"
    assert tensors["a"].tolist() == [1, 1]
    with pytest.raises(ValueError, match=f"{path} is a safetensors file, but not a thing of yours"):
        read_tensors(path, "yours", "a thing of yours")
    with pytest.raises(ValueError, match=f"{tmp_path} is damaged, or not a thing of mine"):
        read_tensors(tmp_path, "mine", "a thing of mine")  # a folder
    whole = path.read_bytes()
    for kept in (0, 1, len(whole) // 3, len(whole) - 1):
        path.write_bytes(whole[:kept])
        with pytest.raises(ValueError, match=f"{path} is damaged, or not a thing of mine"):
            read_tensors(path, "mine", "a thing of mine")


def test_the_same_tensors_and_metadata_are_the_same_bytes_in_every_save(tmp_path):
    """safetensors alone writes its metadata in an order that changes from call to call."""
    tensors = {"b": torch.ones(3).half(), "a": torch.arange(4.0).reshape(2, 2).T}
    metadata = {name: f'{name} "ü" \n\x07' for name in "vwxyz"}
    by_themselves, written = set(), set()
    for number in range(10):
        save_file({"b": tensors["b"]}, tmp_path / "plain", metadata)
        by_themselves.add((tmp_path / "plain").read_bytes())
        path = tmp_path / f"{number}"
        turned = dict(sorted(metadata.items(), reverse=number % 2 == 0))
        write_tensors(path, tensors, format="mine", metadata=turned)
        written.add(path.read_bytes())
    assert len(by_themselves) > 1  # so that this test can fail
    assert len(written) == 1
    found, back = read_tensors(path, "mine", "a thing of mine")
    assert found == {**metadata, "format": "mine"}
    assert {name: value.tolist() for name, value in back.items()} == {
        name: value.tolist() for name, value in tensors.items()
    }
    assert back["b"].dtype == torch.half
