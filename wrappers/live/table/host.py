"""TableHost: a server with a page and a table of any TurnState game, on one port.

`TableHostSession` makes all decisions; this module has the connections, the timers and the programs. It runs in one
event loop and never blocks on a client or a program.
"""

import asyncio
import logging
from collections.abc import Sequence
from importlib.resources import files
from itertools import count
from typing import Any

import numpy as np
from aiohttp import web

from ....envs.core.game import Game
from ....envs.core.how_to_play import how_to_play, meanings_of_words
from ....envs.core.match import Match
from ....envs.core.options import seconds
from ....envs.core.rng import streams
from ....envs.core.view import default_parts
from ....envs.render.svg import plain
from ... import replay
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog
from ..common.clock import Deadline, Outgoing, SessionTimer, TimeBanks
from ..common.connection import Connection, ConnectionLimits
from ..common.limits import Admit, admit_by_token
from ..common.match_session import MatchSession
from ..common.player import Player, Turn
from ..common.server import Server, ServerSettings, page_routes
from . import messages
from .host_session import TableDue, TableHostSession
from .messages import Error, State
from .results import (
    EndedMatches,
    OnResult,
    PlayerResult,
    TableResult,
    ignored,
    log_of,
)

PAGE = files(__package__) / "page"
"""The page's files."""
SHARED = [files(replay) / name for name in ("dom.js", "legible.js", "pictures.css")]
"""The files that pages of tables have in common with replays."""
DRAWN_BY_PAGE = ("tangram", "mafia")
"""The games whose page draws the table: people move or choose things in it."""
MESSAGE_LIMIT = 2**17
"""The most bytes of a message; a longer one is refused. Ten messages of 4,000 characters fit."""
RATE = 20.0
"""Messages per second on one connection."""
MOST_CLIENTS = 200
EPISODES = 20
"""The number of random episodes in which fields are looked at,"""
LONGEST = 1_000
"""and the most actions of each."""
NO_TOKEN = "sitting down needs the link that holds this table's key"

logger = logging.getLogger(__name__)


class TableHost(Server):
    """A table for people and programs. Use it as an async context manager, or call `start` and `stop`.

    >>> async with TableHost(game, [None, ("fair", agent)]) as host:      # doctest: +SKIP
    ...     print(host.url)

    Args:
        game: the game with its options.
        players: seat by seat, a program as (name, agent), or None for a person.
        timeout: seconds for a turn; then the game's safe action is played.
        program_timeout: seconds for a turn of a program, and of a person without a page; None: `timeout`.
        time_bank: seconds that a person has in each match for turns that take longer; from 0 up.
        seed: the seed of the deals; None takes entropy from the operating system.
        server: where it listens; people need its access token to take a seat.
        admit: who may take a seat at a table of a lobby, which gives the tokens; None: whoever has the access token.
        on_result: called with each result.
        log: the match log, which can be replayed; None: no log.

    Attributes:
        url: the URL of the page; "" before the start.
        session: the table's session.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[tuple[str, Agent] | None],
        *,
        timeout: float = 60.0,
        program_timeout: float | None = None,
        time_bank: float = 0.0,
        seed: int | None = None,
        server: ServerSettings | None = None,
        admit: Admit | None = None,
        on_result: OnResult = ignored,
        log: MatchLog | None = None,
    ) -> None:
        if not 0 < timeout < 2**30:
            raise ValueError(f"timeout={timeout}: seconds for a turn, above 0")
        seconds("time_bank", time_bank, above=False)
        super().__init__(
            server,
            check_host=True,
            connection_limits=ConnectionLimits(message=MESSAGE_LIMIT, rate=RATE),
            most_connections=MOST_CLIENTS,
        )
        self.session = self.new_session(
            game,
            [None if player is None else player[0] for player in players],
            timeout=round(1000 * timeout),
            seed=seed,
            admit=admit or admit_by_token(self.settings.access_token, NO_TOKEN),
        )
        self._agents = {seat: player[1] for seat, player in enumerate(players) if player is not None}
        self._players: dict[int, Player] = {}
        short = timeout if program_timeout is None else program_timeout
        self._timeouts = {"person": timeout, "program": short, "away": min(timeout, short)}
        self._banks = TimeBanks(time_bank)
        self._banked = 0, 0  # the match and the hand for which the banks have been filled
        self._bank = 0.0  # of the acting player, when the turn began
        self._turn: tuple[TableDue, Deadline, str] | None = None  # the pending turn, as it began, and whose it is
        self._in_lobby = admit is not None
        self._on_result = on_result
        self._ended: Any = None  # the latest match that has ended
        self._ended_log = b""
        self._files = EndedMatches()
        self._log = SafeMatchLog(log)
        self._written: tuple[Any, int] = (None, 0)  # the match, and the number of its events in the log
        self._clients: dict[int, Connection] = {}
        self._numbers = count()
        self._timer: SessionTimer[TableDue] = SessionTimer(self._ring)
        self._asking: asyncio.Task[None] | None = None

    def new_session(self, game: Game, programs: Sequence[str | None], **options: Any) -> TableHostSession:
        """Return the session of the table."""
        drawn = game.name not in DRAWN_BY_PAGE and game.renderer.picture is not plain  # fields are on the page already
        return TableHostSession(game, programs, pictures=[game.renderer.picture] if drawn else [], **options)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [
            web.get("/ws", self._websocket),
            web.get("/ended/{file}", self._ended_file),
            *page(self.session.game, lobby=self._in_lobby),
        ]

    async def opening(self) -> None:
        """Compile the rules, and warm up the programs."""
        await asyncio.to_thread(_warm_up, self.session.game)
        for seat, agent in self._agents.items():
            self._players[seat] = Player(agent, notes=True)
            await self._players[seat].warm_up(self.session.seats[seat].name or "")

    async def closing(self) -> None:
        """Stop the programs."""
        if self._asking is not None:
            self._asking.cancel()
        self._timer.stop()
        for player in self._players.values():
            player.close()

    # Connections.

    async def _websocket(self, request: web.Request) -> web.WebSocketResponse:
        return await self.upgrade(request, self._serve)

    async def _serve(self, connection: Connection) -> None:
        def refuse(code: str, detail: str) -> None:
            connection.send(messages.encode(Error(code=code, message=detail)))

        client = next(self._numbers)
        self._clients[client] = connection
        try:
            self._deliver(self.session.connect(client))
            async for data in connection.messages(refuse):
                self._deliver(self.session.receive(client, data))
                self.keep(connection, self.session.has_seat(client))
        finally:
            del self._clients[client]
            self._deliver(self.session.disconnect(client))

    def _deliver(self, sends: Sequence[Outgoing[messages.ServerMessage]]) -> None:
        self._follow_turn()
        left = None if self._timer.due is None or self._timer.due.who == "nobody" else self._timer.left
        for client, message in sends:
            if isinstance(message, State) and message.turn >= 0 and left is not None:
                message.left, message.bank = round(1000 * left), round(1000 * self._bank)
            connection = self._clients.get(client)
            if connection is not None:
                connection.send(messages.encode(message))
        self._write()
        self._end_match()

    # Turns.

    def _follow_turn(self) -> None:
        """Set the timer for the pending turn, and ask the program if it is a program's turn.

        A turn has one deadline. While its person is away the turn ends earlier; a return does not move the deadline.
        """
        due = None if self._stopping else self._due()
        begins = due is None or self._turn is None or due[1:] != self._turn[0][1:]
        if begins:
            self._next_turn(due)
        self._bank = self._banks.left(self._turn[2]) if self._turn and due is not None and due.who == "person" else 0.0
        seconds = 0.0
        if self._turn is not None:
            seconds = self._turn[1].seconds if begins else self._turn[1].left
        if due is not None and due.who == "away":
            seconds = min(seconds, self._timeouts["away"])
        if self._timer.follow(due, seconds):
            if self._asking is not None:
                self._asking.cancel()
            self._asking = None
            if due is not None and due.who == "program":
                self._asking = asyncio.create_task(self._ask(due))

    def _next_turn(self, due: TableDue | None) -> None:
        """Take what the turn before used from its person's bank, and set the deadline of the turn that begins."""
        if self._turn is not None and self._turn[2]:
            self._banks.turn_ended(self._turn[2], self._turn[1].left)
        if self._banked != (self.session.matches, self.session.hand):
            self._banks.refill(1.0 if self._banked[0] != self.session.matches else 0.1)
            self._banked = self.session.matches, self.session.hand
        self._turn = None
        if due is not None:
            player = "" if due.who == "nobody" else self.session.seats[due.seat].key  # a program has none
            time = due.pause if due.who == "nobody" else self._timeouts["person" if player else "program"]
            self._turn = due, Deadline.after(time + (self._banks.left(player) if player else 0.0)), player

    def _due(self) -> TableDue | None:
        """Return the pending turn; of a person without a page it is "away", where the others have less time."""
        due = self.session.due
        away = due is not None and due.who == "person" and not self.session.seats[due.seat].here
        if due is None or not away or self._timeouts["person"] <= self._timeouts["away"]:
            return due
        return due._replace(who="away")

    async def _ask(self, due: TableDue) -> None:
        """Ask a program until its turn is over: it may send messages first and decide later."""
        deadline = self._timer.deadline
        while self.session.due == due:
            name = self.session.seats[due.seat].name or ""
            played = await self._players[due.seat].answer(Turn(self.session.state(due.seat), name=name), deadline)
            if played.problem is not None:
                return self._fail(due.turn, played.problem)
            self._deliver(self.session.answered(due.turn, played.response, played.thoughts))

    def _ring(self, due: TableDue) -> None:
        if due.who == "nobody":
            self._deliver(self.session.resume())
        elif due.who != "program":  # its player has the same deadline
            self._fail(due.turn, "no answer in time")

    def _fail(self, turn: int, problem: str) -> None:
        due = self.session.due
        if due is not None and due.turn == turn:
            logger.warning("%s: the safe action is played: %s", self.session.seats[due.seat].name, problem)
            self._deliver(self.session.failed(turn, problem))

    def _write(self) -> None:
        """Write the new events to the log."""
        match = self.session.match
        if match is None:
            return
        written = self._written[1] if self._written[0] is match else 0
        for number, event in enumerate(match.events[written:], written):
            self._log.write(**(event if number else self._begun(match)))
        self._written = match, len(match.events)

    def _begun(self, match: MatchSession) -> dict[str, Any]:
        """Return the first event of a match, with the players' names."""
        names = zip(self.session.game.agents, self.session.dealt, strict=True)
        begin = {name: value for name, value in match.events[0].items() if name != "agent_ids"}
        begin["agents"] = [{"id": agent, "name": name} for agent, (name, _) in names]
        return begin

    def _end_match(self) -> None:
        """Keep the log of a match that is over, and report its result to the lobby, once."""
        match = self.session.match
        if self.session.status != "over" or match is None or match is self._ended:
            return
        self._ended, self._ended_log = match, log_of([self._begun(match), *match.events[1:]])
        dealt = zip(self.session.dealt, self.session.game.agents, strict=True)
        players = tuple(PlayerResult(name, program, match.payoffs[agent]) for (name, program), agent in dealt)
        self._on_result(TableResult(players, str((match.outcome or {}).get("reason", "")), self._ended_log))

    async def _ended_file(self, request: web.Request) -> web.Response:
        """Answer with a file of the latest match that has ended. It says all of it, to everybody who looks on."""
        return await self._files.answer(request, self._ended_log, self.session.game.name)


def page(game: Game, **facts: Any) -> list[web.RouteDef]:
    """Return the routes of the page for a game; a game without its own script uses the general one."""
    own = (PAGE / "games" / f"{game.name}.js").is_file()
    # The text of a figure contains its solution.
    options = {name: value for name, value in game.options.items() if name != "figure"}
    game_facts = {"game": game.name, "page": game.name if own else "any", "seats": game.seats}
    game_facts |= {"unit": game.payoffs.reward_name, "options": options, "rules": how_to_play(game)}
    game_facts |= {"meanings": meanings_of_words(game), "unset": _unset(game)}
    game_facts |= {"own": default_parts(game.view) is not None}
    return page_routes(PAGE, game_facts | facts, more=SHARED)


def _unset(game: Game) -> list[str]:
    """Return the fields of a small game in which −1 stands for nothing.

    They begin each episode at −1 in all entries, and nothing lower is in them in some random episodes.
    """
    view = default_parts(game.view)
    if view is None:
        return []
    table, generator, names = game.tables(1)[0], np.random.default_rng(0), view.fields
    for stream in streams(0, EPISODES):
        table.stream = stream
        game.rules.reset(table)
        names = [name for name in names if _integers(table[name]) and np.all(table[name] == -1)]
        for _ in range(LONGEST):
            if table.done or not names:
                break
            game.rules.play(table, int(generator.choice(game.mask(table, int(table.turn)).nonzero()[0])))
            names = [name for name in names if np.min(table[name]) >= -1]
    return names


def _integers(values: Any) -> bool:
    return np.asarray(values).dtype.kind == "i" and np.size(values) > 0


def _warm_up(game: Game) -> None:
    """Play one match, so that the rules are compiled before the first real match, with forecasts once in a phase."""
    match, asked = Match(game), set[str]()
    match.reset(seed=0)
    while not match.done:
        state = match.turn_state(game.agents[match.turn])
        if game.capabilities.forecasts is not None and state.phase not in asked:
            asked.add(state.phase)
            game.capabilities.forecasts(state)
        match.submit(game.agents[match.turn], game.view.encode(match.table, game.view.safe(match.table)).action)
    if game.public_view is not None:
        match.public_turn_state()
