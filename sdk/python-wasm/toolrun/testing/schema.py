"""JSON Schemas of stores, checked as the host checks them.

The library jsonschema says whether a schema is one. Documents are checked by a port of the host's own evaluation, for a
strict store refuses names that no schema evaluated, which no library tells, and violations name pointer, keyword and
limit and never a value. The port knows drafts 4 to 2020-12 but for schemas with names of their own within the document
($id, $dynamicRef), and it does not bound what a check may cost. A schema that it does not know is a ValueError.
"""

from __future__ import annotations

import copy
import re
from typing import Any, Iterator
from urllib.parse import unquote

from toolrun.testing.evaluation import Evaluation
from toolrun.testing.node import Node
from toolrun.testing.words import summary

_DRAFTS = {
    "json-schema.org/draft/2020-12/schema": 2020,
    "json-schema.org/draft/2019-09/schema": 2019,
    "json-schema.org/draft-07/schema": 7,
    "json-schema.org/draft-06/schema": 6,
    "json-schema.org/draft-04/schema": 4,
}

# What RE2 has not: lookahead, lookbehind and references back.
_NOT_RE2 = re.compile(r"\(\?(?:=|!|<=|<!|P=)|(?<!\\)(?:\\\\)*\\[1-9]")


class Schema:
    """A schema that is ready to check documents."""

    def __init__(self, schema: Any, strict: bool = False) -> None:
        text = copy.deepcopy(schema)
        self.strict = strict
        self.root = _Compiler(text, _draft(text)).compile()
        for node in _reachable(self.root):
            self._check_default(node)

    def violations(self, document: Any) -> list[dict]:
        """Return every place where a document does not fit, in the order of their pointers."""
        return Evaluation(self.strict).run(self.root, document)

    def defaults(self, document: Any) -> Any:
        """Return a document with the defaults of members that it, or an object in it, does not have."""
        document = copy.deepcopy(document)
        _fill(self.root, document)
        return document

    def _check_default(self, node: Node) -> None:
        if not node.has_default:
            return
        value = copy.deepcopy(node.default)
        try:
            _fill(node, value)
        except RecursionError:
            raise ValueError(_ENDLESS) from None
        found = Evaluation(self.strict).run(node, value)
        if found:
            raise ValueError(f"a default of the schema does not fit the schema it stands in: {summary(found)}")


def _draft(schema: Any) -> int:
    said = schema.get("$schema") if isinstance(schema, dict) else None
    if said is None:
        return 2020
    bare = re.sub(r"^https?://", "", str(said)).rstrip("#")
    if bare not in _DRAFTS:
        raise ValueError(f"$schema names no draft that is supported: {said!r}")
    return _DRAFTS[bare]


class _Compiler:
    """Makes the nodes of one schema, each once."""

    def __init__(self, root: Any, draft: int) -> None:
        self.root, self.draft = root, draft
        self.nodes: dict[int, Node] = {}
        self.anchors: dict[str, Any] = {}

    def compile(self) -> Node:
        import jsonschema  # slow to import, and needed for this alone

        checker = jsonschema.validators.validator_for(self.root, default=jsonschema.Draft202012Validator)
        try:
            checker.check_schema(self.root)
        except jsonschema.SchemaError as error:
            where = "/".join(map(str, error.absolute_path)) or "the schema"
            raise ValueError(f"this is no JSON Schema: {where}: {error.message}") from None
        self._find_anchors(self.root, True)
        return self.node(self.root, "")

    def _find_anchors(self, value: Any, top: bool = False) -> None:
        if isinstance(value, list):
            for element in value:
                self._find_anchors(element)
        if not isinstance(value, dict):
            return
        if isinstance(value.get("$anchor"), str):
            self.anchors[value["$anchor"]] = value
        named = value.get("id" if self.draft == 4 else "$id")
        if isinstance(named, str) and named.startswith("#"):
            self.anchors[named[1:]] = value
        elif isinstance(named, str) and not top:
            raise ValueError("the double does not know schemas with an $id of their own within a schema; toolrun does")
        for keyword, member in value.items():
            if keyword not in ("const", "enum", "default", "examples"):  # which hold no schemas
                self._find_anchors(member)

    def node(self, schema: Any, keyword: str) -> Node:
        if isinstance(schema, bool):
            return Node(keyword, schema, self.draft)
        if id(schema) not in self.nodes:
            node = self.nodes[id(schema)] = Node(keyword, schema, self.draft)
            _check_patterns(schema)
            node.fill(self.node, self.resolve)
        return self.nodes[id(schema)]

    def resolve(self, ref: str) -> Any:
        """Find what a reference in the document refers to."""
        base, _, fragment = ref.partition("#")
        own = self.root.get("id" if self.draft == 4 else "$id")
        if base and base != own:
            raise ValueError(f"the $ref {ref!r} leaves the document, or is of a form that the double does not know")
        if fragment and not fragment.startswith("/"):
            if fragment not in self.anchors:
                raise ValueError(f"the $ref {ref!r} refers to nothing in the document")
            return self.anchors[fragment]
        at = self.root
        for step in fragment.split("/")[1:]:
            at = _member(at, step, ref)
        return at


def _member(value: Any, step: str, ref: str) -> Any:
    name = unquote(step).replace("~1", "/").replace("~0", "~")
    if isinstance(value, dict) and name in value:
        return value[name]
    if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
        return value[int(name)]
    raise ValueError(f"the $ref {ref!r} refers to nothing in the document")


def _check_patterns(schema: dict) -> None:
    patterns = [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
    for pattern in patterns + list(schema.get("patternProperties", {})):
        try:
            re.compile(pattern)
        except re.error as error:
            raise ValueError(f"the regular expression {pattern!r} is not supported: {error}") from None
        if _NOT_RE2.search(pattern):
            hint = "there is no lookahead and no backreference"
            raise ValueError(f"the regular expression {pattern!r} is not supported: {hint}")


def _reachable(root: Node) -> Iterator[Node]:
    seen, todo = set(), [root]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        todo += node.inner()


_MOST_FILLED = 10_000
_ENDLESS = "a default of the schema never ends, or is too large, when the defaults in it are filled in"


def _fill(node: Node, document: Any, left: list | None = None) -> None:
    """Fill in defaults through properties, $ref and allOf; a default that is an object is filled in turn."""
    left = [_MOST_FILLED] if left is None else left
    left[0] -= 1
    if left[0] < 0:
        raise ValueError(_ENDLESS)
    if not isinstance(document, dict):
        return
    for name in sorted(node.properties):
        sub = node.properties[name]
        if name not in document:
            found, value = sub.default_value()
            if not found:
                continue
            document[name] = copy.deepcopy(value)
        _fill(sub, document[name], left)
    for sub in node.applied:
        _fill(sub, document, left)
