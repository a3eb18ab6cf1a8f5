"""Runs the samples of a documentation page against a service: python3 seeds.py.

The page is not a part of the project. If it is missing, the program does nothing.
"""

from __future__ import annotations

import asyncio
import os
import textwrap
import uuid
from pathlib import Path
from typing import Any

from toolrun.client import AsyncClient, ConflictError

PAGE = Path(__file__).resolve().parents[4] / "shared" / "seeds" / "002_agentflow_memory_blocks.txt"


def sample(page: str, heading: str, first: str, end: str) -> str:
    """Return a sample: the lines of a section from the first one up to, but excluding, the end."""
    section = page[page.index(f"\n{heading}\n") :]
    begin = section.index(f"\n{first}") + 1
    return section[begin : section.index(f"\n{end}", begin)]


async def execute(code: str, client: AsyncClient) -> dict[str, Any]:
    """Execute a sample unchanged, and return its variables."""
    names: dict[str, Any] = {}
    exec(f"async def sample(client):\n{textwrap.indent(code, '    ')}\n    return locals()", names)
    variables: dict[str, Any] = await names["sample"](client)
    return variables


async def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    user = "ann_" + uuid.uuid4().hex
    async with AsyncClient(os.environ["SERVICE"], os.environ["RUNTIME"], user_id=user) as client:
        await client.memory.update("core", "- Likes tea")
        await client.memory.update("core", "- Answers emails", scope="agent", agent_id="agent_emails")
        await client.memory.update("archival", "- Globex implementation: legal approved the DPA.\n- Acme renewal: the CFO wants prices.")

        names = await execute(sample(page, "Reading Blocks", "blocks = ", "GET "), client)
        assert sorted(block.block_type for block in names["blocks"]) == ["archival", "core"], names
        assert (names["core"].content, names["agent_core"].content) == ("- Likes tea", "- Answers emails"), names
        assert (names["agent_core"].scope, names["agent_core"].agent_id) == ("agent", "agent_emails"), names

        code = sample(page, "Updating Blocks Safely", "core = ", "PUT ")
        names = await execute(code, client)
        assert names["updated"].content == "- Prefers concise account summaries\n- Works in America/New_York", names
        assert names["updated"].updated_at > names["core"].updated_at, names
        try:
            await client.memory.update("core", "late", expected_updated_at=names["core"].updated_at.isoformat())
        except ConflictError as error:
            assert error.status == 409, error.status
        else:
            raise AssertionError("an update with an old time succeeded")

        names = await execute(sample(page, "Recalling Archival Memory", "matches = ", "POST "), client)
        first = names["matches"][0]
        assert (first.scope, first.content) == ("user", "Acme renewal: the CFO wants prices."), names
        assert 0 < first.score <= 1, first


if __name__ == "__main__" and PAGE.exists():
    asyncio.run(main())
