"""Which fields of a content are wanted, as in MongoDB.

``{"a.b": 1}`` includes, ``{"a": 0}`` excludes, ``{"a": {"b": 1}}`` is the same as ``{"a.b": 1}``, and paths go through
arrays element by element. Where both are mixed, inclusion wins, and exclusions subtract from what is included above. In a
path, ``\\.`` is a point that belongs to a name, and two backslashes are one.
"""

from __future__ import annotations

from typing import Any

from toolrun.testing import documents
from toolrun.testing.faults import fault, quote

MAX_PATH = 32

# The operators of MongoDB. Taken for names they would pick nothing, silently.
OPERATORS = ("$", "$slice", "$elemMatch", "$meta")

# What apply answers where nothing of a value is wanted.
NOTHING = object()


class Projection:
    """One field of a projection, and those below it."""

    def __init__(self) -> None:
        self.include = False
        self.exclude = False
        self.includes = False  # this field or one below is included
        self.children: dict[str, Projection] = {}

    def apply(self, content: Any) -> Any:
        """Return the wanted part of a content, or NOTHING."""
        return self._pick(content) if self.includes else self._drop(content)

    def add(self, fields: dict, path: tuple = ()) -> None:
        for name, value in fields.items():
            steps = _split(name)
            full = path + tuple(steps)
            if len(full) > MAX_PATH:
                raise fault("invalid_argument", f"a path of the projection has more than {MAX_PATH} steps")
            node = self
            for step in steps:
                if step == "":
                    raise fault("invalid_argument", f"the projection's field {quote('.'.join(full))} has an empty step")
                if step in OPERATORS:
                    raise fault(
                        "invalid_argument",
                        f"the projection's field {quote('.'.join(full))}: the operator {step} is not supported",
                        hint="a projection picks fields; cut lists in the tool",
                    )
                node = node.children.setdefault(step, Projection())
            node._set(value, full)

    def _set(self, value: Any, path: tuple) -> None:
        if isinstance(value, (bool, int, float)):
            self.include = self.include or bool(value)
            self.exclude = self.exclude or not value
        elif isinstance(value, dict) and value:
            self.add(value, path)
        else:
            raise _bad(".".join(path))

    def mark(self) -> bool:
        self.includes = self.include
        for child in self.children.values():
            self.includes = child.mark() or self.includes
        return self.includes

    def _pick(self, value: Any) -> Any:
        if self.include:
            return self._drop(value)
        if isinstance(value, dict):
            parts = {n: c._pick(value[n]) for n, c in self.children.items() if c.includes and n in value}
            return {name: part for name, part in parts.items() if part is not NOTHING}
        if isinstance(value, list):
            return [part for part in map(self._pick, value) if part is not NOTHING]
        return NOTHING

    def _drop(self, value: Any) -> Any:
        if not self.children:
            return value
        if isinstance(value, dict):
            parts = {n: self.children[n]._keep(v) if n in self.children else v for n, v in value.items()}
            return {name: part for name, part in parts.items() if part is not NOTHING}
        if isinstance(value, list):
            return [self._drop(element) for element in value]
        return value

    def _keep(self, value: Any) -> Any:
        if not self.exclude or self.include:
            return self._drop(value)
        return self._pick(value) if self.includes else NOTHING


def _split(path: str) -> list[str]:
    """Return the steps of a path."""
    steps, step, at = [], "", 0
    while at < len(path):
        if path[at] == "\\" and path[at + 1 : at + 2] in (".", "\\"):
            at += 1
            step += path[at]
        elif path[at] == ".":
            steps.append(step)
            step = ""
        else:
            step += path[at]
        at += 1
    return [*steps, step]


def parse(text: str) -> Projection | None:
    """Read a projection; None means everything, as "" and null do."""
    try:
        value = documents.decode(text or "null", depth=MAX_PATH, keys=1000)
    except documents.Malformed as error:
        raise fault("invalid_argument", f"the projection is not valid JSON: {error}") from None
    if value is None or value == {}:
        return None
    if not isinstance(value, dict):
        raise _bad("")
    root = Projection()
    root.add(value)
    root.mark()
    return root


def _bad(path: str) -> Exception:
    where = f"the projection's field {quote(path)}" if path else "the projection"
    return fault(
        "invalid_argument",
        f"{where} takes 1 or true to include, 0 or false to exclude, or an object of fields",
        hint='for example {"preferences.language": 1}',
    )
