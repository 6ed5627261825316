"""Hold'em in the browser: the poker host with a page, and programs in some seats. Stacks carry over between hands."""

import asyncio
import dataclasses
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aiohttp import web
from msgspec import Struct
from msgspec.structs import replace

from ....envs import Game
from ....envs.core.turn_state import TurnState
from ....envs.holdem import game as holdem
from ....envs.holdem import picture, view
from ....envs.holdem.view import Player
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog
from ..common.limits import bearer_token
from ..common.server import ServerSettings, read_struct
from ..poker import messages
from ..poker.host import NOTES, HostedTable, PokerHost, PokerRoom, PokerTimes
from ..poker.host_session import PokerHostSession, PokerRules, Refusal
from ..poker.store import SeatToken
from .host import MOST_CLIENTS, page
from .results import (
    EndedMatches,
    LobbyCallbacks,
    OnResult,
    PlayerResult,
    SeatTaken,
    TableResult,
    ignored,
    log_of,
)


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
MOST_HANDS = 500
"""The latest hands that are kept of a poker table."""


class PokerTable(PokerHost):
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
        rules = dataclasses.replace(rules, min_players=seats, seats_per_address=seats)  # of a household
        people = [seat for seat in range(seats) if seat not in programs]
        if not people:
            raise ValueError(f"all {seats} seats are taken by programs: leave one to a person")
        self._lobby, self._people, self._seats = lobby, people, seats
        self._on_result = on_result if lobby is None else lobby.on_result
        self._won: dict[str, int] = {}  # chips won at the open table, by name
        self._ended = 0  # hands at the open table
        self._hands: dict[str, PokerHands] = {}  # by table; of those that ended lately too
        self._files = EndedMatches()
        self._sat_out: dict[tuple[str, int], float] = {}  # when a seat last sat out or in, by the loop's time
        self._on_event = on_event or (lambda kind, **fields: None)
        super().__init__(
            rules,
            times,
            room=PokerRoom(observers=MOST_CLIENTS),
            seed=seed,
            server=server,
            programs=programs,
            check_host=True,
            on_event=self._follow,
        )

    def pages(self) -> list[web.RouteDef]:
        """See `PokerHost`."""
        game = holdem(seats=self._seats)
        return [
            web.get("/v1/tables/{table_id}/view", self._view),
            web.get("/v1/tables/{table_id}/ended/{file}", self._ended_file),
            web.post("/v1/tables/{table_id}/sit-out", self._sit_out),
            *page(game, protocol="poker", people=self._people, lobby=self._lobby is not None),
        ]

    def admits(self, name: str | None, token: str | None) -> str | None:
        """See `PokerHost`. A lobby admits people who have no seat here."""
        if self._lobby is None:
            return super().admits(name, token)
        seated = {seat.name for seat in self._table.session.seats.values() if not seat.leaving}
        return self._lobby.admit(name, token) or (f"{name} has a seat at this table" if name in seated else None)

    async def closing(self) -> None:
        """See `Server`."""
        newest = list(self.tables)[-1:]
        await super().closing()
        for table_id in newest:  # none, if the start failed
            self._end(table_id, "stopped")

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
    def _table(self) -> HostedTable:
        """The newest table."""
        return list(self.tables.values())[-1]

    def _found(self, request: web.Request, token: str) -> tuple[HostedTable, SeatToken | None]:
        """Return the table of a request's path, and the seat there of a session token; "": none.

        Raises:
            Refusal: for another table's token, or none; and TABLE_NOT_FOUND.
        """
        table_id = request.match_info["table_id"]
        seat_token = self.admit(token) if token else None
        table = self.tables.get(table_id)
        if table is None or (seat_token is not None and seat_token.table_id != table_id):
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
        drawn = (picture.small_picture if narrow else table.session.game.renderer.picture)([state])
        seats = table.session.seats.items()
        facts |= {
            "out": [one for one, seat in seats if seat.sits_out],
            "waits": [one for one, seat in seats if seat.waits],
        }
        facts["mostHands"] = table.session.rules.max_hands
        facts |= {"watchers": self.watchers, "hands": len(self._hands.get(table.table_id, ()))}
        facts |= {"left": None if table.left is None else round(1000 * table.left), "bank": round(1000 * table.bank)}
        return web.json_response({"picture": drawn, "rank": own.get("rank", ""), **facts})

    def _is_program(self, seat: int, name: str | None) -> bool:
        return seat in self.programs and self.programs[seat][0] == name

    def _follow(self, kind: str, **fields: Any) -> None:
        if kind == "hand":
            names = {seat: name for seat, (name, _) in self.programs.items()}
            self._hands.setdefault(fields["table_id"], PokerHands(names)).add(fields)
            self._ended += 1
            before = {row["seat"]: row for row in fields["players"]}
            for row in fields["results"]:
                name = before[row["seat"]]["name"] or before[row["seat"]]["agent_id"]
                self._won[name] = self._won.get(name, 0) + row["stack"] - before[row["seat"]]["stack"]
            if self._lobby is None:  # a lobby gets one result for all hands of a table
                self._report("hand")
        elif kind == "ended":
            self._end(fields["table_id"], fields["reason"])
        self._on_event(kind, **fields)

    def _end(self, table_id: str, reason: str) -> None:
        """Open the hands of a table that has ended, and report it; forget those of tables that the host forgot."""
        if table_id in self._hands:
            self._hands[table_id].ended = True
        self._report(reason, table_id)
        self._hands = {key: hands for key, hands in self._hands.items() if key in self.tables}
        self._sat_out.clear()

    def _report(self, reason: str, table_id: str = "") -> None:
        """Report what the players have won since the latest report, if a hand was played."""
        names = {name for name, _ in self.programs.values()}
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


class PokerHands:
    """The hands that a poker table has played, as each player may take them home.

    By the custom of poker, a hand history has its reader's cards and those that were shown; what others folded or
    mucked stays theirs. Programs have nothing to hide from the table that has ended: then it has their cards and notes
    too.

    Args:
        programs: the names of the programs, by seat.

    Attributes:
        ended: whether the table has ended.
    """

    def __init__(self, programs: Mapping[int, str]) -> None:
        self._programs = programs
        self._hands: deque[dict[str, Any]] = deque(maxlen=MOST_HANDS)
        self._logs: dict[str | None, tuple[Any, bytes]] = {}  # by reader: of which hands, and the log
        self.ended = False

    def __len__(self) -> int:
        return len(self._hands)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Keep a hand that has ended, as the match log has it."""
        programs = [row["seat"] for row in entry["players"] if self._programs.get(row["seat"]) == row["name"]]
        self._hands.append({**entry, "programs": programs})

    def log(self, reader: str | None) -> bytes:
        """Return the hands as an agent may see them; None: as everybody may."""
        state = self._hands[-1]["hand"] if self._hands else 0, self.ended
        if self._logs.get(reader, (None, b""))[0] != state:
            self._logs = {one: kept for one, kept in self._logs.items() if kept[0] == state}
            self._logs[reader] = state, log_of(_seen(entry, reader, self.ended) for entry in self._hands)
        return self._logs[reader][1]


def _seen(entry: Mapping[str, Any], reader: str | None, ended: bool) -> dict[str, Any]:
    shown = {row["seat"] for row in entry["results"] if "cards" in row}
    open_ = {row["seat"] for row in entry["players"] if row["agent_id"] == reader}
    if ended:
        open_ |= set(entry["programs"])
    hidden = {*NOTES, "reasoning"}
    return {
        "kind": "hand",
        **{name: value for name, value in entry.items() if name != "programs"},
        "players": [row if row["seat"] in shown | open_ else {**row, "cards": []} for row in entry["players"]],
        "actions": [
            action if action["seat"] in open_ else {name: action[name] for name in action.keys() - hidden}
            for action in entry["actions"]
        ],
    }
