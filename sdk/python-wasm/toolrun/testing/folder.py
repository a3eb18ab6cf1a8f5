"""What a test names as a tool: a file, or the folder of one."""

from __future__ import annotations

import json
from pathlib import Path

_MANIFEST = "tool.json"
_ENTRIES = ("main.py", "index.py")


def find(path: Path) -> tuple[Path, bool]:
    """Return the file of a tool, and whether it is alone: a tool that is one file has no modules of its own. A file that
    the tool.json beside it names is that of the folder. What is not there is the test's mistake."""
    if path.is_dir():
        return _entry(path), False
    if not path.is_file():
        raise FileNotFoundError(f"there is no tool {str(path)!r}")
    if path.suffix != ".py":
        raise ValueError(f"{str(path)!r} is no tool in Python: its name does not end in .py")
    named = _named(path.parent)
    return path, named is None or named.resolve() != path.resolve()


def _entry(folder: Path) -> Path:
    """Return the file by which a folder is run: that of its manifest, or else the one with the name for it."""
    named = _named(folder)
    if named is not None:
        if not named.is_file() or named.suffix != ".py":
            raise FileNotFoundError(f"{_MANIFEST} in {str(folder)!r} names {named.name!r}, which is no file in Python")
        return named
    for name in _ENTRIES:
        if (folder / name).is_file():
            return folder / name
    raise FileNotFoundError(f"the folder {str(folder)!r} holds no {' or '.join(_ENTRIES)}, and no {_MANIFEST} names a source")


def _named(folder: Path) -> Path | None:
    """Return the source that the manifest of a folder names, or None."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return None
    source = manifest.get("source") if isinstance(manifest, dict) else None
    return folder / source if isinstance(source, str) else None
