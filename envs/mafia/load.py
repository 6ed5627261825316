"""TurnState ──► record: what a player may know, also from other hosts of the protocol."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.record import Tables
from ..core.turn_state import TurnState
from .rules import remember
from .statements import code_of, from_wire, read
from .table import DISCUSSION, END, MAFIA, NIGHT, PHASES, ROLES, WINNERS
from .view import last_night, log


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any ids and names: `players` gives the seats. A statement without a `type` is read from its
    `content`.

    Args:
        blank: a table with the options that TurnState does not tell.
        state: the match's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    players = game["players"]
    if len(players) != table.seats:
        raise ValueError(f"{len(players)} players; this game was made for {int(table.seats)}")
    if not 1 <= game["roundNumber"] <= table.max_days:
        raise ValueError(f"round {game['roundNumber']}; this game was made for 1 to {int(table.max_days)} days")
    seats = {player["name"]: seat for seat, player in enumerate(players)}
    seats |= {player["id"]: seat for seat, player in enumerate(players)}
    seat = seats[state.agent_id]
    count = len(players)
    table.phase, table.round_number = PHASES.index(game["phase"]), game["roundNumber"]
    table.role[:count] = [ROLES.index(player["role"]) for player in players]
    alive = [bool(player["alive"]) for player in players]
    table.alive[:count] = alive
    table.eliminated_round[:count] = [player["eliminatedRound"] or 0 for player in players]
    table.living, table.living_mafia = sum(alive), game["mafiaCount"]
    _load_history(table, game, seats)
    _load_private(table, game["privateKnowledge"], seat, seats)
    tonight = log(table, "night")[table.round_number - 1]
    for actor, target in game["nightActions"].items():
        tonight[seats[actor]] = seats[target]
    if game["ownVote"] is not None:
        log(table, "votes")[table.round_number - 1, seat] = seats[game["ownVote"]]
    if table.talk:
        _load_statements(table, game["statements"], seats, alive)
    table.turn = -1
    if state.is_my_turn:
        table.turn = seat
    elif state.current_turn_agent_id is not None:
        table.turn = seats[state.current_turn_agent_id]
    if state.game_over:
        _load_end(table, state, seats)
    remember(table)
    return tables, seat


def _load_history(table: Any, game: Mapping[str, Any], seats: Mapping[str, int]) -> None:
    """Rebuild the public past: last night, and all votes."""
    last = game["lastNightResult"] or {"killed": None, "prevented": False}
    table.killed = -1 if last["killed"] is None else seats[last["killed"]]
    table.prevented = last["prevented"]
    table.votings = len(game["votingHistory"])
    votes = log(table, "votes")
    for row, voting in enumerate(game["votingHistory"]):
        for voter, target in voting["votes"].items():
            votes[row, seats[voter]] = seats[target]
        if voting["eliminated"] is not None:
            table.voted_out[seats[voting["eliminated"]]] = 1


def _load_private(table: Any, private: Mapping[str, Any], seat: int, seats: Mapping[str, int]) -> None:
    """Rebuild `privateKnowledge`."""
    for mate in private.get("mafiaTeammates", ()):
        table.role[seats[mate["id"]]] = MAFIA
    row = last_night(table)
    if private.get("lastProtected") is not None and row >= 0:
        log(table, "night")[row, seat] = seats[private["lastProtected"]]
    for result in private["investigationResults"]:
        target = seats[result["target"]["id"]]
        log(table, "night")[result["round"] - 1, seat] = target
        if result["isMafia"]:
            table.role[target] = MAFIA


def _load_statements(
    table: Any, statements: list[dict[str, Any]], seats: Mapping[str, int], alive: Sequence[bool]
) -> None:
    """Rebuild what was said, and how far today's discussion is."""
    said, rounds = log(table, "said"), int(table.discussion_rounds)
    day = int(table.round_number) - int(table.phase == NIGHT)
    count: dict[tuple[int, int], int] = {}
    for entry in statements:
        speaker, said_on = seats[entry["playerId"]], entry["round"]
        speech = count.get((said_on, speaker), 0)
        if speech < rounds and 1 <= said_on <= day:
            said[(said_on - 1) * rounds + speech, speaker] = code_of(*_act(entry, speaker, seats))
            count[said_on, speaker] = speech + 1
    table.opener = 2 * (day - 1) % len(alive) if day else 0
    if table.phase == DISCUSSION:
        table.speech = min(count.get((day, other), 0) for other, lives in enumerate(alive) if lives)


def _act(entry: Mapping[str, Any], speaker: int, seats: Mapping[str, int]) -> tuple[int, int]:
    if entry.get("type") is None:
        return read(entry["content"], speaker, seats)
    target = entry.get("targetId")
    return from_wire(entry["type"], -1 if target is None else seats[target], entry.get("role"), entry.get("isMafia"))


def _load_end(table: Any, state: TurnState, seats: Mapping[str, int]) -> None:
    end = state.outcome or {}
    table.done, table.turn, table.phase = True, -1, END
    table.truncated = end.get("reason") == "max_days_exceeded"
    table.winner = WINNERS.index(end.get("winner"))
    for payoff in end.get("payoffs", ()):
        table.rewards[seats[payoff["agent_id"]]] = payoff["utility"]
