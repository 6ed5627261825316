"""Hold'em in the browser: the poker host with a page, and programs in some seats. Stacks carry over between hands."""

import asyncio
import dataclasses
import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from ....envs import Game
from ....envs.core.turn_state import TurnState
from ....envs.holdem import game as holdem
from ....envs.holdem import small_picture, view
from ....envs.holdem.state import Player
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog
from ..common.client import LiveError
from ..common.server import Server, ServerSettings, read_struct
from ..common.tokens import Admit, bearer_token, same_token
from ..poker import messages
from ..poker.accounts import SeatToken
from ..poker.agent import ClientSettings, play
from ..poker.host import PokerHost, PokerPage, PokerRoom
from ..poker.host_session import PokerHostSession
from ..poker.hosted_table import HostedTable, PokerTimes
from ..poker.rest_client import SeatRequest
from ..poker.table_data import PokerRules, Refusal
from .ended_matches import EndedMatches
from .hand_histories import NotingAgent, PokerHands
from .host import MOST_CLIENTS, page
from .table_result import LobbyCallbacks, OnResult, PlayerResult, SeatTaken, TableResult, ignored

logger = logging.getLogger(__name__)


def turn_state(session: PokerHostSession, seat: int | None) -> TurnState:
    """Return the table as `seat` may see it.

    Args:
        session: the table.
        seat: a seat where somebody sits; None: somebody who watches, and sees no cards but those that were shown.
    """
    table = session.table
    dealt = seat is not None and bool(table.seated[seat])
    game = view.game_state(table, seat) if seat is not None and dealt else view.public(table)
    playing = session.due is not None and session.due.what == "act"
    players = [_shown(session, player, playing) for player in game.players if player.seat in session.seats]
    turn = game.turn if playing else None
    pot = game.pot if playing else 0
    game = replace(game, seat=seat, hand=session.hand, hands=1, players=players, pot=pot, turn=turn)
    finished = session.hand > 0 and bool(table.done) and not playing
    return TurnState(
        match_id="",
        game_id=session.game.id,
        agent_id="" if seat is None else str(seat),
        phase=game.phase,
        is_my_turn=turn is not None and turn == seat,
        current_turn_agent_id=None if turn is None else str(turn),
        game_state=game.to_dict(),
        game_over=finished,
        outcome=_outcome(table, seat if dealt else None) if finished else None,
    )


def _shown(session: PokerHostSession, player: Player, playing: bool) -> Player:
    """Return a player with its name and chips at the table; a newcomer plays from the next hand on."""
    seat = session.seats[player.seat]
    chips = {} if playing else {"bet": 0, "committed": 0}
    name, stack = seat.name or f"Seat {player.seat + 1}", session.stack(player.seat)
    return replace(player, name=name, stack=stack, folded=player.folded or bool(seat.chips), **chips)


def _outcome(table: Any, seat: int | None) -> dict[str, Any]:
    return {"reason": "showdown" if table.showdown else "fold", "results": view.results(table, seat)}


TIMES = PokerTimes(hand=3.0, showdown=4.0, away=120.0)
"""The times of a table for people."""
COME_BACK = 1.0
"""Seconds after which a program without a seat tries again."""
JOINING = 60.0
"""The timeout in seconds for all programs to take their seats."""


class PokerTable:
    """A poker table for people and programs. Use it as an async context manager, or call `start` and `stop`.

    The first hand is dealt when every seat is taken. When the table ends (one player has all chips, or the last hand
    is played) a new one opens, and the programs take their seats again.

    Args:
        rules: the rules; every seat has to be taken before the first hand.
        programs: name and agent by seat. The other seats, at least one, are for people.
        times: the times; a person who is away loses the seat after two minutes.
        seed: makes the cards reproducible; None takes the operating system's.
        server: where it listens; agents need its access token to register.
        lobby: what the table calls in its lobby; None: it belongs to none.
        on_result: called with the result of each hand at a table without a lobby.
        on_event: see `poker.host.PokerHost`.

    Attributes:
        host: the poker server.
        url: the URL of the page, after the start.

    Raises:
        ValueError: if no seat is left for a person; or for a wrong option.
    """

    def __init__(
        self,
        rules: PokerRules,
        programs: Mapping[int, tuple[str, Agent]],
        *,
        times: PokerTimes = TIMES,
        seed: int | None = None,
        server: ServerSettings | None = None,
        lobby: LobbyCallbacks | None = None,
        on_result: OnResult = ignored,
        on_event: Callable[..., None] | None = None,
    ) -> None:
        seats = rules.seats
        rules = dataclasses.replace(rules, min_players=seats)
        people = [seat for seat in range(seats) if seat not in programs]
        if not people:
            raise ValueError(f"all {seats} seats are taken by programs: leave one to a person")
        self._programs = {seat: (name, NotingAgent(agent)) for seat, (name, agent) in programs.items()}
        server = server or ServerSettings()
        self._access_token = server.access_token if lobby is None else secrets.token_urlsafe(24)  # of the programs
        self._on_result = on_result if lobby is None else lobby.on_result
        self._each_hand = lobby is None  # a lobby gets one result for all hands of a table
        self._won: dict[str, int] = {}  # chips won at the open table, by name
        self._ended = 0  # hands at the open table
        self._hands: dict[str, PokerHands] = {}  # by table; of those that ended lately too
        self._files = EndedMatches()
        self._sat_out: dict[tuple[str, int], float] = {}  # when a seat last sat out or in, by the loop's time
        self._tasks: list[asyncio.Task[None]] = []
        self._inside = ""  # where the programs connect
        self._joined = 0
        self._all_joined = asyncio.Event()
        self._on_event = on_event or (lambda kind, **fields: None)
        self.host = PokerHost(
            rules,
            times,
            room=PokerRoom(observers=MOST_CLIENTS),
            seed=seed,
            server=server,
            page=PokerPage(
                [
                    web.get("/v1/tables/{table_id}/view", self._view),
                    web.get("/v1/tables/{table_id}/ended/{file}", self._ended_file),
                    web.post("/v1/tables/{table_id}/sit-out", self._sit_out),
                    *page(holdem(seats=seats), protocol="poker", people=people, lobby=lobby is not None),
                ],
                None if lobby is None else partial(self._admits, lobby.admit),
            ),
            on_event=self._follow,
        )

    @property
    def url(self) -> str:
        """The URL of the page, after the start."""
        return self.host.url

    def application(self, prefix: str, outer: Server) -> web.Application:
        """See `Server`."""
        return self.host.application(prefix, outer)

    @property
    def status(self) -> str:
        """``waiting`` (for people), ``running`` (hands are dealt), or ``ended``."""
        return self._table.session.status

    @property
    def taken(self) -> list[SeatTaken | None]:
        """Who sits at the table, seat by seat; None: a free seat."""
        table = self._table
        return [
            SeatTaken(seat.name or seat.agent_id, self._is_program(number, seat.name), table.connected(number))
            if (seat := table.session.seats.get(number)) is not None
            else None
            for number in range(table.session.game.seats)
        ]

    @property
    def watchers(self) -> int:
        """The number of those who look on."""
        return len(self._table.observers)

    @property
    def visitors(self) -> int:
        """The number of open pages."""
        programs = sum(one is not None and one.program and one.here for one in self.taken)
        return max(0, self.host.connections - programs)

    @property
    def _table(self) -> HostedTable:
        """The newest table."""
        return list(self.host.tables.values())[-1]

    async def start(self) -> None:
        """Start to listen, and let the programs take their seats.

        Raises:
            OSError: if the port is taken.
            TimeoutError: if a program does not get its seat in time.
        """
        await self.host.start()
        # The programs are in this process: they need no certificate, and it may have another name than this address.
        self._inside = self.host.url if self.host.settings.tls is None else await self.host.open_loopback()
        for seat, (name, agent) in self._programs.items():
            self._tasks.append(asyncio.create_task(self._stay(seat, name, agent)))
        if self._programs:
            async with asyncio.timeout(JOINING):
                await self._all_joined.wait()

    async def stop(self) -> None:
        """Stop the programs and the server."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        newest = list(self.host.tables)[-1:]
        await self.host.stop()
        for table_id in newest:  # none, if the start failed
            self._end(table_id, "stopped")

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def _stay(self, seat: int, name: str, agent: Agent) -> None:
        """Play at one table after another, in this seat."""
        while True:
            try:
                wish = SeatRequest(name=name, seat=seat, access_token=self._access_token)
                await play(self._inside, agent, seat=wish, client=ClientSettings(retry_after=COME_BACK))
            except LiveError as error:  # another player took the seat; there will be a new table
                logger.warning("%s has no seat: %s", name, error)
                await asyncio.sleep(COME_BACK)

    def _found(self, request: web.Request, token: str) -> tuple[HostedTable, SeatToken | None]:
        """Return the table of a request's path, and the seat there of a session token; "": none.

        Raises:
            Refusal: for another table's token, or none; and TABLE_NOT_FOUND.
        """
        table_id = request.match_info["table_id"]
        seat_token = self.host.admit(token) if token else None
        table = self.host.tables.get(table_id)
        if table is None or (seat_token is not None and seat_token.table is not table):
            raise Refusal(messages.TABLE_NOT_FOUND, f"there is no table {table_id[:40]!a} for this seat")
        return table, seat_token

    async def _sit_out(self, request: web.Request) -> web.Response:
        """Deal the seat of the session token no further hand, or again, at most once a second."""
        table, seat_token = self._found(request, bearer_token(request) or "-")
        assert seat_token is not None
        try:
            wish = await read_struct(request, SitOut)
        except ValueError as error:
            raise Refusal(messages.VALIDATION_ERROR, str(error)) from None
        now, key = asyncio.get_running_loop().time(), (table.table_id, seat_token.seat)
        if now - self._sat_out.get(key, -1.0) < 1.0:
            raise Refusal(messages.RATE_LIMIT_EXCEEDED, "sit out or in once a second at most")
        self._sat_out[key] = now
        table.sit_out(seat_token.seat, wish.out)
        return web.json_response({"out": wish.out})

    async def _ended_file(self, request: web.Request) -> web.Response:
        """Answer with the hands that have ended, as the seat of the session token may see them.

        The token is in the header, or in the query ``token``, since a link has no headers. The replay is of a table
        that has ended.
        """
        file, token = request.match_info["file"], bearer_token(request) or request.query.get("token", "")
        table, seat_token = self._found(request, token)
        hands = self._hands.get(table.table_id)
        if hands is None or (file == "replay.html" and not hands.ended):
            raise Refusal(messages.INVALID_TABLE_STATE, "there is no such file before the end")
        log = hands.log(None if seat_token is None else seat_token.agent_id)
        return await self._files.answer(request, log, "holdem")

    async def _view(self, request: web.Request) -> web.Response:
        """Answer with the picture of a table and the actions of its hand, as the seat of the session token sees them.

        Without a token they are what somebody who watches sees. The query ``narrow`` asks for the picture for phones.
        Times are in milliseconds; ``bank`` is what ``left`` counts of a time bank.
        """
        table, seat_token = self._found(request, bearer_token(request) or "")
        state = turn_state(table.session, None if seat_token is None else seat_token.seat)
        game = state.game_state
        own: dict[str, Any] = next((row for row in game["players"] if row["seat"] == game["seat"]), {})
        facts = {name: game[name] for name in ("hand", "history", "smallBlind", "bigBlind")}
        narrow = "narrow" in request.query
        drawn = (small_picture.picture if narrow else table.session.game.renderer.picture)([state])
        seats = table.session.seats.items()
        facts |= {
            "out": [one for one, seat in seats if seat.sits_out],
            "waits": [one for one, seat in seats if seat.waits],
        }
        facts["mostHands"] = table.session.rules.max_hands
        facts |= {"watchers": self.watchers, "hands": len(self._hands.get(table.table_id, ()))}
        facts |= {"left": None if table.left is None else round(1000 * table.left), "bank": round(1000 * table.bank)}
        return web.json_response({"picture": drawn, "rank": own.get("rank", ""), **facts})

    def _admits(self, others: Admit, name: str | None, token: str | None) -> str | None:
        """Admit the programs of this table, and those whom the lobby admits and who have no seat here."""
        assert self._access_token is not None
        if same_token(token, self._access_token):
            return None
        seated = {seat.name for seat in self._table.session.seats.values() if not seat.leaving}
        return others(name, token) or (f"{name} has a seat at this table" if name in seated else None)

    def _is_program(self, seat: int, name: str | None) -> bool:
        return seat in self._programs and self._programs[seat][0] == name

    def _follow(self, kind: str, **fields: Any) -> None:
        if kind == "joined":
            self._joined += 1
            if self._joined >= len(self._programs):
                self._all_joined.set()
        elif kind == "hand":
            hands = self._hands.setdefault(fields["table_id"], PokerHands(self._programs))
            hands.add(fields)
            self._ended += 1
            before = {row["seat"]: row for row in fields["players"]}
            for row in fields["results"]:
                name = before[row["seat"]]["name"] or before[row["seat"]]["agent_id"]
                self._won[name] = self._won.get(name, 0) + row["stack"] - before[row["seat"]]["stack"]
            if self._each_hand:
                self._report("hand")
        elif kind == "ended":
            self._end(fields["table_id"], fields["reason"])
        self._on_event(kind, **fields)

    def _end(self, table_id: str, reason: str) -> None:
        """Open the hands of a table that has ended, and report it; forget those of tables that the host forgot."""
        if table_id in self._hands:
            self._hands[table_id].ended = True
        self._report(reason, table_id)
        self._hands = {key: hands for key, hands in self._hands.items() if key in self.host.tables}
        self._sat_out.clear()

    def _report(self, reason: str, table_id: str = "") -> None:
        """Report what the players have won since the latest report, if a hand was played."""
        names = {name for name, _ in self._programs.values()}
        players = tuple(PlayerResult(name, name in names, won) for name, won in self._won.items())
        hands, self._won, self._ended = self._ended, {}, 0
        if players:
            log = self._hands[table_id].log(None) if table_id in self._hands else b""
            self._on_result(TableResult(players, reason, log, hands))


class SitOut(Struct):
    """The body of the call to sit out (``out``) or in."""

    out: bool


OPTIONS = {"small_blind": "small_blind", "big_blind": "big_blind", "stacks": "stack", "raise_cap": "raise_cap"}
"""The options of hold'em that a poker table has, and their names there."""


def poker_table(
    game: Game,
    given: Mapping[str, Any],
    players: Sequence[tuple[str, Agent] | None],
    *,
    hands: int | None,
    rebuy: bool,
    log: MatchLog | None,
    timeout: float = TIMES.act,
    time_bank: float = TIMES.bank,
    **common: Any,
) -> PokerTable:
    """Return a poker table for people and programs.

    Args:
        game: hold'em with its options.
        given: the options that the user gave; the others have the poker host's defaults.
        players: by seat, a name and an agent; None: a person.
        hands: number of hands after which the table ends and a new one opens; None: no limit.
        rebuy: whether a player without chips gets a new stack before the next hand.
        log: the match log; None: no log.
        timeout: seconds for a turn.
        time_bank: seconds that a player has at the table for turns that take longer; a tenth comes back with each hand.
        common: arguments of every table in the browser.

    Raises:
        ValueError: for an option that poker tables do not have.
    """
    wanted = {}
    for name, value in given.items():
        if name != "seats" and name not in OPTIONS:
            raise ValueError(f"{name}={value}: poker tables take {', '.join(OPTIONS)}")
        if name != "seats":
            wanted[OPTIONS[name]] = game.options[name]
    if not isinstance(wanted.setdefault("stack", 200), int):
        raise ValueError(f"stacks={wanted['stack']}: at a poker table all players begin with the same stack")
    return PokerTable(
        PokerRules(**{"seats": game.seats, "raise_cap": None, "max_hands": hands, "rebuy": rebuy, **wanted}),
        {seat: player for seat, player in enumerate(players) if player is not None},
        times=dataclasses.replace(TIMES, act=timeout, bank=time_bank),
        on_event=SafeMatchLog(log).write,
        **common,
    )
