"""The modules ``memory`` and ``model``, created from the host's table of operations."""

import sys
from types import ModuleType

from . import errors
from .channel import ask
from .spelling import near
from .values import Unfit, decode, encode, quote

# The errors for faults of the host, with their numbers. Only the identity of an error object proves
# that it is a fault of the host, because a tool can create an equal error.
issued = []

# The maximum nesting of values that are sent over the channel. The nesting is a limit of the run.
nesting = 100


def number_of(error):
    """Return the number of an error that the host raised, or None for any other object."""
    for raised, number in issued:
        if raised is error:
            return number
    return None


# The descriptions of the modules.
_DOCS = {
    "memory": "The memory of the tool: its stores, which persist between runs.",
    "model": "The language models of the tool.",
}


def install(table):
    """Create the modules with the operations in the table, and return them by name."""
    modules = {"memory": _module("memory", table)}
    for operation in table:
        name = module_of(operation)
        if name not in modules:
            modules[name] = _module(name, table)
        setattr(modules[name], function_of(operation), _make(operation))
    for name, value in vars(errors).items():
        if isinstance(value, type) and issubclass(value, errors.MemoryAccessError):
            setattr(modules["memory"], name, value)
    sys.modules.update(modules)
    return modules


def module_of(operation):
    """Return the name of the module of an operation."""
    return operation.get("module", "memory")


def function_of(operation):
    """Return the name of the function of an operation."""
    name = operation["name"]
    return name.removeprefix(operation["module"] + "_") if "module" in operation else name


def _module(name, table):
    module = ModuleType(name, _DOCS.get(name))
    module.__getattr__ = _suggest(name, table)
    return module


def _suggest(module, table):
    """Return the __getattr__ of a module, which raises the error for an unknown name."""
    names = [function_of(operation) for operation in table if module_of(operation) == module]

    def __getattr__(name):
        meant = near(name, names)
        advice = f"did you mean {meant}?" if meant else f"use one of: {', '.join(names)}"
        raise AttributeError(f"module {module!r} has no attribute {name!r}; {advice}")

    return __getattr__


def _make(operation):
    name, params = operation["name"], operation["params"]
    function = function_of(operation)
    positions = {}
    for position, param in enumerate(params):
        for alias in (param["name"], *param.get("aliases", ())):
            positions[alias] = position

    def call(*args, **kwargs):
        if kwargs or len(args) > len(params):
            args = _arrange(name, params, positions, args, kwargs)
        try:
            texts = [_text(value, param["name"]) for value, param in zip(args, params)]
        except Unfit as unfit:
            refusal = ("deep" if unfit.deep else "invalid", f"{name}: {unfit.message}")
        else:
            return _perform("call", name, *texts)
        return _perform("refuse", name, refusal[0], quote(refusal[1]))

    call.__name__ = call.__qualname__ = function
    call.__module__ = module_of(operation)
    call.__doc__ = f"{function}({', '.join(param['name'] for param in params)})"
    return call


_ABSENT = object()


def _text(value, name):
    return "" if value is _ABSENT else encode(value, name, nesting)


def _arrange(name, params, positions, args, kwargs):
    """Return the arguments in the order of the parameters."""
    if len(args) > len(params):
        _refuse(name, f"takes at most {len(params)} arguments, not {len(args)}")
    arranged = list(args) + [_ABSENT] * (len(params) - len(args))
    for key, value in kwargs.items():
        position = positions.get(key)
        if position is None:
            known = ", ".join(param["name"] for param in params)
            _refuse(name, f"has no argument named {quote(key[:64])}; the names of the arguments are {known}")
        if arranged[position] is not _ABSENT:
            _refuse(name, f"received the argument {params[position]['name']} twice")
        arranged[position] = value
    return arranged


def _refuse(name, message):
    """Make the host raise the error for a malformed call."""
    _perform("refuse", name, "invalid", quote(f"{name} {message}"))


def _perform(*fields):
    kind, text = ask(*fields)
    if kind == b"ok":
        return decode(text)
    number, _, text = text.partition("\n")
    error = errors.from_fault(decode(text))
    issued.append((error, int(number)))
    raise error
