"""A table of any TurnState game for people and programs, without I/O: no socket and no clock.

`MatchSession` plays the matches. This session has the seats, the messages to the clients, and the start of the next
match. The I/O shell gives every client a number. A match begins when every seat is taken and all people are connected
and ready. If a person leaves a seat during a match, the safe action is played there until the match ends. The seat
stays taken, because that person has seen hidden information. So it is with a person who has no connection when the
time of a turn is over, until that person comes back.
"""

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec.structs import replace

from ....envs.core import turn_state as ts
from ....envs.core.counted import counted
from ....envs.core.game import Game
from ....envs.core.match import Match
from ....envs.core.turn_state import AgentResponse
from ...logs.match_log import describe_error
from ..common.clock import Outgoing
from ..common.limits import Admit, admit_by_token, folded, problem_of, same_token
from ..common.match_session import MatchLimits, MatchSession
from . import messages

LIMITS = MatchLimits(actions=None, attempts=20)
"""The number of refused answers in one turn after which the safe action is played; people mistype."""

logger = logging.getLogger(__name__)


Sends: TypeAlias = list[Outgoing[messages.ServerMessage]]
"""Messages for clients."""


class TableDue(NamedTuple):
    """The pending turn: its number, its seat, and whether a program or a person has to answer.

    The I/O shell may say that the person is away. ``nobody``: the table goes on by itself after a pause, in seconds.
    """

    who: Literal["program", "person", "away", "nobody"]
    seat: int
    turn: int
    pause: float = 0.0


@dataclass
class TableSeat:
    """A seat.

    Attributes:
        name: the player's name; None: the seat is free.
        program: whether the player is a program.
        token: the token with which a person comes back to the seat.
        client: the number of a person's connection; None without a connection.
        ready: whether the player is ready for the next match.
        dealt: whether the player played in the latest match. A later one may not see the seat's hidden information.
        missed: whether a turn was over while the person had no connection: later turns do not wait.
        key: in hold'em, what opens the files of hands with the cards of this person.
    """

    name: str | None
    program: bool
    token: str | None = None
    client: int | None = None
    ready: bool = False
    dealt: bool = False
    missed: bool = False
    key: str = ""

    @property
    def here(self) -> bool:
        """Whether a program or a connected person has the seat."""
        return self.program or self.client is not None


class TableHostSession:
    """One table, match after match.

    Args:
        game: the game with its options.
        programs: seat by seat, the name of a program; None: a seat for a person. There must be at least one.
        timeout: the time for a turn in milliseconds, which is sent to clients; the timer belongs to the I/O shell.
        seed: the seed of the deals; None takes entropy from the operating system.
        admit: who may take a seat, by name and access token; None: everybody.
        pictures: what draws the pictures of states: none, one, or another one for phones.

    Attributes:
        seats: the seats and their players.
        status: ``waiting`` (for people), ``running`` (a match), or ``over``.
        match: the latest match; None before the first.
        matches: number of matches that have begun.
        hand: the number of the hand in a match of hands; in other games 1.
        dealt: seat by seat, the name of who played in the latest match, and whether it is a program.

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
        admit: Admit | None = None,
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
        self._clients: dict[int, int | None] = {}
        self._latest: dict[int, tuple[int | None, messages.State]] = {}
        self._before = 0  # turns of earlier matches
        self._timeout = timeout
        self._seeds = None if seed is None else np.random.SeedSequence(seed)
        self._admit = admit or admit_by_token(None, "")
        self._pictures = pictures
        self._failed: set[str] = set()  # what the game could not make

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
        seat = self.game.agents.index(self.match.turn)
        return TableDue("program" if self.seats[seat].program else "person", seat, self.turn)

    def connect(self, client: int) -> Sends:
        """Add a client as an observer."""
        self._clients[client] = None
        return [Outgoing(client, self._seating(client)), *self._states([client])]

    def disconnect(self, client: int) -> Sends:
        """Remove a client's connection. It keeps its seat, where the timer plays the safe action."""
        self._latest.pop(client, None)
        seat = self._clients.pop(client, None)
        if seat is None:
            return []
        self.seats[seat].client = None
        return self._seatings()

    @property
    def watchers(self) -> int:
        """The number of clients without a seat."""
        return sum(seat is None for seat in self._clients.values())

    def has_seat(self, client: int) -> bool:
        """Return whether a client sits at the table."""
        return self._clients.get(client) is not None

    def receive(self, client: int, data: Any) -> Sends:
        """Answer what a client sent: text or bytes. Never raises; a refusal changes nothing."""
        message = messages.decode(data)
        match message:
            case str():
                return [_error(client, messages.VALIDATION_ERROR, f"cannot read the message: {message}")]
            case messages.Ping():
                return [Outgoing(client, messages.Pong(watchers=self.watchers))]
            case messages.Sit():
                return self._sit(client, message)
        seat = self._clients[client]
        if seat is None:
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

    def _sit(self, client: int, wish: messages.Sit) -> Sends:
        if self._clients[client] is not None:
            return [_error(client, messages.ALREADY_SEATED, "you have a seat")]
        for number, seat in enumerate(self.seats):
            if wish.token is not None and seat.token is not None and same_token(wish.token, seat.token):
                return self._come_back(client, number)
        if wish.token is not None and wish.name is None:
            return [_error(client, messages.INVALID_TOKEN, "the seat was given to somebody else")]
        problem = self._admit(wish.name, wish.access_token)
        if problem is not None:
            return [_error(client, messages.UNAUTHORIZED, problem)]
        if wish.name is None:
            return [_error(client, messages.VALIDATION_ERROR, "give a name to sit down")]
        problem = problem_of(wish.name)
        if problem is not None:
            return [_error(client, messages.VALIDATION_ERROR, problem)]
        taken = {folded(seat.name) for number, seat in enumerate(self.seats) if seat.name and not self._free(number)}
        if folded(wish.name) in taken:
            return [_error(client, messages.NAME_TAKEN, f"somebody here is called {wish.name} already")]
        free = [number for number in range(self.game.seats) if self._free(number)]
        if not free:
            later = "; one will be after this match" if None in [seat.name for seat in self.seats] else ""
            return [_error(client, messages.TABLE_FULL, f"no seat is free{later}")]
        number = wish.seat if wish.seat in free else free[0]
        token, key = wish.token or secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.seats[number] = TableSeat(wish.name, False, token, ready=True, key=key)
        return self._attach(client, number)

    def _free(self, number: int) -> bool:
        """Return whether a person can take a seat: it is free, or its owner is disconnected between two matches."""
        return self.status != "running" and not self.seats[number].here

    def _come_back(self, client: int, number: int) -> Sends:
        sends: Sends = []
        before = self.seats[number].client
        if before is not None:
            self._clients[before] = None
            sends = [Outgoing(before, messages.Unseated(reason="replaced")), *self._states([before])]
        return sends + self._attach(client, number)

    def _attach(self, client: int, number: int) -> Sends:
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

    def _sit_out(self, client: int, number: int, out: bool) -> Sends:
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
        return MatchSession(self._referee, self.game.agents, seed=self._new_seed(), limits=LIMITS)

    def _new_seed(self) -> int:
        """Return the seed of the next match. That of an earlier one, which stands in its log, must not foretell it."""
        if self._seeds is None:
            return secrets.randbits(63)
        (seed,) = self._seeds.spawn(1)
        return int(seed.generate_state(1, np.uint64)[0] >> np.uint64(1))

    def _act(self, client: int, seat: int, message: messages.Act) -> Sends:
        before = self.turn
        waits = self.due is not None and self.due.seat != seat
        hidden = (
            waits and self.game.visible_turn(self._referee.table, seat) is None
        )  # whose turn it is, and its number too
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

    def _say(self, client: int, seat: int, message: messages.Say) -> Sends:
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
                asked = forecasts is not None and state.is_my_turn
                pays = self._of_game("forecast", forecasts, state) if asked else None
                sends.append(Outgoing(client, replace(shown[1], pictures=drawn, forecasts=pays)))
        return sends

    def _seen(self, seat: int | None) -> ts.TurnState | None:
        """Return what a seat sees; without a seat what those see who look on, None where that is nothing."""
        if seat is not None:
            return self.state(seat)
        return None if self.game.public_view is None else self._referee.public_turn_state()

    def _drawn(self, state: ts.TurnState) -> list[ts.TurnState]:
        """Return what a player's picture shows: at the end what all see; what was said privately stays so."""
        seats = range(self.game.seats) if state.game_over else ()
        return [replace(self.state(one), messages=state.messages) for one in seats] or [state]

    def _of_game(self, what: str, function: Any, argument: Any) -> Any:
        """Return what the game makes for the page; None if it fails, which is logged once. The page does without."""
        try:
            return function(argument)
        except Exception as error:
            if what not in self._failed:
                self._failed.add(what)
                logger.warning("%s: no %s: %s", self.game.id, what, describe_error(error))
            return None

    def _seatings(self) -> Sends:
        return [Outgoing(client, self._seating(client)) for client in self._clients]

    def _seating(self, client: int) -> messages.Seating:
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


def _error(client: int, code: str, message: str) -> Outgoing[messages.ServerMessage]:
    return Outgoing(client, messages.Error(code=code, message=message))
