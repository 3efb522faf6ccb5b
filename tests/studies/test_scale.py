"""What the study of several processes and streams must have found."""

import json

from studies.scale import PAIRS, STORE

STORED = json.loads(STORE.read_text(encoding="utf8"))


def test_memory_does_not_grow_with_what_is_streamed():
    found = STORED["streamed"]
    assert found["pass"][-1]["pairs"] == PAIRS
    for marks in (found["pass"], found["epoch"]):
        assert marks[-1]["MB"] - marks[1]["MB"] < 20
