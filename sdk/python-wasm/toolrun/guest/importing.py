"""Imports of modules from texts instead of files: this package itself, and the modules in a tool's folder."""

import builtins
import sys
from importlib.machinery import ModuleSpec

# The names of the standard library's modules. Tests can run in a Python version before 3.10, which
# does not provide these names.
STANDARD = getattr(sys, "stdlib_module_names", frozenset())


class Texts:
    """An importer of modules from their texts, by path: "a.py", "b/__init__.py".

    ``folder`` is the prefix of each path in tracebacks; ``names`` contains the builtins of the modules.
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
        module.__dict__["__builtins__"] = self.names  # otherwise, exec would use the builtins of this module
        file = spec.origin.removeprefix(self.folder)
        exec(compile(self.texts[file], spec.origin, "exec", dont_inherit=True), module.__dict__)


class Missing:
    """The last importer, which raises the error for a module that was not found.

    ``single_file`` is true if the tool is one file. ``why_missing`` returns the reason why a module is missing, or "".
    """

    def __init__(self, why_missing=lambda name: None):
        self.single_file = False
        self.why_missing = why_missing

    def find_spec(self, name, path=None, target=None):
        if "." in name:
            return None
        why = self.why_missing(name)
        if not why and name not in STANDARD:
            why = self._importable()
        if not why:
            return None
        raise ModuleNotFoundError(f"No module named {name!r}: {why}", name=name)

    def _importable(self):
        """Describe the modules that the tool can import."""
        if self.single_file:
            return (
                "a tool in a single file can import only the standard library; a tool in a folder "
                "can also import modules and pure Python packages in the folder"
            )
        return (
            "a tool can import only the standard library and the modules in its folder; copy pure Python packages "
            "into the folder"
        )
