"""Runs: their state, and the log of a streamed run."""

from __future__ import annotations

import json
from collections import deque
from typing import Any, AsyncIterator, Optional

import httpx

from toolrun.client import _response
from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import AsyncTransport
from toolrun.client._decode import decode
from toolrun.client._request import EVENTS, Request, get
from toolrun.client.errors import ToolrunError
from toolrun.client.models import LogLine, Result, Run


class AsyncRuns(AsyncHandle):
    """Current and recent runs. A run is available for up to 10 minutes after its end."""

    async def get(self, run_id: str) -> Run:
        """Describe a run that was started with this key. Operators can get every run."""
        return await self._transport.fetch(Run, get("runs", run_id))

    async def cancel(self, run_id: str) -> Run:
        """Cancel a run. The run ends soon, and stores nothing, unless its commit has begun."""
        return await self._transport.fetch(Run, Request("POST", ("runs", run_id, "cancel"), repeatable=True))


class AsyncRunStream:
    """A streamed run: an iterator of log lines. Use it in an ``async with`` statement.

    If the statement is left before the run has ended, the run is canceled.
    """

    def __init__(self, transport: AsyncTransport, request: Request) -> None:
        self.run_id = ""
        """The id of the run. The id is known from the beginning, even while the run is queued."""
        self._transport = transport
        self._request = request
        self._response: Optional[httpx.Response] = None
        self._chunks: Optional[AsyncIterator[bytes]] = None
        self._parser = _response.EventParser()
        self._lines: deque[LogLine] = deque()
        self._result: Optional[Result] = None
        self._error: Optional[ToolrunError] = None

    @property
    def result(self) -> Result:
        """The Result of the run. The log must have been read to its end."""
        if self._result is None:
            raise RuntimeError("the run has no Result yet; read the log of the run to the end")
        return self._result

    async def __aenter__(self) -> AsyncRunStream:
        self._request.headers["Accept"] = EVENTS
        self._response = await self._transport.send(self._request)
        try:
            if not _response.is_media(self._response, EVENTS):
                raise _response.foreign(self._response.status_code)
            self._chunks = self._response.aiter_bytes()
            await self._read(self._response, self._chunks)
            if self._error is not None and not self._lines:
                raise self._error
        except BaseException:
            await self._response.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._response is not None:
            await self._response.aclose()

    def __aiter__(self) -> AsyncRunStream:
        return self

    async def __anext__(self) -> LogLine:
        if self._response is None or self._chunks is None:
            raise RuntimeError("a streamed run requires a with statement")
        while not self._lines:
            if self._error is not None:
                raise self._error
            if self._result is not None:
                raise StopAsyncIteration
            await self._read(self._response, self._chunks)
        return self._lines.popleft()

    async def _read(self, response: httpx.Response, chunks: AsyncIterator[bytes]) -> None:
        """Read the events of one or more chunks of the response."""
        events: list[tuple[str, str]] = []
        while not events:
            try:
                chunk = await chunks.__anext__()
            except StopAsyncIteration:
                raise self._transport.unanswered(httpx.RemoteProtocolError("no Result"), self._request, response) from None
            except httpx.HTTPError as error:
                raise self._transport.unanswered(error, self._request, response) from None
            if not self._parser.accepts(chunk):
                raise _response.too_large(response)
            events.extend(self._parser.feed(chunk))
        try:
            for name, data in events:
                self._take(name, json.loads(data), response.status_code)
        except (TypeError, ValueError):
            raise _response.foreign(response.status_code) from None

    def _take(self, name: str, data: Any, status: int) -> None:
        if name == "run":
            self.run_id = str(data["run_id"])
        elif name == "log":
            self._lines.append(decode(LogLine, data))
        elif name == "result":
            self._result = decode(Result, data)
        elif name == "problem":
            self._error = _response.error_of_problem(data, status)
