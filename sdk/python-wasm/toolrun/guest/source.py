"""Analysis and compilation of a tool's source, which can have several forms. The code keeps the author's locations."""

import ast

from .importing import STANDARD
from .spelling import near

# _BODY is the name of the function that a script body is converted to. STAR is the name of the
# function that replaces "from module import *" in the body.
_BODY = "__toolrun_body__"
STAR = "__toolrun_star__"

# The names of the functions that are entry points if the tool declares none.
_ENTRIES = ("main", "execute")
# The usual names of handler functions on cloud platforms. toolrun does not call these functions
# automatically.
_HANDLERS = ("lambda_handler", "handler")

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))  # tests can run in a Python version before 3.11, which has only one
_WAITS = (ast.Await, ast.AsyncFor, ast.AsyncWith)


class Source:
    """The source of a tool.

    tree     the syntax tree
    entry    the name of the function to call; None if the source is a body, which runs itself
    code     the code to execute: that of the module, or of a body without return and await
    wrapped  whether code defines a function with the body, which must then be called (see ``body_of``)
    warning  the description of a probable mistake, or None
    """

    def __init__(self, text, path, entry=None):
        self.path = path
        self.tree = parse(text, path)
        self.own = list(_of_this_scope(self.tree.body))
        self.returns = any(isinstance(node, ast.Return) for node in self.own)
        self.entry = entry or self._find_entry()
        self.wrapped = not self.entry and (self.returns or _waits(self.own))
        self.warning = (None if self.entry else self._find_mistake()) or self._find_exit()
        make = _compile_body if self.wrapped else _compile
        self.code = make(self.tree, path)

    def _find_entry(self):
        """Return the name of the entry, or None.

        A source has an entry if it defines one, does not call it, and has no return at its top level.
        """
        if self.returns:
            return None
        defined = {node.name for node in self.own if isinstance(node, _FUNCTIONS)}
        imported = (alias for node in self.own if isinstance(node, ast.ImportFrom) for alias in node.names)
        defined.update(alias.asname or alias.name for alias in imported)
        # Code under "if __name__ == '__main__'" is not part of the tool, because the host calls the
        # entry point.
        run = list(_of_this_scope([node for node in self.tree.body if not _is_main_guard(node)]))
        called = {node.func.id for node in run if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
        used = {node.id for node in run if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        bound = {name for name, value in _assigned(self.own) if _is_function(value, defined)} - used
        return next((name for name in _ENTRIES if name in bound or name in defined - called), None)

    def _find_mistake(self):
        """Describe a body that, judging by its source, returns nothing and has no effects."""
        if self.returns:
            return None
        defined = [node.name for node in self.own if isinstance(node, _FUNCTIONS)]
        used = {node.id for node in self.own if isinstance(node, ast.Name)}
        if defined and not used.intersection(defined):
            handler = next((name for name in defined if name in _HANDLERS), None)
            if handler:
                return (
                    f"nothing calls the function {handler}, and the tool returned nothing; "
                    f"add def main(input, context): return {handler}(input, context)"
                )
            for name in defined:
                meant = near(name, _ENTRIES)
                if meant:
                    return f"nothing calls the function {name}, and the tool returned nothing; did you mean {meant}?"
            return (
                f"nothing calls the function {defined[-1]}, and the tool returned nothing; rename the function to main or execute, "
                "or return its result"
            )
        for name, _ in _assigned(self.own):
            if name in _ENTRIES and not any(_reads(node, name) for node in self.own):
                return (
                    f"the tool returns nothing: the source does not define {name} as a function; "
                    f"write def {name}, or return the output"
                )
        if not any(_acts(node) for node in self.own):
            return "the tool returns nothing: the source has no function main or execute and no return"
        return None

    def _find_exit(self):
        """Describe a call to exit, which ends a tool without an output."""
        run = [node for node in self.tree.body if not (self.entry and _is_main_guard(node))]
        for node in (inner for outer in run for inner in ast.walk(outer)):
            if isinstance(node, ast.Call) and _exits(node):
                return (
                    f"the tool returns nothing: line {node.lineno} calls {_dotted(node.func)}, which ends the tool without "
                    "an output; use return"
                )
        return None

    def uses(self, names):
        """Report whether the top level uses one of the given names."""
        return not names.isdisjoint(self.code.co_names)


def parse(text, path):
    """Return the syntax tree of a module."""
    return ast.parse(text, path)


def imports(tree):
    """Yield the imports of a module: the name, the level of a relative import, and whether a failure may be handled.

    A failure may be handled if the import is in the body of a try statement with handlers.
    """
    pending = [(tree, False)]
    while pending:
        node, tried = pending.pop()
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, 0, tried
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "", node.level, tried
            for alias in node.names:
                yield f"{node.module}.{alias.name}" if node.module else alias.name, node.level, tried
        attempts = {id(inner) for inner in node.body} if isinstance(node, _TRIES) and node.handlers else ()
        pending.extend((inner, tried or id(inner) in attempts) for inner in ast.iter_child_nodes(node))


def top_level(tree):
    """Yield the nodes that run when a module is imported, except those inside functions and classes."""
    return _of_this_scope([node for node in tree.body if not _is_main_guard(node)])


def _of_this_scope(nodes):
    """Yield the nodes of a scope, except those inside functions and classes."""
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def _assigned(nodes):
    """Yield the name and the value of each assignment to a single name."""
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
        elif isinstance(node, ast.AnnAssign) and node.value:
            target = node.target
        else:
            continue
        if isinstance(target, ast.Name):
            yield target.id, node.value


def _is_function(value, defined):
    """Report whether an expression is certainly a function."""
    if isinstance(value, ast.Name):
        return value.id in defined
    if isinstance(value, ast.Call):
        return _dotted(value.func) in ("partial", "functools.partial")
    return isinstance(value, ast.Lambda)


def _dotted(node):
    """Return a name or a dotted name as it is written, or "" for other expressions."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _reads(node, name):
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _exits(call):
    """Report whether a call ends a program with success."""
    succeeds = all(isinstance(arg, ast.Constant) and not arg.value for arg in call.args)
    return succeeds and _dotted(call.func) in ("exit", "quit", "sys.exit")


def _acts(node):
    """Report whether a node can have an effect: it calls something, or changes more than a variable."""
    if isinstance(node, (ast.Subscript, ast.Attribute)):
        return not isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        return any(name.partition(".")[0] not in STANDARD for name in names)
    return isinstance(node, (*_WAITS, ast.Call, ast.Raise, ast.Assert))


def _is_main_guard(node):
    """Report whether a node is: if __name__ == "__main__"."""
    if not isinstance(node, ast.If):
        return False
    return any(isinstance(name, ast.Name) and name.id == "__name__" for name in ast.walk(node.test))


def _compile(tree, path):
    return compile(tree, path, "exec", dont_inherit=True)


def _compile_body(tree, path):
    """Compile a body as a function, because it contains return or await. The variables of the body stay global."""
    _refuse_yields(tree, path)
    head, body = _split_head(tree.body)
    body = [_Globalise().visit(node) for node in body]
    waits = _waits(_of_this_scope(body))
    names = _names_of_locals(_function(body, waits), path)
    if names:
        location = dict(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
        body = [ast.Global(names=names, **location), *body]
    module = ast.Module(body=[*head, _function(body, waits)], type_ignores=[])
    return _rename(_compile(module, path))


def _refuse_yields(tree, path):
    """Reject a yield, which would be valid in the generated function but not in the author's source."""
    for node in _of_this_scope(tree.body):
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            raise SyntaxError("'yield' outside function", (path, node.lineno, node.col_offset + 1, None))


def _split_head(nodes):
    """Split off the docstring and the imports from __future__, which must come first in a module."""
    count = 0
    for node in nodes:
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        is_future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (is_text and count == 0 or is_future):
            break
        count += 1
    return nodes[:count], nodes[count:]


def _waits(nodes):
    return any(isinstance(node, _WAITS) or isinstance(node, ast.comprehension) and node.is_async for node in nodes)


def _function(body, waits):
    location = dict(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    kind = ast.AsyncFunctionDef if waits else ast.FunctionDef
    return kind(name=_BODY, args=nothing, body=body or [ast.Pass(**location)], decorator_list=[], type_params=[], **location)


def _names_of_locals(function, path):
    """Return the local variables of a function, as the compiler determines them."""
    module = _compile(ast.Module(body=[function], type_ignores=[]), path)
    code = next(constant for constant in module.co_consts if hasattr(constant, "co_code"))
    return sorted({*code.co_varnames, *code.co_cellvars})


def _rename(module):
    """Give the function of the body the name of a module's own code in tracebacks."""
    constants = tuple(
        constant.replace(co_name="<module>", co_qualname="<module>")
        if hasattr(constant, "co_code") and constant.co_name == _BODY
        else constant
        for constant in module.co_consts
    )
    return module.replace(co_consts=constants)


def body_of(namespace):
    """Remove the function of a body from the namespace in which its code was executed, and return it."""
    return namespace.pop(_BODY)


class _Globalise(ast.NodeTransformer):
    """Rewrites statements that a function cannot contain, or cannot apply to a global variable."""

    def _leave(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = _leave

    def visit_AnnAssign(self, node):
        """An annotated variable cannot be global, so only the assignment is kept."""
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=node.value), node)

    def visit_ImportFrom(self, node):
        """Only a module can import all names of another."""
        if node.names[0].name != "*":
            return node
        arguments = [ast.Constant(node.module or ""), ast.Constant(node.level)]
        call = ast.Call(func=ast.Name(STAR, ast.Load()), args=arguments, keywords=[])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))
