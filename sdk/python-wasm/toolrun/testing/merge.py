"""JSON Merge Patch, RFC 7396."""

from __future__ import annotations

from typing import Any


def merge(target: Any, patch: Any) -> Any:
    """Apply a merge patch: objects are merged deeply, None removes a member, anything else replaces.

    Neither argument is changed; the answer shares what did not change with both.
    """
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge(merged.get(name), value)
    return merged
