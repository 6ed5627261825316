"""An agent's end of an arena without I/O: who sits where, and each turn in the names that the agent knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from ....envs.core.game import Game
from ....envs.core.turn_state import Action, AgentResponse, TurnState
from ...agents.offers import offered_mask, quiet_action
from ...logs.log_text import describe_error
from .agent_names import AgentNames, reserved_words
from .foreign_types import plain, read_response
from .platform_games import PLATFORM_GAMES, PlatformGame

MATCHES = 10_000
"""Matches of which something is remembered."""


@dataclass
class ArenaTurn:
    """A turn of the agent.

    Attributes:
        state: as the arena sent it.
        seen: as the agent sees it: our game's name and fields, and the seats' names where they are known.
        problem: why the agent cannot be shown the state; None if it can.
    """

    state: TurnState
    seen: TurnState
    problem: str | None
    _own: TurnState
    _names: AgentNames | None = None
    _game: Game | None = None
    _platform: PlatformGame | None = None

    def response(self, answer: Any) -> AgentResponse:
        """Return the agent's answer as the arena gets it.

        Raises:
            ValueError: if its action is none of ``allowed_actions``.
            Exception: if the answer cannot be read.
        """
        response = self._for_arena(read_response(plain(answer)))
        offers = [offer.action_type for offer in self.state.allowed_actions]
        if offers and response.action.action_type not in offers:
            raise ValueError(f"{response.action.action_type!r:.80} is not offered, but {', '.join(offers)}")
        return response

    def refusal(self, answer: Any) -> str | None:
        """Return why an answer cannot be sent, or None if it can."""
        try:
            self.response(answer)
        except Exception as error:  # whatever a foreign object does when it is read
            return describe_error(error)
        return None

    def safe_response(self) -> AgentResponse:
        """Return the game's safe action where it is known and offered; else the offer that commits to least."""
        try:
            response = self._safe_response()
        except Exception:  # a state that the game cannot read, so that the offer has to do
            response = None
        return response or AgentResponse(quiet_action(self.state.allowed_actions))

    def _safe_response(self) -> AgentResponse | None:
        if self._game is None:
            return None
        view = self._game.view
        tables, seat = view.load(self.seen)
        mask = offered_mask(self._game, tables[0], self._game.mask(tables[0], seat), self.state.allowed_actions)
        safe = view.safe(tables[0])
        return self._for_arena(AgentResponse(view.encode(tables[0], safe).action)) if mask[safe] else None

    def _for_arena(self, response: AgentResponse) -> AgentResponse:
        if self._names is not None:
            response = self._names.response_for_agents(response)
        return response if self._platform is None else self._platform.played(response, self.state)

    def logged(self) -> TurnState:
        """Return a copy for the log, which the agent cannot change: as our game has it, with the arena's names."""
        return TurnState.from_dict(self._own.to_dict())

    def thoughts(self, thoughts: Mapping[str, Any]) -> dict[str, Any]:
        """Return the agent's thoughts with the arena's names in them."""
        named = dict(thoughts)
        if self._names is not None and "probabilities" in named:
            chances = named["probabilities"].items()
            named["probabilities"] = {self._names.words_for_agents(answer): chance for answer, chance in chances}
        return named


def out_of_turn(state: TurnState) -> AgentResponse:
    """Return what an agent answers where it is asked for words alone: none."""
    offered = [offer.action_type for offer in state.allowed_actions]
    silent = not offered or "message_only" in offered
    return AgentResponse(Action("message_only") if silent else quiet_action(state.allowed_actions))


class ArenaAgentSession:
    """One agent in any number of matches.

    Args:
        game: the game that the agent knows, in whose names it sees its matches; None: it sees states as they are.
    """

    def __init__(self, game: Game | None) -> None:
        self._game = game
        self._orders: dict[str, list[str]] = {}
        self._told: dict[str, None] = {}

    def warm_up(self) -> None:
        """Find the game's words now, which takes up to a second, and not when a clock runs."""
        self._words.intersection(())

    def match_started(self, match_id: str, agent_ids: Sequence[str]) -> None:
        """Learn who sits where."""
        _remember(self._orders, match_id, list(agent_ids))

    def knows(self, match_id: str) -> bool:
        """Tell whether it is known who sits where."""
        return match_id in self._orders

    def match_ended(self, match_id: str) -> None:
        """Forget the match."""
        self._orders.pop(match_id, None)
        self._told.pop(match_id, None)

    def is_first_problem(self, match_id: str) -> bool:
        """Tell whether this is the first problem of a match: later ones are only counted."""
        if match_id in self._told:
            return False
        _remember(self._told, match_id, None)
        return True

    def turn(self, state: TurnState) -> ArenaTurn:
        """Return a turn as the agent sees it. Never raises: a state that cannot be shown is a turn with a problem."""
        try:
            return self._turn(state)
        except Exception as error:  # whatever a foreign state holds
            return ArenaTurn(state, state, describe_error(error), state)

    def _turn(self, state: TurnState) -> ArenaTurn:
        platform = PLATFORM_GAMES.get(state.game_id)
        if platform is None or self._game is None or not platform.fits(self._game):
            platform, own = None, state
        else:
            own = msgspec.structs.replace(platform.seen(state), game_id=self._game.id)
        names = self._names(own)
        seen = own if names is None else names.state_for_game(own)
        return ArenaTurn(state, seen, None, own, names, self._game, platform)

    def _names(self, state: TurnState) -> AgentNames | None:
        """Return who sits where, if that is known and every text that is an agent's id means the agent."""
        order = self._orders.get(state.match_id)
        if self._game is None or order is None or len(order) != self._game.seats or len(set(order)) != len(order):
            return None
        return None if self._words.intersection(order) else AgentNames(order, self._game.agents)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset() if self._game is None else reserved_words(self._game)


def _remember(memory: dict[str, Any], match_id: str, value: Any) -> None:
    memory[match_id] = value
    if len(memory) > MATCHES:
        del memory[next(iter(memory))]
