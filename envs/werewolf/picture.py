"""A match as SVG: the picture of mafia, in the words of werewolf."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..core.turn_state import TurnState
from ..mafia import picture as mafia
from ..mafia.statements import from_wire, sentence
from .load import as_mafia
from .words import labelled


def picture(states: Sequence[TurnState]) -> str:
    """Draw the match from `states` (see `Renderer.picture`)."""
    return labelled(mafia.picture([_in_mafia(state) for state in states]))


def _in_mafia(state: TurnState) -> TurnState:
    fields = as_mafia(state, state.game_state)
    seen = fields["game_state"]
    seen["statements"] = [_statement(one, state.game_state["agent_ids"]) for one in state.game_state["statements"]]
    votes = state.game_state.get("votes_so_far", {})
    seen["ownVote"] = votes.get(state.agent_id)
    return msgspec.structs.replace(state, **fields)


def _statement(one: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    """Return a row of ``statements`` as one of mafia, with a standard sentence."""
    kind, role = one["action"], {"werewolf": "mafia", "seer": "sheriff"}.get(one["role"], one["role"])
    told = {"playerId": one["agent_id"], "round": one["day"], "type": kind, "targetId": one["target"]}
    told |= {"role": role, "isMafia": one["is_werewolf"]}
    if kind == "ready_to_vote":
        return {**told, "content": "I am ready to vote."}
    target = -1 if one["target"] is None else ids.index(one["target"])
    act = from_wire(kind, target, role, one["is_werewolf"])
    return {**told, "content": sentence(act, ids.index(one["agent_id"]), ids)}
