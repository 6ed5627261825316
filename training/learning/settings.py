"""The settings that every learning algorithm has, some of which change during a run, and those of self-play."""

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args, get_origin, get_type_hints

from ...envs.core.options import AT_LEAST_0, Checked, Rule, named, number, whole
from .league import League

LINEAR = "linear"


class Schedule(tuple[Any, ...]):
    """A setting's start and end, and ``"linear"`` as a third element if it changes linearly between two above 0.

    Without it, the setting changes geometrically between two values above 0, and linearly from or to 0.

    Args:
        values: the elements, as numbers or text; or one number, for a setting that does not change.

    Raises:
        ValueError: for other elements.

    >>> Schedule([0.1, 0.001]).at(0.5), Schedule([0.1, 0]).at(0.5), Schedule([3, 1, "linear"]).at(0.5), Schedule(2)
    (0.01, 0.05, 2.0, (2.0, 2.0))
    """

    def __new__(cls, values: Any) -> Self:
        """Check the values and return them as a schedule."""
        parts = [values] if isinstance(values, str) or not isinstance(values, Iterable) else list(values)
        way = parts[2:]
        try:
            ends = [] if any(isinstance(part, bool) for part in parts) else [float(part) for part in parts[:2]]
        except (TypeError, ValueError):
            ends = []
        if not ends or way not in ([], [LINEAR]):
            raise ValueError(f"{values!r}: need the start and the end, such as [0.1, 0.003], or one number")
        return super().__new__(cls, (ends[0], ends[-1], *way))

    @property
    def start(self) -> float:
        """The value at the start."""
        return float(self[0])

    def at(self, used: float) -> float:
        """Return the value after the share `used` (0 to 1) of the budget."""
        start, end = self[:2]
        if start == end or min(start, end) == 0 or LINEAR in self:
            return float(start + (end - start) * used)
        return float(round(start ** (1 - used) * end**used, 12))


def at_least(low: int) -> Rule:
    """Return the rule of a whole number, or of each of several, from `low` up."""
    return Rule(lambda name, value: whole(name, value, low))


def between(low: float, high: float = 1e9, *, above: bool = False) -> Rule:
    """Return the rule of a number, or of both ends of a schedule, from `low`, or above it, to `high`."""
    return Rule(lambda name, value: number(name, value, low, high, above=above))


Count = Annotated[int, at_least(1)]
Sizes = Annotated[tuple[int, ...], at_least(1)]
Share = Annotated[float, between(0, 1)]
Weight = Annotated[float, between(0)]
Positive = Annotated[float, between(0, above=True)]
ALGORITHM = "maskable_ppo"
"""The default learning algorithm."""
CHECKPOINT_SLOTS = 4
"""Number of past checkpoints among the opponents: the newest one, and others drawn at random."""


def run_path(run: str) -> Path:
    """Return a run as it is typed: a name below ``runs/``, or a path, which has a separator.

    The path is made absolute, since ``Path("./x")`` is the name ``x``.
    """
    return Path(run).absolute() if {os.sep, os.altsep} & {*run} else Path(run)


def pair(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``, where the value is JSON, numbers with commas, or a word.

    >>> pair("seats=2"), pair("stacks=50,100"), pair("figure=A house")
    (('seats', 2), ('stacks', [50, 100]), ('figure', 'A house'))

    Raises:
        ValueError: if there is no ``=``.
    """
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r}: write name=value")
    for written in (value, f"[{value}]" if re.fullmatch(r"[-+.\d\s]+(,[-+.\d\s]+)+", value) else value):
        with suppress(ValueError, RecursionError):
            return name, json.loads(written)
    return name, value


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Settings of a training run. A learning algorithm adds its own (see `parlour.training.algorithms`)."""

    game: str
    """The game, by name."""
    options: dict[str, Any] = field(default_factory=dict)
    """The game's options, such as seats=2 stacks=200. Change it to the rules that you will play by."""
    encoder: str = ""
    """The encoder of the policy's observations, such as v0. Empty: the game's default. Change it to use another
    version of the observation."""
    preset: str = ""
    """The preset of the settings: a game's name or another preset. It is saved with the policy."""
    algorithm: str = ALGORITHM
    """The learning algorithm, by name. Some of the settings belong to the algorithm. Change it to selfplay for one
    policy in all seats; maskable_ppo has the files of Stable-Baselines3."""

    total_timesteps: Count = 20_000_000
    """Number of decisions of the learner, at all tables together; the last rollout is played to its end, so it may be
    some more. Change it to more while the learning curve still rises."""
    minutes: Annotated[float | None, between(0, above=True)] = None
    """The run ends after this many minutes at the latest. The learning rate has its final value by then. Change it
    where time counts more than to get the same result again."""
    seed: Annotated[int, at_least(0)] = 0
    """Seed of all random numbers. With one thread and no time limit, the same seed gives the same policy. Change it
    for a second run: trust no result of one seed."""
    n_envs: Count = 256
    """Number of tables that are played at the same time. Change it to more for larger and steadier batches; they take
    memory."""
    reward_scale: float = 0.01
    """Factor of the rewards (in the game's unit, such as big blinds). The results should be between about -1 and 1.
    Change it if rewards are much larger or smaller than a few units. The default of a game of your own is 1 divided by
    the largest return of its `Payoffs`."""

    past_checkpoints: Share = 0.5
    """Share of the opponents that are past checkpoints of the learner. Change it to more if the policy loses to its
    earlier versions."""
    checkpoint_every: Count = 250_000
    """Timesteps between two checkpoints. The model is saved with each. Change it to more in long runs: every
    checkpoint is kept."""
    bots: dict[str, float] = field(default_factory=lambda: {"random": 1.0})
    """The bots among the opponents, with their relative shares of the rest. Change it to the bots that the policy will
    meet."""
    random_start_steps: Annotated[int, at_least(0)] = 0
    """The most random decisions at the beginning of an episode. The least number falls from this to 0 by the middle of
    the budget, so that the end of the game is learned first (a reverse curriculum). Change it for games whose late
    turns are seldom reached."""

    teacher: str = ""
    """The teacher of behavioural cloning before reinforcement learning: a bot, or an expert of the game. Empty: no
    cloning. An expert may use hidden information, and also labels the learner's own matches (DAgger). Change it
    where learning from nothing is slow, as in mafia and tangram."""
    demonstrations: Count = 1_000_000
    """Number of the teacher's decisions, in all seats, for cloning. Change it to more for a teacher that is hard to
    copy."""
    cloning_minutes: Annotated[float | None, between(0, above=True)] = None
    """Time limit of cloning in minutes. `minutes` begin after it. Change it where time counts more than to get the
    same result again."""

    evaluate_against: tuple[str, ...] = ()
    """Opponents of the evaluations at each checkpoint and at the end: bots, runs or policy files. Each one plays all
    other seats. best_response: a best response, for games that have one. In small games NashConv is computed too.
    Empty: no evaluations. Change it to those that you compare with, to see how strength grows."""

    run: Path | None = None
    """Name of the run: its folder, runs/NAME, holds the policy, the settings and the checkpoints; other commands
    take the name. Or the path of the folder. Default: the game and the time. Change it to find the run again."""

    def league(self) -> League:
        """Return the league of a run with these settings.

        Raises:
            ValueError: if the shares of the opponents do not fit together.
        """
        return League(CHECKPOINT_SLOTS, self.past_checkpoints, self.bots, self.seed)

    def unused(self) -> list[str]:
        """Return the names of settings that were changed and have no effect beside the others."""
        return []

    def __post_init__(self) -> None:
        """Check settings that would fail late or without an error."""
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            kind, *rules = get_args(hint) if get_origin(hint) is Annotated else (hint,)
            value = getattr(self, name)
            if get_origin(kind) is Literal:
                named(name, value, get_args(kind))
            values = value[:2] if isinstance(value, Schedule) else value if isinstance(value, tuple) else [value]
            for rule in rules:
                for each in values:
                    if each is not None:
                        rule.check(name, each)
        if self.run is not None and not re.fullmatch(r"\w[\w.-]*", self.run.name):
            raise ValueError(f"run={str(self.run)!r}: need a name of letters, digits, . - _, not beginning with . or -")


EngineName = Literal["local", "process", "ray", "gpu"]
NetworkKind = Literal["mlp", "residual", "seats"]
EntropyPrior = Literal["actions", "action_types"]
UpdateKind = Literal["ppo", "mirror_descent"]


@dataclass(frozen=True, kw_only=True)
class SelfPlayConfig(TrainConfig):
    """Settings of a run with self-play PPO."""

    algorithm: str = "selfplay"
    """The learning algorithm, by name. Some of the settings belong to the algorithm. Change it to maskable_ppo for the
    files of Stable-Baselines3."""
    engine: EngineName = "local"
    """Where decisions are collected. local: in the learner's process; process: in processes of this machine; ray: by
    actors of a Ray cluster, which play while the learner learns; gpu: at tables on the learner's GPU. The cluster is
    that of the environment's RAY_ADDRESS, such as auto or 10.0.0.1:6379, else one of this machine alone. Change it to
    use more processors, machines or a GPU."""
    actors: Count = 1
    """Number of actors. Each has its own tables; those of the engine local play one after the other. Change it to the
    number of free processors."""
    n_envs: Count = 2_048
    """Number of tables of each actor. Change it to more for larger and steadier batches; they take memory."""
    opponent_tables: Share = 0.0
    """Share of the tables at which past checkpoints and bots play all seats but one. At the others the learner plays
    every seat. Change it to more if the policy must win from bots, and to 0 for play near an equilibrium."""
    mixed_tables: Share = 0.0
    """Share of the tables at which each seat is the learner's or an opponent's, with equal probability. In a game with
    teams the learner plays none, half or all of a team, one opponent the rest. So it meets strangers in its team.
    Change it where the policy will play with strangers in its team."""
    relabel: bool = False
    """Show each agent in each episode the other seats in random order, and with other tokens, where the game does not
    tell them apart (other-play). So no agreement between copies of the policy can rest on them. Change it where the
    policy will play with strangers."""
    chance_samples: Annotated[int, at_least(0)] = 0
    """Where the rest of an episode is only chance (all-in pots), its rewards are means over this many random
    continuations, and exact if there are no more. 0: the rewards as played. Change it to 20 or more in hold'em, for
    less noise."""
    network: NetworkKind = "mlp"
    """Kind of the networks. mlp; residual: the input of a hidden layer is added to its output, if their sizes are
    equal; seats: the first layer has the same weights for every seat. Change it to seats for games of many
    seats."""
    net_arch: Sizes = (128, 128)
    """Sizes of the hidden layers of the policy. Change it to larger ones for long observations; they are slower in
    play too."""
    critic_net_arch: Sizes = (128, 128)
    """Sizes of the hidden layers of the value function. Change it to larger ones if `train/value_loss` stays high; it
    is not needed in play."""
    action_values: bool = False
    """The value function also values every action, and the policy learns from all of them in each decision, not only
    from the one taken (a Q-critic). It needs `kl_coef`, which limits the update. Change it where hidden information
    decides the result, as in auctions."""
    learning_rate: Annotated[Schedule, between(0, above=True)] = Schedule((1e-3, 1e-4))
    """Learning rate at the start and at the end. One number: constant. Between two above 0 it changes geometrically,
    or linearly if the word linear follows. Change it to start lower if `train/kl` is large, and to end lower in
    long runs."""
    ent_coef: Annotated[Schedule, between(0)] = Schedule((0.05, 0.003))
    """Weight of the entropy bonus at the start and at the end, like `learning_rate`, where advantages have a standard
    deviation of 1. Change it to start higher if the policy settles early on few actions, to end lower for play nearer
    to the best action, and to end higher if the policy can be exploited."""
    ent_prior: EntropyPrior = "actions"
    """The play towards which the entropy bonus pushes. actions: all legal actions equally likely. action_types: all
    types of legal actions (fold, call, raise) equally likely, and the actions of a type. Where a type has many
    actions, the first pays for choosing that type: in hold'em for raising. Change it where a type has many
    actions."""
    update: UpdateKind = "ppo"
    """How a rollout changes the policy. ppo: gradients of the clipped objective. mirror_descent: the policy is fitted
    to the exact proximal step, with values of all actions, and the mean of all policies is saved. Change it to
    mirror_descent where the policy should be hard to exploit."""
    ratio_clip: Positive = 0.1
    """Clipping range of PPO. Change it to less for smaller updates."""
    reference_coef: Weight = 0.1
    """With mirror_descent, the weight of the divergence from the reference, a past version of the policy. Change it to
    more if the latest policies cycle."""
    reference_every: Annotated[int, at_least(0)] = 50
    """With mirror_descent, the number of updates after which the policy becomes the reference. 0: never, so that the
    reference is the first policy. Change it to more if the policies cycle."""
    exploration: Share = 0.0
    """With mirror_descent, the share of random actions in rollouts; the policy learns as if there were none. Change it
    to 0.2, so that the values of rare actions are known."""
    n_steps: Count = 32
    """Decisions per table in each rollout. Change it to more for long episodes."""
    batch_size: Count = 8_192
    """Decisions per gradient step. Change it to less for more updates with each decision; they take longer."""
    n_epochs: Count = 2
    """Number of epochs per rollout. Change it to more where decisions are expensive."""
    kl_coef: Annotated[Schedule, between(0)] = Schedule(0)
    """Weight of the divergence KL(new policy, policy before the update) at the start and at the end, like
    `learning_rate`. Policies cycle less if it rises while the entropy bonus falls. Change it if policies cycle, and
    with `action_values`."""
    average_decay: Share = 0.0
    """Decay per gradient step of the averaged weights, which are saved and played. 0: the latest weights. Change it to
    0.999 or more where the latest policies differ much."""
    temperature: Positive = 1.0
    """Temperature of the saved policy, above 0: its logits are divided by it. Below 1 it plays closer to its best
    action than in the training, where it explores. 1: as in the training. Change it to less where much entropy is
    left at the end."""
    adam_beta1: Share = 0.9
    """Decay of Adam's mean of the gradients, 0 to 1. With 0, no momentum, the last policies of self-play cycle less.
    Change it to 0 in small games."""
    device: str = "cpu"
    """Device of the networks: cpu, or cuda with a GPU. Change it for large networks and for the engine gpu."""

    def unused(self) -> list[str]:
        """Return the names of settings that were changed and have no effect beside the others."""
        idle: list[str] = []
        if not self.opponent_tables + self.mixed_tables:
            idle += ["bots", "past_checkpoints"]
        of_ppo, of_mirror_descent = ["average_decay", "ratio_clip", "ent_prior"], ["reference_coef", "reference_every"]
        idle += of_mirror_descent if self.update == "ppo" else of_ppo
        defaults = {"bots": {"random": 1.0}}
        return [name for name in idle if getattr(self, name) != defaults.get(name, getattr(type(self), name, None))]

    def __post_init__(self) -> None:
        """Check settings that would fail late or without an error."""
        super().__post_init__()
        if self.action_values and not self.kl_coef.start:
            raise ValueError("action_values needs kl_coef above 0, as 3.5: nothing else limits what one update changes")
        if self.update == "mirror_descent" and not self.action_values:
            raise ValueError("update='mirror_descent' needs action_values: give --set action_values=true kl_coef=3.5")
        if self.update == "mirror_descent" and self.engine not in ("local", "process"):
            raise ValueError(
                f"update='mirror_descent' needs engine='local' or 'process', where a rollout has one policy; "
                f"not engine={self.engine!r}"
            )
        if self.exploration and self.update != "mirror_descent":
            raise ValueError(f"exploration={self.exploration}: needs update='mirror_descent', which allows for it")
        if self.opponent_tables + self.mixed_tables > 1:
            raise ValueError(
                f"opponent_tables={self.opponent_tables} and mixed_tables={self.mixed_tables}: together at most 1"
            )
        for name in ("average_decay", "adam_beta1"):
            if getattr(self, name) == 1:
                raise ValueError(f"{name}=1: the mean would never move; need less than 1")
        import torch  # here, as most commands need no PyTorch

        if self.device != "cpu" and not (self.device.startswith("cuda") and torch.cuda.is_available()):
            raise ValueError(f"device={self.device!r}: need cpu, or cuda where PyTorch finds a GPU; it finds none here")


@dataclass(frozen=True, kw_only=True)
class LearnerArguments(Checked):
    """The learned best response."""

    decisions: Annotated[int, AT_LEAST_0] = 1_000_000
    """Decisions of the learner; 0: no learned best response."""
    minutes: float | None = None
    """Time limit of the learner in minutes."""
    algorithm: str = ALGORITHM
    """The learning algorithm, by name."""
    learner: tuple[str, ...] = ()
    """Settings of the learner as name=value, such as net_arch=[256,256], in place of those of the game's preset."""
