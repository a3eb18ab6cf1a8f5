"""One check of one document: which schemas apply to which value, what they refuse, and which names they know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from toolrun.testing import keywords
from toolrun.testing.documents import encode, identity
from toolrun.testing.node import Node

_MOST = 100  # violations of one check

# The schema that refuses a name which a strict store does not know: as if it said so itself.
_CLOSED = Node("additionalProperties", False, 2020)


@dataclass(frozen=True)
class Finding:
    """A violation: of which keyword of which schema, where."""

    at: tuple
    node: Node
    keyword: str
    missing: bool = False

    def told(self) -> dict:
        pointer = "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in self.at)
        short, limit = self.node.limit(self.keyword)
        return {"pointer": pointer, "keyword": self.keyword, **({"limit": limit} if short else {})}


@dataclass
class Outcome:
    """What a schema says of a value."""

    ok: bool = True
    seen: set = field(default_factory=set)  # the names or indexes that it evaluated
    all: bool = False  # it evaluated all of them
    declares: bool = False  # it lists properties

    def take(self, other: Outcome) -> None:
        """Add what another schema evaluated of the same value."""
        self.seen |= other.seen
        self.all = self.all or other.all
        self.declares = self.declares or other.declares


@dataclass
class Claim:
    """What one application of a schema says of the names of an object."""

    at: tuple
    names: list
    outcome: Outcome
    closes: bool


class Evaluation:
    """Checks one document."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.found: list[Finding] = []
        self.claims: list[Claim] = []

    def run(self, node: Node, document: Any) -> list[dict]:
        self._visit(node, document, (), Outcome())
        self._close()
        # Each once, in the order of their pointers.
        told = {(v["pointer"], v["keyword"], encode(v.get("limit", ""))): v for v in map(Finding.told, self.found)}
        return [told[place] for place in sorted(told)][:_MOST]

    def _fail(self, node: Node, keyword: str, at: tuple, out: Outcome, missing: bool = False) -> None:
        out.ok = False
        self.found.append(Finding(at, node, keyword, missing))

    def _visit(self, node: Node, value: Any, at: tuple, out: Outcome) -> None:
        """Apply a schema to a value of its own: the document, an element or a member."""
        result = self._apply(node, value, at)
        out.ok = out.ok and result.ok
        self._claim(value, at, result, result.declares)

    def _join(self, node: Node, value: Any, at: tuple, out: Outcome) -> None:
        """Apply a schema to the value that out is about, which has to fit it too."""
        result = self._apply(node, value, at)
        out.ok = out.ok and result.ok
        out.take(result)

    def _apply(self, node: Node, value: Any, at: tuple) -> Outcome:
        out = Outcome(declares=node.declares)
        if node.trivial:
            if node.never:
                self._fail(node, node.keyword, at, out)
            return out
        if "type" in node.raw and not keywords.of_type(node.raw["type"], value):
            self._fail(node, "type", at, out)
            return out
        self._value(node, value, at, out)
        self._inner(node, value, at, out)
        self._unevaluated(node, value, at, out)
        return out

    def _value(self, node: Node, value: Any, at: tuple, out: Outcome) -> None:
        raw = node.raw
        if "enum" in raw and not keywords.allowed(raw["enum"], value):
            self._fail(node, "enum", at, out)
        if "const" in raw and node.draft >= 6 and not keywords.allowed([raw["const"]], value):
            self._fail(node, "const", at, out)
        for keyword, check in keywords.CHECKS.get(keywords.kind_of(value), {}).items():
            if keyword in raw and not check(raw[keyword], value, raw):
                self._fail(node, _blamed(keyword, raw), at, out)
        if isinstance(value, list):
            self._array(node, value, at, out)
        elif isinstance(value, dict):
            self._object(node, value, at, out)

    def _object(self, node: Node, value: dict, at: tuple, out: Outcome) -> None:
        self._require(node, "required", node.raw.get("required", ()), value, at, out)
        for d in node.dependent:
            if d.property in value:
                self._require(node, d.keyword, d.required, value, at, out)
        for name in sorted(value):
            self._member(node, name, value[name], at + (name,), out)
        if "additionalProperties" in node.one:
            out.all = True

    def _require(self, node: Node, keyword: str, names: Any, value: dict, at: tuple, out: Outcome) -> None:
        # In draft 4 "required" was a list too; what draft 3 had is refused with the schema.
        for name in names:
            if name not in value:
                self._fail(node, keyword, at + (name,), out, missing=True)

    def _member(self, node: Node, name: str, value: Any, at: tuple, out: Outcome) -> None:
        subs = [node.properties[name]] if name in node.properties else []
        subs += [sub for pattern, sub in node.patterns if pattern.search(name)]
        for sub in subs:
            self._visit(sub, value, at, out)
        if subs:
            out.seen.add(name)
        elif "additionalProperties" in node.one:
            self._visit(node.one["additionalProperties"], value, at, out)
        if "propertyNames" in node.one:
            self._visit(node.one["propertyNames"], name, at, out)

    def _array(self, node: Node, value: list, at: tuple, out: Outcome) -> None:
        for i, element in enumerate(value):
            sub = node.prefix[i] if i < len(node.prefix) else node.rest
            if sub:
                self._visit(sub, element, at + (i,), out)
                out.seen.add(i)
        if "contains" in node.one:
            self._contains(node, value, at, out)

    def _contains(self, node: Node, value: list, at: tuple, out: Outcome) -> None:
        fit = 0
        for i, element in enumerate(value):
            result = self._ask(node.one["contains"], element, at + (i,))
            if not result.ok:
                continue
            fit += 1
            self._claim(element, at + (i,), result, False)
            if node.draft >= 2020:
                out.seen.add(i)
        bounds = node.raw if node.draft >= 2019 else {}
        if fit < bounds.get("minContains", 1):
            self._fail(node, "minContains" if "minContains" in bounds else "contains", at, out)
        if "maxContains" in bounds and fit > bounds["maxContains"]:
            self._fail(node, "maxContains", at, out)

    def _inner(self, node: Node, value: Any, at: tuple, out: Outcome) -> None:
        """Apply the schemas that a schema applies to the same value."""
        for sub in node.applied:
            self._join(sub, value, at, out)
        for keyword in ("anyOf", "oneOf"):
            if node.branches.get(keyword):
                self._branches(node, keyword, value, at, out)
        if "not" in node.one and self._ask(node.one["not"], value, at).ok:
            self._fail(node, "not", at, out)
        if "if" in node.one:
            result = self._ask(node.one["if"], value, at)
            out.take(result)
            after = node.one.get("then" if result.ok else "else")
            if after:
                self._join(after, value, at, out)
        for d in node.dependent if isinstance(value, dict) else ():
            if d.schema and d.property in value:
                self._join(d.schema, value, at, out)

    def _ask(self, node: Node, value: Any, at: tuple) -> Outcome:
        """Ask whether a value fits. What was evaluated counts where it does, but closes no object."""
        found, claims = len(self.found), len(self.claims)
        result = self._apply(node, value, at)
        del self.found[found:]
        if not result.ok:
            del self.claims[claims:]
            return Outcome(ok=False)
        for claim in self.claims[claims:]:
            claim.closes = False
        result.declares = False
        return result

    def _branches(self, node: Node, keyword: str, value: Any, at: tuple, out: Outcome) -> None:
        """Apply the schemas of an anyOf or oneOf. Where none fits, the nearest branch's findings tell why."""
        matched = 0
        failures: list[list[Finding]] = []
        subs = _candidates(keyword, node.branches[keyword], value, at)
        for sub in subs:
            if isinstance(sub, Finding):  # no branch is one for this value
                failures.append([sub])
                continue
            found, claims = len(self.found), len(self.claims)
            result = self._apply(sub, value, at)
            if result.ok:
                matched += 1
                out.take(result)
            else:
                del self.claims[claims:]
                failures.append(self.found[found:])
            del self.found[found:]
        if matched == 0:
            self._fail(node, keyword, at, out)
            nearest: list[Finding] = min(failures, key=lambda failure: _distance(failure, at))
            self.found += nearest
            out.all = True  # nobody knows which members a fitting branch would have declared
        elif matched > 1 and keyword == "oneOf":
            self._fail(node, keyword, at, out)

    def _unevaluated(self, node: Node, value: Any, at: tuple, out: Outcome) -> None:
        keyword = "unevaluatedProperties" if isinstance(value, dict) else "unevaluatedItems"
        if keyword not in node.one or not isinstance(value, (dict, list)):
            return
        for key in sorted(value) if isinstance(value, dict) else range(len(value)):
            if not out.all and key not in out.seen:
                self._visit(node.one[keyword], value[key], at + (key,), out)
        out.all = True

    def _claim(self, value: Any, at: tuple, outcome: Outcome, closes: bool) -> None:
        if self.strict and isinstance(value, dict) and value:
            self.claims.append(Claim(at, sorted(value), outcome, closes))

    def _close(self) -> None:
        """Refuse the names that nobody evaluated in the objects that somebody closes: last, when it is known which
        schemas apply, so that strict never changes which branch a value takes."""
        totals: dict[tuple, Claim] = {}
        for claim in self.claims:
            total = totals.setdefault(claim.at, Claim(claim.at, claim.names, Outcome(), False))
            total.outcome.take(claim.outcome)
            total.closes = total.closes or claim.closes
        for total in totals.values():
            if not total.closes or total.outcome.all:
                continue
            for name in total.names:
                if name not in total.outcome.seen:
                    self._fail(_CLOSED, _CLOSED.keyword, total.at + (name,), Outcome())


def _blamed(keyword: str, raw: dict) -> str:
    """Return the keyword that refused: in draft 4, exclusiveMinimum makes another of minimum."""
    exclusive = "exclusive" + keyword[0].upper() + keyword[1:]
    return exclusive if raw.get(exclusive) is True else keyword


def _distance(found: list[Finding], at: tuple) -> int:
    """Return how far a value is from a branch: near are those whose type and constants fit."""
    wrong = [f for f in found if f.at == at and not f.missing and f.keyword in ("type", "const", "enum")]
    return len(found) + 1000 * len(wrong)


def _candidates(keyword: str, branches: list[Node], value: Any, at: tuple) -> list:
    """Return the branches that a value may fit. Where one property, which every branch requires and allows other
    values for, tells them apart, that is one branch, or what is wrong with the property."""
    if not isinstance(value, dict) or len(branches) < 2:
        return branches
    plain = [branch.plainly() for branch in branches]
    for name in sorted(plain[0].properties):
        chosen = _by_property(name, plain)
        if chosen is None:
            continue
        if name not in value:
            return [Finding(at + (name,), plain[0], "required", missing=True)]
        place = chosen.get(identity(value[name]))
        if place is None:
            rule = plain[0].properties[name].plainly()
            return [Finding(at + (name,), rule, "enum" if "enum" in rule.raw else "const")]
        return [branches[place]]
    return branches


def _by_property(name: str, branches: list[Node]) -> dict[str, int] | None:
    chosen: dict[str, int] = {}
    for i, branch in enumerate(branches):
        if name not in branch.properties or name not in branch.raw.get("required", ()):
            return None
        raw = branch.properties[name].plainly().raw
        values = raw["enum"] if "enum" in raw else [raw["const"]] if "const" in raw else []
        if not values:
            return None
        for value in values:
            if chosen.setdefault(identity(value), i) != i:
                return None
    return chosen
