"""Tests of canceled tasks, which have no counterpart without asyncio."""

from __future__ import annotations

import asyncio
from typing import List, Optional

from tests._async.service import ServiceCase


class Cancel(ServiceCase):
    async def test_canceled_task_cancels_its_run(self) -> None:
        async def stream() -> None:
            async with self.runtime.stream_run("chatty", user_id=self.user) as run:
                async for _ in run:
                    begun.set()

        begun = asyncio.Event()
        task = asyncio.create_task(stream())
        await begun.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        codes: List[Optional[str]] = []
        while not codes:  # the ledger entry is written in the background
            codes = [entry.code async for entry in self.operator.ledger.all(user_id=self.user)]
        self.assertEqual(codes, ["cancelled"])
