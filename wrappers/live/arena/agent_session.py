"""An agent's end of an arena, without I/O: the seats of its matches, and each turn in its own game's form.

An arena may offer what it then refuses, and may ask without end for messages alone. So a match remembers the answers
that were refused (`Memory`), and its turns offer what is left.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

import msgspec

from ....envs.core.game import Game
from ....envs.core.game_state import moves_in, named_order
from ....envs.core.turn_state import Action, AgentResponse, AllowedAction, MessageIntent, TurnState
from ...agents.schemas import IDLE, acceptable, both, narrowed, offered_mask, quiet_action, safe_action
from ...logs.match_log import describe_error, without_images
from ..common.agent_turn import Turn
from ..common.seat_names import SeatNames
from .platform_games import PlatformGame, platform_game

MATCHES = 1_000
"""Number of matches that are remembered."""

POLITE = 2
"""Turns in a row that offer only to talk, and are answered so, though nothing changes between them."""
PATIENCE = 10
"""After so many of them nothing can come of the match."""
NO_ACTION = Action("none")
"""What no arena takes: it ends a turn in which nothing is offered, and of whose game nothing is known."""
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


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
    memory: "Memory" = field(init=False, repr=False, compare=False)

    def warns(self) -> bool:
        """Return whether this is the first problem of its match. Later ones are counted, but not logged."""
        first, self.memory.reported = not self.memory.reported, True
        return first

    @property
    def offers(self) -> Sequence[AllowedAction]:
        """See `Turn`."""
        return self.arena_state.allowed_actions

    def safe(self) -> AgentResponse:
        """Return `safe_action` if the game can load the state; else what the offer alone tells."""
        try:
            response = self._safe()
        except Exception:  # a state that the game cannot read, so that the offer has to do
            response = None
        return response or AgentResponse(quiet_action(self.offers) if self.offers else NO_ACTION)

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


@dataclass
class Memory:
    """What one match has taught.

    Attributes:
        order: the agents in the order of their seats; None: it is not known.
        reported: whether a problem was logged.
        idle: the turns in a row that offered only to talk, in the same state.
    """

    order: list[str] | None = None
    reported: bool = False
    idle: int = 0
    _seen: Any = None
    _asked: TurnState | None = None
    _answer: Action | None = None
    _refused: dict[tuple[str, str], tuple[str, float, float] | None] = field(default_factory=dict)

    def offered(self, state: TurnState) -> TurnState:
        """Return a turn's state with an offer that is worth an answer.

        What was refused in its phase is not offered again; a number whose bound the refusal names or implies, within
        it. Where talk alone changes nothing, the offer is empty: a refused action ends such turns on the platforms.
        """
        self._look_for_refusal(state)
        self._asked, self._answer = state, None
        offers = list[AllowedAction]()
        for offer in state.allowed_actions:
            refused = self._refused.get((state.phase, offer.action_type), ("", 0.0, 0.0))
            if refused is not None:
                name, least, most = refused
                schema = both(offer.payload_schema, {name: {"type": "number", "minimum": least, "maximum": most}})
                offers.append(msgspec.structs.replace(offer, payload_schema=schema))
        talk = bool(offers) and all(offer.action_type == IDLE[1] for offer in offers)
        seen = (state.phase, _told(state)) if talk else None
        self.idle = self.idle + 1 if talk and seen == self._seen else int(talk)
        self._seen = seen
        if self.idle > POLITE:
            offers = []
        elif not offers:
            offers = state.allowed_actions
        return msgspec.structs.replace(state, allowed_actions=offers)

    def answered(self, action: Action) -> None:
        """Store what is sent in the latest turn."""
        self._answer = action

    def refused(self, why: str, since: TurnState | None = None) -> None:
        """Learn from the refusal of the latest answer; `why`: the arena's reason, or empty; `since`: a later state."""
        state, action, self._answer = self._asked, self._answer, None
        if state is None or action is None or action.action_type in IDLE:
            return
        kind, learned = action.action_type, None
        numbers = [(key, value) for key, value in action.payload.items() if isinstance(value, int | float)]
        if len(numbers) == 1 and (state.phase, kind) not in self._refused:
            key, value = numbers[0]
            rows = moves_in((since or state).game_state.get("action_history"), (kind,), state.phase)
            known: list[Any] = [float(text) for text in NUMBER.findall(why)] or [row.get(key) for row in rows]
            others = [one for one in known if isinstance(one, int | float) and one != value]
            if others:
                bound = min(others, key=lambda one: abs(one - value))
                learned = (key, -inf, bound) if bound < value else (key, bound, inf)
        self._refused[state.phase, kind] = learned

    def _look_for_refusal(self, state: TurnState) -> None:
        """Infer a refusal that nobody told: only the clock moved, or the log has others' moves and not the own one."""
        if self._asked is None or self._answer is None:
            return
        before, now = (one.game_state.get("action_history") for one in (self._asked, state))
        if not isinstance(before, list) or not isinstance(now, list) or now[: len(before)] != before:
            return
        new = [row for row in now[len(before) :] if isinstance(row, Mapping)]
        own = [row for row in new if row.get("agent_id") == state.agent_id]
        clocks = [one.game_state.get("current_round") for one in (self._asked, state)]
        still = state.phase == self._asked.phase and _told(state) == _told(self._asked) and clocks[0] != clocks[1]
        if not own if new else still:
            self.refused("", state)


def _told(state: TurnState) -> dict[str, Any]:
    """Return what a state tells besides the clock and the log."""
    told = dict(state.game_state)
    for key in ("action_history", "current_round", "max_rounds"):
        told.pop(key, None)
    return told


class ArenaAgentSession:
    """One agent in any number of matches.

    Args:
        game: the game of the agent's policy; None: the agent gets the arena's states without changes.
    """

    def __init__(self, game: Game | None) -> None:
        self._game = game
        self._matches: dict[str, Memory] = {}

    def warm_up(self) -> None:
        """Prepare the translation of names, which takes up to a second, before the first turn."""
        self._words.intersection(())

    def match(self, match_id: str) -> Memory:
        """Return what is remembered of a match."""
        memory = self._matches.setdefault(match_id, Memory())
        if len(self._matches) > MATCHES:
            del self._matches[next(iter(self._matches))]
        return memory

    def match_ended(self, match_id: str) -> None:
        """Remove what is remembered of the match."""
        self._matches.pop(match_id, None)

    def turn(self, state: TurnState) -> ArenaTurn:
        """Return a turn. Never raises: if the state cannot be translated, the turn has a problem."""
        memory = self.match(state.match_id)
        try:
            state = memory.offered(state)
            turn = self._turn(state)
        except Exception as error:  # whatever a foreign state holds
            turn = ArenaTurn(state, problem=describe_error(error), arena_state=state, own_state=state)
        turn.table, turn.name = state.match_id or object(), f"match {state.match_id}"
        turn.memory = memory
        return turn

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
        order = self.match(state.match_id).order or named_order(state)
        if self._game is None or len(order) != self._game.seats or len(set(order)) != len(order):
            return None
        return SeatNames(order, self._game.agents)

    @property
    def _words(self) -> frozenset[str]:
        return frozenset() if self._game is None else self._game.words
