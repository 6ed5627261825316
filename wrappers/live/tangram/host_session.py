"""The game's end of the tangram protocol without I/O: one match of our game, a person's seat and the agent's.

`TangramHostSession` returns what to send when the agent's turn begins and what follows from each of its messages. The
rules decide what a play does. A play that they refuse is answered by an `error` and costs the turn, as in the Godot
game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....envs.core.counted import counted
from ....envs.core.game_state import or_else
from ....envs.core.match import Match
from ....envs.core.turn_state import Action, ActionResult, AgentResponse, MessageIntent, MessageScope, TurnState
from ....envs.tangram.state import TangramState
from ...logs.log_text import escaped
from ..common.sessions import SendMessage
from . import messages
from .messages import (
    Chat,
    ChatRequest,
    Error,
    Finish,
    Play,
    PlayFeedback,
    PlayRequest,
    State,
)


@dataclass(frozen=True)
class TurnEnded:
    """The agent's turn has ended; too early where there is a `problem`."""

    problem: str = ""


@dataclass(frozen=True)
class AgentSaid:
    """The agent said something."""

    text: str


TangramHostEvent: TypeAlias = SendMessage[messages.GameMessage] | TurnEnded | AgentSaid


class TangramHostSession:
    """A match between a person and an agent.

    Args:
        match: tangram with two seats, which has been reset; the person's is the first.
        log: is called with what was accepted of either side, as lines of a match log that replays: ``"turn"`` with
            `agent` and `response`, and the `problem` for which the response replaces another; ``"message"`` with
            `agent` and `intent`.

    Attributes:
        match: the referee.
        person, agent: the names of their seats.
        refused: messages of the agent that were answered by an error.
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
        """Return what the person sees."""
        return self.match.turn_state(self.person)

    def play(self, response: AgentResponse | Action, problem: str = "") -> tuple[ActionResult, list[ChatRequest]]:
        """Play the person's answer, or another in its place where there is a `problem`.

        Returns:
            the result, and what the person says to the agent by it.
        """
        result = self._submit(self.person, response, problem)
        said = response.messages if result.ok and isinstance(response, AgentResponse) else []
        return result, [self._chat(message.content) for message in said]

    # The agent.

    def request(self) -> PlayRequest:
        """Return the message that begins the agent's turn, or begins it again after a connection was lost."""
        self._asked = True
        return PlayRequest(**self._board())

    def receive(self, data: Any) -> list[TangramHostEvent]:
        """Take in a message of the agent (text, bytes, or parsed JSON), and return what follows. Never raises."""
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
        """End the agent's turn; too early where there is a `problem`."""
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
            return [SendMessage(PlayFeedback(**self._board()))]
        self._asked = False
        return [TurnEnded()]

    def _submit(self, agent: str, response: AgentResponse | Action, problem: str = "") -> ActionResult:
        result = self.match.submit(agent, response)
        if result.ok:
            self._log("turn", agent=agent, response=response, **({"problem": problem} if problem else {}))
        return result

    def _refuse(self, reason: str) -> SendMessage[messages.GameMessage]:
        self.refused += 1
        return SendMessage(Error(message=escaped(reason, 200)))

    # What the agent is sent.

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
