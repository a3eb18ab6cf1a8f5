"""Asynchronous generators, comprehensions and context managers."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

log = []


@asynccontextmanager
async def opened(name):
    log.append(f"open {name}")
    await asyncio.sleep(0)
    try:
        yield name.upper()
    finally:
        log.append(f"close {name}")


async def countdown(n):
    try:
        while n:
            await asyncio.sleep(0)
            yield n
            n -= 1
    finally:
        log.append("counted")


async def main():
    squares = [n * n async for n in countdown(4) if n % 2 == 0]
    async with AsyncExitStack() as stack:
        names = [await stack.enter_async_context(opened(name)) for name in ("x", "y")]
    counting = countdown(10)
    first = await anext(counting)
    await counting.aclose()
    end = await anext(counting, "end")
    return [squares, names, first, end, log]
