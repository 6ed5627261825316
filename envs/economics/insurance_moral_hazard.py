"""Insurance with moral hazard: an insurer offers a contract, the insured accepts it and chooses a hidden effort."""

from collections.abc import Mapping
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
from ..phases.fields import PARAMETER, Answer, Field, HiddenWord, is_resolved, parameters_of, put, seats_of
from ..phases.rules import decode, go_back

OFFER, ACCEPT, REJECT, LITTLE, MUCH, WAIT = range(6)
"""The action types; the last one is `pass`."""
IN_GOOD, IN_BAD, OFFERS, STATE = range(4)
"""The facts: both transfers, the number of offers, and the state."""
STATES = ("unknown", "bad", "good")
EFFORTS = ("low", "high")
TERMS = ("premium", "transfer_good", "transfer_bad")


HIGHEST = Rule(
    lambda option, value, *amounts: number(option, max(*amounts, 1.0) if value is None else value, 0.01, 1e6),
    ("base_income", "loss"),
    (0.01, 1e6),
)


class Insurance(Options, frozen=True, kw_only=True):
    """The options of insurance with moral hazard."""

    base_income: Annotated[float, within(0, 1e6), PARAMETER] = 10.0
    """what the insured earns, {}."""
    loss: Annotated[float, within(0, 1e6), PARAMETER] = 10.0
    """what it loses in the bad state, {}."""
    effort_cost: Annotated[float, within(0, 1e6), PARAMETER] = 1.0
    """the cost of high effort, {}."""
    p_good_low_effort: Annotated[float, within(0, 1), PARAMETER] = 0.6
    """the probability of the good state with low effort, {}."""
    p_good_high_effort: Annotated[float, within(0, 1), PARAMETER] = 0.8
    """the same with high effort."""
    highest: Annotated[float | None, HIGHEST] = None
    """the highest premium and the highest transfer, {}. None: the larger one of `base_income` and `loss`, and at least
    1."""
    premiums: Annotated[int, within(2, 64)] = 11
    """number of premiums that have an action index, evenly spaced from 0 to `highest`; {}."""
    transfers: Annotated[int, within(2, 16)] = 6
    """number of transfers that have an action index, in each state; {}."""
    max_rounds: Annotated[int, within(1, 1000)] = 3
    """the most offers, and the turns of the insurer for each offer; {}."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


AT, PARAMETERS = parameters_of(Insurance)


@from_options(Insurance)
def game(given: Insurance) -> Game:
    """Return insurance with moral hazard with these options."""
    highest = cast(float, given.highest)
    further = tuple(Further(key, highest, given.transfers) for key in TERMS[1:])
    return make(
        PhaseGame(
            name="insurance_moral_hazard",
            title="Insurance with moral hazard",
            options=given,
            phases=[
                Phase("offer_contract", ("offer",), seats=(0,), turns=given.max_rounds),
                Phase("accept_contract", ("accept", "reject"), seats=(1,), may_pass=False),
                Phase("choose_effort", ("choose_effort",), seats=(1,), sealed=True, may_pass=False),
            ],
            actions=[
                Number("offer", TERMS[0], highest, given.premiums, "offer this contract", further=further),
                Named("accept", 1.0, "accept the contract"),
                Named("reject", 0.0, "reject the contract"),
                Named("choose_effort", 0.0, "choose the hidden effort", says={"effort": "low"}),
                Named("choose_effort", 1.0, "choose the hidden effort", says={"effort": "high"}),
            ],
            amounts=(AT.base_income, AT.loss, AT.effort_cost),
            payoffs=(
                min(-highest, given.base_income - given.loss - highest - given.effort_cost),
                max(highest, given.base_income + highest),
            ),
            odds=odds,
            pay=pay,
            early=answered,
            loops=True,
            facts=[
                *(Fact(one.key, one.highest, amount=True) for one in further),
                Fact("offers", float(given.max_rounds)),
                Fact("state", 2.0, STATES),
            ],
            end=end,
            roles=("insurer", "insured"),
            role_keys=("insurer", "insured"),
            fields=[
                Computed("num_agents", seats_of),
                *PARAMETERS,
                Contract("contract"),
                Answer("accepted", 1, 1),
                FactOf("state_realized", STATE, STATES),
                FactOf("offer_count", OFFERS),
                Computed("resolved", is_resolved),
                HiddenWord("effort", 2, 1, EFFORTS, STATE),
            ],
            worth=worth,
            bots=BOTS,
        )
    )


class Contract(Field):
    """The offered contract, or None.

    A contract with a negative number is read as the one with the same payments whose numbers are not negative.
    """

    def write(self, table: Any, seat: int) -> dict[str, float] | None:
        """Return its terms."""
        numbers = (float(table.number[0][0]), float(table.fact[IN_GOOD]), float(table.fact[IN_BAD]))
        return dict(zip(TERMS, numbers, strict=True)) if table.chosen[0][0] else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write its terms."""
        if isinstance(value, Mapping):
            numbers = [amount(value.get(key), key) for key in TERMS]
            least = max(0.0, -min(numbers))
            put(table, 0, 0, numbers[0] + least)
            table.fact[IN_GOOD], table.fact[IN_BAD] = numbers[1] + least, numbers[2] + least


@compiled
def answered(table: Any) -> bool:
    """Count the offers; after a rejection the insurer may offer again, or the round is over."""
    if table.phase == 1:
        table.fact[OFFERS] += 1
    elif table.phase == 2 and table.chosen[1, 1] == 1 + REJECT:
        if table.fact[OFFERS] >= table.limit[0]:
            table.phase = 1
            return True
        table.fact[IN_GOOD] = 0.0
        table.fact[IN_BAD] = 0.0
        go_back(table, 0)
    return False


@compiled
def odds(table: Any) -> float:
    """Return the probability of the good state; without a contract there is none."""
    if table.chosen[1, 1] == 1 + REJECT:
        return -1.0
    return float(table.parameter[AT.p_good_high_effort if table.number[2, 1] > 0 else AT.p_good_low_effort])


@compiled
def pay(table: Any) -> None:
    """Pay what the contract says for the state; without a contract both get 0."""
    if table.chosen[1, 1] == 1 + REJECT:
        return
    effort, good = table.number[2, 1], table.event
    table.fact[STATE] = 2.0 if good else 1.0
    paid = table.number[0, 0] - (table.fact[IN_GOOD] if good else table.fact[IN_BAD])
    table.rewards[0] = paid
    suffered = 0.0 if good else table.parameter[AT.loss]
    table.rewards[1] = table.parameter[AT.base_income] - suffered - paid - table.parameter[AT.effort_cost] * effort


def end(table: Any) -> End:
    """Return the end in the platform's words."""
    if table.chosen[1][1] == 1 + REJECT:
        return End("insurance_rejected")
    state = STATES[int(table.fact[STATE])]
    return End(
        "insurance_resolved",
        more={
            "effort": EFFORTS[int(table.number[2][1])],
            "state_realized": state,
            "transfer": float(table.fact[IN_GOOD if state == "good" else IN_BAD]),
            "premium": float(table.number[0][0]),
        },
    )


class Values(NamedTuple):
    """What contracts are worth if the insured chooses its best effort; the high one, if both are as good.

    Attributes:
        insurer: float64[N], the insurer's expected utility.
        insured: float64[N], the insured's.
        high: bool[N], whether the effort is high.
    """

    insurer: NDArray[np.float64]
    insured: NDArray[np.float64]
    high: NDArray[np.bool_]


CLOSE = 1e-4
"""A difference of utilities that is rounding in an observation."""


def values_of(parameter: NDArray[np.float64], contracts: NDArray[np.float64]) -> Values:
    """Return the values of contracts, float64[N, 3]. The columns are the premium and both transfers.

    `parameter`: float64[P], the numbers that the payoffs depend on.
    """
    premium, in_good, in_bad = contracts.T
    chances = parameter[AT.p_good_low_effort], parameter[AT.p_good_high_effort]
    transfer = [p * in_good + (1 - p) * in_bad for p in chances]
    earned = [parameter[AT.base_income] - (1 - p) * parameter[AT.loss] for p in chances]
    low = earned[0] + transfer[0] - premium
    high = earned[1] + transfer[1] - premium - parameter[AT.effort_cost]
    works = high >= low - CLOSE
    return Values(premium - np.where(works, transfer[1], transfer[0]), np.where(works, high, low), works)


def contracts_of(table: Any) -> NDArray[np.float64]:
    """Return the contracts that have an action index, in the amounts of a table, float64[N, 3]."""
    moves = [decode(table, index) for index in range(int(table.first[ACCEPT]))]
    return np.array([(move.value, move.second, move.third) for move in moves])


def best_contract(game: Game, parameter: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the contract of the insurer's highest expected utility that the insured accepts: float64[3].

    This is subgame-perfect: the insured's effort is its best one, and it accepts what is worth 0 or more, because
    without a contract it gets 0, now and after further offers. The lowest premium is taken if several are as good. If
    every contract that is accepted is a loss for the insurer, it is the one without payments, which is then rejected.

    Args:
        game: the game, whose grid has the contracts.
        parameter: float64[P], the numbers that the payoffs depend on; None: those of the game.
    """
    contracts = contracts_of(game.rules.blank[0])
    worth = values_of(game.rules.blank[0].parameter if parameter is None else parameter, contracts)
    profit = np.where((worth.insured >= -CLOSE) & (worth.insurer >= -CLOSE), worth.insurer, -np.inf)
    return np.asarray(contracts[int(np.argmax(np.round(profit, 6)))])


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return the value of contracts for the insurer, and of the offered one for the insured that accepts it; without
    a contract both get 0."""
    if kind == OFFER:
        return values_of(table.parameter, contracts_of(table)).insurer
    if kind != ACCEPT:
        return np.inf
    offered = np.array([[table.number[0, 0], table.fact[IN_GOOD], table.fact[IN_BAD]]], np.float64)
    return float(values_of(table.parameter, offered).insured[0])


def _play(seen: Seen, contract: NDArray[np.float64], least: Any) -> Any:
    """Offer `contract`; accept what is worth `least`, float64[N]; choose the best effort."""
    offered = np.stack([seen.number[:, 0, 1], seen.facts[:, IN_GOOD], seen.facts[:, IN_BAD]], axis=1)
    worth = values_of(seen.parameters, offered)
    accepts = worth.insured >= least - CLOSE
    answer = np.where(accepts, ACCEPT, REJECT)
    kinds = np.choose(seen.phase, [np.full(len(answer), OFFER), answer, np.where(worth.high, MUCH, LITTLE)])
    numbers = np.choose(seen.phase, [np.full(len(answer), contract[0]), accepts * 1.0, worth.high * 1.0])
    return kinds, numbers, np.tile(contract[1:], (len(answer), 1))


def _equilibrium(seen: Seen) -> Any:
    return _play(seen, best_contract(seen.game, seen.parameters), 0.0)


def _equal(seen: Seen) -> Any:
    contracts = contracts_of(seen.game.rules.blank[0])
    worth = values_of(seen.parameters, contracts)
    both = worth.insurer + worth.insured
    distance = np.where(both >= both.max() - CLOSE, np.abs(worth.insurer - worth.insured), np.inf)
    fair = int(np.argmin(np.round(distance, 6)))
    return _play(seen, contracts[fair], min(float(worth.insured[fair]), float(both.max()) / 2))


def _full_cover(seen: Seen) -> Any:
    contracts = contracts_of(seen.game.rules.blank[0])
    loss = np.abs(contracts[:, 2] - contracts[:, 1] - seen.parameter(AT.loss))
    worth = values_of(seen.parameters, contracts)
    paid = np.where(worth.insurer >= -CLOSE, worth.insurer, np.inf)
    covers = np.where(np.isclose(loss, loss[np.isfinite(paid)].min()), paid, np.inf)
    return _play(seen, contracts[int(np.argmin(np.round(covers, 6)))], 0.0)


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "equal": bot(_equal),
    "full_cover": bot(_full_cover),
}
"""`random`: any legal action. `equilibrium`: subgame-perfect, on the grid of contracts. `equal`: offers the efficient
contract that divides the utility most equally, and accepts no less. `full_cover`: offers to cover the loss as far as
the grid allows, for a premium without a loss to the insurer; then effort does not pay. All insured choose their best
effort."""
