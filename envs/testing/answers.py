"""Random answers of an agent, most of them wrong, for `Match.submit`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.game import Game
from ..core.turn_state import ERROR_CODES, Action, AgentResponse, AllowedAction

_VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 500, 10**30, 0.5, -0.0, float("nan"), float("inf"), "", "fold", "public", "ünïcode",
    "\ud800", [], {}, [None], {"a": 1}, "player_0", b"bytes", object(),
)  # fmt: skip


class Answers:
    """Random answers: some are legal, most are almost right, some are nonsense.

    Args:
        game: the game with its options.
        seed: seed of the random choices.
    """

    def __init__(self, game: Game, seed: int) -> None:
        self.game = game
        self._generator = np.random.default_rng(seed)

    def answer(self, offers: Sequence[AllowedAction]) -> Any:
        """Return a random answer to a turn with these allowed actions."""
        kind = int(self._generator.integers(6))
        if kind == 0:
            return self.value()
        action = {"action_type": self._action_type(), "payload": self._payload(offers)}
        if kind == 1:
            return action
        if kind == 2:
            return Action(action["action_type"], action["payload"])
        if kind == 3:
            return AgentResponse(Action(action["action_type"], action["payload"]), self._messages())
        return {"action": action if kind == 4 else self.value(), "messages": self._messages()}

    def value(self) -> Any:
        """Return a random value of any type."""
        return self.one_of(_VALUES)

    def one_of(self, choices: Sequence[Any]) -> Any:
        """Return a random element of a sequence, drawn uniformly."""
        return choices[int(self._generator.integers(len(choices)))]

    def _action_type(self) -> Any:
        types = [*self.game.view.action_spaces] * 3
        return self.one_of([*types, "pass", "message_only", ERROR_CODES[0], self.value()])

    def _payload(self, offers: Sequence[AllowedAction]) -> Any:
        """Return a payload with known keys and random values."""
        keys = sorted({key for offer in offers for key in offer.payload_schema.get("properties", {})} | {"amount"})
        chosen = [key for key in keys if self._generator.random() < 0.5]
        values = [self.one_of((self.value(), int(self._generator.integers(-3, 100)))) for _ in chosen]
        return self.one_of([dict(zip(chosen, values, strict=True))] * 5 + [self.value()])

    def _messages(self) -> Any:
        intent = {
            "scope": self.one_of(["public", "private", "loud", self.value()]),
            "content": self.one_of(["hello", self.value()]),
            "to_agent_ids": self.one_of([None, [self.one_of(self.game.agents)], ["stranger"], self.value()]),
        }
        return self.one_of([[], [intent], [intent] * 11, self.value()])
