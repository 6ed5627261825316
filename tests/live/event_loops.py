"""The event loop of tests with the mark `virtual_time`, whose clock jumps to the next timer: hours take no time."""

import asyncio
import selectors
from contextlib import contextmanager
from threading import Thread


class VirtualLoop(asyncio.SelectorEventLoop):
    """Waits for nothing: where it would sleep, its clock goes on by as much."""

    def __init__(self):
        self.now = 0.0
        super().__init__(_Selector(self))

    def time(self):
        return self.now


def run(main, within=120):
    """Run a coroutine in an event loop of its own; it may take so many seconds, compiling included."""
    return asyncio.run(asyncio.wait_for(main, within))


async def until(condition, within=60):
    """Wait until ``condition()`` holds; TimeoutError after so many seconds."""
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.01)


@contextmanager
def in_a_thread(context):
    """Enter an async context in the loop of another thread; yield its value."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        value = asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(60)
        try:
            yield value
        finally:
            asyncio.run_coroutine_threadsafe(context.__aexit__(None, None, None), loop).result(60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
        loop.close()


class _Selector(selectors.DefaultSelector):
    def __init__(self, loop):
        super().__init__()
        self.loop = loop

    def select(self, timeout=None):
        found = super().select(0)
        if not found and timeout is None:
            raise RuntimeError("the test waits for ever")
        if not found:
            self.loop.now += max(timeout, 0.0)
        return found


class FakeWorker:
    """Runs calls on the loop, each as many (virtual) seconds long as its agent says by `seconds`."""

    def __init__(self):
        self.seconds = 0.0
        self.busy_until = 0.0
        self.stopped = False
        self._given_up = False

    @property
    def stuck(self):
        return self._given_up and asyncio.get_running_loop().time() < self.busy_until

    async def call(self, function, *args):
        loop = asyncio.get_running_loop()
        begins = max(loop.time(), self.busy_until)
        self.busy_until, self._given_up = begins + self.seconds, False
        try:
            await asyncio.sleep(self.busy_until - loop.time())
        except asyncio.CancelledError:
            self._given_up = True
            raise
        try:
            return function(*args)
        except BaseException as error:
            raise RuntimeError(f"the agent raised {type(error).__name__}: {error}") from error

    def stop(self):
        self.stopped = True
