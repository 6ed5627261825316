"""Settings of local best response: the actions that the responder considers on each street.

They are those of Lisý and Bowling, "Equilibrium Approximation Quality of Current No-Limit Poker Bots" (AAAI 2017
workshop on computer poker), with the raises of the game's menu in place of theirs, and one of our own from the start.
Before the first street with raises the responder only checks or calls.
"""

from dataclasses import dataclass
from typing import Any

from .....envs import Game
from .....envs.holdem.table import LEAST_RAISE, PREFLOP

CALL, FOLD_OR_CALL, POT_OR_ALL_IN, ALL = range(4)
"""On one street: only check or call; also fold; also raise by the pot or all-in; also all raises."""


@dataclass(frozen=True)
class Setting:
    """One setting.

    Attributes:
        name: its name in tables and JSON.
        streets: what is considered before the flop, on the flop, on the turn and on the river.
    """

    name: str
    streets: tuple[int, int, int, int]

    def considered(self, table: Any) -> int:
        """Return what the responder considers on the street of a hand."""
        return self.streets[int(table.phase) - PREFLOP]

    def raises(self, game: Game, table: Any, legal: list[int]) -> list[int]:
        """Return which of the legal action indices are raises that the responder considers.

        Where no raise of the menu is exactly the pot, the nearest one stands for it.
        """
        among = [action for action in legal if action >= LEAST_RAISE]
        kind = self.considered(table)
        if kind == ALL or not among:
            return among
        if kind != POT_OR_ALL_IN:
            return []
        after_call = int(table.pot) + int(table.to_call)
        amounts = {action: int(game.rules.decode(table, action).amount) for action in among}
        pot = min(among, key=lambda action: abs(amounts[action] - int(table.current_bet) - after_call))
        return [action for action in among if action in (pot, max(among, key=amounts.__getitem__))]


SETTINGS = (
    Setting("fold or call", (FOLD_OR_CALL,) * 4),
    Setting("pot and all-in from the turn", (CALL, CALL, POT_OR_ALL_IN, POT_OR_ALL_IN)),
    Setting("all raises from the turn", (CALL, CALL, ALL, ALL)),
    Setting("all raises from the flop", (CALL, ALL, ALL, ALL)),
    Setting("all raises from the start", (ALL,) * 4),
)
"""All settings."""
