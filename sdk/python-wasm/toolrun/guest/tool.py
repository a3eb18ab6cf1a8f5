"""The loaded tool: its source, its modules and its runs."""

import builtins
import gc
import linecache
import sys
from importlib import import_module
from inspect import isawaitable
from types import ModuleType

from . import globals as tool_globals
from . import loop, operations, regex_cache, source, unsupported
from .binding import Call
from .channel import ask
from .importing import STANDARD, Missing, Texts
from .values import quote


# The importer that raises the error for a missing module. The importer is part of the interpreter's snapshot.
missing = Missing(unsupported.why_missing)


class Tool:
    """A loaded tool. The namespace belongs to a module. The method ``start`` or each run fills the namespace."""

    def __init__(self, request, texts):
        self.path = request["path"]
        self.folder = self.path[: self.path.rfind("/") + 1]
        self.params = frozenset(request["params"])
        self.texts = texts
        self.source = source.Source(request["code"], self.path, request["entry"] or None)
        self.modules = operations.install(request["operations"])
        self.call = None
        missing.single_file = not request["folder"]
        modules = self._collect()
        for name in self.modules:
            # The folder's own module takes precedence over a module of the host, except memory.
            if name != "memory" and any(path == name + ".py" or path.startswith(name + "/") for path in modules):
                del sys.modules[name]
        if modules:
            sys.meta_path.insert(-1, Texts(modules, self.folder))
        for path, text in texts.items():  # makes the source lines available for tracebacks in logs
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        self.namespace = self._make_namespace()
        regex_cache.warm(self.source.tree)

    def starts_once(self):
        """Report whether the top level can run once for all runs.

        An entry is required, and the top level uses no name whose value differs between runs.
        """
        return bool(self.source.entry) and not self.source.uses(tool_globals.RUN_NAMES | self.params)

    def start(self):
        """Run the top level of a tool that has an entry."""
        exec(self.source.code, self.namespace)
        name = self.source.entry
        if name not in self.namespace:
            raise NameError(f"the tool defines no function {name}")
        self.call = Call(name, self.namespace[name])

    def run(self, input, context):
        """Run the tool and return its output."""
        self.namespace.update(tool_globals.names_of_run(input, context, self.params))
        if self.call is None and self.source.entry:
            self.start()
        if self.call is not None:
            output = self.call(input, context, self.params)
        else:
            output = self._run_body()
        return loop.finish(output) if isawaitable(output) else output

    def input_warning(self):
        """Return the warning about a probable mistake in the input of the last run, or None."""
        return self.call and self.call.warning

    def location(self):
        """Return the file and the line of the entry, or None."""
        return self.call and self.call.location

    def _run_body(self):
        exec(self.source.code, self.namespace)
        return source.body_of(self.namespace)() if self.source.wrapped else None

    def _make_namespace(self):
        """Create the module of the tool. Without an entry it is the module __main__."""
        name = "__main__"
        if self.source.entry:
            name = self.path[len(self.folder) :].partition(".")[0]
            if name in STANDARD or name == "memory":
                name = "tool"
        module = ModuleType(name)
        sys.modules[name] = module
        namespace = module.__dict__
        namespace.update(tool_globals.constant_names(self.modules), __file__=self.path)
        namespace["__builtins__"] = builtins  # otherwise, exec would use the builtins of this package
        namespace[source.STAR] = self._import_all
        return namespace

    def _import_all(self, name, level):
        module = import_module("." * level + name, self.namespace.get("__package__"))
        public = getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]
        self.namespace.update((key, getattr(module, key)) for key in public)

    def _collect(self):
        """Read the modules of the tool's folder that the tool and these modules may import."""
        modules, broken = {}, {}
        pending = [(self.source.tree, "")]
        while pending:
            tree, package = pending.pop()
            for name, level, tried in source.imports(tree):
                base = _absolute(name, level, package)
                if not base or base.partition(".")[0] in STANDARD or base == "memory":
                    continue
                for file, inner in _candidates(base):
                    if file in broken and not tried:
                        raise broken[file]
                    if file in modules or self.folder + file == self.path:
                        continue
                    kind, text = ask("file", quote(self.folder + file))
                    if kind != b"ok":
                        continue
                    modules[file] = self.texts[self.folder + file] = text
                    try:
                        pending.append((_parse(text, self.folder + file), inner))
                    except SyntaxError as error:
                        if not tried:
                            raise
                        broken[file] = error  # the error occurs when the tool executes the import
        return modules


def _parse(text, path):
    """Return the syntax tree of a module. Give a location to errors that have none."""
    try:
        return source.parse(text, path)
    except ValueError as error:
        raise SyntaxError(str(error), (path, 1, 1, None)) from None


def _absolute(name, level, package):
    """Return the absolute name of a module that is imported in a package, or "" if there is none."""
    if not level:
        return name
    parts = package.split(".") if package else []
    if level - 1 > len(parts) or not package:
        return ""
    parents = parts[: len(parts) - (level - 1)]
    return ".".join([*parents, name] if name else parents)


def _candidates(name):
    """Yield the files that may contain a module or one of its parent packages, each with its own package."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        base, package = "/".join(parts[:count]), ".".join(parts[:count])
        yield base + "/__init__.py", package
        yield base + ".py", package.rpartition(".")[0]


def freeze():
    """Exclude all present objects from garbage collection, so that a run writes to fewer of their pages."""
    gc.collect()
    gc.freeze()
