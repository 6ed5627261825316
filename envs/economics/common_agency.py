"""Common agency: several principals offer wages to one agent, which accepts all or none and chooses a hidden effort."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, Rule, from_options, number, within
from ..core.rollout import random_bot
from ..core.turn_state import amount
from ..phases import (
    Bots,
    Computed,
    End,
    Fact,
    FactOf,
    Further,
    Named,
    Number,
    Phase,
    PhaseGame,
    Seen,
    bot,
    make,
)
from ..phases.fields import PARAMETER, Answer, Field, HiddenWord, is_resolved, name_of, parameters_of, put

OFFER, ACCEPT, REJECT, LITTLE, MUCH = range(5)
"""The action types."""
OFFERS, BUNDLE, EFFORT = range(3)
"""The phases."""
OUTCOMES = ("unknown", "low", "high")
WORDS = ("low", "high")
DECIMALS = 4
"""Of the utilities, and of what the platform tells of the contracts."""


HIGHEST = Rule(
    lambda option, value, *benefits: number(option, max(*benefits, 1.0) if value is None else value, 0.01, 1e6),
    ("benefit_low", "benefit_high"),
    (0.01, 1e6),
)


class CommonAgency(Options, frozen=True, kw_only=True):
    """The options of common agency."""

    seats: Annotated[int, within(3, 4)] = 3
    """the principals and the agent, which is the last one; 3 or 4."""
    benefit_low: Annotated[float, within(0, 1e6), PARAMETER] = 0.0
    """what each principal gets from the low outcome, {}."""
    benefit_high: Annotated[float, within(0, 1e6), PARAMETER] = 10.0
    """what each gets from the high outcome, {}."""
    effort_cost: Annotated[float, within(0, 1e6), PARAMETER] = 1.0
    """the agent's cost of high effort, {}."""
    p_high_low_effort: Annotated[float, within(0, 1), PARAMETER] = 0.4
    """the probability of the high outcome with low effort, {}."""
    p_high_high_effort: Annotated[float, within(0, 1), PARAMETER] = 0.7
    """the same with high effort."""
    highest: Annotated[float | None, HIGHEST] = None
    """the highest wage, {}. None: the larger benefit, and at least 1."""
    low_wages: Annotated[int, within(2, 16)] = 6
    """number of wages for the low outcome that have an action index, evenly spaced from 0 to `highest`, {}."""
    high_wages: Annotated[int, within(2, 64)] = 21
    """the same for the high outcome, {}."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, PARAMETERS = parameters_of(CommonAgency)


@from_options(CommonAgency)
def game(given: CommonAgency) -> Game:
    """Return common agency with these options."""
    highest = cast(float, given.highest)
    principals, agent = tuple(range(given.seats - 1)), given.seats - 1
    return make(
        PhaseGame(
            name="common_agency",
            title="Common agency",
            options=given,
            phases=[
                Phase("offer_contracts", ("offer_contract",), seats=principals, may_pass=False),
                Phase("accept_bundle", ("accept_bundle", "reject_all"), seats=(agent,), may_pass=False),
                Phase("choose_effort", ("choose_effort",), seats=(agent,), sealed=True, may_pass=False),
            ],
            actions=[
                Number(
                    "offer_contract",
                    "w_low",
                    highest,
                    given.low_wages,
                    "offer these wages for the low and the high outcome",
                    further=(Further("w_high", highest, given.high_wages),),
                ),
                Named("accept_bundle", 1.0, "accept all contracts"),
                Named("reject_all", 0.0, "reject all contracts: everybody gets 0"),
                Named("choose_effort", 0.0, "choose the hidden effort", says={"effort": "low"}),
                Named("choose_effort", 1.0, "choose the hidden effort", says={"effort": "high"}),
            ],
            amounts=(AT.benefit_high, AT.benefit_low, AT.effort_cost),
            payoffs=(
                min(0.0, given.benefit_low - highest, given.benefit_high - highest, -given.effort_cost),
                max(given.benefit_low, given.benefit_high, highest * len(principals)),
            ),
            odds=odds,
            pay=pay,
            early=rejected,
            facts=[
                *(Fact(f"w_high_{seat}", highest, amount=True) for seat in principals),
                Fact("outcome", 2.0, OUTCOMES),
            ],
            end=end,
            roles=("principal",) * len(principals) + ("agent",),
            role_keys=("principal_ids",) * len(principals) + ("agent_id",),
            fields=[
                Contracts("contracts"),
                Answer("accepted", BUNDLE, agent),
                FactOf("outcome", len(principals), OUTCOMES),
                HiddenWord("effort", EFFORT, agent, WORDS, agent),
                Computed("all_principals_offered", _all_offered),
                Computed("total_w_low", _total_low),
                Computed("total_w_high", _total_high),
                Computed("exp_payoff_low_effort", partial(expected, high=False)),
                Computed("exp_payoff_high_effort", partial(expected, high=True)),
                *PARAMETERS,
                Computed("resolved", is_resolved),
            ],
            bots=BOTS,
            decimals=DECIMALS,
        )
    )


def wages(table: Any) -> tuple[float, float]:
    """Return the sums of the offered wages for the low and for the high outcome."""
    offered = [seat for seat in range(int(table.seats) - 1) if table.chosen[OFFERS][seat]]
    return sum(float(table.number[OFFERS][seat]) for seat in offered), sum(float(table.fact[seat]) for seat in offered)


def _total_low(table: Any) -> int | float:
    return wages(table)[0]


def _total_high(table: Any) -> int | float:
    return wages(table)[1]


def expected(table: Any, high: bool) -> float:
    """Return the agent's expected utility of an effort with the contracts that are offered."""
    chance, (low_wage, high_wage) = (
        float(table.parameter[AT.p_high_high_effort if high else AT.p_high_low_effort]),
        wages(table),
    )
    cost = float(table.parameter[AT.effort_cost]) if high else 0.0
    return round(chance * high_wage + (1 - chance) * low_wage - cost, DECIMALS)


def _all_offered(table: Any) -> bool:
    return all(bool(table.chosen[OFFERS][seat]) for seat in range(int(table.seats) - 1))


class Contracts(Field):
    """The offered contracts by principal."""

    def write(self, table: Any, seat: int) -> dict[str, dict[str, float]]:
        """Return their wages."""
        return {
            name_of(other): {"w_low": float(table.number[OFFERS][other]), "w_high": float(table.fact[other])}
            for other in range(int(table.seats) - 1)
            if table.chosen[OFFERS][other]
        }

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write their wages."""
        for agent, contract in value.items() if isinstance(value, Mapping) else ():
            if seats.get(agent, table.seats - 1) < table.seats - 1 and isinstance(contract, Mapping):
                put(table, OFFERS, seats[agent], amount(contract.get("w_low"), "w_low"))
                table.fact[seats[agent]] = amount(contract.get("w_high"), "w_high")


@compiled
def rejected(table: Any) -> bool:
    """Return True if the agent has just rejected the contracts, which ends the round."""
    if table.phase == EFFORT and table.chosen[BUNDLE, table.seats - 1] == 1 + REJECT:
        table.phase = BUNDLE
        return True
    return False


@compiled
def odds(table: Any) -> float:
    """Return the probability of the high outcome; without an agreement there is none."""
    agent = table.seats - 1
    if table.chosen[BUNDLE, agent] == 1 + REJECT:
        return -1.0
    return float(table.parameter[AT.p_high_high_effort if table.number[EFFORT, agent] > 0 else AT.p_high_low_effort])


@compiled
def pay(table: Any) -> None:
    """Pay the wages for the outcome; without an agreement all get 0."""
    agent = table.seats - 1
    if table.chosen[BUNDLE, agent] == 1 + REJECT:
        return
    effort, high = table.number[EFFORT, agent], table.event
    table.fact[agent] = 2.0 if high else 1.0
    table.rewards[agent] = -table.parameter[AT.effort_cost] * effort
    for seat in range(agent):
        wage = table.fact[seat] if high else table.number[OFFERS, seat]
        table.rewards[seat] = table.parameter[AT.benefit_high if high else AT.benefit_low] - wage
        table.rewards[agent] += wage


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    agent = int(table.seats) - 1
    rows = [{"role": "principal"}] * agent + [{"role": "agent"}]
    if table.chosen[BUNDLE][agent] == 1 + REJECT:
        return End("common_agency_rejected")
    details = {
        "outcome": OUTCOMES[int(table.fact[agent])],
        "effort": WORDS[int(table.number[EFFORT][agent])],
        "contracts": Contracts("contracts").write(table, -1),
    }
    return End("common_agency_resolved", rows, details)


class Terms(NamedTuple):
    """What follows from the parameters.

    Attributes:
        needed: the sum of the differences w_high − w_low from which on high effort is the best one; infinity: it never
            is.
        worth: the highest w_high that a principal would pay for high effort.
    """

    needed: float
    worth: float


def terms_of(parameter: Any) -> Terms:
    """Return the requirements of high effort and its value to a principal, by the parameters, float64[P]."""
    effect = float(parameter[AT.p_high_high_effort] - parameter[AT.p_high_low_effort])
    if effect <= 0:
        return Terms(float("inf"), 0.0)
    gain = float(parameter[AT.benefit_high] - parameter[AT.benefit_low])
    return Terms(float(parameter[AT.effort_cost]) / effect, effect * gain / float(parameter[AT.p_high_high_effort]))


def best_wage(game: Game, parameter: Any, seat: Any, offered: Any) -> NDArray[np.float64]:
    """Return the best w_high of principals, in whole steps of the grid; their best w_low is 0.

    By backward induction over the offers, which are made in turn and seen by all: every later principal pays up to what
    high effort is worth to it, so one pays only what they leave, if that is worth it. If high effort cannot be reached,
    all offer 0.

    Args:
        game: common agency.
        parameter: float64[P], the numbers that the payoffs depend on.
        seat: int64[N], the principals.
        offered: float64[N], the sum of the differences w_high − w_low of the earlier offers.
    """
    terms, table = terms_of(parameter), game.rules.blank[0]
    if not np.isfinite(terms.needed):
        return np.zeros(len(seat))
    step = float(table.further_gap[0])
    most = min(np.floor(terms.worth / step + CLOSE), float(table.further_points[0]) - 1)
    steps = np.ceil((terms.needed - offered) / step - CLOSE) - most * (game.seats - 2 - seat)
    return np.where((steps > 0) & (steps <= most), steps * step, 0.0)


CLOSE = 1e-4
"""A difference that is rounding in an observation."""


def _contracts(seen: Seen) -> tuple[Any, Any]:
    """Return the sums of the offered wages for both outcomes, float64[N]."""
    principals = seen.game.seats - 1
    by_seat = (np.arange(principals) - seen.seat[:, None]) % seen.game.seats
    low = np.take_along_axis(seen.number[:, OFFERS], by_seat, axis=1).sum(axis=1)
    return low, seen.facts[:, :principals].sum(axis=1)


def _play(seen: Seen, wage: Any) -> Any:
    """Offer `wage`, float64[N], for the high outcome alone; accept what is worth 0 or more; choose the best effort."""
    low, high = _contracts(seen)
    effect = seen.parameter(AT.p_high_high_effort) - seen.parameter(AT.p_high_low_effort)
    works = effect * (high - low) >= seen.parameter(AT.effort_cost) - CLOSE
    chance = np.where(works, seen.parameter(AT.p_high_high_effort), seen.parameter(AT.p_high_low_effort))
    worth = chance * high + (1 - chance) * low - works * seen.parameter(AT.effort_cost)
    answer = np.where(worth >= -CLOSE, ACCEPT, REJECT)
    kinds = np.choose(seen.phase, [np.full(len(low), OFFER), answer, np.where(works, MUCH, LITTLE)])
    numbers = np.choose(seen.phase, [low * 0.0, answer == ACCEPT, works * 1.0])
    return kinds, numbers, np.stack([wage, wage * 0.0], axis=1)


def _equilibrium(seen: Seen) -> Any:
    low, high = _contracts(seen)
    return _play(seen, best_wage(seen.game, seen.parameters, seen.seat, high - low))


def _equal(seen: Seen) -> Any:
    needed = min(terms_of(seen.parameters).needed / (seen.game.seats - 1), float(seen.game.options["highest"]))
    step = float(seen.game.rules.blank[0].further_gap[0])
    return _play(seen, np.full(len(seen.seat), np.ceil(needed / step - CLOSE) * step))


def _free_rider(seen: Seen) -> Any:
    return _play(seen, np.zeros(len(seen.seat)))


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "equal": bot(_equal),
    "free_rider": bot(_free_rider),
}
"""`random`: any legal action. `equilibrium`: subgame-perfect, on the grid of wages (`best_wage`). `equal`: each
principal offers an equal part of what high effort needs. `free_rider`: offers nothing. All agents choose their best
effort, and accept what is then worth 0 or more."""
