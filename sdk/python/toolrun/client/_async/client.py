"""AsyncClient, the client for asyncio and trio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO, Dict, List, Literal, Mapping, Optional

import httpx

from toolrun.client._async.agents import AsyncAgents
from toolrun.client._async.approvals import AsyncApprovals
from toolrun.client._async.collections import AsyncCollections
from toolrun.client._async.facts import AsyncFacts
from toolrun.client._async.files import AsyncFiles
from toolrun.client._async.memory import AsyncMemory
from toolrun.client._async.operations import AsyncLedger, AsyncSleep, AsyncUsage, AsyncUsers
from toolrun.client._async.records import AsyncRecords, AsyncStores
from toolrun.client._async.runs import AsyncRuns, AsyncRunStream
from toolrun.client._async.sessions import AsyncSessions, AsyncWorkflows
from toolrun.client._async.transport import AsyncTransport
from toolrun.client._request import Request, get, given
from toolrun.client.models import Imported, Page, Prompt, Rendered, Result, Tool, Whoami

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from toolrun.client.fields import MemoryPolicy, RunFields


class AsyncClient:
    """A client of one service, which can be used by several tasks at the same time, and in an ``async with`` statement.

    url      the URL of the service, such as "https://tools.example"; it can have a path
    key      an API key or a token, which is sent only to this URL
    app      the id of the app; the default is the app of the key, if the key has exactly one
    user_id  the user for requests that name none; credentials of a user act only for that user
    retries  the maximum number of retries of a request that is safe to repeat, if the service is busy
    timeout  the longest time in seconds without data from the service
    http     sends the requests; by default, the client creates and closes it
    """

    def __init__(
        self,
        url: str,
        key: str = "",
        *,
        app: str = "",
        user_id: str = "",
        retries: int = 3,
        timeout: Optional[float] = 300.0,
        http: Optional[httpx.AsyncClient] = None,
    ) -> None:
        self._owned = http is None
        self._http = http or httpx.AsyncClient(timeout=httpx.Timeout(timeout, connect=10.0))
        transport = AsyncTransport(url, key, app, user_id, retries, self._http)
        self._transport = transport
        self.runs = AsyncRuns(transport)
        self.approvals = AsyncApprovals(transport)
        self.agents = AsyncAgents(transport)
        self.memory = AsyncMemory(transport)
        self.sessions = AsyncSessions(transport)
        self.workflows = AsyncWorkflows(transport)
        self.facts = AsyncFacts(transport)
        self.files = AsyncFiles(transport)
        self.stores = AsyncStores(transport)
        self.records = AsyncRecords(transport)
        self.collections = AsyncCollections(transport)
        self.users = AsyncUsers(transport)
        self.ledger = AsyncLedger(transport)
        self.sleep = AsyncSleep(transport)
        self.usage = AsyncUsage(transport)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._owned:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # Runs

    async def run(
        self,
        tool: Optional[str] = None,
        input: Optional[Mapping[str, Any]] = None,
        *,
        idempotency_key: Optional[str] = None,
        **fields: Unpack[RunFields],
    ) -> Result:
        """Run a tool once. The default is the app's default tool, or else its only tool.

        If the tool fails, the Result contains the fault. Result.check raises its error. For 24 hours after a successful
        run, a request with the same idempotency key and content returns the Result of that run.
        """
        return await self._transport.fetch(Result, self._run({"tool": tool, "input": input, **fields}, idempotency_key))

    async def run_code(
        self,
        language: Literal["javascript", "typescript", "python"],
        code: str,
        input: Optional[Mapping[str, Any]] = None,
        *,
        name: Optional[str] = None,
        grants: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        **fields: Unpack[RunFields],
    ) -> Result:
        """Run a source text instead of a declared tool. The call requires a key with the permission code."""
        body: Dict[str, Any] = {"language": language, "code": code, "input": input, "name": name, "grants": grants, **fields}
        return await self._transport.fetch(Result, self._run(body, idempotency_key, "code"))

    def stream_run(
        self,
        tool: Optional[str] = None,
        input: Optional[Mapping[str, Any]] = None,
        *,
        idempotency_key: Optional[str] = None,
        **fields: Unpack[RunFields],
    ) -> AsyncRunStream:
        """Run a tool and follow its log."""
        request = self._run({"tool": tool, "input": input, **fields}, idempotency_key, "stream")
        return AsyncRunStream(self._transport, request)

    def stream_run_code(
        self,
        language: Literal["javascript", "typescript", "python"],
        code: str,
        input: Optional[Mapping[str, Any]] = None,
        *,
        name: Optional[str] = None,
        grants: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        **fields: Unpack[RunFields],
    ) -> AsyncRunStream:
        """Run a source text and follow its log. The call requires a key with the permission code."""
        body: Dict[str, Any] = {"language": language, "code": code, "input": input, "name": name, "grants": grants, **fields}
        return AsyncRunStream(self._transport, self._run(body, idempotency_key, "code", "stream"))

    def _run(self, body: Dict[str, Any], idempotency_key: Optional[str], *path: str) -> Request:
        return Request("POST", ("runs", *path)).with_json(self._transport.body(body)).with_key(idempotency_key)

    # The app

    async def tools(self) -> List[Tool]:
        """List the tools of the app."""
        return (await self._transport.fetch(Page[Tool], get("tools"))).items

    async def prompts(self) -> List[Prompt]:
        """List the prompts of the app."""
        return (await self._transport.fetch(Page[Prompt], get("prompts"))).items

    async def render(
        self,
        prompt: str,
        *,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workflow_id: Optional[str] = None,
        agent_id: Optional[str] = None,
        message: Optional[str] = None,
        memory_policy: Optional[MemoryPolicy] = None,
    ) -> Rendered:
        """Render a prompt with the memory of the caller that is granted to it."""
        caller = self._transport.caller(user_id, session_id=session_id, workflow_id=workflow_id, agent_id=agent_id)
        request = Request("POST", ("prompts", prompt, "render"), repeatable=True)
        request.with_json(given(message=message, memory_policy=memory_policy, **caller))
        return await self._transport.fetch(Rendered, request)

    async def export(self) -> Dict[str, Any]:
        """Return the configuration of the app as an app file in JSON, without stored data."""
        return await self._transport.fetch(Dict[str, Any], get("export"))

    async def import_stores(self, document: Mapping[str, Any]) -> Imported:
        """Declare the stores in a document that the app file does not declare."""
        return await self._transport.fetch(Imported, Request("POST", ("import",)).with_json(document))

    # The service

    async def whoami(self) -> Whoami:
        """Return the identity of the key, and the apps that it can use."""
        return await self._transport.fetch(Whoami, Request("GET", ("whoami",), repeatable=True, app=False))

    async def backup(self, to: BinaryIO) -> int:
        """Write a backup of the whole service to a binary file, and return its size.

        The call requires a key with the role backup. If the call raises an error, the backup is incomplete.
        """
        request = Request("GET", ("backup",), repeatable=True, app=False)
        return await self._transport.save(request, "application/octet-stream", to)
