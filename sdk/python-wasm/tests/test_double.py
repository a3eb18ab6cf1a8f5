"""Tests of Memory."""

import copy
import math
import pickle
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path

from toolrun.testing import (
    AccessDeniedError,
    ConflictError,
    InvalidArgumentError,
    Memory,
    MemoryAccessError,
    NoAgentError,
    NotFoundError,
    SchemaViolationError,
    SessionEndedError,
    TooLargeError,
    UnavailableError,
)
from toolrun.testing import runtime

USER = {"prefs": {"access": "user"}}


class Arguments(unittest.TestCase):
    def setUp(self):
        self.memory = Memory(USER)

    def test_names_and_aliases(self):
        self.memory.set_content(memory_store_name="prefs", content={"a": 1})
        self.memory.set_content("prefs", data_object={"b": 2})
        self.assertEqual(self.memory.get_content(store_name="prefs", projections={"a": 1}), {"a": 1})
        self.assertEqual(self.memory.get_content(store="prefs", options={"record": True})["revision"], 2)
        self.assertEqual(self.memory.delete_content(store="prefs")["deleted"], True)

    def test_malformed_calls(self):
        for args, kwargs in (
            (("prefs", {}, {}, {}), {}),
            (("prefs",), {"nope": 1}),
            (("prefs", {}), {"value": {}}),
            (("prefs",), {"value": {}, "content": {}}),
        ):
            with self.subTest(args=args, kwargs=kwargs), self.assertRaises(InvalidArgumentError):
                self.memory.set_content(*args, **kwargs)
        self.assertIsNone(self.memory.content("prefs"))

    def test_values_that_are_not_json(self):
        itself = {}
        itself["self"] = itself
        values = ({1, 2}, b"x", math.nan, math.inf, object(), datetime.now(), "\ud83d", {("a",): 1}, itself, {1: "a", "1": "b"})
        for value in values:
            with self.subTest(value=repr(value)[:40]), self.assertRaises(InvalidArgumentError) as caught:
                self.memory.set_content("prefs", {"v": value})
            self.assertEqual(caught.exception.op, "set_content")

    def test_values_that_json_changes(self):
        self.memory.set_content("prefs", {"t": (1, 2), 3: True})
        self.assertEqual(self.memory.get_content("prefs"), {"t": [1, 2], "3": True})

    def test_nesting_limit(self):
        value = {}
        for _ in range(5000):
            value = {"a": value}
        with self.assertRaises(TooLargeError):
            self.memory.set_content("prefs", value)

    def test_contents_are_copied(self):
        given = {"list": [1]}
        self.memory.set_content("prefs", given)
        given["list"].append(2)
        self.memory.get_content("prefs")["list"].append(3)
        self.assertEqual(self.memory.content("prefs"), {"list": [1]})


class Errors(unittest.TestCase):
    def test_attributes(self):
        schema = {"type": "object", "properties": {"age": {"type": "integer"}}}
        memory = Memory({"prefs": {"access": "user", "strict": True, "schema": schema}})
        with self.assertRaises(MemoryAccessError) as caught:
            memory.set_content("prefs", {"age": "old"})
        error = caught.exception
        self.assertIsInstance(error, SchemaViolationError)
        self.assertEqual((error.code, error.store, error.op), ("schema_violation", "prefs", "set_content"))
        self.assertEqual(error.violations, [{"pointer": "/age", "keyword": "type", "limit": "integer"}])
        self.assertEqual(str(error), error.message)
        self.assertNotIn("old", str(error))
        for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
            self.assertEqual((type(other), vars(other)), (type(error), vars(error)))

    def test_refuse(self):
        memory = Memory(USER)
        memory.refuse("prefs", "unavailable", "gone", hint="wait")
        for _ in range(2):
            with self.assertRaises(UnavailableError) as caught:
                memory.get_content("prefs")
            self.assertEqual((str(caught.exception), caught.exception.hint, caught.exception.op), ("gone", "wait", "get_content"))
        memory.refuse("prefs", None)
        self.assertIsNone(memory.get_content("prefs"))


class Runs(unittest.TestCase):
    def test_run_is_atomic(self):
        memory = Memory(USER)
        with self.assertRaises(ZeroDivisionError), memory.run():
            memory.set_content("prefs", {"a": 1})
            self.assertEqual(memory.get_content("prefs"), {"a": 1})
            1 / 0
        self.assertIsNone(memory.content("prefs"))
        with memory.run():
            memory.set_content("prefs", {"a": 1})
            memory.set_content("prefs", {"b": 1})
        self.assertEqual(memory.record("prefs")["revision"], 1)
        self.assertEqual(memory.effects["writes"], [{"store": "prefs", "revision": 1, "op": "set"}])

    def test_nested_run(self):
        memory = Memory(USER)
        with memory.run(), self.assertRaises(RuntimeError), memory.run():
            self.fail("a nested run began")

    def test_concurrent_runs(self):
        memory = Memory({"hits": {"access": "application"}}, user="ann")
        other = memory.caller(user="bob", session="session_bob")
        with memory.run():
            memory.set_content("hits", {"ann": 1})  # without a read, the value is merged into the content at the commit
            other.set_content("hits", {"bob": 1})
        self.assertEqual(memory.content("hits"), {"ann": 1, "bob": 1})
        with self.assertRaises(ConflictError), memory.run():
            memory.set_content("hits", {"ann": memory.get_content("hits")["ann"] + 1})
            other.set_content("hits", {"bob": 2})
        self.assertEqual(memory.content("hits"), {"ann": 1, "bob": 2})


class TestMethods(unittest.TestCase):
    """Tests of the methods of Memory that tools do not have."""

    def test_grants_do_not_restrict_the_test(self):
        memory = Memory(USER, grants={"prefs": "read"})
        memory.put("prefs", {"a": 1})
        self.assertEqual(memory.get_content("prefs"), {"a": 1})
        with self.assertRaises(AccessDeniedError):
            memory.set_content("prefs", {"a": 2})
        with memory.run():
            memory.put("prefs", {"a": 3})
            self.assertEqual(memory.content("prefs"), {"a": 3})
            with self.assertRaises(AccessDeniedError):
                memory.delete_content("prefs")
        with self.assertRaises(NotFoundError):
            memory.caller(grants={}).get_content("prefs")

    def test_callers_share_stores(self):
        memory = Memory({"mine": {"access": "user"}, "ours": {"access": "application"}}, user="ann", session="a")
        bob = memory.caller(user="bob", session="b")
        memory.put("mine", {"by": "ann"})
        memory.put("ours", {"by": "ann"})
        self.assertIsNone(bob.get_content("mine"))
        self.assertEqual(bob.get_content("ours"), {"by": "ann"})

    def test_time(self):
        at = datetime(2030, 1, 1, 12, tzinfo=timezone(timedelta(hours=2)))
        memory = Memory({"prefs": {"access": "user", "retention": "1h"}}, clock=lambda: at)
        memory.put("prefs", {"a": 1})
        self.assertEqual(memory.record("prefs")["expires_at"], "2030-01-01T11:00:00.000000Z")
        memory.advance(timedelta(minutes=59))
        self.assertIsNotNone(memory.get_content("prefs"))
        memory.advance(timedelta(minutes=1))
        self.assertIsNone(memory.get_content("prefs"))

    def test_sessions(self):
        memory = Memory({"cart": {"access": "session"}}, metadata={"tier": "gold"})
        memory.set_references(session="call-1", user="crm-7")
        info = memory.get_content("sessionMeta")
        self.assertEqual(info["metadata"], {"tier": "gold"})
        self.assertEqual((info["sessionInfo"]["sessionReference"], info["sessionInfo"]["userReference"]), ("call-1", "crm-7"))
        memory.put("cart", {"n": 1})
        memory.end_session()
        with self.assertRaises(SessionEndedError):
            memory.get_content("cart")


class Declarations(unittest.TestCase):
    def test_mistakes(self):
        user = {"access": "user"}
        for stores in (
            {"sessionMeta": user},
            {"1st": user},
            {"a b": user},
            {"Prefs": user, "prefs": user},
            {"prefs": {}},
            {"prefs": {"access": "everybody"}},
            {"prefs": {**user, "retension": "1_day"}},
            {"prefs": {**user, "retention": "1w"}},
            {"prefs": {**user, "kind": "block"}},
            {"prefs": {**user, "expose": "tool"}},
            {"prefs": {**user, "schema": "prefs.json"}},
            {"prefs": {**user, "schema": {"type": "strnig"}}},
            {"prefs": {**user, "schema": {"$schema": "http://json-schema.org/draft-03/schema"}}},
            {"prefs": {**user, "schema": {"$ref": "#/$defs/none"}}},
            {"prefs": {**user, "schema": {"$ref": "https://example.com/schema"}}},
            {"prefs": {**user, "schema": {"pattern": "(?=a)"}}},
            {"prefs": {**user, "schema": {"pattern": "("}}},
            {"prefs": {**user, "schema": {"properties": {"a": {"$ref": "#", "default": {}}}}}},
        ):
            with self.subTest(stores=stores), self.assertRaises(ValueError):
                Memory(stores)

    def test_all_keys_of_an_app_file(self):
        keys = {"name": "Preferences", "description": "What they like", "kind": "document", "access": "user", "retention": "90d"}
        memory = Memory({"prefs": {**keys, "strict": True, "schema": {"type": "object"}, "expose": "resource"}})
        memory.set_content("prefs", {})

    def test_invalid_grants(self):
        for grants in ({"pref": "read"}, {"prefs": "raed"}, {"sessionMeta": "readwrite"}):
            with self.subTest(grants=grants), self.assertRaises(ValueError):
                Memory(USER, grants=grants)
            with self.subTest(grants=grants), self.assertRaises(ValueError):
                Memory(USER).caller(grants=grants)
        with self.assertRaisesRegex(ValueError, 'did you mean "prefs"'):
            Memory(USER, grants={"perfs": "read"})

    def test_properties_named_like_keywords(self):
        schema = {"type": "object", "properties": {"$id": {"type": "string"}, "$ref": {"type": "string"}}}
        memory = Memory({"prefs": {"access": "user", "strict": True, "schema": schema}})
        memory.set_content("prefs", {"$id": "a", "$ref": "b"})
        with self.assertRaises(SchemaViolationError):
            memory.set_content("prefs", {"$id": 1})

    def test_schema_is_copied(self):
        schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
        memory = Memory({"prefs": {"access": "user", "strict": True, "schema": schema}})
        schema["properties"]["a"]["type"] = "string"
        memory.set_content("prefs", {"a": 1})


class Blocks(unittest.TestCase):
    def test_versions_and_agents(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "app.yaml")
            file.write_text("app: crm\nblocks: true\n")
            memory = Memory(file=file, user="ann")
            first = memory.update_block("core", "- Prefers tea")
            with self.assertRaises(ConflictError):
                memory.update_block("core", "- lost")
            memory.update_block("core", "- Prefers coffee", {"expected_updated_at": first["updated_at"]})
            with self.assertRaises(NoAgentError):
                memory.get_block("core", {"agent": True})
            support = memory.caller(agent="support")
            support.update_block(name="core", content="- Knows the tariff", options={"agent": True})
            self.assertEqual(support.get_block("core")["content"], "- Prefers coffee")
            self.assertEqual(support.get_block("core", {"agent": True})["agent_id"], "support")
            self.assertTrue(support.delete_block("core", {"if_revision": support.get_block("core")["revision"]})["deleted"])


class Operations(unittest.TestCase):
    def test_every_operation_has_a_method(self):
        Memory(USER).get_content("prefs")  # loads the host's operations
        for name in vars(runtime.memory()):
            if name[0].islower() and callable(getattr(runtime.memory(), name)):
                self.assertTrue(callable(getattr(Memory, name, None)), name)

    def test_facts(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "app.yaml")
            file.write_text("app: crm\nfacts:\n  user.language: {type: string, default: en}\n")
            memory = Memory(file=file, user="ann")
            self.assertEqual(memory.get_fact("user.language"), "en")
            memory.set_fact("user.language", "de")
            self.assertEqual(memory.list_facts("user")["facts"][0]["value"], "de")
            self.assertEqual(memory.caller(user="bob", session="another").get_fact("user.language"), "en")
            self.assertTrue(memory.delete_fact("user.language")["deleted"])

    def test_collections(self):
        memory = Memory({"kb": {"kind": "collection", "access": "user"}}, user="ann")
        memory.remember("kb", "green tea", {"id": "tea", "metadata": {"kind": "drink"}})
        memory.remember(collection_name="kb", content="tea cup")
        found = memory.recall("kb", "tea", {"filter": {"kind": "drink"}})
        self.assertEqual([entry["id"] for entry in found["results"]], ["tea"])
        self.assertEqual(memory.caller(user="bob", session="another").recall("kb", "tea")["count"], 0)
        self.assertEqual(memory.forget("kb", {"id": "tea"})["count"], 1)
        self.assertEqual(memory.recall("kb", "tea")["count"], 1)


if __name__ == "__main__":
    unittest.main()
