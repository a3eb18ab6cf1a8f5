"""Tests of the client with a running toolrun serve."""

from __future__ import annotations

import io
import tempfile
import uuid
import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, AsyncIterator, Dict, List, Optional, TypeVar, Union

from tests._async.service import ServiceCase
from toolrun.client import (
    AccessDeniedError,
    ConflictError,
    ImportedFile,
    InputInvalidError,
    InvalidArgumentError,
    Message,
    NewEntry,
    NoSessionError,
    NotFoundError,
    NoUserError,
    SchemaViolationError,
    SessionEndedError,
    TimeLimitError,
    TooLargeError,
    WorkflowEndedError,
)

T = TypeVar("T")


async def collected(items: AsyncIterator[T]) -> List[T]:
    return [item async for item in items]


class Runs(ServiceCase):
    async def test_result(self) -> None:
        result = await self.runtime.run("order", {"item": "tea"}, user_id=self.user)
        self.assertIs(result.check(), result)
        self.assertEqual(result.output, {"items": ["tea"]})
        self.assertEqual([(line.level, line.text) for line in result.logs], [("info", "ordered")])
        self.assertEqual([(write.store, write.op) for write in result.effects.writes], [("orders", "set")])
        self.assertLess(abs(datetime.now(timezone.utc) - result.logs[0].time), timedelta(hours=1))

    async def test_failure_of_the_tool_is_in_the_result(self) -> None:
        result = await self.runtime.run("endless", timeout_ms=200)
        self.assertFalse(result.ok)
        with self.assertRaises(TimeLimitError) as raised:
            result.check()
        self.assertEqual((raised.exception.code, raised.exception.status, raised.exception.run_id), ("timeout", 200, result.run_id))
        self.assertIsInstance(raised.exception, TimeoutError)

    async def test_run_that_cannot_start_is_an_error(self) -> None:
        with self.assertRaises(InputInvalidError) as raised:
            await self.runtime.run("order", {"item": 5}, user_id=self.user)
        self.assertEqual((raised.exception.status, raised.exception.violations[0].pointer), (422, "/item"))
        self.assertRegex(raised.exception.run_id or "", "^run_")
        with self.assertRaises(NotFoundError):
            await self.runtime.run("nothing")

    async def test_error_names_the_invalid_part_of_the_request(self) -> None:
        with self.assertRaises(InvalidArgumentError) as raised:
            await self.runtime.run("order", user="ann")  # type: ignore[call-arg]
        self.assertEqual(raised.exception.details[0].location, "body.user")
        self.assertIn("body.user", str(raised.exception))

    async def test_idempotency_key(self) -> None:
        key = uuid.uuid4().hex
        first = await self.runtime.run("order", {"item": "milk"}, user_id=self.user, idempotency_key=key)
        second = await self.runtime.run("order", {"item": "milk"}, user_id=self.user, idempotency_key=key)
        self.assertEqual((first.repeated, second.repeated, second.run_id), (False, True, first.run_id))

    async def test_dry_run(self) -> None:
        result = await self.operator.run("order", {"item": "tea"}, user_id=self.user, dry_run=True)
        self.assertEqual((result.changes[0].store, result.changes[0].after), ("orders", {"item": "tea"}))
        with self.assertRaises(NotFoundError):
            await self.operator.records.get("orders", user_id=self.user)

    async def test_code(self) -> None:
        result = await self.operator.run_code("javascript", "return {twice: input.n * 2};", {"n": 21})
        self.assertEqual(result.output, {"twice": 42})
        with self.assertRaises(AccessDeniedError):
            await self.runtime.run_code("javascript", "return 1")

    async def test_stream(self) -> None:
        async with self.runtime.stream_run("order", {"item": "tée\n🫖"}, user_id=self.user) as run:
            lines = [line async for line in run]
        self.assertEqual([(line.attempt, line.text) for line in lines], [(1, "ordered")])
        self.assertEqual((run.result.run_id, run.result.output), (run.run_id, {"items": ["tée\n🫖"]}))
        with self.assertRaises(InputInvalidError):
            async with self.runtime.stream_run("order", {}, user_id=self.user) as run:
                async for _ in run:
                    self.fail("a line of a run that was rejected")

    async def test_run_is_found_by_its_id_and_cancelled(self) -> None:
        async with self.operator.stream_run_code("javascript", "console.log('as code'); return 7") as run:
            self.assertEqual([line.text async for line in run], ["as code"])
        found = await self.operator.runs.get(run.run_id)
        self.assertEqual((found.status, found.result and found.result.output), ("done", 7))
        async with self.runtime.stream_run("chatty", user_id=self.user, timeout_ms=120_000) as run:
            async for _ in run:
                self.assertEqual((await self.runtime.runs.get(run.run_id)).status, "running")
                self.assertTrue((await self.operator.runs.cancel(run.run_id)).cancelled)
        self.assertEqual(run.result.error and run.result.error.code, "cancelled")
        with self.assertRaises(NotFoundError):
            await self.runtime.runs.get("run_unknown")

    async def test_leaving_a_stream_cancels_the_run(self) -> None:
        async with self.runtime.stream_run("chatty", user_id=self.user) as run:
            async for line in run:
                self.assertEqual(line.text, "begun")
                break
        with self.assertRaises(RuntimeError):
            run.result
        ended: List[str] = []
        while not ended:  # the ledger entry is written in the background
            ended = [entry.code or "" async for entry in self.operator.ledger.all(user_id=self.user)]
        self.assertEqual(ended, ["cancelled"])

    async def test_tools(self) -> None:
        tools = {tool.name: tool for tool in await self.runtime.tools()}
        self.assertEqual(sorted(tools), ["chatty", "endless", "order", "pay"])
        self.assertEqual(tools["order"].input_schema["required"], ["item"])


class Agents(ServiceCase):
    async def test_turns_and_rules(self) -> None:
        agent = (await self.runtime.agents.list())[0]
        self.assertEqual((agent.name, agent.tools, agent.events), ("Waiter", ["order"], ["session:start"]))
        runtime = self.client("RUNTIME", user_id=self.user)  # the default user
        session = uuid.uuid4().hex
        self.assertEqual((await runtime.agents.turn("Waiter", session_id=session)).messages, ["What would you like?"])
        first = await runtime.agents.turn("Waiter", "tea", session_id=session, idempotency_key=session)
        self.assertEqual((first.ok, first.done, first.messages, first.variables), (True, True, ["One tea."], {"item": "tea"}))
        again = await runtime.agents.turn("Waiter", "tea", session_id=session, idempotency_key=session)
        self.assertEqual((again.repeated, again.turn_id), (True, first.turn_id))
        self.assertEqual((await runtime.agents.fire("Waiter", "session:start", session_id=session)).injected, {"user.item": "tea"})
        check = await runtime.agents.check("Waiter", "calling order", variables={"item": "fish"}, session_id=session)
        self.assertEqual((check.blocked, check.failures[0].message), (True, "The fish is gone."))
        stored = await runtime.agents.evaluate_triggers("Waiter", variables={"item": "milk"}, session_id=session)
        self.assertEqual(stored.check().stored, {"user.item": "milk"})
        preview = await self.client("OPERATOR", user_id=self.user).agents.preview("Waiter", "tea", session_id=session)
        self.assertEqual((preview.check().agent, preview.prompt), ("Waiter", None))
        with self.assertRaises(NotFoundError):
            await runtime.agents.turn("Missing")


class Memory(ServiceCase):
    async def test_updates_are_compare_and_set(self) -> None:
        memory = self.client("RUNTIME", user_id=self.user).memory
        with self.assertRaises(NotFoundError) as missing:
            await memory.get("core")
        self.assertEqual(missing.exception.store, "core")
        first = await memory.update("core", "- Likes tea")
        self.assertEqual((first.block_type, first.scope, first.agent_id), ("core", "user", None))
        self.assertEqual(await memory.get("core"), first)
        wrong: Any = first  # a Block in the place of a text
        for name, content, expected_updated_at in (("core", wrong, None), ("core", "x", wrong), (wrong, "x", None)):
            with self.assertRaisesRegex(TypeError, "must be a .*str, not Block"):
                await memory.update(name, content, expected_updated_at=expected_updated_at)
        second = await memory.update("core", "- Likes milk", expected_updated_at=first.updated_at)
        self.assertGreater(second.updated_at, first.updated_at)
        late: List[Union[datetime, str, None]] = [first.updated_at, first.updated_at.isoformat(), second.updated_at - timedelta(milliseconds=1), None]
        for expected in late:
            with self.assertRaises(ConflictError) as conflict:
                await memory.update("core", "- Late", expected_updated_at=expected)
            self.assertEqual(conflict.exception.status, 409)
        with self.assertRaises(ConflictError):
            await memory.delete("core", expected_updated_at=first.updated_at)
        await memory.delete("core", expected_updated_at=second.updated_at.replace(tzinfo=None))
        self.assertEqual(await memory.list(), [])
        declared = [(d.block_type, d.use, d.characters, d.entries) for d in await memory.declared()]
        self.assertEqual(declared[:2], [("core", "context", 4000, 20), ("archival", "recall", 8000, None)])
        again = await memory.update("core", "- Likes tea")
        self.assertGreater(again.updated_at, second.updated_at)
        with self.assertRaises(TooLargeError) as large:
            await memory.update("core", "x" * 4001, expected_updated_at=again.updated_at)
        self.assertEqual(large.exception.status, 422)

    async def test_scopes(self) -> None:
        memory = self.runtime.memory
        await memory.update("core", "of the user", user_id=self.user)
        await memory.update("core", "of the agent", agent_id="emails", user_id=self.user)
        own = await memory.get("core", scope="agent", agent_id="emails", user_id=self.user)
        self.assertEqual((own.content, own.scope, own.agent_id), ("of the agent", "agent", "emails"))
        self.assertEqual([block.content for block in await memory.list(user_id=self.user)], ["of the user"])
        everything = await memory.list(scope="all", user_id=self.user)
        self.assertEqual(sorted(block.content for block in everything), ["of the agent", "of the user"])
        self.assertEqual(await memory.list(user_id="another_" + self.user), [])
        with self.assertRaises(NoUserError):
            await memory.get("core")


    async def test_recall_and_context(self) -> None:
        memory = self.client("RUNTIME", user_id=self.user).memory
        await memory.update("core", "- Likes tea")
        await memory.update("archival", "- Globex: legal approved the DPA.\n- Acme renewal: the CFO wants prices.")
        await memory.update("archival", "- Acme is rude.", agent_id="emails")
        lines = await memory.recall("Acme renewal")
        self.assertEqual([(line.content, line.scope, line.line_number) for line in lines], [(lines[0].content, "user", 2)])
        self.assertIn("Acme renewal", lines[0].content)
        both = await memory.recall("Acme renewal", agent_id="emails")
        self.assertEqual([(line.scope, line.agent_id) for line in both], [("user", None), ("agent", "emails")])
        self.assertGreater(both[0].score, both[1].score)
        self.assertEqual(await memory.recall("Acme renewal", agent_id="emails", limit=1), both[:1])
        self.assertEqual(await memory.recall("Acme renewal", agent_id="emails", min_score=both[0].score), both[:1])
        self.assertEqual(await memory.recall("nothing"), [])
        context = await memory.context("What about Acme?")
        self.assertEqual(("Likes tea" in context.user_memory, context.system_reminders), (True, []))
        context = await memory.context("What about Acme?", memory_policy={"archival_mode": "auto", "include_user_core": False})
        self.assertEqual(("Likes tea" in context.user_memory, len(context.system_reminders)), (False, 1))
        rendered = await self.runtime.render(
            "recap", user_id=self.user, message="Acme", memory_policy={"archival_mode": "auto"}
        )
        self.assertEqual(rendered.name, "recap")


class Collections(ServiceCase):
    async def test_entries(self) -> None:
        collections = self.client("OPERATOR", user_id=self.user).collections
        entries: List[NewEntry] = [
            {"id": "r/1", "content": "We refund a broken cup.", "metadata": {"category": "refunds"}, "ttl": "1d"},
            {"content": {"text": "A parcel takes a week."}},
            {"id": "r/1", "namespace": "mine", "content": "green tea"},
        ]
        stored = await collections.remember("articles", entries)
        self.assertEqual([entry.id for entry in stored], ["r/1", stored[1].id, "r/1"])
        assert stored[0].expires_at is not None and stored[1].expires_at is not None
        self.assertGreater(stored[1].expires_at - stored[0].expires_at, timedelta(days=88))
        entry = await collections.entry("articles", "r/1")
        self.assertEqual((entry.content, entry.metadata, entry.expires_at), ("We refund a broken cup.", {"category": "refunds"}, stored[0].expires_at))
        entry = await collections.entry("articles", "r/1", namespace="mine")
        self.assertEqual((entry.namespace, entry.content, entry.user_id, entry.revision > 0), ("mine", "green tea", self.user, True))
        self.assertEqual((await collections.entry("articles", stored[1].id)).content, {"text": "A parcel takes a week."})
        with self.assertRaises(NotFoundError) as missing:
            await collections.entry("articles", stored[1].id, namespace="mine")
        self.assertEqual(missing.exception.store, "articles")
        selected: Dict[Optional[str], int] = {None: 3, "": 2, "mine": 1, "no": 0}
        for namespace, count in selected.items():
            listed = await collected(collections.all_entries("articles", namespace=namespace))
            self.assertEqual(len(listed), count, namespace)
        self.assertEqual(await collected(collections.all_entries("articles", user_id="another_" + self.user)), [])
        described = await collections.get("articles")
        self.assertEqual((described.declared, described.access, described.retention, described.entries >= 3), (True, "user", "90d", True))
        self.assertEqual([collection.name for collection in await collections.list()], ["articles", "topics"])

    async def test_import_file(self) -> None:
        collections = self.client("OPERATOR", user_id=self.user).collections
        text = b"# Tea\n\nGreen tea.\n\n# Coffee\n\nBlack coffee.\n"
        place: Dict[str, Any] = {"source": "guides/drinks.md", "namespace": "files", "metadata": {"team": 1}, "ttl": "1d"}
        done = await collections.import_file("articles", text, filename="drinks.md", **place)
        self.assertEqual(done, ImportedFile("guides/drinks.md", 2, 0, 0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "drinks.txt")
            path.write_bytes(text.partition(b"# Coffee")[0])
            with path.open("rb") as file:
                self.assertEqual(await collections.import_file("articles", file, **place), ImportedFile("guides/drinks.md", 1, 0, 1))
            with path.open("rb") as file:
                self.assertEqual((await collections.import_file("articles", file)).source, "drinks.txt")
        listed = await collected(collections.all_entries("articles", namespace="files"))
        self.assertEqual([entry.metadata for entry in listed], [{"source": "guides/drinks.md", "offset": 0, "heading": "Tea", "team": 1}])
        for content, filename in ((b"<p>", "page.html"), (b"", "empty.txt"), (b"text", None)):
            with self.assertRaises(InvalidArgumentError):
                await collections.import_file("articles", content, filename=filename)

    async def test_reembed(self) -> None:
        state = await self.client("OPERATOR").collections.reembed("articles")
        self.assertEqual((state.moved, state.done, state.dimension > 0), (0, True, True))
        self.assertTrue(state.embedder.startswith("lexical"))
        with self.assertRaises(AccessDeniedError):
            await self.runtime.collections.reembed("articles")

    async def test_entries_of_a_session(self) -> None:
        collections, session = self.client("OPERATOR", user_id=self.user).collections, uuid.uuid4().hex
        await collections.remember("topics", [{"id": "a", "content": "green tea"}], session_id=session)
        self.assertEqual((await collections.entry("topics", "a", session_id=session)).session_id, session)
        for other, ids in ((session, ["a"]), (uuid.uuid4().hex, [])):
            listed = await collected(collections.all_entries("topics", session_id=other))
            self.assertEqual([entry.id for entry in listed], ids)
            found = await collections.recall("topics", "tea", session_id=other)
            self.assertEqual([entry.id for entry in found], ids)
        with self.assertRaises(NoSessionError):
            await collections.recall("topics", "tea")
        self.assertEqual((await collections.forget("topics", id="a", session_id=session)).count, 1)

    async def test_recall(self) -> None:
        collections = self.client("OPERATOR", user_id=self.user).collections
        await collections.remember("articles", [
            {"id": "cup", "content": "We refund a broken cup.", "metadata": {"category": "refunds"}},
            {"id": "cups", "content": "A cup holds two litres.", "metadata": {"category": "sizes"}},
            {"id": "mine", "content": "My broken cup.", "namespace": "mine"},
        ])
        both = await collections.recall("articles", "broken cup", mode="text")
        self.assertEqual([(entry.id, entry.vector, entry.text) for entry in both], [("cup", None, None), ("cups", None, None)])
        self.assertEqual(both[0].metadata, {"category": "refunds"})
        self.assertEqual(await collections.recall("articles", "broken cup", mode="text", limit=1), both[:1])
        self.assertEqual(await collections.recall("articles", "broken cup", mode="text", threshold=both[0].score), both[:1])
        sizes = await collections.recall("articles", "broken cup", filter={"category": {"in": ["sizes"]}}, scores=True)
        self.assertEqual([entry.id for entry in sizes], ["cups"])
        self.assertTrue(sizes[0].vector and sizes[0].text)
        self.assertEqual([entry.id for entry in await collections.recall("articles", "broken cup", namespace="mine")], ["mine"])
        self.assertEqual(await collections.recall("articles", "broken cup", user_id="another_" + self.user), [])
        wrong: Any = None
        with self.assertRaisesRegex(TypeError, "query must be a str"):
            await collections.recall("articles", wrong)

    async def test_pages_and_forget(self) -> None:
        collections = self.operator.collections
        for first in (0, 100):
            added: List[NewEntry] = [{"id": str(i), "content": i, "metadata": {"even": i % 2 == 0}} for i in range(first, first + 100)]
            await collections.remember("articles", added, user_id=self.user)
        page = await collections.entries("articles", limit=3, user_id=self.user)
        self.assertEqual((len(page.items), page.next is None), (3, False))
        following = await collections.entries("articles", limit=3, after=page.next, user_id=self.user)
        self.assertFalse({entry.id for entry in page.items} & {entry.id for entry in following.items})
        listed = await collected(collections.all_entries("articles", user_id=self.user))
        self.assertEqual(sorted(entry.content for entry in listed), list(range(200)))
        with self.assertRaises(AccessDeniedError):
            await self.runtime.collections.forget("articles", all=True, user_id=self.user)
        with self.assertRaises(InvalidArgumentError):
            await collections.forget("articles", user_id=self.user)
        forgotten = await collections.forget("articles", id="7", user_id=self.user)
        self.assertEqual((forgotten.count, forgotten.more), (1, False))
        self.assertEqual((await collections.forget("articles", id="7", user_id=self.user)).count, 0)
        self.assertEqual((await collections.forget("articles", filter={"even": True}, user_id=self.user)).count, 100)
        self.assertEqual((await collections.forget("articles", all=True, namespace="mine", user_id=self.user)).count, 0)
        self.assertEqual((await collections.forget("articles", all=True, user_id=self.user)).count, 99)
        with self.assertRaises(InvalidArgumentError):
            await collections.remember("articles", added + added, user_id=self.user)
        self.assertEqual((await collections.entries("articles", user_id=self.user)).items, [])


class Sessions(ServiceCase):
    async def test_sessions(self) -> None:
        started = await self.runtime.sessions.start(user_id=self.user, metadata={"tier": "gold"})
        changed = await self.runtime.sessions.set_metadata(started.session_id, {"channel": "web"}, user_id=self.user)
        self.assertEqual(changed.metadata, {"tier": "gold", "channel": "web"})
        odd = self.user + ":2@x+y=z"
        await self.runtime.sessions.start(odd, user_id=self.user)
        listed = await collected(self.runtime.sessions.all(user_id=self.user))
        self.assertEqual({session.session_id for session in listed}, {odd, started.session_id})
        page = await self.runtime.sessions.list(user_id=self.user, limit=1)
        self.assertEqual((len(page.items), page.next is None), (1, False))
        self.assertEqual((await self.runtime.sessions.get(odd, user_id=self.user)).session_id, odd)
        self.assertIsNotNone((await self.runtime.sessions.end(started.session_id, user_id=self.user)).ended)
        with self.assertRaises(SessionEndedError):
            await self.runtime.run("order", {"item": "tea"}, user_id=self.user, session_id=started.session_id)

    async def test_approvals(self) -> None:
        for decision in ("approve", "deny"):
            paused = await self.runtime.run("pay", {"item": "tea"}, user_id=self.user)
            self.assertEqual((paused.ok, paused.status, paused.error), (False, "paused", None))
            assert paused.approval is not None
            with self.assertRaises(AccessDeniedError):
                paused.check()
            token = paused.approval.token
            listed = await collected(self.operator.approvals.all(user_id=self.user))
            self.assertEqual([(a.token, a.state, a.effect.arguments) for a in listed], [(token, "pending", paused.approval.effect.arguments)])
            if decision == "approve":
                result = await self.operator.approvals.approve(token)
                self.assertEqual((result.status, result.run_id), ("completed", paused.run_id))
            else:
                result = await self.operator.approvals.deny(token, "too expensive")
                self.assertEqual((result.status, result.error is None), ("failed", False))
            self.assertIn((await self.operator.approvals.get(token)).state, ("approved", "denied"))
        self.assertEqual(len(await collected(self.operator.approvals.all(user_id=self.user, include_decided=True))), 2)

    async def test_sleep(self) -> None:
        session = uuid.uuid4().hex
        messages: List[Message] = [{"role": "user", "content": "Please keep it short."}]
        added = await self.runtime.sessions.add_messages(session, messages, agent_id="emails", user_id=self.user)
        self.assertEqual((added.session_id, added.messages), (session, 1))
        waiting = await self.operator.sleep.status()
        self.assertEqual((waiting.waiting >= 1, waiting.paused, waiting.next is None), (True, False, False))
        paused = await self.operator.sleep.pause()
        self.assertEqual((paused.paused, paused.since is None), (True, False))
        self.assertFalse((await self.operator.sleep.resume()).paused)
        self.assertEqual((await self.operator.sleep.retry()).failed, 0)

    async def test_workflows_and_facts(self) -> None:
        workflow = "order_" + self.user
        operator = self.client("OPERATOR", user_id=self.user)
        self.assertIsNotNone((await operator.facts.set("workflow.step", 1, ttl="1h", workflow_id=workflow)).expires_at)
        language = await operator.facts.set("user.language", "fr", if_revision=0)
        with self.assertRaises(ConflictError):
            await operator.facts.set("user.language", "de", if_revision=0)
        self.assertEqual((await operator.facts.get("workflow.step", workflow_id=workflow)).value, 1)
        paths = sorted([fact.path async for fact in operator.facts.all(workflow_id=workflow)])
        self.assertEqual(paths, ["user.language", "workflow.step"])
        page = await operator.facts.list(prefix="workflow", workflow_id=workflow)
        self.assertEqual([fact.path for fact in page.items], ["workflow.step"])
        self.assertTrue(await operator.facts.delete("user.language", if_revision=language.revision))
        self.assertFalse(await operator.facts.delete("user.language"))
        self.assertEqual((await self.runtime.workflows.get(workflow, user_id=self.user)).user_id, self.user)
        listed = await collected(self.runtime.workflows.all(user_id=self.user))
        self.assertEqual([w.workflow_id for w in listed], [workflow])
        self.assertIsNotNone((await self.runtime.workflows.end(workflow, user_id=self.user)).ended)
        with self.assertRaises(WorkflowEndedError):
            await operator.facts.get("workflow.step", workflow_id=workflow)

    async def test_files(self) -> None:
        files, session = self.runtime.files, uuid.uuid4().hex
        text = await files.upload(session, b"what she said", name="Réport, 1.txt", media_type="text/plain", user_id=self.user)
        self.assertEqual((text.filename, text.type, text.size), ("Réport, 1.txt", "txt", 13))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "plain.json")
            path.write_bytes(b"{}")
            with path.open("rb") as content:
                plain = await files.upload(session, content, user_id=self.user)
        listed = await files.list(session, user_id=self.user)
        self.assertEqual({file.file_id for file in listed}, {text.file_id, plain.file_id})
        self.assertFalse((await files.change(session, text.file_id, is_active=False, user_id=self.user)).is_active)
        for uploaded, want in ((text, b"what she said"), (plain, b"{}")):
            download = await files.download(session, uploaded.file_id, user_id=self.user)
            self.assertEqual((download.name, download.content), (uploaded.filename, want))
        with self.assertRaises(AccessDeniedError):
            await files.download(session, text.file_id, user_id="mallory")
        self.assertEqual((await files.delete(session, plain.file_id, user_id=self.user)).filename, "plain.json")
        with self.assertRaises(NotFoundError):
            await files.delete(session, plain.file_id, user_id=self.user)
        with self.assertRaises(InvalidArgumentError):
            await files.upload(session, b"<html>", user_id=self.user)


class Operations(ServiceCase):
    async def test_prompts(self) -> None:
        self.assertEqual([(p.name, p.description) for p in await self.runtime.prompts()], [("recap", "What was ordered")])
        await self.runtime.run("order", {"item": "tea"}, user_id=self.user)
        self.assertEqual((await self.runtime.render("recap", user_id=self.user)).text, "Ordered: tea")

    async def test_stores(self) -> None:
        name = "notes" + uuid.uuid4().hex[:8]
        self.assertEqual((await self.operator.stores.create(name, access="user", retention="30d")).declared, "api")
        self.assertEqual((await self.operator.stores.replace(name, access="user", name="Notes")).name, "Notes")
        self.assertEqual((await self.operator.stores.get(name)).name, "Notes")
        declared = {store.technical_name: store.declared for store in await self.operator.stores.list()}
        self.assertEqual((declared["orders"], declared[name]), ("file", "api"))
        document = await self.operator.export()
        document["memory"]["imported" + name] = document["memory"][name]
        self.assertIn("imported" + name, (await self.operator.import_stores(document)).stores)
        with self.assertRaises(ConflictError):
            await self.operator.stores.create(name, access="user")

    async def test_records(self) -> None:
        records = self.client("OPERATOR", user_id=self.user).records
        first = await records.put("profile", {"language": "fr", "age": 3}, if_revision=0)
        with self.assertRaises(ConflictError) as conflict:
            await records.put("profile", {}, if_revision=0)
        self.assertEqual(conflict.exception.status, 412)
        merged = await records.patch("profile", {"age": None}, if_revision=first.revision, ttl="1h")
        self.assertEqual((merged.revision, merged.content), (first.revision + 1, {"language": "fr"}))
        self.assertIsNotNone(merged.expires_at)
        last = await records.patch("profile", {"age": 5})
        self.assertEqual((await records.get("profile", projection={"age": 1})).content, {"age": 5})
        with self.assertRaises(SchemaViolationError) as violation:
            await records.put("profile", {"age": "old"})
        self.assertEqual((violation.exception.store, violation.exception.violations[0].limit), ("profile", "integer"))
        self.assertEqual([item.user_id for item in (await records.list("profile")).items], [self.user])
        self.assertEqual([item.revision async for item in records.all("profile")], [last.revision])
        self.assertTrue(await records.delete("profile", if_revision=last.revision))
        self.assertFalse(await records.delete("profile"))
        await records.put("purged", {})
        self.assertEqual(await records.purge("purged"), 1)

    async def test_ledger_usage_and_users(self) -> None:
        since = datetime.now(timezone.utc)
        for item in ("tea", "milk"):
            await self.runtime.run("order", {"item": item}, user_id=self.user)
        page = await self.operator.ledger.list(user_id=self.user, limit=1, writes=True, since=since, until=since + timedelta(hours=1))
        self.assertEqual((page.items[0].act, page.items[0].writes[0].store, page.next is None), ("run", "orders", False))
        entries = await collected(self.operator.ledger.all(user_id=self.user, since=since.replace(tzinfo=None)))
        self.assertEqual([entry.tool for entry in entries], ["order", "order"])
        self.assertEqual((await self.operator.ledger.list(user_id=self.user, failed=True)).items, [])
        usage = [app async for app in self.operator.usage.all(since=since, until=since.date() + timedelta(days=1))]
        self.assertEqual((usage[0].app, usage[0].runs >= 2), ("shop", True))
        archive = io.BytesIO()
        self.assertEqual(await self.operator.users.export(self.user, archive), len(archive.getvalue()))
        self.assertIsNone(zipfile.ZipFile(archive).testzip())
        erased = await self.operator.users.erase(self.user)
        self.assertEqual((erased.user_id, erased.stores), (self.user, {"orders": 1}))

    async def test_service(self) -> None:
        identity = await self.operator.whoami()
        self.assertEqual((identity.name, identity.role, identity.apps), ("operator", "operator", ["shop"]))
        copy = io.BytesIO()
        self.assertEqual(await self.client("BACKUP").backup(copy), len(copy.getvalue()))
        self.assertGreater(len(copy.getvalue()), 10_000)
        with self.assertRaises(AccessDeniedError):
            await self.runtime.backup(copy)
        with self.assertRaises(InvalidArgumentError):
            await self.operator.runs.get("..")
