"""The guest's part of the Python runtime. The runtime runs here unchanged, with a channel to ``toolrun double``."""

from __future__ import annotations

import json
import pkgutil
import sys
import sysconfig
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Callable, Iterator, Protocol


class Host(Protocol):
    """A host that replies to the guest's runtime: the first line is the kind of the reply, the rest its content."""

    def reply(self, *fields: str) -> tuple[bytes, str]: ...


_hosts: list[Host] = []


def _ask(*fields: str) -> tuple[bytes, str]:
    return _hosts[-1].reply(*fields)


@contextmanager
def connected_to(host: Host) -> Iterator[None]:
    """Connect the guest's runtime to a host."""
    _hosts.append(host)
    try:
        yield
    finally:
        _hosts.pop()


# In the sandbox, this module reads and writes standard input.
_channel: Any = ModuleType("toolrun.guest.channel")
_channel.ask, _channel.send = _ask, _ask
sys.modules["toolrun.guest.channel"] = _channel

from toolrun.guest import importing  # noqa: E402

if sys.version_info < (3, 10):
    # This Python version does not list the modules of its library. The modules are in two folders
    # or built in.
    _library = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("DESTSHARED")]
    _found = {module.name for module in pkgutil.iter_modules([folder for folder in _library if folder])}
    importing.STANDARD = frozenset({*_found, *sys.builtin_module_names})  # type: ignore[attr-defined]

from toolrun.guest import binding, errors, failures, operations, source, values  # noqa: E402
from toolrun.guest import globals as tool_globals  # noqa: E402

if sys.version_info < (3, 11):
    # Gives a script body the name "<module>" in tracebacks. Before Python 3.11, code objects have
    # no field for this name.
    source._rename = lambda module: module  # type: ignore[attr-defined]

# The maximum nesting of values that are sent over the channel.
NESTING = operations.nesting


_modules: dict[str, ModuleType] = {}


def install(table: list) -> None:
    """Create the host's modules from the host's table of operations, but hide them from imports."""
    if _modules:
        return
    names = {operations.module_of(operation) for operation in table} | {"memory"}
    known = {name: sys.modules[name] for name in names if name in sys.modules}
    try:
        _modules.update(operations.install(table))
    finally:
        for name in names:
            sys.modules.pop(name, None)
        sys.modules.update(known)


def modules() -> dict[str, ModuleType]:
    """Return the host's modules by name, which exist after the first memory was opened."""
    return dict(_modules)


def memory() -> Any:
    """Return the module memory, which exists after the first memory was opened."""
    return _modules["memory"]


class Text(str):
    """A JSON text that is sent unchanged."""


def text_of(value: Any, name: str) -> str:
    """Encode a value of the test as JSON. A value without a JSON form is a mistake of the test."""
    if isinstance(value, Text):
        return value
    try:
        return values.encode(value, name, 1000)
    except values.Unfit as unfit:
        raise TypeError(f"the test passes a value that is not JSON: {unfit.message}") from None


def reply_to(perform: Callable[[str, list], Any], fields: tuple) -> tuple[bytes, str]:
    """Reply to a message of the guest's runtime. perform handles its memory calls."""
    kind, *rest = fields
    if kind == "refuse":
        op, how, message = rest
        return _raised({"code": "too_large" if how == "deep" else "invalid_argument", "message": json.loads(message), "op": op})
    if kind != "call":
        return b"none", ""
    try:
        return b"ok", json.dumps(perform(rest[0], rest[1:]))
    except errors.MemoryAccessError as error:
        return _raised(getattr(error, "fault", None) or {"code": error.code, "message": error.message})


def _raised(fault: dict) -> tuple[bytes, str]:
    """Return the reply that raises a fault, with the number that identifies it, or 0 if it has none."""
    shown = dict(fault)
    return b"fault", shown.pop("id", "0") + "\n" + json.dumps(shown)


def error_of(fault: dict) -> errors.MemoryAccessError:
    """Return the exception for a fault."""
    return errors.from_fault(fault)


__all__ = [
    "NESTING", "Text", "binding", "connected_to", "error_of", "failures", "importing", "install", "memory", "modules", "operations",
    "reply_to", "source", "text_of", "tool_globals", "values",
]  # fmt: skip
