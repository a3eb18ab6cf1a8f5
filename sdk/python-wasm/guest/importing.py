"""Modules from texts instead of files: this package itself, and the modules in a tool's folder."""

import builtins
import sys
from importlib.machinery import ModuleSpec

# The modules of the standard library. Python tells since 3.10; tests of tools may run in an older one.
STANDARD = getattr(sys, "stdlib_module_names", frozenset())


class Texts:
    """An importer of modules whose texts it is given, by path: "a.py", "b/__init__.py".

    ``folder`` is before each path in what tracebacks show; ``names`` are what the modules see as the builtins.
    """

    def __init__(self, texts, folder="", names=vars(builtins)):
        self.texts = texts
        self.folder = folder
        self.names = names

    def find_spec(self, name, path=None, target=None):
        base = name.replace(".", "/")
        for file, is_package in ((f"{base}/__init__.py", True), (f"{base}.py", False)):
            if file in self.texts:
                spec = ModuleSpec(name, self, origin=self.folder + file, is_package=is_package)
                spec.has_location = True
                return spec
        if any(file.startswith(base + "/") for file in self.texts):
            return ModuleSpec(name, None, is_package=True)  # a folder without __init__.py
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        spec = module.__spec__
        module.__dict__["__builtins__"] = self.names  # exec would take those of this module
        file = spec.origin.removeprefix(self.folder)
        exec(compile(self.texts[file], spec.origin, "exec", dont_inherit=True), module.__dict__)


class Missing:
    """Says what there is, where a module is not found. It comes last of all.

    ``alone`` says that the tool is one file, and ``absent`` why a module is not there of which more can be said.
    """

    def __init__(self, absent=lambda name: None):
        self.alone = False
        self.absent = absent

    def find_spec(self, name, path=None, target=None):
        if "." in name:
            return None
        why = self.absent(name)
        if not why and name not in STANDARD:
            why = self._what_there_is()
        if not why:
            return None
        raise ModuleNotFoundError(f"No module named {name!r}: {why}", name=name)

    def _what_there_is(self):
        if self.alone:
            return (
                "the tool is one file, and has Python's standard library alone; a tool whose source is a folder "
                "imports the modules in it, and packages of pure Python that are copied there"
            )
        return (
            "a tool has Python's standard library and the modules in its own folder; a package of pure Python can be "
            "copied there"
        )
