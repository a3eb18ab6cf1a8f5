"""The base class of the handles of AsyncClient."""

from __future__ import annotations

from toolrun.client._async.transport import AsyncTransport


class AsyncHandle:
    """A group of methods of a client."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport
