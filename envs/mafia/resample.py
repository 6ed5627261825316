"""Resampling of what a player cannot know: roles, choices of the nights, sealed votes."""

from typing import Any

import numpy as np

from ..core.record import plain
from .table import DOCTOR, MAFIA, NIGHT, SHERIFF, VOTING
from .view import last_night, log


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
