"""Heads-up matches by the protocol of the Annual Computer Poker Competition: an agent at a dealer, and a dealer.

    python contrib/acpc.py deploy zoo:holdem --dealer 127.0.0.1:20000
    python contrib/acpc.py host --hands 1000 --port 20000

The lines are ``MATCHSTATE:position:hand:betting:cards``. Position 0 has the big blind, position 1 the button. In the
betting, `c` is a check or call, `f` a fold, `r` a raise to all chips that the seat has put into the hand; `/` ends a
street. Both sessions work without sockets: lines in, lines out.
"""

import argparse
import asyncio
import contextlib
import logging
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from parlour.envs.core.game import Game
from parlour.envs.core.rng import streams
from parlour.envs.core.turn_state import Action, AgentResponse
from parlour.envs.holdem import game as holdem
from parlour.envs.holdem import rules
from parlour.envs.holdem.hands import card_name, card_number
from parlour.envs.holdem.rules import Move
from parlour.envs.holdem.table import CALL, FOLD, PHASES, RAISE
from parlour.envs.holdem.view import results
from parlour.training.commands.lookup import agent as named_agent
from parlour.training.commands.lookup import searching_agent
from parlour.wrappers.agents.base import Agent
from parlour.wrappers.live.common.clock import Deadline
from parlour.wrappers.live.common.player import AgentStatistics, Player, Turn, tell
from parlour.wrappers.logs.match_log import SafeMatchLog, opened

logger = logging.getLogger(__name__)

VERSION = "VERSION:2.0.0"
BUTTON = 1
"""The position, and the seat of the record, that has the button and the small blind."""
LONGEST = 4_096
"""The most characters of a line."""
_LINE = re.compile(
    r"MATCHSTATE:([01]):(\d{1,9}):((?:c|f|r\d{1,12}|/)*):([2-9TJQKAcdhs]*)\|([2-9TJQKAcdhs]*)((?:/[2-9TJQKAcdhs]+)*)"
)
_ACTION = re.compile(r"c|f|r\d+")


class MatchState(NamedTuple):
    """A line: the reader's position, the hand's number from 0, its betting, the hole cards by position, the board."""

    position: int
    hand: int
    betting: str
    hole: tuple[tuple[int, ...], tuple[int, ...]]
    board: tuple[int, ...]


def match_game(stack: int = 20_000, small_blind: int = 50, big_blind: int = 100) -> Game:
    """Return the game of a match: every hand begins with whole stacks. The competition had 200 big blinds.

    Raises:
        ValueError: if the stakes cannot be.
    """
    return holdem(seats=2, button=BUTTON, stacks=stack, small_blind=small_blind, big_blind=big_blind)


def read_line(line: str) -> MatchState:
    """Read a line.

    Raises:
        ValueError: if it is none, or a card is there twice.
    """
    match = None if len(line) > LONGEST else _LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"this is no match state: {line[:80]!r}")
    first, second, board = (_cards(match[group].replace("/", "")) for group in (4, 5, 6))
    state = MatchState(int(match[1]), int(match[2]), match[3], (first, second), board)
    known = [*first, *second, *board]
    if len(set(known)) < len(known) or any(len(hole) not in (0, 2) for hole in state.hole) or len(board) > 5:
        raise ValueError(f"these cards cannot be: {line[:80]!r}")
    return state


def _cards(text: str) -> tuple[int, ...]:
    return tuple(card_number(text[at : at + 2]) for at in range(0, len(text), 2))


def write_line(table: Any, position: int, hand: int, betting: str) -> str:
    """Return what the seat at `position` sees of a hand: at a showdown, the cards of both."""
    hole = [
        "".join(card_name(int(card)) for card in table.cards[seat]) if seat == position or table.showdown else ""
        for seat in range(2)
    ]
    board = [card_name(int(card)) for card in table.board[: int(table.board_count)]]
    streets = [board[:3], board[3:4], board[4:5]]
    shown = "".join("/" + "".join(street) for street in streets if street)
    return f"MATCHSTATE:{position}:{hand}:{betting}:{hole[0]}|{hole[1]}{shown}"


def replayed(game: Game, state: MatchState) -> Any:
    """Return the record of the hand.

    Args:
        game: see `match_game`.
        state: the line; the seats of the record are the positions.

    Raises:
        ValueError: if the betting breaks the rules, or the cards do not fit it.
    """
    table = game.tables(1)[0]
    rules.open_episode(table)
    cards, board = np.full((2, 2), -1, np.int8), np.full(5, -1, np.int8)
    for seat, hole in enumerate(state.hole):
        cards[seat, : len(hole)] = hole
    board[: len(state.board)] = state.board
    rules.deal_known(table, cards, board)
    for text in _ACTION.findall(state.betting):
        rules.step(table, read_action(table, text))
    if not table.done and int(table.board_count) != len(state.board):
        raise ValueError(f"{len(state.board)} cards of the board on the {PHASES[int(table.phase)]}")
    return table


def _on_streets_before(table: Any) -> int:
    """Return the acting seat's chips in the pot from the streets before: on the wire a raise counts them too."""
    seat = int(table.turn)
    return int(table.committed[seat] - table.bet[seat])


def read_action(table: Any, text: str) -> Move:
    """Return the move of the acting seat.

    Raises:
        ValueError: if it is none, or not legal.
    """
    if table.done or _ACTION.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is no action here")
    if text == "c":
        return Move(CALL, 0)
    if text == "f":
        if table.to_call == 0:
            raise ValueError("a fold to no bet")
        return Move(FOLD, 0)
    amount = int(text[1:]) - _on_streets_before(table)
    if table.raise_min == 0 or not table.raise_min <= amount <= table.raise_max:
        raise ValueError(f"{text[:40]}: a raise is to {table.raise_min} up to {table.raise_max} on this street")
    return Move(RAISE, amount)


def nearest_action(table: Any, text: str) -> Move:
    """Return what the competition's dealer plays for an answer that is not legal: the nearest raise, else a call."""
    if text[:1] == "r" and _ACTION.fullmatch(text) and table.raise_min > 0:
        amount = int(text[1:]) - _on_streets_before(table)
        return Move(RAISE, min(max(amount, int(table.raise_min)), int(table.raise_max)))
    return Move(CALL, 0)


def write_action(table: Any, move: Move) -> str:
    """Return a legal move of the acting seat as text; a fold to no bet is a check."""
    if move.kind == RAISE:
        return f"r{move.amount + _on_streets_before(table)}"
    return "f" if move.kind == FOLD and table.to_call > 0 else "c"


_KINDS = {"f": "fold", "c": "call", "r": "raiseTo"}


class AgentSession:
    """The agent's end.

    Args:
        game: see `match_game`.
        on_hand: is called at the end of each hand with the chips won, less those lost.

    Attributes:
        hands: number of hands that have ended.
        chips: chips won in them, less those lost.
    """

    def __init__(self, game: Game, on_hand: Callable[[int], None] = lambda chips: None) -> None:
        self._game, self._on_hand = game, on_hand
        self._line, self._table = "", None
        self.hands = self.chips = 0

    def receive(self, line: str) -> Turn | None:
        """Read a line; return the agent's turn, if it is one. Comments and states of others' turns are none.

        Raises:
            ValueError: for a line that cannot be; the session goes on.
        """
        line = line.strip()
        if not line or line[0] in "#;":
            return None
        state = read_line(line)
        table = replayed(self._game, state)
        if table.done:
            self.hands += 1
            self.chips += int(table.rewards[state.position])
            tell("a hand", self._on_hand, int(table.rewards[state.position]))
        if table.done or int(table.turn) != state.position:
            return None
        if len(state.hole[state.position]) != 2:
            raise ValueError("the own cards are not there")
        self._line, self._table = line, table
        seen = self._game.turn_state(table, state.position)
        seen.game_state["hand"] = state.hand + 1  # of the match; an episode of the game has one hand
        return Turn(seen, state.hand, name="acpc")

    def act(self, response: AgentResponse) -> str:
        """Return the line that answers the latest turn; an action that is not legal is a check or a fold."""
        table: Any = self._table
        move = self._game.view.parse(table, Action(response.action.action_type, response.action.payload))
        chosen = move if isinstance(move, Move) else Move(FOLD, 0)
        return f"{self._line}:{write_action(table, chosen)}"


class HostSession:
    """The dealer's end: hands with whole stacks, the button in turns.

    Args:
        game: see `match_game`.
        seed: of the deals; None for fresh entropy.

    Attributes:
        hand: the number of the hand, from 0.
        hands: number of hands that have ended.
        totals: int64[2], the chips that each player has won in the hands that have ended.
        refused: the answers that were not legal.
        replaced: the turns in which no answer came.
    """

    def __init__(self, game: Game, seed: int | None = None) -> None:
        self._game = game
        self._tables = game.tables(1)
        self._tables.stream = streams(seed, 1)
        self.hand, self.totals = -1, np.zeros(2, np.int64)
        self.hands = self.refused = self.replaced = 0
        self.go_on()

    def go_on(self) -> None:
        """Begin the next hand."""
        self.hand, self.betting = self.hand + 1, ""
        self._actions: list[dict[str, Any]] = []
        self._game.rules.reset(self._tables[0])

    @property
    def turn(self) -> int | None:
        """The player that decides, 0 or 1; None: the hand is over."""
        table = self._tables[0]
        return None if table.done else self._player(int(table.turn))

    def _player(self, position: int) -> int:
        """Player 0 has the big blind in the first hand. The mapping is its own inverse."""
        return (position + self.hand) % 2

    def lines(self) -> list[str]:
        """Return what both players see."""
        return [write_line(self._tables[0], self._player(each), self.hand, self.betting) for each in range(2)]

    def receive(self, line: str) -> bool:
        """Play the answer of the player whose turn it is, and return whether it is one.

        As at the competition's dealer, what answers another state is none, and `nearest_action` replaces an action that
        is not legal.
        """
        table = self._tables[0]
        state, _, text = line.strip().rpartition(":")
        if state != self.lines()[self._player(int(table.turn))]:
            return False
        try:
            self._play(read_action(table, text))
        except ValueError:
            self.refused += 1
            self._play(nearest_action(table, text))
        return True

    def give_up(self) -> None:
        """Check, else fold, for the player whose turn it is."""
        self.replaced += 1
        self._play(Move(FOLD if self._tables[0].to_call > 0 else CALL, 0))

    def _play(self, move: Move) -> None:
        table = self._tables[0]
        begun, text, seat = _streets(table), write_action(table, move), int(table.turn)
        kind = "check" if text == "c" and table.to_call == 0 else _KINDS[text[0]]
        self._actions.append({"seat": seat, "kind": kind} | ({"amount": move.amount} if kind == "raiseTo" else {}))
        self._game.rules.step(table, move)
        self.betting += text + "/" * (_streets(table) - begun)
        if table.done:
            self.hands += 1
            self.totals[[self._player(0), self._player(1)]] += table.rewards[:2].astype(np.int64)

    def logged(self) -> dict[str, Any]:
        """Return the hand for the match log, as the host of the poker protocol writes it: with all cards."""
        table, options = self._tables[0], self._game.options
        players = [
            {
                "seat": seat,
                "name": f"player {self._player(seat) + 1}",
                "stack": options["stacks"],
                "cards": _names(table.cards[seat]),
            }
            for seat in range(2)
        ]
        return {
            "hand": self.hand + 1,
            "dealer": BUTTON,
            "small_blind": options["small_blind"],
            "big_blind": options["big_blind"],
            "players": players,
            "actions": self._actions,
            "board": _names(table.board[: int(table.board_count)]),
            "showdown": bool(table.showdown),
            "results": results(table, None),
        }


def _streets(table: Any) -> int:
    """Return the number of streets after the first whose cards lie on the board."""
    return max(0, int(table.board_count) - 2)


def _names(cards: Any) -> list[str]:
    return [card_name(int(card)) for card in cards]


def greeted(line: str) -> bool:
    """Return whether a client's first line names a version that is spoken."""
    return line.strip().rpartition(".")[0] == VERSION.rpartition(".")[0]


SECONDS = 7.0
"""Seconds for an answer. The competition's dealer allows that much for a hand, on average."""
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def play_acpc(
    host: str,
    port: int,
    agent: Agent,
    session: AgentSession,
    *,
    seconds: float = SECONDS,
    statistics: AgentStatistics | None = None,
    log: SafeMatchLog | None = None,
) -> None:
    """Let an agent play the match of a dealer to its end. The session counts the hands and chips.

    Args:
        host, port: the dealer's address.
        agent: the agent.
        session: a new session.
        seconds: for an answer; then the safe action is played.
        statistics: the counters; None: new ones.
        log: the match log.

    Raises:
        OSError: if there is no dealer.
    """
    player = Player(agent, log=log, statistics=statistics)
    await player.warm_up()
    reader, writer = await asyncio.open_connection(host, port, limit=LONGEST)
    try:
        writer.write(f"{VERSION}\r\n".encode())
        while True:
            try:
                line = await reader.readline()
                turn = session.receive(line.decode("ascii", "replace"))
            except ValueError as error:  # also of a line that is too long
                logger.warning("a line was not understood: %s", error)
                continue
            if turn is not None:
                played = await player.answer(turn, Deadline.after(seconds))
                writer.write(f"{session.act(played.response)}\r\n".encode())
                await writer.drain()
            if not line:
                return
    except ConnectionError:
        return
    finally:
        writer.close()
        player.close()


async def host_acpc(
    session: HostSession,
    *,
    hands: int,
    address: str = "127.0.0.1",
    port: int = 0,
    seconds: float = SECONDS,
    log: SafeMatchLog | None = None,
    ready: Callable[[int], None] = lambda port: None,
) -> None:
    """Deal a match to the first two clients that come. The session counts what each has won.

    Args:
        session: a new session.
        hands: number of hands.
        address, port: where to listen; port 0: a free one.
        seconds: for an answer; then it is a check, else a fold.
        log: the match log.
        ready: called with the port.
    """
    seats: list[Stream] = []
    full = asyncio.Event()

    async def come(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = b""
        with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
            line = await asyncio.wait_for(reader.readline(), seconds)
        if full.is_set() or not greeted(line.decode("ascii", "replace")):
            writer.close()
            return
        seats[:] = [seat for seat in seats if not seat[0].at_eof()]  # who has gone meanwhile has no seat
        seats.append((reader, writer))
        if len(seats) == 2:
            full.set()

    server = await asyncio.start_server(come, address, port, limit=LONGEST)
    try:
        ready(server.sockets[0].getsockname()[1])
        await full.wait()
        server.close()
        await _deal(session, seats, hands, seconds, log or SafeMatchLog(None))
    finally:
        server.close()
        for _, writer in seats:
            writer.close()


async def _deal(session: HostSession, seats: list[Stream], hands: int, seconds: float, log: SafeMatchLog) -> None:
    while True:
        for (_, writer), line in zip(seats, session.lines(), strict=True):
            writer.write(f"{line}\r\n".encode())
        for _, writer in seats:
            with contextlib.suppress(ConnectionError):  # a player that is gone checks and folds
                await writer.drain()
        if session.turn is not None:
            await _answer(session, seats[session.turn][0], seconds)
            continue
        log.write("hand", **session.logged())
        if session.hand + 1 == hands or all(reader.at_eof() for reader, _ in seats):
            return
        session.go_on()


async def _answer(session: HostSession, reader: asyncio.StreamReader, seconds: float) -> None:
    """Play the first answer to the state; none in time, or too long a line: a check, else a fold."""
    with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
        async with asyncio.timeout(seconds):
            while line := await reader.readline():
                if session.receive(line.decode("ascii", "replace")):
                    return
    session.give_up()


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description="Heads-up matches by the protocol of the ACPC")
    commands = parser.add_subparsers(dest="command", required=True)
    deploy = commands.add_parser("deploy", help="play a match at a dealer, to its end")
    deploy.add_argument("player", help="a policy's file or folder, zoo:holdem, or a bot")
    deploy.add_argument("--dealer", default="127.0.0.1:20000", help="HOST:PORT; the port is that of the player")
    deploy.add_argument("--search", action="store_true", help="solve the rest of the hand again from the flop on")
    host = commands.add_parser("host", help="deal a match to the first two players that connect")
    host.add_argument("--hands", type=int, default=1_000)
    host.add_argument("--address", default="127.0.0.1")
    host.add_argument("--port", type=int, default=20_000)
    for command in (deploy, host):
        command.add_argument("--stack", type=int, default=20_000)
        command.add_argument("--small-blind", type=int, default=50)
        command.add_argument("--big-blind", type=int, default=100)
        command.add_argument("--seconds", type=float, default=SECONDS, help="for an answer; then the safe action")
        command.add_argument("--seed", type=int)
        command.add_argument("--log", help="a match log to append to")
    args = parser.parse_args()
    game = match_game(args.stack, args.small_blind, args.big_blind)
    with opened(args.log) as match_log, contextlib.suppress(KeyboardInterrupt):
        log = SafeMatchLog(match_log)
        if args.command == "host":
            match = HostSession(game, args.seed)
            where = {"address": args.address, "port": args.port, "seconds": args.seconds, "log": log}
            ready = lambda port: print(f"dealing at {args.address}:{port}", flush=True)  # noqa: E731
            asyncio.run(host_acpc(match, hands=args.hands, ready=ready, **where))
            for number, won in enumerate(match.totals.tolist(), 1):
                each = won / match.hands / args.big_blind
                print(f"player {number} wins {won:+} chips, {each:+.3f} big blinds a hand")
        else:
            address, _, port = args.dealer.rpartition(":")
            if not address or not port.isdecimal():
                parser.error(f"--dealer {args.dealer}: give HOST:PORT")
            agent, session, counts = named_agent(args.player, game, args.seed), AgentSession(game), AgentStatistics()
            agent = searching_agent(args.player, agent, args.seed) if args.search else agent
            play = play_acpc(address, int(port), agent, session, seconds=args.seconds, statistics=counts, log=log)
            asyncio.run(play)
            print(f"{session.hands} hands, {session.chips:+} chips, {counts.replaced} replaced")


if __name__ == "__main__":
    main()
