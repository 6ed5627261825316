"""Games in Ray RLlib's new API stack (https://docs.ray.io/en/latest/rllib/): environment, masks, self-play, returns.

    algorithm = rllib_config("holdem", seats=3).build_algo()
    algorithm.train()["env_runners"]["seat_returns"]

Needs the extra ``rllib``.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from gymnasium import spaces
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.callbacks.callbacks import RLlibCallback
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env import MultiAgentEnv
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from ..envs import VectorGame
from ..envs import game as make_game

MAIN = "main"
"""The name of the module that learns. Its checkpoints are ``main_v1``, ``main_v2``, …"""


class TableEnv(MultiAgentEnv):
    """One table as an environment of RLlib: only the agent whose turn it is observes and acts.

    An observation is ``{"observations": float32[D], "action_mask": float32[A]}``, as RLlib's masking module takes it.
    Rewards, in `Payoffs.unit`, are given to all agents at every step. RLlib adds those of agents out of turn to their
    next or last transition; of an agent that never acts in an episode it keeps nothing, but `returns` does.

    Args:
        config: ``{"game": name, "options": {…}, "encoder": name or None}``.

    Attributes:
        returns: the sum of the rewards of every agent in the current or just finished episode.
    """

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__()
        game = make_game(config["game"], **config.get("options", {}))
        self.tables = VectorGame(game, 1, config.get("encoder"))
        self._names = list(game.agents)
        self.possible_agents, self.agents = [*self._names], [*self._names]
        seen = game.encoders[self.tables.encoder].layout.flat_space()
        mask = spaces.Box(0, 1, (game.num_actions,), np.float32)
        space = spaces.Dict({"observations": seen, "action_mask": mask})
        self.observation_spaces = dict.fromkeys(game.agents, space)
        self.action_spaces = dict.fromkeys(game.agents, spaces.Discrete(game.num_actions))
        self.returns = dict.fromkeys(game.agents, 0.0)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        """Begin an episode; return the observation of the agent whose turn it is.

        Raises:
            ValueError: for any options.
        """
        self.tables.game.capabilities.refuse_options(options)
        self.tables.reset(seed)
        self.returns = dict.fromkeys(self._names, 0.0)
        return self._observed(), {}

    def step(self, action_dict: dict[Any, Any]) -> tuple[Any, Any, Any, Any, Any]:
        """Play the action of the agent whose turn it is. A masked action is replaced by the safe action.

        RLlib checks an environment with random actions without masks. At the end the agent that acted gets the
        observation of the end.
        """
        tables, agents = self.tables, self._names
        seat = int(tables.turn[0])
        actions = tables.made_legal(np.array([int(action_dict[agents[seat]])]))[0]
        _, ended = tables.step_with_ends(actions)
        gains = tables.rewards[0] / tables.game.payoffs.unit
        rewards = dict(zip(agents, map(float, gains), strict=True))
        self.returns = {agent: self.returns[agent] + rewards[agent] for agent in agents}
        done = bool(tables.dones[0])
        observed = self._observed()
        if done:
            last = tables.game.encoders[tables.encoder].observation(ended[0], seat)
            observed = {agents[seat]: {"observations": last, "action_mask": np.ones_like(tables.action_masks[0], "f4")}}
        return observed, rewards, {"__all__": done}, {"__all__": False}, {}

    def _observed(self) -> dict[str, Any]:
        tables = self.tables
        seen = {"observations": tables.observations[0].copy(), "action_mask": tables.action_masks[0].astype(np.float32)}
        return {self._names[int(tables.turn[0])]: seen}


class SelfPlay(RLlibCallback):
    """Adds a checkpoint of the main module to its opponents from time to time, and reports the returns of all seats.

    Args:
        every: training iterations between two checkpoints; 0: none is made, and the main module plays all seats.
        most: the most checkpoints that are kept as opponents; then no more are added.
    """

    def __init__(self, every: int = 0, most: int = 10) -> None:
        super().__init__()
        self.every, self.most = every, most
        self.checkpoints: list[str] = []

    def on_episode_end(
        self, *, episode: Any, env: Any = None, env_index: int = 0, metrics_logger: Any = None, **_: Any
    ) -> None:
        """Report the returns of every seat, also of those that never acted, as ``seat_returns/<agent>``."""
        returns = env.envs[env_index].unwrapped.returns
        for agent, gain in returns.items():
            metrics_logger.log_value(("seat_returns", agent), gain, reduce="mean", window=1_000)
        metrics_logger.log_value("seat_returns_sum", sum(returns.values()), reduce="mean", window=1_000)

    def on_train_result(self, *, algorithm: Any, result: dict[str, Any], **_: Any) -> None:
        """Add a checkpoint of the main module to the opponents, if it is time."""
        if self.every and algorithm.iteration % self.every == 0 and len(self.checkpoints) < self.most:
            main, name = algorithm.get_module(MAIN), f"{MAIN}_v{len(self.checkpoints) + 1}"
            self.checkpoints.append(name)
            agents = algorithm.config.env_config["agents"]
            mapping = partial(module_of, agents=agents, checkpoints=tuple(self.checkpoints))
            spec, new = RLModuleSpec.from_module(main), {"new_should_module_be_updated": [MAIN]}
            algorithm.add_module(name, spec, new_agent_to_module_mapping_fn=mapping, **new)
            weights = main.get_state()
            algorithm.set_state({"learner_group": {"learner": {"rl_module": {name: weights}}}})
            # RLlib would send the learner's weights after the next iteration; until then these would be random.
            algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.module[name].set_state(weights))
        result["checkpoints"] = len(self.checkpoints)


def module_of(
    agent_id: str, episode: Any, *_: Any, agents: Sequence[str], checkpoints: Sequence[str], **__: Any
) -> str:
    """Return the module of an agent in an episode.

    The main module plays all seats of half the episodes. In the other half it plays one seat, and a checkpoint plays
    each of the others. The draw depends on the episode's id alone.
    """
    draw = crc32(str(episode.id_).encode())
    if not checkpoints or draw % 2 == 0 or agents[draw // 2 % len(agents)] == agent_id:
        return MAIN
    return checkpoints[crc32(f"{episode.id_} {agent_id}".encode()) % len(checkpoints)]


def rllib_config(
    game: str, *, encoder: str | None = None, checkpoint_every: int = 10, most_checkpoints: int = 10, **options: Any
) -> PPOConfig:
    """Return a configuration of RLlib's PPO for self-play. Every setting can be changed with its own methods.

    Args:
        game: the game's name.
        encoder: name of the encoder of the observations; None: the game's own encoder.
        checkpoint_every: training iterations between two checkpoints that join the opponents (see `SelfPlay`); 0: none.
        most_checkpoints: the most checkpoints as opponents.
        options: the game's.

    Raises:
        ValueError: for an unknown game or option.
    """
    agents = make_game(game, **options).agents
    model = {"fcnet_hiddens": [128, 128], "fcnet_activation": "tanh"}
    mapping: Callable[..., str] = partial(module_of, agents=agents, checkpoints=())
    config: Any = PPOConfig()
    config.environment(TableEnv, env_config={"game": game, "options": options, "encoder": encoder, "agents": agents})
    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule, model_config=model)
    config.rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={MAIN: spec}))
    config.multi_agent(policies={MAIN}, policy_mapping_fn=mapping, policies_to_train=[MAIN])
    config.callbacks(partial(SelfPlay, every=checkpoint_every, most=most_checkpoints))
    config.env_runners(num_env_runners=0, num_envs_per_env_runner=32)
    config.training(gamma=1.0, lambda_=0.95, train_batch_size_per_learner=2_000, minibatch_size=500, num_epochs=4)
    configured: PPOConfig = config.training(lr=1e-3, entropy_coeff=0.01, grad_clip=0.5)
    return configured
