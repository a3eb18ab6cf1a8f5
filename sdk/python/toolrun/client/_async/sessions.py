"""Sessions and workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, AsyncIterator, Mapping, Optional, Sequence

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._async.transport import pages
from toolrun.client._request import MERGE_PATCH, Request, get, given
from toolrun.client.models import MessagesAdded, Page, Session, StartedSession, Workflow

if TYPE_CHECKING:
    from toolrun.client.fields import Message


class AsyncSessions(AsyncHandle):
    """The sessions of the app."""

    async def start(
        self,
        session_id: Optional[str] = None,
        *,
        message: Optional[str] = None,
        user_id: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        session_reference: Optional[str] = None,
        user_reference: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> StartedSession:
        """Start a session. By default, the service creates its id.

        If the session is already open, its metadata and references are changed. With a message, the app's default tool
        runs in the session. The idempotency key applies to this run.
        """
        body = given(
            message=message,
            metadata=metadata,
            session_reference=session_reference,
            user_reference=user_reference,
            **self._transport.caller(user_id, session_id=session_id),
        )
        request = Request("POST", ("sessions",)).with_json(body).with_key(idempotency_key)
        return await self._transport.fetch(StartedSession, request)

    async def get(self, session_id: str, *, user_id: Optional[str] = None) -> Session:
        """Describe a session."""
        return await self._transport.fetch(Session, get("sessions", session_id, **self._transport.caller(user_id)))

    async def set_metadata(self, session_id: str, patch: Mapping[str, Any], *, user_id: Optional[str] = None) -> Session:
        """Change the metadata of an open session with a JSON Merge Patch (RFC 7396)."""
        request = Request("PATCH", ("sessions", session_id, "metadata"), self._transport.caller(user_id))
        return await self._transport.fetch(Session, request.with_json(patch, MERGE_PATCH))

    async def add_messages(
        self,
        session_id: str,
        messages: Sequence[Message],
        *,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> MessagesAdded:
        """Add messages to the transcript of a session, which is started if it does not exist.

        When the session has ended or had no messages for some time, the app's sleep-time memory
        updates the memory blocks of the user, and the blocks of the agent that was active.
        """
        body = given(messages=list(messages), **self._transport.caller(user_id, agent_id=agent_id))
        request = Request("POST", ("sessions", session_id, "messages")).with_json(body)
        return await self._transport.fetch(MessagesAdded, request)

    async def end(self, session_id: str, *, user_id: Optional[str] = None) -> Session:
        """End a session. The session's data is removed, and its id is rejected from then on."""
        request = Request("DELETE", ("sessions", session_id), self._transport.caller(user_id), repeatable=True)
        return await self._transport.fetch(Session, request)

    async def list(self, *, user_id: Optional[str] = None, after: Optional[str] = None, limit: Optional[int] = None) -> Page[Session]:
        """Return a page of sessions, sorted by id."""
        request = get("sessions", after=after, limit=limit, **self._transport.caller(user_id))
        return await self._transport.fetch(Page[Session], request)

    def all(self, *, user_id: Optional[str] = None) -> AsyncIterator[Session]:
        """Iterate over the sessions of all pages."""
        return pages(lambda after: self.list(user_id=user_id, after=after))


class AsyncWorkflows(AsyncHandle):
    """The workflows of the app. A workflow starts with the first run or write that uses its id."""

    async def get(self, workflow_id: str, *, user_id: Optional[str] = None) -> Workflow:
        """Describe a workflow."""
        request = get("workflows", workflow_id, **self._transport.caller(user_id))
        return await self._transport.fetch(Workflow, request)

    async def end(self, workflow_id: str, *, user_id: Optional[str] = None) -> Workflow:
        """End a workflow. The workflow's facts are removed, and its id is rejected from then on."""
        request = Request("POST", ("workflows", workflow_id, "end"), self._transport.caller(user_id), repeatable=True)
        return await self._transport.fetch(Workflow, request)

    async def list(self, *, user_id: Optional[str] = None, after: Optional[str] = None, limit: Optional[int] = None) -> Page[Workflow]:
        """Return a page of workflows, sorted by id."""
        request = get("workflows", after=after, limit=limit, **self._transport.caller(user_id))
        return await self._transport.fetch(Page[Workflow], request)

    def all(self, *, user_id: Optional[str] = None) -> AsyncIterator[Workflow]:
        """Iterate over the workflows of all pages."""
        return pages(lambda after: self.list(user_id=user_id, after=after))
