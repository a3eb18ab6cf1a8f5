"""The modules that a tool imports from its own folder: new in each run, and gone after it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator


@contextmanager
def folder_modules(path: Path, main: ModuleType, memory: ModuleType) -> Iterator[None]:
    """Have imports find the tool's own module, the module memory, and those in the tool's folder."""
    folder = str(path.resolve().parent)
    finder: Any = _Folder(folder)
    before = dict(sys.modules)
    here = [name for name, module in before.items() if _lies_in(module, folder)]
    for name in here:  # the test may have imported them, and changed them
        del sys.modules[name]
    sys.modules[main.__name__], sys.modules["memory"] = main, memory
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if _lies_in(module, folder)]:
            del sys.modules[name]
        for name in (main.__name__, "memory", *here):
            sys.modules.pop(name, None)
            if name in before:
                sys.modules[name] = before[name]


def _lies_in(module: Any, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).parent.is_relative_to(folder) and module.__name__ != "__main__"


class _Folder:
    """Finds modules in a folder. Python's own come first, as they do in toolrun."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if path is None and name in sys.builtin_module_names:
            return None
        return PathFinder.find_spec(name, [self.folder] if path is None else path, target)
