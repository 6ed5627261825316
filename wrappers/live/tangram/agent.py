"""Our agent for live tangram games: a WebSocket server with one `TangramAgentSession` per game.

It takes the game's messages and returns events: a `Turn` to decide, a message to send, a chat to answer. No message of
a game makes it raise. In a turn one piece moves: after a play, the game's feedback has its place and its collisions. A
colliding piece is moved away in small steps, then put elsewhere; at last the turn is finished, and the game undoes a
move that still collides. If the blocking piece is one that the person placed nearly right, the turn corrects that one.
If gaps leave a piece no room, it moves a blocking piece. When all pieces are placed, turns correct the person's pieces.

An agent may end its turn without a move, or repeat a place that collided, because its menu shows one corner at a time.
With `useful` set, the session then plays a move that brings the board nearer to the figure.

The Godot game's physics may report touching pieces as colliding. After the first such report, plays leave a gap: the
figure grows a little from its first piece. The agent sees the pieces at the places that it chose.

Games connect to the server, and reconnect after a loss. One agent answers all games, one call at a time. A decision
that is late, raises or cannot be played is replaced by `finish`, and so are later ones while the agent is busy.
"""

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from typing import Any, TypeAlias

from aiohttp import web

from ....envs import Action, AgentResponse, Game, Message, MessageIntent, MessageScope, TurnState
from ....envs.core.options import seconds
from ....envs.tangram.actions import allowed
from ....envs.tangram.lattice import BOARD, PIECES
from ....envs.tangram.rules import Placement
from ...agents.base import Agent
from ...agents.schemas import fitted
from ...logs.match_log import MatchLog, SafeMatchLog, escaped
from ..common.clock import EndCounter
from ..common.connection import Connection, ConnectionLimits, Served
from ..common.player import AgentStatistics, Codec, Note, Played, Player, Turn, read_response, run
from ..common.server import Server, ServerSettings
from . import board_tracker as board
from . import messages
from .board_tracker import Pose, same
from .messages import Chat, ChatRequest, Error, Finish, Play, PlayFeedback, PlayRequest, Unknown

logger = logging.getLogger(__name__)

GAPS = (0.02, 0.06, 0.2, 0.4, 0.8, 1.2, 1.6, 2.0)
"""Gaps in board units that are tried between colliding pieces; the smallest is enough if they only touch."""
GAP_TRIES = 5
"""Number of gaps tried for one place."""
PLACES = 3
"""Number of places tried in one turn, of the agent and of `useful` each."""
MOST_USEFUL = 100
"""Moves of `useful` that are looked at."""
OPEN_CHATS = 4
"""Most chats of a player that wait for the agent at once. Further ones are answered without it."""
MOST_CHATS = 3
"""Most chat messages with one answer of the agent."""
CHATS_KEPT = 50
"""Most chat messages in a TurnState."""
CHAT_LENGTH = 1_000
"""Most characters of each of them."""
REPLY_LENGTH = 300
"""Most characters of our chat messages, which stay below 1 KB."""


@dataclass
class Aside(Turn):
    """It is no decision of the agent, and is not logged."""

    counts = False

    def logged(self) -> None:
        """See `Turn`."""


@dataclass
class ChatTurn(Aside):
    """The player's `text` needs an answer; `board`: None if it was not sent. Without `chat` it is `small_talk`."""

    text: str = field(kw_only=True)
    board: TurnState | None = field(kw_only=True)
    small_talk: str = field(kw_only=True)

    def ask(self, agent: Agent) -> Any:
        """See `Turn`."""
        chat = getattr(agent, "chat", None)
        return None if chat is None else chat(self.board, self.text)

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`. What is no text is no answer."""
        text = answer if isinstance(answer, str) and answer else self.small_talk
        return AgentResponse(Action("message_only"), [MessageIntent(MessageScope.PUBLIC, text)])

    def safe(self) -> AgentResponse:
        """See `Turn`."""
        return self.read(None)


UsefulMoves: TypeAlias = Callable[[Game, Any], Iterable[Placement]]
TangramEvent: TypeAlias = Turn | messages.AgentMessage | Note


@dataclass
class TangramTurn(Turn):
    """A turn of the agent. The board decides what can be played, not the offer.

    Attributes:
        check: the function that raises ValueError for the payload of an impossible play.
    """

    check: Callable[[dict[str, Any]], Any] = field(kw_only=True)

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`. ``finish`` stands for every action that ends a turn without a move."""
        response = fitted(read_response(answer), self.state.allowed_actions)
        kind = response.action.action_type
        if kind == "play":
            self.check(response.action.payload)
        elif kind not in ("finish", "pass", "message_only"):
            raise ValueError(f"{kind[:40]!r} is neither play nor finish")
        return response

    def safe(self) -> AgentResponse:
        """See `Turn`: ``finish``. Of the offer, ``message_only`` would come first."""
        return AgentResponse(Action("finish"))


@dataclass
class UsefulTurn(Aside):
    """The agent has ended its turn without a move: the moves that bring the board nearer to the figure, best first."""

    find: Callable[[TurnState], Iterable[Placement]] = field(kw_only=True)
    moves: list[Placement] = field(default_factory=list)

    def ask(self, agent: Agent | None) -> Any:
        """See `Turn`. The search takes its time, in the agent's thread."""
        return list(self.find(self.state))

    def read(self, answer: Any) -> AgentResponse:
        """See `Turn`."""
        self.moves = answer
        return self.safe()


class TangramAgentSession(Codec):
    """One game that is connected to us.

    Args:
        game: tangram, as the agent knows it.
        match_id: the match id for TurnState; the protocol has none.
        useful: ``useful(game, record)`` returns useful moves, best first (`completion.useful_moves`). They are played
            if the agent ends its turn without a move. None: such a turn ends.
        seconds: for a decision, or for an answer to the player; None: no limit.

    Attributes:
        turns, plays, undone: numbers of turns, of plays, and of turns whose move the game undid.
        helped: number of plays of `useful`.
    """

    def __init__(
        self, game: Game, match_id: str = "", useful: UsefulMoves | None = None, seconds: float | None = None
    ) -> None:
        self.match_id = match_id
        self._seconds = seconds
        self._open_chats: set[int] = set()
        self.turns = self.plays = self.undone = self.helped = 0
        self._game = game
        self._useful = useful
        self._useful_places = 0  # tried in this turn
        self._person, self._me = game.agents[0], game.agents[-1]  # the person begins
        self._board = board.BoardTracker(game)
        self._shapes = self._board.convention.shapes  # which learns them
        self._chats: list[Message] = []
        self._chat_count = 0
        self._gap = 0.0  # between pieces, as observed in the game
        self._trial = 0.0  # the gap of the play under way
        self._decision = 0  # number of the decision; answers to old ones are not sent
        self._open = False  # whether the decision has no answer yet
        self._asked: TangramTurn
        self._moved: str | None = None  # in this turn
        self._sent: tuple[str, Pose] | None = None  # the play without feedback so far
        self._meant: Pose = (0.0, 0.0, 0.0)  # its place without gaps
        self._gaps: list[float] = []  # not tried yet
        self._tried: list[tuple[str, Pose]] = []  # places that collided in this turn
        self._corrected = False  # a piece of the person was corrected in this turn
        self._again = False  # the latest place was played again
        self._blocking: list[str] | None = []  # blocking pieces of this turn; None: one was moved

    @property
    def name(self) -> str:
        """See `Codec`."""
        return self.match_id

    def waits(self, turn: Turn) -> bool:
        """See `Codec`."""
        return turn.id in self._open_chats if isinstance(turn, ChatTurn) else self._open and turn.id == self._decision

    def receive(self, data: Any) -> list[TangramEvent]:
        """Return the events of a message (text, bytes, or parsed JSON). Never raises."""
        if isinstance(data, (str, bytes)) and len(data) > messages.MESSAGE_LIMIT:
            return self._unread("", f"a message of {len(data)} bytes; at most {messages.MESSAGE_LIMIT} can be read")
        message = messages.decode_game(data)
        match message:
            case PlayRequest():
                return self._begin(message)
            case PlayFeedback():
                return self._feedback(message)
            case ChatRequest():
                return self._receive_chat(message)
            case Error():
                self._close()
                return [Note(f"the game says: {escaped(message.message, 200)}", problem=True)]
            case Unknown():
                return self._unread(message.type, message.reason)

    def _unread(self, kind: str, reason: str) -> list[TangramEvent]:
        """End the turn if it is ours; else answer with an error."""
        note = Note(f"a message of type {kind[:40]!a} cannot be read: {escaped(reason, 200)}", problem=True)
        if kind in ("playRequest", "playFeedback"):
            return [note, *self._finish()]
        if kind == "error":  # an error about an error would never end
            self._close()
            return [note]
        return [note, Error(message=escaped(reason, 200))]

    def _begin(self, request: PlayRequest) -> list[TangramEvent]:
        sent = self._sent if request.objective == self._board.objective else None
        self._close()
        self._board.update(request)
        if sent is not None:
            self._board.interrupted(*sent, self._meant)
        self._board.begin()
        self.turns += 1
        self._tried, self._corrected, self._useful_places, self._blocking = [], False, 0, []
        return self._decide()

    def _feedback(self, feedback: PlayFeedback) -> list[TangramEvent]:
        sent, self._sent = self._sent, None
        self._board.update(feedback)
        if sent is None:
            return [Note("a playFeedback without a play", problem=True), *self._finish()]
        name, pose = sent
        if name not in self._board.poses:
            return [Note(f"{name} is not on the board after its play", problem=True), *self._try_elsewhere(name)]
        if not self._again and not same(self._board.poses[name], pose, 1.0):  # the play showed what it means there
            self._again = True
            return self._play(name, pose)
        self._board.intend(name, self._meant)
        if self._board.collided[name]:
            return self._move_away(name)
        self._gap = max(self._gap, self._trial)
        used_up = self._corrected or self._blocking is None
        return self._finish() if used_up or not self._board.known or self._board.plays_left <= 0 else self._decide()

    def _receive_chat(self, request: ChatRequest) -> list[TangramEvent]:
        if request.state is not None:
            self._board.update(request)
        self._remember(self._person, request.message)
        if len(self._open_chats) == OPEN_CHATS:
            return [self._chat(self.small_talk())]
        seen = None if request.state is None else self._turn_state(mine=False)
        number = self._chat_count
        self._open_chats.add(number)
        state = seen or TurnState(self.match_id, self._game.id, self._me, "play", False)
        about: dict[str, Any] = {"text": request.message, "board": seen, "small_talk": self.small_talk()}
        return [ChatTurn(state, number, seconds=self._seconds, table=number, name=self.match_id, **about)]

    def reply(self, turn: Turn, played: Played) -> list[TangramEvent]:
        """See `Codec`. Nothing helps the agent after a problem."""
        if not self.waits(turn):
            return []
        answer = played.response
        if isinstance(turn, ChatTurn):
            self._open_chats.discard(int(turn.id))
            return [self._chat(answer.messages[0].content)]
        if isinstance(turn, UsefulTurn):
            return self._play_useful(turn.moves)
        if played.problem is not None:
            return self._finish()
        public = [intent for intent in answer.messages if intent.scope == MessageScope.PUBLIC and intent.content]
        said = [self._chat(message.content) for message in public[:MOST_CHATS]]
        if answer.action.action_type == "play":
            name, pose = self._pose(answer.action.payload)
            if not self._collided_before(name, pose):
                self._board.plays_left -= 1
                return [*said, *self._put(name, pose, self._with_gaps(name, pose))]
        return [*said, *self._help_or_finish()]

    def _chat(self, text: str) -> Chat:
        """Return the chat message with this text, cut to `REPLY_LENGTH`, and store it."""
        said = text.encode(errors="replace").decode()[:REPLY_LENGTH]
        self._remember(self._me, said)
        return Chat(message=said)

    def small_talk(self) -> str:
        """Return a sentence about the board, for an agent that answers no chats."""
        there = f"{len(self._board.poses)} of {len(PIECES)} pieces are on the board"
        return f"{there}, and I am building: {self._board.objective or 'anything that holds together'}."

    def _collided_before(self, name: str, pose: Pose) -> bool:
        """Return whether a piece collided at this place in this turn."""
        return any(name == piece and same(pose, tried) for piece, tried in self._tried)

    def _pose(self, payload: dict[str, Any]) -> tuple[str, Pose]:
        """Return the piece of a play and its pose in the game.

        Raises:
            ValueError: if the payload is not a play on the board.
        """
        play = messages.decode_agent({**payload, "type": "play"})
        if not isinstance(play, Play):
            raise ValueError(f"play needs shape, position and rotation: {getattr(play, 'reason', play)}")
        if play.shape not in PIECES:
            raise ValueError(f"shape {play.shape[:40]!r} is none of {', '.join(PIECES)}")
        pose = self._board.to_game((*play.position, play.rotation % 360.0))
        if not all(0 <= place <= BOARD for place in self._board.convention.write(play.shape, pose)[:2]):
            raise ValueError(f"position {pose[:2]} lies off the board, which is 0 to {BOARD:g} both ways")
        return play.shape, pose

    def _decide(self) -> list[TangramEvent]:
        """Return a turn for the agent; if the figure is unknown, a play that builds a connected one."""
        if not self._board.known:
            places = board.figure_moves(self._board.poses, self._gap)
            move = next((place for place in places if not self._collided_before(*place)), None)
            return self._finish() if move is None else self._put(*move, move[1])
        self._open = True
        self._asked = TangramTurn(
            self._turn_state(mine=True), self._decision, seconds=self._seconds, name=self.match_id, check=self._pose
        )
        return [self._asked]

    def _help_or_finish(self) -> list[TangramEvent]:
        """After a collision, or without a move so far, play a useful move or make room; else finish."""
        lies_well = self._moved in self._board.poses and not self._board.collided[self._moved]
        if not self._board.known or lies_well or self._useful_places == PLACES:
            return self._finish()
        if self._useful is None:
            return self._make_room()
        self._open, game, useful = True, self._game, self._useful
        more: dict[str, Any] = {"seconds": self._seconds, "table": "useful", "name": self.match_id}
        more["find"] = lambda state: islice(useful(game, game.view.load(state)[0][0]), MOST_USEFUL)
        return [UsefulTurn(self._turn_state(mine=True), self._decision, **more)]

    def _play_useful(self, moves: list[Placement]) -> list[TangramEvent]:
        for move in moves:
            name, pose = PIECES[move.piece], self._board.to_game((move.x, move.y, move.rotation))
            there = self._board.poses.get(name)
            in_reach = all(0 <= place <= BOARD for place in pose[:2])
            if in_reach and not self._collided_before(name, pose) and (there is None or not same(there, pose)):
                self._useful_places += 1
                self.helped += 1
                return self._put(name, pose, self._with_gaps(name, pose))
        return self._straighten() or self._make_room()

    def _straighten(self) -> list[TangramEvent]:
        """Correct a piece that the person placed nearly right, if the drawer is empty; [] if there is none."""
        poses = self._board.poses
        off = [
            (math.dist(place[:2], poses[name][:2]), name)
            for name in poses
            if (place := self._board.inexact(name)) is not None
            and not board.collisions(name, {**poses, name: place}, self._shapes)
        ]
        far, name = max(off, default=(0.0, ""))
        return self._correct([name]) if far > board.SAME and len(poses) == len(PIECES) else []

    def _make_room(self) -> list[TangramEvent]:
        """Move a blocking piece out of the place that was tried, with gaps; if there is none, finish."""
        blocking, self._blocking, meant = self._blocking or [], None, self._board.meant()
        for gap in (self._gap, *(gap for gap in GAPS if gap > self._gap)):
            for name in (name for name in blocking if name in meant):
                pose = self._with_gaps(name, meant[name], gap)
                others = {o: there for o, there in self._board.poses.items() if o != name} | dict(self._tried[-1:])
                pose = board.separated(name, self._board.poses[name], others, gap, self._shapes) or pose
                if math.dist(pose[:2], self._board.poses[name][:2]) > GAPS[0] / 4:
                    self._gap = gap
                    return self._put(name, meant[name], pose)
        return self._finish()

    def _put(self, name: str, meant: Pose, pose: Pose) -> list[TangramEvent]:
        """Play a piece at `pose`; `meant` is its place without gaps."""
        self._meant, self._trial, self._again = meant, self._gap, False
        self._gaps = [gap for gap in GAPS if gap > self._gap][:GAP_TRIES]
        return self._play(name, pose)

    def _play(self, name: str, pose: Pose) -> list[TangramEvent]:
        self._open = False
        self.plays += 1
        self._moved, self._sent = name, (name, pose)
        x, y, rotation = self._board.convention.write(name, pose)
        return [Play(shape=name, position=(x, y), rotation=rotation)]

    def _move_away(self, name: str) -> list[TangramEvent]:
        """Move a colliding piece away, by a larger gap each time."""
        poses = self._board.poses
        others = {other: pose for other, pose in poses.items() if other != name}
        overlaps = board.collisions(name, poses, self._shapes)
        if corrected := self._correct(overlaps):
            return corrected
        while self._gaps:
            gap = self._gaps.pop(0)
            self._trial = self._trial if overlaps else gap
            pose = board.separated(name, self._with_gaps(name, self._meant, gap), others, gap, self._shapes)
            if pose is not None and math.dist(pose[:2], poses[name][:2]) > GAPS[0] / 4:
                return self._play(name, pose)
        if not overlaps:  # touching pieces collide in this game: later plays need a gap too
            self._gap = max(self._gap, GAPS[0])
        return self._correct(self._board.collided[name]) or self._try_elsewhere(name)

    def _correct(self, names: Iterable[str]) -> list[TangramEvent]:
        """Correct a piece of these that the person did not place exactly, only once in a turn; [] if there is none."""
        for name in () if self._corrected else names:
            if (place := self._board.inexact(name)) is not None:
                self._corrected = True
                return self._put(name, place, self._with_gaps(name, place))
        return []

    def _try_elsewhere(self, name: str) -> list[TangramEvent]:
        self._tried.append((name, self._meant))
        if self._blocking is not None:
            self._blocking += [piece for piece in self._board.collided.get(name, ()) if piece not in self._blocking]
        return self._decide() if len(self._tried) < PLACES else self._help_or_finish()

    def _with_gaps(self, name: str, pose: Pose, gap: float | None = None) -> Pose:
        """Return the pose in the figure with gaps; the same pose if pieces may touch."""
        gap = self._gap if gap is None else gap
        others = {other: there for other, there in self._board.poses.items() if other != name}
        if not gap or not others:
            return pose
        return board.spread(name, pose, self._board.meant()[next(iter(others))], others, gap, self._shapes)

    def give_up(self, turn: Turn | None = None, data: Any = None) -> list[TangramEvent]:
        """See `Codec`."""
        message = None if turn is not None else messages.decode_game(data)
        kind = message.type if isinstance(message, Unknown) else ""
        if isinstance(turn, ChatTurn) or isinstance(message, ChatRequest):
            return [Chat(message="I am building.")]
        ours = turn is not None or isinstance(message, PlayRequest | PlayFeedback) or kind.startswith("play")
        self._close()
        return [Finish()] if ours else []

    def _finish(self) -> list[TangramEvent]:
        self.undone += self._board.end(self._moved)
        self._close()
        return [Finish()]

    def _close(self) -> None:
        """End our turn, so that answers to it are not sent."""
        self._open, self._moved, self._sent = False, None, None
        self._decision += 1

    def _turn_state(self, mine: bool) -> TurnState:
        """Return the board as tangram's TurnState."""
        moved = self._moved if self._moved in self._board.poses else None
        phase, shown = "play" if moved is None else "feedback", self._board.game_state(moved)
        return TurnState(
            match_id=self.match_id,
            game_id=self._game.id,
            agent_id=self._me,
            phase=phase,
            is_my_turn=mine,
            current_turn_agent_id=self._me if mine else self._person,
            game_state=shown.to_dict(),
            messages=list(self._chats),
            allowed_actions=allowed(shown, 0, phase) if mine else [],
        )

    def _remember(self, speaker: str, text: str) -> None:
        self._chat_count += 1
        self._chats.append(Message(str(self._chat_count), speaker, MessageScope.PUBLIC, text[:CHAT_LENGTH]))
        del self._chats[:-CHATS_KEPT]


LIMITS = ConnectionLimits(frame=2**24, rate=200.0, closing=1.0)
"""Limits of a connection. The session refuses shorter messages than these frames, and so can answer with an error."""
GAMES = 64
"""Most connected games at once. One that has said nothing gives way to another."""


def now() -> str:
    """Return the time in the form of messages: ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class TangramAgentServer(Server):
    """Serves an agent to live games. Use it as an async context manager, or call `start` and `stop`.

    Args:
        agent: the agent; it runs in its own thread, one call at a time. Its `warm_up`, if it has one, is called before
            the server listens. Its `chat(turn_state, text) -> str`, if it has one, answers the player; `turn_state` is
            None if the game did not send the board.
        game: tangram, with the options that the agent knows.
        server: where it listens.
        deadline: seconds for a decision, or for an answer to the player.
        useful: the moves to play if the agent ends a turn without a move (see `TangramAgentSession`).
        log: the log of all connections, decisions and ends; None: no log.

    Attributes:
        url: the address to which games connect, after the start.
        turns, plays, helped: in ended games, the numbers of turns, of plays, and of plays of `useful`.
    """

    def __init__(
        self,
        agent: Agent,
        game: Game,
        *,
        server: ServerSettings | None = None,
        deadline: float = 10.0,
        useful: UsefulMoves | None = None,
        log: MatchLog | None = None,
    ) -> None:
        seconds("deadline", deadline)
        super().__init__(server, connection_limits=LIMITS, most_connections=GAMES)
        self.turns = self.plays = self.helped = 0
        self.statistics = AgentStatistics()
        self._agent, self._game, self._deadline, self._useful = agent, game, deadline, useful
        self._log = SafeMatchLog(log)
        self._ended = EndCounter()
        self._numbers = count(1)
        self._player: Player | None = None

    @property
    def games(self) -> int:
        """Number of ended connections."""
        return self._ended.count

    async def played(self, games: int | None = None) -> None:
        """Wait until this number of connections has ended; None: without end."""
        await self._ended.reached(games)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/{path:.*}", partial(self.upgrade, live=self._serve))]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = self.url.replace("http", "ws", 1)

    async def opening(self) -> None:
        """Warm up the agent, and play two artificial turns, so that all code is compiled."""
        self._player = Player(self._agent, log=self._log, statistics=self.statistics)
        await self._player.warm_up()
        await self._player.call(_warm_up, TangramAgentSession(self._game, useful=self._useful))

    async def closing(self) -> None:
        """Stop the agent's thread."""
        if self._player is not None:
            self._player.close()

    async def _serve(self, connection: Connection) -> None:
        """Answer a game until it disconnects."""
        assert self._player is not None
        session = TangramAgentSession(self._game, f"game-{next(self._numbers)}", self._useful, self._deadline)

        def watch(event: object) -> None:  # a game keeps its place from its first message that can be read
            if not isinstance(event, Note | messages.Error):
                self.keep(connection)

        logger.info("%s has connected", session.name)
        self._log.write("joined", match_id=session.name)
        try:
            await run(Served(connection, _encode), session, self._player, watch)
        finally:
            logger.info("%s has gone: %d turns, %d plays", session.name, session.turns, session.plays)
            self._log.write("ended", match_id=session.name, turns=session.turns, plays=session.plays)
            self.turns += session.turns
            self.plays += session.plays
            self.helped += session.helped
            self._ended.add()


def _encode(message: messages.AgentMessage) -> str:
    message.timestamp = now()
    return messages.encode(message)


def _warm_up(session: TangramAgentSession) -> None:
    """Play two artificial turns, so that all code is compiled before a deadline runs."""
    for text in ("A house", "An unknown figure"):
        drawer = {"on_board": {}, "off_board": {name: {"rotation": 0} for name in PIECES}}
        request = {"type": "playRequest", "objective": text, "state": drawer}
        for event in session.receive(request):
            if isinstance(event, Turn):
                play = Action("play", {"shape": "Red", "position": [50, 50], "rotation": 0})
                session.reply(event, Played(AgentResponse(play)))
        red = {"position": [50, 50], "rotation": 0, "collisions": ["BOUNDARY"]}
        session.receive({**request, "type": "playFeedback", "state": {"on_board": {"Red": red}}})
        session.receive({**request, "state": {"on_board": {"Red": red}}})
