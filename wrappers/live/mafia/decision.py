"""What our agents decide: an action index of our game, the move behind it, and the same in words."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....envs.core.game import Game
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

Numbers = NDArray[np.float32]
CLAIMED = {CLAIM_MAFIA: 0, CLAIM_DOCTOR: 1, CLAIM_SHERIFF: 2, CLAIM_VILLAGER: 3}
"""Where the roles that are claimed stand in the observation."""


class MafiaDecision(NamedTuple):
    """What an agent has decided: when, the number and its move, and from which observation and mask."""

    moment: tuple[str, str, int]
    seat: int
    number: int
    move: Choice
    game: Game
    observation: Numbers
    mask: NDArray[np.int8]

    def seen(self, path: str) -> list[float]:
        """Return a slice of the observation."""
        part = self.game.layout[path]
        values: list[float] = self.observation[part.start : part.stop].tolist()
        return values

    def named(self, names: Sequence[str], away: int) -> str:
        """Return the name of the player so many seats away."""
        return names[(self.seat + away) % len(names)]

    @property
    def lies(self) -> bool:
        """Whether what is to be said is not what the player knows; opinions are no lies."""
        kind, target = self.move
        roles = self.seen("game_state.players.role")
        away = (target - self.seat) % self.game.seats
        if kind in CLAIMED:
            return not roles[CLAIMED[kind]]
        if kind in (CLEARED, FOUND):
            results = self.seen("game_state.privateKnowledge.investigationResults")
            return results[away] != (1 if kind == FOUND else -1)
        if kind in (ACCUSE, DEFEND) and roles[0]:
            return bool(roles[4 * away]) == (kind == DEFEND)
        return False

    def instead(self, number: int) -> "MafiaDecision":
        """Return the decision for another number."""
        return self._replace(number=number, move=move_of(self.game, self.seat, number))


def move_of(game: Game, seat: int, number: int) -> Choice:
    """Return the move that a number stands for in a seat's turn."""
    tables = game.rules.blank.view(np.ndarray).copy()
    tables["turn"] = seat
    move = game.rules.decode(tables[0], number)
    return Choice(int(move.kind), int(move.target))


def intention(decision: MafiaDecision, names: Sequence[str]) -> str:
    """Return what was decided, in words.

    >>> intention(Decision(("", "", 1), 0, 0, Choice(VOTE, -1), None, None, None), ["Ann"])  # doctest: +SKIP
    'I abstain'
    """
    kind, target = decision.move
    name = names[target] if target >= 0 else ""
    if kind == TARGET:
        return f"I choose {name}"
    if kind == VOTE:
        return f"I vote for {name}" if target >= 0 else "I abstain"
    return (
        "I will "
        + {
            GENERAL: "say nothing of weight",
            ACCUSE: f"accuse {name}",
            DEFEND: "defend myself" if target == decision.seat else f"defend {name}",
            CLEARED: f"claim to be the sheriff and to have found {name} innocent",
            FOUND: f"claim to be the sheriff and to have found {name} to be mafia",
            CLAIM_SHERIFF: "claim to be the sheriff",
            CLAIM_DOCTOR: "claim to be the doctor",
            CLAIM_VILLAGER: "claim to be a villager",
            CLAIM_MAFIA: "claim to be mafia",
        }[kind]
    )
