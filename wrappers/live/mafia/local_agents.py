"""Bots and trained policies as `AgentPolicy`."""

import logging
from collections.abc import Sequence
from typing import Any

from ....envs.core.game import Game
from ....envs.core.options import named, number
from ....envs.core.turn_state import Action
from ....envs.mafia.bots import PERSONALITIES, Scripted
from ....envs.mafia.statements import sentence as statement
from ....envs.mafia.table import TARGET, VOTE
from ...agents.base import sentence
from ...agents.policy import LEAST_LIKELY
from ...policies.base import Policy
from ..common.player import Worker
from .base_agent import BaseMafiaAgent, MafiaDecision, intention
from .conversion import of_context, speeches_a_day
from .messages import NIGHT_ACTIONS, AgentConfig, GameState, Personality, ScriptedConfig

logger = logging.getLogger(__name__)


class MafiaScriptedAgent(BaseMafiaAgent):
    """A bot that plays mafia by `AgentPolicy` (see `parlour.envs.mafia.bots.Scripted`).

    Args:
        id, name: the player's id and name.
        config: its personality, the frequency of lies, and the threshold of suspicion. None: analytical.
        seed: the seed of its choices and sentences; None: fresh entropy.

    Raises:
        ValueError: for a setting that is out of its range.
    """

    def __init__(self, id: str, name: str, config: AgentConfig | None = None, *, seed: int | None = None) -> None:
        config = config or AgentConfig(type="scripted")
        settings: dict[str, Any] = {"personality": "analytical"}
        scripted = config.scripted_config
        if scripted is not None:
            if scripted.personality is not None:
                settings["personality"] = named("personality", scripted.personality, PERSONALITIES)
            if scripted.lie_frequency is not None:
                settings["lie_frequency"] = number("lieFrequency", scripted.lie_frequency, 0, 1)
            if scripted.suspicion_threshold is not None:
                settings["suspicion_threshold"] = number("suspicionThreshold", scripted.suspicion_threshold, 0, 100)
        super().__init__(id, name, config, settings["personality"], seed)
        self._seed = seed
        self._settings = settings
        self._bots: dict[int, Policy] = {}

    def player(self, context: GameState) -> tuple[Game, Policy]:
        """See `BaseMafiaAgent`."""
        game = of_context(context)
        bot = self._bots.get(game.seats)  # the observation it reads does not depend on other options
        if bot is None:
            bot = self._bots[game.seats] = Scripted(game, self._seed, **self._settings)
        return game, bot

    def reasons(self, decision: MafiaDecision, names: Sequence[str]) -> Sequence[str]:
        """Return the two players that it suspects most, which its heuristics use."""
        part = decision.game.encoders[Scripted.encoder].layout["suspicion"]
        points = decision.observations[0, part.start : part.stop].tolist()
        players, seats, seat = decision.state.game_state["players"], len(points), decision.seat
        others = [(points[r], -r) for r in range(1, seats) if players[(seat + r) % seats]["alive"]]
        suspects = [f"{names[(seat - r) % seats]} ({100 * score:.0f})" for score, r in sorted(others, reverse=True)[:2]]
        return [f"Of 100 points of suspicion I give the most to {' and '.join(suspects)}."]


MOST_CHOICES = 3
"""Most choices in a thought, the likeliest first."""


class MafiaPolicyAgent(BaseMafiaAgent):
    """A policy that plays mafia by `AgentPolicy`.

    In a match with more players than it was trained for, a scripted agent decides.

    Args:
        id, name: the player's id and name.
        game: the game that the policy was trained for.
        policy: the policy.
        personality: the personality of its sentences.
        seed: the seed of its sentences; None: fresh entropy.
        worker: the thread of a policy that may block; None: the policy runs in the event loop.
    """

    def __init__(
        self,
        id: str,
        name: str,
        game: Game,
        policy: Policy,
        *,
        personality: Personality = "analytical",
        seed: int | None = None,
        worker: Worker | None = None,
    ) -> None:
        config = AgentConfig(type="scripted", scripted_config=ScriptedConfig(personality=personality))
        super().__init__(id, name, config, personality, seed, worker)
        self._game = game
        self._policy = policy
        self._deputy = MafiaScriptedAgent(id, name, config, seed=seed)
        self._warned = False
        self._latest: tuple[MafiaDecision, Any, float | None] | None = None  # chances and value of the latest decision

    def player(self, context: GameState) -> tuple[Game, Policy]:
        """See `BaseMafiaAgent`. The game is the policy's own, unless the match is longer or has more statements."""
        self._latest = None
        players, own = len(context.players), self._game.options
        if players <= self._game.seats:
            holds = context.round_number <= own["max_days"] and speeches_a_day(context) <= own["discussion_rounds"]
            return self._game if holds else of_context(context, self._game.seats), self._policy
        if not self._warned:
            self._warned = True
            logger.warning(
                "%s was trained for %d players at most; a bot plays for it among %d; train for them with: "
                "parlour train mafia --options seats=%d",
                self.id,
                self._game.seats,
                players,
                players,
            )
        return self._deputy.player(context)

    def reasons(self, decision: MafiaDecision, names: Sequence[str]) -> Sequence[str]:
        """Return the likeliest choices with their probabilities, and the expected value, if the policy has them."""
        if decision.game.seats != self._game.seats:
            return self._deputy.reasons(decision, names)
        sentences = []
        chances: Any = ()
        probabilities = getattr(self._policy, "probabilities", None)
        if probabilities is not None:
            chances = probabilities(decision.observations, decision.masks)[0]
            sentences.append(f"My likeliest choices: {likeliest(decision, chances, names)}.")
        values = getattr(self._policy, "values", None)
        expected = None if values is None else values(decision.observations)
        value = None if expected is None else float(expected[0])
        self._latest = decision, chances, value
        if value is not None:
            sentences.append(f"I expect {value:+.2f}, of −1 for a loss to +1 for a win.")
        return sentences or ["My policy has no probabilities."]

    def thoughts(self) -> dict[str, Any]:
        """Return the probabilities of the choices of the latest decision and its value; {} without a thought."""
        if self._latest is None:
            return {}
        decision, chances, value = self._latest
        notes: dict[str, Any] = {} if value is None else {"value": round(value, 4)}
        if len(chances):
            likely = (action for action in range(len(chances)) if chances[action] >= LEAST_LIKELY)
            notes["probabilities"] = {
                self._written(decision.with_action(action)): round(float(chances[action]), 4) for action in likely
            }
        return notes

    def _written(self, decision: MafiaDecision) -> str:
        """Return a choice as logs write it."""
        kind, target = decision.move
        ids = [player["id"] for player in decision.state.game_state["players"]]
        if kind == TARGET:
            action = Action("nightAction", {"actionType": NIGHT_ACTIONS[str(self.role)], "targetId": ids[target]})
        elif kind == VOTE:
            action = Action("vote", {"targetId": ids[target] if target >= 0 else None})
        else:
            action = Action("say", {"text": statement((kind, target), decision.seat, ids)})
        return sentence(action)


def likeliest(decision: MafiaDecision, chances: Any, names: Sequence[str]) -> str:
    """Return the likeliest choices with their chances, in words."""
    choices = []
    for action in sorted(range(len(chances)), key=lambda action: -chances[action])[:MOST_CHOICES]:
        if chances[action] >= 0.005:
            choices.append(f"{intention(decision.with_action(action), names)}, {100 * float(chances[action]):.0f} %")
    return "; ".join(choices)
