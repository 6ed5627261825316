"""The default view: all seats see every field of the record but the random stream.

It is for games of perfect information whose moves are action indices. A game with hidden information needs a `View` of
its own. If it replaces only some functions of this one (``dataclasses.replace``), it must hide the rest itself.
"""

from collections.abc import Mapping, Sequence
from reprlib import repr
from typing import Any

import numpy as np
from gymnasium import spaces

from . import turn_state as ts
from .record import REQUIRED_FIELDS, Tables
from .rules import Rules
from .turn_state import Action, ActionResult, AgentResponse, AllowedAction, TurnState
from .view import ActionRange, View

PLAY = "play"
"""The only action type, with the payload ``{"action": index}``."""


def open_view(rules: Rules, agents: Sequence[str], meanings: Mapping[int, str] | None = None) -> View:
    """Return the view that shows everything and takes action indices.

    Args:
        rules: the game's rules.
        agents: the agents' names, seat by seat.
        meanings: a description of each action index; by default ``"action 0"``, …
    """
    made = _OpenView(rules, tuple(agents))
    known = meanings or {}
    ranges = [ActionRange(i, i + 1, (PLAY,), known.get(i, f"action {i}")) for i in range(rules.num_actions)]
    return View(
        action_spaces={PLAY: spaces.Dict({"action": spaces.Box(0, rules.num_actions - 1, (), np.int64)})},
        action_ranges=tuple(ranges),
        encode=made.encode,
        parse=made.parse,
        nearest=made.nearest,
        safe=made.safe,
        allowed=made.allowed,
        phase=made.phase,
        game_state=made.game_state,
        outcome=made.outcome,
        load=made.load,
        resample=made.resample,
    )


class _OpenView:
    def __init__(self, rules: Rules, agents: tuple[str, ...]) -> None:
        self.rules = rules
        self.agents = agents
        names = rules.blank.dtype.names or ()
        self.fields = [name for name in names if name not in REQUIRED_FIELDS and not name.startswith("_gap")]

    # Actions.

    def encode(self, table: Any, action: int) -> AgentResponse:
        return AgentResponse(Action(PLAY, {"action": int(action)}))

    def parse(self, table: Any, action: Action) -> Any | ActionResult:
        if action.action_type != PLAY:
            return ts.refused(ts.INVALID_ACTION_TYPE, f"{repr(action.action_type)} is not an action here; use {PLAY}")
        index = action.payload.get("action")
        if action.payload.keys() != {"action"} or not isinstance(index, int) or isinstance(index, bool):
            wanted = "{'action': index}"
            return ts.refused(ts.INVALID_PAYLOAD, f"{PLAY} needs {wanted}, got {repr(action.payload)}")
        legal = self._legal(table)
        if index not in legal:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"action {repr(index)} is not legal; legal are {legal}")
        return self.rules.decode(table, index)

    def nearest(self, table: Any, move: Any) -> int:
        return next(action for action in range(self.rules.num_actions) if self.rules.decode(table, action) == move)

    def safe(self, table: Any) -> int:
        return self._legal(table)[0]

    def allowed(self, table: Any) -> list[AllowedAction]:
        schema = {
            "type": "object",
            "properties": {"action": {"type": "integer", "enum": self._legal(table)}},
            "required": ["action"],
            "additionalProperties": False,
        }
        return [AllowedAction(PLAY, "play a legal action index", schema)]

    def _legal(self, table: Any) -> list[int]:
        mask = np.zeros(self.rules.num_actions, np.int8)
        self.rules.legal(table, mask)
        return [int(action) for action in np.flatnonzero(mask)]

    # The table.

    def phase(self, table: Any) -> str:
        return "ended" if table.done else "play"

    def game_state(self, table: Any, seat: int) -> dict[str, Any]:
        return {name: np.asarray(getattr(table, name)).tolist() for name in self.fields}

    def outcome(self, table: Any, seat: int) -> dict[str, Any]:
        payoffs = [
            {"agent_id": agent, "utility": float(reward)}
            for agent, reward in zip(self.agents, table.rewards, strict=False)
        ]
        return {"payoffs": payoffs, "reason": "truncated" if table.truncated else "finished"}

    def load(self, state: TurnState) -> tuple[Tables, int]:
        tables = self.rules.tables(1)
        table = tables[0]
        for name in self.fields:
            table[name] = state.game_state[name]
        seat = self.agents.index(state.agent_id)
        table.turn = -1 if state.current_turn_agent_id is None else self.agents.index(state.current_turn_agent_id)
        table.done = state.game_over
        if state.outcome is not None:
            table.truncated = state.outcome["reason"] == "truncated"
            for row in state.outcome["payoffs"]:
                table.rewards[self.agents.index(row["agent_id"])] = row["utility"]
        return tables, seat

    def resample(self, table: Any, seat: int, generator: np.random.Generator) -> None:
        table.stream = generator.integers(0, 2**64, dtype=np.uint64)
