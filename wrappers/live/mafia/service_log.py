"""The match log of a service's agents: a ``turn`` for every night action, statement and vote, with its thought.

Hosts do not report the end of a match to agents, so ``ended`` is written when the service removes an agent.
"""

from dataclasses import dataclass, field
from typing import Any

from ....envs.core.turn_state import Action, AgentResponse
from ...agents.base import thoughts
from ...logs.match_log import MatchLog
from ...logs.safe_match_log import SafeMatchLog, safe_thoughts
from .agent_policy import AgentPolicy, beside, model_calls
from .agent_session import Begin
from .conversion import turn_state
from .messages import NightAction, PrivateInfo, VoteAction

Key = tuple[str, str, str]
"""Client, match, agent. The client's name is secret, and not written."""


@dataclass
class _Memory:
    """The state of an agent between its calls."""

    private: PrivateInfo | None = None
    thought: str = ""
    moment: tuple[str, int] = ("", 0)  # phase and round of the thought
    winner: str | None = None


@dataclass
class LoggedCall:
    """One call and its result.

    Attributes:
        key: client, match and agent.
        begin: the call.
        seen: the TurnState of the call; None: it cannot be written.
        said: the chunks of the stream so far.
        problem: why the answer was replaced or cut off; None: it was not.
    """

    key: Key
    begin: Begin
    seen: dict[str, Any] | None
    said: list[str] = field(default_factory=list)
    problem: str | None = None


class AgentServiceLog:
    """The log of a service's agents.

    Args:
        log: the log; None: no log.
    """

    def __init__(self, log: MatchLog | None) -> None:
        self._log = SafeMatchLog(log)
        self._memories: dict[Key, _Memory] = {}

    def open(self, client: str, begin: Begin) -> LoggedCall:
        """Begin a call: store what the agent sees, before the agent can change it."""
        context, info = begin.context, begin.info
        key = client, context.game_id, begin.agent_id
        if not self._log:
            return LoggedCall(key, begin, None)
        memory = self._memories.get(key)
        if memory is None:
            memory = self._memories[key] = _Memory()
            name = next((player.name for player in context.players if player.id == begin.agent_id), None)
            self._log.write("joined", match_id=context.game_id, agent_id=begin.agent_id, name=name)
        memory.winner = context.winner
        if isinstance(info, PrivateInfo):
            memory.private = info.kept()
        try:
            seen = turn_state(begin.agent_id, context, memory.private).to_dict()
        except (ValueError, TypeError, LookupError):  # such as an agent that is none of the players
            seen = None
        return LoggedCall(key, begin, seen)

    def close(self, call: LoggedCall, agent: AgentPolicy, choice: NightAction | VoteAction | None = None) -> None:
        """End a call: store a thought, or write a decision; a villager has none at night."""
        memory = self._memories.get(call.key)
        for model_call in model_calls(agent):
            where = {"match_id": call.key[1], "agent_id": call.key[2], "method": call.begin.method}
            self._log.write("model", **where, round=call.begin.context.round_number, **model_call)
        if memory is None or call.seen is None:
            return
        context = call.begin.context
        moment = context.phase, context.round_number
        if call.begin.method == "think":
            memory.thought, memory.moment = "".join(call.said), moment
            if call.problem is not None:
                memory.thought = f"{memory.thought} ({call.problem})".strip()
            return
        thought = memory.thought if memory.moment == moment else ""
        memory.thought = ""
        response = _answer(call, choice)
        if response is None:
            return
        note = {"replaced": call.problem} if call.problem is not None else safe_thoughts(lambda: thoughts(agent))  # type: ignore[arg-type]
        if thought:
            note["think"] = thought
        self._log.write("turn", turn_state=call.seen, response=response, **note)

    def forget(self, key: Key) -> None:
        """Remove an agent and write the end of its match."""
        memory = self._memories.pop(key, None)
        if memory is not None:
            outcome = None if memory.winner is None else {"winner": memory.winner}
            self._log.write("ended", match_id=key[1], agent_id=key[2], outcome=outcome)

    def end(self) -> None:
        """Write the end of all running matches."""
        for key in list(self._memories):
            self.forget(key)


def _answer(call: LoggedCall, choice: NightAction | VoteAction | None) -> AgentResponse | None:
    """Return the answer of a call, in our game's form."""
    if call.begin.method == "say":
        return AgentResponse(Action("say", {"text": "".join(call.said)}))
    said = beside(choice)
    if isinstance(choice, NightAction):
        return AgentResponse(
            Action("nightAction", {"actionType": choice.action_type, "targetId": choice.target_id, **said})
        )
    if isinstance(choice, VoteAction):
        return AgentResponse(Action("vote", {"targetId": choice.target_id, **said}))
    return None
