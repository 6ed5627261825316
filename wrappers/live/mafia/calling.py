"""Calls of `AgentPolicy` objects to a deadline; those of others apart, as they may block the event loop."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from ...logs.match_log import describe_error
from ..common.clock import Deadline
from .agent_policy import AgentPolicy
from .messages import GameState, Method, PrivateInfo, PublicInfo, encode, read

Take = Callable[[Any], Awaitable[bool]]
"""Takes a chunk of a stream; returns whether the stream goes on."""

CLOSING = 1.0
"""Seconds for an agent to close a stream."""


async def ask(
    agent: Any,
    method: Method,
    arguments: tuple[GameState, PrivateInfo | PublicInfo],
    *,
    role: str | None,
    deadline: Deadline,
    take: Take,
) -> Any:
    """Call an agent; return its choice, or pass the chunks of its stream to `take`.

    Args:
        agent: an `AgentPolicy`, or one in `Apart`.
        method: the method.
        arguments: its arguments.
        role: the role that it is given before; None: unknown.
        deadline: the end of its time.
        take: takes the chunks of a stream.

    Raises:
        TimeoutError: at the deadline.
        RuntimeError: if the agent raises an error, with its text.
    """
    call = agent.call if isinstance(agent, Apart) else _called
    try:
        async with deadline.limit():
            return await call(agent, method, arguments, role, deadline, take)
    except TimeoutError:
        raise
    except Exception as error:
        raise RuntimeError(describe_error(error)) from error
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():  # the call is given up
            raise
        raise RuntimeError("it cancelled itself") from None


async def _called(
    agent: Any, method: Method, arguments: tuple[Any, Any], role: str | None, deadline: Deadline, take: Take
) -> Any:
    with contextlib.suppress(Exception):  # it plays on without
        if role is not None and agent.role != role:
            agent.role = role
    answer = getattr(agent, "night_action" if method == "nightAction" else method)(*arguments)
    if method in ("nightAction", "vote"):
        return await answer
    stream = aiter(answer)
    try:
        async for chunk in stream:
            if not deadline.left:  # it goes on although it was cancelled
                raise TimeoutError
            if chunk == "":
                await asyncio.sleep(0)  # endless empty chunks must not block the event loop
            elif not await take(chunk):
                return None
    finally:
        aclose = getattr(stream, "aclose", None)
        if aclose is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSING):
                    await aclose()
    return None


def called(agent: AgentPolicy) -> Any:
    """Return an agent as it is called: itself if its attribute ``blocks`` is False, else `Apart`."""
    return agent if getattr(agent, "blocks", True) is False else Apart(agent)


class Apart:
    """A foreign agent in a thread and event loop of its own, which gets copies of the arguments.

    A call that is given up may run there for ever; until it ends, further calls fail at once.

    Args:
        agent: the agent. It may block, loop, or ignore cancellation.
    """

    def __init__(self, agent: AgentPolicy) -> None:
        self.agent = agent
        self._idle = asyncio.Event()
        self._idle.set()
        self._over = asyncio.Event()
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(BaseException), self._runner:  # a task of the agent may raise SystemExit
            self._runner.run(self._over.wait())

    def stop(self) -> None:
        """End the thread, after cancelling what runs there."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._over.set)

    async def call(
        self, _: Any, method: Method, arguments: tuple[Any, Any], role: str | None, deadline: Deadline, take: Take
    ) -> Any:
        """Call the agent in its thread (see `ask`), and `take` in this one."""
        try:  # one that was given up may be about to end
            async with asyncio.timeout(min(CLOSING, deadline.left / 2)):
                await self._idle.wait()
        except TimeoutError:
            raise RuntimeError("it is still busy with an earlier call") from None
        here = asyncio.get_running_loop()
        context, info = (read(encode(one), type(one)) for one in arguments)

        async def take_here(chunk: Any) -> bool:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(take(chunk), here))  # type: ignore[arg-type]

        async def there() -> tuple[Any, BaseException | None]:
            try:
                return await _called(self.agent, method, (context, info), role, deadline, take_here), None
            except BaseException as error:  # such as SystemExit, which must not end the thread
                return None, error
            finally:
                with contextlib.suppress(RuntimeError):  # our loop is closed
                    here.call_soon_threadsafe(self._idle.set)

        self._idle.clear()
        answer, error = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there(), self._loop))
        if isinstance(error, Exception | asyncio.CancelledError):
            raise error
        if error is not None:
            raise RuntimeError(f"it raised {type(error).__name__}")
        return answer
