"""weights.py: two bytes a number, the same file for PyTorch and the page, and its checksum."""

import pytest
import torch
from conftest import made_up_corpus

from attnmt import greedy, luong, rnnsearch
from attnmt.book.live import weights
from attnmt.book.live.weights import (
    collect,
    load_compact,
    names,
    pretrained,
    save_compact,
)


@pytest.fixture(scope="module")
def model():
    return rnnsearch(made_up_corpus(), hidden=12, seed=3)


@pytest.fixture
def folder(model, tmp_path):
    """Two of the models that pages show, as training leaves them, and their compact files."""
    trained, kept = tmp_path / "trained", tmp_path / "kept"
    model.save(trained / "rnnsearch-grammar-0.safetensors")
    fed = luong(made_up_corpus(), hidden=12, feeding=True)
    fed.save(trained / "luong-feeding-grammar-0.safetensors")
    assert collect(trained, kept) == ["rnnsearch", "luong-feeding"]
    return kept


def test_it_is_read_as_float32_and_rounded_once(model, tmp_path):
    path, again = tmp_path / "model.safetensors", tmp_path / "again.safetensors"
    save_compact(model, path)
    read = load_compact(path)
    for name, values in read.state_dict().items():
        assert values.dtype == torch.float32
        torch.testing.assert_close(values, model.state_dict()[name], rtol=2**-11, atol=2**-25)
    save_compact(read, again)
    for name, values in load_compact(again).state_dict().items():
        assert torch.equal(values, read.state_dict()[name])


@pytest.mark.parametrize("value", [1e5, float("nan")])
def test_what_two_bytes_cannot_hold_is_refused(value, tmp_path):
    model = luong(made_up_corpus(), hidden=4)
    with torch.no_grad():
        model.decoder.W_c.weight[0, 0] = value
    with pytest.raises(ValueError, match=r"decoder\.W_c\.weight has a weight that two bytes"):
        save_compact(model, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_model_of_the_package_is_loaded_by_its_name(folder, corpus):
    assert names(folder) == ["rnnsearch", "luong-feeding"]
    model = pretrained("rnnsearch", folder)
    (found,) = greedy(model, [["w1", "w2"]])
    assert found.alignment.shape == (len(found.words), 2)
    assert not model.training
    with pytest.raises(ValueError, match="name must be one of rnnsearch, luong-feeding, not 'gpt'"):
        pretrained("gpt", folder)


def test_a_file_that_changed_is_refused(folder):
    path = folder / "rnnsearch.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"rnnsearch\.safetensors is not the file that was recorded"
    ):
        pretrained("rnnsearch", folder)


# --------------------------------------------------------------------- the models of the package


def test_every_model_that_is_kept_is_there_and_nothing_else():
    assert tuple(names()) == weights.KEPT
    files = {path.name for path in weights.FOLDER.glob("*.safetensors")}
    assert files == weights.checksums().keys()


@pytest.mark.parametrize("name", weights.SHOWN)
def test_each_fits_a_page(name):
    assert (weights.FOLDER / f"{name}.safetensors").stat().st_size < 2_100_000


@pytest.mark.parametrize("name", weights.KEPT)
def test_each_is_read_and_has_the_vocabularies_of_the_others(name):
    model = pretrained(name)
    assert model.attends is (name != "rnnencdec")
    for side in ("source_vocabulary", "target_vocabulary"):
        assert getattr(model, side) == getattr(pretrained("rnnsearch"), side)
