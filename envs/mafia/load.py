"""TurnState ──► record: with what a player may know. It reads the states of other hosts of the protocol, too.

Live agents call it at every decision, so it is fast: most fields of the record have one byte per element, and they
are written as bytes at the offsets of the record's dtype.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from sys import byteorder
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.record import Tables
from ..core.turn_state import TurnState
from .rules import remember
from .statements import code_of, from_wire, read
from .table import DAYS, DISCUSSION, END, MAFIA, NIGHT, PHASES, ROLES, TABLE, WINNERS

_ROW = np.dtype((np.void, TABLE))
_AT = {name: int(field[1]) for name, field in (TABLE.fields or {}).items()}
_ROLE, _ALIVE, _ELIMINATED, _VOTED_OUT = (_AT[name] for name in ("role", "alive", "eliminated_round", "voted_out"))
_SEATS = _AT["seats"]
_VOTES, _NIGHT, _SAID, _NOBODY = _AT["votes"], _AT["night"], _AT["said"], 255  # −1 as a byte
_PHASES = {name: number for number, name in enumerate(PHASES)}
_ROLES = {name: number for number, name in enumerate(ROLES)}


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any ids and names: `players` gives the seats. A statement without a `type` is read from its
    `content`.

    Args:
        blank: a table with the options that TurnState does not have.
        state: the match's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    game = state.game_state
    memory = bytearray(blank.tobytes())
    players, round_number, phase = game["players"], game["roundNumber"], _PHASES[game["phase"]]
    count, last_day = len(players), memory[_AT["max_days"]]
    wanted = int.from_bytes(memory[_SEATS : _SEATS + 2], byteorder)
    if count != wanted:
        raise ValueError(f"{count} players; this game was made for {wanted}")
    if not 1 <= round_number <= last_day:
        raise ValueError(f"round {round_number}; this game was made for 1 to {last_day} days")
    seats = {player["name"]: seat for seat, player in enumerate(players)}
    for seat, player in enumerate(players):
        seats[player["id"]] = seat
    seat = seats[state.agent_id]
    alive = [bool(player["alive"]) for player in players]
    memory[_AT["phase"]], memory[_AT["round_number"]] = phase, round_number
    memory[_ROLE : _ROLE + count] = bytes([_ROLES[player["role"]] for player in players])
    memory[_ALIVE : _ALIVE + count] = bytes(alive)
    memory[_ELIMINATED : _ELIMINATED + count] = bytes([player["eliminatedRound"] or 0 for player in players])
    memory[_AT["living"]], memory[_AT["living_mafia"]] = sum(alive), game["mafiaCount"]
    _load_history(memory, game, seats)
    _load_private(memory, game, seat, seats)
    if game["ownVote"] is not None:
        memory[_VOTES + (round_number - 1) * count + seat] = seats[game["ownVote"]]
    if memory[_AT["talk"]]:
        _load_statements(memory, game, seats, alive)
    whose = state.agent_id if state.is_my_turn else state.current_turn_agent_id
    memory[_AT["turn"]] = _NOBODY if whose is None else seats[whose]
    tables = np.frombuffer(memory, TABLE)
    if state.game_over:
        _load_end(tables.view(_ROW)[0], state, seats)
    _remember(tables)
    return tables.view(np.recarray), seat


@compiled
def _remember(tables: Any) -> None:
    """Call `remember` for one table; Numba takes an array faster than a record."""
    remember(tables[0])


def _load_history(memory: bytearray, game: Mapping[str, Any], seats: Mapping[str, int]) -> None:
    """Rebuild the public history: last night, and all votes."""
    last = game["lastNightResult"]
    if last is not None:
        memory[_AT["killed"]] = _NOBODY if last["killed"] is None else seats[last["killed"]]
        memory[_AT["prevented"]] = last["prevented"]
    history, count = game["votingHistory"], len(game["players"])
    if len(history) > DAYS:
        raise ValueError(f"{len(history)} votes; there are at most {DAYS}")
    memory[_AT["votings"]] = len(history)
    at = _VOTES
    for voting in history:
        for voter, target in voting["votes"].items():
            memory[at + seats[voter]] = seats[target]
        if voting["eliminated"] is not None:
            memory[_VOTED_OUT + seats[voting["eliminated"]]] = 1
        at += count


def _load_private(memory: bytearray, game: Mapping[str, Any], seat: int, seats: Mapping[str, int]) -> None:
    """Rebuild `privateKnowledge`, and the known choices of tonight."""
    private, count = game["privateKnowledge"], len(game["players"])
    for mate in private.get("mafiaTeammates", ()):
        memory[_ROLE + seats[mate["id"]]] = MAFIA
    tonight = _NIGHT + (game["roundNumber"] - 1) * count
    if private.get("lastProtected") is not None:
        last_night = tonight - count if game["phase"] == PHASES[NIGHT] else tonight
        if last_night >= _NIGHT:
            memory[last_night + seat] = seats[private["lastProtected"]]
    for result in private["investigationResults"]:
        target, number = seats[result["target"]["id"]], result["round"]
        if not 1 <= number <= DAYS:
            raise ValueError(f"an investigation of round {number}")
        memory[_NIGHT + (number - 1) * count + seat] = target
        if result["isMafia"]:
            memory[_ROLE + target] = MAFIA
    for actor, chosen in game["nightActions"].items():
        memory[tonight + seats[actor]] = seats[chosen]


def _load_statements(
    memory: bytearray, game: Mapping[str, Any], seats: Mapping[str, int], alive: Sequence[bool]
) -> None:
    """Rebuild the statements, and the position in today's discussion."""
    count, phase = len(alive), game["phase"]
    rows = memory[_AT["discussion_rounds"]] * count  # of a day
    day = game["roundNumber"] - (phase == PHASES[NIGHT])
    for entry in game["statements"]:
        speaker, said_on, kind = seats[entry["playerId"]], entry["round"], entry.get("type")
        if kind is None:
            code = int(code_of(*read(entry["content"], speaker, seats)))
        else:
            target = entry.get("targetId")
            code = _code(kind, -1 if target is None else seats[target], entry.get("role"), entry.get("isMafia"))
        if 1 <= said_on <= day:
            at = _SAID + (said_on - 1) * rows + speaker
            end = at - speaker + rows
            while at < end and memory[at]:
                at += count
            if at < end:  # statements after the discussion rounds are left out
                memory[at] = code
    memory[_AT["opener"]] = 2 * (day - 1) % count if day else 0
    if phase == PHASES[DISCUSSION]:
        first = _SAID + (day - 1) * rows
        at = first
        while at < first + rows and all(memory[at + other] for other in range(count) if alive[other]):
            at += count
        memory[_AT["speech"]] = (at - first) // count  # rounds in which all living players have spoken


@lru_cache(maxsize=1024)
def _code(kind: str, target: int, role: str | None, is_mafia: bool | None) -> int:
    return int(code_of(*from_wire(kind, target, role, is_mafia)))


def _load_end(row: Any, state: TurnState, seats: Mapping[str, int]) -> None:
    end = state.outcome or {}
    row["done"], row["turn"], row["phase"] = True, -1, END
    row["truncated"] = end.get("reason") == "max_days_exceeded"
    row["winner"] = WINNERS.index(end.get("winner"))
    for payoff in end.get("payoffs", ()):
        row["rewards"][seats[payoff["agent_id"]]] = payoff["utility"]
