"""Imports from a tool's own folder: the modules are loaded anew in each run, and removed after it."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator

from toolrun.testing import runtime


@contextmanager
def own_modules(path: Path, single_file: bool, main: ModuleType, host: dict[str, ModuleType]) -> Iterator[None]:
    """Make imports find the tool's own module, the modules of the host, and the modules in the tool's folder.

    A tool that is a single file has no folder, because the other files in its directory belong to other tools.
    """
    folder = str(path.resolve().parent)
    missing = runtime.importing.Missing()
    missing.single_file = single_file
    finders: list[Any] = [_SingleFile(folder, missing) if single_file else _Folder(folder)]
    before = dict(sys.modules)
    here = [name for name, module in before.items() if _lies_in(module, folder)]
    for name in here:  # the test might have imported and changed them
        del sys.modules[name]
    # A module in the folder takes precedence over a module of the host, except memory.
    host = {name: module for name, module in host.items() if name == "memory" or single_file or not _has_own(folder, name)}
    sys.modules.update({**host, main.__name__: main})
    sys.meta_path[:0] = finders
    sys.meta_path.append(missing)
    try:
        yield
    finally:
        for finder in (*finders, missing):
            sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if _lies_in(module, folder)]:
            del sys.modules[name]
        for name in (main.__name__, *host, *here):
            sys.modules.pop(name, None)
            if name in before:
                sys.modules[name] = before[name]


def _has_own(folder: str, name: str) -> bool:
    return (Path(folder) / f"{name}.py").exists() or (Path(folder) / name).is_dir()


def _lies_in(module: Any, folder: str) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).parent.is_relative_to(folder) and module.__name__ != "__main__"


class _Folder:
    """A finder of modules in a folder. As in toolrun, Python's own modules take precedence."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if path is not None:
            return None  # a submodule: its package has a separate path
        if name in runtime.importing.STANDARD:
            return self.elsewhere(name)
        return PathFinder.find_spec(name, [self.folder])

    def elsewhere(self, name: str) -> Any:
        """Find a module in Python's search path except the folder, from which tests are often run."""
        return PathFinder.find_spec(name, [entry for entry in sys.path if str(Path(entry).resolve()) != self.folder])


class _SingleFile(_Folder):
    """A finder for a tool that is a single file: it finds no modules in the file's folder."""

    def __init__(self, folder: str, missing: Any) -> None:
        super().__init__(folder)
        self.missing = missing

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if path is not None:
            return None
        found = self.elsewhere(name)
        if found is None and name not in runtime.importing.STANDARD and PathFinder.find_spec(name, [self.folder]):
            self.missing.find_spec(name)
        return found
