"""The game's end of tangram.md without I/O: one table of our game, a person's seat and the agent's.

`TangramHostSession` says what to send when the agent's turn begins and what follows from each of its messages. The rules
decide what a play does; a play that they refuse gets an `error` and costs the turn, as in the real game.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ....envs.core.aec import GameEnv
from ....envs.core.turn_state import Action, ActionResult, AgentResponse, MessageIntent, MessageScope, TurnState
from . import messages
from .messages import Chat, ChatRequest, Error, Finish, Placed, Play, PlayFeedback, PlayRequest, Spare, State, printable


@dataclass(frozen=True)
class Send:
    """A message to send now."""

    message: messages.GameMessage


@dataclass(frozen=True)
class TurnOver:
    """The agent's turn has ended; before its time where there is a `problem`."""

    problem: str = ""


@dataclass(frozen=True)
class Said:
    """The agent says something."""

    text: str


Event: TypeAlias = Send | TurnOver | Said


class TangramHostSession:
    """A match between a person and an agent.

    Args:
        env: tangram with two seats, which has been reset; the person's is the first.
        log: is told what was accepted of either side, as lines of a match log that replays: ``"turn"`` with `agent`
            and `response`, and the `problem` for which it stands in for another; ``"message"`` with `agent` and
            `intent`.

    Attributes:
        person, agent: their names in `env`.
        refused: messages of the agent that were answered by an error.
    """

    def __init__(self, env: GameEnv, log: Callable[..., None] | None = None) -> None:
        if len(env.possible_agents) != 2:
            raise ValueError(f"{len(env.possible_agents)} seats: a person and an agent make 2")
        self.env = env
        self.person, self.agent = env.possible_agents
        self.refused = 0
        self._log = log or (lambda kind, **fields: None)
        self._asked = False

    @property
    def over(self) -> bool:
        """Whether the match has ended."""
        return bool(self.env.table.done)

    @property
    def agents_turn(self) -> bool:
        """Whether the agent is to move."""
        return not self.over and self.env.agent_selection == self.agent

    # The person.

    def state(self) -> TurnState:
        """Return what the person sees."""
        return self.env.turn_state(self.person)

    def play(self, response: AgentResponse | Action, problem: str = "") -> tuple[ActionResult, list[ChatRequest]]:
        """Play the person's answer, or for it where there is a `problem`.

        Returns:
            whether it fits, and what the person says by it to the agent.
        """
        result = self._submit(self.person, response, problem)
        said = response.messages if result.ok and isinstance(response, AgentResponse) else []
        return result, [self._chat(message.content) for message in said]

    # The agent.

    def request(self) -> PlayRequest:
        """Return the message that begins the agent's turn, or begins it again after a connection was lost."""
        self._asked = True
        return PlayRequest(**self._board())

    def receive(self, data: Any) -> list[Event]:
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
                if self.env.send(self.agent, intent).ok:
                    self._log("message", agent=self.agent, intent=intent)
                return [Said(text)]
            case Error():
                return [self.skip(f"the agent says: {printable(message.message)}")] if self._asked else []
            case messages.Unknown():
                refused = self._refuse(f"cannot be read: {message.reason}")
                return [refused, self.skip(message.reason)] if self._asked and message.type == "play" else [refused]
            case _:
                return [self._refuse("it is not the agent's turn")]

    def skip(self, problem: str = "") -> TurnOver:
        """End the agent's turn; before its time where there is a `problem`."""
        self._asked = False
        if self.agents_turn:
            self._submit(self.agent, Action("finish"), problem)
        return TurnOver(problem)

    def _play(self, play: Play) -> list[Event]:
        payload = {"shape": play.shape, "position": list(play.position), "rotation": play.rotation}
        result = self._submit(self.agent, Action("play", payload))
        if not result.ok:
            problem = result.error_detail or ""
            return [self._refuse(problem), self.skip(problem)]
        if self.agents_turn:
            return [Send(PlayFeedback(**self._board()))]
        self._asked = False
        return [TurnOver()]

    def _submit(self, agent: str, response: AgentResponse | Action, problem: str = "") -> ActionResult:
        result = self.env.submit(agent, response)
        if result.ok:
            self._log("turn", agent=agent, response=response, **({"problem": problem} if problem else {}))
        return result

    def _refuse(self, reason: str) -> Send:
        self.refused += 1
        return Send(Error(message=printable(reason)))

    # What we tell.

    def _chat(self, text: str) -> ChatRequest:
        return ChatRequest(message=text, **self._board())

    def _board(self) -> dict[str, Any]:
        seen = self.env.turn_state(self.agent).game_state
        return {
            "objective": seen["objective"],
            "state": State(
                on_board={name: _placed(piece) for name, piece in seen["on_board"].items()},
                off_board={
                    name: Spare(vertices=_vectors(piece["vertices"]), rotation=piece["rotation"])
                    for name, piece in seen["off_board"].items()
                },
            ),
            "board_img": seen.get("board_img"),
            "drawer_img": seen.get("drawer_img"),
        }


def _placed(piece: dict[str, Any]) -> Placed:
    x, y = piece["position"]
    return Placed(
        position=(x, y),
        vertices=_vectors(piece["vertices"]),
        rotation=piece["rotation"],
        collisions=list(piece["collisions"]),
    )


def _vectors(vertices: list[list[float]]) -> list[messages.Vector]:
    return [(x, y) for x, y in vertices]
