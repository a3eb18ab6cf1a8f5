"""Tests of the client with responses that are late, incomplete or not from a service."""

from __future__ import annotations

import io
import json
import socket
import traceback
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any, Awaitable, Callable, List
from unittest import IsolatedAsyncioTestCase

import httpx

from tests.server import Handler, Server, respond
from toolrun.client import (
    AccessDeniedError,
    AsyncClient,
    InvalidArgumentError,
    NotFoundError,
    TimeLimitError,
    ToolrunError,
    TooLargeError,
    UnavailableError,
)
from toolrun.client import _response

PROBLEM = b'{"type":"about:blank","title":"t","status":429,"detail":"busy","code":"unavailable","hint":"wait"}'
WHOAMI = b'{"name":"n","role":"r","tenant":"t","apps":[],"added later":1}'
RESULT = (
    b'{"run_id":"run_1","tool":"t","ok":true,"output":1,"logs":[],"warnings":[],"attempts":1,'
    b'"usage":{"wall_ms":1,"cpu_ms":1,"host_calls":0},"effects":{"reads":null,"writes":null}}'
)
KEY = "trk_secret"


class TransportCase(IsolatedAsyncioTestCase):
    def serve(self, answer: Handler) -> str:
        server = Server(answer)
        self.addCleanup(server.close)
        return server.url

    def client(self, url: str, **options: Any) -> AsyncClient:
        client = AsyncClient(url, KEY, **options)
        self.addAsyncCleanup(client.aclose)
        return client


class Requests(TransportCase):
    async def test_what_is_sent(self) -> None:
        seen: List[httpx.Request] = []

        def answer(request: httpx.Request) -> httpx.Response:
            seen.append(request)
            return httpx.Response(200, json={"items": []})

        http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        client = self.client("https://tools.example/base/", app="shop", user_id="ann", http=http)
        await client.sessions.list(limit=5)
        await client.records.list("a/b c", user_id="bob")
        self.assertEqual(
            [str(request.url) for request in seen],
            [
                "https://tools.example/base/api/v1/sessions?limit=5&user_id=ann&app=shop",
                "https://tools.example/base/api/v1/stores/a%2Fb%20c/records?user_id=bob&app=shop",
            ],
        )
        self.assertEqual(seen[0].headers["Authorization"], "Bearer " + KEY)
        with self.assertRaises(UnavailableError):  # the response is a list
            await client.sessions.add_messages("s", [{"role": "user", "content": "é"}], agent_id="emails")
        self.assertEqual(
            json.loads(seen[2].content),
            {"user_id": "ann", "agent_id": "emails", "messages": [{"role": "user", "content": "é"}]},
        )
        self.assertNotIn(KEY, repr(vars(client)) + repr(vars(client._transport)))

    async def test_mistakes_are_not_sent(self) -> None:
        client = self.client("http://127.0.0.1:9", retries=0)
        mistakes: List[Callable[[], Awaitable[object]]] = [
            lambda: client.run("t", {"n": float("nan")}),
            lambda: client.run("t", {"s": {1, 2}}),
            lambda: client.run("t", {"s": "\ud800"}),
            lambda: client.run("t", idempotency_key="a\nb"),
            lambda: client.stores.get(""),
            lambda: client.stores.get("\ud800"),
        ]
        for mistake in mistakes:
            with self.assertRaises(InvalidArgumentError) as raised:
                await mistake()
            self.assertEqual(raised.exception.status, 0)
        for url in ("", "tools.example", "ftp://a", "http://a:b@c", "http://a?b", "http://a#b", "http://a:99999", "http://"):
            with self.assertRaises(InvalidArgumentError, msg=url):
                AsyncClient(url)
        with self.assertRaises(InvalidArgumentError):
            AsyncClient("http://a", "key\n")

    async def test_redirects_are_not_followed(self) -> None:
        asked: List[str] = []

        def answer(request: httpx.Request) -> httpx.Response:
            asked.append(str(request.url))
            return httpx.Response(307, headers={"Location": "https://elsewhere.example/"})

        http = httpx.AsyncClient(transport=httpx.MockTransport(answer), follow_redirects=True)
        with self.assertRaises(UnavailableError):
            await self.client("https://tools.example", http=http).whoami()
        self.assertEqual(len(asked), 1)


class Retries(TransportCase):
    async def test_safe_requests_are_retried(self) -> None:
        asked = 0

        def answer(request: BaseHTTPRequestHandler) -> None:
            nonlocal asked
            asked += 1
            if asked % 2 == 1:
                respond(request, 429, {"Content-Type": "application/problem+json", "Retry-After": "1"}, PROBLEM)
            else:
                respond(request, 200, {"Content-Type": "application/json"}, WHOAMI if request.command == "GET" else RESULT)

        client = self.client(self.serve(answer))
        self.assertEqual((await client.whoami()).name, "n")
        self.assertEqual(asked, 2)
        await client.run("order", idempotency_key="once")
        self.assertEqual(asked, 4)
        with self.assertRaises(UnavailableError) as raised:
            await client.run("order")
        self.assertEqual(asked, 5)
        self.assertEqual((raised.exception.status, raised.exception.retry_after, raised.exception.hint), (429, 1.0, "wait"))
        self.assertEqual(str(raised.exception), "busy (wait)")

    async def test_retries_are_bounded(self) -> None:
        asked: List[str] = []

        def answer(request: BaseHTTPRequestHandler) -> None:
            asked.append(request.path)
            delay = "1" if "short" in request.path else "31"
            respond(request, 503, {"Content-Type": "application/problem+json", "Retry-After": delay}, PROBLEM)

        client = self.client(self.serve(answer), retries=1)
        for tool in ("short", "long"):
            with self.assertRaises(UnavailableError):
                await client.stores.get(tool)
        self.assertEqual(asked, ["/api/v1/stores/short", "/api/v1/stores/short", "/api/v1/stores/long"])


class Responses(TransportCase):
    async def test_unreachable_service(self) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with self.assertRaises(UnavailableError) as raised:
            await self.client(url).run("order")
        self.assertEqual((raised.exception.outcome, raised.exception.status), (None, 0))

    async def test_incomplete_response(self) -> None:
        def answer(request: BaseHTTPRequestHandler) -> None:
            respond(request, 200, {"Content-Type": request.headers["Accept"], "Content-Length": "100"}, b'{"run_id":')

        client = self.client(self.serve(answer))
        with self.assertRaises(UnavailableError) as raised:
            await client.run("order")
        self.assertEqual((raised.exception.outcome, raised.exception.status), ("unknown", 200))
        with self.assertRaises(UnavailableError) as raised:
            await client.whoami()
        self.assertIsNone(raised.exception.outcome)

    async def test_incomplete_stream(self) -> None:
        events = (
            b'event: run\r\ndata: {"run_id":"run_1"}\r\n\r\n: beat\n\nevent: log\r\ndata: {"text":"a",\r\n'
            b'data: "attempt":1,"level":"info","time":"2026-01-02T03:04:05.123456789Z"}\r\n\r\nevent: result\ndata: {"ok":'
        )
        client = self.client(self.serve(lambda request: respond(request, 200, {"Content-Type": "text/event-stream"}, events)))
        async with client.stream_run("order") as run:
            self.assertEqual(run.run_id, "run_1")
            line = await run.__anext__()
            self.assertEqual((line.text, line.time.isoformat()), ("a", "2026-01-02T03:04:05.123456+00:00"))
            with self.assertRaises(UnavailableError) as raised:
                await run.__anext__()
        self.assertEqual((raised.exception.outcome, raised.exception.status), ("unknown", 200))

    async def test_problem_after_lines(self) -> None:
        line = b'event: log\ndata: {"text":"a","attempt":1,"level":"info","time":"2026-01-02T03:04:05Z"}\n\n'
        events = line + b"event: problem\ndata: " + PROBLEM + b"\n\n"
        client = self.client(self.serve(lambda request: respond(request, 200, {"Content-Type": "text/event-stream"}, events)))
        lines = []
        with self.assertRaises(UnavailableError):
            async with client.stream_run("order") as run:
                async for line_of_run in run:
                    lines.append(line_of_run.text)
        self.assertEqual(lines, ["a"])

    async def test_late_response(self) -> None:
        done = socket.socketpair()
        self.addCleanup(done[1].close)

        def answer(request: BaseHTTPRequestHandler) -> None:
            done[0].recv(1)
            done[0].close()

        client = self.client(self.serve(answer), timeout=0.1)
        with self.assertRaises(TimeLimitError) as raised:
            await client.run("order")
        done[1].send(b"x")
        self.assertEqual((raised.exception.code, raised.exception.outcome), ("timeout", "unknown"))

    async def test_foreign_responses(self) -> None:
        for status, content, expected in (
            (404, b"<html>", NotFoundError),
            (407, b"", AccessDeniedError),
            (502, b"{}", UnavailableError),
            (200, b"<html>", UnavailableError),
            (200, b"[]", UnavailableError),
            (200, b'{"name":1}', UnavailableError),
            (302, b"", UnavailableError),
        ):
            url = self.serve(partial(respond, status=status, headers={"Content-Type": "application/json"}, body=content))
            with self.assertRaises(expected) as raised:
                await self.client(url).whoami()
            self.assertEqual(raised.exception.status, status)
            self.assertIn("check the URL", raised.exception.hint or "")
            with self.assertRaises(ToolrunError):
                await self.client(url).backup(io.BytesIO())
            with self.assertRaises(ToolrunError):
                await self.client(url).files.download("s", "f")

    async def test_large_response(self) -> None:
        url = self.serve(lambda request: respond(request, 200, {"Content-Type": "application/json"}, WHOAMI))
        self.addCleanup(setattr, _response, "MAX_RESPONSE_BYTES", _response.MAX_RESPONSE_BYTES)
        _response.MAX_RESPONSE_BYTES = len(WHOAMI)
        await self.client(url).whoami()
        _response.MAX_RESPONSE_BYTES -= 1
        with self.assertRaises(TooLargeError):
            await self.client(url).whoami()

    async def test_endless_list(self) -> None:
        page = b'{"items":[],"next":"a"}'
        url = self.serve(lambda request: respond(request, 200, {"Content-Type": "application/json"}, page))
        with self.assertRaisesRegex(UnavailableError, "the same page twice"):
            [session async for session in self.client(url).sessions.all()]

    async def test_errors_do_not_contain_the_key(self) -> None:
        def answer(request: httpx.Request) -> httpx.Response:
            raise httpx.ReadError(f"broken: {request.headers['Authorization']}")

        http = httpx.AsyncClient(transport=httpx.MockTransport(answer))
        with self.assertRaises(UnavailableError) as raised:
            await self.client("https://tools.example", http=http).run("t")
        shown = "".join(traceback.format_exception(None, raised.exception, raised.exception.__traceback__))
        self.assertIn("broken: Bearer ...", shown)
        self.assertNotIn(KEY, shown)
