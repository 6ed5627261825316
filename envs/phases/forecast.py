"""What an action of a game in phases will pay: it is played by the rules, on the record of what the seat knows.

What the others will do is assumed: the same as in the last round, the same as the seat, the least, half or the most
that they may, or one of their actions without a number. Of the seat's own later decisions one without a number is
assumed too, and of a later phase that divides a sum that both agree to halves. No hidden value of another seat is read.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..core.capabilities import Chance, Forecast
from ..core.record import Tables
from ..core.turn_state import TurnState
from .definition import Named, Number, PhaseGame
from .rules import decode, legal
from .table import NOTHING

POINTS = 101
"""The most numbers of an action whose utilities are calculated."""
MOST_STEPS = 64
"""The most decisions of others after the action."""
SLOPE_DECIMALS = 6
"""Decimals of a utility that is a linear function of several numbers."""

Others: TypeAlias = Callable[[Any, int], int | None]
"""``others(table, seat)``: the action index of another seat that has the turn; None: none can be assumed."""
Answer: TypeAlias = Callable[[float, Any, int], int | None]
"""The same, of the seat's own number first; of an action with several numbers, of its index."""


def forecasts(
    own: PhaseGame, chance: Chance, load: Callable[[TurnState], tuple[Tables, int]], state: TurnState
) -> list[Forecast]:
    """Return the payoffs of each action type that the receiver of a state may choose now; nothing out of its turn.

    Left out are `pass`, actions whose utility always depends on a later decision of the seat, and those with several
    numbers of which it is no linear function.
    """
    if not state.is_my_turn:
        return []
    tables, seat = load(state)
    indices = _legal(own, tables[0])
    usable: list[Forecast] = []
    for kind, action in enumerate(own.actions):
        of_kind = indices[(tables[0].first[kind] <= indices) & (indices < tables[0].first[kind + 1])]
        if not len(of_kind) or (tables[0].divides and own.seats > 2):
            continue
        if isinstance(action, Number) and action.further:
            payoffs = _linear(own, chance, tables, seat, of_kind)
            if payoffs:
                usable.append(Forecast(action.name, (), payoffs, (action.key, *(one.key for one in action.further))))
            continue
        tried = of_kind[np.unique(np.linspace(0, len(of_kind) - 1, POINTS).round().astype(int))]
        numbers = _numbers(tables[0], tried).tolist()
        middle = int(tried[len(tried) // 2])
        itself = _until_others(chance, tables, seat, middle)[0] is None
        payoffs = {
            words: [
                _utility(own, chance, tables, seat, int(one), partial(others, number), itself)
                for one, number in zip(tried, numbers, strict=True)
            ]
            for words, others in _assumptions(own, chance, tables, seat, middle).items()
        }
        paying = {words: paid for words, paid in payoffs.items() if any(one is not None for one in paid)}
        if isinstance(action, Named) and action.says:  # a choice of the payload, which its words name
            paying = {f"with {_in_words(action)} {words}".strip(): paid for words, paid in paying.items()}
        before = usable.pop().payoffs if usable and usable[-1].action_type == action.name else {}
        if before or paying:
            usable.append(Forecast(action.name, numbers, {**before, **paying}))
    return usable


def _linear(
    own: PhaseGame, chance: Chance, tables: Tables, seat: int, indices: NDArray[np.intp]
) -> dict[str, list[float | None]]:
    """Return a constant and a slope for each of several numbers, by an assumption in words.

    They come from the lowest action and those with one number raised to its highest grid value. Left out is what does
    not fit the middle and the highest action.
    """
    table, lowest, highest = tables[0], int(indices[0]), int(indices[-1])
    places = [highest - lowest - int(table.block[decode(table, lowest).kind]) + 1]
    second, third = (int(one) for one in table.further_points)
    places += [(second - 1) * third, third - 1][: int(table.further)]
    middle = int(indices[len(indices) // 2])
    tried = [lowest, *(lowest + place for place in places), middle, highest]
    points = np.array([list(decode(table, one))[1 : len(places) + 1] for one in tried])
    payoffs: dict[str, list[float | None]] = {}
    for words, others in _assumptions(own, chance, tables, seat, middle).items():
        paid = [_utility(own, chance, tables, seat, one, partial(others, one), False) for one in tried]
        if None in paid:
            continue
        height = np.array(paid, np.float64)
        terms = np.linalg.solve(np.c_[np.ones(len(places) + 1), points[:-2]], height[:-2])
        if np.allclose(np.c_[np.ones(2), points[-2:]] @ terms, height[-2:], rtol=1e-3, atol=1e-3):
            payoffs[words] = [round(float(one), SLOPE_DECIMALS) for one in terms]
    return payoffs


def _in_words(action: Named) -> str:
    return " ".join([action.label.replace("_", " "), *action.says])


def _legal(own: PhaseGame, table: Any) -> NDArray[np.intp]:
    """Return the legal action indices of the acting seat, without `pass`."""
    mask = np.zeros(int(table.first[len(own.actions) + 1]), np.int8)
    legal(table, mask)
    return np.flatnonzero(mask[: int(table.first[len(own.actions)])])


def _numbers(table: Any, indices: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the numbers of action indices: float64[N]."""
    kinds = np.searchsorted(table.first[1 : int(table.kinds)], indices, side="right")
    inside = (indices - table.first[kinds]) // table.block[kinds]
    numbers: NDArray[np.float64] = table.origin[kinds] + table.gap[kinds] * inside
    return numbers


def _assumptions(own: PhaseGame, chance: Chance, tables: Tables, seat: int, index: int) -> Mapping[str, Answer]:
    """Return the assumptions about the others after an action, by their words."""
    after, other = _until_others(chance, tables, seat, index)
    divided = "" if _divides(own, tables[0]) or not any(map(_shares, own.actions)) else "you divide equally"
    if after is None:
        return {f"if {divided}": _nothing} if divided else _own_answers(own, chance, tables, seat, index)
    if divided and _divides(own, after[0]):
        return {f"if {divided}": _nothing}
    two = own.seats == 2
    others = "the other does chooses answers" if two else "the others do choose answer"
    who, does, chooses, answers = others.rsplit(maxsplit=3)
    table = after[0]
    same_phase = int(table.phase) == int(tables[0].phase) and int(table.round_number) == int(tables[0].round_number)
    several = tables[0].block[decode(tables[0], index).kind] > 1
    if several or _named_kinds(own, table):
        before = f"if {who}" if _named_kinds(own, table) else f"if {who} {does} the same and"
        numbers = partial(_same_numbers, own) if several else _nothing
        return {
            f"{before} {_answers_in_words(own, kinds, answers, chooses)}": partial(_named, own, kinds, numbers)
            for kinds in _answers(own, chance, tables, seat, index, numbers)
        }
    assumed: dict[str, Answer] = {}
    if own.rounds > 1 and int(table.round_number) > 0 and table.past[0][table.phase][other] != NOTHING:
        assumed[f"if {who} {does} as in the last round"] = partial(_as_before, own)
    if same_phase:
        assumed[f"if {who} {does} the same"] = partial(_same, own)
    if len(assumed) < 2:
        parts = {"the least": 0.0, "half of the most": 0.5} | ({} if same_phase else {"the most": 1.0})
        assumed |= {f"if {who} {chooses} {words}": partial(_part, own, part) for words, part in parts.items()}
    return {f"{words} and {divided}" if divided else words: others for words, others in assumed.items()}


def _answers_in_words(own: PhaseGame, kinds: Sequence[int], answers: str, chooses: str) -> str:
    first, *later = [_in_words(one) for one in map(own.actions.__getitem__, kinds) if isinstance(one, Named)]
    return " and then ".join([f"{answers} {first}", *(f"{chooses} {words}" for words in later)])


def _named_kinds(own: PhaseGame, table: Any) -> list[int]:
    """Return the action types without a number of the current phase."""
    offered = int(table.offers[table.phase])
    return [kind for kind, one in enumerate(own.actions) if isinstance(one, Named) and (offered >> kind) & 1]


def _answers(
    own: PhaseGame, chance: Chance, tables: Tables, seat: int, index: int, others: Answer
) -> list[tuple[int, ...]]:
    """Return the choices of others after an action where they choose no number, phase by phase, by action type."""
    complete: list[tuple[int, ...]] = []
    secret = _chosen_in_secret(tables[0], seat)
    begun: list[tuple[int, ...]] = [(kind,) for kind in _named_kinds(own, tables[0])] if secret else [()]
    while begun:
        kinds = begun.pop(0)
        after = tables.copy()
        table = after[0]
        before = int(table.round_number)
        _assume_secret(table, seat, partial(_named, own, kinds, others, index))
        chance.step(table, decode(table, index))
        for _ in range(MOST_STEPS):
            if int(table.round_number) > before or int(table.turn) in (-1, seat):
                complete.append(kinds)
                break
            offered = _named_kinds(own, table)
            if offered and not set(offered) & set(kinds):
                begun += [(*kinds, kind) for kind in offered]
                break
            answer = _named(own, kinds, others, index, table, int(table.turn))
            if answer is None:
                break
            chance.step(table, decode(table, answer))
    return complete


def _own_answers(own: PhaseGame, chance: Chance, tables: Tables, seat: int, index: int) -> Mapping[str, Answer]:
    """Return the seat's own next choices in the round, by their words; "": none."""
    after = tables.copy()
    table = after[0]
    before = int(table.round_number)
    chance.step(table, decode(table, index))
    if int(table.turn) != seat or int(table.round_number) != before:
        return {"": _nothing}
    legal_now = _legal(own, table)
    return {
        f"if you then choose {_in_words(one)}": partial(_named, own, [kind], _nothing)
        for kind, one in enumerate(own.actions)
        if isinstance(one, Named) and int(table.first[kind]) in legal_now
    }


def _until_others(chance: Chance, tables: Tables, seat: int, index: int) -> tuple[Tables | None, int]:
    """Return the table where another seat chooses in the same round, or has chosen in secret, and that seat."""
    after = tables.copy()
    table = after[0]
    secret = _chosen_in_secret(table, seat)
    if secret:
        return after, secret[0]
    before = int(table.round_number)
    chance.step(table, decode(table, index))
    goes_on = int(table.round_number) == before and table.turn >= 0 and int(table.turn) != seat
    return (after, int(table.turn)) if goes_on else (None, -1)


def _chosen_in_secret(table: Any, seat: int) -> list[int]:
    """Return the other seats whose choice in this phase is sealed."""
    phase = int(table.phase)
    others = [other for other in range(int(table.seats)) if other != seat and table.chosen[phase][other] > 0]
    return others if table.sealed[phase] else []


def _assume_secret(table: Any, seat: int, others: Others) -> None:
    """Write what is assumed of other seats in place of what they chose in secret."""
    for other in _chosen_in_secret(table, seat):
        table.turn = other
        answer = others(table, other)
        table.number[int(table.phase), other] = 0.0 if answer is None else decode(table, answer).value
    table.turn = seat


def _utility(
    own: PhaseGame, chance: Chance, tables: Tables, seat: int, index: int, others: Others, itself: bool
) -> float | None:
    """Return a seat's payoff of an action in this round; None: it depends on a later decision of the seat.

    If `itself` is true, `others` says what the seat does later too.
    """
    after = tables.copy()
    table = after[0]
    before, won, apart = int(table.round_number), float(table.total[seat]), not _divides(own, table)
    _assume_secret(table, seat, others)
    chance.step(table, decode(table, index))
    for _ in range(MOST_STEPS):
        if int(table.round_number) > before or table.turn < 0:
            return _expected(chance, after, seat) - won
        if apart and _divides(own, table):
            chance.step(table, _half(own, table))
            continue
        if int(table.turn) == seat and not itself:
            return None
        answer = others(table, int(table.turn))
        if answer is None:
            return None
        chance.step(table, decode(table, answer))
    return None


def _expected(chance: Chance, tables: Tables, seat: int) -> float:
    """Return a seat's total, expected over the event that decides it, if there is one."""
    count = 0 if tables[0].turn >= 0 or tables[0].done else int(chance.outcomes(tables[0]))
    if not count:
        return float(tables[0].total[seat])
    assert chance.probability is not None
    total = 0.0
    for event in range(count):
        after = tables.copy()
        chance.play(after[0], event)
        total += chance.probability(tables[0], event) * float(after[0].total[seat])
    return total


def _shares(action: Named | Number) -> bool:
    return isinstance(action, Number) and action.shares


def _divides(own: PhaseGame, table: Any) -> bool:
    """Return True if shares of a sum are offered in the current phase."""
    offered = int(table.offers[table.phase]) if table.turn >= 0 else 0
    return any(_shares(one) and (offered >> kind) & 1 for kind, one in enumerate(own.actions))


def _half(own: PhaseGame, table: Any) -> Any:
    """Return the move of a seat that divides equally: it takes the half that it is offered, or offers it."""
    indices = _legal(own, table)
    closing = [kind for kind, one in enumerate(own.actions) if isinstance(one, Named) and one.effect == "close"]
    takes = [int(table.first[kind]) for kind in closing if int(table.first[kind]) in indices]
    if takes:
        return decode(table, takes[0])
    offer = next(kind for kind, one in enumerate(own.actions) if _shares(one))
    return decode(table, int(table.first[offer]))._replace(value=float(table.most[offer]) / 2)


# What others do: the seat's own number, the table, and the other seat, to an action index.


def _nothing(number: float, table: Any, other: int) -> int | None:
    return None


def _named(
    own: PhaseGame, kinds: Sequence[int], otherwise: Answer, number: float, table: Any, other: int
) -> int | None:
    legal_now = _legal(own, table)
    named = [int(table.first[kind]) for kind in kinds if table.first[kind] in legal_now]
    return named[0] if named else otherwise(number, table, other)


def _same_numbers(own: PhaseGame, index: float, table: Any, other: int) -> int | None:
    return int(index) if index in _legal(own, table) else None


def _same(own: PhaseGame, number: float, table: Any, other: int) -> int | None:
    return _nearest(own, table, number)


def _as_before(own: PhaseGame, number: float, table: Any, other: int) -> int | None:
    past = float(table.past[0][int(table.phase)][other])
    return None if past == NOTHING else _nearest(own, table, past)


def _part(own: PhaseGame, part: float, number: float, table: Any, other: int) -> int | None:
    indices = _legal(own, table)
    return int(indices[round(part * (len(indices) - 1))]) if len(indices) else None


def _nearest(own: PhaseGame, table: Any, number: float) -> int | None:
    indices = _legal(own, table)
    return int(indices[np.abs(_numbers(table, indices) - number).argmin()]) if len(indices) else None
