"""Collections and their entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, BinaryIO, Dict, List, Literal, Mapping, Optional, Sequence, Union

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import pages
from toolrun.client._request import Request, encode, get, given, required_text, upload_of
from toolrun.client.models import Collection, Entry, Forgotten, FoundEntries, FoundEntry, ImportedFile, Page, Reembedding, StoredEntries, StoredEntry

if TYPE_CHECKING:
    from toolrun.client.fields import NewEntry


class AsyncCollections(AsyncHandle):
    """Collections, whose entries a search finds by their words and vectors.

    Writes require an operator's credentials. The entries of a collection with the access "user" belong to ``user_id``, and
    those of a collection with the access "session" to ``session_id``.
    """

    async def list(self) -> List[Collection]:
        """List the declared collections and, if tools can create collections, those that have entries."""
        return (await self._transport.fetch(Page[Collection], get("collections"))).items

    async def get(self, name: str) -> Collection:
        """Describe a collection."""
        return await self._transport.fetch(Collection, get("collections", name))

    async def entries(
        self,
        name: str,
        *,
        namespace: Optional[str] = None,
        after: Optional[str] = None,
        limit: Optional[int] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Page[Entry]:
        """Return a page of the entries of a collection.

        With a user or a session, it contains only their entries and those of the app. ``namespace`` selects one namespace,
        and the text "" selects the default namespace. If a page has ``next``, there are more pages, even if the page is not
        full.
        """
        query = {"namespace": namespace, "default_namespace": namespace == "", "after": after, "limit": limit}
        request = get("collections", name, "entries", **query, **self._transport.caller(user_id, session_id=session_id))
        return await self._transport.fetch(Page[Entry], request)

    def all_entries(
        self,
        name: str,
        *,
        namespace: Optional[str] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> AsyncIterator[Entry]:
        """Iterate over the entries of all pages."""
        return pages(lambda after: self.entries(name, namespace=namespace, after=after, user_id=user_id, session_id=session_id))

    async def entry(
        self,
        name: str,
        id: str,
        *,
        namespace: Optional[str] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Entry:
        """Read an entry. If there is none, the call raises a NotFoundError. The default is the default namespace."""
        caller = self._transport.caller(user_id, session_id=session_id)
        request = get("collections", name, "entry", id=required_text("id", id), namespace=namespace, **caller)
        return await self._transport.fetch(Entry, request)

    async def remember(
        self, name: str, entries: Sequence[NewEntry], *, user_id: Optional[str] = None, session_id: Optional[str] = None
    ) -> List[StoredEntry]:
        """Store at most 100 entries in one transaction: all of them, or none.

        An entry with the id of an existing entry replaces it. The results are in the order of the entries.
        """
        request = self._post(name, "entries", {"entries": list(entries)}, user_id, session_id)
        return (await self._transport.fetch(StoredEntries, request)).entries

    async def recall(
        self,
        name: str,
        query: str,
        *,
        namespace: Optional[str] = None,
        limit: Optional[int] = None,
        threshold: Optional[float] = None,
        filter: Optional[Mapping[str, Any]] = None,
        mode: Optional[Literal["hybrid", "vector", "text"]] = None,
        scores: bool = False,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> List[FoundEntry]:
        """Search one namespace of a collection, and return the best matches first.

        ``threshold`` is the minimum score. A filter such as {"category": "refunds"} is a condition on the metadata. With
        ``scores``, the results contain the parts of their scores. The default limit is 10, and the default mode is "hybrid".
        """
        body = given(
            query=required_text("query", query),
            namespace=namespace,
            limit=limit,
            threshold=threshold,
            filter=filter,
            mode=mode,
            scores=scores,
        )
        request = self._post(name, "recall", body, user_id, session_id)
        request.repeatable = True  # it only reads
        return (await self._transport.fetch(FoundEntries, request)).results

    async def forget(
        self,
        name: str,
        *,
        id: Optional[str] = None,
        filter: Optional[Mapping[str, Any]] = None,
        all: bool = False,
        namespace: Optional[str] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Forgotten:
        """Remove entries of one namespace: the entry with an id, those that meet a filter, or all.

        Exactly one of the three arguments is required. One call removes at most 500 entries: if the result has ``more``, call
        the method again.
        """
        body = given(id=id, filter=filter, all=all, namespace=namespace)
        return await self._transport.fetch(Forgotten, self._post(name, "forget", body, user_id, session_id))

    async def reembed(self, name: str) -> Reembedding:
        """Move entries to the embedding model that the app declares, for about five seconds.

        Call the method until the result is ``done``. The progress is stored: after an error, a further call continues.
        """
        return await self._transport.fetch(Reembedding, Request("POST", ("collections", name, "reembed")))

    async def import_file(
        self,
        name: str,
        content: Union[bytes, BinaryIO],
        *,
        filename: Optional[str] = None,
        media_type: str = "application/octet-stream",
        source: Optional[str] = None,
        namespace: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        ttl: Optional[str] = None,
        user_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> ImportedFile:
        """Divide the text of a PDF, DOCX, TXT, Markdown or JSON file into entries of a collection.

        ``content`` is bytes or an open binary file. The default of ``filename`` is the name of the open file. ``source``
        identifies the document, and its default is the name of the file: an import replaces the entries of an earlier import
        with the same source and namespace. ``metadata`` becomes part of the metadata of each entry.
        """
        query = {"source": source, "namespace": namespace, "ttl": ttl, **self._transport.caller(user_id, session_id=session_id)}
        if metadata is not None:
            query["metadata"] = encode(metadata).decode()
        request = Request("POST", ("collections", name, "files"), query)
        request.files = {"file": upload_of(content, filename, media_type)}
        return await self._transport.fetch(ImportedFile, request)

    def _post(
        self, name: str, operation: str, body: Dict[str, Any], user_id: Optional[str], session_id: Optional[str]
    ) -> Request:
        caller = self._transport.caller(user_id, session_id=session_id)
        return Request("POST", ("collections", name, operation), caller).with_json(body)
