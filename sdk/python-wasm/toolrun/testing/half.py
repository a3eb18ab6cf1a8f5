"""The guest's half of toolrun, which runs here unchanged, over a channel that leads to ``toolrun double``."""

from __future__ import annotations

import json
import pkgutil
import sys
import sysconfig
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Callable, Iterator, Protocol


class Host(Protocol):
    """What answers the guest's half: a line that says how it went, and the rest."""

    def answer(self, *fields: str) -> tuple[bytes, str]: ...


_hosts: list[Host] = []


def _ask(*fields: str) -> tuple[bytes, str]:
    return _hosts[-1].answer(*fields)


@contextmanager
def speaking_to(host: Host) -> Iterator[None]:
    """Have the guest's half speak to a host."""
    _hosts.append(host)
    try:
        yield
    finally:
        _hosts.pop()


# In the sandbox this module reads and writes a file of the host's.
_channel: Any = ModuleType("toolrun.guest.channel")
_channel.ask, _channel.send = _ask, _ask
sys.modules["toolrun.guest.channel"] = _channel

from toolrun.guest import importing  # noqa: E402

if sys.version_info < (3, 10):
    # What Python does not tell yet: its library is what lies in two folders, or is built in.
    _library = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("DESTSHARED")]
    _found = {module.name for module in pkgutil.iter_modules([folder for folder in _library if folder])}
    importing.STANDARD = frozenset({*_found, *sys.builtin_module_names})  # type: ignore[attr-defined]

from toolrun.guest import calling, errors, failures, operations, source, values, world  # noqa: E402

if sys.version_info < (3, 11):
    # It gives a body the name "<module>" in tracebacks, which code objects have no place for before 3.11.
    source._rename = lambda module: module  # type: ignore[attr-defined]

# The bound on nested arrays and objects in what crosses the channel.
NESTING = operations.nesting


_memory: list[ModuleType] = []


def install(table: list) -> None:
    """Make the module memory of the host's table of operations, without leaving it where imports find it."""
    if _memory:
        return
    known = sys.modules.get("memory")
    try:
        _memory.append(operations.install(table))
    finally:
        sys.modules.pop("memory", None)
        if known is not None:
            sys.modules["memory"] = known


def memory() -> Any:
    """Return the module memory, which is there once a memory was opened."""
    return _memory[0]


class Text(str):
    """A text of JSON that is sent as it is."""


def text_of(value: Any, name: str) -> str:
    """Write a value of the test as JSON. A value that is not JSON is a mistake of the test."""
    if isinstance(value, Text):
        return value
    try:
        return values.encode(value, name, 1000)
    except values.Unfit as unfit:
        raise TypeError(f"the test gives a value that is not JSON: {unfit.message}") from None


def answered(perform: Callable[[str, list], Any], fields: tuple) -> tuple[bytes, str]:
    """Answer a message of the guest's half, whose calls are performed by perform."""
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
    """Write a fault with the number by which the host knows it again, 0 where the host does not."""
    shown = dict(fault)
    return b"fault", shown.pop("id", "0") + "\n" + json.dumps(shown)


def error_of(fault: dict) -> errors.MemoryAccessError:
    """Make the error of a fault."""
    return errors.from_fault(fault)


__all__ = [
    "NESTING", "Text", "answered", "calling", "error_of", "failures", "importing", "install", "memory", "operations", "source",
    "speaking_to", "text_of", "values", "world",
]  # fmt: skip
