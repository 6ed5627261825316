"""TurnState ──► record: with what a seat may know. It reads the states of other hosts of the protocol, too."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.record import Tables
from ..core.turn_state import (
    AllowedAction,
    GameState,
    TurnState,
    amount,
    as_dict,
    fitting_size,
    moves_in,
    named_order,
    offered_size,
    own_turns_left,
    payoffs_in,
)
from .definition import Named, Number, PhaseGame
from .fields import Parameter, Standing, name_of
from .rules import begin_round, close
from .table import MEMORY, NOTHING
from .view import PASS, legal_actions


def load(rules: PhaseGame, blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names. The state of an observer is read as that of seat 0. A phase that the game does not have,
    such as a negotiation, is read as the first one. If the host does not send ``turns_left``, the agent's own passes in
    the phase are counted; in an open phase, its own actions. Fewer turns are left if the host ends the match earlier
    (`own_turns_left`). A number of the state that bounds an answer (`Number.limit`) bounds it in the record.

    A table of another size is seen in proportion: steps, bounds and units of the record are stretched (`_stretch`), so
    that an observation is that of the game's own size, and an action index means an amount of the host's. The amount
    that measures the game tells the size (`PhaseGame.amounts`); where the state has none, the size is a power of ten:
    that of the highest number that is offered, or the one in which the state's amounts fit the game.

    Args:
        rules: the game's definition.
        blank: a table with the options that TurnState does not have.
        state: the TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        ValueError: naming a field that should hold a number and does not.
    """
    measured = _ratio(rules, state, rules.amounts[0]) if rules.amounts else None
    if measured is not None or rules.amounts is None:
        return _read(rules, blank, state, measured or 1.0)
    numbers = [one for one in rules.actions if isinstance(one, Number)]
    offered = offered_size(state, {one.name: (one.key, one.highest) for one in numbers if not one.shares})
    tables, seat = _read(rules, blank, state, 1.0)
    table = tables[0]
    shares = (table.number.T * table.per_number).T[_phases_of_amounts(rules)]
    standing = float(table.standing * table.per_number[len(rules.phases) - 1])
    largest = max(float(table.private[seat] * table.per_private), float(shares.max(initial=0.0)), standing)
    step = min((1 / (one.points - 1) for one in numbers), default=0.0)
    size = fitting_size(state, offered, largest, step)
    return (tables, seat) if size == 1 else _read(rules, blank, state, size)


def _ratio(rules: PhaseGame, state: TurnState, index: int) -> float | None:
    """Return the ratio of a parameter of a host's table to the game's own; None: the state does not have it."""
    key = next((field.name for field in rules.fields if isinstance(field, Parameter) and field.index == index), "")
    own, theirs = rules.numbers[index], state.game_state.get(key)
    return amount(theirs, key) / own if own > 0 and theirs is not None and amount(theirs, key) > 0 else None


def _phases_of_amounts(rules: PhaseGame) -> list[int]:
    """Return the phases whose numbers are amounts."""
    numbers = {one.name for one in rules.actions if isinstance(one, Number)}
    return [k for k, phase in enumerate(rules.phases) if phase.open is not None or numbers & set(phase.actions)]


def _stretch(rules: PhaseGame, table: Any, size: float, slope: float) -> None:
    """Make a record of the game's own size one of another: of all that is an amount, or a part of one."""
    numbers = [kind for kind, one in enumerate(rules.actions) if isinstance(one, Number)]
    table.origin[numbers] *= size / slope
    table.gap[numbers] *= size / slope
    table.further_gap *= size
    table.start *= size
    table.private_low *= size
    table.private_high *= size
    table.per_private /= size
    table.per_payoff /= size
    table.per_number[_phases_of_amounts(rules)] /= size / slope
    table.per_fact[: sum(fact.amount for fact in rules.facts)] /= size
    table.parameter[list(rules.amounts or ())] *= size
    table.per_parameter[list(rules.amounts or ())] /= size
    if rules.slope is not None:
        table.per_parameter[rules.slope] /= slope


def _read(rules: PhaseGame, blank: Tables, state: TurnState, size: float) -> tuple[Tables, int]:
    """Read a state into a record whose amounts are so many times larger than the game's own."""
    game = state.game_state
    tables = blank.copy().view(np.recarray)
    table = tables[0]
    slope = (rules.slope is not None and _ratio(rules, state, rules.slope)) or 1.0
    if (size, slope) != (1, 1):
        _stretch(rules, table, size, slope)
    table.past[:] = NOTHING
    begin_round(table)
    seats = seating(rules, state)
    seat = seats[state.agent_id] if state.agent_id else 0
    names = [phase.name for phase in rules.phases]
    table.phase = names.index(state.phase) if state.phase in names else 0
    if rules.private is not None and game.get(rules.private.name) is not None:
        table.private[seat] = amount(game[rules.private.name], rules.private.name)
    for field in rules.fields:
        field.read(table, seat, game.get(field.name), seats)
    _load_passes(rules, table, state, seats)
    _load_rounds(rules, table, game, seats)
    table.turn = seats.get((state.agent_id if state.is_my_turn else state.current_turn_agent_id) or "", -1)
    if rules.open is not None and state.game_over:
        _load_closing(rules, table, game, seats)
    if rules.follow is not None and not state.game_over:
        rules.follow(table)
        for field in rules.fields:  # what the host tells, not what follows from the passes that are counted here
            if isinstance(field, Standing):
                field.read(table, seat, game.get(field.name), seats)
    for kind, one in enumerate(rules.actions):
        if isinstance(one, Number) and game.get(one.limit) is not None:
            table.most[kind] = max(amount(game[one.limit], one.limit), 0.0)
    if state.game_over:
        table.done, table.turn = True, -1
        for agent, utility in payoffs_in(state):
            if agent in seats:
                table.total[seats[agent]] = utility
    return tables, seat


def allowed(rules: PhaseGame, blank: Tables, game_state: GameState, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their bounds: those of the record that its state describes."""
    agent = name_of(seat)
    state = TurnState("", rules.name, agent, phase, True, agent, as_dict(game_state))
    return legal_actions(rules, load(rules, blank, state)[0][0])


def _load_passes(rules: PhaseGame, table: Any, state: TurnState, seats: Mapping[str, int]) -> None:
    """Write the number of turns that are left, and the passes that are final."""
    game, phase = state.game_state, int(table.phase)
    limit = int(table.limit[phase])
    opened = rules.phases[phase].open is not None
    kinds = (*(one.name for one in rules.actions), PASS) if opened or rules.loops else (PASS,)
    rows = [
        row
        for row in moves_in(game.get("action_history"), kinds, state.phase)
        if row.get("phase", state.phase) == rules.phases[phase].name
    ]
    if rules.loops:  # what comes after the last action that is no pass
        rows = rows[max((place + 1 for place, row in enumerate(rows) if row["action"] != PASS), default=0) :]
    if game.get("turns_left") is not None:
        cycle = limit - int(amount(game["turns_left"], "turns_left"))
    else:
        cycle = sum(row["agent_id"] == state.agent_id for row in rows)
    left = own_turns_left(state, rules.seats)
    if left is not None:
        cycle = max(cycle, limit - left)
    table.cycle = min(max(cycle, 0), limit - (not state.game_over))
    if rules.pass_is_final:
        for row in rows:
            if row["agent_id"] in seats:
                table.chosen[phase, seats[row["agent_id"]]] = table.kinds


def _load_closing(rules: PhaseGame, table: Any, game: Mapping[str, Any], seats: Mapping[str, int]) -> None:
    """Write the action that closed the open phase."""
    names = {one.name: kind for kind, one in enumerate(rules.actions) if isinstance(one, Named)}
    for row in moves_in(game.get("action_history"), names, rules.phases[-1].name)[-1:]:
        kind = names[row["action"]]
        if (int(table.closes) >> kind) & 1 and row["agent_id"] in seats:
            close(table, seats[row["agent_id"]], kind)


def _load_rounds(rules: PhaseGame, table: Any, game: Mapping[str, Any], seats: Mapping[str, int]) -> None:
    """Write the rounds that are over."""
    if rules.rounds == 1:
        table.round_number = 0
        return
    past = game.get("past_rounds")
    past = [row for row in past if isinstance(row, Mapping)][:MEMORY] if isinstance(past, list) else []
    table.round_number = min(max(int(amount(game.get("round_number", len(past)), "round_number")), 0), rules.rounds)
    facts = game.get("past_facts")
    for age, values in enumerate(facts[:MEMORY] if isinstance(facts, list) else ()):
        for k, fact in enumerate(rules.facts if isinstance(values, Mapping) else ()):
            table.past_fact[age, k] = amount(values.get(fact.name, 0.0), fact.name)
    for age, row in enumerate(past):
        for k, phase in enumerate(rules.phases):
            choices = row.get(phase.name)
            for agent, number in choices.items() if isinstance(choices, Mapping) else ():
                if agent in seats:
                    table.past[age, k, seats[agent]] = amount(number, phase.name)


def _holders(rules: PhaseGame, state: TurnState, key: str) -> list[Any]:
    """Return the agents that a field of roles names, as many as the game has seats for; the agent itself always is."""
    named, room = state.game_state.get(key), rules.role_keys.count(key)
    agents = named if isinstance(named, list) else [named]
    if state.agent_id in agents[room:]:
        return [*agents[: room - 1], state.agent_id]
    return [*agents, *[None] * room][:room]


def seating(rules: PhaseGame, state: TurnState) -> dict[str, int]:
    """Give agents their seats: by their roles; else by the host's order; else by their own names.

    The state of an observer, which has no agent, is read in the same way. With more agents than the game has seats, the
    last ones are not seen; the agent itself always is.
    """
    game, seats = state.game_state, rules.seats
    holders = [agent for key in dict.fromkeys(rules.role_keys) for agent in _holders(rules, state, key)]
    if holders and (state.agent_id in holders or not state.agent_id):
        return {agent: seat for seat, agent in enumerate(holders) if isinstance(agent, str)}
    ours = [name_of(seat) for seat in range(seats)]
    if not state.agent_id:  # an observer
        return {agent: seat for seat, agent in enumerate(game.get("agent_ids", ours)[:seats])}
    order = named_order(state) or (ours if state.agent_id in ours else [state.agent_id, *ours[1:]])
    place = order.index(state.agent_id)
    if place >= seats:
        order = [*order[: seats - 1], state.agent_id]
    return {agent: seat for seat, agent in enumerate(order[:seats])}
