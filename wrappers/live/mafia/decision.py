"""Decisions of our agents: an action index of our game, its move, and the same in words."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....envs.core.game import Game
from ....envs.core.turn_state import TurnState
from ....envs.mafia.rules import Choice
from ....envs.mafia.table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_MAFIA,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    FOUND,
    GENERAL,
    TARGET,
    VOTE,
)
from .conversion import game_of

CLAIMED = {CLAIM_MAFIA: "mafia", CLAIM_DOCTOR: "doctor", CLAIM_SHERIFF: "sheriff", CLAIM_VILLAGER: "villager"}
"""The claimed role, by kind of statement."""


class MafiaDecision(NamedTuple):
    """A decision of an agent.

    Attributes:
        moment: match, phase and round.
        seat: the agent's seat.
        action: the action index.
        move: the move of this index.
        state: the TurnState of the decision.
        game: the game that loaded it.
        observations, masks: the policy's input, float32[1, D] and int8[1, A].
    """

    moment: tuple[str, str, int]
    seat: int
    action: int
    move: Choice
    state: TurnState
    game: Game
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]

    @property
    def is_lie(self) -> bool:
        """Whether the statement contradicts what the player knows; opinions are no lies."""
        kind, target = self.move
        state = self.state.game_state
        if kind in CLAIMED:
            return bool(state["self"]["role"] != CLAIMED[kind])
        if kind in (CLEARED, FOUND):
            results = state["privateKnowledge"]["investigationResults"]
            is_mafia = {result["target"]["id"]: result["isMafia"] for result in results}
            return is_mafia.get(state["players"][target]["id"]) is not (kind == FOUND)
        if kind in (ACCUSE, DEFEND) and state["self"]["role"] == "mafia":
            return bool(state["players"][target]["role"] == "mafia") == (kind == DEFEND)
        return False

    def with_action(self, action: int) -> "MafiaDecision":
        """Return the decision for another action index."""
        return self._replace(action=action, move=move_of(self.game.seats, self.seat, action))


@cache
def move_of(seats: int, seat: int, action: int) -> Choice:
    """Return the move of an action index in a seat's turn: the same in all games with this number of seats."""
    rules = game_of(seats).rules
    table = rules.tables(1)[0]
    table.turn = seat
    move = rules.decode(table, action)
    return Choice(int(move.kind), int(move.target))


def intention(decision: MafiaDecision, names: Sequence[str]) -> str:
    """Return a decision in words such as ``"I abstain"``. `names` are the players' names, seat by seat."""
    kind, target = decision.move
    name = names[target] if target >= 0 else ""
    if kind == TARGET:
        return f"I choose {name}"
    if kind == VOTE:
        return f"I vote for {name}" if target >= 0 else "I abstain"
    if kind == DEFEND and target == decision.seat:
        return "I will defend myself"
    return f"I will {STATEMENTS[kind].format(name)}"


STATEMENTS = {
    GENERAL: "say nothing of weight",
    ACCUSE: "accuse {}",
    DEFEND: "defend {}",
    CLEARED: "claim to be the sheriff and to have found {} innocent",
    FOUND: "claim to be the sheriff and to have found {} to be mafia",
    CLAIM_SHERIFF: "claim to be the sheriff",
    CLAIM_DOCTOR: "claim to be the doctor",
    CLAIM_VILLAGER: "claim to be a villager",
    CLAIM_MAFIA: "claim to be mafia",
}
"""The statements in words; ``{}`` is the target's name."""
