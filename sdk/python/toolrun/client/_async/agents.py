"""Agents: turns, and the rules of agents for platforms that perform the turns themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, List, Optional, TypeVar

from toolrun.client._async.handle import AsyncHandle
from toolrun.client._request import Request, get
from toolrun.client.models import Agent, Evaluation, Page, Preview, Turn

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from toolrun.client.fields import ConversationFields, MemoryPolicy, RuleFields

T = TypeVar("T")


class AsyncAgents(AsyncHandle):
    """The agents of the app. If a turn or an evaluation fails, its result contains the fault."""

    async def list(self) -> List[Agent]:
        """List the agents, sorted by name."""
        return (await self._transport.fetch(Page[Agent], get("agents"))).items

    async def turn(
        self,
        agent: str,
        message: Optional[str] = None,
        *,
        event: Optional[str] = None,
        memory_policy: Optional[MemoryPolicy] = None,
        idempotency_key: Optional[str] = None,
        **fields: Unpack[ConversationFields],
    ) -> Turn:
        """Perform one turn of a conversation.

        Without a message and without an event, the turn begins the flow, or repeats the question of a step.
        """
        body: Dict[str, Any] = {"message": message, "event": event, "memory_policy": memory_policy, **fields}
        return await self._post(Turn, agent, "turns", body, idempotency_key)

    async def preview(
        self,
        agent: str,
        message: Optional[str] = None,
        *,
        event: Optional[str] = None,
        memory_policy: Optional[MemoryPolicy] = None,
        **fields: Unpack[ConversationFields],
    ) -> Preview:
        """Return the first request that a turn would send to a model, and store nothing."""
        body: Dict[str, Any] = {"message": message, "event": event, "memory_policy": memory_policy, **fields}
        return await self._post(Preview, agent, "preview", body)

    async def fire(
        self, agent: str, event: str, *, idempotency_key: Optional[str] = None, **fields: Unpack[RuleFields]
    ) -> Evaluation:
        """Fire an event and return what the agent recalls. No flow is executed."""
        return await self._post(Evaluation, agent, "events", {"event": event, **fields}, idempotency_key)

    async def check(self, agent: str, before: Optional[str] = None, **fields: Unpack[RuleFields]) -> Evaluation:
        """Check the constraints of an agent at a checkpoint: "calling TOOL" or "returning results"."""
        return await self._post(Evaluation, agent, "checks", {"before": before, **fields})

    async def evaluate_triggers(
        self, agent: str, *, idempotency_key: Optional[str] = None, **fields: Unpack[RuleFields]
    ) -> Evaluation:
        """Evaluate the triggers of an agent, as at the end of a turn."""
        return await self._post(Evaluation, agent, "triggers", {**fields}, idempotency_key)

    async def _post(self, to: type[T], agent: str, what: str, body: Dict[str, Any], idempotency_key: Optional[str] = None) -> T:
        request = Request("POST", ("agents", agent, what)).with_json(self._transport.body(body)).with_key(idempotency_key)
        return await self._transport.fetch(to, request)
