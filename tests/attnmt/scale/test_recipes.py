"""The papers' recipes as files, and the command line that asks for this room only when needed."""

import builtins
from types import SimpleNamespace

import pytest
import torch
import yaml

from attnmt import Vocabulary, cli
from attnmt.model import CONSTRUCTORS
from attnmt.recipes import BAHDANAU, LUONG_DROPOUT
from attnmt.scale import INSTALL, RECIPE_FILES, recipe_file

NAMES = sorted(path.stem for path in RECIPE_FILES.glob("*.yaml"))
TRAINED = {"bahdanau-wmt14-enfr": BAHDANAU, "luong-wmt14-ende": LUONG_DROPOUT}
SIZES = {  # of the papers: weights of the output layer, vocabulary in it
    "bahdanau-wmt14-enfr": ("decoder.W_o.weight", (30_004, 500)),
    "luong-wmt14-ende": ("decoder.W_out.weight", (50_004, 1_000)),
}


def settings(name):
    return yaml.safe_load(recipe_file(name).read_text(encoding="utf8"))


def test_both_papers_have_a_file():
    assert sorted(TRAINED) == NAMES
    assert recipe_file("no-such-recipe") is None


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_the_papers_at_its_own_size(name):
    found = settings(name)
    assert cli.make("recipe", cli.CHANGED, found["recipe"]) == TRAINED[name]
    size = found["corpus"]["vocabulary_size"]
    words = [Vocabulary((f"w{i}" for i in range(size)), of) for of in found["corpus"]["languages"]]
    corpus = SimpleNamespace(source_vocabulary=words[0], target_vocabulary=words[1])
    with torch.device("meta"):
        model = cli.make("model", CONSTRUCTORS, found["model"] | {"init": "torch"}, corpus)
    weights, shape = SIZES[name]
    assert tuple(model.state_dict()[weights].shape) == shape


@pytest.mark.parametrize("name", NAMES)
def test_every_gap_is_named_and_the_lanes_fit(name):
    text = recipe_file(name).read_text(encoding="utf8")
    assert text.count("gap") >= 8 and text.count("paper") >= 8
    recipe = TRAINED[name]
    assert recipe.pool * recipe.batch_size % settings(name)["corpus"]["lanes"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_command_line_knows_a_recipe_by_its_name(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train", "out", "--config", name]) == 1
    said = capsys.readouterr().err
    assert "wmt14/" in said and "no file" in said


@pytest.mark.parametrize(
    "asked",
    [
        ["--corpus.name", "stream", "--corpus.train", "x", "--corpus.valid", "x"],
        ["--accumulate", "2"],
        [],  # under a launcher
    ],
)
def test_without_the_extra_the_error_says_how_to_install_it(asked, tmp_path, monkeypatch, capsys):
    imported = builtins.__import__

    def without(name, *more, **named):
        if name.partition(".")[0] in ("accelerate", "datasets"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return imported(name, *more, **named)

    for module in ("processes", "streams", "shards"):
        monkeypatch.delitem(cli.sys.modules, f"attnmt.scale.{module}", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    if not asked:
        monkeypatch.setenv("WORLD_SIZE", "2")
    small = ["--corpus.train", "20", "--corpus.lengths", "[4,4]"] if not asked[2:] else []
    small += [*("--corpus.valid", "3", "--corpus.test", "3")] if not asked[2:] else []
    code = cli.main(["train", str(tmp_path / "out"), *small, *asked])
    said = capsys.readouterr().err
    assert code == 1
    assert INSTALL in said and "which is not installed" in said
