"""Deadlines, cancellation and shields."""

import asyncio


async def forever(log):
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        log.append("cancelled")
        raise


async def main():
    log = []
    try:
        async with asyncio.timeout(0.001):
            await forever(log)
    except TimeoutError:
        log.append("timeout")
    task = asyncio.create_task(forever(log))
    await asyncio.sleep(0)
    task.cancel("enough")
    try:
        await task
    except asyncio.CancelledError as error:
        log.append(str(error))
    inner = asyncio.ensure_future(asyncio.sleep(0, "kept"))
    outer = asyncio.shield(inner)
    outer.cancel()
    log.append(await inner)
    done, pending = await asyncio.wait(
        [asyncio.create_task(asyncio.sleep(0, n)) for n in range(2)] + [asyncio.create_task(forever(log))],
        return_when=asyncio.FIRST_COMPLETED,
    )
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return [log, len(done), len(pending), task.cancelled()]
