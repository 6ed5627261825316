"""Our arena: any Parlour game between policies, bots, objects with `act` and agents behind HTTP.

`ArenaHostSession` decides everything that is played; here are clocks, sockets and the round robin. An agent that raises,
hangs, talks without end, answers rubbish or vanishes loses what the limits say, and the others play on.
"""

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from itertools import combinations
from typing import Any, Self

import aiohttp
import msgspec
import numpy as np
from aiohttp import web

from ....envs.core import turn_state as ts
from ....envs.core.aec import GameEnv
from ....envs.core.game import Game
from ...agents.policy import PolicyAgent
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog
from ..common.worker import described
from .agent import ArenaAgent, listening, unreadable
from .entrants import Clock, Entrant, HttpEntrant, LocalEntrant, PolicyEntrant
from .host_session import ArenaHostSession, ArenaLimits, Matches
from .messages import ANSWER_WITHIN, AgentId, MatchEnd, MatchStart, Register, words
from .results import MatchResult, assess, standings

logger = logging.getLogger(__name__)

MOST_AGENTS = 1_000
"""Agents that may register."""


class ArenaHost:
    """An arena for one game. Use it as an async context manager, or call `start` and `stop`.

    >>> async with Host(game, log=log) as host:      # doctest: +SKIP
    ...     host.add(ArenaAgent("ours", PolicyAgent(game, policy)))
    ...     host.add(their_agent)
    ...     await host.wait_for(3)                   # an agent of others, by POST /api/register
    ...     await host.tournament(rounds=10)
    ...     print(standings(host.results))

    Args:
        game: what is played.
        limits: what agents may do, and what their mistakes cost.
        timeout: seconds for a turn, and for each of the two hooks.
        concurrent: matches played side by side.
        seed: makes the deals reproducible; None takes the operating system's entropy.
        address, port: where agents register and results are read; port 0 takes a free one.
        access_token: what ``POST /api/register`` must bear; None lets everybody in.
        log: gets every match when it is over, as lines that replay.
        on_result: is told every result.

    Attributes:
        url: base of the REST calls, once started.
        matches: the running matches, where answers from outside go.
        results: of the matches that are over, in order.
    """

    def __init__(
        self,
        game: Game,
        *,
        limits: ArenaLimits | None = None,
        timeout: float = ANSWER_WITHIN,
        concurrent: int = 8,
        seed: int | None = None,
        address: str = "127.0.0.1",
        port: int = 0,
        access_token: str | None = None,
        log: MatchLog | None = None,
        on_result: Callable[[MatchResult], None] | None = None,
    ) -> None:
        if not 0 < timeout < 2**30 or concurrent < 1:
            raise ValueError(f"timeout={timeout}, concurrent={concurrent}: need some seconds, and at least 1 match")
        self.game = game
        self.url = ""
        self.matches = Matches()
        self.results: list[MatchResult] = []
        self._limits = limits or ArenaLimits()
        self._timeout = timeout
        self._concurrent = concurrent
        self._seeds = np.random.SeedSequence(seed)
        self._address, self._port = address, port
        self._access_token = access_token
        self._book = SafeMatchLog(log)
        self._on_result = on_result or (lambda result: None)
        self._words = words(game)
        self._entrants: dict[str, Entrant] = {}
        self._came = asyncio.Event()
        self._spare: list[GameEnv] = []
        self._name = secrets.token_hex(4)  # ids differ from host to host
        self._count = 0
        self._session: aiohttp.ClientSession | None = None
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen.

        Raises:
            OSError: if the port is taken.
        """
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None),  # every call has a clock of its own
            headers={"Accept-Encoding": "identity"},
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        app = web.Application(client_max_size=16_384)
        app.add_routes(
            [
                web.post("/api/register", self._register),
                web.get("/api/agents", self._agents),
                web.get("/api/results", self._results),
                web.get("/api/matches/{match_id}", self._match),
                web.get("/health", self._health),
            ]
        )
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await self._runner.setup()
        await web.TCPSite(self._runner, self._address, self._port).start()
        self.url = listening(self._runner)

    async def stop(self) -> None:
        """Stop listening and let the agents go."""
        for entrant in self._entrants.values():
            entrant.close()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    # Agents.

    @property
    def agent_ids(self) -> list[str]:
        """Who plays here, in the order of coming."""
        return list(self._entrants)

    def add(self, agent: Any) -> str:
        """Take in an object with `agent_id` and `act(state)` (see `LocalEntrant`; ours: `ArenaAgent`).

        Returns:
            its id.

        Raises:
            ValueError: if it is no agent, or its id is taken, not 1 to 64 printable characters, or a word of the game.
        """
        if isinstance(agent, ArenaAgent) and isinstance(agent.agent, PolicyAgent):
            return self._enter(PolicyEntrant(agent.agent_id, agent.agent))
        return self._enter(LocalEntrant(agent))

    def add_remote(self, agent_id: str, endpoint: str) -> str:
        """Take in an agent behind HTTP; raises as `add` does."""
        register = Register.from_dict({"agent_id": agent_id, "endpoint": endpoint})
        return self._enter(HttpEntrant(agent_id, register.endpoint, self._connections))

    async def wait_for(self, count: int) -> None:
        """Wait until at least `count` agents are here."""
        while len(self._entrants) < count:
            self._came.clear()
            await self._came.wait()

    def _enter(self, entrant: Entrant) -> str:
        name = msgspec.convert(entrant.agent_id, AgentId)
        if name in self._entrants:
            raise ValueError(f"an agent is called {name!r} already")
        if name in self._words:
            raise ValueError(f"{name!r} is a word of {self.game.name}: an agent needs another name")
        self._entrants[name] = entrant
        self._came.set()
        return name

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the host is not started")
        return self._session

    # Matches.

    async def play(self, agent_ids: Sequence[str], seed: int | None = None) -> MatchResult:
        """Play one match and return what came of it.

        Raises:
            ValueError: if an agent is not here, or the number does not fit the game.
        """
        unknown = [name for name in agent_ids if name not in self._entrants]
        if unknown:
            raise ValueError(f"no agent is called {unknown[0]!r}; here are {', '.join(self._entrants) or 'none'}")
        async with self._table(agent_ids, seed) as session:
            players = [self._entrants[name] for name in session.agent_ids]
            players = [one for one in players if not isinstance(one, PolicyEntrant)]
            start = MatchStart(session.match_id, self.game.id, session.agent_ids)
            await self._tell(session.match_id, [one.start(start, self._clock()) for one in players])
            await self._turns(session)
            result = self._conclude(session)
            end = MatchEnd(session.match_id, session.outcome)
            await self._tell(session.match_id, [one.end(end, self._clock()) for one in players])
        return result

    async def tournament(self, rounds: int = 1, agent_ids: Sequence[str] | None = None) -> list[MatchResult]:
        """Play a round robin: in every round each group of agents that fills the table meets, once in each rotation.

        Every match is dealt anew, so that nobody learns in one what others hold in the next.

        Args:
            rounds: how many.
            agent_ids: who; None: all that are here now.

        Returns:
            the results, in the order in which the matches ended.

        Raises:
            ValueError: if there are too few agents for the game, or no rounds.
        """
        names = list(self._entrants if agent_ids is None else agent_ids)
        if rounds < 1 or len(names) < self.game.seats:
            raise ValueError(f"rounds={rounds}, {len(names)} agents: need 1 and {self.game.seats} ({self.game.id})")
        schedule = _schedule(names, self.game.seats, rounds)
        before = len(self.results)
        async with asyncio.TaskGroup() as group:
            for _ in range(self._concurrent):
                group.create_task(self._work(schedule))
        return self.results[before:]

    async def _work(self, schedule: Iterator[tuple[str, ...]]) -> None:
        for table in schedule:
            (seed,) = self._seeds.spawn(1)
            await self.play(table, int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1)))
            await asyncio.sleep(0)  # policies of ours never wait for anything; others must get their turn

    @asynccontextmanager
    async def _table(self, agent_ids: Sequence[str], seed: int | None) -> AsyncIterator[ArenaHostSession]:
        env = self._spare.pop() if self._spare else GameEnv(self.game, "flat")
        self._count += 1
        session = ArenaHostSession(
            env, agent_ids, seed=seed, match_id=f"{self._name}-{self._count}", limits=self._limits
        )
        self.matches.add(session)
        try:
            yield session
        finally:
            self.matches.close(session.match_id)
            self._spare.append(env)

    async def _turns(self, session: ArenaHostSession) -> None:
        clock, actions = self._clock(), 0
        while (name := session.turn) is not None:
            if session.actions != actions:
                clock, actions = self._clock(), session.actions
                if actions % 64 == 0:
                    await asyncio.sleep(0)
            entrant = self._entrants[name]
            try:
                if isinstance(entrant, PolicyEntrant):
                    response = entrant.respond(session.seat_state(name))
                    session.act_as_seat(name, response, entrant.thoughts() if self._book else {})
                else:
                    session.act(name, await entrant.act(session.turn_state(name), clock))
            except TimeoutError:
                session.timeout(name)
            except Exception as error:  # whatever it is, it is that agent's
                session.failed(name, described(error))

    async def _tell(self, match_id: str, calls: Sequence[Coroutine[Any, Any, None]]) -> None:
        """Call the agents' hooks side by side; one that fails costs nothing."""
        for problem in await asyncio.gather(*calls, return_exceptions=True) if calls else ():
            if isinstance(problem, Exception):
                logger.info("match %s: a hook failed: %s", match_id, described(problem))

    def _conclude(self, session: ArenaHostSession) -> MatchResult:
        outcome = session.outcome or {}
        states = [session.seat_state(name) for name in session.agent_ids]
        deal, efficiency = assess(states, states[0].outcome or outcome)
        result = MatchResult(
            session.match_id,
            self.game.id,
            session.agent_ids,
            session.payoffs,
            str(outcome.get("reason")),
            session.error,
            session.actions,
            session.rejections,
            session.failures,
            session.forced,
            deal,
            efficiency,
        )
        self.results.append(result)
        self._write(session)
        self._on_result(result)
        return result

    def _write(self, session: ArenaHostSession) -> None:
        """Write a match in one piece: matches are played side by side, and a log is read line by line."""
        for event in session.events:
            self._book.write(**event)

    def _clock(self) -> Clock:
        return Clock(self._timeout)

    # REST.

    async def _register(self, request: web.Request) -> web.Response:
        if self._access_token is not None:
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(errors="surrogateescape"), self._access_token.encode()):
                return _refuse(401, "unauthorized", "registering needs Authorization: Bearer <access token>")
        try:
            body = Register.from_json(await request.read())
        except (ValueError, RecursionError) as error:
            return unreadable(error)
        known = self._entrants.get(body.agent_id)
        if not isinstance(known, HttpEntrant) or known.endpoint != body.endpoint:
            if len(self._entrants) >= MOST_AGENTS:
                return _refuse(409, "arena_full", f"{MOST_AGENTS} agents are here")
            try:
                self.add_remote(body.agent_id, body.endpoint)
            except ValueError as error:
                return _refuse(409, ts.INVALID_PAYLOAD, str(error))
            logger.info("%s registered", body.agent_id)
        return web.json_response({"ok": True, **body.to_dict()}, status=201)

    async def _agents(self, request: web.Request) -> web.Response:
        return web.json_response({"agents": self.agent_ids})

    async def _results(self, request: web.Request) -> web.Response:
        lines = [asdict(line) for line in await asyncio.to_thread(standings, list(self.results))]
        return web.json_response({"game_id": self.game.id, "matches": len(self.results), "standings": lines})

    async def _match(self, request: web.Request) -> web.Response:
        match_id = request.match_info["match_id"]
        for result in reversed(self.results):
            if result.match_id == match_id:
                return web.json_response(asdict(result))
        problem = self.matches.act(match_id, "", None)
        if problem.error == ts.MATCH_NOT_FOUND:
            return _refuse(404, ts.MATCH_NOT_FOUND, problem.error_detail or "")
        return web.json_response({"match_id": match_id, "reason": None})

    async def _health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "game_id": self.game.id, "matches": len(self.results)})


def _refuse(status: int, error: str, detail: str) -> web.Response:
    return web.json_response({"ok": False, "error": error, "error_detail": detail}, status=status)


def _schedule(names: Sequence[str], seats: int, rounds: int) -> Iterator[tuple[str, ...]]:
    for _ in range(rounds):
        for group in combinations(names, seats):
            for turn in range(seats):
                yield (*group[turn:], *group[:turn])
