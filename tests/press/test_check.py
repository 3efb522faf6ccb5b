"""The check: every stage runs, and the end says how each went."""

from press.run.check import main

MAKEFILE = "good last:\n\t@echo $@ >> ran\nbad:\n\t@false\n"


def test_all_stages_run_though_one_fails(tmp_path, monkeypatch, capsys):
    (tmp_path / "Makefile").write_text(MAKEFILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MAKEFLAGS", raising=False)
    assert main(["good", "bad", "last"]) == 1
    assert (tmp_path / "ran").read_text().split() == ["good", "last"]
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    assert [(row[0], row[-1]) for row in rows[:3]] == [
        ("good", "passed"),
        ("bad", "FAILED"),
        ("last", "passed"),
    ]
    assert main(["good"]) == 0
