"""Modules from texts instead of files: this package itself, and the modules in a tool's folder."""

import builtins
import sys
from importlib.machinery import ModuleSpec


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
    """Says what there is, where a module is not found. It comes last of all."""

    def find_spec(self, name, path=None, target=None):
        if "." in name or name in sys.stdlib_module_names:
            return None
        text = f"No module named {name!r}: a tool has Python's standard library and the modules in its own folder"
        raise ModuleNotFoundError(text, name=name)
