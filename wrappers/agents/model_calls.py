"""Calls of a language model: what was wrong with an answer, and what they cost."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from .prompt import Chat

Fault = Literal["illegal", "unparsable", "unfinished", "late", "refused", "failed"]
"""What is wrong with an answer: it is not legal; there is no choice in it; it ended at the most tokens, or has only a
thought; there is none in time; the model refuses; the endpoint fails."""

COLUMNS = {
    "decisions": "turns for which the model was asked",
    "replaced": "turns without a usable answer; the game's safe action was played",
    "illegal": "answers that are no legal action, those that were corrected included",
    "unparsable": "answers with no choice in them, or empty, those that were corrected included",
    "unfinished": "answers that ended at --max-tokens, or have only a thought, those that were corrected included",
    "late": "answers that came after the time for one (20 s without a clock, or --llm-timeout)",
    "refused": "answers in which the model declines",
    "failed": "requests that the endpoint refused, as with HTTP 401 or 500, or did not answer",
    "retries": "requests that were sent again after an error or a lost connection, not for a usable answer",
    "tokens in": "tokens sent, as the endpoint counts them",
    "tokens out": "tokens received",
    "s/decision": "mean seconds for a turn",
    "cost": "of all tokens, in the currency of the given prices",
}
"""What the columns of `columns` mean."""


class ModelError(Exception):
    """The model gave no usable answer: it was not reached, was late, refused, or wrote no choice.

    Attributes:
        fault: which of these it was.
    """

    def __init__(self, text: str, fault: Fault = "failed") -> None:
        super().__init__(text)
        self.fault: Fault = fault


@dataclass
class ModelCall:
    """Statistics of one answer of a model, for logs.

    Attributes:
        prompt: the last conversation sent.
        text: the last text of the model, its thoughts included.
        seconds: the time from the request to the end of the answer.
        tries: number of answers requested.
        retries: number of requests sent again after an error or a lost connection.
        input_size, output_size: numbers of tokens, as the endpoint counts them; None if it does not. (Match logs leave
            out fields with "token" in their names.)
        problem: why the answer cannot be used; None if it can be used.
        faults: what was wrong with answers, each with its fault, the corrected ones included.
    """

    prompt: Chat = ()
    text: str = ""
    seconds: float = 0.0
    tries: int = 0
    retries: int = 0
    input_size: int | None = None
    output_size: int | None = None
    problem: str | None = None
    faults: list[Fault] = field(default_factory=list)

    def count(self, usage: Any) -> None:
        """Add the endpoint's token counts, if there are any; what is no count is ignored."""
        for name, sent in (("input_size", "prompt_tokens"), ("output_size", "completion_tokens")):
            size = getattr(usage, sent, None)
            if isinstance(size, int | float) and 0 <= size < 2**53:
                setattr(self, name, (getattr(self, name) or 0) + int(size))


@dataclass
class ModelStatistics:
    """What the calls of a model for one seat came to.

    Attributes:
        decisions: number of calls: of turns that were asked for.
        replaced: number of turns without a usable answer.
        faults: number of answers by fault, the corrected ones included.
        retries: number of requests sent again after an error or a lost connection.
        input_size, output_size: tokens sent and received, as far as the endpoint counts them.
        seconds: of all calls together.
        cost: of all tokens, in the currency of the model's prices.
    """

    decisions: int = 0
    replaced: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    retries: int = 0
    input_size: int = 0
    output_size: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def count(self, call: ModelCall, prices: tuple[float, float] = (0.0, 0.0)) -> None:
        """Add a call; `prices`: of a million tokens sent and received."""
        self.decisions += 1
        self.replaced += call.problem is not None
        self.faults.update(call.faults)
        self.retries += call.retries
        self.input_size += call.input_size or 0
        self.output_size += call.output_size or 0
        self.seconds += call.seconds
        self.cost += ((call.input_size or 0) * prices[0] + (call.output_size or 0) * prices[1]) / 1e6

    def illegal_here(self) -> None:
        """Count the latest answer, which looked legal, as one that the game refuses."""
        self.faults["illegal"] += 1
        self.replaced += 1

    @classmethod
    def of(cls, row: Mapping[str, float]) -> Self:
        """Return the numbers that `row` returned."""
        faults = Counter[Fault]({name: int(row.get(name, 0)) for name in get_args(Fault)})
        whole = {name: int(row[name]) for name in ("decisions", "replaced", "retries")}
        sizes = {"input_size": int(row["tokens in"]), "output_size": int(row["tokens out"])}
        return cls(**whole, **sizes, faults=faults, seconds=row["s/decision"] * row["decisions"], cost=row["cost"])

    def line(self) -> str:
        """Return the numbers that are not 0 in one line, such as ``40 decisions, 2 illegal, 0.8 s/decision``."""
        return ", ".join(f"{number:,.10g} {name}" for name, number in self.row().items() if number) or "0 decisions"

    def row(self) -> dict[str, float]:
        """Return the numbers by name, for tables and files."""
        faults = {name: self.faults[name] for name in get_args(Fault)}
        latency = round(self.seconds / max(self.decisions, 1), 3)
        sizes = {"tokens in": self.input_size, "tokens out": self.output_size}
        return {
            "decisions": self.decisions,
            "replaced": self.replaced,
            **faults,
            "retries": self.retries,
            **sizes,
            "s/decision": latency,
            "cost": round(self.cost, 6),
        }


def columns(rows: Mapping[str, Mapping[str, float]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table of language models, from the rows of their statistics by seat or name."""
    heads = list(next(iter(rows.values()), {}))
    return ["answers of", *heads], [[name, *(f"{row[head]:,.10g}" for head in heads)] for name, row in rows.items()]
