"""Ultimatum: one agent proposes a division, and all others need to accept it; or another proposes in its turn."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, Rule, from_options, within
from ..core.rollout import random_bot
from ..core.turn_state import amount
from ..phases import (
    Bots,
    Computed,
    End,
    Named,
    Number,
    Open,
    Parameter,
    Phase,
    PhaseGame,
    Private,
    Seen,
    StandingBy,
    bot,
    make,
)
from ..phases.fields import Field, Ranges, name_of, ranges, seats_of, stored

TOTAL, LOWEST, HIGHEST = range(3)
OFFER, ACCEPT, REJECT = range(3)
"""The action types besides `pass`."""


OF_THE_TOTAL = Rule(
    lambda option, value, seats, total: stored(ranges(option, (0.0, total / seats) if value is None else value, seats)),
    ("seats", "total"),
)


class Ultimatum(Options, frozen=True, kw_only=True):
    """The options of the ultimatum game."""

    seats: Annotated[int, within(2, 4)] = 2
    """number of agents, {}."""
    total: Annotated[float, within(0.01, 1e6)] = 100.0
    """what is divided, {}."""
    reservations: Annotated[Ranges | None, OF_THE_TOTAL] = None
    """the private reservation values, which are subtracted from the shares: uniform between a lowest and a highest
    value, one pair for all agents or a pair for each. None: from 0 to `total` / `seats`."""
    offers: Annotated[int, within(2, 256)] = 101
    """number of offers that have an action index: the proposer's share, evenly spaced from 0 to `total`, with equal
    parts of the rest for the others; {}. Other shares are played by their payload."""
    max_rounds: Annotated[int, within(1, 1000)] = 10
    """turns of each agent, {}. With 1 it is the classic game: the first agent proposes, and the others accept or not.
    If there is no agreement in time, all get 0."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}. The reservation values stay the same."""


@from_options(Ultimatum)
def game(given: Ultimatum) -> Game:
    """Return the ultimatum game with these options."""
    values = ranges("reservations", given.reservations, given.seats)
    opened = Open("offer", given.total, divides=True)
    others = values[1:]
    return make(
        PhaseGame(
            name="ultimatum",
            title="Ultimatum",
            options=given,
            phases=[Phase("negotiation", ("submit_offer", "accept", "reject"), turns=given.max_rounds, open=opened)],
            actions=[
                Number("submit_offer", "shares", given.total, given.offers, "propose these shares", shares=True),
                Named("accept", 0.0, "accept the offer; all but the proposer need to", "leave"),
                Named("reject", 0.0, "reject the offer: it stands, but nobody has accepted it any more", "recall"),
            ],
            parameters=[given.total, min(low for low, _ in others), max(high for _, high in others)],
            amounts=(TOTAL, LOWEST, HIGHEST),
            private=Private("my_reservation_value", values),
            payoffs=(-max(high for _, high in values), max(0.0, given.total - min(low for low, _ in values))),
            pay=pay,
            follow=follow,
            end=end,
            fields=[
                Computed("num_agents", seats_of),
                Parameter("total", TOTAL),
                StandingBy("last_offer_by"),
                Shares("current_offer"),
                Acceptances("acceptances"),
            ],
            worth=worth,
            bots=BOTS if _is_solved(given, others) else {name: BOTS[name] for name in BOTS if name != "equilibrium"},
        )
    )


def _is_solved(given: Ultimatum, others: Sequence[tuple[float, float]]) -> bool:
    """Return True if `equilibrium` is one: nobody learns another's value before the last offer."""
    fixed = all(low == high for low, high in others)
    return len(set(others)) == 1 and (fixed or given.max_rounds == given.rounds == 1)


def _division(table: Any) -> dict[str, float]:
    return {name_of(seat): float(table.number[0][seat]) for seat in range(int(table.seats))}


class Shares(Field):
    """The shares of the offer by agent, or None. It comes after the field of who made it."""

    def write(self, table: Any, seat: int) -> dict[str, float] | None:
        """Return the shares."""
        return _division(table) if table.owner >= 0 else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write the shares; without any, there is no offer to accept."""
        if not isinstance(value, Mapping):
            table.owner = -1
        if table.owner < 0:
            return
        for agent, share in value.items():
            if agent in seats:
                table.chosen[0, seats[agent]] = 1 + OFFER
                table.number[0, seats[agent]] = amount(share, self.name)
        table.standing = table.number[0, int(table.owner)]


class Acceptances(Field):
    """The agents that have accepted the offer, each with True."""

    def write(self, table: Any, seat: int) -> dict[str, bool]:
        """Return them."""
        return {name_of(other): True for other in range(int(table.seats)) if not (int(table.within) >> other) & 1}

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write that they have accepted."""
        for agent, accepted in value.items() if isinstance(value, Mapping) else ():
            if agent in seats and accepted is True:
                table.within &= ~(1 << seats[agent])


@compiled
def follow(table: Any) -> None:
    """Nobody accepts its own offer, and without an offer there is nothing to answer."""
    table.most[OFFER] = table.parameter[TOTAL]
    table.open[ACCEPT] = table.owner >= 0 and table.owner != table.turn
    table.open[REJECT] = table.owner >= 0


@compiled
def pay(table: Any) -> None:
    """Give each its share less its reservation value."""
    for seat in range(table.seats):
        table.rewards[seat] = table.number[0, seat] - table.private[seat]


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return the own share less the reservation value: without an agreement there is nothing."""
    own = float(table.private[table.turn])
    return {OFFER: numbers - own, ACCEPT: float(table.number[0, table.turn]) - own}.get(kind, np.inf)


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    split = _division(table)
    return End("agreement", [{"share": share} for share in split.values()], {"split": split})


def best_demand(seats: int, total: float, own: Any, lowest: float, highest: float) -> Any:
    """Return the share that the only proposer of a division asks for, in the shape of `own`.

    The n − 1 others accept a share s if it is not below their reservation values, which are uniform from `lowest` to
    `highest`. The proposer, whose value is `own`, maximises
    (total − (n − 1) s − own) · ((s − lowest) / (highest − lowest))^(n−1), so s = (total − own + lowest) / n, at most
    `highest`.
    """
    offer = np.clip((total - own + lowest) / seats, lowest, highest)
    return np.maximum(total - (seats - 1) * offer, own)


def _mine(seen: Seen) -> Any:
    """Return the own share of the offer, float64[N]; 0 without an offer."""
    return seen.number[:, 0, 0]


def _answer(seen: Seen, wanted: Any, least: Any) -> Any:
    """Accept an offer of at least `least`, else offer to keep `wanted`, both float64[N]."""
    offered = seen.owner.any(axis=1) & ~seen.owner[:, 0]
    gap = float(seen.game.rules.blank[0].gap[OFFER])
    kept = np.floor(np.clip(wanted, 0.0, seen.parameter(TOTAL)) / gap + 1e-6) * gap
    return np.where(offered & (_mine(seen) >= least - 1e-4), ACCEPT, OFFER), kept


def _equilibrium(seen: Seen) -> Any:
    first = seen.seat == 0
    seats = seen.game.seats
    demand = best_demand(seats, seen.parameter(TOTAL), seen.private, seen.parameter(LOWEST), seen.parameter(HIGHEST))
    kinds, kept = _answer(seen, demand, np.where(first, demand, seen.private))
    offered = seen.owner.any(axis=1) & ~seen.owner[:, 0]
    silent = np.where(offered, REJECT, REJECT + 1)  # the others leave the last offer to the first seat
    return np.where(~first & (kinds == OFFER), silent, kinds), kept


def _equal(seen: Seen) -> Any:
    part = np.full(len(seen.seat), seen.parameter(TOTAL) / seen.game.seats)
    return _answer(seen, part, np.maximum(part, seen.private))


def _concede(seen: Seen) -> Any:
    """Ask for everything at first and for what is just worth it at last, in equal steps."""
    rounds = seen.game.options["max_rounds"]
    left = (seen.turns_left - 1 / rounds) * rounds / max(rounds - 1, 1)
    wanted = seen.private + (seen.parameter(TOTAL) - seen.private) * left
    return _answer(seen, wanted, np.maximum(wanted, seen.private))


BOTS: Bots = {"random": random_bot, "equilibrium": bot(_equilibrium), "equal": bot(_equal), "concede": bot(_concede)}
"""`random`: any legal action. `equilibrium`: the first seat always makes the best offer of the last round
(`best_demand`), and the others accept what is worth it to them. This is subgame-perfect with ``max_rounds=1``, and with
known reservation values of the others; it is there for these options, if the others' values have the same range.
`equal`: wants equal shares, and not less than its reservation value. `concede`: asks for everything at first, and for
its reservation value at last."""
