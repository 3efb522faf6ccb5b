"""The workflow that tests every push and publishes the book (.github/workflows/book.yml)."""

import tomllib

import yaml
from conftest import SITE

from press.contents import ROOT

JOBS = yaml.safe_load((ROOT / ".github/workflows/book.yml").read_text(encoding="utf8"))["jobs"]
BUILD = JOBS["build"]


def test_everything_is_tested_and_nothing_skipped():
    assert [step.get("run") for step in BUILD["steps"]].count("make test") == 1
    assert BUILD["env"] == {"ATTNMT_BROWSER": "required", "ATTNMT_COLAB": "required"}


def test_what_was_tested_is_published():
    used = [step.get("run") or step["uses"].partition("@")[0] for step in BUILD["steps"]]
    upload = used.index("actions/upload-pages-artifact")
    assert used.index("make test") < upload
    assert ROOT / BUILD["steps"][upload]["with"]["path"] == SITE
    assert set(JOBS["publish"]["needs"]) == set(JOBS) - {"publish"}


def test_every_python_that_is_promised_is_tried():
    other = JOBS["other-pythons"]
    assert other["steps"][-1]["run"] == "make unit"
    own = [step["with"] for step in BUILD["steps"] if "setup-python" in step.get("uses", "")]
    tried = [own[0]["python-version"], *other["strategy"]["matrix"]["python"]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    listed = [name.rpartition(" :: ")[2] for name in project["classifiers"] if "Python ::" in name]
    assert tried == listed
