"""What our agents decide: an action index of our game, the move behind it, and the same in words."""

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
"""The roles that are claimed."""


class MafiaDecision(NamedTuple):
    """What an agent has decided.

    Attributes:
        moment: match, phase and round.
        seat: the agent's.
        action: the action index.
        move: what it stands for.
        state: what the agent saw.
        game: as which it was read.
        observations, masks: what the policy got, float32[1, D] and int8[1, A].
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
        """Whether what is to be said is not what the player knows; opinions are no lies."""
        kind, target = self.move
        known = self.state.game_state
        if kind in CLAIMED:
            return bool(known["self"]["role"] != CLAIMED[kind])
        if kind in (CLEARED, FOUND):
            results = {one["target"]["id"]: one["isMafia"] for one in known["privateKnowledge"]["investigationResults"]}
            return results.get(known["players"][target]["id"]) is not (kind == FOUND)
        if kind in (ACCUSE, DEFEND) and known["self"]["role"] == "mafia":
            return bool(known["players"][target]["role"] == "mafia") == (kind == DEFEND)
        return False

    def with_action(self, action: int) -> "MafiaDecision":
        """Return the decision for another action index."""
        return self._replace(action=action, move=move_of(self.game.seats, self.seat, action))


@cache
def move_of(seats: int, seat: int, action: int) -> Choice:
    """Return the move that an action index stands for in a seat's turn: the same in all games of so many seats."""
    rules = game_of(seats).rules
    table = rules.tables(1)[0]
    table.turn = seat
    move = rules.decode(table, action)
    return Choice(int(move.kind), int(move.target))


def intention(decision: MafiaDecision, names: Sequence[str]) -> str:
    """Return what was decided, in words such as ``"I abstain"``. `names` are the players', seat by seat."""
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
