"""PettingZoo's standard wrappers around a `GameEnv`, faster: they read the `GameEnv` directly."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from pettingzoo import AECEnv
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper
from pettingzoo.utils.env_logger import EnvLogger
from pettingzoo.utils.wrappers import (
    BaseWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from .action_modes import DiscreteActions, IllegalAction
from .aec import GameEnv
from .turn_state import Action, ActionResult, AgentResponse


def _of_table(name: str) -> property:
    return property(lambda wrapper: getattr(wrapper._raw, name))


class _Direct:
    """A wrapper that reads the `GameEnv`'s attributes directly. PettingZoo's wrappers read them through each other."""

    agent_selection = _of_table("agent_selection")
    terminations = _of_table("terminations")
    truncations = _of_table("truncations")
    infos = _of_table("infos")

    def __init__(self, env: AECEnv[str, Any, Any], **settings: Any) -> None:
        super().__init__(env, **settings)  # type: ignore[call-arg]
        self._raw: Any = env.unwrapped


class _TerminateIllegal(_Direct, TerminateIllegalWrapper[str, Any, Any]):
    pass


class _IndicesOnly(_Direct, BaseWrapper[str, Any, Any]):
    """What PettingZoo's `AssertOutOfBoundsWrapper` does, with the error of `raw_env`, which names the legal actions."""

    def step(self, action: Any) -> None:
        """See `GameEnv.step`."""
        agent = self.agent_selection
        if not (self.terminations[agent] or self.truncations[agent]):
            action = self._raw.action_mode.index(self._raw.match, action)
        self.env.step(action)


class _TerminateRefused(_Direct, BaseWrapper[str, Any, Any]):
    """What `TerminateIllegalWrapper` does, for actions that a mask alone does not judge: payloads and grids."""

    def __init__(self, env: AECEnv[str, Any, Any], illegal_reward: float) -> None:
        super().__init__(env)
        self._illegal_reward = illegal_reward

    def step(self, action: Any) -> None:
        raw = self._raw
        try:
            raw.step(action)
        except IllegalAction:
            EnvLogger.warn_on_illegal_move()
            agent = raw.agent_selection
            raw._cumulative_rewards[agent] = 0.0
            raw.terminations = dict.fromkeys(raw.agents, True)
            raw.truncations = dict.fromkeys(raw.agents, True)
            raw.rewards = dict.fromkeys(raw.agents, 0.0)
            raw.rewards[agent] = float(self._illegal_reward)
            raw._accumulate_rewards()
            raw._deads_step_first()


class _TurnOrder(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's check of the call order. It knows that `submit` ends a turn, and reads the `GameEnv` directly."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self._raw: Any = env.unwrapped

    def __getattr__(self, name: str) -> Any:
        if name in _AFTER_RESET and not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        if name.startswith("_") and name != "_cumulative_rewards":
            raise AttributeError(f"accessing private attribute {name!r} is prohibited")
        return getattr(self._raw, name)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the selected agent's observation, rewards since its last turn, termination, truncation and info."""
        agent = self.agent_selection
        raw = self._raw
        if not raw.agents:
            raise ValueError("last(): no episode is running; call reset() first")
        observation = self.env.observe(agent) if observe else None  # through the wrappers: one of them keeps the mask
        return (
            observation,
            raw._cumulative_rewards[agent],
            raw.terminations[agent],
            raw.truncations[agent],
            raw.infos[agent],
        )

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """See `GameEnv.submit`."""
        result: ActionResult = self._raw.submit(agent, response)
        if result.ok:
            self._has_updated = True
            self.env.observe(self.agent_selection)  # the wrapper below must not keep the last turn's mask
        return result

    def clone(self) -> "_TurnOrder":
        """Return an independent copy, wrapped as this is."""
        return deepcopy(self)


_AFTER_RESET = {"rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"}


def wrapped(env: GameEnv, illegal_reward: float) -> AECEnv[str, Any, Any]:
    """Put PettingZoo's standard wrappers around `env`. An illegal action ends the episode with `illegal_reward`."""
    if not isinstance(env.action_mode, DiscreteActions):
        return _TurnOrder(_TerminateRefused(env, illegal_reward=illegal_reward))
    return _TurnOrder(_IndicesOnly(_TerminateIllegal(env, illegal_reward=illegal_reward)))


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
        if self.agents and self.aec_env.agent_selection not in actions:
            raise ValueError(f"actions has no entry for {self.aec_env.agent_selection}, whose turn it is")
        results = super().step(actions)
        if self.aec_env.unwrapped.game.capabilities.hidden_turn is not None:
            for info in results[-1].values():
                info.pop("active_agent", None)
        return results
