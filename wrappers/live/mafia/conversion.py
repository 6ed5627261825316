"""mafia.md's context and info ──► TurnState of our game: what an agent may know, and no more.

The document's own host puts every player's role into the context. What the agent may not know is left out here: only
its own role, the dead, its teammates and its results count.
"""

from collections import Counter
from functools import cache
from typing import Any

import msgspec

from ....envs import game as make_game
from ....envs.core.game import Game
from ....envs.core.turn_state import TurnState
from ....envs.mafia.table import DAYS, SPEECHES
from .messages import UNKNOWN, GameState, PrivateInfo

DECISIONS = {
    "SETUP": "NIGHT_ACTIONS",
    "NIGHT_ACTIONS": "NIGHT_ACTIONS",
    "MORNING_REVEAL": "DAY_DISCUSSION",
    "DAY_DISCUSSION": "DAY_DISCUSSION",
    "DAY_VOTING": "DAY_VOTING",
    "RESOLUTION": "DAY_VOTING",
    "END": "END",
}
"""The phase of our game, in which something is decided, by that of the document."""


@cache
def of_size(seats: int, speeches: int = 1, days: int = 20) -> Game:
    """Return a game of as many players, and with as many discussion rounds and days as given.

    Raises:
        ValueError: if mafia is not played by so many, or so long.
    """
    return make_game("mafia", seats=seats, discussion_rounds=speeches, max_days=days)


def of_context(context: GameState) -> Game:
    """Return a game that holds what a context tells.

    No context tells a game's options. Discussion rounds are counted in what was said. The limit of days is taken to be
    the usual one, unless the match has gone on beyond it; one doctor and one sheriff are taken for granted.

    Raises:
        ValueError: if mafia is not played by so many, or so long.
    """
    said = Counter((one.round, one.player_id) for one in context.statements or ())
    days = next((days for days in (20, DAYS) if context.round_number <= days), DAYS)
    speeches = min(max(said.values(), default=1), 8, SPEECHES // days)
    return of_size(len(context.players), speeches, days)


def known_roles(agent_id: str, context: GameState, private: PrivateInfo | None) -> dict[str, str]:
    """Return the roles that an agent may know, by player id.

    Args:
        agent_id: who.
        context: as its host shows it, perhaps with more than it should.
        private: its private information; None where it has not been told any: then its teammates are those that the
            context calls mafia.
    """
    over = context.phase == "END"
    known = {}
    for player in context.players:
        if player.role not in (None, UNKNOWN) and (over or not player.alive or player.id == agent_id):
            known[player.id] = str(player.role)
    if private is None:
        if known.get(agent_id) == "mafia":
            known |= {player.id: "mafia" for player in context.players if player.role == "mafia"}
        return known
    if private.self.role not in (None, UNKNOWN):
        known[agent_id] = str(private.self.role)
    if known.get(agent_id) == "mafia":
        known |= {mate.id: "mafia" for mate in private.private_knowledge.mafia_teammates or ()}
    elif known.get(agent_id) == "sheriff":
        found = [one.target.id for one in private.private_knowledge.investigation_results if one.is_mafia]
        known |= dict.fromkeys(found, "mafia")
    return known


def turn_state(agent_id: str, context: GameState, private: PrivateInfo | None, *, my_turn: bool = True) -> TurnState:
    """Return what an agent sees as our game shows it.

    Args:
        agent_id: who.
        context: of the call.
        private: its private information, as last told; None where it has not been.
        my_turn: whether it is to decide.
    """
    roles = known_roles(agent_id, context, private)
    phase = DECISIONS[context.phase]
    players = [
        {
            "id": player.id,
            "name": player.name,
            "role": roles.get(player.id, UNKNOWN),
            "alive": player.alive,
            "eliminatedRound": player.eliminated_round,
        }
        for player in context.players
    ]
    own = next((player for player in players if player["id"] == agent_id), None)
    if own is None:
        raise ValueError(f"{agent_id!r} is none of the players {', '.join(player.id for player in context.players)}")
    private_knowledge: dict[str, Any] = {"investigationResults": []}
    if private is not None:
        private_knowledge = msgspec.to_builtins(private.private_knowledge)
    night = private_knowledge.pop("nightActions", {})
    last = context.last_night_result
    said = context.statements or []
    state = {
        "gameId": "mafia-v0",
        "phase": phase,
        "dayNumber": context.day_number,
        "roundNumber": context.round_number,
        "players": players,
        "alivePlayers": [{"id": one["id"], "name": one["name"]} for one in players if one["alive"]],
        "deadPlayers": [
            {key: one[key] for key in ("id", "name", "role", "eliminatedRound")} for one in players if not one["alive"]
        ],
        "mafiaCount": context.mafia_count,
        "townCount": context.town_count,
        "winner": context.winner,
        "lastNightResult": last
        and {
            "killed": last.killed and last.killed.id,
            "protected": last.protected.id if last.protected and roles.get(agent_id) == "doctor" else None,
            "prevented": last.prevented,
        },
        "votingHistory": msgspec.to_builtins(context.voting_history),
        "self": own,
        "privateKnowledge": private_knowledge,
        "statements": msgspec.to_builtins(said),
        "nightActions": night if phase == "NIGHT_ACTIONS" else {},
        "ownVote": None,
    }
    return TurnState(
        match_id=context.game_id,
        game_id="mafia-v0",
        agent_id=agent_id,
        phase=phase,
        is_my_turn=my_turn,
        current_turn_agent_id=agent_id if my_turn else None,
        game_state=state,
    )
