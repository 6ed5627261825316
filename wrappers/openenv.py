"""Games as environments of OpenEnv (https://github.com/huggingface/OpenEnv), with a seat for every player.

    uvicorn.run(app("kuhn"), port=8000)  # the server

    with TextClient(base_url="http://127.0.0.1:8000").sync() as client:
        episode = play(client, lambda seen: '{"action_type": "bet"}', seed=1, opponents="zoo:kuhn", seat="player_1")

The page ``docs/text_episodes.md`` describes the convention for seats. Needs the extra ``openenv``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from openenv.core import EnvClient, SyncEnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, ConcurrencyConfig, EnvironmentMetadata, Observation, State
from pydantic import Field
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from ..envs import Game
from ..envs.core.options import whole
from ..envs.core.registry import as_game
from .agents.base import Agent
from .agents.prompt import Prompting
from .text import Opponent, TextGame, TextTurn, seated

SPLITS = MappingProxyType({"train": range(1_000_000), "test": range(1_000_000, 1_001_000)})
"""The tasks: the seeds of the episodes, by split. Those of the test are in no other split."""
LISTED = 1_000
"""The number of tasks of a split that are listed at most."""


class SeatAction(Action):
    """What a model answers for the seat that has the turn."""

    message: str = Field(description="The text of the answer, with one JSON object that has an action_type")


class SeatObservation(Observation):
    """What the seat that has the turn is asked, and what the last message brought. `reward` is that of the client's
    seat; if it plays several, of the seat that acted."""

    seat: str | None = Field(None, description="The seat whose message is next; after the end, the one that acted last")
    role: str | None = Field(None, description="The role of this seat in the episode, if the game has roles")
    seats: list[str] = Field([], description="The seats that the client plays")
    acted: str | None = Field(None, description="The seat whose message this answers; null after reset")
    prompt: list[dict[str, str]] = Field([], description="The conversation that asks for the message; [] after the end")
    rewards: dict[str, float] = Field({}, description="What every seat has gained since the last observation")
    returns: dict[str, float] = Field({}, description="The sums of these rewards in the episode")
    refused: str | None = Field(None, description="Why the message was refused; null if it was played")
    replaced: bool = Field(False, description="Whether the game's safe action was played in its place")
    decisions: dict[str, list[float]] = Field({}, description="After the end: the rewards of every seat's messages")


class SeatState(State):
    """What is public about a session."""

    game: str = Field("", description="The id of the game")
    turn: str | None = Field(None, description="The seat that has the turn; null if no episode runs")
    seats: list[str] = Field([], description="The seats that the client plays")
    opponents: dict[str, str] = Field({}, description="Who plays the other seats")
    faults: dict[str, dict[str, int]] = Field({}, description="The refused messages of every seat by fault")


class TextEnvironment(Environment[SeatAction, SeatObservation, SeatState]):
    """One table of a session: a `TextGame` in OpenEnv's form.

    A client names bots, ``"random"``, policies of the zoo, ``"self"`` and `players`; it names no files.

    Args:
        game: the game with its options.
        players: further opponents by name: each makes a policy or an agent for one table.
        settings: ``prompting``, ``retries`` and ``penalty`` of the `TextGame`.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self, game: Game, players: Mapping[str, Callable[[], Opponent]] = MappingProxyType({}), **settings: Any
    ) -> None:
        super().__init__()
        self.game = game
        self._players = players
        self._new_table = partial(TextGame, game, **settings)
        self._table: TextGame | None = None
        self._turn: TextTurn | None = None
        self._names: dict[str, str] = {}  # the opponents of the episode
        self._state = SeatState(game=game.id)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        opponents: str | Mapping[str, str] = "self",
        seat: str | None = None,
        split: str | None = None,
        index: int | None = None,
        **unknown: Any,
    ) -> SeatObservation:
        """Begin an episode.

        Args:
            seed: of the episode, 0 or more; None takes entropy from the operating system.
            episode_id: a name for the episode, which `state` repeats.
            opponents: who plays every seat but `seat`, or who plays which seat.
            seat: the client's seat; None: the first one that `opponents` leaves free.
            split: with `index`: a task in place of a seed.
            index: the number of the task.
            unknown: nothing else.

        Raises:
            ValueError: for what cannot be; the episode that runs goes on.
        """
        if unknown:
            raise ValueError(f"reset() takes no {', '.join(map(repr, unknown))}")
        if (index is not None and split is None) or (seed is not None and split is not None):
            raise ValueError(f"seed={seed!r}, split={split!r}, index={index!r}: give a seed, or a split and an index")
        if split is not None:
            seed = self.get_task(split, 0 if index is None else index)["seed"]
        if seed is not None:
            seed = whole("seed", seed, 0)
        names = seated(self.game, opponents, seat)
        made = {agent: self._opponent(name) for agent, name in names.items()}
        table = self._table
        if table is None or names != self._names or any(isinstance(one, Agent) for one in made.values()):
            table = self._new_table(opponents=made)
        self._turn = table.reset(seed)
        self._table, self._names = table, {agent: str(name) for agent, name in names.items()}
        own = [agent for agent in self.game.agents if agent not in names]
        self._state = SeatState(episode_id=episode_id, game=self.game.id, seats=own, opponents=self._names)
        return self._observed(self._turn, None)

    def step(self, action: SeatAction, timeout_s: float | None = None, **options: Any) -> SeatObservation:
        """Play a message for the seat that has the turn. After the end, and before `reset`, nothing is played."""
        if self._table is None or self._turn is None:
            return SeatObservation(done=True, refused="no episode runs: reset first")
        self._state.step_count += 1
        acted = self._turn.agent
        if self._turn.done:
            over = self._observed(self._turn, acted)
            over.reward, over.rewards = 0.0, dict.fromkeys(over.rewards, 0.0)
            over.refused = "the episode is over: reset first"
            return over
        self._turn = self._table.step(action.message)
        return self._observed(self._turn, acted)

    async def reset_async(self, *args: Any, **options: Any) -> SeatObservation:
        """Begin an episode; see `reset`."""
        return await asyncio.to_thread(self.reset, *args, **options)

    async def step_async(self, action: SeatAction, timeout_s: float | None = None, **options: Any) -> SeatObservation:
        """Play a message; see `step`. Only a table with agents, which may be slow, takes a thread for it."""
        if self._table is not None and any(isinstance(one, Agent) for one in self._table.opponents.values()):
            return await asyncio.to_thread(self.step, action)
        return self.step(action)

    @property
    def state(self) -> SeatState:
        """What is public about the session."""
        if self._table is not None and self._turn is not None:
            self._state.turn = None if self._turn.done else self._turn.agent
            counts = ((agent, count) for agent, count in self._table.faults.items() if count)
            self._state.faults = {agent: {str(kind): n for kind, n in count.items()} for agent, count in counts}
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Return the name of the game and of its seats."""
        words = f"{self.game.id} as text, with the seats {', '.join(self.game.agents)}"
        return EnvironmentMetadata(name=self.game.id, description=words)

    def list_splits(self) -> list[str]:
        """Return the names of the splits."""
        return list(SPLITS)

    def num_tasks(self, split: str) -> int:
        """Return the number of tasks of a split."""
        return len(_seeds(split))

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Return a task: an episode by its seed.

        Raises:
            IndexError: if there is no such task. It is no ValueError, as OpenEnv expects.
        """
        seeds = _seeds(split)
        if not isinstance(index, int) or not 0 <= index < len(seeds):
            raise IndexError(f"index={index!r}: the split {split!r} has the tasks 0 to {len(seeds) - 1}")
        return {"id": f"{split}-{index}", "index": index, "seed": seeds[index]}

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        """Return at most `LISTED` tasks of a slice."""
        indices = range(*slice(start, stop).indices(self.num_tasks(split)))
        return [self.get_task(split, index) for index in indices[:LISTED]]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """Return the first tasks of a split, `LISTED` at most."""
        return self.get_task_range(split)

    @cached_property
    def mcp_server(self) -> Any:
        """The session as tools of the Model Context Protocol: ``begin`` and ``answer``."""
        from fastmcp import FastMCP

        server = FastMCP(self.game.id)

        def begin(
            seed: int | None = None, opponents: str | dict[str, str] = "self", seat: str | None = None
        ) -> dict[str, Any]:
            """Begin an episode and return the first observation, with the prompt of the seat that has the turn."""
            seen: dict[str, Any] = self.reset(seed=seed, opponents=opponents, seat=seat).model_dump()
            return seen

        def answer(message: str) -> dict[str, Any]:
            """Play a message for the seat that has the turn, and return the next observation."""
            seen: dict[str, Any] = self.step(SeatAction(message=message)).model_dump()
            return seen

        for tool in (begin, answer):
            server.tool(tool)
        return server

    def _opponent(self, name: Opponent) -> Opponent:
        if isinstance(name, str) and name in self._players:
            return self._players[name]()
        if isinstance(name, str) and (name in self.game.bots or name == "random" or name.startswith("zoo:")):
            return name
        named = ["self", "random", *self.game.bots, *self._players, "zoo:NAME"]
        raise ValueError(f"{name!r} is no opponent here: {', '.join(named)}")

    def _observed(self, turn: TextTurn, acted: str | None) -> SeatObservation:
        table, seats = self._table, self._state.seats
        assert table is not None
        whose = seats[0] if len(seats) == 1 else acted
        decisions = {agent: [one.reward for one in table.transcripts[agent].exchanges] for agent in seats}
        return SeatObservation(
            done=turn.done,
            reward=None if whose is None else turn.rewards[whose],
            seat=turn.agent,
            role=turn.role,
            seats=seats,
            acted=acted,
            prompt=[dict(message) for message in turn.prompt],
            rewards=dict(turn.rewards),
            returns=dict(turn.returns),
            refused=turn.refused,
            replaced=turn.info["replaced"],
            decisions=decisions if turn.done else {},
        )


def _seeds(split: str) -> range:
    if split not in SPLITS:
        raise ValueError(f"split={split!r}: the splits are {', '.join(SPLITS)}")
    return SPLITS[split]


def app(
    game: str | Game,
    *,
    sessions: int = 64,
    idle: float = 900.0,
    players: Mapping[str, Callable[[], Opponent]] = MappingProxyType({}),
    prompting: Prompting | None = None,
    retries: int = 1,
    penalty: float = -0.1,
    **options: Any,
) -> FastAPI:
    """Return the server of a game, an application for uvicorn: ``/ws``, ``/reset``, ``/step``, ``/state``, ``/schema``,
    ``/mcp`` and the tasks. Pages of other origins are not served.

    Args:
        game: the game with its options, or its name.
        sessions: the number of sessions at the same time.
        idle: the seconds after which a session of ``/mcp`` that nobody uses ends.
        players: see `TextEnvironment`.
        prompting: how a model is asked; None: with the rules in words.
        retries: see `TextGame`.
        penalty: see `TextGame`.
        options: the game's, where it is named.

    Raises:
        ValueError: for an unknown game or option.
    """
    game = as_game(game, options)
    prompting = prompting or Prompting(game=game)  # its texts are made once for all sessions
    settings: dict[str, Any] = {"prompting": prompting, "retries": retries, "penalty": penalty}
    table = partial(TextEnvironment, game, players, **settings)
    limits = ConcurrencyConfig(max_concurrent_envs=sessions, session_timeout=idle)
    classes = SeatAction, SeatObservation
    server = create_app(table, *classes, env_name=game.id, concurrency_config=limits, state_cls=SeatState)
    server.add_middleware(_SameOrigin)

    async def wrong(request: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, status_code=422)

    for error in (ValueError, IndexError):
        server.add_exception_handler(error, wrong)
    return server


class _SameOrigin:
    """Refuses requests of pages that another host serves: browsers name it, programs name none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(raw=scope.get("headers", []))
        origin, answer = headers.get("origin"), self._app
        if origin is not None and urlsplit(origin).netloc != headers.get("host"):
            words = f"the origin {origin[:200]} is not served: open a page of this server, or send no Origin"
            refusal = JSONResponse({"detail": words}, 403)
            answer = refusal if scope["type"] == "http" else WebSocketClose(1008, words[:100])
        await answer(scope, receive, send)


class TextClient(EnvClient[SeatAction, SeatObservation, SeatState]):
    """A session at a server of `app`; see OpenEnv's `EnvClient`."""

    def _step_payload(self, action: SeatAction) -> dict[str, Any]:
        return {"message": action.message}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[SeatObservation]:
        outer = {name: payload.get(name) for name in ("done", "reward")}
        return StepResult(observation=SeatObservation(**payload["observation"], **outer), **outer)

    def _parse_state(self, payload: dict[str, Any]) -> SeatState:
        return SeatState(**payload)


@dataclass
class SeatEpisode:
    """An episode as a trainer takes it.

    Attributes:
        decisions: the prompt, the message and the reward of every decision, by the client's seat. A reward is all that
            the seat gains from this decision to its next one, or to the end.
        roles: the role of every seat of the client that was asked, if the game has roles.
        returns: of all seats.
    """

    decisions: dict[str, list[tuple[list[dict[str, str]], str, float]]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    returns: dict[str, float] = field(default_factory=dict)


def play(
    client: SyncEnvClient[SeatAction, SeatObservation, SeatState],
    model: Callable[[SeatObservation], str],
    **options: Any,
) -> SeatEpisode:
    """Play an episode: the reference client of the convention for seats.

    Args:
        client: a session.
        model: called with an observation, it returns the message of ``observation.seat``.
        options: of `TextEnvironment.reset`, such as seed, opponents and seat.
    """
    seen = client.reset(**options).observation
    exchanges: dict[str, list[tuple[list[dict[str, str]], str]]] = {seat: [] for seat in seen.seats}
    episode = SeatEpisode()
    while not seen.done:
        message = model(seen)
        exchanges[seen.seat].append((seen.prompt, message))
        if seen.role is not None:
            episode.roles[seen.seat] = seen.role
        seen = client.step(SeatAction(message=message)).observation
    for seat, turns in exchanges.items():
        credited = zip(turns, seen.decisions[seat], strict=True)
        episode.decisions[seat] = [(prompt, message, reward) for (prompt, message), reward in credited]
    episode.returns = seen.returns
    return episode
