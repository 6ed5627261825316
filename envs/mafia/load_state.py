"""TurnState ──► record: with what a player may know. It reads the states of other hosts of the protocol, too."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from msgspec import UNSET

from ..core.compiled import compiled
from ..core.counted import counted
from ..core.record import Tables, plain
from ..core.turn_state import TurnState
from .rules import remember
from .statements import code_of, from_wire, read
from .table import DAYS, DISCUSSION, DOCTOR, END, MAFIA, NIGHT, PHASES, ROLES, SHERIFF, TABLE, VOTING, WINNERS
from .view import NAMES, Knowledge, MafiaState, last_night, log

_PHASES = {name: number for number, name in enumerate(PHASES)}
_ROLES = {name: number for number, name in enumerate(ROLES)}

Seats = Mapping[str, int]
"""The players' ids and names to their seats."""


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
    return load_state(blank, MafiaState.of(state), state)


def load_state(
    blank: Tables, game: MafiaState, state: TurnState, write_rest: Callable[[Any], None] | None = None
) -> tuple[Tables, int]:
    """Do as `load`, with this `game_state`.

    Args:
        blank: a table with the options that TurnState does not have.
        game: what is read in the place of the state's own `game_state`.
        state: the match's TurnState.
        write_rest: ``write_rest(row)`` writes what else is known into the record; None: nothing is.
    """
    tables = np.frombuffer(bytearray(blank.tobytes()), TABLE)  # a plain copy, ten times as fast as blank.copy()
    try:
        seat = _load(tables[0], game, state)
        if write_rest is not None:
            write_rest(tables[0])
    except (OverflowError, IndexError) as error:
        raise ValueError(f"game_state holds what no match has: {error}") from None
    _remember(tables)
    return tables.view(np.recarray), seat


def _load(row: Any, game: MafiaState, state: TurnState) -> int:
    """Fill in the record; return the seat of `state`."""
    players, round_number = game.players, game.round_number
    count, places = len(players), int(row["seats"])
    if count > places:
        raise ValueError(f"{counted(count, 'players')}; this game was made for {places} at most")
    if not 1 <= round_number <= row["max_days"]:
        raise ValueError(f"round {round_number}; this game was made for 1 to {row['max_days']} days")
    seats = {NAMES[seat]: seat for seat in range(count, places)}  # those of the empty seats
    seats |= {player.name: seat for seat, player in enumerate(players)}
    seats |= {player.id: seat for seat, player in enumerate(players)}
    seat = seats[state.agent_id]
    alive = [player.alive for player in players]
    row["phase"], row["round_number"] = _PHASES[game.phase], round_number
    row["players"] = count
    row["role"][:count] = [_ROLES[str(player.role)] for player in players]
    row["alive"][:count] = alive
    row["eliminated_round"][:count] = [player.eliminated_round or 0 for player in players]
    row["living"], row["living_mafia"] = sum(alive), game.mafia_count
    row["mafia"] = game.mafia_count + sum(one.role == ROLES[MAFIA] and not one.alive for one in players)
    _load_history(row, game, seats)
    _load_private(row, game, seat, seats)
    if game.own_vote:
        row["votes"][(round_number - 1) * places + seat] = seats[game.own_vote]
    if row["talk"]:
        _load_statements(row, game, seats, alive)
    whose = state.agent_id if state.is_my_turn else state.current_turn_agent_id
    row["turn"] = -1 if whose is None else seats[whose]
    if state.game_over:
        _load_end(row, state, seats)
    return seat


@compiled
def _remember(tables: Any) -> None:
    """Call `remember` for one table; Numba takes an array faster than a record."""
    remember(tables[0])


def _load_history(row: Any, game: MafiaState, seats: Seats) -> None:
    """Rebuild the public history: last night, and all votes."""
    last, history, places = game.last_night_result, game.voting_history, int(row["seats"])
    if last is not None:
        row["killed"] = -1 if last.killed is None else seats[last.killed]
        row["prevented"] = last.prevented
        row["saved"] = -1 if last.protected is None else seats[last.protected]
    if len(history) > DAYS:
        raise ValueError(f"{len(history)} votes; there are at most {DAYS}")
    row["votings"] = len(history)
    votes, voted_out = memoryview(row["votes"]), memoryview(row["voted_out"])  # faster than arrays, item by item
    for i, voting in enumerate(history):
        for voter, target in voting.votes.items():
            if target is not None:  # some hosts list those who abstained
                votes[i * places + seats[voter]] = seats[target]
        if voting.eliminated is not None:
            voted_out[seats[voting.eliminated]] = 1


def _load_private(row: Any, game: MafiaState, seat: int, seats: Seats) -> None:
    """Rebuild `privateKnowledge`, and the known choices of tonight."""
    places, round_number = int(row["seats"]), game.round_number
    private = Knowledge() if game.private_knowledge is UNSET else game.private_knowledge
    role, night = memoryview(row["role"]), memoryview(row["night"])
    if private.mafia_teammates is not UNSET:
        for mate in private.mafia_teammates or ():
            role[seats[mate.id]] = MAFIA
    if private.last_protected:
        last_night = round_number - 1 - (game.phase == PHASES[NIGHT])
        if last_night >= 0:
            night[last_night * places + seat] = seats[private.last_protected]
    for result in private.investigation_results:
        target, number = seats[result.target.id], result.round
        if not 1 <= number <= DAYS:
            raise ValueError(f"an investigation of round {number}")
        night[(number - 1) * places + seat] = target
        if result.is_mafia:
            role[target] = MAFIA
    if game.night_actions is not UNSET:
        for actor, chosen in game.night_actions.items():
            night[(round_number - 1) * places + seats[actor]] = seats[chosen]


def _load_statements(row: Any, game: MafiaState, seats: Seats, alive: Sequence[bool]) -> None:
    """Rebuild what was said, and how far today's discussion is.

    Days, and the rounds of a day, follow one another in the record's `said`; a round has a place for every seat.
    """
    statements = []
    for entry in game.statements:
        speaker = seats[entry.player_id]
        if entry.type is None:
            code = int(code_of(*read(entry.content, speaker, seats)))
        else:
            target = -1 if entry.target_id is None else seats[entry.target_id]
            code = _code(entry.type, target, entry.role, entry.is_mafia)
        statements.append((speaker, entry.round, code))
    day = game.round_number - (game.phase == PHASES[NIGHT])
    row["opener"] = 2 * (day - 1) % len(alive) if day else 0
    write_statements(row, statements, alive, int(row["discussion_rounds"]))


def write_statements(row: Any, statements: Iterable[tuple[int, int, int]], alive: Sequence[bool], last: int) -> None:
    """Write statements into the record, in order: the speaker, the day and the code of each.

    `alive` tells which seats are alive, and `last` is the latest discussion round of a day that can begin.
    """
    places, rounds, said = int(row["seats"]), int(row["discussion_rounds"]), memoryview(row["said"])
    day = int(row["round_number"]) - int(row["phase"] == NIGHT)
    for speaker, said_on, code in statements:
        if 1 <= said_on <= day:
            place, end = (said_on - 1) * rounds * places + speaker, said_on * rounds * places
            while place < end and said[place]:
                place += places
            if place < end:  # what is said beyond the discussion rounds is left out
                said[place] = code
    if row["phase"] == DISCUSSION:
        today, speech = (day - 1) * rounds * places, 0  # rounds in which all the living have spoken
        living = [seat for seat, lives in enumerate(alive) if lives]
        while speech < last and all(said[today + speech * places + seat] for seat in living):
            speech += 1
        row["speech"] = speech


@lru_cache(maxsize=1024)
def _code(kind: str, target: int, role: str | None, is_mafia: bool | None) -> int:
    return int(code_of(*from_wire(kind, target, role, is_mafia)))


def _load_end(row: Any, state: TurnState, seats: Seats) -> None:
    end = state.outcome or {}
    row["done"], row["turn"], row["phase"] = True, -1, END
    row["winner"] = WINNERS.index(end.get("winner"))
    for payoff in end.get("payoffs", ()):
        row["rewards"][seats[payoff["agent_id"]]] = payoff["utility"]


def resample(table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw everything that `seat` cannot know again, in place.

    Drawn are the unknown roles of the living, whose turn it is at night, the choices of the others in all nights
    (tonight included), their sealed votes, and the stream. Those of past nights need not explain who died.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if table.done:  # all roles are known
        return
    world = plain(table)
    own = {seat}
    if world.role[seat] == MAFIA:
        own |= {other for other in range(world.seats) if world.role[other] == MAFIA}
    before, awake = _acted(world) & own, world.role[world.turn]  # werewolf tells whether it is the werewolves' turn
    turns = [] if world.phase == NIGHT and world.turn != seat else [world.turn]
    _resample_roles(world, seat, own, generator)
    while not turns:
        turns = _possible_turns(world, seat, own, before)
        turns = [other for other in turns if not world.werewolf or world.role[other] == awake]
        if not turns:
            _resample_roles(world, seat, own, generator)
    world.turn = generator.choice(turns)
    nights, acted, living = log(world, "night"), _acted(world), _living(world)
    for row in range(world.round_number):
        for other in (other for other in range(world.players) if other not in own):
            there = not 0 < world.eliminated_round[other] <= row and MAFIA <= world.role[other] <= SHERIFF
            chosen = there and (row < world.round_number - 1 or other in acted)
            nights[row, other] = generator.choice(living) if chosen else -1
    protected = nights[last_night(world), seat] if world.prevented and world.role[seat] == DOCTOR else -1
    if world.prevented and protected != world.saved:
        world.saved = generator.choice([other for other in range(world.players) if other != protected])
    if world.phase == VOTING and not world.werewolf:  # there the votes are open
        votes = log(world, "votes")[world.round_number - 1]
        for voter in living:
            if voter < world.turn and voter != seat:
                votes[voter] = generator.choice([-1, *(other for other in living if other != voter)])
    table.role, table.night, table.votes, table.turn = world.role, world.night, world.votes, world.turn
    table.saved = world.saved


def _living(world: Any) -> list[int]:
    return [other for other in range(world.seats) if world.alive[other]]


def _acted(world: Any) -> set[int]:
    """Return the seats that have chosen tonight or, by day, last night."""
    actors = [other for other in range(world.seats) if MAFIA <= world.role[other] <= SHERIFF]
    if world.phase != NIGHT:
        return {other for other in actors if world.eliminated_round[other] in (0, world.round_number)}
    now = world.role[world.turn], world.turn
    return {other for other in actors if world.alive[other] and (world.role[other], other) < now}


def _resample_roles(world: Any, seat: int, own: set[int], generator: np.random.Generator) -> None:
    """Deal the unknown roles of the living again; players that `seat` investigated stay mafia or not mafia."""
    checked = set(log(world, "night")[: world.round_number, seat].tolist()) if world.role[seat] == SHERIFF else set()
    guilty = {other for other in checked if world.role[other] == MAFIA}
    hidden = [other for other in _living(world) if other not in own | guilty]
    while True:
        roles = generator.permutation(world.role[hidden])
        if not any(role == MAFIA for other, role in zip(hidden, roles, strict=True) if other in checked):
            break
    world.role[hidden] = roles


def _possible_turns(world: Any, seat: int, own: set[int], before: set[int]) -> list[int]:
    """Return the seats whose turn it could be, given the roles, so that of `own` the seats `before` have chosen."""
    turns = []
    for other in _living(world):
        if other != seat and MAFIA <= world.role[other] <= SHERIFF:
            world.turn = other
            if _acted(world) & own == before:
                turns.append(other)
    return turns
