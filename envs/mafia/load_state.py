"""TurnState ──► record: with what a player may know. It reads the states of other hosts of the protocol, too."""

from collections.abc import Callable, Mapping, Sequence
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
    blank: Tables, game: MafiaState, state: TurnState, more: Callable[[Any], None] | None = None
) -> tuple[Tables, int]:
    """Do as `load`, with this `game_state`.

    Args:
        blank: a table with the options that TurnState does not have.
        game: what is read in the place of the state's own `game_state`.
        state: the match's TurnState.
        more: ``more(row)`` writes what else is known into the record; None: nothing is.
    """
    tables = np.frombuffer(bytearray(blank.tobytes()), TABLE)  # a plain copy, ten times as fast as blank.copy()
    try:
        seat = _load(tables[0], game, state)
        if more is not None:
            more(tables[0])
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
    count, places = len(alive), int(row["seats"])
    rounds, said = int(row["discussion_rounds"]), memoryview(row["said"])
    day = game.round_number - (game.phase == PHASES[NIGHT])
    for entry in game.statements:
        speaker, said_on = seats[entry.player_id], entry.round
        if entry.type is None:
            code = int(code_of(*read(entry.content, speaker, seats)))
        else:
            target = -1 if entry.target_id is None else seats[entry.target_id]
            code = _code(entry.type, target, entry.role, entry.is_mafia)
        if 1 <= said_on <= day:
            place, end = (said_on - 1) * rounds * places + speaker, said_on * rounds * places
            while place < end and said[place]:
                place += places
            if place < end:  # what is said beyond the discussion rounds is left out
                said[place] = code
    row["opener"] = 2 * (day - 1) % count if day else 0
    if game.phase == PHASES[DISCUSSION]:
        today = (day - 1) * rounds * places
        speech = 0  # rounds in which all the living have spoken
        while speech < rounds and all(said[today + speech * places + one] for one in range(count) if alive[one]):
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
    """Draw everything that `seat` cannot know again, in place, so that it fits what the seat knows.

    Drawn are the unknown roles of the living, whose turn it is at night, the choices of the others in all nights
    (tonight included), their sealed votes, and the stream.
    """
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if table.done:  # all roles are known
        return
    world = plain(table)
    own = {seat}
    if world.role[seat] == MAFIA:
        own |= {other for other in range(world.seats) if world.role[other] == MAFIA}
    before = _acted(world) & own
    asleep = world.phase == NIGHT and world.turn != seat
    awake = world.role[world.turn]  # werewolf tells whether it is the werewolves' turn
    while True:
        _resample_roles(world, seat, own, generator)
        if asleep:
            turns = _possible_turns(world, seat, own, before)
            turns = [other for other in turns if not world.werewolf or world.role[other] == awake]
            if not turns:
                continue
            world.turn = generator.choice(turns)
        if all(_resample_night(world, row, seat, own, generator) for row in range(world.round_number)):
            break
    if world.phase == VOTING and not world.werewolf:  # there the votes are open
        votes = log(world, "votes")[world.round_number - 1]
        for voter in _living(world):
            if voter < world.turn and voter != seat:
                votes[voter] = generator.choice([-1, *(other for other in _living(world) if other != voter)])
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


def _resample_night(world: Any, row: int, seat: int, own: set[int], generator: np.random.Generator) -> bool:
    """Draw the choices of the others in a night again. The player who died, or the fact that one was saved, stays.

    Return whether this is possible: a mafia can choose the target, and if the target was saved, a doctor had not
    protected it the night before.
    """
    there = [other for other in range(world.players) if not 0 < world.eliminated_round[other] <= row]
    acted = there if row < world.round_number - 1 else _acted(world)
    died = [other for other in there if world.eliminated_round[other] == row + 1 and not world.voted_out[other]]
    over = row <= last_night(world)
    target = _target(world, row, there, died, seat, own, generator) if over else -1
    if row == last_night(world) and world.prevented:
        world.saved = target
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
    world: Any, row: int, there: list[int], died: list[int], seat: int, own: set[int], generator: np.random.Generator
) -> int:
    """Return a possible target of the mafia: the player who died, else the choice of most of `own`, or a player that
    `own` protected or chose, else anybody. Of last night a doctor knows whether it protected the target."""
    choices = log(world, "night")[row]
    protected = int(choices[seat])
    if row == last_night(world) and world.prevented and world.role[seat] == DOCTOR and protected >= 0:
        possible = [one for one in there if one != protected]
        return protected if world.saved == protected else int(generator.choice(possible))
    chosen = [int(choices[other]) for other in own if world.role[other] == MAFIA and choices[other] >= 0]
    most = [one for one in set(chosen) if 2 * chosen.count(one) > len(chosen)]
    saved = [int(choices[other]) for other in own if world.role[other] == DOCTOR and choices[other] >= 0]
    return int(generator.choice(died or most or chosen or saved or there))
