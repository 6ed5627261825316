"""Match: the referee of one table. The record, the messages, whose turn it is, what is accepted and what is refused.

It knows no environment API, no socket and no clock. `GameEnv` and the hosts of live protocols stand on it.
"""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from hashlib import blake2b
from reprlib import repr
from typing import Any, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from . import turn_state as ts
from .game import Game
from .rng import streams
from .turn_state import Action, ActionResult, AgentResponse, Message, MessageIntent, TurnState

Wired = TypeVar("Wired", bound=ts.Wire)

WAITS_PER_TURN = 10
"""`message_only` actions an agent may take in one turn before its safe action is played for it."""

_ROW = np.zeros(1, np.int64)  # the table's own row in arrays of one
_OWN = ("table", "_records", "_stream", "_rewards", "_loops", "_talk")  # what a copy makes for itself


class Match:
    """One table of a game, episode after episode.

    Args:
        game: the game with its options.
        encoder: how `observe` shows it; None: the game's own encoder.

    Attributes:
        table: the record itself; its bytes are the whole game.
        messages: everything said in this episode, in order.
        match_id: differs from episode to episode.
        done: whether the episode is over; None before the first one.
        turn: the seat that decides next; that of the last decision once the episode is over.
        decisions: how many were played in this episode.
        batch: what the acting seat sees, and what the latest step brought (see `loops.Batch`), in row 0.

    Raises:
        ValueError: if the encoder shows hidden information.
    """

    def __init__(self, game: Game, encoder: str | None = None) -> None:
        self.game = game
        self.encoder = encoder or game.encoder
        game.check_encoder(self.encoder)
        self._seat_of = {agent: seat for seat, agent in enumerate(game.agents)}
        self._tables = game.tables(1)
        self._share()
        self.batch = game.batch(1, self.encoder)
        self._action = np.zeros(1, np.int64)
        self.messages: list[Message] = []
        self.match_id = ""
        self.done: bool | None = None
        self.turn = 0
        self.decisions = 0
        self._matches = 0
        self._waits = 0
        self._sent: dict[str, int] = {}
        self._numbers: dict[str, int] = {}  # of messages, by how their ids begin

    # The episode.

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin an episode. Without a seed the table's own stream goes on (a first reset takes fresh entropy).

        Args:
            seed: of the table's stream.
            options: what chance would decide, where the game lets it be given (`Setup`), such as hold'em's cards.

        Raises:
            ValueError: for a negative seed, or options that cannot be; nothing has changed then.
        """
        setup = self.game.capabilities.setup
        given = {} if setup is None else setup.chosen(options)
        if setup is not None and given:  # tried on another table first
            trial = self.game.tables(1)
            self.game.rules.reset(trial[0])
            setup.apply(trial[0], given)
        if seed is not None or self.done is None:
            fresh = streams(seed, 1)[0]
            self._tables[:] = self.game.rules.blank
            self._stream[0] = fresh
            self._matches = 0
        # One-way: from the stream itself an agent could work out every hidden card.
        digest = blake2b(self._stream.tobytes(), digest_size=8).hexdigest()
        self.match_id = f"{self.game.id}-{digest}-{self._matches}"
        self._matches += 1
        self._loops.reset(self._records, self.batch)
        self.done = False
        self.turn = int(self.batch.turn[0])
        self.decisions = 0
        self.messages, self._numbers = [], {}
        self._waits, self._sent = 0, {}
        if setup is not None and given:
            setup.apply(self.table, given)
            self.refresh()

    @property
    def rewards(self) -> list[float]:
        """What the latest step brought each seat."""
        return self._rewards.tolist()[: self.game.seats]

    def seat_of(self, agent: str) -> int:
        """Return an agent's seat.

        Raises:
            ValueError: for an unknown agent, or before the first reset.
        """
        if agent not in self._seat_of:
            raise ValueError(f"{agent!r} is no agent of this game; the agents are {', '.join(self.game.agents)}")
        if self.done is None:
            raise ValueError("the table is empty: call reset() first")
        return self._seat_of[agent]

    # What is seen.

    def turn_state(self, agent: str) -> TurnState:
        """Return what `agent` sees, at any time.

        Raises:
            ValueError: for an unknown agent, or before the first reset.
        """
        seat = self.seat_of(agent)
        return self.game.turn_state(self.table, seat, [m for m in self.messages if _reads(agent, m)], self.match_id)

    def public_turn_state(self) -> TurnState:
        """Return what observers without a seat see.

        Raises:
            ValueError: if the game has no public view, or before the first reset.
        """
        self.seat_of(self.game.agents[0])
        public = [message for message in self.messages if message.scope == ts.MessageScope.PUBLIC]
        return self.game.public_turn_state(self.table, public, self.match_id)

    def turn_states(self, view: str) -> list[TurnState]:
        """Return the TurnStates of a view, as `Renderer.picture` takes them.

        Args:
            view: ``"public"``, an agent's name, or ``"all"`` (every agent's).

        Raises:
            ValueError: for an unknown agent, if the game has no public view, or before the first reset.
        """
        if view == "all":
            return [self.turn_state(agent) for agent in self.game.agents]
        return [self.public_turn_state() if view == "public" else self.turn_state(view)]

    def observation(self, seat: int) -> NDArray[np.float32]:
        """Return what a seat sees, with this match's encoder, in a new array: float32[D]."""
        if seat == self.turn and not self.done:
            current: NDArray[np.float32] = self.batch.observations[0]
            return current.copy()
        return self.game.encoders[self.encoder].observation(self.table, seat)

    # What is played.

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """Play a documented payload exactly: messages first, then the action.

        Args:
            agent: who answers.
            response: `AgentResponse` or `Action`, or either as a dict. ``message_only {}`` sends the messages and keeps
                the turn; ``pass {}`` plays the game's safe action where the game has no `pass` of its own.

        Returns:
            ok, or a documented error code with a sentence. A refused response changes nothing and keeps the turn.
        """
        problem = self._barred(agent)
        if problem is not None:
            return problem
        if self._seat_of[agent] != self.turn:
            whose = self.game.visible_turn(self.table, self._seat_of[agent]) or "another"
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
        self.step(move)
        return ts.accepted()

    def send(self, agent: str, intent: MessageIntent | Mapping[str, Any]) -> ActionResult:
        """Send one message, in turn or out of it. It never moves the turn."""
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

    def play(self, action: int) -> None:
        """Play the acting seat's legal action index; what it says is sent as a message."""
        if self._talk is not None:
            response = self.game.view.encode(self.table, action)
            messages = response.messages + self._action_messages(response.action)
            self._deliver(self.game.agents[self.turn], messages, record=False)
        self.step_action(action)

    def step_action(self, action: int) -> None:
        """Play the acting seat's legal action index; nothing is sent, whatever it says."""
        self._action[0] = action
        self._loops.step(self._records, self._action, self.batch, False)
        self._played()

    def step(self, move: Any) -> None:
        """Play an exact move of the acting seat, which `View.parse` or `ActionGrid.decode` made; nothing is sent."""
        self.game.rules.step(self.table, move)
        self.refresh()
        self._played()

    def refresh(self) -> None:
        """Bring `batch` up to the record, where it was changed by anything else than an action index."""
        batch, records = self.batch, self._records  # an array's fields are read in a tenth of the time of a record's
        batch.rewards[0] = self._rewards[: self.game.seats]
        batch.dones[:], batch.truncations[:] = records["done"], records["truncated"]
        self.done = bool(batch.dones[0])
        if not self.done:
            batch.turn[:] = records["turn"]
            self.turn = int(batch.turn[0])
            self.game.encoders[self.encoder].observations(records, _ROW, batch.observations)
            self.game.rules.masks(records, _ROW, batch.masks)

    # Copies.

    def clone(self) -> "Match":
        """Return an independent copy: the record's bytes, the messages and all counters."""
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Match":
        memo[id(self.game)] = self.game
        twin = Match.__new__(Match)
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _OWN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._share()

    def _share(self) -> None:
        """Make the ways to the record, which all lead to the same memory."""
        self._loops = self.game.loops(self.encoder)
        self._talk = self.game.capabilities.talk
        self.table = self._tables[0]
        self._records = self._tables.view(np.ndarray)  # Numba takes a plain array faster
        self._stream = self._tables["stream"]  # faster than the record's attributes
        self._rewards = self._tables["rewards"][0]

    # Below: not for others.

    def _played(self) -> None:
        self.done = bool(self.batch.dones[0])
        self.turn = int(self.batch.turn[0])
        self.decisions += 1
        if self._waits or self._sent:
            self._waits, self._sent = 0, {}

    def _barred(self, agent: str) -> ActionResult | None:
        if agent not in self._seat_of:
            return ts.refused(ts.AGENT_NOT_IN_MATCH, f"{agent!r} is not one of {', '.join(self.game.agents)}")
        if self.done is not False:
            return not_running()
        return None

    def _wait(self, agent: str, messages: list[MessageIntent], action: Action) -> ActionResult:
        """Send messages and keep the turn, as often as it is allowed."""
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
            return ts.refused(ts.GAME_RULE_VIOLATION, f"{ts.MESSAGES_PER_TURN} messages a turn are the limit")
        talk = self._talk
        for message in messages:
            strangers = [reader for reader in message.to_agent_ids or () if reader not in self._seat_of]
            if strangers:
                return ts.refused(ts.INVALID_PAYLOAD, f"no such recipient: {', '.join(map(repr, strangers))}")
            if len(message.content) > ts.MESSAGE_LENGTH:
                return ts.refused(ts.INVALID_PAYLOAD, f"a message has at most {ts.MESSAGE_LENGTH} characters")
            if talk is not None and talk.message_violation is not None:
                why = talk.message_violation(self.table, self._seat_of[agent], message)
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
                talk.record_message(self.table, self._seat_of[agent], intent)
                self.refresh()
        if messages:
            self._sent[agent] = self._sent.get(agent, 0) + len(messages)

    def _message_id(self, sender: str, scope: ts.MessageScope, readers: Sequence[str]) -> str:
        """Return an id that says nothing of messages that its readers cannot read.

        Public messages count from 0. A private one has the number of public messages before it, who reads it, and a
        number that counts the private messages between the same.
        """
        series = ""
        if scope == ts.MessageScope.PRIVATE:
            series = f"{self._numbers.get('', 0)}-{'+'.join(sorted({sender, *readers}))}-"
        number = self._numbers.get(series, 0)
        self._numbers[series] = number + 1
        return f"{series}{number}"


def not_running() -> ActionResult:
    """Return the result of whatever comes before the first reset or after the end."""
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
    """Read `data` as if it had come over a wire; raise ValueError, TypeError or RecursionError if it could not."""
    builtins = msgspec.to_builtins(msgspec.convert(data, kind, from_attributes=True), enc_hook=_number_of_numpy)
    json.dumps(builtins, allow_nan=False, ensure_ascii=False).encode()
    return msgspec.convert(builtins, kind)


def _number_of_numpy(value: Any) -> Any:
    if isinstance(value, np.generic):  # an amount that was computed from an observation
        return value.item()
    raise TypeError(f"{type(value).__name__} {value!r} is no JSON")
