"""A match as SVG: the picture of mafia, in the words of werewolf."""

from collections.abc import Sequence

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
    seen.statements = [_statement(entry, game.agent_ids) for entry in game.statements or ()]
    seen.own_vote = or_else(game.votes_so_far, {}).get(state.agent_id)
    return msgspec.structs.replace(state, game_state=seen.to_dict(), **fields)


def _statement(entry: Statement, ids: Sequence[str]) -> MafiaStatement:
    """Return a row of ``statements`` as one of mafia, with a standard sentence."""
    role = {"werewolf": "mafia", "seer": "sheriff"}.get(str(entry.role), entry.role)
    content = "I am ready to vote."
    if entry.action != "ready_to_vote":
        target = -1 if entry.target is None else ids.index(entry.target)
        content = sentence(from_wire(entry.action, target, role, entry.is_werewolf), ids.index(entry.agent_id), ids)
    return MafiaStatement(
        player_id=entry.agent_id,
        round=entry.day,
        type=entry.action,
        target_id=entry.target,
        role=role,
        is_mafia=entry.is_werewolf,
        content=content,
    )


def render(max_days: int, states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`). `max_days`: how many days there are at most."""
    return labelled(mafia.render(max_days, [_in_mafia(state) for state in states]))
