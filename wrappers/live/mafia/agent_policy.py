"""`AgentPolicy`, the interface of the AgentPolicy document in Python, and what it may choose from.

The document lets the mafia coordinate, but its interface has no call in which they could speak to each other: `say` is
public, and `think` is shown to admins only. So here, other than in the environment, the mafia send no messages; they
coordinate by what `PrivateKnowledge` tells them: who they are, and (ours) whom the others have chosen so far tonight.
"""

from collections.abc import AsyncIterator
from typing import Any, Protocol, runtime_checkable

import msgspec

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
        id: unique in the match.
        name: shown to the others.
        role: given by the host; None before.
        config: what the agent is made of.
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


# What agents of ours tell besides.


def replacement(agent: Any) -> str | None:
    """Return why the answer that an agent is giving, or gave last, is not its own; None: it is.

    A language model's agent tells it by its attribute ``replacement``.
    """
    problem = getattr(agent, "replacement", None)
    return problem if isinstance(problem, str) else None


def model_calls(agent: Any) -> list[dict[str, Any]]:
    """Return the calls of a language model that an agent has made since the last time, for logs.

    A language model's agent tells them by its method ``take_calls``.
    """
    take = getattr(agent, "take_calls", None)
    return [vars(call) for call in take()] if callable(take) else []


# What agents choose.


def night_choice(answer: Any, info: PrivateInfo) -> tuple[NightAction | None, str | None]:
    """Return an answer to `night_action` as a struct of ours, and what is wrong with it (None: nothing).

    Args:
        answer: a `NightAction`, a dict, or an object with the same attributes.
        info: what the agent was called with.

    Raises:
        Exception: if it is none of these; an object of others may raise anything.
    """
    action: NightAction | None = _converted(answer, NightAction)
    return action, night_problem(action, info)


def vote_choice(answer: Any, agent_id: str, context: GameState) -> tuple[VoteAction | None, str | None]:
    """Return an answer to `vote` as a struct of ours, and what is wrong with it (None: nothing).

    Raises:
        Exception: as `night_choice` does.
    """
    vote: VoteAction | None = _converted(answer, VoteAction)
    return vote, "no vote" if vote is None else vote_problem(vote, agent_id, context)


REASON = 2_000
"""Characters of a vote's reason that are kept."""
METADATA = 16_384
"""Bytes of a night action's metadata, as JSON; longer ones are not kept."""


def beside(choice: NightAction | VoteAction | None) -> dict[str, Any]:
    """Return what an agent says beside its choice, for admins and logs: ``metadata`` or ``reason``, if it has one."""
    if isinstance(choice, NightAction) and choice.metadata is not None:
        size = len(encode(choice.metadata))
        return {"metadata": choice.metadata if size <= METADATA else {"leftOut": f"{size} bytes"}}
    if isinstance(choice, VoteAction) and isinstance(choice.reason, str):
        return {"reason": choice.reason[:REASON]}
    return {}


def _converted(answer: Any, kind: type[Any]) -> Any:
    """Return an agent's answer as a struct of ours."""
    if answer is None:
        return None
    if isinstance(answer, (dict, kind)):
        return read(encode(answer), kind)  # a struct made by hand may hold anything
    return msgspec.convert(answer, kind, from_attributes=True)


def night_targets(info: PrivateInfo) -> list[str]:
    """Return the ids that the agent of `info` may choose tonight; [] for villagers.

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
    """Return what is wrong with a night action; None where it is right."""
    wanted = NIGHT_ACTIONS.get(str(info.self.role))
    if wanted is None:
        return None if action is None else f"a {info.self.role} does nothing at night, not {action.action_type}"
    if action is None:
        return f"a {info.self.role} must {wanted} somebody"
    if action.action_type != wanted:
        return f"a {info.self.role} cannot {action.action_type}, but {wanted}"
    return _target_problem(action.target_id, night_targets(info), info.game_state, f"{wanted}")


def vote_targets(agent_id: str, context: GameState) -> list[str]:
    """Return the ids that an agent may vote for; it may also abstain."""
    return [player.id for player in context.players if player.alive and player.id != agent_id]


def vote_problem(vote: VoteAction, agent_id: str, context: GameState) -> str | None:
    """Return what is wrong with a vote; None where it is right."""
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
