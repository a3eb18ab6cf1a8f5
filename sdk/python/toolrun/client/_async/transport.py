"""The transport of AsyncClient: it sends requests, retries them and reads responses."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Awaitable, BinaryIO, Callable, Optional, TypeVar

import httpx
from anyio import sleep

from toolrun.client import _request, _response
from toolrun.client._request import Request
from toolrun.client.errors import ToolrunError, UnavailableError
from toolrun.client.models import Page

T = TypeVar("T")


class AsyncTransport:
    """The transport of one client. The attributes do not contain the key, so printing them does not show the key."""

    def __init__(self, url: str, key: str, app: str, user_id: str, retries: int, http: httpx.AsyncClient) -> None:
        self.base = _request.parse_base(url)
        self.app = app
        self.user_id = user_id
        self.retries = retries
        self.http = http
        authorization = {"Authorization": "Bearer " + _request.checked_header(key)} if key else {}
        self._authorization: Callable[[], dict[str, str]] = lambda: authorization

    def caller(self, user_id: Optional[str], **ids: Optional[str]) -> dict[str, Optional[str]]:
        """Return the ids of a request. The default user is the client's."""
        return {"user_id": user_id or self.user_id or None, **ids}

    def body(self, members: dict[str, Any]) -> dict[str, Any]:
        """Return the members of a body that have a value. The default user is the client's."""
        return _request.given(**{**members, "user_id": members.get("user_id") or self.user_id or None})

    async def fetch(self, to: type[T], request: Request) -> T:
        """Send a request and return the response, decoded as a type."""
        request.headers.setdefault("Accept", _request.JSON)
        response = await self.send(request)
        return _response.value_of(response, to, await self.read(request, response))

    async def send(self, request: Request) -> httpx.Response:
        """Send a request and return a successful response, whose content the caller must read or close."""
        url = _request.url_of(self.base, self.app, request)
        attempts = 0
        while True:
            response = await self._once(request, url)
            if response.is_success:
                return response
            error = _response.error_of(response, await self.read(request, response))
            attempts += 1
            delay = _response.retry_delay(request, error, attempts, self.retries)
            if delay is None:
                raise error
            await sleep(delay)

    async def _once(self, request: Request, url: str) -> httpx.Response:
        headers = {"User-Agent": "toolrun-python", **request.headers, **self._authorization()}
        sent = self.http.build_request(request.method, url, headers=headers, content=request.body, files=request.files)
        try:
            return await self.http.send(sent, stream=True, follow_redirects=False)
        except httpx.HTTPError as error:
            raise self.unanswered(error, request) from None

    async def read(self, request: Request, response: httpx.Response) -> bytes:
        """Read the content of a response."""
        content = bytearray()
        async with self.reading(request, response):
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > _response.MAX_RESPONSE_BYTES:
                    raise _response.too_large(response)
        return bytes(content)

    async def save(self, request: Request, media: str, to: BinaryIO) -> int:
        """Send a request, write the content of the response to a file, and return its size."""
        response = await self.send(request)
        size = 0
        async with self.reading(request, response):
            if not _response.is_media(response, media):
                raise _response.foreign(response.status_code)
            async for chunk in response.aiter_bytes():
                size += len(chunk)
                to.write(chunk)
        return size

    @asynccontextmanager
    async def reading(self, request: Request, response: httpx.Response) -> AsyncIterator[None]:
        """Convert the errors of reading a response, and close it at the end."""
        try:
            yield
        except httpx.HTTPError as error:
            raise self.unanswered(error, request, response) from None
        finally:
            await response.aclose()

    def unanswered(self, error: Exception, request: Request, response: Optional[httpx.Response] = None) -> ToolrunError:
        """Return the error for a missing or incomplete response."""
        key = self._authorization().get("Authorization", "").partition(" ")[2]
        return _response.unanswered(error, request, key, response)


async def pages(page: Callable[[Optional[str]], Awaitable[Page[T]]], after: Optional[str] = None) -> AsyncIterator[T]:
    """Yield the items of all pages of a list."""
    while True:
        listed = await page(after)
        for item in listed.items:
            yield item
        if not listed.next:
            return
        if listed.next == after:
            raise UnavailableError("unavailable", "the service returned the same page twice")
        after = listed.next
