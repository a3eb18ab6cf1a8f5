"""Search for the source of a tool, which a test names by its file or its folder."""

from __future__ import annotations

import json
from pathlib import Path

_MANIFEST = "tool.json"
_ENTRIES = ("main.py", "index.py")


def find(path: Path) -> tuple[Path, bool]:
    """Return the file of a tool, and whether the tool is a single file, which has no modules of its own.

    If the tool.json in the folder of the file names the file, the file stands for the folder. A missing file is a
    mistake of the test.
    """
    if path.is_dir():
        return _entry(path), False
    if not path.is_file():
        raise FileNotFoundError(f"the tool {str(path)!r} does not exist")
    if path.suffix != ".py":
        raise ValueError(f"{str(path)!r} is not a Python tool: the name does not end in .py")
    named = _named(path.parent)
    return path, named is None or named.resolve() != path.resolve()


def _entry(folder: Path) -> Path:
    """Return the main file of a folder: the source in its manifest, or else main.py or index.py."""
    named = _named(folder)
    if named is not None:
        if not named.is_file() or named.suffix != ".py":
            raise FileNotFoundError(f"{_MANIFEST} in {str(folder)!r} names {named.name!r}, which is not a Python file")
        return named
    for name in _ENTRIES:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"the folder {str(folder)!r} contains no {' or '.join(_ENTRIES)}, and no {_MANIFEST} with a source")


def _named(folder: Path) -> Path | None:
    """Return the source in the manifest of a folder, or None."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    source = manifest.get("source") if isinstance(manifest, dict) else None
    return folder / source if isinstance(source, str) else None
