"""The guest's half of toolrun, which runs here unchanged, over a channel that leads to a double instead of a host."""

from __future__ import annotations

import json
import pkgutil
import sys
import sysconfig
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Iterator, Protocol


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

from toolrun.guest import calling, failures, operations, source, values, world  # noqa: E402

if sys.version_info < (3, 11):
    # It gives a body the name "<module>" in tracebacks, which code objects have no place for before 3.11.
    source._rename = lambda module: module  # type: ignore[attr-defined]

# The bound on nested arrays and objects in what crosses the channel.
NESTING = operations.nesting


def _memory_module() -> Any:
    """Make the module memory of the host's table of operations, without leaving it where imports find it."""
    table = json.loads(Path(__file__).with_name("operations.json").read_text(encoding="utf-8"))
    known = sys.modules.get("memory")
    try:
        return operations.install(table["operations"])
    finally:
        sys.modules.pop("memory", None)
        if known is not None:
            sys.modules["memory"] = known


memory = _memory_module()

__all__ = ["NESTING", "calling", "failures", "importing", "memory", "operations", "source", "speaking_to", "values", "world"]
