"""The tool: its source, its modules, its runs."""

import builtins
import gc
import linecache
import sys
from importlib import import_module
from inspect import isawaitable
from types import ModuleType

from . import absent, loop, operations, patterns, source, world
from .calling import Call
from .channel import ask
from .importing import STANDARD, Missing, Texts
from .values import quote


# What tells a tool which module it cannot import. The interpreter is prepared with it.
missing = Missing(absent.why_missing)


class Tool:
    """A tool that was loaded. Its namespace is that of a module, which is filled in by ``start`` or by each run."""

    def __init__(self, request, texts):
        self.path = request["path"]
        self.folder = self.path[: self.path.rfind("/") + 1]
        self.params = frozenset(request["params"])
        self.texts = texts
        self.source = source.Source(request["code"], self.path, request["entry"] or None)
        self.memory = operations.install(request["operations"])
        self.call = None
        missing.alone = not request["folder"]
        modules = self._collect()
        if modules:
            sys.meta_path.insert(-1, Texts(modules, self.folder))
        for path, text in texts.items():  # tracebacks in a log show the lines
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        self.namespace = self._make_namespace()
        patterns.warm(self.source.tree)

    def starts_once(self):
        """Whether there is a top level apart from the entry, which reads nothing that is another in each run."""
        return bool(self.source.entry) and not self.source.asks(world.OF_THE_RUN | self.params)

    def start(self):
        """Run the top level of a tool that has an entry."""
        exec(self.source.code, self.namespace)
        name = self.source.entry
        if name not in self.namespace:
            raise NameError(f"the tool defines no function {name}")
        self.call = Call(name, self.namespace[name])

    def run(self, input, context):
        """Run the tool, and return what it answers."""
        self.namespace.update(world.names_of_run(input, context, self.params))
        if self.call is None and self.source.entry:
            self.start()
        if self.call is not None:
            answer = self.call(input, context, self.params)
        else:
            answer = self._run_body()
        return loop.finish(answer) if isawaitable(answer) else answer

    def doubt(self):
        """What looks like a slip of the one who gave the input, or None."""
        return self.call and self.call.doubt

    def place(self):
        """Where the entry is defined, as file and line, or None."""
        return self.call and self.call.place

    def _run_body(self):
        exec(self.source.code, self.namespace)
        return source.body_of(self.namespace)() if self.source.wrapped else None

    def _make_namespace(self):
        """The module of the tool is the program, unless it is one whose entry is called."""
        name = "__main__"
        if self.source.entry:
            name = self.path[len(self.folder) :].partition(".")[0]
            if name in STANDARD or name == "memory":
                name = "tool"
        module = ModuleType(name)
        sys.modules[name] = module
        namespace = module.__dict__
        namespace.update(world.constant_names(self.memory), __file__=self.path)
        namespace["__builtins__"] = builtins  # exec would take those of this package, which are its own
        namespace[source.STAR] = self._import_all
        return namespace

    def _import_all(self, name, level):
        module = import_module("." * level + name, self.namespace.get("__package__"))
        public = getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]
        self.namespace.update((key, getattr(module, key)) for key in public)

    def _collect(self):
        """Read the modules of the tool's folder that it may import, and those that they may import."""
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
                        broken[file] = error  # the tool hears of it if it gets there
        return modules


def _parse(text, path):
    """The syntax tree of a module. Of a text that is none Python says so without a place."""
    try:
        return source.parse(text, path)
    except ValueError as error:
        raise SyntaxError(str(error), (path, 1, 1, None)) from None


def _absolute(name, level, package):
    """The name of a module that is imported in a package."""
    if not level:
        return name
    parts = package.split(".") if package else []
    if level - 1 > len(parts) or not package:
        return ""
    parents = parts[: len(parts) - (level - 1)]
    return ".".join([*parents, name] if name else parents)


def _candidates(name):
    """The files that may hold a module and the packages that it is in, with the package that each belongs to."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        base, package = "/".join(parts[:count]), ".".join(parts[:count])
        yield base + "/__init__.py", package
        yield base + ".py", package.rpartition(".")[0]


def freeze():
    """Have the collector leave alone what there is now: a run then writes to few pages of it."""
    gc.collect()
    gc.freeze()
