"""Review of a tool's source without running it: it finds code that will fail."""

import ast
from importlib.util import find_spec

from .source import top_level
from .spelling import near

_MAX_FINDINGS, _MAX_CALLS = 100, 500


def review(tool, operations):
    """Return the memory calls and the findings of a tool, in the form of the host's Review."""
    reviewer = _Reviewer(tool, operations)
    for path, text in tool.texts.items():
        reviewer.file(path, text)
    return {"calls": reviewer.calls[:_MAX_CALLS], "findings": reviewer.findings[:_MAX_FINDINGS]}


class _Reviewer:
    def __init__(self, tool, operations):
        self.tool = tool
        self.operations = {operation["name"]: operation for operation in operations if "module" not in operation}
        self.calls = []
        self.findings = []

    def file(self, path, text):
        """Review one file."""
        try:
            tree = ast.parse(text, path)
        except (SyntaxError, ValueError, RecursionError):
            return  # the import of the file will fail
        is_entry = path == self.tool.path
        file = _File(self, path, text, tree)
        if is_entry:
            self._entry(file)
        file.visit(tree)
        if self.tool.starts_once() and (is_entry or self._starts_with(path)):
            file.top_level()

    def _entry(self, file):
        if not file.tree.body:
            hint = "add code that returns a result"
            file.find(None, "the source is empty, so the tool returns null", hint)
        elif self.tool.source.warning:
            # The text of the warning is meant for a run. A review does not know what the tool
            # returns.
            message, _, hint = self.tool.source.warning.replace(", and the tool returned nothing", "").partition("; ")
            file.find(None, message, hint)

    def _starts_with(self, path):
        """Report whether the top level of the tool unconditionally imports the module at a path."""
        name = path.removeprefix(self.tool.folder).removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for node in self.tool.source.tree.body:
            if isinstance(node, ast.Import) and any(alias.name == name for alias in node.names):
                return True
            if isinstance(node, ast.ImportFrom) and not node.level and node.module == name:
                return True
        return False


class _File(ast.NodeVisitor):
    """The review of one file."""

    def __init__(self, reviewer, path, text, tree):
        self.reviewer = reviewer
        self.path = path
        self.lines = text.splitlines()
        self.tree = tree
        self.caught = 0  # the number of enclosing try statements with a handler
        self.conditions = 0  # the number of enclosing if statements
        self.bindings = _bindings(tree)
        self.texts = _texts(tree, self.bindings)
        self.memory = self.bindings.get("memory", 0) == 0  # whether the name memory refers to the module

    def find(self, node, message, hint=""):
        finding = {"message": message, "hint": hint, **self._position(node)}
        if finding not in self.reviewer.findings:
            self.reviewer.findings.append(finding)

    def _position(self, node):
        line, column = (node.lineno, node.col_offset) if node is not None else (1, 0)
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return {"file": self.path, "line": line, "column": len(text.encode()[:column].decode(errors="replace")) + 1}

    def visit_Try(self, node):
        self.caught += bool(node.handlers)
        for inner in node.body:
            self.visit(inner)
        self.caught -= bool(node.handlers)
        for inner in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(inner)

    visit_TryStar = visit_Try

    def visit_If(self, node):
        self.conditions += 1
        self.generic_visit(node)
        self.conditions -= 1

    def visit_Import(self, node):
        for alias in node.names:
            self._module(node, alias.name)

    def visit_ImportFrom(self, node):
        if not node.level and node.module:
            self._module(node, node.module)

    def _module(self, node, name):
        top = name.partition(".")[0]
        if self.caught or self.conditions or top in ("memory", "__future__"):
            return
        try:
            reason = "" if find_spec(top) is None else None
        except ModuleNotFoundError as error:
            _, _, reason = str(error).partition(": ")
        except (ImportError, ValueError):
            return
        if reason is not None:
            self.find(node, f"No module named {top!r}", reason)

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if not (self.memory and isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
            return
        if function.value.id != "memory":
            return
        operation = self.reviewer.operations.get(function.attr)
        if operation is None:
            self._no_operation(function)
            return
        missing = _missing_argument(operation, node)
        if missing and not self.caught:
            self.find(node, f"{function.attr} lacks the argument {missing}")
        target = self._target(operation, node)
        if target is not None:
            member = "store" if operation["params"][0]["kind"] == "store" else "item"
            self.reviewer.calls.append({"op": function.attr, member: target, **self._position(node)})

    def _no_operation(self, function):
        if self.caught or function.attr in vars(self.reviewer.tool.modules["memory"]):
            return
        names = list(self.reviewer.operations)
        meant = near(function.attr, names)
        hint = f"did you mean {meant}?" if meant else f"use one of: {', '.join(names)}"
        self.find(function, f"memory has no operation {function.attr}", hint)

    def _target(self, operation, node):
        """Return the name of the store or the item in a call, or None if it is unknown."""
        if not operation["params"]:
            return None
        first = operation["params"][0]
        if first["kind"] != "store" and not first.get("required"):
            return None
        certain = len(node.args) > 2 and not any(isinstance(arg, ast.Starred) for arg in node.args)
        if not first.get("required") and node.args and not certain and not _is_text(node.args[1:2]):
            return None  # the first argument can belong to the second parameter
        names = {first["name"], *first.get("aliases", ())}
        value = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg in names), None)
        if isinstance(value, ast.Name):
            return self.texts.get(value.id)
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None

    def top_level(self):
        """Report memory calls that run when the tool is loaded, outside of any run."""
        if not self.memory:
            return
        for node in top_level(self.tree):
            function = node.func if isinstance(node, ast.Call) else None
            if (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Name)
                and function.value.id == "memory"
                and function.attr in self.reviewer.operations
            ):
                self.find(
                    node,
                    f"memory.{function.attr} at the top level of a module is called when the tool is loaded, outside of a run",
                    f"call the operation in the function {self.reviewer.tool.source.entry}",
                )


def _bindings(tree):
    """Count the bindings of each name anywhere in a module, except imports of memory itself."""
    bindings = {}

    def bind(name):
        bindings[name] = bindings.get(name, 0) + 1

    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bind(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bind(node.name)
        elif isinstance(node, ast.arg):
            bind(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bind(node.name)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            bind(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name.partition(".")[0]
                if not (isinstance(node, ast.Import) and alias.name == "memory" and name == "memory"):
                    bind(name)
    return bindings


def _texts(tree, bindings):
    """Return the constant strings by name: names with one assignment, at the top level."""
    texts = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, node.value
            if bindings.get(name) == 1 and isinstance(value, ast.Constant) and isinstance(value.value, str):
                texts[name] = value.value
    return texts


def _is_text(nodes):
    """Report whether the first expression is a string constant."""
    return bool(nodes) and isinstance(nodes[0], ast.Constant) and isinstance(nodes[0].value, str)


def _missing_argument(operation, node):
    """Return the name of a required argument that a call certainly lacks, or None."""
    named = {keyword.arg for keyword in node.keywords}
    if None in named or any(isinstance(value, ast.Starred) for value in node.args):
        return None
    if node.args and operation["params"] and not operation["params"][0].get("required"):
        return None  # if the store is omitted, the first argument belongs to the second parameter
    for position, param in enumerate(operation["params"]):
        names = {param["name"], *param.get("aliases", ())}
        if param.get("required") and position >= len(node.args) and not names & named:
            return param["name"]
    return None
