"""Effects that wait for an approval."""

from __future__ import annotations

from typing import AsyncIterator, Optional

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import pages
from toolrun.client._request import Request, get, given
from toolrun.client.models import Approval, Page, Result


class AsyncApprovals(AsyncHandle):
    """Effects that wait for an approval. The Result of a paused run contains the token of its approval."""

    async def list(
        self, *, user_id: Optional[str] = None, include_decided: bool = False, after: Optional[str] = None
    ) -> Page[Approval]:
        """Return a page of the effects that wait, oldest first.

        If a page has ``next``, there are more pages, even if the page is empty.
        """
        query = get("approvals", user_id=user_id, all=include_decided or None, after=after)
        return await self._transport.fetch(Page[Approval], query)

    def all(self, *, user_id: Optional[str] = None, include_decided: bool = False) -> AsyncIterator[Approval]:
        """Iterate over the approvals of all pages."""
        return pages(lambda after: self.list(user_id=user_id, include_decided=include_decided, after=after))

    async def get(self, token: str) -> Approval:
        """Describe an approval."""
        return await self._transport.fetch(Approval, get("approvals", token))

    async def approve(self, token: str) -> Result:
        """Approve an effect, and return the Result of its run, which can be paused again."""
        return await self._decide(token, "approve")

    async def deny(self, token: str, reason: Optional[str] = None) -> Result:
        """Deny an effect, and return the Result of its run, which has failed."""
        return await self._decide(token, "deny", reason)

    async def _decide(self, token: str, decision: str, reason: Optional[str] = None) -> Result:
        request = Request("POST", ("approvals", token)).with_json(given(decision=decision, reason=reason))
        return await self._transport.fetch(Result, request)
