"""Making the errors of memory calls."""

from __future__ import annotations

import json

from toolrun.errors import ERRORS, MemoryAccessError


def fault(code: str, message: str, hint: str | None = None, violations: list[dict] | tuple = ()) -> MemoryAccessError:
    """Make the error of a code. Which call it is of is filled in where the call is known."""
    return ERRORS.get(code, MemoryAccessError)(code, message, hint=hint, violations=violations)


def quote(name: str) -> str:
    """Show a name that came from a tool, shortened."""
    return json.dumps(shortened(name), ensure_ascii=False)


def shortened(name: str) -> str:
    """Return a name as faults tell it: 128 bytes are as long as one may be."""
    most = 128
    data = name.encode()
    if len(data) <= most:
        return name
    return data[:most].decode(errors="ignore") + "..."
