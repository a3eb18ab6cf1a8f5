"""Facts: values with dotted paths."""

from __future__ import annotations

from typing import Any, AsyncIterator, Optional

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import pages
from toolrun.client._request import Request, get
from toolrun.client.models import Deleted, Fact, Page


class AsyncFacts(AsyncHandle):
    """Facts, which this handle reads and writes as an operator."""

    async def get(
        self, path: str, *, user_id: Optional[str] = None, session_id: Optional[str] = None, workflow_id: Optional[str] = None
    ) -> Fact:
        """Read a fact. If no value is stored, its value is the declared default or None."""
        caller = self._transport.caller(user_id, session_id=session_id, workflow_id=workflow_id)
        return await self._transport.fetch(Fact, get("facts", path, **caller))

    async def set(
        self,
        path: str,
        value: Any,
        *,
        ttl: Optional[str] = None,
        if_revision: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workflow_id: Optional[str] = None,
    ) -> Fact:
        """Store the value of a fact.

        ``ttl``, such as "1h", replaces the declared lifetime. ``if_revision`` is the revision that the fact must have; 0
        means that no value is stored. If the fact has another revision, the call raises a ConflictError.
        """
        caller = self._transport.caller(user_id, session_id=session_id, workflow_id=workflow_id)
        request = Request("PUT", ("facts", path), {"ttl": ttl, **caller}, repeatable=True).with_json(value)
        return await self._transport.fetch(Fact, request.with_revision(if_revision))

    async def delete(
        self,
        path: str,
        *,
        if_revision: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workflow_id: Optional[str] = None,
    ) -> bool:
        """Delete the stored value of a fact, and report whether there was one."""
        caller = self._transport.caller(user_id, session_id=session_id, workflow_id=workflow_id)
        request = Request("DELETE", ("facts", path), caller, repeatable=True)
        return (await self._transport.fetch(Deleted, request.with_revision(if_revision))).deleted

    async def list(
        self,
        *,
        prefix: Optional[str] = None,
        domain: Optional[str] = None,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workflow_id: Optional[str] = None,
    ) -> Page[Fact]:
        """Return a page of the stored facts of the caller and of the app.

        ``prefix`` contains the first names of the paths, such as "user.travel".
        """
        caller = self._transport.caller(user_id, session_id=session_id, workflow_id=workflow_id)
        request = get("facts", prefix=prefix, domain=domain, after=after, limit=limit, **caller)
        return await self._transport.fetch(Page[Fact], request)

    def all(
        self,
        *,
        prefix: Optional[str] = None,
        domain: Optional[str] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
        workflow_id: Optional[str] = None,
    ) -> AsyncIterator[Fact]:
        """Iterate over the facts of all pages."""
        return pages(
            lambda after: self.list(
                prefix=prefix, domain=domain, after=after, user_id=user_id, session_id=session_id, workflow_id=workflow_id
            )
        )
