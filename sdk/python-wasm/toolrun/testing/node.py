"""A compiled schema: what each keyword says, with the schemas in it as nodes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Callable

from toolrun.testing import documents

# Keywords beside which a $ref is still nothing but a $ref.
_ANNOTATIONS = {
    "$ref", "title", "description", "default", "examples", "$comment", "deprecated", "readOnly", "writeOnly",
}  # fmt: skip

_MAX_LIMIT = 200  # bytes of a keyword's value that is told in a violation


@dataclass(frozen=True)
class Dependency:
    """What else an object needs that has the property: names, or a schema that applies to it."""

    keyword: str
    property: str
    required: tuple
    schema: Node | None


class Node:
    """One schema. keyword is the one that holds it, which is to blame where the schema is False."""

    def __init__(self, keyword: str, schema: Any, draft: int) -> None:
        self.keyword, self.draft = keyword, draft
        self.trivial = isinstance(schema, bool)
        self.never = schema is False
        raw = {} if self.trivial else schema
        # Until draft 7 a $ref made all that stands beside it void.
        self.raw: dict[str, Any] = {"$ref": raw["$ref"]} if draft < 2019 and "$ref" in raw else raw
        self.properties: dict[str, Node] = {}
        self.patterns: list[tuple[re.Pattern, Node]] = []
        self.dependent: list[Dependency] = []
        self.prefix: list[Node] = []
        self.branches: dict[str, list[Node]] = {}
        self.one: dict[str, Node] = {}
        self.applied: list[Node] = []  # $ref and allOf
        self.rest: Node | None = None
        self.alias: Node | None = None
        self.has_default = "default" in self.raw
        self.default = self.raw.get("default")
        self.declares = "properties" in self.raw

    def fill(self, make: Callable[[Any, str], Node], resolve: Callable[[str], Any]) -> None:
        """Make the nodes of all schemas in this one."""
        raw = self.raw
        for keyword in ("$dynamicRef", "$recursiveRef"):
            if keyword in raw:
                raise ValueError(f"the double does not know {keyword}; toolrun does")
        if "$ref" in raw:
            self.applied.append(make(resolve(raw["$ref"]), "$ref"))
            if not set(raw) - _ANNOTATIONS:
                self.alias = self.applied[0]
        self.applied += [make(sub, "allOf") for sub in raw.get("allOf", [])]
        for keyword in ("anyOf", "oneOf"):
            self.branches[keyword] = [make(sub, keyword) for sub in raw.get(keyword, [])]
        for keyword, since in _SINGLE.items():
            if keyword in raw and self.draft >= since:
                self.one[keyword] = make(raw[keyword], keyword)
        self._fill_object(make)
        self._fill_array(make)

    def _fill_object(self, make: Callable[[Any, str], Node]) -> None:
        raw = self.raw
        self.properties = {name: make(sub, "properties") for name, sub in raw.get("properties", {}).items()}
        for pattern, sub in sorted(raw.get("patternProperties", {}).items()):
            self.patterns.append((re.compile(pattern), make(sub, "patternProperties")))
        for name, value in sorted(raw.get("dependencies", {}).items()):
            if isinstance(value, list):
                self.dependent.append(Dependency("dependencies", name, tuple(value), None))
            else:
                self.dependent.append(Dependency("dependencies", name, (), make(value, "dependencies")))
        if self.draft < 2019:
            return
        for name, names in sorted(raw.get("dependentRequired", {}).items()):
            self.dependent.append(Dependency("dependentRequired", name, tuple(names), None))
        for name, sub in sorted(raw.get("dependentSchemas", {}).items()):
            self.dependent.append(Dependency("dependentSchemas", name, (), make(sub, "dependentSchemas")))

    def _fill_array(self, make: Callable[[Any, str], Node]) -> None:
        raw = self.raw
        items = raw.get("items")
        if self.draft >= 2020:
            self.prefix = [make(sub, "prefixItems") for sub in raw.get("prefixItems", [])]
            self.rest = None if items is None else make(items, "items")
        elif isinstance(items, list):
            self.prefix = [make(sub, "items") for sub in items]
            if "additionalItems" in raw:
                self.rest = make(raw["additionalItems"], "additionalItems")
        elif items is not None:
            self.rest = make(items, "items")

    def inner(self) -> list[Node]:
        """Return the nodes of all schemas in this one."""
        found = [*self.properties.values(), *self.prefix, *self.applied, *self.one.values()]
        found += [sub for _, sub in self.patterns] + [d.schema for d in self.dependent if d.schema]
        found += [sub for subs in self.branches.values() for sub in subs] + ([self.rest] if self.rest else [])
        return found

    def plainly(self) -> Node:
        """Return the schema that this one stands for: itself, or the target where it is nothing but a $ref."""
        node, steps = self, 0
        while node.alias and steps < 100:  # a $ref may lead to itself
            node, steps = node.alias, steps + 1
        return node

    def default_value(self) -> tuple[bool, Any]:
        """Return whether it has a default, its own or the first that it refers to, and which."""
        return self._default_value(100)

    def _default_value(self, left: int) -> tuple[bool, Any]:
        if self.has_default or left == 0:
            return self.has_default, self.default
        for sub in self.applied:
            found, value = sub._default_value(left - 1)
            if found:
                return True, value
        return False, None

    def limit(self, keyword: str) -> tuple[bool, Any]:
        """Return whether a keyword's value is short enough to be told, and the value."""
        if self.never:
            return True, False
        if keyword not in self.raw or documents.size(self.raw[keyword]) > _MAX_LIMIT:
            return False, None
        return True, self.raw[keyword]


# The keywords that hold one schema, with the first draft that has them.
_SINGLE = {
    "not": 4,
    "if": 7,
    "then": 7,
    "else": 7,
    "additionalProperties": 4,
    "unevaluatedProperties": 2019,
    "propertyNames": 6,
    "unevaluatedItems": 2019,
    "contains": 6,
}
