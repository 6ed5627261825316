"""Principal and agent: a principal posts a contract, a worker delivers, and the principal scores what it got."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, cast

import numpy as np

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import Options, Rule, from_options, number, within
from ..core.rollout import random_bot
from ..core.turn_state import amount
from ..phases import Bots, ChoiceOf, Computed, End, Fact, Named, Number, Phase, PhaseGame, Seen, bot, make
from ..phases.fields import Answer, Field, put, seats_of
from ..phases.rules import begin_phase, go_back

PRINCIPAL, WORKER = range(2)
"""The seats."""
OFFER, CLARIFY, RESPOND, EXECUTE, VERIFY = range(5)
"""The phases."""
POST, SKIP, ASK, REPLY, ACCEPT, REJECT, DELIVER, SCORE = range(8)
"""The action types."""
ASKED, ANSWERED = range(2)
"""The facts: the numbers of questions and of answers."""
LEVELS = 4
"""The most levels of a contract. The parameters are their thresholds and payments, in turn."""
ALL = 0.999
"""The share of the answers, but for rounding, after which the worker responds."""
NEVER = 1e9
"""The threshold of a level that the contract does not have."""
OUTCOME_LEVELS = {"fail": (0.0, 0.0), "partial": (50.0, 3.0), "success": (80.0, 10.0)}
"""The levels of the platform: each with the least score and the payment."""
TERMS = {"task_description": "Do the task.", "success_criteria": "The task is done."}
QUESTION, ANSWER, DELIVERABLE = "What is the task?", "The task is as described.", "The task is done."


class PrincipalAgent(Options, frozen=True, kw_only=True):
    """The options of the game of a principal and its worker."""

    outcome_levels: Annotated[Mapping[str, Sequence[float]] | None, Rule(lambda _, value: levels_of(value))] = None
    """one to four levels by label: the least score, 0 to 100, and the payment, −1,000,000 to 1,000,000. The last level
    counts whose least score is reached, or else the first one. None: fail (0, 0), partial (50, 3), success (80, 10)."""
    max_clarify_rounds: Annotated[int, within(1, 8)] = 2
    """questions of the worker, {}."""
    scores: Annotated[int, within(2, 100)] = 100
    """number of scores that have an action index, evenly spaced from 1 to 100; {}."""
    rounds: Annotated[int, within(1, 1000)] = 1
    """number of games, one after the other, {}."""


@from_options(PrincipalAgent)
def game(given: PrincipalAgent) -> Game:
    """Return the game of a principal and its worker with these options."""
    levels = cast(dict[str, list[float]], given.outcome_levels)
    most = max(abs(payment) for _, payment in levels.values())
    questions = float(given.max_clarify_rounds)
    return make(
        PhaseGame(
            name="principal_agent",
            title="Principal and agent",
            options=given,
            phases=[
                Phase("offer", ("post_contract",), seats=(PRINCIPAL,), may_pass=False),
                Phase(
                    "clarify", ("skip_clarify", "ask_clarification", "answer_clarification"), turns=2, may_pass=False
                ),
                Phase("respond", ("accept_contract", "reject_contract"), seats=(WORKER,), may_pass=False),
                Phase("execute", ("submit_deliverable",), seats=(WORKER,), may_pass=False),
                Phase("verify", ("record_outcome_score",), seats=(PRINCIPAL,), may_pass=False),
            ],
            actions=[
                Named("post_contract", 1.0, "post the contract", texts=TERMS),
                Named("skip_clarify", 0.0, "end the questions and answers"),
                Named("ask_clarification", 1.0, "ask a question", texts={"question": QUESTION}),
                Named("answer_clarification", 2.0, "answer the question", texts={"answer": ANSWER}),
                Named("accept_contract", 1.0, "accept the contract"),
                Named("reject_contract", 0.0, "reject the contract: both get 0", words=("reason",)),
                Named("submit_deliverable", 1.0, "deliver", texts={"content": DELIVERABLE}),
                Number(
                    "record_outcome_score",
                    "score",
                    100.0,
                    given.scores,
                    "score what was delivered, which decides the payment",
                    lowest=1.0,
                    words=("notes",),
                ),
            ],
            parameters=_parameters(list(levels.values())),
            payoffs=(-most, most),
            pay=pay,
            early=answered,
            loops=True,
            follow=follow,
            facts=[Fact("asked", questions), Fact("answered", questions)],
            end=Ended(tuple(levels)),
            worth=worth,
            roles=("principal", "worker"),
            role_keys=("principal", "worker"),
            fields=[
                Computed("num_agents", seats_of),
                Contract("contract", tuple(levels)),
                Clarifications("clarifications"),
                Answer("accepted", RESPOND, WORKER),
                Deliverable("deliverable"),
                ChoiceOf("outcome_score", VERIFY, PRINCIPAL),
                Computed("outcome_label", Label(tuple(levels))),
                Computed("payment", _payment),
            ],
            bots=BOTS,
        )
    )


def levels_of(given: Mapping[str, Sequence[float]] | None) -> dict[str, list[float]]:
    """Return the checked levels of a contract, by label; None: those of the platform."""
    given = OUTCOME_LEVELS if given is None else given
    if not isinstance(given, Mapping) or not 1 <= len(given) <= LEVELS:
        raise ValueError(f"outcome_levels={given!r}: need 1 to {LEVELS} labels, each with a least score and a payment")
    levels = {}
    for label, level in given.items():
        if isinstance(level, str) or not isinstance(level, Sequence) or len(level) != 2:
            raise ValueError(f"outcome_levels: {label} is {level!r}: need the least score and the payment")
        score, payment = level
        name = f"outcome_levels: {label}"
        levels[str(label)] = [number(f"{name}, score", score, 0, 100), number(f"{name}, payment", payment, -1e6, 1e6)]
    return levels


def _parameters(levels: Sequence[Sequence[float]]) -> list[float]:
    """Return the thresholds and payments, in turn, filled up with levels that no score reaches."""
    filled = [*levels, *[(NEVER, 0.0)] * (LEVELS - len(levels))]
    return [part for level in filled for part in level]


@dataclass(frozen=True)
class Contract(Field):
    """The contract with its levels, or None. A host may send one to four levels with any labels."""

    labels: tuple[str, ...]

    def write(self, table: Any, seat: int) -> dict[str, Any] | None:
        """Return the contract; its texts are the standard ones, others are in the messages."""
        if not table.chosen[OFFER][PRINCIPAL]:
            return None
        levels = [
            {"label": label, "threshold": float(table.parameter[2 * k]), "payment": float(table.parameter[2 * k + 1])}
            for k, label in enumerate(self.labels)
        ]
        return {**TERMS, "outcome_levels": levels}

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write that there is a contract, and its levels."""
        if not isinstance(value, Mapping):
            return
        put(table, OFFER, PRINCIPAL, 1.0)
        levels = value.get("outcome_levels")
        if not isinstance(levels, list) or not levels:
            return
        if len(levels) > LEVELS or not all(isinstance(level, Mapping) for level in levels):
            raise ValueError(f"outcome_levels is {levels!r:.80}: need 1 to {LEVELS} levels")
        pairs = [(amount(one.get("threshold"), "threshold"), amount(one.get("payment"), "payment")) for one in levels]
        table.parameter[:] = _parameters(pairs)


class Clarifications(Field):
    """The questions, each with its answer or None."""

    def write(self, table: Any, seat: int) -> list[dict[str, str | None]]:
        """Return them; the texts are the standard ones, others are in the messages."""
        questions, answers = int(table.fact[ASKED]), int(table.fact[ANSWERED])
        return [{"question": QUESTION, "answer": ANSWER if k < answers else None} for k in range(questions)]

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write how many there are, and the question that waits for an answer."""
        rows = [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []
        table.fact[ASKED], table.fact[ANSWERED] = len(rows), sum(row.get("answer") is not None for row in rows)
        if table.phase == CLARIFY and table.fact[ASKED] > table.fact[ANSWERED]:
            put(table, CLARIFY, WORKER, 1.0)


class Deliverable(Field):
    """What was delivered, or None."""

    def write(self, table: Any, seat: int) -> str | None:
        """Return the standard text; another one is in the messages."""
        return DELIVERABLE if table.chosen[EXECUTE][WORKER] else None

    def read(self, table: Any, seat: int, value: Any, seats: Mapping[str, int]) -> None:
        """Write that something was delivered."""
        if value is not None:
            put(table, EXECUTE, WORKER, 1.0)


@compiled
def level_of(parameter: Any, score: float) -> int:
    """Return the index of the level that a score reaches: the last one, or else the first."""
    reached = 0
    for level in range(LEVELS):
        if score >= parameter[2 * level]:
            reached = level
    return reached


@compiled
def payment_of(parameter: Any, score: float) -> float:
    """Return the payment for a score."""
    return float(parameter[2 * level_of(parameter, score) + 1])


def _score(table: Any) -> float | None:
    return float(table.number[VERIFY][PRINCIPAL]) if table.chosen[VERIFY][PRINCIPAL] else None


def _payment(table: Any) -> float | None:
    score = _score(table)
    return None if score is None else float(payment_of(table.parameter, score))


@dataclass(frozen=True)
class Label:
    """Tells the label of the level that was reached, or None."""

    labels: tuple[str, ...]

    def __call__(self, table: Any) -> str | None:
        """Return it."""
        score = _score(table)
        return None if score is None else self.labels[level_of(table.parameter, score)]


@compiled
def follow(table: Any) -> None:
    """The worker asks, and the principal answers."""
    table.open[ASK] = table.turn == WORKER
    table.open[REPLY] = table.turn == PRINCIPAL


@compiled
def answered(table: Any) -> bool:
    """Lead the questions and answers, which the worker begins; a rejection ends the round."""
    if table.phase == CLARIFY:
        table.cycle = 0
        if table.chosen[CLARIFY, WORKER] == 0:
            table.turn = WORKER
        elif table.chosen[CLARIFY, WORKER] == 1 + SKIP:
            go_back(table, CLARIFY)
            begin_phase(table, RESPOND)
        else:
            table.fact[ASKED] += 1
    elif table.phase == RESPOND:
        replied = table.chosen[CLARIFY, PRINCIPAL] == 1 + REPLY
        table.fact[ANSWERED] += replied
        go_back(table, CLARIFY)
        if replied and table.fact[ANSWERED] * table.per_fact[ANSWERED] < ALL:
            table.turn = WORKER
        else:
            begin_phase(table, RESPOND)
    elif table.phase == EXECUTE and table.chosen[RESPOND, WORKER] == 1 + REJECT:
        table.phase = RESPOND
        return True
    return False


@compiled
def pay(table: Any) -> None:
    """The principal pays the worker what the contract says; after a rejection both get 0."""
    if table.chosen[RESPOND, WORKER] == 1 + REJECT:
        return
    payment = payment_of(table.parameter, table.number[VERIFY, PRINCIPAL])
    table.rewards[PRINCIPAL] = -payment
    table.rewards[WORKER] = payment


@dataclass(frozen=True)
class Ended:
    """Tells the end of a round in the platform's words."""

    labels: tuple[str, ...]

    def __call__(self, table: Any) -> End:
        """Return it."""
        if table.chosen[RESPOND][WORKER] == 1 + REJECT:
            return End("contract_rejected")
        label = Label(self.labels)(table)
        details = {"outcome_score": _score(table), "outcome_label": label, "payment": _payment(table)}
        return End(f"task_resolved_{label}", more=details)


def scores_by_payment(game: Game, parameters: Any) -> tuple[float, float]:
    """Return the least scores of the action indices with the lowest and with the highest payment.

    Args:
        game: the game of a principal and its worker.
        parameters: float64[P], the levels of the contract.
    """
    table = game.rules.blank[0]
    first, end = int(table.first[SCORE]), int(table.first[SCORE + 1])
    scores = [float(game.rules.decode(table, index).value) for index in range(first, end)]
    paid = [payment_of(parameters, score) for score in scores]
    return scores[int(np.argmin(paid))], scores[int(np.argmax(paid))]


def worth(table: Any, kind: int, numbers: Any) -> Any:
    """Return the lowest payment to a worker that accepts: the principal chooses it. Without a contract it gets 0."""
    if kind != ACCEPT:
        return np.inf
    return min(payment_of(table.parameter, float(score)) for score in range(1, 101))


def _play(seen: Seen, first: int, score: float, accepts: bool) -> Any:
    """Post a contract; `first` is the first action of the worker when questions may be asked."""
    works = seen.seat == WORKER
    phases = [
        np.full(len(works), POST),
        np.where(works, first, REPLY),
        np.full(len(works), ACCEPT if accepts else REJECT),
        np.full(len(works), DELIVER),
        np.full(len(works), SCORE),
    ]
    kinds = np.choose(seen.phase, phases)
    numbers = np.array([1.0, 0.0, 1.0, 2.0, 1.0, 0.0, 1.0, score])[kinds]
    return kinds, numbers


def _equilibrium(seen: Seen) -> Any:
    lowest, _ = scores_by_payment(seen.game, seen.parameters)
    return _play(seen, SKIP, lowest, payment_of(seen.parameters, lowest) >= 0)


def _generous(seen: Seen) -> Any:
    return _play(seen, SKIP, scores_by_payment(seen.game, seen.parameters)[1], accepts=True)


def _thorough(seen: Seen) -> Any:
    return _play(seen, ASK, 50.0, accepts=True)


BOTS: Bots = {
    "random": random_bot,
    "equilibrium": bot(_equilibrium),
    "generous": bot(_generous),
    "thorough": bot(_thorough),
}
"""`random`: any legal action. `equilibrium`: the principal gives the score with the lowest payment, and the worker
accepts if that is not below 0; this is subgame-perfect. `generous`: gives the score with the highest payment, and
accepts. `thorough`: asks and answers all questions, accepts, and gives a score of 50."""
