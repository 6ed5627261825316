"""The game's end of the tangram protocol without I/O: one match of our game with a person and the agent.

`TangramHostSession` returns the message that begins the agent's turn, and the events of each of its messages. The rules
play a move. A play that they refuse is answered by an `error` and ends the turn, as in the Godot game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....envs.core.counted import counted
from ....envs.core.game_state import or_else
from ....envs.core.match import Match
from ....envs.core.turn_state import Action, ActionResult, AgentResponse, MessageIntent, MessageScope, TurnState
from ....envs.tangram.view import TangramState
from ...logs.match_log import escaped
from . import messages
from .messages import Chat, ChatRequest, Error, Finish, Play, PlayFeedback, PlayRequest, State


@dataclass(frozen=True)
class TurnEnded:
    """The end of the agent's turn; with a `problem` if the agent lost it."""

    problem: str = ""


@dataclass(frozen=True)
class AgentSaid:
    """A chat message of the agent."""

    text: str


TangramHostEvent: TypeAlias = messages.GameMessage | TurnEnded | AgentSaid


class TangramHostSession:
    """A match between a person and an agent.

    Args:
        match: tangram with two seats, after its reset; the person's seat is the first.
        log: called with the accepted moves and messages of both sides, as lines of a match log: ``"turn"`` with `agent`
            and `response`, and with `problem` if the response is a replacement; ``"message"`` with `agent` and
            `intent`.

    Attributes:
        match: the referee.
        person, agent: the names of their seats.
        refused: number of the agent's messages that were answered by an error.
    """

    def __init__(self, match: Match, log: Callable[..., None] | None = None) -> None:
        if match.game.seats != 2:
            raise ValueError(f"{counted(match.game.seats, 'seats')}: a person and an agent make 2")
        self.match = match
        self.person, self.agent = match.game.agents
        self.refused = 0
        self._log = log or (lambda kind, **fields: None)
        self._asked = False

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return bool(self.match.done)

    @property
    def agents_turn(self) -> bool:
        """Whether the agent is to move."""
        return not self.over and self.match.game.agents[self.match.turn] == self.agent

    # The person.

    def state(self) -> TurnState:
        """Return the person's TurnState."""
        return self.match.turn_state(self.person)

    def play(self, response: AgentResponse | Action, problem: str = "") -> tuple[ActionResult, list[ChatRequest]]:
        """Play the person's answer; with a `problem`, its replacement.

        Returns:
            the result, and the person's messages to the agent.
        """
        result = self._submit(self.person, response, problem)
        said = response.messages if result.ok and isinstance(response, AgentResponse) else []
        return result, [self._chat(message.content) for message in said]

    # The agent.

    def request(self) -> PlayRequest:
        """Return the message that begins the agent's turn, or restarts it after a lost connection."""
        self._asked = True
        return PlayRequest(**self._board())

    def receive(self, data: Any) -> list[TangramHostEvent]:
        """Return the events of a message of the agent (text, bytes, or parsed JSON). Never raises."""
        message = messages.decode_agent(data)
        match message:
            case Play() if self._asked:
                return self._play(message)
            case Finish() if self._asked:
                return [self.skip()]
            case Chat():
                text = message.message.encode(errors="replace").decode()
                intent = MessageIntent(MessageScope.PUBLIC, text)
                if self.match.send(self.agent, intent).ok:
                    self._log("message", agent=self.agent, intent=intent)
                return [AgentSaid(text)]
            case Error():
                return [self.skip(f"the agent says: {escaped(message.message, 200)}")] if self._asked else []
            case messages.Unknown():
                refused = self._refuse(f"cannot be read: {message.reason}")
                return [refused, self.skip(message.reason)] if self._asked and message.type == "play" else [refused]
            case _:
                return [self._refuse("it is not the agent's turn")]

    def skip(self, problem: str = "") -> TurnEnded:
        """End the agent's turn; with a `problem` if the agent loses it."""
        self._asked = False
        if self.agents_turn:
            self._submit(self.agent, Action("finish"), problem)
        return TurnEnded(problem)

    def _play(self, play: Play) -> list[TangramHostEvent]:
        payload = {"shape": play.shape, "position": list(play.position), "rotation": play.rotation}
        result = self._submit(self.agent, Action("play", payload))
        if not result.ok:
            problem = result.error_detail or ""
            return [self._refuse(problem), self.skip(problem)]
        if self.agents_turn:
            return [PlayFeedback(**self._board())]
        self._asked = False
        return [TurnEnded()]

    def _submit(self, agent: str, response: AgentResponse | Action, problem: str = "") -> ActionResult:
        result = self.match.submit(agent, response)
        if result.ok:
            self._log("turn", agent=agent, response=response, **({"problem": problem} if problem else {}))
        return result

    def _refuse(self, reason: str) -> messages.GameMessage:
        self.refused += 1
        return Error(message=escaped(reason, 200))

    # Messages to the agent.

    def _chat(self, text: str) -> ChatRequest:
        return ChatRequest(message=text, **self._board())

    def _board(self) -> dict[str, Any]:
        seen = TangramState.of(self.match.turn_state(self.agent))
        return {
            "objective": seen.objective,
            "state": State(on_board=seen.on_board, off_board=seen.off_board),
            "board_img": or_else(seen.board_img, None),
            "drawer_img": or_else(seen.drawer_img, None),
        }
