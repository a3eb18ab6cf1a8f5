"""Stores and their records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, AsyncIterator, List, Mapping, Optional

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import pages
from toolrun.client._request import MERGE_PATCH, Request, get, given
from toolrun.client.models import Deleted, Page, Record, RecordInfo, Removed, Store

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from toolrun.client.fields import StoreFields


class AsyncStores(AsyncHandle):
    """The declarations of stores."""

    async def list(self) -> List[Store]:
        """List the stores in the app file and the stores that were created through the API."""
        return (await self._transport.fetch(Page[Store], get("stores"))).items

    async def get(self, name: str) -> Store:
        """Describe a store."""
        return await self._transport.fetch(Store, get("stores", name))

    async def create(self, technical_name: str, **declaration: Unpack[StoreFields]) -> Store:
        """Declare a store in addition to the stores in the app file."""
        request = Request("POST", ("stores",)).with_json(given(technical_name=technical_name, **declaration))
        return await self._transport.fetch(Store, request)

    async def replace(self, technical_name: str, **declaration: Unpack[StoreFields]) -> Store:
        """Replace the declaration of a store that was created through the API."""
        request = Request("PUT", ("stores", technical_name), repeatable=True).with_json(given(**declaration))
        return await self._transport.fetch(Store, request)


class AsyncRecords(AsyncHandle):
    """The records of stores, which this handle reads and writes as an operator."""

    async def get(
        self,
        store: str,
        *,
        projection: Optional[Mapping[str, Any]] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Record:
        """Read a record. If there is none, the call raises a NotFoundError.

        A projection such as {"preferences.language": 1} selects members of the content.
        """
        query = self._transport.caller(user_id, session_id=session_id)
        if projection is not None:
            query["projection"] = json.dumps(projection)
        return await self._transport.fetch(Record, get("stores", store, "record", **query))

    async def put(
        self,
        store: str,
        content: Any,
        *,
        ttl: Optional[str] = None,
        if_revision: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Record:
        """Replace the content of a record. If there is none, it is created.

        ``ttl``, such as "1h", is the lifetime, if it is shorter than the store's retention. ``if_revision`` is the
        revision that the record must have; 0 means that it must not exist. If the record has another revision, the call
        raises a ConflictError.
        """
        request = self._request("PUT", store, user_id, session_id, ttl).with_json(content)
        request.repeatable = True
        return await self._transport.fetch(Record, request.with_revision(if_revision))

    async def patch(
        self,
        store: str,
        patch: Any,
        *,
        ttl: Optional[str] = None,
        if_revision: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Record:
        """Merge a JSON Merge Patch (RFC 7396) into a record. If there is none, it is created. See put."""
        request = self._request("PATCH", store, user_id, session_id, ttl).with_json(patch, MERGE_PATCH)
        return await self._transport.fetch(Record, request.with_revision(if_revision))

    async def delete(
        self, store: str, *, if_revision: Optional[int] = None, user_id: Optional[str] = None, session_id: Optional[str] = None
    ) -> bool:
        """Delete a record, and report whether there was one."""
        request = self._request("DELETE", store, user_id, session_id)
        request.repeatable = True
        return (await self._transport.fetch(Deleted, request.with_revision(if_revision))).deleted

    async def list(
        self,
        store: str,
        *,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Page[RecordInfo]:
        """Return a page of the records of a store, without their contents.

        If a page has ``next``, there are more pages, even if the page is not full.
        """
        caller = self._transport.caller(user_id, session_id=session_id)
        request = get("stores", store, "records", after=after, limit=limit, **caller)
        return await self._transport.fetch(Page[RecordInfo], request)

    def all(self, store: str, *, user_id: Optional[str] = None, session_id: Optional[str] = None) -> AsyncIterator[RecordInfo]:
        """Iterate over the records of all pages."""
        return pages(lambda after: self.list(store, after=after, user_id=user_id, session_id=session_id))

    async def purge(self, store: str) -> int:
        """Remove all records of a store, of all users and sessions, and return their number."""
        request = Request("DELETE", ("stores", store, "records"), repeatable=True)
        return (await self._transport.fetch(Removed, request)).records

    def _request(
        self, method: str, store: str, user_id: Optional[str], session_id: Optional[str], ttl: Optional[str] = None
    ) -> Request:
        query = {"ttl": ttl, **self._transport.caller(user_id, session_id=session_id)}
        return Request(method, ("stores", store, "record"), query)
