"""The outputs of a notebook: made small, free of what differs from run to run, and stored."""

import base64
import io
import json
from pathlib import Path

import nbformat
from nbconvert.preprocessors import CoalesceStreamsPreprocessor
from PIL import Image

from attnmt.files import write_aside
from press.contents import ROOT


def output_texts(cell: nbformat.NotebookNode) -> list[str]:
    """The outputs of a code cell as text; pixels are left out."""
    texts = []
    for output in cell.get("outputs", []):
        texts += [output.get("text", ""), *output.get("traceback", [])]
        for kind, data in output.get("data", {}).items():
            if kind == "image/svg+xml" or not kind.startswith("image/"):
                texts.append(data if isinstance(data, str) else json.dumps(data))
    return texts


def machine_path(notebook: nbformat.NotebookNode) -> str | None:
    """A complaint if an output names a folder of this machine: the project's, or the user's."""
    places = [str(place) for place in (ROOT, Path.home()) if len(place.parts) > 1]
    for number, cell in enumerate(notebook.cells, 1):
        for place in places:
            if any(place in text for text in output_texts(cell)):
                return f"cell {number} prints a path of this machine, {place}: print names only"
    return None


def shrink(png: str) -> str:
    """The same picture in 256 colours, as base64, if that is smaller."""
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        fewer = picture.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    file = io.BytesIO()
    fewer.save(file, "PNG", optimize=True)
    return min(base64.b64encode(file.getvalue()).decode(), png, key=len)


def tidy(notebook: nbformat.NotebookNode) -> list[str]:
    """Drop what differs from run to run, as how a text was cut in pieces; store pictures small.

    Returns what was on stderr, progress bars aside.
    """
    stderr = []
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            streams = [output for output in cell.outputs if output.get("name") == "stderr"]
            texts = [output.text.strip() for output in streams if "\r" not in output.text]
            stderr += [f"cell {number}: {text}" for text in texts if text]
            cell.outputs = [output for output in cell.outputs if output not in streams]
            for output in cell.outputs:
                if "image/png" in output.get("data", {}):
                    output.data["image/png"] = shrink(output.data["image/png"])
    CoalesceStreamsPreprocessor().preprocess(notebook, {})
    notebook.metadata.pop("widgets", None)
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    language = notebook.metadata.get("language_info", {})
    kept = ("name", "file_extension", "mimetype", "pygments_lexer")
    notebook.metadata.language_info = {key: language[key] for key in kept if key in language}
    return stderr


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write a notebook: its file is the old one or the new one, never half of it."""
    write_aside(path, f"{nbformat.writes(notebook)}\n".encode())
