"""The data of users, the ledger, sleep-time memory, and usage."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, AsyncIterator, BinaryIO, Optional, Union

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import pages
from toolrun.client._request import Request, day_of, get, stamp
from toolrun.client.models import AppUsage, Erased, LedgerEntry, Page, SleepStatus

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from toolrun.client.fields import LedgerFields


class AsyncUsers(AsyncHandle):
    """The data of users."""

    async def export(self, user_id: str, to: BinaryIO) -> int:
        """Write all data of a user to a binary file as a ZIP archive, and return its size.

        If the call raises an error, the archive is incomplete.
        """
        return await self._transport.save(get("users", user_id, "export"), "application/zip", to)

    async def erase(self, user_id: str) -> Erased:
        """Remove all data of a user. An erasure cannot be undone."""
        return await self._transport.fetch(Erased, Request("DELETE", ("users", user_id), repeatable=True))


class AsyncLedger(AsyncHandle):
    """The log of reads and writes. The client's default user does not apply."""

    async def list(
        self, *, after: Optional[str] = None, limit: Optional[int] = None, **query: Unpack[LedgerFields]
    ) -> Page[LedgerEntry]:
        """Return a page of the ledger, oldest entries first.

        If a page has ``next``, there are more pages, even if the page is not full.
        """
        times = {"since": stamp(query.get("since")), "until": stamp(query.get("until"))}
        return await self._transport.fetch(Page[LedgerEntry], get("ledger", after=after, limit=limit, **{**query, **times}))

    def all(self, **query: Unpack[LedgerFields]) -> AsyncIterator[LedgerEntry]:
        """Iterate over the entries of all pages."""
        return pages(lambda after: self.list(after=after, **query))


class AsyncSleep(AsyncHandle):
    """The sleep-time memory of the app, which updates memory blocks after conversations."""

    async def status(self) -> SleepStatus:
        """Describe sleep-time memory."""
        return await self._transport.fetch(SleepStatus, get("sleep"))

    async def pause(self) -> SleepStatus:
        """Pause the runs until they are resumed. Runs in progress continue."""
        return await self._transport.fetch(SleepStatus, Request("POST", ("sleep", "pause"), repeatable=True))

    async def resume(self) -> SleepStatus:
        """Resume the runs."""
        return await self._transport.fetch(SleepStatus, Request("POST", ("sleep", "resume"), repeatable=True))

    async def retry(self) -> SleepStatus:
        """Make conversations due whose last run has failed, at most 1,000 of them."""
        return await self._transport.fetch(SleepStatus, Request("POST", ("sleep", "retry"), repeatable=True))


class AsyncUsage(AsyncHandle):
    """The usage of apps."""

    async def list(
        self,
        *,
        since: Union[date, str, None] = None,
        until: Union[date, str, None] = None,
        after: Optional[str] = None,
        limit: Optional[int] = None,
    ) -> Page[AppUsage]:
        """Return a page of the usage of the tenant's apps, on the UTC days from ``since`` up to, but excluding, ``until``.

        With a key that has the role metering, it includes the apps of all tenants.
        """
        request = get("usage", since=day_of(since), until=day_of(until), after=after, limit=limit)
        return await self._transport.fetch(Page[AppUsage], request)

    def all(self, *, since: Union[date, str, None] = None, until: Union[date, str, None] = None) -> AsyncIterator[AppUsage]:
        """Iterate over the apps of all pages."""
        return pages(lambda after: self.list(since=since, until=until, after=after))
