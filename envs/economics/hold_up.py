"""The hold-up game: two seats invest, and then bargain over what comes of both investments."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, from_options, within
from ..core.rollout import random_bot
from ..core.turn_state import amount
from ..phases import (
    Bots,
    Choices,
    Computed,
    End,
    Named,
    Number,
    Open,
    Phase,
    PhaseGame,
    Seen,
    StandingBy,
    bot,
    make,
)
from ..phases.fields import PARAMETER, Field, is_resolved, name_of, own, parameters_of, seats_of
from ..phases.rules import cents, sum_of

INVEST, ACCEPT, OFFER, REJECT, WAIT = range(5)
"""The action types; the last one is `pass`."""


class HoldUp(Options, frozen=True, kw_only=True):
    """The options of the hold-up game."""

    investment_cost: Annotated[float, within(0, 1000), PARAMETER] = 1.0
    """the cost of a unit that is invested, {}."""
    surplus_base: Annotated[float, within(0, 1e6), PARAMETER] = 0.0
    """the surplus without investments, {}."""
    surplus_multiplier: Annotated[float, within(0.001, 1000), PARAMETER] = 3.0
    """what a unit that is invested adds to the surplus, {}."""
    highest: Annotated[float, within(0.01, 1000)] = 10.0
    """the highest investment, {}."""
    investments: Annotated[int, within(2, 256)] = 11
    """number of investments that have an action index, evenly spaced from 0 to `highest`; {}."""
    splits: Annotated[int, within(2, 256)] = 61
    """number of shares that have an action index: the proposer's, evenly spaced from 0 to the highest surplus; {}.
    Those above the surplus are illegal."""
    max_rounds: Annotated[int, within(2, 1000)] = 5
    """turns of each seat to bargain, {}, and one more than its turns to invest."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, PARAMETERS = parameters_of(HoldUp)


@from_options(HoldUp)
def game(given: HoldUp) -> Game:
    """Return the hold-up game with these options."""
    most, turns = round(given.surplus_base + 2 * given.surplus_multiplier * given.highest, 2), given.max_rounds
    return make(
        PhaseGame(
            name="hold_up",
            title="Hold-up",
            options=given,
            phases=[
                Phase("invest", ("invest",), turns=turns - 1, forced=True),
                Phase("bargain", ("accept", "make_offer", "reject"), turns=turns, open=Open("share", most)),
            ],
            actions=[
                Number("invest", "amount", given.highest, given.investments, "invest this amount, once"),
                Named("accept", 1.0, "accept the other's offer", "close"),
                Number("make_offer", "split", most, given.splits, "offer this split of the surplus", shares=True),
                Named("reject", 0.0, "reject the offer", "clear"),
            ],
            amounts=(AT.surplus_base,),
            payoffs=(-given.investment_cost * given.highest, most),
            pay=pay,
            follow=follow,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                *PARAMETERS,
                Choices("investments"),
                Surplus("surplus"),
                StandingBy("last_offer_by"),
                Offer("current_offer"),
                Computed("is_last_round", _is_last),
                Computed("resolved", is_resolved),
            ],
            worth=worth,
            bots=BOTS,
        )
    )


class Surplus(Field):
    """What the seats divide; None before they do. It comes after the parameters and the investments."""

    def write(self, table: Any, seat: int) -> float | None:
        """Return the surplus."""
        return float(table.most[OFFER]) if table.phase == 1 else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Take the base that follows: a host may not tell it."""
        if value is not None:
            added = table.parameter[AT.surplus_multiplier] * sum_of(table, 0)
            table.parameter[AT.surplus_base] = amount(value, self.name) - added


def _is_last(table: Any) -> bool:
    return bool(table.phase == 1 and table.cycle + 1 >= table.limit[1])


def _split(table: Any) -> dict[str, float]:
    """Return the shares of the standing offer."""
    share, surplus = float(table.standing), float(table.most[OFFER])
    return {name_of(seat): share if seat == table.owner else surplus - share for seat in range(2)}


class Offer(Field):
    """The shares of the last offer by agent, or None. It comes after the field of who made it."""

    def write(self, table: Any, seat: int) -> dict[str, float] | None:
        """Return the shares."""
        return _split(table) if table.owner >= 0 else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the proposer's share."""
        for agent, share in value.items() if isinstance(value, Mapping) else ():
            if table.owner >= 0 and seats.get(agent) == table.owner:
                table.standing = amount(share, self.name)
                own(table, int(table.owner))


@compiled
def follow(table: Any) -> None:
    """The investments make the surplus; nobody accepts its own offer; in the last round nobody passes or rejects."""
    last = table.phase == 1 and table.cycle + 1 >= table.limit[1]
    table.most[OFFER] = cents(
        table.parameter[AT.surplus_base] + table.parameter[AT.surplus_multiplier] * sum_of(table, 0)
    )
    table.open[ACCEPT] = table.owner >= 0 and table.owner != table.turn
    table.open[REJECT] = table.owner >= 0 and not last
    table.open[WAIT] = not last


@compiled
def pay(table: Any) -> None:
    """Give each its share of the surplus less the cost of its investment."""
    for seat in range(2):
        share = table.standing if seat == table.owner else table.most[OFFER] - table.standing
        table.rewards[seat] = share - table.parameter[AT.investment_cost] * table.number[0, seat]


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return the own share less the cost of the own investment, which is not paid without an agreement."""
    cost = float(table.parameter[AT.investment_cost] * table.number[0, table.turn])
    return {ACCEPT: float(table.most[OFFER] - table.standing) - cost, OFFER: numbers - cost}.get(kind, np.inf)


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    split = _split(table)
    invested = {name_of(seat): float(table.number[0][seat]) for seat in range(2)}
    rows = [{"share": split[agent], "investment": invested[agent]} for agent in split]
    details = {"investments": invested, "surplus": float(table.most[OFFER]), "final_offer": split}
    return End("hold_up_agreement", rows, details)


def _paid(seen: Seen, seat: int) -> Any:
    """Return the cost of a relative seat's investment, float64[N]."""
    return seen.parameter(AT.investment_cost) * seen.number[:, 0, seat]


def _total(seen: Seen) -> Any:
    both = seen.number[:, 0, 0] + seen.number[:, 0, 1]
    return seen.parameter(AT.surplus_base) + seen.parameter(AT.surplus_multiplier) * both


def _bargain(seen: Seen, invested: Any, wanted: Any) -> Any:
    """Invest; then offer to keep `wanted`, float64[N], and accept an offer that gives as much."""
    surplus = _total(seen)
    gap = float(seen.game.rules.blank[0].gap[OFFER])
    kept = np.floor(np.clip(wanted, 0.0, surplus) / gap + 1e-6) * gap
    fits = seen.owner[:, 1] & (surplus - seen.standing >= wanted - 1e-4)
    kinds = np.where(seen.phase == 0, INVEST, np.where(fits, ACCEPT, OFFER))
    return kinds, np.where(seen.phase == 0, invested, kept)


def _equilibrium(seen: Seen) -> Any:
    most = (
        seen.game.options["highest"]
        if seen.parameter(AT.surplus_multiplier) > seen.parameter(AT.investment_cost)
        else 0.0
    )
    first = seen.seat == 0
    wanted = np.where(first, np.maximum(_total(seen) - _paid(seen, 1), _paid(seen, 0)), _paid(seen, 0))
    kinds, values = _bargain(seen, np.where(first, most, 0.0), wanted)
    silent = ~first & (kinds == OFFER) & (seen.turns_left > 1.001 / seen.game.options["max_rounds"])
    return np.where(silent, WAIT, kinds), values


def _equal(seen: Seen) -> Any:
    net = _total(seen) - _paid(seen, 0) - _paid(seen, 1)
    return _bargain(seen, np.full(len(seen.seat), seen.game.options["highest"]), _paid(seen, 0) + net / 2)


def _tough(seen: Seen) -> Any:
    later = seen.turns_left - 1 / seen.game.options["max_rounds"]
    return _bargain(seen, np.full(len(seen.seat), seen.game.options["highest"]), _total(seen) * (0.5 + later / 4))


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "equal": bot(_equal), "tough": bot(_tough)}
"""`random`: any legal action. `equilibrium`: subgame-perfect. Seat 0 makes the last offer, which gives seat 1 no more
than the cost of its investment. So seat 1 gains nothing by investing, and invests nothing; seat 0 invests all if it
pays. `equal`: invests all, and divides the surplus so that both gain the same. `tough`: invests all, and asks for more
than half of the surplus, but for the last round."""
