"""GameEnv: any Game as a PettingZoo AECEnv. The game is played by a `Match`; this class adds PettingZoo's API."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from operator import index
from sys import maxsize
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper
from pettingzoo.utils.env_logger import EnvLogger

from ..render.window import FPS, MODES, Display, view_shown
from .checks import require_choice
from .game import Game
from .match import Match, not_running
from .turn_state import Action, ActionResult, AgentResponse, Message, MessageIntent, TurnState
from .view import ActionGrid

Mask = NDArray[np.int8] | tuple[NDArray[np.int8], ...]


class IllegalAction(ValueError):
    """An action that is not legal now, such as a raise that is too small."""


class PayloadSpace(spaces.Dict):
    """The space of documented payloads. `sample` also takes the observation's mask, int8 over the action types."""

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return a random action.

        Args:
            mask: int8[types], 1 for the action types that may be drawn; or a dict, as `spaces.Dict.sample` takes. A
                mask says nothing of the payload: an amount is drawn from its whole space.
            probability: see `spaces.Dict.sample`.
        """
        if mask is None or isinstance(mask, dict):
            return super().sample(mask, probability)
        sample = super().sample()
        sample["action_type"] = self["action_type"].sample(mask)
        return sample


class ActionMode(Protocol):
    """One way to give actions to an environment.

    Attributes:
        space: the space of the actions. It draws from a stream of its own, and a copy of the environment from a copy.
        mask_space: the space of the masks.
    """

    space: spaces.Space[Any]
    mask_space: spaces.Space[Any]

    def mask(self, match: Match, closed: bool | None) -> Mask:
        """Return the mask of the acting seat in new arrays: 1 where legal. All 0 if `closed`."""
        ...

    def play(self, match: Match, action: Any) -> None:
        """Play an action of the acting seat.

        Raises:
            IllegalAction: if the action is not legal; the error names the legal ones. The table is unchanged then.
            ValueError: if it is not an action of the space at all.
        """
        ...


class DiscreteActions:
    """Masked action indices: `spaces.Discrete`."""

    def __init__(self, game: Game) -> None:
        self.space: spaces.Space[Any] = spaces.Discrete(game.num_actions)
        self.mask_space: spaces.Space[Any] = spaces.Box(0, 1, (game.num_actions,), np.int8)

    def mask(self, match: Match, closed: bool | None) -> NDArray[np.int8]:
        """See `ActionMode`."""
        return np.zeros(len(match.mask), np.int8) if closed else match.mask.copy()

    def play(self, match: Match, action: Any) -> None:
        """See `ActionMode`."""
        chosen = action if type(action) is int else _whole(action)
        within = 0 <= chosen < len(match.mask)
        if not (within and match.mask[chosen]):
            agent, legal = match.game.agents[match.turn], np.flatnonzero(match.mask).tolist()
            wrong = f"action {action!r} is not legal for {agent}; legal are {legal}"
            raise IllegalAction(wrong) if within else ValueError(wrong)
        match.play(chosen)


class PayloadActions:
    """The documented payloads: ``{"action_type": i, <type>: payload}``, with a mask over the action types."""

    def __init__(self, game: Game) -> None:
        self._types = list(game.view.action_spaces)
        self.space: spaces.Space[Any] = PayloadSpace(
            {"action_type": spaces.Discrete(len(self._types)), **deepcopy(dict(game.view.action_spaces))}
        )
        self.mask_space: spaces.Space[Any] = spaces.Box(0, 1, (len(self._types),), np.int8)

    def mask(self, match: Match, closed: bool | None) -> NDArray[np.int8]:
        """See `ActionMode`."""
        allowed = () if closed else match.game.allowed_actions(match.table)
        legal = {action.action_type for action in allowed}
        return np.array([name in legal for name in self._types], np.int8)

    def play(self, match: Match, action: Any) -> None:
        """See `ActionMode`."""
        result = match.submit(match.game.agents[match.turn], self._action(action))
        if not result.ok:
            raise IllegalAction(f"{result.error}: {result.error_detail}")

    def _action(self, action: Any) -> Action:
        if not isinstance(action, Mapping) or "action_type" not in action:
            raise ValueError(f"action {action!r} is not a payload; give {{'action_type': i, <type>: payload}}")
        number = _whole(action["action_type"])
        if not 0 <= number < len(self._types):
            wanted = ", ".join(f"{i} for {name}" for i, name in enumerate(self._types))
            raise ValueError(f"action_type {action['action_type']!r} is none; give {wanted}")
        name = self._types[number]
        payload = action.get(name, {})
        if not isinstance(payload, Mapping):
            raise ValueError(f"{name} is {payload!r}; give its payload as a dict")
        return Action(name, {key: np.asarray(value).tolist() for key, value in payload.items()})


def _whole(value: Any) -> int:
    """Return an integer of any type (learners return NumPy's, and arrays of shape ()) as an int; −1 for all else."""
    try:
        return -1 if isinstance(value, bool) else index(value)
    except TypeError:
        return -1


class GridActions:
    """Several choices at once: `spaces.MultiDiscrete`, with a mask for each choice."""

    def __init__(self, grid: ActionGrid) -> None:
        self._grid = grid
        self.space: spaces.Space[Any] = spaces.MultiDiscrete(list(grid.sizes))
        self.mask_space: spaces.Space[Any] = spaces.Tuple([spaces.Box(0, 1, (size,), np.int8) for size in grid.sizes])

    def mask(self, match: Match, closed: bool | None) -> tuple[NDArray[np.int8], ...]:
        """See `ActionMode`."""
        sizes = self._grid.sizes
        return tuple(np.zeros(size, np.int8) for size in sizes) if closed else self._grid.legal(match.table)

    def play(self, match: Match, action: Any) -> None:
        """See `ActionMode`."""
        values = np.asarray(action)
        if values.dtype.kind not in "iu" or values.shape != (len(self._grid.sizes),):
            raise ValueError(f"action {action!r} does not fit this grid; give {len(self._grid.sizes)} whole numbers")
        for value, mask in zip(values.tolist(), self._grid.legal(match.table), strict=True):
            if not 0 <= value < len(mask) or not mask[value]:
                raise IllegalAction(
                    f"action {action!r} is not legal: {value} is none of {np.flatnonzero(mask).tolist()}"
                )
        match.play_move(self._grid.decode(match.table, [int(value) for value in values]))


def action_mode(name: str, game: Game) -> ActionMode:
    """Return the action mode called `name`.

    ``"discrete"``: masked action indices. ``"payload"``: ``{"action_type": i, <type>: payload}``, a dict space of the
    documented payloads, with `action_mask` over the action types. ``"grid"``, where the game has one: one value for
    each choice of `View.grid`; `action_mask` is a tuple of masks, as `spaces.MultiDiscrete.sample` takes.

    Raises:
        ValueError: for an unknown name.
    """
    grid = game.view.grid
    if name == "discrete":
        return DiscreteActions(game)
    if name == "payload":
        return PayloadActions(game)
    if name == "grid" and grid is not None:
        return GridActions(grid)
    choices = "'discrete', 'payload'" + (", 'grid'" if grid is not None else "")
    raise ValueError(f"action={name!r} is unknown; choose from {choices}")


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
        illegal_reward: the reward of an agent for an illegal action, which ends the episode, as PettingZoo's standard
            wrappers do. None: an illegal action raises ValueError.

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
        illegal_reward: float | None = None,
    ) -> None:
        super().__init__()
        self.game = game
        self.match = Match(game, encoder)
        self.action_mode = action_mode(action, game)
        require_choice("observation", observation, ("dict", "flat"))
        layout = game.encoders[self.match.encoder].layout
        self._nested = layout if observation == "dict" else None
        shown = layout.flat_space() if self._nested is None else layout.dict_space()
        self._space = spaces.Dict({"observation": shown, "action_mask": self.action_mode.mask_space})
        name, modes = game.id.replace("-", "_"), list(MODES)
        self.metadata = {"name": name, "render_modes": modes, "render_fps": FPS, "is_parallelizable": False}
        self.render_mode = render_mode
        self.render_view = view_shown(game, render_view)
        self._display = Display(game, render_mode)
        self._illegal_reward = illegal_reward
        self._zeros = dict.fromkeys(game.agents, 0.0)
        self._no, self._yes = dict.fromkeys(game.agents, False), dict.fromkeys(game.agents, True)
        self.possible_agents = list(game.agents)
        self.agents: list[str] = []
        self._stepped = False

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of `observe`, the same for every agent.

        Raises:
            ValueError: for an unknown agent.
        """
        self.match.require_agent(agent)
        return self._space

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
        self.agents = self.possible_agents.copy()
        self.rewards, self._cumulative_rewards = self._zeros.copy(), self._zeros.copy()
        self.terminations, self.truncations = self._no.copy(), self._no.copy()
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._rewarded, self._stepped = False, True
        self._select()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return ``{"observation": …, "action_mask": …}`` in new arrays; the mask is all 0 out of turn."""
        return self._observed(self.match.seat_of(agent))

    def _observed(self, seat: int) -> dict[str, Any]:
        match = self.match
        mask = self.action_mode.mask(match, match.done or match.turn != seat)
        flat, nested = match.observation(seat), self._nested
        return {"observation": flat if nested is None else nested.tree(flat), "action_mask": mask}

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the selected agent, until no agent is left or `max_iter` times.

        Raises:
            ValueError: if neither `step` nor `submit` was called for the agent before.
        """
        for _ in range(min(max_iter, maxsize)):
            if not self.agents:
                return
            if not self._stepped:
                raise ValueError(f"agent_iter(): call step() for {self.agent_selection} first")
            self._stepped = False
            yield self.agent_selection

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the selected agent's observation, rewards since its last turn, termination, truncation and info.

        Raises:
            ValueError: if no episode runs: before the first reset, or after the last agent's step of None.
        """
        if not self.agents:
            raise ValueError("last(): no episode is running; call reset() first")
        agent, match = self.agent_selection, self.match
        return (
            self._observed(match.seats[agent] if match.done else match.turn) if observe else None,
            self._cumulative_rewards[agent],
            self.terminations[agent],
            self.truncations[agent],
            self.infos[agent],
        )

    def step(self, action: Any) -> None:
        """Play the selected agent's action (None for an agent whose episode is over).

        Raises:
            ValueError: if the action is none of the action space, or if it is not legal and there is no
                `illegal_reward`; the error names the legal ones. The table is unchanged then.
        """
        if not self.agents:
            raise ValueError("step() on a finished episode: call reset() first")
        agent, match = self.agent_selection, self.match
        before, self._stepped = match.decisions, True
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        try:
            self.action_mode.play(match, action)
        except IllegalAction:
            if self._illegal_reward is None:
                raise
            EnvLogger.warn_on_illegal_move()
            self.terminations, self.truncations = self._yes.copy(), self._yes.copy()
            self.rewards, self._rewarded = self._zeros | {agent: self._illegal_reward}, True
            self._cumulative_rewards[agent] = 0.0
            self._accumulate_rewards()
            self._deads_step_first()
            return
        self._settle(match.decisions != before)  # a payload may keep the turn

    def state(self) -> NDArray[np.uint8]:
        """Return the whole record as bytes (uint8[itemsize]), hidden information included."""
        return np.frombuffer(self.table.tobytes(), np.uint8)

    def render(self) -> NDArray[np.uint8] | str | None:
        """Draw the table as `render_view` sees it.

        Returns:
            By `render_mode`: ``"rgb_array"``: uint8[480, 640, 3]; ``"svg"`` and ``"ansi"``: a string; else None.
        """
        return self._display.show(self.render_view, self.match.turn_states)

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
        """Return the state that `agent` sees, at any time; see `Match.turn_state`."""
        return self.match.turn_state(agent)

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """Play a documented payload exactly; see `Match.submit`."""
        before = self.match.decisions
        result = self._ended(agent) or self.match.submit(agent, response)
        self._stepped |= result.ok
        if self.match.decisions != before:
            self._settle(True)
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

    def _settle(self, decided: bool) -> None:
        """Update PettingZoo's attributes after a step."""
        match, total = self.match, self._cumulative_rewards
        total[self.agent_selection] = 0.0
        if decided and match.rewarded:
            rewards, self.rewards, self._rewarded = match.rewards, {}, True
            for seat, agent in enumerate(self.agents):
                self.rewards[agent] = rewards[seat]
                total[agent] += rewards[seat]
        elif self._rewarded:
            self.rewards, self._rewarded = self._zeros.copy(), False
        if match.done:
            self.terminations = self._yes.copy()
        self._select()

    def _select(self) -> None:
        # The agents' dead steps come in seat order once the episode is over.
        match = self.match
        self.agent_selection = self.possible_agents[0 if match.done else match.turn]
        if self.render_mode == "human":
            self.render()


class TurnBasedParallel(turn_based_aec_to_parallel_wrapper[str, Any, Any]):
    """PettingZoo's turn-based conversion: `step` takes a dict with the action of the agent whose turn it is.

    PettingZoo tells every agent whose turn it is, as ``infos[agent]["active_agent"]``. In a game with hidden turns it
    is left out: an agent's own turn is where its action mask is not all 0.
    """

    def step(self, actions: dict[str, Any]) -> Any:
        """Play the action of the agent whose turn it is; the other actions are not read.

        Raises:
            ValueError: if `actions` has none for this agent.
        """
        env: Any = self.aec_env
        if env.agents and env.agent_selection not in actions:
            raise ValueError(f"actions has no entry for {env.agent_selection}, whose turn it is")
        env.step(actions.get(env.agent_selection))
        over = env.terminations[env.agent_selection]
        turn = {} if over or env.game.capabilities.hidden_turn is not None else {"active_agent": env.agent_selection}
        observations = {agent: env._observed(seat) for seat, agent in enumerate(env.agents)}
        results = observations, env.rewards.copy(), env.terminations.copy(), env.truncations.copy()
        infos = {agent: info | turn for agent, info in env.infos.items()}
        if over:
            ended = env.rewards, env._cumulative_rewards, env.terminations, env.truncations, env.infos
            for part in (env.agents, *ended):
                part.clear()
        self.agents = env.agents.copy()
        return *results, infos
