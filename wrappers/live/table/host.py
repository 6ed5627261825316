"""TableHost: a server with a page and a table of any TurnState game, on one port.

`TableHostSession` is the table for people and programs, without I/O: no socket and no clock. `MatchSession` plays the
matches; this session has the seats, the messages to the clients, and the start of the next match. A match begins when
every seat is taken and all people are connected and ready. If a person leaves a seat during a match, the safe action is
played there until the match ends. The seat stays taken, because that person has seen hidden information. So it is with
a person who has no connection when the time of a turn is over, until that person comes back.

`TableHost` has the connections, the timers and the programs. It runs in one event loop and never blocks on a client or
a program. It tells a lobby the results, and people the files of a match that ended (`EndedMatches`): its log, its
replay, and hands of hold'em as PHH. The log of a match says all: therefore nothing is given out before the end.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from aiohttp import web
from cachetools import LRUCache
from msgspec.structs import replace

from ....envs import AgentResponse, Game, Match, streams
from ....envs.core import turn_state as ts
from ....envs.core.counted import counted
from ....envs.core.how_to_play import how_to_play, meanings_of_words
from ....envs.core.options import seconds
from ....envs.core.view import default_parts
from ....envs.render.svg import plain
from ... import replay
from ...agents.base import Agent
from ...logs.match_log import Lines, MatchLog, SafeMatchLog, describe_error
from ...replay.log_reader import moments
from ...replay.page import page
from ...replay.phh_writer import phhs
from ..common import limits
from ..common.clock import Deadline, Outgoing, Room
from ..common.match_session import MatchLimits, MatchSession
from ..common.player import Player, Turn, tell
from ..common.server import HEADERS, Connection, Server, ServerSettings, page_routes
from . import messages
from .messages import Error, State

KINDS = {"replay.html": "text/html", "log.jsonl": "application/jsonl", "hands.phhs": "text/plain"}
"""The files of a match that has ended, and their content types. Only hold'em has hands."""
KEPT = 20
"""Files that are kept, so that each is made once."""
MOST_SHOWN = 100
"""The latest hands or matches of a log that its replay shows; each takes some 25 ms to draw."""
MADE, MADE_AT_ONCE = 0.1, 5
"""Files that are made for an address per second, and at once; further ones get HTTP 429."""
LOG_LIMIT = 2**22
"""The most bytes of a log; a longer one is not kept."""
REPLAY_HEADERS = {
    **HEADERS,
    # The page is one file. In a sandbox it has no part in the tokens that this site keeps in the browser.
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; sandbox allow-scripts",
}


class PlayerResult(msgspec.Struct):
    """What a match brought to a player."""

    name: str
    program: bool
    payoff: float


@dataclass(frozen=True)
class TableResult:
    """A finished match; in hold'em a hand, or in a lobby all hands of a table."""

    players: tuple[PlayerResult, ...]
    reason: str
    log: bytes = b""
    episodes: int = 1


def log_of(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Return the log of these events, as `MatchLog` writes it; empty if it is too long."""
    lines = Lines()
    log = b"".join(lines.line(**event) for event in events)
    return log if len(log) <= LOG_LIMIT else b""


class EndedMatches:
    """Answers with the files of matches. A replay or hands are made once, in a thread, one at a time."""

    def __init__(self) -> None:
        self._made = LRUCache[tuple[bytes, str], bytes](KEPT)
        self._one_at_a_time = asyncio.Lock()
        self._pace = limits.Pace(MADE, MADE_AT_ONCE)

    async def answer(self, request: web.Request, log: bytes, title: str) -> web.Response:
        """Return one of the files (`KINDS`) of a match, which the path of the request names.

        Raises:
            web.HTTPNotFound: if there is no such file, or no log.
            web.HTTPTooManyRequests: if too many had to be made for this address.
        """
        file = request.match_info["file"]
        if not log or file not in KINDS:
            raise web.HTTPNotFound(text=f"there is no {file[:40]!a} of this match\n")
        body = log if file == "log.jsonl" else await self._make(limits.client_of(request), log, file, title)
        if not body:
            raise web.HTTPNotFound(text="hand histories are of hold'em\n")
        saved = {"Content-Disposition": f'attachment; filename="{title}-{file}"'}
        headers = REPLAY_HEADERS if file == "replay.html" else HEADERS | saved
        return web.Response(body=body, content_type=KINDS[file], charset="utf-8", headers=headers)

    async def _make(self, address: str, log: bytes, file: str, title: str) -> bytes:
        async with self._one_at_a_time:
            if (made := self._made.get((log, file))) is None:
                if self._pace.wait(address) is None:
                    why, wait = "too many replays of this address; try again later", {"Retry-After": f"{1 / MADE:g}"}
                    raise web.HTTPTooManyRequests(text=why, headers=wait)
                made = await asyncio.to_thread(_replay if file == "replay.html" else _hands, log, title)
                self._made[log, file] = made
            return made


def _replay(log: bytes, title: str) -> bytes:
    lines = log.splitlines(keepends=True)
    begins = [place for place, line in enumerate(lines) if line.startswith((b'{"kind":"hand"', b'{"kind":"match"'))]
    note = f"The latest {MOST_SHOWN} of {len(begins)}; the log has all." if len(begins) > MOST_SHOWN else ""
    return page(moments(b"".join(lines[begins[-MOST_SHOWN] :]) if note else log), title, lambda: note).encode()


def _hands(log: bytes, title: str) -> bytes:
    return phhs(entry for entry in map(msgspec.json.decode, log.splitlines()) if entry["kind"] == "hand").encode()


LIMITS = MatchLimits(actions=None, attempts=20)
"""The number of refused answers in one turn after which the safe action is played; people mistype."""

logger = logging.getLogger(__name__)


Client: TypeAlias = Any
"""A connection, or what stands for one."""
Sends: TypeAlias = list[Outgoing[messages.ServerMessage]]
"""Messages for clients."""


class TableDue(NamedTuple):
    """The pending turn: its number, its seat, and whether a program, a person or one who is away has to answer.

    ``nobody``: the table goes on by itself after a pause, in seconds. `name`: of its person, who has a time bank.
    """

    who: Literal["program", "person", "away", "nobody"]
    seat: int
    turn: int
    name: str = ""
    pause: float = 0.0


@dataclass
class TableSeat:
    """A seat."""

    name: str | None
    program: bool
    token: str | None = None
    client: Client | None = None
    ready: bool = False
    dealt: bool = False
    missed: bool = False
    key: str = ""
    address: str = ""

    @property
    def here(self) -> bool:
        """Whether a program or a connected person has the seat."""
        return self.program or self.client is not None


class TableHostSession:
    """One table, match after match.

    Raises:
        ValueError: if `programs` does not fit the seats, or leaves no seat for a person.
    """

    def __init__(
        self,
        game: Game,
        programs: Sequence[str | None],
        *,
        timeout: int = 60_000,
        seed: int | None = None,
        admit: limits.Admit | None = None,
        pictures: Sequence[Callable[[Sequence[ts.TurnState]], str]] = (),
    ) -> None:
        if len(programs) != game.seats:
            raise ValueError(f"{counted(len(programs), 'players')} for {counted(game.seats, 'seats')} of {game.id}")
        if None not in programs:
            raise ValueError(f"all {game.seats} seats are taken by programs: leave one to a person")
        self.game = game
        self.seats = [TableSeat(name, name is not None, ready=name is not None) for name in programs]
        self.status: Literal["waiting", "running", "over"] = "waiting"
        self.match: Any = None
        self.matches = 0
        self.hand = 1
        self.dealt: list[tuple[str, bool]] = []
        self._referee = Match(game)
        self._clients: dict[Client, int | None] = {}
        self._latest: dict[Client, tuple[int | None, messages.State]] = {}
        self._before = 0  # turns of earlier matches
        self._timeout = timeout
        self._seed, self._seeds = seed, np.random.SeedSequence(seed)
        self._admit = admit or (lambda name, token: None)
        self._pictures = pictures
        self._failed: set[str] = set()  # what the game could not make
        self._crowded: Callable[[Iterable[str], str], str | None] = lambda held, address: None

    # For the I/O shell.

    @property
    def turn(self) -> int:
        """The number of the current turn; it only increases."""
        return self._before + (0 if self.match is None else self.match.actions)

    @property
    def due(self) -> TableDue | None:
        """The pending turn. If the value is equal, the timer continues."""
        if self.status != "running":
            return None
        number = self.game.agents.index(self.match.turn)
        seat = self.seats[number]
        who: Any = "program" if seat.program else "person" if seat.here else "away"
        return TableDue(who, number, self.turn, "" if seat.program else limits.folded(seat.name or ""))

    def connect(self, client: Client) -> Sends:
        """Add a client as an observer."""
        self._clients[client] = None
        return [Outgoing(client, self._seating(client)), *self._states([client])]

    def disconnect(self, client: Client) -> Sends:
        """Remove a client's connection. It keeps its seat, where the timer plays the safe action."""
        self._latest.pop(client, None)
        if (seat := self._clients.pop(client, None)) is None:
            return []
        self.seats[seat].client = None
        return self._seatings()

    @property
    def watchers(self) -> int:
        """The number of clients without a seat."""
        return sum(seat is None for seat in self._clients.values())

    def has_seat(self, client: Client) -> bool:
        """Return True if a client sits at the table."""
        return self._clients.get(client) is not None

    def receive(self, client: Client, data: Any) -> Sends:
        """Answer what a client sent: text or bytes. Never raises; a refusal changes nothing."""
        message = messages.decode(data)
        match message:
            case str():
                return [_error(client, messages.VALIDATION_ERROR, f"cannot read the message: {message}")]
            case messages.Ping():
                return [Outgoing(client, messages.Pong(watchers=self.watchers))]
            case messages.Sit():
                return self._sit(client, message)
        if (seat := self._clients[client]) is None:
            return [_error(client, messages.NOT_SEATED, "you look on; sit down to play")]
        match message:
            case messages.Act():
                return self._act(client, seat, message)
            case messages.Say():
                return self._say(client, seat, message)
            case messages.Stand():
                return self._stand(seat)
            case messages.SitOut():
                return self._sit_out(client, seat, message.out)
            case messages.Again():
                self.seats[seat].ready = True
                return self._begin_if_ready() or self._seatings()

    def state(self, seat: int) -> ts.TurnState:
        """Return a seat's state in the current match."""
        state: ts.TurnState = self.match.turn_state(self.game.agents[seat])
        return state

    def answered(self, turn: int, response: AgentResponse, thoughts: Mapping[str, Any] | None = None) -> Sends:
        """Play a program's answer, with its notes for the log; if it is refused, play the safe action."""
        due = self.due
        if due is None or due.turn != turn:
            return []
        agent = self.game.agents[due.seat]
        result = self.match.act(agent, response, thoughts)
        if not result.ok and self.turn == turn:
            self.match.failed(agent, f"{result.error}: {result.error_detail}")
        return self._go_on()

    def resume(self) -> Sends:
        """Go on after a pause, in which the turn was nobody's."""
        return self._go_on()

    def failed(self, turn: int, problem: str) -> Sends:
        """Play the safe action for a seat that did not answer this turn."""
        due = self.due
        if due is None or due.turn != turn:
            return []
        seat = self.seats[due.seat]
        seat.missed = not seat.here
        self.match.failed(self.game.agents[due.seat], problem)
        return self._go_on()

    # Seats.

    def _sit(self, client: Client, wish: messages.Sit) -> Sends:
        if self._clients[client] is not None:
            return [_error(client, messages.ALREADY_SEATED, "you have a seat")]
        for number, seat in enumerate(self.seats):
            if wish.token is not None and seat.token is not None and limits.same_token(wish.token, seat.token):
                return self._come_back(client, number)
        if wish.token is not None and wish.name is None:
            return [_error(client, messages.INVALID_TOKEN, "the seat was given to somebody else")]
        if (problem := self._admit(wish.name, wish.access_token)) is not None:
            return [_error(client, messages.UNAUTHORIZED, problem)]
        if wish.name is None:
            return [_error(client, messages.VALIDATION_ERROR, "give a name to sit down")]
        if (problem := limits.problem_of(wish.name)) is not None:
            return [_error(client, messages.VALIDATION_ERROR, problem)]
        taken = {
            limits.folded(seat.name) for number, seat in enumerate(self.seats) if seat.name and not self._free(number)
        }
        if limits.folded(wish.name) in taken:
            return [_error(client, messages.NAME_TAKEN, f"somebody here is called {wish.name} already")]
        free = [number for number in range(self.game.seats) if self._free(number)]
        if not free:
            later = "; one will be after this match" if None in [seat.name for seat in self.seats] else ""
            return [_error(client, messages.TABLE_FULL, f"no seat is free{later}")]
        address = getattr(client, "address", "")
        held = [seat.address for number, seat in enumerate(self.seats) if number not in free]
        if (problem := self._crowded(held, address)) is not None:
            return [_error(client, messages.TABLE_FULL, problem)]
        number = wish.seat if wish.seat in free else free[0]
        token, key = wish.token or secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.seats[number] = TableSeat(wish.name, False, token, ready=True, key=key, address=address)
        return self._attach(client, number)

    def _free(self, number: int) -> bool:
        """Return True if a person can take a seat: it is free, or its owner is disconnected between two matches."""
        return self.status != "running" and not self.seats[number].here

    def _come_back(self, client: Client, number: int) -> Sends:
        sends: Sends = []
        if (before := self.seats[number].client) is not None:
            self._clients[before] = None
            sends = [Outgoing(before, messages.Unseated(reason="replaced")), *self._states([before])]
        return sends + self._attach(client, number)

    def _attach(self, client: Client, number: int) -> Sends:
        seat = self.seats[number]
        assert seat.token is not None
        self._clients[client] = number
        seat.client, seat.missed = client, False
        begun = self._begin_if_ready()
        news: Sends = begun or [*self._seatings(), *self._states([client])]
        return [Outgoing(client, messages.Seated(seat=number, token=seat.token, key=seat.key)), *news]

    def _stand(self, number: int) -> Sends:
        client, self.seats[number] = self.seats[number].client, TableSeat(None, False)
        left: Sends = []
        if client is not None:
            self._clients[client] = None
            left = [Outgoing(client, messages.Unseated(reason="stood"))]
        return [*left, *self._seatings(), *(self._go_on() if self.status == "running" else self._states(self._clients))]

    def _sit_out(self, client: Client, number: int, out: bool) -> Sends:
        """Deal a seat no further hand, or again."""
        return [_error(client, messages.VALIDATION_ERROR, "in this game nobody sits out")]

    # The match.

    def _begin_if_ready(self) -> Sends:
        if self.status == "running" or not all(seat.here and seat.ready for seat in self.seats):
            return []
        self._before = self.turn + 1
        self.matches += 1
        self.match = self._new_match()
        self.status = "running"
        self.dealt = [(seat.name or "", seat.program) for seat in self.seats]
        for seat in self.seats:
            seat.dealt = True
        return self._seatings() + self._go_on()

    def _new_match(self) -> Any:
        (own,) = self._seeds.spawn(1)  # the seed of an earlier match, which stands in its log, must not foretell it
        seed = int(own.generate_state(1, np.uint64)[0] >> np.uint64(1))
        return MatchSession(self._referee, self.game.agents, seed=seed, limits=LIMITS)

    def _act(self, client: Client, seat: int, message: messages.Act) -> Sends:
        before = self.turn
        waits = self.due is not None and self.due.seat != seat
        # Whose turn it is may be hidden, and its number too.
        hidden = waits and self.game.visible_turn(self._referee.table, seat) is None
        if self.match is None:
            result = ts.refused(ts.MATCH_NOT_RUNNING, "the match has not begun")
        elif message.turn != before and not hidden:
            result = ts.refused(ts.NOT_YOUR_TURN, "that turn is over")
        elif waits:
            result = ts.refused(ts.NOT_YOUR_TURN, "it is not your turn")
        else:
            result = self.match.act(self.game.agents[seat], message.response)
        answer: Sends = [Outgoing(client, messages.Result(turn=message.turn, result=result))]
        return answer + self._go_on() if result.ok or self.turn != before else answer

    def _say(self, client: Client, seat: int, message: messages.Say) -> Sends:
        if self.match is None:
            result = ts.refused(ts.MATCH_NOT_RUNNING, "the match has not begun")
        else:
            result = self.match.send(self.game.agents[seat], message.intent)
        answer: Sends = [Outgoing(client, messages.Result(turn=None, result=result))]
        return answer + self._states(self._clients) if result.ok else answer

    def _go_on(self) -> Sends:
        """Play the safe action for players who have left or are away, and send the state to all clients."""
        while (turn := self.match.turn) is not None and not self._awaits(number := self.game.agents.index(turn)):
            self.match.failed(turn, "left the table" if self.seats[number].name is None else "is away")
        if self.match.outcome is None:
            return self._states(self._clients)
        self.status = "over"
        for seat in self.seats:
            seat.ready = seat.program
        return self._states(self._clients) + self._seatings()

    def _awaits(self, number: int) -> bool:
        """Whether a turn waits for the player in a seat."""
        return self.seats[number].name is not None and not self.seats[number].missed

    # Messages to clients.

    def _states(self, clients: Any) -> Sends:
        """Return the states of the clients, for those whose state has changed.

        A client whose state has not changed gets nothing. Otherwise the number of messages would reveal private
        messages of others, and in games with hidden turns the number and the durations of the turns.
        """
        if self.match is None:
            return []
        sends: Sends = []
        for client in clients:
            seat = self._clients[client]
            state = self._seen(seat if seat is not None and self.seats[seat].dealt else None)
            if state is None:
                continue
            hidden = not state.game_over and state.current_turn_agent_id is None
            shown = seat, messages.State(turn=-1 if hidden else self.turn, turn_state=state)
            if self._latest.get(client) != shown:
                self._latest[client] = shown
                seen = self._drawn(state) if seat is not None else [state]
                drawn = [self._of_game("picture", draws, seen) for draws in self._pictures]
                forecasts = self.game.capabilities.forecasts
                due = forecasts is not None and state.is_my_turn
                pays = self._of_game("forecast", forecasts, state) if due else None
                sends.append(Outgoing(client, replace(shown[1], pictures=drawn, forecasts=pays)))
        return sends

    def _seen(self, seat: int | None) -> ts.TurnState | None:
        """Return the state of a seat; without a seat that of observers, None where they see nothing."""
        if seat is not None:
            return self.state(seat)
        return None if self.game.public_view is None else self._referee.public_turn_state()

    def _drawn(self, state: ts.TurnState) -> list[ts.TurnState]:
        """Return the states of a player's picture: at the end those of all seats, without their private messages."""
        seats = range(self.game.seats) if state.game_over else ()
        return [replace(self.state(one), messages=state.messages) for one in seats] or [state]

    def _of_game(self, what: str, function: Any, argument: Any) -> Any:
        """Return the game's content for the page; None if it fails, which is logged once. The page does without."""
        try:
            return function(argument)
        except Exception as error:
            if what not in self._failed:
                self._failed.add(what)
                logger.warning("%s: no %s: %s", self.game.id, what, describe_error(error))
            return None

    def _seatings(self) -> Sends:
        return [Outgoing(client, self._seating(client)) for client in self._clients]

    def _seating(self, client: Client) -> messages.Seating:
        places = [
            messages.Place(
                seat=number,
                agent_id=self.game.agents[number],
                name=seat.name,
                played=self.dealt[number][0] if self.dealt else None,
                program=seat.program,
                connected=seat.here,
                ready=seat.ready,
            )
            for number, seat in enumerate(self.seats)
        ]
        return messages.Seating(
            game_id=self.game.id,
            status=self.status,
            match=self.matches,
            timeout=self._timeout,
            seats=places,
            you=self._clients[client],
            watchers=self.watchers,
        )


def _error(client: Client, code: str, message: str) -> Outgoing[messages.ServerMessage]:
    return Outgoing(client, messages.Error(code=code, message=message))


PAGE = files(__package__) / "page"
"""The page's files."""
SHARED = [files(replay) / name for name in ("dom.js", "legible.js", "pictures.css")]
"""The files that pages of tables have in common with replays."""
DRAWN_BY_PAGE = ("tangram", "mafia")
"""The games whose page draws the table: people move or choose things in it."""
EPISODES = 20
"""The number of random episodes in which fields are looked at,"""
LONGEST = 1_000
"""and the most actions of each."""
NO_TOKEN = "sitting down needs the link that holds this table's key"


class TableHost(Server):
    """A table for people and programs. Use it as an async context manager, or call `start` and `stop`.

    >>> async with TableHost(game, [None, ("fair", agent)]) as host:      # doctest: +SKIP
    ...     print(host.url)
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[tuple[str, Agent] | None],
        *,
        timeout: float = 60.0,
        program_timeout: float | None = None,
        time_bank: float = 0.0,
        delay: float = 0.0,
        seed: int | None = None,
        server: ServerSettings | None = None,
        admit: limits.Admit | None = None,
        on_result: Callable[[TableResult], None] = lambda result: None,
        log: MatchLog | None = None,
    ) -> None:
        seconds("timeout", timeout)
        seconds("time_bank", time_bank, above=False)
        super().__init__(server, check_host=True, connection_limits=limits.PAGE, most_connections=limits.CLIENTS)
        self.session = self.new_session(
            game,
            [None if player is None else player[0] for player in players],
            timeout=round(1000 * timeout),
            seed=seed,
            admit=admit or limits.admit_by_token(self.settings.access_token, NO_TOKEN),
        )
        self._agents = {seat: player[1] for seat, player in enumerate(players) if player is not None}
        self._players: dict[int, Player] = {}
        short = timeout if program_timeout is None else program_timeout
        self._delay = delay
        self._timeouts = {"person": timeout, "program": short, "away": min(timeout, short)}
        self._bank, self._banks = time_bank, dict[str, float]()  # of a full one; what is left, by name
        self._banked = 0, 0  # the match and the hand for which the banks have been filled
        self._in_lobby = admit is not None
        self._on_result = on_result
        self._ended: Any = None  # the latest match that has ended
        self._ended_log = b""
        self._files = EndedMatches()
        self._log = SafeMatchLog(log)
        self._written: tuple[Any, int] = (None, 0)  # the match, and the number of its events in the log
        self._room: Room[TableDue] = Room(self._due, self._seconds, self._attend, self._turn_ended)

    def new_session(self, game: Game, programs: Sequence[str | None], **options: Any) -> TableHostSession:
        """Return the session of the table."""
        drawn = game.name not in DRAWN_BY_PAGE and game.renderer.picture is not plain  # fields are on the page already
        return TableHostSession(game, programs, pictures=[game.renderer.picture] if drawn else [], **options)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`. A game without its own script uses the general one."""
        game = self.session.game
        own = (PAGE / "games" / f"{game.name}.js").is_file()
        # The text of a figure contains its solution.
        options = {name: value for name, value in game.options.items() if name != "figure"}
        facts = {"game": game.name, "page": game.name if own else "any", "seats": game.seats, "lobby": self._in_lobby}
        facts |= {"unit": game.payoffs.reward_name, "options": options, "rules": how_to_play(game)}
        facts |= {"meanings": meanings_of_words(game), "unset": _unset(game)}
        facts |= {"own": default_parts(game.view) is not None}
        return [
            web.get("/ws", partial(self.upgrade, live=self._serve)),
            web.get("/ended/{file}", self._ended_file),
            *page_routes(PAGE, facts, more=SHARED),
        ]

    async def opening(self) -> None:
        """Compile the rules, and warm up the programs."""
        await asyncio.to_thread(_warm_up, self.session.game)
        for seat, agent in self._agents.items():
            self._players[seat] = Player(agent, notes=True)
            await self._players[seat].warm_up(self.session.seats[seat].name or "")

    async def closing(self) -> None:
        """Stop the programs."""
        self._room.follow()
        for player in self._players.values():
            player.close()

    # Connections.

    async def _serve(self, connection: Connection) -> None:
        def refuse(code: str, detail: str) -> None:
            connection.send(messages.encode(Error(code=code, message=detail)))

        try:
            self._deliver(self.session.connect(connection))
            async for data in connection.messages(refuse):
                try:
                    self._deliver(self.session.receive(connection, data))
                except Exception:
                    logger.exception("an error of ours at a message")  # which may hold a token
                    refuse(messages.INTERNAL_ERROR, "an error of ours; the table goes on")
                    self._room.follow()  # the session may have moved before
                self.keep(connection, self.session.has_seat(connection))
        finally:
            self._deliver(self.session.disconnect(connection))

    def _deliver(self, sends: Sequence[Outgoing[messages.ServerMessage]]) -> None:
        self._room.follow()
        clocks = [deadline.left for due, (deadline, _) in self._room.open.items() if due.who != "nobody"]
        due = self.session.due
        bank = self._banks.get(due.name, self._bank) if due is not None and due.who == "person" else 0.0
        for client, message in sends:
            if isinstance(message, State) and message.turn >= 0 and clocks:
                message.left, message.bank = round(1000 * min(clocks)), round(1000 * bank)
            client.send(messages.encode(message))
        self._write()
        self._end_match()

    # Turns.

    def _due(self) -> list[TableDue]:
        """Return the pending turn; while its person is away twice, of which the earlier deadline ends it.

        So a return does not move the turn's own deadline.
        """
        due = None if self._stopping else self.session.due
        if due is None:
            return []
        return [due._replace(who="person"), due] if due.who == "away" else [due]

    def _seconds(self, due: TableDue) -> float:
        if self._banked != (now := (self.session.matches, self.session.hand)):
            more = self._bank * (1.0 if self._banked[0] != now[0] else 0.1)
            # Full ones take no memory.
            self._banks = {name: left + more for name, left in self._banks.items() if left + more < self._bank}
            self._banked = now
        if due.who == "person":
            return self._timeouts["person"] + self._banks.get(due.name, self._bank)
        return due.pause if due.who == "nobody" else self._timeouts[due.who]

    def _turn_ended(self, due: TableDue, left: float) -> None:
        """Take what a turn used from its person's bank."""
        if due.who == "person":
            self._banks[due.name] = min(self._banks.get(due.name, self._bank), left)

    async def _attend(self, due: TableDue, deadline: Deadline) -> None:
        """Ask a program until its turn is over: it may send messages first and decide later. Others have their time."""
        match due.who:
            case "program" if deadline.left:
                while self.session.due == due:
                    await asyncio.sleep(self._delay)
                    turn = Turn(self.session.state(due.seat), name=self.session.seats[due.seat].name or "")
                    played = await self._players[due.seat].answer(turn, deadline)
                    if played.problem is not None:
                        return self._fail(due, played.problem)
                    self._deliver(self.session.answered(due.turn, played.response, played.thoughts))
            case "nobody":
                await asyncio.sleep(deadline.left)
                self._deliver(self.session.resume())
            case _:
                await asyncio.sleep(deadline.left)
                self._fail(due, "no answer in time")

    def _fail(self, due: TableDue, problem: str) -> None:
        logger.warning("%s: the safe action is played: %s", self.session.seats[due.seat].name, problem)
        self._deliver(self.session.failed(due.turn, problem))

    def _write(self) -> None:
        """Write the new events to the log."""
        if (match := self.session.match) is None:
            return
        written = self._written[1] if self._written[0] is match else 0
        for number, event in enumerate(match.events[written:], written):
            self._log.write(**(event if number else self._begun(match)))
        self._written = match, len(match.events)

    def _begun(self, match: MatchSession) -> dict[str, Any]:
        """Return the first event of a match, with the players' names."""
        named = zip(self.session.game.agents, self.session.dealt, strict=True)
        begin = {name: value for name, value in match.events[0].items() if name != "agent_ids"}
        return begin | {"agents": [{"id": agent, "name": name} for agent, (name, _) in named]}

    def _end_match(self) -> None:
        """Keep the log of a match that is over, and report its result to the lobby, once."""
        match = self.session.match
        if self.session.status != "over" or match is None or match is self._ended:
            return
        self._ended, self._ended_log = match, log_of([self._begun(match), *match.events[1:]])
        dealt = zip(self.session.dealt, self.session.game.agents, strict=True)
        players = tuple(PlayerResult(name, program, match.payoffs[agent]) for (name, program), agent in dealt)
        result = TableResult(players, str((match.outcome or {}).get("reason", "")), self._ended_log)
        tell("a result", self._on_result, result)

    async def _ended_file(self, request: web.Request) -> web.Response:
        """Answer with a file of the latest match that has ended. It says all of it, to everybody who looks on."""
        return await self._files.answer(request, self._ended_log, self.session.game.name)


def _unset(game: Game) -> list[str]:
    """Return the fields of a small game in which −1 stands for nothing.

    They begin each episode at −1 in all entries, and nothing lower is in them in some random episodes.
    """
    if (view := default_parts(game.view)) is None:
        return []
    table, generator = game.tables(1)[0], np.random.default_rng(0)
    names = [name for name in view.fields if np.asarray(table[name]).dtype.kind == "i" and np.size(table[name])]
    for stream in streams(0, EPISODES):
        table.stream = stream
        game.rules.reset(table)
        names = [name for name in names if np.all(table[name] == -1)]
        for _ in range(LONGEST):
            if table.done or not names:
                break
            game.rules.play(table, int(generator.choice(game.mask(table, int(table.turn)).nonzero()[0])))
            names = [name for name in names if np.min(table[name]) >= -1]
    return names


def _warm_up(game: Game) -> None:
    """Play one match, so that the rules are compiled before the first real match, with forecasts once in a phase."""
    match, forecast_phases = Match(game), set[str]()
    match.reset(seed=0)
    while not match.done:
        state = match.turn_state(game.agents[match.turn])
        if game.capabilities.forecasts is not None and state.phase not in forecast_phases:
            forecast_phases.add(state.phase)
            game.capabilities.forecasts(state)
        match.submit(game.agents[match.turn], game.view.encode(match.table, game.view.safe(match.table)).action)
    if game.public_view is not None:
        match.public_turn_state()
