"""Games as environments of TRL's `GRPOTrainer` (https://github.com/huggingface/trl), for its ``environment_factory``::

    table = partial(GameEnvironment, "leduc", opponents="zoo:leduc")
    rows = [{"prompt": [{"role": "user", "content": ""}], "seed": seed} for seed in range(1_000)]
    GRPOTrainer(model, args=…, train_dataset=Dataset.from_list(rows), environment_factory=table)

``docs/text_episodes.md`` describes it. The extra ``trl`` brings TRL.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from ..envs import Game
from ..envs.core.registry import as_game
from .agents.language_model import Fault
from .agents.prompt import Prompting
from .text import Opponent, TextGame, TextTurn

OVER = "The match is over, and nothing more can be played."


class GameEnvironment:
    """One table. A model plays one of its seats by calls of the tool `play`; its opponents play the others.

    The first prompt has the rules and the first turn of the model's seat, and what a call returns has the next one. A
    model that stops to call the tool does not end the match: the game's safe action is played for its seat to the end,
    and each such turn costs what refused answers cost.

    Args:
        game: the game with its options, or its name.
        opponents: who plays the other seats; see `TextGame`. No seat can be left to ``"self"``: TRL has one
            conversation for each environment.
        seat: the agent that the model plays, where the row of the data set names none; None: see `TextGame`.
        prompting: how the model is asked; None: with the rules in words. Its text ``call`` says how to answer.
        retries: see `TextGame`.
        penalty: see `TextGame`.
        options: the game's, where it is named.

    Attributes:
        table: the `TextGame` of the episode.
        turn: the latest turn; ``turn.returns`` has the returns of all seats.
        faults: the refused calls of the episode by fault, such as ``"illegal"``.
        unplayed: the turns of the episode that the safe action played because the model had stopped.

    Raises:
        UnexpectedOption: for an unknown option. It is a TypeError and a ValueError.
        ValueError: as `TextGame` does, and if more than one seat is a model's.
    """

    def __init__(
        self,
        game: str | Game,
        *,
        opponents: Opponent | Mapping[str, Opponent],
        seat: str | None = None,
        prompting: Prompting | None = None,
        retries: int = 1,
        penalty: float = -0.1,
        **options: Any,
    ) -> None:
        game = as_game(game, options)
        prompting = prompting or Prompting(game=game)
        texts = msgspec.structs.replace(prompting.prompts, answer=prompting.prompts.call)
        settings: dict[str, Any] = {"retries": retries, "penalty": penalty, "opponents": opponents}
        self._new_table = partial(TextGame, game, prompting=replace(prompting, prompts=texts), **settings)
        self._tables: dict[str | None, TextGame] = {}
        self._first = seat
        self._before: Counter[Fault] = Counter()
        self.turn: TextTurn | None = None
        self.table = self._table(seat)
        self.faults: Counter[Fault] = Counter()
        self.unplayed = 0

    def _table(self, seat: str | None) -> TextGame:
        if seat not in self._tables:
            table = self._new_table(seat=seat)
            if len(table.opponents) + 1 < len(table.game.agents):
                given = f"opponents={self._new_table.keywords['opponents']!r}"
                raise ValueError(f"{given}: TRL has one conversation for a table; name who plays every seat but one")
            self._tables[seat] = table
        return self._tables[seat]

    @property
    def seat(self) -> str:
        """The agent that the model plays."""
        return next(agent for agent in self.table.game.agents if agent not in self.table.opponents)

    def reset(self, seed: int | None = None, seat: str | None = None, **row: Any) -> str:
        """Begin an episode; return the rules and the first turn. TRL calls it with the row of the data set.

        Args:
            seed: of the episode, 0 or more. TRL compares the episodes of one row, so that they should have one seed.
                None takes entropy from the operating system.
            seat: the agent that the model plays; None: that of the constructor.
            row: the other columns, which are not read.

        Raises:
            ValueError: for what cannot be.
        """
        self.table = self._table(seat or self._first)
        self.turn = turn = self.table.reset(seed)
        self._before = Counter(self.table.faults[self.seat])
        self.faults, self.unplayed = Counter(), 0
        return self._said(turn) if turn.done else f"{turn.prompt[0]['content']}\n\n{self._said(turn)}"

    def play(self, action_type: str, payload: dict[str, Any] | None = None) -> str:
        """Play one of the allowed actions of the game.

        Args:
            action_type: The action_type of the action.
            payload: The payload of the action, if it has one.

        Returns:
            What you see in your next turn, or why the action was refused.

        Raises:
            ValueError: for a payload that is no JSON.
        """
        if self.turn is None or self.turn.done:
            return OVER
        try:
            answer = json.dumps({"action_type": action_type, "payload": payload}, ensure_ascii=False)
        except TypeError as error:
            raise ValueError(f"payload={payload!r}: need what JSON has: {error}") from None
        self.turn = turn = self.table.step(answer)
        self.faults = self.table.faults[self.seat] - self._before
        return self._said(turn)

    def get_reward(self) -> float:
        """Return the return of the model's seat, with the penalties. What is left of the match is played before.

        Raises:
            ValueError: if no episode has begun.
        """
        if self.turn is None:
            raise ValueError("no episode has begun: call reset() first")
        while not self.turn.done:
            self.turn = self.table.step("")
            self.unplayed += self.turn.info["replaced"]
        return self.turn.returns[self.seat]

    def _said(self, turn: TextTurn) -> str:
        words = f"{OVER} Your return is {turn.returns[self.seat]:+.2f}." if turn.done else turn.prompt[-1]["content"]
        if turn.info["replaced"]:
            why = self.table.prompting.text(str(turn.refused))
            words = f"This was refused: {why}. A safe action was played for you.\n{words}"
        return words


def log_faults(
    environments: Sequence[GameEnvironment], log_metric: Callable[[str, float], None], **columns: Any
) -> list[float]:
    """Log the means per episode of ``refused``, ``illegal`` and ``unplayed``: a reward function that rewards nothing.

    Args:
        environments: those of the batch. `GRPOTrainer` gives them to every reward function.
        log_metric: how it takes a metric.
        columns: what else it gives.

    Returns:
        Zeros.

    Raises:
        ValueError: if there is no environment.
    """
    if not environments:
        raise ValueError("environments=[]: means need at least one environment")
    for environment in environments:
        environment.get_reward()
    count = len(environments)
    log_metric("refused", sum(one.faults.total() for one in environments) / count)
    log_metric("illegal", sum(one.faults["illegal"] for one in environments) / count)
    log_metric("unplayed", sum(one.unplayed for one in environments) / count)
    return [0.0] * count
