"""A match as SVG: the picture of mafia, in the words of werewolf."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..core.turn_state import TurnState, or_else
from ..mafia import picture as mafia
from ..mafia.statements import from_wire, sentence
from ..mafia.view import Statement as MafiaStatement
from .load_state import as_mafia
from .view import Statement, WerewolfState, labelled


def picture(states: Sequence[TurnState]) -> str:
    """Draw the match from `states` (see `Renderer.picture`)."""
    return labelled(mafia.picture([_in_mafia(state) for state in states]))


def _in_mafia(state: TurnState) -> TurnState:
    game = WerewolfState.of(state)
    seen, fields = as_mafia(state, game)
    seen.statements = [_statement(one, game.agent_ids) for one in game.statements or ()]
    seen.own_vote = or_else(game.votes_so_far, {}).get(state.agent_id)
    return msgspec.structs.replace(state, game_state=seen.to_dict(), **fields)


def _statement(one: Statement, ids: Sequence[str]) -> MafiaStatement:
    """Return a row of ``statements`` as one of mafia, with a standard sentence."""
    role = {"werewolf": "mafia", "seer": "sheriff"}.get(str(one.role), one.role)
    content = "I am ready to vote."
    if one.action != "ready_to_vote":
        target = -1 if one.target is None else ids.index(one.target)
        content = sentence(from_wire(one.action, target, role, one.is_werewolf), ids.index(one.agent_id), ids)
    return MafiaStatement(
        player_id=one.agent_id,
        round=one.day,
        type=one.action,
        target_id=one.target,
        role=role,
        is_mafia=one.is_werewolf,
        content=content,
    )


def render(table: Any, seat: int | None) -> str:
    """Return a few lines of text. `seat`: whose known roles and votes are shown; None: all."""
    return labelled(mafia.render(table, seat))
