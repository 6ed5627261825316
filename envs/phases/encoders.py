"""The observation of all games in phases, version 0. Seats are relative to the observer: 0 is the observer.

All games have the same slices, so `observe` is compiled once. What a number means is in the phase's documentation.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..core.compiled import compiled, inlined
from ..core.encoder import PER_SEAT, Encoder, Layout, Slice, per_seat, relative, shares
from .definition import Fact, Open, PhaseGame
from .rules import is_visible
from .table import FACTS, MEMORY

AGO = tuple("1 round ago" if k == 1 else f"{k} rounds ago" for k in range(1, MEMORY + 1))
"""The names of the rounds in memory, the latest first."""


def encoders(rules: PhaseGame, table: Any) -> dict[str, Encoder]:
    """Return the encoders by name. Where nothing is hidden, `full` shows what `v0` shows."""
    seats, phases = int(table.seats), int(table.phases)
    names = tuple(phase.name for phase in rules.phases)
    mine = f"`{rules.private.name}`, as a share of the highest" if rules.private else "always 0: nothing is private"
    low, high = (utility / rules.largest for utility in rules.payoffs)
    repeated = rules.rounds > 1
    v0 = Layout(
        [
            shares("agent_id", (seats,), "own seat, one-hot", axes=("seat",)),
            shares("phase", (phases,), f"one-hot: {', '.join(names)}", axes=(names,)),
            shares("is_my_turn", (1,), "whether the observer decides next"),
            per_seat("current_turn_agent_id", seats, "one-hot by relative seat; all 0 when it is over"),
            shares("game_state.my_private_value", (1,), mine),
            shares(
                "game_state.chosen",
                (phases, seats),
                "by phase and relative seat: whether it has chosen",
                axes=(names, *PER_SEAT),
            ),
            shares(
                "game_state.choices",
                (phases, seats),
                "the number, as a share of the highest; 0 if not known",
                axes=(names, *PER_SEAT),
            ),
            shares("game_state.turns_left", (1,), "share of the phase's turns, this one included"),
            *(_repeated_slices(names, seats) if repeated else ()),
            shares("game_over", (1,), "whether the match is over"),
            per_seat("outcome.payoffs", seats, "by relative seat, by the largest amount", low, high),
        ]
    )
    public = Encoder(v0, observe_repeated if repeated else observe)
    if rules.open is not None:
        public = public.extended(_open_slices(rules.open, seats), observe_open)
    if rules.facts:
        public = public.extended(_fact_slices(rules.facts, repeated), observe_past_facts if repeated else observe_facts)
    full = replace(public, full_information=True)
    if rules.hides:
        slices = [
            per_seat("hidden.private_values", seats, f"by relative seat: {mine}"),
            shares(
                "hidden.choices", (phases, seats), "by phase and relative seat: the number", axes=(names, *PER_SEAT)
            ),
        ]
        full = public.extended(slices, observe_hidden, full_information=True)
    return {"v0": public, "full": full}


def _repeated_slices(names: Sequence[str], seats: int) -> list[Slice]:
    shape, axes = (MEMORY, len(names), seats), (AGO, names, *PER_SEAT)
    return [
        shares("game_state.rounds_left", (1,), "share of the rounds, this one included"),
        shares(
            "game_state.history.chosen", shape, "of the last rounds, latest first: whether there is a choice", axes=axes
        ),
        shares("game_state.history.choices", shape, "the numbers, as shares of the highest", axes=axes),
    ]


def _open_slices(opened: Open, seats: int) -> list[Slice]:
    return [
        shares("game_state.standing", (1,), f"{opened.what}, as a share of the highest"),
        per_seat("game_state.owner", seats, f"by relative seat: whose {opened.what} it is"),
        per_seat("game_state.within", seats, "by relative seat: whether it has not left"),
    ]


def _fact_slices(facts: Sequence[Fact], repeated: bool) -> list[Slice]:
    labels = [f"{fact.name} ({', '.join(fact.words)})" if fact.words else fact.name for fact in facts]
    names = "of the round, as shares of the highest: " + ", ".join(labels)
    size, each = len(facts), tuple(fact.name for fact in facts)
    past = shares("game_state.history.facts", (MEMORY, size), "of the last rounds, latest first", axes=(AGO, each))
    return [shares("game_state.facts", (size,), names, axes=(each,)), *([past] if repeated else ())]


@inlined
def observe(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write what `seat` may know into `out` (float32[layout.size])."""
    seats = table.seats
    out[:] = 0
    out[at.agent_id + seat] = 1
    out[at.phase + table.phase] = 1
    if table.turn >= 0:
        out[at.is_my_turn] = table.turn == seat
        out[at.current_turn_agent_id + relative(table.turn, seat, seats)] = 1
    out[at.my_private_value] = table.private[seat] * table.per_private
    for phase in range(table.phase + 1):
        for other in range(seats):
            if table.chosen[phase, other] > 0:
                place = phase * seats + relative(other, seat, seats)
                out[at.chosen + place] = 1
                if is_visible(table, phase, other, seat):
                    out[at.choices + place] = table.number[phase, other] * table.per_number[phase]
    limit = table.limit[table.phase]
    out[at.turns_left] = (limit - min(table.cycle, limit)) / limit
    if table.done:
        out[at.game_over] = 1
        for other in range(seats):
            out[at.outcome_payoffs + relative(other, seat, seats)] = table.total[other] * table.per_payoff


@compiled
def observe_repeated(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the slices of `observe`, and those of a repeated game."""
    observe(table, seat, at, out)
    seats, phases = table.seats, table.phases
    out[at.rounds_left] = (table.rounds - table.round_number) / table.rounds
    for age in range(min(MEMORY, table.round_number)):
        for phase in range(phases):
            for other in range(seats):
                number = table.past[age, phase, other]
                if number >= 0:
                    place = (age * phases + phase) * seats + relative(other, seat, seats)
                    out[at.history_chosen + place] = 1
                    out[at.history_choices + place] = number * table.per_number[phase]


@compiled
def observe_open(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the slices of a game with an open phase."""
    out[at.standing] = table.standing * table.per_number[table.phases - 1]
    for other in range(table.seats):
        place = relative(other, seat, table.seats)
        out[at.owner + place] = table.owner == other
        out[at.within + place] = (table.within >> other) & 1


@compiled
def observe_facts(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the facts of the round."""
    for fact in range(FACTS):
        if table.per_fact[fact] > 0.0:
            out[at.facts + fact] = table.fact[fact] * table.per_fact[fact]


@compiled
def observe_past_facts(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the facts of the round and of the last rounds."""
    observe_facts(table, seat, at, out)
    count = at.history_facts - at.facts
    for age in range(min(MEMORY, table.round_number)):
        for fact in range(count):
            out[at.history_facts + age * count + fact] = table.past_fact[age, fact] * table.per_fact[fact]


@compiled
def observe_hidden(table: Any, seat: int, at: Any, out: Any) -> None:
    """Write the hidden slices."""
    seats = table.seats
    for other in range(seats):
        place = relative(other, seat, seats)
        out[at.hidden_private_values + place] = table.private[other] * table.per_private
        for phase in range(table.phases):
            out[at.hidden_choices + phase * seats + place] = table.number[phase, other] * table.per_number[phase]
