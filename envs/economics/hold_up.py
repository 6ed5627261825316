"""The hold-up game: two seats invest, and then bargain over what comes of both investments."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.game_state import amount
from ..core.options import number, whole
from ..core.rollout import random_bot
from ..phases import (
    Bots,
    Choices,
    Computed,
    End,
    Named,
    Number,
    Open,
    Parameter,
    Phase,
    PhaseGame,
    Seen,
    StandingBy,
    bot,
    make,
)
from ..phases.fields import Field, is_resolved, name_of, own, seats_of
from ..phases.rules import cents, sum_of

COST, BASE, MULTIPLIER = range(3)
INVEST, ACCEPT, OFFER, REJECT, WAIT = range(5)
"""The action types; the last one is `pass`."""


def game(
    *,
    investment_cost: float = 1.0,
    surplus_base: float = 0.0,
    surplus_multiplier: float = 3.0,
    highest: float = 10.0,
    investments: int = 11,
    splits: int = 61,
    max_rounds: int = 5,
    rounds: int = 1,
) -> Game:
    """Return the hold-up game with these options.

    Args:
        investment_cost: the cost of a unit that is invested, 0 to 1,000.
        surplus_base: the surplus without investments, 0 to 1,000,000.
        surplus_multiplier: what a unit that is invested adds to the surplus, 0.001 to 1,000.
        highest: the highest investment, 0.01 to 1,000.
        investments: number of investments that have an action index, evenly spaced from 0 to `highest`; 2 to 256.
        splits: number of shares that have an action index: the proposer's, evenly spaced from 0 to the highest surplus;
            2 to 256. Those above the surplus are illegal.
        max_rounds: turns of each seat to bargain, 2 to 1,000, and one more than its turns to invest.
        rounds: number of games, one after the other, 1 to 1,000.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    highest = number("highest", highest, 0.01, 1000)
    options: dict[str, Any] = {
        "investment_cost": number("investment_cost", investment_cost, 0, 1000),
        "surplus_base": number("surplus_base", surplus_base, 0, 1e6),
        "surplus_multiplier": number("surplus_multiplier", surplus_multiplier, 0.001, 1000),
        "highest": highest,
        "investments": whole("investments", investments, 2, 256),
        "splits": whole("splits", splits, 2, 256),
        "max_rounds": whole("max_rounds", max_rounds, 2, 1000),
        "rounds": whole("rounds", rounds, 1, 1000),
    }
    cost, base, multiplier = (options[key] for key in ("investment_cost", "surplus_base", "surplus_multiplier"))
    most, turns = round(base + 2 * multiplier * highest, 2), options["max_rounds"]
    return make(
        PhaseGame(
            name="hold_up",
            title="Hold-up",
            seats=2,
            options=options,
            phases=[
                Phase("invest", ("invest",), turns=turns - 1, forced=True),
                Phase("bargain", ("accept", "make_offer", "reject"), turns=turns, open=Open("share", most)),
            ],
            actions=[
                Number("invest", "amount", highest, options["investments"], "invest this amount, once"),
                Named("accept", 1.0, "accept the other's offer", "close"),
                Number("make_offer", "split", most, options["splits"], "offer this split of the surplus", shares=True),
                Named("reject", 0.0, "reject the offer", "clear"),
            ],
            parameters=[cost, base, multiplier],
            amounts=(BASE,),
            payoffs=(-cost * highest, most),
            pay=pay,
            follow=follow,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                Parameter("investment_cost", COST),
                Parameter("surplus_base", BASE),
                Parameter("surplus_multiplier", MULTIPLIER),
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
            added = table.parameter[MULTIPLIER] * sum_of(table, 0)
            table.parameter[BASE] = amount(value, self.name) - added


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
    table.most[OFFER] = cents(table.parameter[BASE] + table.parameter[MULTIPLIER] * sum_of(table, 0))
    table.open[ACCEPT] = table.owner >= 0 and table.owner != table.turn
    table.open[REJECT] = table.owner >= 0 and not last
    table.open[WAIT] = not last


@compiled
def pay(table: Any) -> None:
    """Give each its share of the surplus less the cost of its investment."""
    for seat in range(2):
        share = table.standing if seat == table.owner else table.most[OFFER] - table.standing
        table.rewards[seat] = share - table.parameter[COST] * table.number[0, seat]


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return the own share less the cost of the own investment, which is not paid without an agreement."""
    cost = float(table.parameter[COST] * table.number[0, table.turn])
    return {ACCEPT: float(table.most[OFFER] - table.standing) - cost, OFFER: numbers - cost}.get(kind, np.inf)


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    split = _split(table)
    invested = {name_of(seat): float(table.number[0][seat]) for seat in range(2)}
    rows = [{"share": split[agent], "investment": invested[agent]} for agent in split]
    more = {"investments": invested, "surplus": float(table.most[OFFER]), "final_offer": split}
    return End("hold_up_agreement", rows, more)


def _paid(seen: Seen, seat: int) -> Any:
    """Return the cost of a relative seat's investment, float64[N]."""
    return seen.parameter(COST) * seen.number[:, 0, seat]


def _total(seen: Seen) -> Any:
    both = seen.number[:, 0, 0] + seen.number[:, 0, 1]
    return seen.parameter(BASE) + seen.parameter(MULTIPLIER) * both


def _bargain(seen: Seen, invested: Any, wanted: Any) -> Any:
    """Invest; then offer to keep `wanted`, float64[N], and accept an offer that gives as much."""
    surplus = _total(seen)
    gap = float(seen.game.rules.blank[0].gap[OFFER])
    kept = np.floor(np.clip(wanted, 0.0, surplus) / gap + 1e-6) * gap
    fits = seen.owner[:, 1] & (surplus - seen.standing >= wanted - 1e-4)
    kinds = np.where(seen.phase == 0, INVEST, np.where(fits, ACCEPT, OFFER))
    return kinds, np.where(seen.phase == 0, invested, kept)


def _equilibrium(seen: Seen) -> Any:
    most = seen.game.options["highest"] if seen.parameter(MULTIPLIER) > seen.parameter(COST) else 0.0
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
