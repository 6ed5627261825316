"""An agent's end of an arena, without I/O: the seats of its matches, and each turn in its own game's form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ....envs.core.game import Game
from ....envs.core.state_loading import named_order
from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, MessageIntent, TurnState
from ...agents.offers import acceptable, narrowed, offered_mask, quiet_action, safe_action
from ...logs.log_text import describe_error
from ...logs.safe_match_log import without_images
from ..common.agent_turn import Turn
from ..common.seat_names import SeatNames
from .platform_games import PlatformGame, platform_game

MATCHES = 10_000
"""Number of matches that are remembered."""


@dataclass
class ArenaTurn(Turn):
    """A turn of the agent in a match of an arena.

    Its `state` is what the agent gets: our game's id and fields, the seats' names if they are known, and as
    ``allowed_actions`` what the host offers, within the bounds that its state sets (see `narrowed`). Its `problem`
    is why there is no such state; None: there is one.

    Attributes:
        arena_state: the TurnState that the arena sent.
        own_state: the same in our game's form, with the agents' ids.
    """

    arena_state: TurnState = field(kw_only=True)
    own_state: TurnState = field(kw_only=True)
    _names: SeatNames | None = None
    _answers: SeatNames | None = None
    _game: Game | None = None
    _platform: PlatformGame | None = None

    @property
    def offers(self) -> Sequence[AllowedAction]:
        """See `Turn`."""
        return self.arena_state.allowed_actions

    def safe(self) -> AgentResponse:
        """Return `safe_action` if the game can load the state; else `quiet_action`, from the offer alone."""
        try:
            response = self._safe()
        except Exception:  # a state that the game cannot read, so that the offer has to do
            response = None
        return response or AgentResponse(quiet_action(self.offers))

    def _safe(self) -> AgentResponse | None:
        if self._game is None:
            return None
        tables, seat = self._game.view.load(self.state)
        mask, offers = self._game.mask(tables[0], seat), self.state.allowed_actions
        mask = acceptable(self._game, tables[0], offered_mask(self._game, tables[0], mask, offers))
        return self.sent(AgentResponse(safe_action(self._game, tables[0], mask, offers)))

    def sent(self, response: AgentResponse) -> AgentResponse:
        """Return an answer in the arena's form."""
        if self._answers is not None:
            response = self._answers.response_for_agents(response)
        if self._platform is not None:
            response = self._platform.played(response, self.arena_state)
        return AgentResponse(response.action, [_with_recipients(message) for message in response.messages])

    def logged(self) -> TurnState:
        """Return the state in our game's form and with the agents' ids."""
        return without_images(self.own_state)

    def notes(self, thoughts: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the agent's notes with the agents' ids."""
        chances, names = thoughts.get("probabilities"), self._names
        if names is None or not isinstance(chances, Mapping):
            return thoughts
        return {
            **thoughts,
            "probabilities": {names.words_for_agents(str(answer)): chance for answer, chance in chances.items()},
        }


def _with_recipients(intent: MessageIntent) -> MessageIntent:
    """Return a message whose recipients are a list: strategic-agent-games takes no null."""
    return msgspec.structs.replace(intent, to_agent_ids=list(intent.to_agent_ids or ()))


def out_of_turn(state: TurnState) -> AgentResponse:
    """Return the answer when the arena asks for messages out of turn: none."""
    offered = [offer.action_type for offer in state.allowed_actions]
    silent = not offered or "message_only" in offered
    return AgentResponse(Action("message_only") if silent else quiet_action(state.allowed_actions))


class ArenaAgentSession:
    """One agent in any number of matches.

    Args:
        game: the game of the agent's policy; None: the agent gets the arena's states without changes.
    """

    def __init__(self, game: Game | None) -> None:
        self._game = game
        self._orders: dict[str, list[str]] = {}
        self._reported: dict[str, None] = {}

    def warm_up(self) -> None:
        """Prepare the translation of names, which takes up to a second, before the first turn."""
        self._words.intersection(())

    def match_started(self, match_id: str, agent_ids: Sequence[str]) -> None:
        """Store the agents of a match in the order of their seats."""
        _remember(self._orders, match_id, list(agent_ids))

    def knows(self, match_id: str) -> bool:
        """Return whether the order of the seats is known."""
        return match_id in self._orders

    def match_ended(self, match_id: str) -> None:
        """Remove what is stored of the match."""
        self._orders.pop(match_id, None)
        self._reported.pop(match_id, None)

    def is_first_problem(self, match_id: str) -> bool:
        """Return whether this is the first problem of a match. Later ones are counted, but not logged."""
        if match_id in self._reported:
            return False
        _remember(self._reported, match_id, None)
        return True

    def turn(self, state: TurnState) -> ArenaTurn:
        """Return a turn. Never raises: if the state cannot be translated, the turn has a problem."""
        try:
            return self._turn(state)
        except Exception as error:  # whatever a foreign state holds
            return ArenaTurn(state, problem=describe_error(error), arena_state=state, own_state=state)

    def _turn(self, state: TurnState) -> ArenaTurn:
        platform = None if self._game is None else platform_game(state.game_id, self._game)
        if platform is None or self._game is None:
            own = state
        else:
            own = msgspec.structs.replace(platform.seen(state), game_id=self._game.id)
        answers = self._names(own)
        names = None if answers is None or self._words & answers.seat_of.keys() else answers
        if names is None and answers is not None and named_order(own) != list(answers.seat_of):
            answers = None  # the game itself finds the seats in the state, and these may be others
        seen = own if names is None else names.state_for_game(own)
        if platform is not None and self._game is not None:
            tables, _ = self._game.view.load(seen)
            offers = narrowed(self._game.allowed_actions(tables[0]), seen.allowed_actions)
            seen = msgspec.structs.replace(seen, allowed_actions=offers)
        return ArenaTurn(
            seen,
            arena_state=state,
            own_state=own,
            _names=names,
            _answers=answers,
            _game=self._game,
            _platform=platform,
        )

    def _names(self, state: TurnState) -> SeatNames | None:
        """Return the translation of names; None if the seats are not known.

        A state is not translated if an id is a word of the game. The game then finds the seats by ``agent_ids``.
        """
        order = self._orders.get(state.match_id) or named_order(state)
        if self._game is None or len(order) != self._game.seats or len(set(order)) != len(order):
            return None
        return SeatNames(order, self._game.agents)

    @property
    def _words(self) -> frozenset[str]:
        return frozenset() if self._game is None else self._game.words


def _remember(memory: dict[str, Any], match_id: str, value: Any) -> None:
    memory[match_id] = value
    if len(memory) > MATCHES:
        del memory[next(iter(memory))]
