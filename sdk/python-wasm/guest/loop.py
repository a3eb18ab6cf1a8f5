"""The event loop of ``asyncio``: timers and nothing else, since there is nothing else to wait for."""

import asyncio
from asyncio.base_events import BaseEventLoop
from errno import ENOTSUP
from time import sleep

from .absent import NETWORK, THREADS, Stuck


class _Clock:
    """Stands where other loops have a selector of sockets."""

    def select(self, timeout):
        if timeout is None:
            raise Stuck("the tool waits for what never comes: no task can go on and no timer is set")
        if timeout > 0:
            sleep(timeout)
        return ()


class Loop(BaseEventLoop):
    """An event loop that sleeps until the next timer."""

    def __init__(self):
        super().__init__()
        self._selector = _Clock()

    def run_in_executor(self, *args):
        raise RuntimeError(THREADS)

    async def getaddrinfo(self, *args, **kwargs):
        raise OSError(ENOTSUP, NETWORK)

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass  # there is no other thread that could wake this one


class _Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = Loop


def install():
    """Make the loop that of ``asyncio.run``."""
    asyncio.set_event_loop_policy(_Policy())


def finish(value, run=asyncio.run):
    """Wait for what an async function returned."""

    async def wait():
        return await value

    return run(wait())
