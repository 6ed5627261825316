"""The agent's end of tangram.md without I/O: no socket and no clock. One `TangramAgentSession` per game.

It is given what the game sent and returns what follows from it: a `TangramDecision` to make, a message to `Send`, a player to
answer (`Heard`). Nothing that a game sends makes it raise. In a turn one piece moves: a play goes out, and the game's
feedback tells whether it stands. Where it collides it is moved away in small steps, then put elsewhere, and in the end
the turn is finished, which undoes a move that still collides. If a piece is only in the way because the person did not
put it down exactly, the turn goes to straightening that one.

The real game's physics may report pieces that only touch (tangram-notes.md, Turns). Once it was seen to, plays leave a
gap: the figure is spread a little from its first piece. The agent goes on seeing the pieces where it wanted them.
"""

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeAlias

import msgspec
import numpy as np

from ....envs.core import turn_state as ts
from ....envs.core.game import Game
from ....envs.core.turn_state import AgentResponse, Message, MessageScope, TurnState
from ....envs.tangram.actions import allowed
from ....envs.tangram.pieces import BOARD, PIECES
from . import messages
from .messages import Chat, ChatRequest, Error, Finish, Play, PlayFeedback, PlayRequest, Unknown, printable
from .placing import Pose, apart, collisions, figure_moves
from .reading import SAME, Reading, same

STEPS = (0.2, 0.2, 0.4)
"""Board units that a colliding piece is moved away, each more than the try before."""
WIDEST = 2.0
"""Board units of the gap that is left at most between pieces."""
PLACES = 3
"""Places tried in one turn."""
ARM = 5.4
"""Board units between the centres of two pieces that touch, at least, at right angles to where they do (Geometry)."""
MOST_SAID = 3
"""Chat messages sent with one answer of the agent."""
REMEMBERED = 50
"""Chat messages of the game that TurnState holds."""
KEPT = 1_000
"""Characters of each."""
SPOKEN = 300
"""Characters of a chat message of ours: replies stay below 1 KB."""


@dataclass(frozen=True)
class TangramDecision:
    """The agent has to play or to finish: give `TangramAgentSession.act` an answer. `turn` names this decision."""

    turn_state: TurnState
    turn: int


@dataclass(frozen=True)
class Heard:
    """The player said something and wants an answer (`TangramAgentSession.say`); `turn_state` where the board was told."""

    text: str
    turn_state: TurnState | None


@dataclass(frozen=True)
class Send:
    """A message to send now."""

    message: messages.AgentMessage


@dataclass(frozen=True)
class Note:
    """Something for the log; `problem` if something was wrong."""

    text: str
    problem: bool = False


Event: TypeAlias = TangramDecision | Heard | Send | Note


class TangramAgentSession:
    """One game that is connected to us.

    Args:
        game: tangram, as the agent knows it.
        match_id: TurnState's; the wire tells none.

    Attributes:
        turns, plays, undone: turns begun, plays sent, turns whose move the game undid.
    """

    def __init__(self, game: Game, match_id: str = "") -> None:
        self.match_id = match_id
        self.turns = self.plays = self.undone = 0
        self._game_id = game.id
        self._person, self._me = game.agents[0], game.agents[-1]  # the person begins
        self._board = Reading(game)
        self._talk: list[Message] = []
        self._said = 0
        self._gap = 0.0  # that pieces need between them, learned from the game
        self._trial = 0.0  # the gap of the play under way
        self._decision = 0  # counts; an answer to an old one is not sent
        self._open = False  # a decision is
        self._moved: str | None = None  # in this turn
        self._sent: tuple[str, Pose] | None = None  # the play whose feedback we wait for
        self._meant: Pose = (0.0, 0.0, 0.0)  # where it is to lie
        self._steps = list(STEPS)
        self._tried: list[tuple[str, Pose]] = []  # places that collided in this turn
        self._straightened = False  # a piece of the person was, in this turn

    # What comes in.

    def receive(self, data: Any) -> list[Event]:
        """Take in a message (text, bytes, or parsed JSON) and return what follows. Never raises."""
        if isinstance(data, (str, bytes)) and len(data) > messages.MESSAGE_LIMIT:
            most = messages.MESSAGE_LIMIT
            return self._unread("", f"a message of {len(data)} bytes; at most {most} can be read")
        message = messages.decode_game(data)
        match message:
            case PlayRequest():
                return self._begin(message)
            case PlayFeedback():
                return self._feedback(message)
            case ChatRequest():
                return self._chat(message)
            case Error():
                self._close()
                return [Note(f"the game says: {printable(message.message)}", problem=True)]
            case Unknown():
                return self._unread(message.type, message.reason)

    def _unread(self, kind: str, reason: str) -> list[Event]:
        """End the turn where it is ours; else say what was wrong."""
        note = Note(f"a message of type {kind[:40]!a} cannot be read: {printable(reason)}", problem=True)
        if kind in ("playRequest", "playFeedback"):
            return [note, *self._finish()]
        if kind == "error":  # an error about an error would never end
            self._close()
            return [note]
        return [note, Send(Error(message=printable(reason)))]

    def _begin(self, request: PlayRequest) -> list[Event]:
        sent = self._sent if request.objective == self._board.objective else None
        self._close()
        self._board.see(request)
        if sent is not None:
            self._board.cut_off(*sent, self._meant)
        self._board.begin()
        self.turns += 1
        self._tried, self._straightened = [], False
        return self._decide()

    def _feedback(self, feedback: PlayFeedback) -> list[Event]:
        sent, self._sent = self._sent, None
        self._board.see(feedback)
        if sent is None:
            return [Note("a playFeedback without a play", problem=True), *self._finish()]
        name, _ = sent
        if name not in self._board.poses:
            return [Note(f"{name} is not on the board after its play", problem=True), *self._elsewhere(name)]
        self._board.put(name, self._meant)
        if self._board.collided[name]:
            return self._step_aside(name)
        self._gap = max(self._gap, self._trial)
        more = self._board.known and self._board.plays_left > 0 and not self._straightened
        return self._decide() if more else self._finish()

    def _chat(self, request: ChatRequest) -> list[Event]:
        if request.state is not None:
            self._board.see(request)
        self._remember(self._person, request.message)
        return [Heard(request.message, self._turn_state(mine=False) if request.state is not None else None)]

    # What goes out.

    def act(self, response: Any, decision: int) -> list[messages.AgentMessage]:
        """Return the messages that play an answer; `finish` where `refusal` refuses it.

        Args:
            response: `AgentResponse` or `Action`, or either as a dict.
            decision: the `TangramDecision.turn` it answers. An answer to an old one, or a second one, sends nothing.
        """
        if not self._open or decision != self._decision:
            return []
        answer = _read(response)
        if isinstance(answer, str) or self.refusal(response) is not None:
            return self.finish(decision)
        public = [one for one in answer.messages if one.scope == MessageScope.PUBLIC and one.content]
        said = [self.say(message.content) for message in public[:MOST_SAID]]
        if answer.action.action_type != "play":
            return [*said, *self.finish(decision)]
        name, pose = self._pose(answer.action.payload)
        self._board.plays_left -= 1
        return [*said, *_messages(self._put(name, pose, self._spread(name, pose)))]

    def finish(self, decision: int) -> list[messages.AgentMessage]:
        """Return the message that ends the turn; nothing where `act` would send nothing."""
        return _messages(self._finish()) if self._open and decision == self._decision else []

    def say(self, text: str) -> Chat:
        """Return the chat message that says this, shortened where it is long, and remember it."""
        said = text.encode(errors="replace").decode()[:SPOKEN]
        self._remember(self._me, said)
        return Chat(message=said)

    def small_talk(self) -> str:
        """Return what there is to say about the board, for an agent that has no words of its own."""
        there = f"{len(self._board.poses)} of {len(PIECES)} pieces are on the board"
        return f"{there}, and I am building: {self._board.objective or 'anything that holds together'}."

    def refusal(self, response: Any) -> str | None:
        """Return why this answer cannot be sent, or None if it can."""
        answer = _read(response)
        if isinstance(answer, str):
            return answer
        kind = answer.action.action_type
        if kind in ("finish", "pass", "message_only"):
            return None
        if kind != "play":
            return f"{kind[:40]!r} is neither play nor finish"
        try:
            name, pose = self._pose(answer.action.payload)
        except ValueError as error:
            return str(error)
        if any(name == one and same(pose, tried) for one, tried in self._tried):
            return f"{name} at {pose[0]:.2f}, {pose[1]:.2f} collided before in this turn"
        return None

    def _pose(self, payload: dict[str, Any]) -> tuple[str, Pose]:
        """Read where a play puts a piece in the game.

        Raises:
            ValueError: if it puts none on the board.
        """
        play = messages.decode_agent({**payload, "type": "play"})
        if not isinstance(play, Play):
            raise ValueError(f"play needs shape, position and rotation: {getattr(play, 'reason', play)}")
        if play.shape not in PIECES:
            raise ValueError(f"shape {play.shape[:40]!r} is none of {', '.join(PIECES)}")
        pose = self._board.outward((*play.position, play.rotation % 360.0))
        if not all(0 <= one <= BOARD for one in pose[:2]):
            raise ValueError(f"position {pose[:2]} lies off the board, which is 0 to {BOARD:g} both ways")
        return play.shape, pose

    def warm_up(self) -> None:
        """Play two made-up turns, so that nothing is left to be compiled when a clock runs."""
        for text in ("A house", "A figure that nobody knows"):
            drawer = {"on_board": {}, "off_board": {name: {"rotation": 0} for name in PIECES}}
            request = {"type": "playRequest", "objective": text, "state": drawer}
            self.receive(request)
            if self._open:
                self.act(ts.Action("play", {"shape": "Red", "position": [50, 50], "rotation": 0}), self._decision)
            red = {"position": [50, 50], "rotation": 0, "collisions": ["BOUNDARY"]}
            self.receive({**request, "type": "playFeedback", "state": {"on_board": {"Red": red}}})
            self.receive({**request, "state": {"on_board": {"Red": red}}})

    # A turn.

    def _decide(self) -> list[Event]:
        """Ask the agent; where nobody knows the figure, build one that holds together."""
        if not self._board.known:
            return self._build()
        self._decision += 1
        self._open = True
        return [TangramDecision(self._turn_state(mine=True), self._decision)]

    def _build(self) -> list[Event]:
        for name, pose in figure_moves(self._board.poses, self._gap):
            if not any(name == one and same(pose, tried) for one, tried in self._tried):
                return self._put(name, pose, pose)
        return self._finish()

    def _put(self, name: str, meant: Pose, pose: Pose) -> list[Event]:
        """Play a piece at `pose`, where `meant` is what is wanted without gaps."""
        self._meant, self._steps, self._trial = meant, list(STEPS), self._gap
        return self._play(name, pose)

    def _play(self, name: str, pose: Pose) -> list[Event]:
        self._open = False
        self.plays += 1
        self._moved, self._sent = name, (name, pose)
        return [Send(Play(shape=name, position=pose[:2], rotation=pose[2]))]

    def _step_aside(self, name: str) -> list[Event]:
        """Move a colliding piece away from what it collides with; the next time by more."""
        poses = self._board.poses
        others = {one: pose for one, pose in poses.items() if one != name}
        overlaps = collisions(name, poses)
        crooked = self._crooked(overlaps)
        if crooked is not None:
            return self._straighten(*crooked)
        gap = self._trial
        while self._steps:
            gap = min(gap + self._steps.pop(0), WIDEST)
            self._trial = self._trial if overlaps else gap
            pose = apart(name, self._spread(name, self._meant, gap), others, gap)
            if pose is not None and math.dist(pose[:2], poses[name][:2]) > SAME:
                return self._play(name, pose)
        crooked = self._crooked(self._board.collided[name])
        return self._elsewhere(name) if crooked is None else self._straighten(*crooked)

    def _crooked(self, names: list[str]) -> tuple[str, Pose] | None:
        """Return one of these pieces that the person did not put down exactly, and where it belongs; one in a turn."""
        places = ((name, self._board.askew(name)) for name in names)
        found = ((name, place) for name, place in places if place is not None)
        return None if self._straightened else next(found, None)

    def _straighten(self, name: str, place: Pose) -> list[Event]:
        self._straightened = True
        return self._put(name, place, self._spread(name, place))

    def _elsewhere(self, name: str) -> list[Event]:
        self._tried.append((name, self._meant))
        return self._decide() if len(self._tried) < PLACES else self._finish()

    def _spread(self, name: str, pose: Pose, gap: float | None = None) -> Pose:
        """Return the pose with gaps to its neighbours, where pieces may not touch: the whole figure grows a little."""
        gap = self._gap if gap is None else gap
        others = {one: there for one, there in self._board.poses.items() if one != name}
        if not gap or not others:
            return pose
        x, y, _ = self._board.shown()[next(iter(others))]
        grown = 1 + gap / ARM
        spread = (x + grown * (pose[0] - x), y + grown * (pose[1] - y), pose[2])
        return apart(name, spread, others, gap) or pose

    def give_up(self) -> list[Event]:
        """End the turn, whatever has happened in it."""
        self._close()
        return [Send(Finish())]

    def _finish(self) -> list[Event]:
        self.undone += self._board.end(self._moved)
        self._close()
        return [Send(Finish())]

    def _close(self) -> None:
        """Our turn is over."""
        self._open, self._moved, self._sent = False, None, None
        self._decision += 1

    # What we see.

    def _turn_state(self, mine: bool) -> TurnState:
        """Return the board as tangram's TurnState."""
        acting = SimpleNamespace(plays_left=self._board.plays_left)
        moved = self._moved if self._moved in self._board.poses else None
        return TurnState(
            match_id=self.match_id,
            game_id=self._game_id,
            agent_id=self._me,
            phase="play" if moved is None else "feedback",
            is_my_turn=mine,
            current_turn_agent_id=self._me if mine else self._person,
            game_state=self._board.game_state(moved),
            messages=list(self._talk),
            allowed_actions=allowed(acting) if mine else [],
        )

    def _remember(self, speaker: str, text: str) -> None:
        self._said += 1
        self._talk.append(Message(str(self._said), speaker, MessageScope.PUBLIC, text[:KEPT]))
        del self._talk[:-REMEMBERED]


def _messages(events: list[Event]) -> list[messages.AgentMessage]:
    return [event.message for event in events if isinstance(event, Send)]


def _read(response: Any) -> AgentResponse | str:
    """Return an answer, or why it is none."""
    try:
        if isinstance(response, ts.Action) or (isinstance(response, dict) and "action_type" in response):
            response = AgentResponse(msgspec.convert(response, ts.Action, from_attributes=True))
        answer = msgspec.convert(response, AgentResponse, from_attributes=True)
        return msgspec.convert(msgspec.to_builtins(answer, enc_hook=_plain), AgentResponse)  # fields were not looked at
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        return f"this is no AgentResponse: {error}"


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):  # computed from an observation
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {str(value)[:80]!r} is no JSON")
