"""Record ──► what a player may see, and back. Names are those of mafia.md.

`game_state` holds the fields of `PublicInfo`, `GameState` and `PrivateInfo` side by side, each once: `phase`,
`dayNumber`, `roundNumber`, `players` (in seat order; the role of a living other that the seat may not know is
``"unknown"``), `alivePlayers`, `deadPlayers`, `mafiaCount`, `townCount`, `winner`, `lastNightResult`, `votingHistory`
(`round`, `eliminated`, `votes` from voter to target; who abstained is not in it), `self` and `privateKnowledge`.
Besides these:

- ``statements``: ``{playerId, round, type, targetId, role, isMafia, content}`` of the match so far (`round` is the
  day's number; `content` says the act, the very words are in the messages);
- ``nightActions``: from id to target's id, tonight: one's own, and for living mafia the teammates' so far;
- ``ownVote``: the target's id of one's own vote while the votes are sealed, else None.

`gameId` is the game's; the match has `TurnState.match_id`. Names are ids here; `load` also reads those of other hosts.
When the match is over all roles are shown.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.record import Tables, plain
from ..core.turn_state import TurnState
from .rules import remember
from .statements import act_of, code_of, from_wire, read, sentence, to_wire
from .table import DISCUSSION, DOCTOR, END, MAFIA, NIGHT, PHASES, ROLES, SEATS, SHERIFF, UNKNOWN, VOTING, WINNERS

NAMES = tuple(f"p{seat + 1}" for seat in range(SEATS))


def name(seat: int) -> str:
    """Return a seat's id, which is its name too: ``p1`` for seat 0."""
    return NAMES[seat]


def log(table: Any, field: str) -> NDArray[Any]:
    """Return `night` or `votes` as [round − 1, seat], `said` as [row, seat]: the record's own memory."""
    flat, seats = getattr(table, field), int(table.seats)
    matrix: NDArray[Any] = flat[: len(flat) // seats * seats].reshape(-1, seats)
    return matrix


def phase(table: Any) -> str:
    """Return the phase's name."""
    return PHASES[int(table.phase)]


def visible_turn(table: Any, seat: int) -> int:
    """Return whose turn it is, as far as `seat` may know: at night only its own, for it would tell roles; else −1."""
    return -1 if table.phase == NIGHT and table.turn != seat else int(table.turn)


# Record ──► game_state.


def game_state(table: Any, seat: int) -> dict[str, Any]:
    """Return the match as `seat` may see it."""
    players = [_player(table, other, knows(table, seat, other)) for other in range(table.seats)]
    return {
        **_common(table, players, _saved(table, seat)),
        "self": players[seat],
        "privateKnowledge": _private(table, seat, players),
        "statements": _statements(table),
        "nightActions": _tonight(table, seat),
        "ownVote": _name(log(table, "votes")[table.round_number - 1, seat]) if table.phase == VOTING else None,
    }


def public(table: Any) -> dict[str, Any]:
    """Return the match as everybody may see it: the roles of the dead only, until it is over."""
    players = [_player(table, other, knows(table, -1, other)) for other in range(table.seats)]
    return {**_common(table, players, None), "statements": _statements(table)}


def _common(table: Any, players: list[dict[str, Any]], saved: str | None) -> dict[str, Any]:
    killed = int(table.killed)
    history = _history(table)
    return {
        "gameId": "mafia-v0",
        "phase": PHASES[table.phase],
        "dayNumber": table.round_number - (table.phase == NIGHT),
        "roundNumber": int(table.round_number),
        "players": players,
        "alivePlayers": [{"id": one["id"], "name": one["name"]} for one in players if one["alive"]],
        "deadPlayers": [
            {key: one[key] for key in ("id", "name", "role", "eliminatedRound")} for one in players if not one["alive"]
        ],
        "mafiaCount": int(table.living_mafia),
        "townCount": int(table.living - table.living_mafia),
        "winner": WINNERS[table.winner],
        "lastNightResult": {
            "killed": None if killed < 0 else name(killed),
            "protected": saved,
            "prevented": bool(table.prevented),
        }
        if killed >= 0 or table.prevented
        else None,
        "votingHistory": history,
    }


def _name(seat: int) -> str | None:
    return name(int(seat)) if seat >= 0 else None


def _player(table: Any, other: int, known: bool) -> dict[str, Any]:
    gone = int(table.eliminated_round[other])
    return {
        "id": name(other),
        "name": name(other),
        "role": ROLES[table.role[other] if known else UNKNOWN],
        "alive": gone == 0,
        "eliminatedRound": gone or None,
    }


def knows(table: Any, seat: int, other: int) -> bool:
    """Tell whether `seat` may know the role of `other`: its own, a teammate's, one revealed, or found to be mafia.

    Seat −1 stands for those who only look on.
    """
    if other == seat or not table.alive[other] or table.done:
        return True
    if seat < 0:
        return False
    mafia = table.role[other] == MAFIA
    if table.role[seat] == SHERIFF:
        return mafia and other in log(table, "night")[: table.round_number, seat]
    return mafia and table.role[seat] == MAFIA


def _last_night(table: Any) -> int:
    """Return the row of the last night that is over; −1: none."""
    return int(table.round_number) - 1 - (table.phase == NIGHT)


def _saved(table: Any, seat: int) -> str | None:
    """Return whom the doctor `seat` saved last night."""
    row = _last_night(table)
    if not table.prevented or table.role[seat] != DOCTOR or row < 0:
        return None
    return _name(log(table, "night")[row, seat])


def _private(table: Any, seat: int, players: list[dict[str, Any]]) -> dict[str, Any]:
    role = table.role[seat]
    private: dict[str, Any] = {"investigationResults": []}
    if role == MAFIA:
        private["mafiaTeammates"] = [
            one for other, one in enumerate(players) if other != seat and table.role[other] == MAFIA
        ]
    elif role == DOCTOR:
        row = _last_night(table)
        protected = _name(log(table, "night")[row, seat]) if row >= 0 else None
        if protected is not None:
            private["lastProtected"] = protected
    elif role == SHERIFF:
        private["investigationResults"] = [
            {"target": players[target], "isMafia": bool(table.role[target] == MAFIA), "round": row + 1}
            for row, target in enumerate(log(table, "night")[: table.round_number, seat].tolist())
            if target >= 0
        ]
    return private


def _history(table: Any) -> list[dict[str, Any]]:
    eliminated = {int(table.eliminated_round[seat]): name(seat) for seat in range(table.seats) if table.voted_out[seat]}
    return [
        {
            "round": row + 1,
            "eliminated": eliminated.get(row + 1),
            "votes": {name(voter): name(target) for voter, target in enumerate(votes) if target >= 0},
        }
        for row, votes in enumerate(log(table, "votes")[: table.votings].tolist())
    ]


def _statements(table: Any) -> list[dict[str, Any]]:
    """Return what was said, in the order in which it was."""
    seats, rounds = int(table.seats), int(table.discussion_rounds)
    days = int(table.round_number) - (table.phase == NIGHT)
    entries = []
    for row, codes in enumerate(log(table, "said")[: days * rounds].tolist() if table.talk else ()):
        day = row // rounds + 1
        for turn in range(seats):
            speaker = (2 * (day - 1) + turn) % seats
            if codes[speaker]:
                entries.append({"playerId": name(speaker), "round": day, **_said(codes[speaker], speaker)})
    return entries


@cache
def _said(code: int, speaker: int) -> Mapping[str, Any]:
    """Return what a code of the record's `said` means: always the same, and every view tells it again."""
    act, ids = act_of(code), [name(seat) for seat in range(SEATS)]
    return {**to_wire(act, ids), "content": sentence(act, speaker, ids)}


def _tonight(table: Any, seat: int) -> dict[str, str]:
    if table.phase != NIGHT:
        return {}
    shown = [seat]
    if table.role[seat] == MAFIA and table.alive[seat]:
        shown = [other for other in range(table.seats) if table.role[other] == MAFIA]
    row = log(table, "night")[table.round_number - 1].tolist()
    return {name(other): name(row[other]) for other in shown if row[other] >= 0}


def outcome(table: Any, seat: int) -> dict[str, Any]:
    """Return the end: every seat's utility, the reason (who won, or the limit of days), the winner, all roles."""
    seats = range(int(table.seats))
    return {
        "payoffs": [{"agent_id": name(other), "utility": float(table.rewards[other])} for other in seats],
        "reason": "max_days_exceeded" if table.truncated else f"{WINNERS[int(table.winner)]}_wins",
        "winner": WINNERS[int(table.winner)],
        "roles": {name(other): ROLES[int(table.role[other])] for other in seats},
    }


# TurnState ──► record.


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
    row = _last_night(table)
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


# Law 2.


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw anew, in place, all that `seat` cannot know, so that it fits what it knows.

    The roles of the living that it does not know, whose turn it is at night, what the others chose in all nights (also
    what they have chosen tonight), how they voted while that is sealed, and the stream.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if table.done:  # all roles are open
        return
    world = plain(table)
    own = {seat}
    if world.role[seat] == MAFIA:
        own |= {other for other in range(world.seats) if world.role[other] == MAFIA}
    before = _acted(world) & own
    asleep = world.phase == NIGHT and world.turn != seat
    while True:
        _resample_roles(world, seat, own, generator)
        if asleep:
            turns = _possible_turns(world, seat, own, before)
            if not turns:
                continue
            world.turn = generator.choice(turns)
        if all(_resample_night(world, row, own, generator) for row in range(world.round_number)):
            break
    if world.phase == VOTING:
        votes = log(world, "votes")[world.round_number - 1]
        for voter in _living(world):
            if voter < world.turn and voter != seat:
                votes[voter] = generator.choice([-1, *(other for other in _living(world) if other != voter)])
    table.role, table.night, table.votes, table.turn = world.role, world.night, world.votes, world.turn


def _living(world: Any) -> list[int]:
    return [other for other in range(world.seats) if world.alive[other]]


def _acted(world: Any) -> set[int]:
    """Return who has chosen tonight, or, in the day, last night."""
    actors = [other for other in range(world.seats) if MAFIA <= world.role[other] <= SHERIFF]
    if world.phase != NIGHT:
        return {other for other in actors if world.eliminated_round[other] in (0, world.round_number)}
    now = world.role[world.turn], world.turn
    return {other for other in actors if world.alive[other] and (world.role[other], other) < now}


def _resample_roles(world: Any, seat: int, own: set[int], generator: np.random.Generator) -> None:
    """Deal the unknown roles of the living anew; whom `seat` investigated stays on the side where it was found."""
    checked = set(log(world, "night")[: world.round_number, seat].tolist()) if world.role[seat] == SHERIFF else set()
    found = {other for other in checked if world.role[other] == MAFIA}
    hidden = [other for other in _living(world) if other not in own | found]
    while True:
        roles = generator.permutation(world.role[hidden])
        if not any(role == MAFIA for other, role in zip(hidden, roles, strict=True) if other in checked):
            break
    world.role[hidden] = roles


def _possible_turns(world: Any, seat: int, own: set[int], before: set[int]) -> list[int]:
    """Return whose turn it could be, by the roles as they are now, so that of `own` those `before` have chosen."""
    turns = []
    for other in _living(world):
        if other != seat and MAFIA <= world.role[other] <= SHERIFF:
            world.turn = other
            if _acted(world) & own == before:
                turns.append(other)
    return turns


def _resample_night(world: Any, row: int, own: set[int], generator: np.random.Generator) -> bool:
    """Draw anew what the others chose in a night; who died, or that somebody was saved, stays.

    Returns whether it could be so: somebody of the mafia could choose the target, and where that one was saved, some
    doctor had not protected it the night before.
    """
    there = [other for other in range(world.seats) if not 0 < world.eliminated_round[other] <= row]
    acted = there if row < world.round_number - 1 else _acted(world)
    died = [other for other in there if world.eliminated_round[other] == row + 1 and not world.voted_out[other]]
    over = row <= _last_night(world)
    target = _target(world, row, there, died, own, generator) if over else -1
    nights = log(world, "night")
    for other in there:
        if other in own:
            continue
        role = world.role[other]
        choices = [one for one in there if one != other or role == DOCTOR]
        if role == DOCTOR:
            before = int(nights[row - 1, other]) if row else -1
            choices = [one for one in choices if one != before and not (died and one == target)]
        elif role == MAFIA and over and target != other:
            choices = [target]
        chosen = other in acted and MAFIA <= role <= SHERIFF
        nights[row, other] = generator.choice(choices) if chosen else -1
    if not over:
        return True
    if not any(world.role[other] == MAFIA and nights[row, other] == target for other in there):
        return False
    if died:
        return True
    doctors = [other for other in there if world.role[other] == DOCTOR and other in acted]
    if any(nights[row, other] == target for other in doctors):
        return True
    able = [other for other in doctors if other not in own and (row == 0 or nights[row - 1, other] != target)]
    if able:
        nights[row, generator.choice(able)] = target
    return bool(able)


def _target(
    world: Any, row: int, there: list[int], died: list[int], own: set[int], generator: np.random.Generator
) -> int:
    """Return whom the mafia can have meant: who died, else whom most of `own` chose, or one that `own` protected or
    chose, else anybody."""
    choices = log(world, "night")[row]
    chosen = [int(choices[other]) for other in own if world.role[other] == MAFIA and choices[other] >= 0]
    most = [one for one in set(chosen) if 2 * chosen.count(one) > len(chosen)]
    saved = [int(choices[other]) for other in own if world.role[other] == DOCTOR and choices[other] >= 0]
    return int(generator.choice(died or most or chosen or saved or there))
