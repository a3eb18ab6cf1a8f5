"""Tests of models, errors and other values that both clients share."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import typing
import unittest
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from toolrun.client import ERRORS, ConflictError, NotFoundError, ToolrunError, fields, models
from toolrun.client._decode import decode, parse_time
from toolrun.client._request import day_of, stamp
from toolrun.client._response import EventParser

API = json.loads((Path(__file__).parents[3] / "docs" / "openapi.json").read_text(encoding="utf-8"))
SCHEMAS = API["components"]["schemas"]

# The classes that have no schema, or whose schema has another name.
WITHOUT_SCHEMA = {"Page", "Outcome", "Download"}
# The members that a class omits because the method returns or raises something else.
OMITTED = {("Deleted", "success")}
# The members that only some responses have.
ADDED = {("LogLine", "attempt")}


def classes() -> dict[str, Any]:
    return {name: c for name, c in vars(models).items() if isinstance(c, type) and c.__module__ == models.__name__}


class Models(unittest.TestCase):
    def test_classes_have_the_members_of_the_api(self) -> None:
        for name, model in classes().items():
            if name in WITHOUT_SCHEMA:
                continue
            with self.subTest(name):
                schema = SCHEMAS[name]
                members = {field.metadata.get("name", field.name): field for field in dataclasses.fields(model)}
                want = set(schema["properties"]) - {member for of, member in OMITTED if of == name}
                self.assertEqual(set(members) - {member for of, member in ADDED if of == name}, want)
                for member, field in members.items():
                    optional = (
                        field.default is not dataclasses.MISSING
                        or field.default_factory is not dataclasses.MISSING
                    )
                    if member not in schema.get("required", []):
                        self.assertTrue(optional, f"{member} has no default, but the API can omit it")
                    hint = typing.get_type_hints(model)[field.name]
                    is_time = schema["properties"].get(member, {}).get("format") == "date-time"
                    self.assertEqual("datetime" in str(hint), is_time or member == "time", member)

    def test_every_schema_of_a_response_has_a_class(self) -> None:
        requests = {name for name in SCHEMAS if name.endswith("Request") or name.startswith("List")}
        without = requests | {"Problem", "Message", "MemoryPolicy", "StoreChange", "BlockUpdate", "FileChange", "Artifact", "Decision"}
        without |= {"NewEntry", "NewEntries", "EntrySearch", "EntrySelector"}
        self.assertEqual(set(SCHEMAS) - set(classes()) - without, set())

    def test_arguments_are_the_members_of_requests(self) -> None:
        requests: list[tuple[str, Any, set[str]]] = [
            ("RunRequest", fields.RunFields, {"tool", "input"}),
            ("CodeRequest", fields.RunFields, {"language", "code", "input", "name", "grants"}),
            ("TurnRequest", fields.ConversationFields, {"message", "event", "memory_policy"}),
            ("CheckRequest", fields.RuleFields, {"before"}),
            ("EventRequest", fields.RuleFields, {"event"}),
            ("TriggerRequest", fields.RuleFields, set()),
            ("Message", fields.Message, set()),
            ("MemoryPolicy", fields.MemoryPolicy, set()),
            ("NewEntry", fields.NewEntry, set()),
        ]
        for schema, arguments, more in requests:
            self.assertEqual(set(typing.get_type_hints(arguments)) | more, set(SCHEMAS[schema]["properties"]), schema)

    def test_decode(self) -> None:
        page = decode(models.Page[models.Tool], {"items": [{"name": "a", "inputSchema": {}, "new": 1}], "more": 2})
        self.assertEqual(page, models.Page([models.Tool("a", input_schema={})]))
        effects = decode(models.Effects, {"reads": None, "writes": [{"store": "s", "revision": 1, "op": "set"}]})
        self.assertEqual(effects, models.Effects([], [models.WriteEffect("s", 1, "set")]))
        for wrong in ([], {}, {"pointer": 1, "keyword": "a"}, {"pointer": None, "keyword": "a"}):
            with self.assertRaises(TypeError):
                decode(models.Violation, wrong)

    def test_times(self) -> None:
        noon = datetime(2026, 1, 2, 12, 0, tzinfo=timezone.utc)
        for text, want in (
            ("2026-01-02T12:00:00Z", noon),
            ("2026-01-02T12:00:00", noon),
            ("2026-01-02T14:00:00.5+02:00", noon + timedelta(milliseconds=500)),
            ("2026-01-02T12:00:00.123456789Z", noon + timedelta(microseconds=123456)),
        ):
            self.assertEqual(parse_time(text), want)
        with self.assertRaises(ValueError):
            parse_time("yesterday")
        self.assertEqual(stamp(noon.replace(tzinfo=None)), "2026-01-02T12:00:00+00:00")
        self.assertEqual(stamp("2026-01-02"), "2026-01-02")
        self.assertEqual(day_of(datetime(2026, 1, 2, 1, tzinfo=timezone(timedelta(hours=2)))), "2026-01-01")
        self.assertEqual(day_of(date(2026, 1, 2)), "2026-01-02")


class Errors(unittest.TestCase):
    def test_unknown_code(self) -> None:
        error = ToolrunError("new_code", "text", hint="do this")
        self.assertEqual((error.code, str(error)), ("new_code", "text (do this)"))

    def test_copies(self) -> None:
        error = ConflictError("conflict", "text", status=409, hint="read again", store="core")
        for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            self.assertEqual((type(twin), str(twin), vars(twin)), (ConflictError, str(error), vars(error)))

    def test_classes(self) -> None:
        self.assertIs(ERRORS["not_found"], NotFoundError)


class Events(unittest.TestCase):
    def test_chunks_of_any_size(self) -> None:
        text = ": hello\n\nevent: a\ndata: é\ndata:b\r\n\r\nevent: none\n\ndata\n\ndata: never ends".encode()
        for size in (1, 2, len(text)):
            parser = EventParser()
            events = [event for i in range(0, len(text), size) for event in parser.feed(text[i : i + size])]
            self.assertEqual(events, [("a", "é\nb"), ("", "")])


if __name__ == "__main__":
    unittest.main()
