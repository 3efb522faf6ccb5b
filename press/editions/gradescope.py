"""Write the check of the mechanisms as an autograder for Gradescope, from the student edition.

    python -m press.editions.gradescope          into _build/gradescope.zip

The archive holds the student edition (`make student`), so no solution is in it, and the two scripts
that Gradescope runs: `setup.sh` installs, `run_autograder` grades.
"""

import sys
import zipfile
from pathlib import Path

from press.contents import ROOT

SCRIPTS = Path(__file__).with_name("autograder")


def write_archive(edition: Path, path: Path) -> int:
    """Pack an edition with the scripts, aside and then renamed; returns the number of files."""
    files = sorted(file for file in edition.rglob("*") if file.is_file())
    aside = path.with_suffix(".partial")
    with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            if "_build" not in file.parts[len(edition.parts) :]:
                archive.write(file, file.relative_to(edition))
        for script in sorted(SCRIPTS.iterdir()):
            archive.write(script, script.name)
    aside.replace(path)
    return len(files)


def main() -> int:
    edition = ROOT / "_build" / "student"
    if not (edition / "book").is_dir():
        print(
            f"There is no {edition}: run `make gradescope`, which makes it first", file=sys.stderr
        )
        return 1
    path = ROOT / "_build" / "gradescope.zip"
    write_archive(edition, path)
    print(f"{path} ({path.stat().st_size / 2**20:.0f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
