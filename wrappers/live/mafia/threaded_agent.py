"""A foreign agent in its own thread: it cannot block the host's event loop."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from typing import Any

from ...logs.log_text import describe_error as described
from .agent_policy import AgentPolicy
from .messages import AgentConfig, GameState, NightAction, PrivateInfo, PublicInfo, VoteAction, encode, read

logger = logging.getLogger(__name__)


class ThreadedAgent:
    """An `AgentPolicy` that runs another one in its own thread and event loop, with copies of the arguments.

    A cancelled call may run there forever; until it ends, further calls of the agent fail at once.

    Args:
        agent: the foreign agent. It may block, loop, or ignore cancellation.
    """

    def __init__(self, agent: AgentPolicy) -> None:
        self._agent = agent
        self.id, self.name = agent.id, agent.name
        self._role: str | None = agent.role
        self.config: AgentConfig = agent.config
        self._busy = False
        self._task: asyncio.Task[Any] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True, name=f"agent {self.id}")
        self._thread.start()

    @property
    def role(self) -> str | None:
        """The role that was set last; the agent's own attribute is set in its thread."""
        return self._role

    @role.setter
    def role(self, role: str | None) -> None:
        self._role = role
        self._loop.call_soon_threadsafe(self._assign, role)

    def _assign(self, role: str | None) -> None:
        try:
            self._agent.role = role
        except Exception as error:  # the calls contain it too
            logger.warning("%s takes no role: %s", self.id, described(error))

    def stop(self) -> None:
        """Stop the thread after cancelling its calls."""
        self._loop.call_soon_threadsafe(lambda: self._loop.create_task(self._end()))

    async def _end(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        if running:  # a call that ignores cancellation keeps the daemon thread
            await asyncio.wait(running)
        self._loop.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        while True:
            try:
                self._loop.run_forever()
                self._loop.run_until_complete(self._loop.shutdown_asyncgens())
                self._loop.close()
                return
            except BaseException:  # such as SystemExit: that call has failed, and the loop continues
                continue

    async def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run a coroutine in the thread and return its result.

        Raises:
            RuntimeError: if an earlier call has not ended, or the agent cancelled this one.
            Exception: any error of the agent.
        """
        if self._busy:
            work.close()
            raise RuntimeError("it is still busy with an earlier call")
        here = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = here.create_future()

        def begin() -> None:
            self._task = self._loop.create_task(work)
            self._task.add_done_callback(ended)

        def ended(task: asyncio.Task[Any]) -> None:
            with contextlib.suppress(RuntimeError):  # the host's loop is closed
                here.call_soon_threadsafe(deliver, task)

        def deliver(task: asyncio.Task[Any]) -> None:
            self._busy = False
            error = RuntimeError("it cancelled itself") if task.cancelled() else task.exception()
            if answer.done():
                return
            if isinstance(error, Exception):
                answer.set_exception(error)
            elif error is not None:  # an agent's SystemExit must not end the host
                answer.set_exception(RuntimeError(f"it raised {type(error).__name__}"))
            else:
                answer.set_result(task.result())

        self._busy = True
        self._loop.call_soon_threadsafe(begin)
        try:
            return await answer
        except asyncio.CancelledError:
            self._loop.call_soon_threadsafe(self._cancel)
            raise

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _stream(self, method: str, context: GameState, info: PrivateInfo | PublicInfo) -> AsyncIterator[str]:
        stream: AsyncIterator[str] = await self._call(self._begin(method, *_copies(context, info)))
        try:
            while (chunk := await self._call(_next(stream))) is not None:
                yield chunk
        finally:
            if not self._busy:
                await self._call(_close(stream))

    async def _begin(self, method: str, context: GameState, info: Any) -> Any:
        return aiter(getattr(self._agent, method)(context, info))

    def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("think", context, private_info)

    def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
        """See `AgentPolicy`."""
        return self._stream("say", context, public_info)

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """See `AgentPolicy`."""
        answer: NightAction | None = await self._call(self._ask("night_action", *_copies(context, private_info)))
        return answer

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """See `AgentPolicy`."""
        answer: VoteAction = await self._call(self._ask("vote", *_copies(context, public_info)))
        return answer

    async def _ask(self, method: str, context: GameState, info: Any) -> Any:
        return await getattr(self._agent, method)(context, info)


def _copies(context: GameState, info: Any) -> tuple[GameState, Any]:
    return read(encode(context), GameState), read(encode(info), type(info))


async def _next(stream: AsyncIterator[str]) -> str | None:
    return await anext(stream, None)


async def _close(stream: AsyncIterator[str]) -> None:
    if isinstance(stream, AsyncGenerator):
        await stream.aclose()
