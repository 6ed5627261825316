"""Actions that are names without a payload, such as fold, call and raise: the view's functions for them."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from gymnasium import spaces

from . import turn_state as ts
from .rules import Rules
from .turn_state import NOTHING, Action, ActionResult, AgentResponse, AllowedAction
from .view import ActionRange, View


class NamedActions:
    """The actions of a game of which each has a name and no payload.

    Its methods are the functions of the same names of `View`.

    Args:
        rules: of the game.
        meanings: a description of every action, by name, in the order of the action indices.
        legal: ``legal(game_state, seat)``: the names of the acting seat's legal actions, from what it sees.
    """

    def __init__(self, rules: Rules, meanings: Mapping[str, str], legal: Callable[[Any, int], Collection[str]]) -> None:
        self._rules = rules
        self._seen_as_legal = legal
        self._meanings = dict(meanings)
        self.names = tuple(meanings)
        self.action_spaces = {name: spaces.Dict({}) for name in self.names}
        self.action_ranges = tuple(
            ActionRange(index, index + 1, (name,), meaning) for index, (name, meaning) in enumerate(meanings.items())
        )

    def _legal(self, table: Any) -> list[str]:
        mask = self._rules.mask(table, int(table.turn))
        return [name for name, open_ in zip(self.names, mask, strict=True) if open_]

    def allowed(self, game_state: Any, seat: int, phase: str) -> list[AllowedAction]:
        """Return the legal actions of the acting seat."""
        legal = self._seen_as_legal(game_state, seat)
        return [AllowedAction(name, self._meanings[name], NOTHING) for name in self.names if name in legal]

    def encode(self, table: Any, action: int) -> AgentResponse:
        """Return the payload of a legal action index."""
        return AgentResponse(Action(self.names[action]))

    def parse(self, table: Any, action: Action) -> Any | ActionResult:
        """Return the move of a payload, or a refusal that names the right values."""
        name, legal = action.action_type, self._legal(table)
        if name not in self.names:
            return ts.unknown_action(action, self.names)
        if action.payload:
            return ts.unwanted_payload(action)
        if name not in legal:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {name} now; legal: {', '.join(legal)}")
        return self._rules.decode(table, self.names.index(name))

    def view(self, **functions: Any) -> View:
        """Return the game's `View`: these actions, and the other functions by name."""
        return View(
            action_spaces=self.action_spaces,
            action_ranges=self.action_ranges,
            encode=self.encode,
            parse=self.parse,
            nearest=self._rules.action_of,
            allowed=self.allowed,
            **functions,
        )
