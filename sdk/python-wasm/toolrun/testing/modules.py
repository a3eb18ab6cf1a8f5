"""The modules that a tool imports from its own folder: new in each run, and gone after it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator

from toolrun.testing import half


@contextmanager
def own_modules(path: Path, alone: bool, main: ModuleType, memory: ModuleType) -> Iterator[None]:
    """Have imports find the tool's own module, the module memory, and those in the tool's folder. A tool that is alone
    is one file, which has no folder: what lies beside it are other tools."""
    folder = str(path.resolve().parent)
    missing = half.importing.Missing()
    missing.alone = alone
    finders: list[Any] = [_Alone(folder, missing) if alone else _Folder(folder)]
    before = dict(sys.modules)
    here = [name for name, module in before.items() if _lies_in(module, folder)]
    for name in here:  # the test may have imported them, and changed them
        del sys.modules[name]
    sys.modules[main.__name__], sys.modules["memory"] = main, memory
    sys.meta_path[:0] = finders
    sys.meta_path.append(missing)
    try:
        yield
    finally:
        for finder in (*finders, missing):
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
        if path is not None:
            return None  # of a package, which says itself where its modules are
        if name in half.importing.STANDARD:
            return self.elsewhere(name)
        return PathFinder.find_spec(name, [self.folder])

    def elsewhere(self, name: str) -> Any:
        """Find a module where Python looks for it, but for the folder: tests are often run from there."""
        return PathFinder.find_spec(name, [entry for entry in sys.path if str(Path(entry).resolve()) != self.folder])


class _Alone(_Folder):
    """Finds modules for a tool that is one file: none that lies beside it."""

    def __init__(self, folder: str, missing: Any) -> None:
        super().__init__(folder)
        self.missing = missing

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if path is not None:
            return None
        found = self.elsewhere(name)
        if found is None and name not in half.importing.STANDARD and PathFinder.find_spec(name, [self.folder]):
            self.missing.find_spec(name)
        return found
