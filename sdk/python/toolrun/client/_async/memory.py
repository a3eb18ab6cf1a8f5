"""Memory blocks: texts about a user."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, Optional

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._request import Request, Time, get, given, required_text, stamp
from toolrun.client.models import Block, BlockDeclaration, BlockDeclarations, Blocks, Deleted, MemoryContext, Recalled, RecalledLine

if TYPE_CHECKING:
    from toolrun.client.fields import MemoryPolicy


class AsyncMemory(AsyncHandle):
    """The memory blocks of a user, such as core and archival.

    A block with the scope "user" applies to all agents. A block with the scope "agent" applies only to one agent. The
    default scope is "agent" if a call names an agent.
    """

    async def list(
        self, *, scope: Optional[str] = None, agent_id: Optional[str] = None, user_id: Optional[str] = None
    ) -> List[Block]:
        """List the blocks with a scope.

        The scope "all" selects the blocks of the user and of the named agent, or else of all agents.
        """
        request = get("memory", "blocks", scope=scope, agent_id=agent_id, **self._transport.caller(user_id))
        return (await self._transport.fetch(Blocks, request)).blocks

    async def declared(self) -> List[BlockDeclaration]:
        """List the blocks that the app declares, with their limits."""
        return (await self._transport.fetch(BlockDeclarations, get("memory", "declarations"))).blocks

    async def get(
        self, name: str, *, scope: Optional[str] = None, agent_id: Optional[str] = None, user_id: Optional[str] = None
    ) -> Block:
        """Read a block. If there is none, the call raises a NotFoundError."""
        request = get("memory", "blocks", required_text("name", name), scope=scope, agent_id=agent_id, **self._transport.caller(user_id))
        return await self._transport.fetch(Block, request)

    async def update(
        self,
        name: str,
        content: str,
        *,
        expected_updated_at: Optional[Time] = None,
        scope: Optional[str] = None,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> Block:
        """Replace the content of a block.

        ``expected_updated_at`` is the ``updated_at`` of the block that was read last; None means that the block must not
        exist. If the block has changed since, the call raises a ConflictError.
        """
        query = {"scope": scope, "agent_id": agent_id, **self._transport.caller(user_id)}
        body = {"content": required_text("content", content), "expected_updated_at": stamp(expected_updated_at)}
        return await self._transport.fetch(Block, Request("PUT", ("memory", "blocks", required_text("name", name)), query).with_json(body))

    async def delete(
        self,
        name: str,
        *,
        expected_updated_at: Time,
        scope: Optional[str] = None,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> None:
        """Delete a block. ``expected_updated_at`` is as in update, but is required."""
        query = {"scope": scope, "agent_id": agent_id, "expected_updated_at": stamp(expected_updated_at)}
        request = Request("DELETE", ("memory", "blocks", required_text("name", name)), {**query, **self._transport.caller(user_id)})
        await self._transport.fetch(Deleted, request)

    async def recall(
        self,
        query: str,
        *,
        limit: Optional[int] = None,
        min_score: Optional[float] = None,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> List[RecalledLine]:
        """Search the lines of archival and of other blocks for recall, and return the best matches first.

        With ``agent_id``, the blocks of that agent are searched, too. The default limit is 10.
        """
        body = given(query=required_text("query", query), limit=limit, min_score=min_score, agent_id=agent_id, **self._transport.caller(user_id))
        request = Request("POST", ("memory", "recall"), repeatable=True).with_json(body)
        return (await self._transport.fetch(Recalled, request)).results

    async def context(
        self,
        message: Optional[str] = None,
        *,
        memory_policy: Optional[MemoryPolicy] = None,
        agent_id: Optional[str] = None,
        user_id: Optional[str] = None,
    ) -> MemoryContext:
        """Return the text of the memory blocks for a prompt. The message is used only with the archival mode "auto"."""
        caller = self._transport.caller(user_id, agent_id=agent_id)
        request = Request("POST", ("memory", "context"), repeatable=True)
        request.with_json(given(message=message, memory_policy=memory_policy, **caller))
        return await self._transport.fetch(MemoryContext, request)
