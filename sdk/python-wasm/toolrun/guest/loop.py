"""The event loop of ``asyncio``. The loop supports only timers, because a tool has nothing else to wait for."""

import asyncio
from asyncio.base_events import BaseEventLoop
from errno import ENOTSUP
from time import sleep

from .unsupported import NETWORK, THREADS, Stuck


class _TimerSelector:
    """A replacement for the selector with which other event loops wait for sockets."""

    def select(self, timeout):
        if timeout is None:
            raise Stuck("the tool waits forever: no task can continue and no timer is set")
        if timeout > 0:
            sleep(timeout)
        return ()


class Loop(BaseEventLoop):
    """An event loop that sleeps until the next timer."""

    def __init__(self):
        super().__init__()
        self._selector = _TimerSelector()

    def run_in_executor(self, *args):
        raise RuntimeError(THREADS)

    async def getaddrinfo(self, *args, **kwargs):
        raise OSError(ENOTSUP, NETWORK)

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass  # no other thread exists that could wake this thread


class _Policy(asyncio.DefaultEventLoopPolicy):
    _loop_factory = Loop


def install():
    """Make ``asyncio.run`` use the loop."""
    asyncio.set_event_loop_policy(_Policy())


def finish(value, run=asyncio.run):
    """Run an awaitable to its end and return its result."""

    async def wait():
        return await value

    return run(wait())
