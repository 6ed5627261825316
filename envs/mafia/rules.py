"""The rules of mafia over one record, compiled.

The game is that of mafia-ai-benchmark (https://github.com/wojons/mafia-ai-benchmark). Seats act one at a time, and
simultaneous decisions stay hidden until all are made: at night the mafia, then the doctors, then the sheriffs choose,
in seat order; votes are cast in seat order and revealed together. The number of living players of each role is public,
because the roles of the dead are shown. So the order of roles at night reveals nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.rng import draw
from .bots import judge_votes
from .statements import (
    CLAIMED,
    KIND,
    READY,
    choice_of_mafia,
    choice_of_most,
    code_of,
    most_votes,
    row_of_round,
    tied_seat,
)
from .table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    DISCUSSION,
    DOCTOR,
    END,
    FOUND,
    GENERAL,
    MAFIA,
    MAFIA_WINS,
    NIGHT,
    NOBODY,
    SHERIFF,
    TARGET,
    TIE_NONE,
    TOWN_WINS,
    UNKNOWN,
    USUAL_MAFIA,
    VILLAGER,
    VOTE,
    VOTING,
)


class Choice(NamedTuple):
    """A move: a kind of `parlour.envs.mafia.table`, and the target's seat (−1: none)."""

    kind: int
    target: int


@compiled
def reset(table: Any) -> None:
    """Begin a match: deal the roles. The first night follows."""
    begin(table)
    _draw_outcomes(table)


@compiled
def step(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision."""
    advance(table, move)
    _draw_outcomes(table)


@compiled
def _draw_outcomes(table: Any) -> None:
    """Play the next random events, with outcomes from the record's stream."""
    while table.due > 0:
        play_outcome(table, draw(table, table.due))


@compiled
def begin(table: Any) -> None:
    """Begin a match and stop before the draw of the number of players; where there is nothing to draw, before the deal.

    The draw has one outcome per number, from the fewest up.
    """
    for seat in range(table.seats):
        table.role[seat] = UNKNOWN
        table.alive[seat] = 0
        table.eliminated_round[seat] = 0
        table.voted_out[seat] = 0
        table.claimed[seat] = UNKNOWN
        table.accused[seat] = 0
        table.conduct[seat] = 0
        table.rewards[seat] = 0.0
    table.round_number = 0
    table.votings = 0
    table.killed = -1
    table.saved = -1
    table.prevented = 0
    table.winner = NOBODY
    table.done = False
    table.players = 0
    if table.fewest < table.seats:
        _await(table, table.seats - table.fewest + 1)
    else:
        _take_seats(table, table.seats)


@compiled
def _take_seats(table: Any, players: int) -> None:
    """Seat so many players with their roles in order, and stop before the deal."""
    table.players = players
    if table.fewest < table.seats and not table.werewolf:
        table.mafia = USUAL_MAFIA[players]
    for seat in range(players):
        if seat < table.mafia:
            table.role[seat] = MAFIA
        elif seat < table.mafia + table.doctors:
            table.role[seat] = DOCTOR
        elif seat < table.mafia + table.doctors + table.sheriffs:
            table.role[seat] = SHERIFF
        else:
            table.role[seat] = VILLAGER
        table.alive[seat] = 1
    table.living = players
    table.living_mafia = table.mafia
    _await(table, players)


@compiled
def advance(table: Any, move: Any) -> None:
    """Apply the acting seat's legal move, up to the next decision or random event."""
    kind = move.kind
    if kind == TARGET:
        table.night[row_of_round(table) + table.turn] = move.target
        _next_at_night(table)
    elif kind == VOTE:
        table.votes[row_of_round(table) + table.turn] = move.target
        _next_voter(table, table.turn + 1)
    else:
        code = code_of(kind, move.target)
        table.said[(_today(table) + table.speech) * table.seats + table.turn] = code
        _note(table, table.turn, code)
        _next_speaker(table, table.turn + 1)


# Random events: the number of players; the deal, one seat at a time; which choice a divided mafia follows; which tied
# player is voted out.


@compiled
def _await(table: Any, outcomes: int) -> None:
    """Set the number of outcomes of the next random event."""
    table.due = outcomes
    table.turn = -1


def outcomes(table: Any) -> int:
    """Return the number of outcomes of the next random event, all equally likely; 0: the next event is a decision."""
    return int(table.due)


@compiled
def play_outcome(table: Any, outcome: int) -> None:
    """Apply an outcome of a random event, up to the next random event or decision."""
    due = table.due
    table.due = 0
    if table.players == 0:
        _take_seats(table, table.fewest + outcome)
    elif table.round_number == 0:
        _deal(table, due - 1, outcome)
    elif table.phase == NIGHT:
        _kill(table, choice_of_mafia(table, outcome))
    else:
        _eliminate_tied(table, outcome)


@compiled
def _deal(table: Any, last: int, other: int) -> None:
    """Exchange the roles of seat `last` and a seat up to it (Fisher-Yates shuffle, from the last seat down)."""
    role = table.role[last]
    table.role[last] = table.role[other]
    table.role[other] = role
    if last > 1:
        _await(table, last)
    else:
        _begin_night(table)


def teams(tables: Any) -> NDArray[np.int8]:
    """Return the team of every seat, 0 for town and 1 for mafia: int8[N, seats]."""
    return np.asarray(tables["role"][:, : tables["seats"][0]] == MAFIA, np.int8)


# The night.


@compiled
def _begin_night(table: Any) -> None:
    """Begin the night of the next round."""
    table.round_number += 1
    table.phase = NIGHT
    row = row_of_round(table)
    for seat in range(table.seats):
        table.night[row + seat] = -1
    table.turn = _living_with(table, MAFIA, 0)


@compiled
def _living_with(table: Any, role: int, seat: int) -> int:
    """Return the first living seat with `role`, from `seat` on; −1 if there is none."""
    while seat < table.seats:
        if table.role[seat] == role and table.alive[seat]:
            return seat
        seat += 1
    return -1


@compiled
def _next_at_night(table: Any) -> None:
    """Give the turn to the next seat with the same role, else with the next role; after the last one, end the night."""
    role = table.role[table.turn]
    seat = _living_with(table, role, table.turn + 1)
    while seat < 0 and role < SHERIFF:
        role += 1
        seat = _living_with(table, role, 0)
    if seat < 0:
        _end_night(table)
    else:
        table.turn = seat


@compiled
def _end_night(table: Any) -> None:
    """End the night: the mafia kill the target of more than half of them, else the target of a random one of them.

    In werewolf the last of them decides.
    """
    target = choice_of_mafia(table, table.living_mafia - 1) if table.werewolf else choice_of_most(table)
    if target >= 0:
        _kill(table, target)
    else:
        _await(table, table.living_mafia)


@compiled
def _kill(table: Any, target: int) -> None:
    """Resolve the night and begin the day. A player who is killed tonight has still acted tonight."""
    row = row_of_round(table)
    table.prevented = 0
    for seat in range(table.seats):
        table.prevented |= table.role[seat] == DOCTOR and table.night[row + seat] == target
    table.killed = -1 if table.prevented else target
    table.saved = target if table.prevented else -1
    _clear_day(table)
    if not table.prevented:
        _eliminate(table, target)
        if table.role[target] == MAFIA:
            judge_votes(table)
        if table.done:
            return
    if table.talk:
        table.phase = DISCUSSION
        table.speech = 0
        _next_speaker(table, table.opener)
    else:
        _open_vote(table)


# The day.


@compiled
def _clear_day(table: Any) -> None:
    """Clear the rows of today's statements and votes."""
    first = _today(table)
    for seat in range(table.seats):
        table.votes[row_of_round(table) + seat] = -1
        for row in range(first, first + table.discussion_rounds):
            table.said[row * table.seats + seat] = 0
    if table.round_number == 1 or table.werewolf:
        table.opener = 0
    else:
        table.opener += 2
        if table.opener >= table.players:
            table.opener -= table.players


@compiled
def _today(table: Any) -> int:
    """Return the row of today's first discussion round."""
    return (table.round_number - 1) * table.discussion_rounds


@compiled
def _next_speaker(table: Any, seat: int) -> None:
    """Give the turn to the next living speaker, from `seat` on; after all of them, begin a new round or the vote."""
    seats = table.seats
    while table.speech < table.discussion_rounds and not (table.werewolf and _are_ready(table)):
        row = _today(table) + table.speech
        for _ in range(seats):
            if seat >= seats:
                seat -= seats
            if table.alive[seat] and table.said[row * seats + seat] == 0:
                table.turn = seat
                return
            seat += 1
        table.speech += 1
        seat = table.opener
    _open_vote(table)


@compiled
def _are_ready(table: Any) -> bool:
    """Return True if more than half of the living have said nothing (`READY`) in a discussion round of today."""
    ready = 0
    for seat in range(table.seats):
        said = False
        for row in range(_today(table), _today(table) + table.speech + 1):
            said |= table.said[row * table.seats + seat] == READY
        ready += said and table.alive[seat]
    return 2 * ready > table.living


@compiled
def _note(table: Any, seat: int, code: int) -> None:
    """Write the accusation or the role claim of `seat`, from a code of `said`."""
    kind = GENERAL + (code - 1) // KIND
    if kind in (ACCUSE, FOUND):
        table.accused[(code - 1) % KIND] += 1
    if CLAIMED[kind] > 0:
        table.claimed[seat] = CLAIMED[kind]


@compiled
def remember(table: Any) -> None:
    """Compute the fields of a loaded record that follow from its log."""
    seats = table.seats
    for n in range(table.max_days * table.discussion_rounds * seats):
        if table.said[n] > 0:
            _note(table, n % seats, table.said[n])
    judge_votes(table)


@compiled
def _open_vote(table: Any) -> None:
    table.phase = VOTING
    _next_voter(table, 0)


@compiled
def _next_voter(table: Any, seat: int) -> None:
    """Give the turn to the next living voter from `seat` on; after the last one, count the votes."""
    while seat < table.seats:
        if table.alive[seat]:
            table.turn = seat
            return
        seat += 1
    _count(table)


@compiled
def _count(table: Any) -> None:
    """Count the votes and eliminate the player with the most. A single vote is not enough: then all votes differ."""
    table.votings += 1
    most, tied = most_votes(table)
    if most > 1 and tied > 1 and table.tie != TIE_NONE:
        _await(table, tied)
    else:
        if most > 1 and tied == 1:
            _vote_out(table, tied_seat(table, most, 0))
        _end_day(table)


@compiled
def _eliminate_tied(table: Any, n: int) -> None:
    """Vote out the n-th tied player."""
    most, _ = most_votes(table)
    _vote_out(table, tied_seat(table, most, n))
    _end_day(table)


@compiled
def _vote_out(table: Any, seat: int) -> None:
    table.voted_out[seat] = 1
    _eliminate(table, seat)


@compiled
def _end_day(table: Any) -> None:
    """Update the suspicion for the votes; then begin the next night, or end the match by its limit."""
    judge_votes(table)
    if not table.done:
        if table.round_number == table.max_days:
            _end(table)
        else:
            _begin_night(table)


# The end.


@compiled
def _eliminate(table: Any, seat: int) -> None:
    """Eliminate `seat` and check for a winner, the town first."""
    table.alive[seat] = 0
    table.eliminated_round[seat] = table.round_number
    table.living -= 1
    table.living_mafia -= table.role[seat] == MAFIA
    if table.living_mafia == 0:
        table.winner = TOWN_WINS
        _end(table)
    elif 2 * table.living_mafia >= table.living:
        table.winner = MAFIA_WINS
        _end(table)


@compiled
def _end(table: Any) -> None:
    table.phase = END
    table.turn = -1
    table.done = True
    if table.winner != NOBODY:
        for seat in range(table.players):
            won = (table.role[seat] == MAFIA) == (table.winner == MAFIA_WINS)
            table.rewards[seat] = 1.0 if won else -1.0


@compiled
def decode(table: Any, action: int) -> Choice:
    """Return the move of an action index (see `parlour.envs.mafia.actions`)."""
    seats = table.seats
    block = action // seats
    away = action - block * seats
    target = table.turn + away
    if target >= seats:
        target -= seats
    if block == 0:
        return Choice(TARGET, target)
    if block == 1:
        return Choice(VOTE, target if away > 0 else -1)
    if block == 3:
        return Choice(DEFEND, target)
    if block == 6:
        return Choice(CLAIM_VILLAGER + away, -1)
    if away > 0:
        return Choice(ACCUSE if block == 2 else CLEARED if block == 4 else FOUND, target)
    return Choice(GENERAL if block == 2 else CLAIM_SHERIFF if block == 4 else CLAIM_DOCTOR, -1)


@compiled
def legal(table: Any, mask: Any) -> None:
    """Write the action mask of the acting seat: targets are alive; only a doctor may choose itself.

    In werewolf a seer may too, werewolves choose others, everybody votes, and nobody claims to be a doctor.
    """
    seats = table.seats
    seat = table.turn
    mask[:] = 0
    if table.phase == NIGHT:
        _write_living(table, mask, 0)
        doctor = table.role[seat] == DOCTOR
        mask[0] = doctor or (table.werewolf and table.role[seat] == SHERIFF)
        if table.werewolf and table.role[seat] == MAFIA:
            for other in range(seats):
                if table.role[other] == MAFIA:
                    mask[other - seat if other >= seat else other - seat + seats] = 0
        if doctor and table.round_number > 1:
            last = table.night[row_of_round(table) - seats + seat]
            if last >= 0:
                mask[last - seat if last >= seat else last - seat + seats] = 0
    elif table.phase == VOTING:
        _write_living(table, mask, seats)
        if table.werewolf:
            mask[seats] = 0
    else:
        for block in range(2, 6):
            _write_living(table, mask, block * seats)
        mask[6 * seats] = 1
        mask[6 * seats + 1] = 1
        if table.werewolf:
            mask[5 * seats] = 0


@compiled
def _write_living(table: Any, mask: Any, first: int) -> None:
    """Write 1 for each living player from index `first` on, by relative seat."""
    turn = table.turn
    for seat in range(turn, table.seats):
        mask[first + seat - turn] = table.alive[seat]
    first += table.seats - turn
    for seat in range(turn):
        mask[first + seat] = table.alive[seat]
