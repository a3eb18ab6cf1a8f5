"""Producers and consumers by a bounded queue, with a semaphore, an event and a lock."""

import asyncio


async def produce(queue, items):
    for item in items:
        await queue.put(item)
    await queue.put(None)


async def consume(queue, found, gate):
    while (item := await queue.get()) is not None:
        async with gate:
            await asyncio.sleep(0)
            found.append(item * item)
    return len(found)


async def main():
    queue, gate, found, started = asyncio.Queue(2), asyncio.Semaphore(1), [], asyncio.Event()

    async def wait():
        await started.wait()
        return "started"

    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(wait())
        group.create_task(produce(queue, range(7)))
        counted = group.create_task(consume(queue, found, gate))
        started.set()
    lock = asyncio.Lock()
    async with lock:
        held = lock.locked()
    return [found, counted.result(), waiting.result(), held, lock.locked(), queue.empty()]
