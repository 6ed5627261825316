"""`AgentPolicy`, the interface of the AgentPolicy document in Python, and its legal choices.

The document lets the mafia coordinate, but its interface has no call for messages between them: `say` is public, and
only admins see `think`. So here, other than in the environment, the mafia send no messages. They coordinate by
`PrivateKnowledge`: their teammates, and (our addition) the targets that these have chosen so far tonight.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Protocol, runtime_checkable

import msgspec

from ..common.agent_turn import plain
from .messages import (
    NIGHT_ACTIONS,
    AgentConfig,
    GameState,
    NightAction,
    PrivateInfo,
    PublicInfo,
    VoteAction,
    encode,
    read,
)


@runtime_checkable
class AgentPolicy(Protocol):
    """One player of one match (the AgentPolicy document, AgentPolicy Interface).

    Attributes:
        id: the id, unique in the match.
        name: the name that the others see.
        role: the role, set by the host; None: not set yet.
        config: the type of the agent and its settings.
    """

    id: str
    name: str
    role: str | None
    config: AgentConfig

    def think(self, context: GameState, private_info: PrivateInfo) -> AsyncIterator[str]:
        """Stream private reasoning, honestly: called before every night action, statement and vote."""
        ...

    def say(self, context: GameState, public_info: PublicInfo) -> AsyncIterator[str]:
        """Stream a public statement of one to five sentences; it may be a lie."""
        ...

    async def night_action(self, context: GameState, private_info: PrivateInfo) -> NightAction | None:
        """Return the night's choice; None for villagers."""
        ...

    async def vote(self, context: GameState, public_info: PublicInfo) -> VoteAction:
        """Return the vote."""
        ...


# Optional attributes of agents.


def replacement(agent: Any) -> str | None:
    """Return why the agent's latest answer was replaced, by its attribute ``replacement``; None: it is its own."""
    with suppress(Exception):
        if isinstance(problem := getattr(agent, "replacement", None), str):
            return problem
    return None


def model_calls(agent: Any) -> list[dict[str, Any]]:
    """Return an agent's calls of a language model since the last time, by its method ``take_calls``, for logs."""
    with suppress(Exception):
        return [vars(call) for call in agent.take_calls()]
    return []


# Choices.


def read_choice(
    answer: Any, agent_id: str, context: GameState, info: PrivateInfo | PublicInfo
) -> NightAction | VoteAction | None:
    """Return an answer to `night_action` or `vote` as a struct.

    Args:
        answer: a struct, a dict, or an object with the same attributes.
        agent_id: the agent.
        context, info: the arguments of the call.

    Raises:
        ValueError: if it is no legal choice, or its metadata is no JSON.
        Exception: the attributes of a foreign object may raise anything.
    """
    kind: type[Any] = NightAction if isinstance(info, PrivateInfo) else VoteAction
    if answer is not None:
        if not isinstance(answer, (dict, kind)):
            answer = msgspec.convert(answer, kind, from_attributes=True)
        answer = read(encode(plain(answer)), kind)  # a struct made by hand may hold anything
    if isinstance(info, PrivateInfo):
        problem = night_problem(answer, info)
    else:
        problem = "no vote" if answer is None else vote_problem(answer, agent_id, context)
    if problem is not None:
        raise ValueError(problem)
    return answer  # type: ignore[no-any-return]


REASON = 2_000
"""Most characters of a vote's reason; the rest is cut off."""
METADATA = 16_384
"""Most bytes of a night action's metadata, as JSON; longer ones are left out."""


def beside(choice: NightAction | VoteAction | None) -> dict[str, Any]:
    """Return the ``metadata`` or ``reason`` of a choice, for admins and logs; {} if there is none."""
    if isinstance(choice, NightAction) and choice.metadata is not None:
        size = len(encode(choice.metadata))
        return {"metadata": choice.metadata if size <= METADATA else {"leftOut": f"{size} bytes"}}
    if isinstance(choice, VoteAction) and isinstance(choice.reason, str):
        return {"reason": choice.reason[:REASON]}
    return {}


def night_targets(info: PrivateInfo) -> list[str]:
    """Return the ids of the legal targets of the agent tonight; [] for villagers.

    See the AgentPolicy document, Night Action Rules.
    """
    role = info.self.role
    if role not in NIGHT_ACTIONS or not info.self.alive:
        return []
    alive = [player for player in info.game_state.players if player.alive]
    if role != "doctor":
        return [player.id for player in alive if player.id != info.self.id]
    last = info.private_knowledge.last_protected
    spared = [player.id for player in alive if last not in (player.id, player.name)]
    return spared or [player.id for player in alive]


def night_problem(action: NightAction | None, info: PrivateInfo) -> str | None:
    """Return the problem of a night action; None: it is legal."""
    wanted = NIGHT_ACTIONS.get(str(info.self.role))
    if wanted is None:
        return None if action is None else f"a {info.self.role} does nothing at night, not {action.action_type}"
    if action is None:
        return f"a {info.self.role} must {wanted} a player"
    if action.action_type != wanted:
        return f"a {info.self.role} cannot {action.action_type}, but {wanted}"
    return _target_problem(action.target_id, night_targets(info), info.game_state, wanted)


def vote_targets(agent_id: str, context: GameState) -> list[str]:
    """Return the ids of the legal targets of a vote; abstaining is legal too."""
    return [player.id for player in context.players if player.alive and player.id != agent_id]


def vote_problem(vote: VoteAction, agent_id: str, context: GameState) -> str | None:
    """Return the problem of a vote; None: it is legal."""
    if vote.target_id is None:
        return None
    return _target_problem(vote.target_id, vote_targets(agent_id, context), context, "vote for")


def _target_problem(target: str, open_to: list[str], context: GameState, verb: str) -> str | None:
    if target in open_to:
        return None
    player = next((player for player in context.players if player.id == target), None)
    if player is None:
        what = f"there is no player {target[:80]!r}"
    elif not player.alive:
        what = f"cannot {verb} {target}, who is dead"
    else:
        what = f"cannot {verb} {target}: it is the agent itself, or was protected last night"
    return f"{what}; open are {', '.join(open_to)}"
