"""PolicyAgent: a policy as an agent that answers TurnStates."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import AgentResponse, Game, TurnState
from ...envs.core.plain_start import PLAIN_START
from ...envs.core.rollout import act_of, encoder_of
from ..policies.base import Policy
from .base import sentence
from .schemas import acceptable, fitted, nearest_open, offered_mask, quiet_action


class PolicyAgent:
    """A policy as an agent: TurnState → record → observation → action index → documented payload.

    Args:
        game: the game the policy was trained for. A live table may have more or fewer seats (see `View.load`).
        policy: the policy. It gets the observations of its own encoder.

    Attributes:
        on_turn: called with every state before it is answered, except in `warm_up`; None: no call.

    Raises:
        ValueError: if the game does not have the policy's encoder, or it shows hidden information.
    """

    def __init__(self, game: Game, policy: Policy) -> None:
        self.game = game
        self.policy = policy
        self.on_turn: Callable[[TurnState], None] | None = None
        self._encoder = game.encoders[encoder_of(policy, game)]
        self._seen: tuple[Any, NDArray[np.float32], NDArray[np.int8]] | None = None

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn with one of the state's ``allowed_actions``.

        If the host offers fewer actions than the rules, or narrower bounds, the policy's mask has only these. If the
        policy still chooses another action, as a scripted player may, or one that is worth less than the outside option
        (see `acceptable`), the nearest one of `nearest_open` is played.

        Raises:
            ValueError: if `state` belongs to another game, its seat has no legal action, or the policy chose an
                illegal action.
            KeyError, TypeError: if `state` lacks a field.
        """
        name, _, _ = state.game_id.partition("-")
        if name != self.game.name:
            raise ValueError(f"a policy for {self.game.id} cannot play {state.game_id!r}")
        if self.on_turn is not None:
            self.on_turn(state)
        tables, seat = self.game.view.load(state)
        self.game.view.familiar(tables[0])
        mask = self.game.mask(tables[0], seat)
        if not mask.any():
            raise ValueError(f"{state.agent_id} has no legal action: it is not its turn")
        legal, mask = mask, offered_mask(self.game, tables[0], mask, state.allowed_actions)
        if not mask.any():
            self._seen = None
            return AgentResponse(quiet_action(state.allowed_actions))
        set_terms = getattr(self.policy, "set_terms", None)
        if callable(set_terms):
            set_terms(tables[0])
        observation = self._encoder.observation(tables[0], seat)
        self._seen = tables[0], observation[None], mask[None]
        chosen = act_of(self.policy, tables, np.zeros(1, np.int64), observation[None], mask[None])
        action = int(np.asarray(chosen).reshape(-1)[0])
        if not 0 <= action < len(legal) or not legal[action]:
            raise ValueError(
                f"the policy chose action {action}, which is masked; open are {np.flatnonzero(mask).tolist()}"
            )
        kept = acceptable(self.game, tables[0], mask)
        if not kept[action]:
            action = nearest_open(self.game, tables[0], action, kept)
        return fitted(self.game.view.encode(tables[0], action), state.allowed_actions)

    def set_seconds_left(self, seconds: float | None) -> None:
        """Set the time left for the next answer of a policy that searches; None: no limit."""
        set_seconds_left = getattr(self.policy, "set_seconds_left", None)
        if callable(set_seconds_left):
            set_seconds_left(seconds)

    def thoughts(self) -> dict[str, Any]:
        """Return the probabilities of the answers to the latest turn and the value, if the policy has them."""
        if self._seen is None or not hasattr(self.policy, "probabilities"):
            return {}
        table, observations, masks = self._seen
        chances = self.policy.probabilities(observations, masks)[0]
        values = self.policy.values(observations) if hasattr(self.policy, "values") else None
        value = None if values is None else float(values[0])
        return notes(chances, lambda action: _answer(self.game.view.encode(table, action)), value)

    def warm_up(self) -> None:
        """Answer two turns of a random match, so that all code is compiled and loaded before a deadline runs.

        Raises:
            ValueError: as `respond`; and any error of the policy.
        """
        PLAIN_START.expect(self.game.registered, self.game.options, encoder_of(self.policy, self.game))
        table = self.game.tables(1)[0]
        self.game.rules.reset(table)
        warm_up = getattr(self.policy, "warm_up", None)
        if callable(warm_up):
            warm_up()
        on_turn, self.on_turn = self.on_turn, None
        try:
            for _ in range(2):  # the second one after some moves
                if not table.done:
                    answer = self.respond(self.game.turn_state(table, int(table.turn)))
                    self.game.rules.step(table, self.game.view.parse(table, answer.action))
        finally:
            self.on_turn = on_turn


LEAST_LIKELY = 0.0005
"""The least probability of an answer in `thoughts`."""


def notes(chances: NDArray[Any], written: Callable[[int], str], value: float | None) -> dict[str, Any]:
    """Return the notes on a decision: the chances of the likely actions, and its value if it is known."""
    likely = {written(one): round(float(chances[one]), 4) for one in np.flatnonzero(chances >= LEAST_LIKELY).tolist()}
    return ({"probabilities": likely} if likely else {}) | ({} if value is None else {"value": round(value, 4)})


def _answer(response: AgentResponse) -> str:
    """Return an answer as one line of text; for an action that only sends a message, the message."""
    said = " ".join(message.content for message in response.messages)
    return f"say: {said}" if said and response.action.action_type == "message_only" else sentence(response.action)
