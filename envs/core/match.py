"""Match: the referee of one table. It holds the record, the messages and the turn, and accepts or refuses actions.

It has no environment API, no I/O and no clock. `GameEnv` and the hosts of the live protocols use it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from reprlib import repr
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from . import turn_state as ts
from .capabilities import as_options
from .game import Game
from .loops import BEGIN, DONE, LOOK, REWARDED
from .machine_code import direct
from .plain_start import PLAIN_START
from .rng import streams
from .turn_state import Action, ActionResult, AgentResponse, Message, MessageIntent, TurnState

Wired = TypeVar("Wired", bound=ts.Wire)

WAITS_PER_TURN = 10
"""`message_only` actions an agent may take in one turn before its safe action is played for it."""

_ROW = np.zeros(1, np.int64)  # the row of the only table
_OWN = {"table", "_records", "_stream", "_rewards", "_step", "_observe", "_look", "_offsets", "_talk"}
"""Attributes that a copy makes again."""


class Match:
    """One table of a game, episode after episode.

    The acting seat decides by `submit` (an answer, as a wire has it), `play` (an action index) or `play_move` (an exact
    move of the rules); `submit` alone checks what it is given. `send` sends a message and keeps the turn.

    Args:
        game: the game with its options.
        encoder: name of the encoder of the observations; None: the game's own encoder.

    Attributes:
        tables: the table, recarray of shape (1,).
        table: its record: the whole state of the table, hidden information included.
        messages: every message of this episode, in order.
        done: whether the episode is over; None before the first one.
        seats: every agent's seat.
        turn: the seat that decides next; after the end of the episode, the seat of the last decision.
        decisions: the number of decisions in this episode.
        rewarded: whether any reward of the last step is not 0.
        observed: float32[D], the acting seat's observation.
        mask: int8[A], its action mask.

    Raises:
        ValueError: if the encoder shows hidden information.
    """

    _step: Callable[..., int]
    _observe: Callable[..., None]

    def __init__(self, game: Game, encoder: str | None = None) -> None:
        self.game = game
        self.encoder = encoder or game.encoder
        game.check_encoder(self.encoder)
        PLAIN_START.expect(game.registered, game.options, self.encoder)
        self.seats = {agent: seat for seat, agent in enumerate(game.agents)}
        self.tables = game.tables(1)
        batch = game.batch(1, self.encoder)
        self.observed: NDArray[np.float32] = batch.observations[0]
        self.mask: NDArray[np.int8] = batch.masks[0]
        self._share()
        self.messages: list[Message] = []
        self.done: bool | None = None
        self.rewarded = False
        self.turn = 0
        self.decisions = 0
        self._matches = 0
        self._given_id = ""
        self._waits = 0
        self._sent: dict[str, int] = {}
        self._numbers: dict[str, int] = {}  # of messages, by the beginning of their ids

    # The episode.

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode.

        Args:
            seed: seed of the table's random stream, from 0 up. None continues the stream; a first reset then takes
                entropy from the operating system.
            options: what chance would decide, if the game has the capability `Setup`, such as hold'em's cards.

        Raises:
            ValueError: for a negative seed, or options that cannot be; nothing has changed then.
        """
        setup = self.game.capabilities.setup
        given = None if options is None else as_options(options) if setup is None else setup.chosen(options)
        if setup is not None and given:  # tried on another table first
            trial = self.game.tables(1)
            self.game.rules.reset(trial[0])
            setup.apply(trial[0], given)
        if seed is not None or self.done is None:
            fresh = streams(seed, 1)[0]
            self.tables[:] = self.game.rules.blank
            self._stream[0] = fresh
            self._matches = 0
        self._matches, self._given_id = self._matches + 1, ""
        self._do(BEGIN)
        if hasattr(self._observe, "overloads"):
            self._step = direct(self._step, self._records, 0, self.observed, self.mask, self._offsets)
            self._observe = direct(self._observe, *self._look)
        self.decisions = self._waits = 0
        self.messages, self._numbers, self._sent = [], {}, {}
        if setup is not None and given:
            setup.apply(self.table, given)
            self.refresh()

    @property
    def match_id(self) -> str:
        """Counts the episodes since the latest seed; empty before the first one.

        It is the same for every seed: a digest of the random stream would tell a small seed, and with it all that is
        hidden. Hosts draw their ids.
        """
        return self._given_id or (f"{self.game.id}-{self._matches - 1}" if self._matches else "")

    @match_id.setter
    def match_id(self, match_id: str) -> None:
        self._given_id = match_id

    @property
    def rewards(self) -> list[float]:
        """The rewards of the last step, one per seat."""
        rewards: list[float] = self._rewards.tolist()
        return rewards

    def require_agent(self, agent: str) -> None:
        """Raise ValueError, naming the agents, unless the game has this agent."""
        if agent not in self.seats:
            raise ValueError(f"{agent!r} is not an agent of this game; the agents are {', '.join(self.game.agents)}")

    def seat_of(self, agent: str) -> int:
        """Return an agent's seat.

        Raises:
            ValueError: for an unknown agent, or before the first reset.
        """
        self.require_agent(agent)
        if self.done is None:
            raise ValueError("the table is empty: call reset() first")
        return self.seats[agent]

    # Observations.

    def turn_state(self, agent: str) -> TurnState:
        """Return the TurnState of `agent`, in turn or out of it.

        Raises:
            ValueError: for an unknown agent, or before the first reset.
        """
        seat = self.seat_of(agent)
        return self.game.turn_state(self.table, seat, [m for m in self.messages if _reads(agent, m)], self.match_id)

    def public_turn_state(self) -> TurnState:
        """Return the TurnState of observers without a seat.

        Raises:
            ValueError: if the game has no public view, or before the first reset.
        """
        self.seat_of(self.game.agents[0])
        public = [message for message in self.messages if message.scope == ts.MessageScope.PUBLIC]
        return self.game.public_turn_state(self.table, public, self.match_id)

    def turn_states(self, view: str) -> list[TurnState]:
        """Return the TurnStates of a view, as `Renderer` takes them.

        Args:
            view: ``"public"``, an agent's name, or ``"all"`` (one state per agent).

        Raises:
            ValueError: for an unknown agent, if the game has no public view, or before the first reset.
        """
        if view == "all":
            return [self.turn_state(agent) for agent in self.game.agents]
        return [self.public_turn_state() if view == "public" else self.turn_state(view)]

    def observation(self, seat: int) -> NDArray[np.float32]:
        """Return the observation of a seat, by this match's encoder, in a new array: float32[D]."""
        if seat == self.turn and not self.done:
            return self.observed.copy()
        _, _, seats, _, out = self._look
        seats[0] = seat
        self._observe(*self._look)
        seen: NDArray[np.float32] = out[0].copy()
        return seen

    # Actions.

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """Send the messages of a response, then play its action, a documented payload.

        Args:
            agent: the agent that answers.
            response: `AgentResponse` or `Action`, or either as a dict. ``message_only {}`` sends the messages and keeps
                the turn. ``pass {}`` plays the game's safe action if the game has no action type `pass`.

        Returns:
            ok, or an error code of `turn_state.ERROR_CODES` with a sentence. A refused response changes nothing, and
            the agent keeps the turn.
        """
        problem = self._barred(agent)
        if problem is not None:
            return problem
        if self.seats[agent] != self.turn:
            whose = self.game.visible_turn(self.table, self.seats[agent]) or "another agent"
            return ts.refused(ts.NOT_YOUR_TURN, f"{agent} cannot act: it is {whose}'s turn")
        try:
            messages, action = _response(response)
        except (ValueError, TypeError, RecursionError) as error:
            return ts.refused(ts.INVALID_PAYLOAD, str(error))
        problem = self._unsendable(agent, messages)
        if problem is not None:
            return problem
        if action.action_type == "message_only":
            return self._wait(agent, messages, action)
        view = self.game.view
        if action.action_type == "pass" and "pass" not in view.action_spaces and not action.payload:
            move = self.game.rules.decode(self.table, view.safe(self.table))
        else:
            move = view.parse(self.table, action)
        if isinstance(move, ActionResult):
            return move
        self._deliver(agent, messages, record=True)
        self._deliver(agent, self._action_messages(action), record=False)
        self.play_move(move)
        return ts.accepted()

    def send(self, agent: str, intent: MessageIntent | Mapping[str, Any]) -> ActionResult:
        """Send one message, in turn or out of it. The turn does not change.

        Returns:
            ok, or an error code of `turn_state.ERROR_CODES` with a sentence.
        """
        problem = self._barred(agent)
        if problem is not None:
            return problem
        try:
            message = _read(intent, MessageIntent)
        except (ValueError, TypeError, RecursionError) as error:
            return ts.refused(ts.INVALID_PAYLOAD, str(error))
        problem = self._unsendable(agent, [message])
        if problem is None:
            self._deliver(agent, [message], record=True)
        return problem or ts.accepted()

    def play(self, action: int, *, silent: bool = False) -> None:
        """Play the acting seat's legal action index.

        Args:
            action: the index.
            silent: whether to leave out the messages that belong to the action, which a host sends itself.
        """
        if self._talk is not None and not silent:
            response = self.game.view.encode(self.table, action)
            messages = response.messages + self._action_messages(response.action)
            self._deliver(self.game.agents[self.turn], messages, record=False)
        self._do(action, 1)

    def play_move(self, move: Any) -> None:
        """Play a move of the acting seat that `View.parse` or `ActionGrid.decode` returned, and send no message."""
        self.game.rules.step(self.table, move)
        self._do(LOOK, 1)

    def refresh(self) -> None:
        """Read the record again, after it was changed in another way than by an action index."""
        self._do(LOOK)

    def _do(self, action: int, decisions: int = 0) -> None:
        code = self._step(self._records, action, self.observed, self.mask, self._offsets)
        self.done, self.rewarded = code & DONE != 0, code & REWARDED != 0
        if not self.done:
            self.turn = code & 0xFFFF
        if decisions:
            self.decisions += decisions
            if self._waits or self._sent:
                self._waits, self._sent = 0, {}

    # Copies.

    def clone(self) -> "Match":
        """Return an independent copy of the record, the messages and all counters."""
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Match":
        twin = Match.__new__(Match)
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _OWN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._share()

    def _share(self) -> None:
        """Make the attributes that share the record's memory, and those that a copy cannot take over."""
        self._step = self.game.loops(self.encoder).one
        encoder = self.game.encoders[self.encoder]
        self._observe = encoder.loop
        self._offsets: NDArray[Any] = encoder.layout.offsets
        self._talk = self.game.capabilities.talk
        self.table: Any = self.tables[0]
        self._records: NDArray[Any] = self.tables.view(np.ndarray)  # Numba takes a plain array faster
        self._look: tuple[Any, ...] = (
            self._records,
            _ROW,
            _ROW.copy(),
            self._offsets,
            np.empty((1, encoder.layout.size), np.float32),
        )
        self._stream: NDArray[np.uint64] = self.tables["stream"]  # faster than the record's attributes
        self._rewards = self.tables["rewards"][0, : self.game.seats]

    # Private.

    def _barred(self, agent: str) -> ActionResult | None:
        if agent not in self.seats:
            return ts.refused(ts.AGENT_NOT_IN_MATCH, f"{agent!r} is not one of {', '.join(self.game.agents)}")
        if self.done is not False:
            return not_running()
        return None

    def _wait(self, agent: str, messages: list[MessageIntent], action: Action) -> ActionResult:
        """Send messages and keep the turn; after `WAITS_PER_TURN` times, play the safe action."""
        if action.payload:
            return ts.refused(ts.INVALID_PAYLOAD, f"message_only takes no payload, got {repr(action.payload)}")
        self._deliver(agent, messages, record=True)
        self._waits += 1
        if self._waits > WAITS_PER_TURN:
            self.play(self.game.view.safe(self.table))
        return ts.accepted()

    def _action_messages(self, action: Action) -> list[MessageIntent]:
        talk = self._talk
        return [] if talk is None or talk.action_messages is None else talk.action_messages(self.table, action)

    def _unsendable(self, agent: str, messages: Sequence[MessageIntent]) -> ActionResult | None:
        if self._sent.get(agent, 0) + len(messages) > ts.MESSAGES_PER_TURN:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"{ts.MESSAGES_PER_TURN} is the limit of messages in a turn")
        talk = self._talk
        for message in messages:
            strangers = [reader for reader in message.to_agent_ids or () if reader not in self.seats]
            if strangers:
                return ts.refused(ts.INVALID_PAYLOAD, f"no such recipient: {', '.join(map(repr, strangers))}")
            if len(message.content) > ts.MESSAGE_LENGTH:
                return ts.refused(ts.INVALID_PAYLOAD, f"a message has at most {ts.MESSAGE_LENGTH} characters")
            if talk is not None and talk.message_violation is not None:
                why = talk.message_violation(self.table, self.seats[agent], message)
                if why is not None:
                    return ts.refused(ts.GAME_RULE_VIOLATION, why)
        return None

    def _deliver(self, agent: str, messages: Sequence[MessageIntent], *, record: bool) -> None:
        talk = self._talk
        for intent in messages:
            readers = list(intent.to_agent_ids or ())
            number = self._message_id(agent, intent.scope, readers)
            self.messages.append(Message(number, agent, intent.scope, intent.content, readers))
            if record and talk is not None and talk.record_message is not None:
                talk.record_message(self.table, self.seats[agent], intent)
                self.refresh()
        if messages:
            self._sent[agent] = self._sent.get(agent, 0) + len(messages)

    def _message_id(self, sender: str, scope: ts.MessageScope, readers: Sequence[str]) -> str:
        """Return an id that reveals nothing about messages that its readers cannot read.

        Public messages are numbered from 0. The id of a private one has the number of public messages before it, the
        names of its readers, and a number that counts the private messages of the same readers.
        """
        series = ""
        if scope == ts.MessageScope.PRIVATE:
            series = f"{self._numbers.get('', 0)}-{'+'.join(sorted({sender, *readers}))}-"
        number = self._numbers.get(series, 0)
        self._numbers[series] = number + 1
        return f"{series}{number}"


def not_running() -> ActionResult:
    """Return the refusal of an action before the first reset or after the end."""
    return ts.refused(ts.MATCH_NOT_RUNNING, "the match is over or has not begun; reset() begins one")


def _reads(agent: str, message: Message) -> bool:
    public = message.scope == ts.MessageScope.PUBLIC
    return public or agent == message.sender_id or agent in (message.to_agent_ids or ())


def _response(response: Any) -> tuple[list[MessageIntent], Action]:
    if isinstance(response, Action) or (isinstance(response, Mapping) and "action_type" in response):
        return [], _read(response, Action)
    whole = _read(response, AgentResponse)
    return whole.messages, whole.action


def _read(data: Any, kind: type[Wired]) -> Wired:
    """Convert `data` as if it were JSON; raise ValueError, TypeError or RecursionError if JSON cannot hold it."""
    builtins = msgspec.to_builtins(msgspec.convert(data, kind, from_attributes=True), enc_hook=_number_of_numpy)
    json.dumps(builtins, allow_nan=False, ensure_ascii=False).encode()
    return msgspec.convert(builtins, kind)


def _number_of_numpy(value: Any) -> Any:
    if isinstance(value, np.generic):  # such as an amount computed from an observation
        return value.item()
    raise TypeError(f"{type(value).__name__} {value!r} cannot be written as JSON")
