"""Record ──► TurnState of a player, and back. `game_state` and `outcome` have the fields of the TurnState platforms.

What ``action_history`` and a repeated game tell stands in docs/games.md.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.game_state import GameState, named_order
from ..core.turn_state import TurnState
from .actions import PASS, payload
from .definition import End, Number, PhaseGame
from .fields import LEFT_OUT, name_of
from .rules import Move, cents
from .table import LOG, MEMORY, NOTHING


def phase_name(rules: PhaseGame, table: Any) -> str:
    """Return the name of the phase."""
    return rules.phases[int(table.phase)].name


def public(rules: PhaseGame, kind: type[GameState], table: Any) -> GameState:
    """Return what everybody sees, as the type `kind`."""
    return kind(**_seen(rules, table, -1))


def game_state(rules: PhaseGame, kind: type[GameState], table: Any, seat: int) -> GameState:
    """Return the table as `seat` may see it, as the type `kind`."""
    own: dict[str, Any] = {"my_role": rules.roles[seat]} if rules.roles else {}
    if rules.private is not None:
        own[rules.private.name] = float(table.private[seat])
    return kind(**own, **_seen(rules, table, seat))


def _seen(rules: PhaseGame, table: Any, seat: int) -> dict[str, Any]:
    seats = range(rules.seats)
    roles = {key: _holders(rules, key) for key in rules.role_keys}
    written = {field.name: field.write(table, seat) for field in rules.fields if seat >= 0 or not field.private}
    fields = {name: value for name, value in written.items() if value is not LEFT_OUT}
    limit = int(table.limit[int(table.phase)])
    seen = {
        "agent_ids": [name_of(i) for i in seats],
        **roles,
        **fields,
        "turns_left": limit - min(int(table.cycle), limit),
        "action_history": history(rules, table),
    }
    if rules.rounds > 1:
        seen["round_number"] = int(table.round_number)
        seen["rounds"] = rules.rounds
        seen["totals"] = {name_of(i): float(table.total[i]) for i in seats}
        seen["past_rounds"] = _past(rules, table)
        if rules.facts:
            seen["past_facts"] = _past_facts(rules, table)
    return seen


def differences(options: Mapping[str, Any], state: TurnState, first: bool) -> dict[str, Any]:
    """Return the number of agents of a live table, if it is another one."""
    agents = named_order(state)
    return {"seats": len(agents)} if agents and len(agents) != options["seats"] else {}


def _holders(rules: PhaseGame, key: str) -> str | list[str]:
    """Return the agents of the roles that a field names: one, or a list."""
    agents = [name_of(seat) for seat, other in enumerate(rules.role_keys) if other == key]
    return agents[0] if len(agents) == 1 else agents


def _past(rules: PhaseGame, table: Any) -> list[dict[str, dict[str, float]]]:
    """Return the choices of the last rounds, the latest first: by phase and agent."""
    ages = range(min(MEMORY, int(table.round_number)))
    return [
        {
            phase.name: {
                name_of(i): float(table.past[age][k][i]) for i in range(rules.seats) if table.past[age][k][i] != NOTHING
            }
            for k, phase in enumerate(rules.phases)
        }
        for age in ages
    ]


def _past_facts(rules: PhaseGame, table: Any) -> list[dict[str, float]]:
    """Return the facts of the last rounds, the latest first, by name."""
    ages = range(min(MEMORY, int(table.round_number)))
    return [{fact.name: float(table.past_fact[age][k]) for k, fact in enumerate(rules.facts)} for age in ages]


def history(rules: PhaseGame, table: Any) -> list[dict[str, Any]]:
    """Return every action of the round so far; the numbers of a sealed phase are left out until it is over."""
    if rules.loops:
        return _log(rules, table)
    rows: list[dict[str, Any]] = []
    turn, now = int(table.turn), int(table.phase)
    for k, phase in enumerate(rules.phases[: now + 1]):
        if phase.open is not None:
            return rows + _log(rules, table)
        actors = [seat for seat in range(rules.seats) if (int(table.actors[k]) >> seat) & 1]
        cycles = 1 + max([int(table.chosen_in[k][seat]) for seat in actors] + [int(table.cycle) if k == now else 0])
        for cycle in range(cycles):
            for seat in actors:
                acted = k < now or cycle < table.cycle or (cycle == table.cycle and seat < turn)
                kind = int(table.chosen[k][seat]) - 1
                if kind >= 0 and table.chosen_in[k][seat] == cycle:
                    shown = not phase.sealed or k < now
                    number = float(table.number[k][seat])
                    rows.append(_row(rules, table, k, seat, kind, cycle, number, shown))
                elif acted and (kind < 0 or cycle < table.chosen_in[k][seat]):
                    rows.append(_row(rules, table, k, seat, len(rules.actions), cycle, 0.0, False))
    return rows


def _log(rules: PhaseGame, table: Any) -> list[dict[str, Any]]:
    """Return the last actions of the open phase, or of a round that may go back."""
    acts = int(table.acts)
    return [
        _row(
            rules,
            table,
            int(table.log_phase[place]),
            int(table.log_seat[place]),
            int(table.log_kind[place]),
            int(table.log_cycle[place]),
            float(table.log_number[place]),
            True,
        )
        for place in (act % LOG for act in range(max(0, acts - LOG), acts))
    ]


def _row(
    rules: PhaseGame, table: Any, phase: int, seat: int, kind: int, cycle: int, number: float, shown: bool
) -> dict[str, Any]:
    action = rules.actions[kind] if kind < len(rules.actions) else None
    numbers: dict[str, Any] = {}
    if shown and isinstance(action, Number) and not action.further and not (action.shares and rules.seats > 2):
        numbers = payload(action, Move(kind, number), seat, float(table.most[kind]))
    name = PASS if action is None else action.name
    return {"agent_id": name_of(seat), "action": name, **numbers, "phase": rules.phases[phase].name, "round": cycle}


def outcome(rules: PhaseGame, table: Any, seat: int) -> dict[str, Any]:
    """Return the end: all utilities, the reason, and what the platform tells of the last round."""
    end = rules.end(table) if rules.late is not None or not table.timeout else End()
    rows = end.rows or [{}] * rules.seats
    return {
        "payoffs": [{"agent_id": name_of(i), **rows[i], "utility": float(table.total[i])} for i in range(rules.seats)],
        "reason": end.reason,
        **end.more,
    }


def resample(rules: PhaseGame, table: Any, seat: int, generator: np.random.Generator) -> None:
    """Draw the others' private values and their sealed choices again, in place, and the stream. The outcome of a match
    tells them."""
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    phase = int(table.phase)
    if table.done and not table.timeout:
        return
    for other in range(rules.seats):
        if other == seat:
            continue
        low, high = float(table.private_low[other]), float(table.private_high[other])
        table.private[other] = cents(low + generator.random() * (high - low))
        kind = int(table.chosen[phase][other]) - 1
        if table.sealed[phase] and kind >= 0:
            count = int(table.first[kind + 1] - table.first[kind])
            table.number[phase, other] = table.origin[kind] + table.gap[kind] * generator.integers(count)
