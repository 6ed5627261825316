"""GameEnv: any Game as a PettingZoo AECEnv. The game is played by a `Match`; this class adds PettingZoo's API."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv

from ..render.display import Display, view_shown
from ..render.window import FPS, MODES
from .action_modes import action_mode
from .game import Game
from .match import Match, not_running
from .observation_modes import ObservationMode
from .turn_state import Action, ActionResult, AgentResponse, Message, MessageIntent, TurnState


class GameEnv(AECEnv[str, Any, Any]):
    """One table of a game as a PettingZoo environment, with `turn_state`, `submit` and `send` besides PettingZoo's API.

    Args:
        game: the game with its options.
        observation: ``"dict"``: nested dict with the fields of TurnState; ``"flat"``: float32[D]. Either is the
            ``"observation"`` of ``{"observation": …, "action_mask": int8[A]}``.
        action: ``"discrete"``: masked action indices; ``"payload"``: the documented payloads; ``"grid"``: several
            choices at once; see `action_mode`.
        render_mode: ``"human"`` (a window, redrawn by every reset, step and submit), ``"rgb_array"``, ``"svg"``,
            ``"ansi"`` or None; see `render`.
        render_view: whose view `render` shows: ``"public"`` (what everybody may see), an agent's name, or ``"all"``
            (hidden information included). None: public; where the game has no public view, the first agent's.
        encoder: name of the encoder that makes the observations; None: the game's own encoder.

    Attributes:
        match: the `Match` that holds the record, the messages and the turn.

    Raises:
        ValueError: for an unknown mode, or a mode that the game does not have.
    """

    def __init__(
        self,
        game: Game,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
        encoder: str | None = None,
    ) -> None:
        super().__init__()
        self.game = game
        self.match = Match(game, encoder)
        self.action_mode = action_mode(action, game)
        layout = game.encoders[self.match.encoder].layout
        self.observation_mode = ObservationMode(observation, layout, self.action_mode.mask_space)
        name, modes = game.id.replace("-", "_"), list(MODES)
        self.metadata = {"name": name, "render_modes": modes, "render_fps": FPS, "is_parallelizable": False}
        self.render_mode = render_mode
        self.render_view = view_shown(game, render_view)
        self._display = Display(game.renderer, game.id, render_mode)
        self.possible_agents = list(game.agents)
        self.agents: list[str] = []

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of `observe`, the same for every agent.

        Raises:
            ValueError: for an unknown agent.
        """
        self.match.require_agent(agent)
        return self.observation_mode.space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of actions, the same for every agent.

        Raises:
            ValueError: for an unknown agent.
        """
        self.match.require_agent(agent)
        return self.action_mode.space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode. `seed`, `options` and errors are those of `Match.reset`."""
        self.match.reset(seed, options)
        self.agents = list(self.possible_agents)
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return ``{"observation": …, "action_mask": …}`` in new arrays; the mask is all 0 out of turn."""
        match = self.match
        seat = match.seat_of(agent)
        mask = self.action_mode.mask(match, closed=bool(match.done) or match.turn != seat)
        return self.observation_mode.observation(match.observation(seat), mask)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the selected agent's observation, rewards since its last turn, termination, truncation and info.

        Raises:
            ValueError: if no episode runs: before the first reset, or after the last agent's step of None.
        """
        if not self.agents:
            raise ValueError("last(): no episode is running; call reset() first")
        selected: tuple[Any, float, bool, bool, dict[str, Any]] = super().last(observe)
        return selected

    def step(self, action: Any) -> None:
        """Play the selected agent's action (None for an agent whose episode is over).

        Raises:
            ValueError: if the action is not legal; the error names the legal ones. The table is unchanged then.
        """
        if not self.agents:
            raise ValueError("step() on a finished episode: call reset() first")
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
        else:
            before = self.match.decisions
            self.action_mode.play(self.match, action)
            self._settle(before)
            if self.match.decisions == before:  # a payload that keeps the turn
                self._cumulative_rewards[self.agent_selection] = 0.0
                self.rewards = dict.fromkeys(self.agents, 0.0)

    def state(self) -> NDArray[np.uint8]:
        """Return the whole record as bytes (uint8[itemsize]), hidden information included."""
        return np.frombuffer(self.table.tobytes(), np.uint8)

    def render(self) -> NDArray[np.uint8] | str | None:
        """Draw the table as `render_view` sees it.

        Returns:
            By `render_mode`: ``"rgb_array"``: uint8[480, 640, 3]; ``"svg"`` and ``"ansi"``: a string; else None.
        """
        return self._display.show_match(self.match, self.render_view)

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        self._display.close()

    @property
    def table(self) -> Any:
        """The record: the whole state of the table, hidden information included."""
        return self.match.table

    @property
    def messages(self) -> list[Message]:
        """Every message of this episode, in order."""
        return self.match.messages

    def turn_state(self, agent: str) -> TurnState:
        """Return what `agent` sees, at any time; see `Match.turn_state`."""
        return self.match.turn_state(agent)

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """Play a documented payload exactly; see `Match.submit`."""
        before = self.match.decisions
        result = self._ended(agent) or self.match.submit(agent, response)
        self._settle(before)
        return result

    def send(self, agent: str, intent: MessageIntent | Mapping[str, Any]) -> ActionResult:
        """Send one message, in turn or out of it; see `Match.send`."""
        return self._ended(agent) or self.match.send(agent, intent)

    def clone(self) -> "GameEnv":
        """Return an independent copy: the match and the agents' bookkeeping."""
        return deepcopy(self)

    def _ended(self, agent: str) -> ActionResult | None:
        """Return a refusal after a wrapper has ended the episode for an illegal action: the match still runs then."""
        running = agent not in self.possible_agents or (self.agents and not self.terminations[self.agents[0]])
        return None if running else not_running()

    def _settle(self, before: int) -> None:
        """Update PettingZoo's attributes if the match has played a decision since its count was `before`."""
        match = self.match
        if match.decisions == before:
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        rewards = match.rewards
        if any(rewards) or any(self.rewards.values()):
            self.rewards = dict(zip(self.agents, rewards, strict=True))
            self._accumulate_rewards()
        if match.done:
            truncated = bool(match.batch.truncations[0])
            self.terminations = dict.fromkeys(self.agents, not truncated)
            self.truncations = dict.fromkeys(self.agents, truncated)
        self._select()

    def _select(self) -> None:
        # The agents' dead steps come in seat order once the episode is over.
        self.agent_selection = self.agents[0 if self.match.done else self.match.turn]
        if self.render_mode == "human":
            self.render()
