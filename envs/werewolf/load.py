"""TurnState ──► record: with what a player may know. It reads the states of strategic-agent-games, too."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..core.record import Tables
from ..core.turn_state import Message, TurnState
from ..mafia import load as mafia
from ..mafia.statements import READY, code_of, from_wire, read
from ..mafia.table import DISCUSSION
from .view import SPOKE
from .words import PHASES, TEAMS, in_mafia, role_of

Seats = Mapping[str, int]


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names: ``agent_ids`` gives the seats. If the host does not send ``statements``, they are read
    from the public messages, in order, as many a day as the game has. A state without fields, as the platform sends it
    after the end, is read as the end of the first day.

    Args:
        blank: a table with the options that TurnState does not have.
        state: the match's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = {**_bare(int(blank[0].seats), state), **state.game_state} if state.game_over else state.game_state
    order = game["agent_ids"]
    seats = {agent: seat for seat, agent in enumerate(order)}

    def more(row: Any) -> None:
        row["opener"] = 0
        for voter, target in game.get("votes_so_far", {}).items():
            row["votes"][(game["day"] - 1) * int(row["seats"]) + seats[voter]] = seats[target]
        _write_statements(row, game, state.messages, seats)

    return mafia.load(blank, msgspec.structs.replace(state, **as_mafia(state, game)), more)


def _bare(seats: int, state: TurnState) -> dict[str, Any]:
    """Return the fields of a state that lacks them."""
    ids = [row["agent_id"] for row in (state.outcome or {}).get("payoffs", ())] or [f"p{k + 1}" for k in range(seats)]
    ids = ids if state.agent_id in ids else [state.agent_id, *ids[1:]]
    roles = (state.outcome or {}).get("roles", {})
    return {"agent_ids": ids, "day": 1, "my_role": roles.get(state.agent_id, "villager"), "event_log": []}


def as_mafia(state: TurnState, game: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a TurnState of mafia with the same content: ``game_state``, ``phase`` and ``outcome``.

    Args:
        state: the TurnState of werewolf.
        game: its `game_state`.
    """
    dead = {row["agent_id"]: row for row in game["event_log"] if "role" in row}
    roles = _roles(state, game, dead)
    players = [
        {
            "id": agent,
            "name": agent,
            "role": roles.get(agent, "unknown"),
            "alive": agent not in dead,
            "eliminatedRound": dead[agent]["day"] if agent in dead else None,
        }
        for agent in game["agent_ids"]
    ]
    by_id = {player["id"]: player for player in players}
    phase = "END" if state.game_over else PHASES.get(state.phase, "DAY_DISCUSSION")
    wolves = sum(row["role"] == "werewolf" for row in dead.values())
    killed = game.get("last_killed")
    outcome = dict(state.outcome or {})
    if "winner" in outcome:
        outcome["winner"] = ("town", "mafia")[TEAMS.index(outcome["winner"])]
    seen = {
        "phase": phase,
        "dayNumber": game["day"] - (phase == "NIGHT_ACTIONS"),
        "roundNumber": game["day"],
        "players": players,
        "self": by_id.get(state.agent_id),
        "mafiaCount": 2 - wolves,
        "townCount": len(players) - len(dead) - 2 + wolves,
        "winner": outcome.get("winner"),
        "lastNightResult": killed and {"killed": killed["agent_id"], "protected": None, "prevented": False},
        "votingHistory": _votings(game),
        "privateKnowledge": {
            "mafiaTeammates": [by_id[agent] for agent in game.get("fellow_werewolves", ())],
            "investigationResults": [
                {"target": by_id[row["target"]], "isMafia": row["is_werewolf"], "round": row["day"]}
                for row in game.get("my_inspections", ())
            ],
        },
        "nightActions": game.get("werewolf_nominations", {}),
        "ownVote": None,
        "statements": [],
    }
    return {"game_state": seen, "phase": phase, "outcome": outcome or None}


def _roles(state: TurnState, game: Mapping[str, Any], dead: Mapping[str, Any]) -> dict[str, str]:
    """Return the roles that the state tells, in the words of mafia."""
    told = {agent: row["role"] for agent, row in dead.items()}
    told |= dict.fromkeys(game.get("fellow_werewolves", ()), "werewolf")
    told |= (state.outcome or {}).get("roles", {})
    if state.agent_id:
        told[state.agent_id] = game["my_role"]
    return {agent: role_of(role) for agent, role in told.items()}


def _votings(game: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the votes of past days; the platform tells only how many each player got."""
    known = game.get("voting_history", ())
    over = [row for row in game["event_log"] if row["type"] in ("lynched", "no_lynch")]
    return [
        {"round": row["day"], "eliminated": row.get("agent_id"), "votes": known[place] if place < len(known) else {}}
        for place, row in enumerate(over)
    ]


def _write_statements(row: Any, game: Mapping[str, Any], messages: Sequence[Message], seats: Seats) -> None:
    """Write what was said into the record, and how far today's discussion is."""
    count, rounds, said = int(row["seats"]), int(row["discussion_rounds"]), memoryview(row["said"])
    days = game["day"] - (row["phase"] < DISCUSSION)
    told = game.get("statements")
    for speaker, day, code in _codes(told, seats) if told is not None else _heard(game, messages, seats, rounds):
        place, end = (day - 1) * rounds * count + speaker, min(day, days) * rounds * count
        while place < end and said[place]:
            place += count
        if place < end:
            said[place] = code
    if row["phase"] == DISCUSSION:
        today, speech = (days - 1) * rounds * count, 0
        alive = [seat for seat in range(count) if row["alive"][seat]]
        while speech < rounds - 1 and all(said[today + speech * count + seat] for seat in alive):
            speech += 1
        row["speech"] = speech


def _codes(told: Sequence[Mapping[str, Any]], seats: Seats) -> list[tuple[int, int, int]]:
    """Return the speaker, day and code of each statement of the field ``statements``."""
    return [(seats[one["agent_id"]], one["day"], _code(one, seats)) for one in told]


def _code(one: Mapping[str, Any], seats: Seats) -> int:
    if one["action"] in ("ready_to_vote", "general"):
        return READY if one["action"] == "ready_to_vote" else SPOKE
    target = -1 if one["target"] is None else seats[one["target"]]
    role = role_of(one["role"]) if one["role"] in ("werewolf", "seer", "villager") else one["role"]
    return int(code_of(*from_wire(one["action"], target, role, one["is_werewolf"])))


def _heard(
    game: Mapping[str, Any], messages: Sequence[Message], seats: Seats, rounds: int
) -> list[tuple[int, int, int]]:
    """Return the same from public messages, which do not tell the day, and from who is ready."""
    spoken, heard = dict.fromkeys(seats, 0), []
    for message in messages:
        if message.sender_id in seats and not message.to_agent_ids:
            day = 1 + spoken[message.sender_id] // rounds
            spoken[message.sender_id] += 1
            act = read(in_mafia(message.content), seats[message.sender_id], seats)
            code = int(code_of(*act))
            heard.append((seats[message.sender_id], min(day, game["day"]), SPOKE if code == READY else code))
    ready = [agent for agent in game.get("players_ready_to_vote", ()) if agent in seats]
    return heard + [(seats[agent], game["day"], READY) for agent in ready]
