"""Training runs: `train` begins one, `resume` continues one. Both write the run folder (see `run_folder`).

A run is evaluated against fixed opponents, and by its exploitability where it can be computed.
"""

import dataclasses
import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.progress import Progress
from torch.utils.tensorboard import SummaryWriter

from ...envs import Game
from ...envs import game as make_game
from ...envs.core.files import no_files
from ...envs.core.options import did_you_mean, named
from ...envs.core.rollout import Policy, encoder_of
from ...wrappers import MlpPolicy, Pool
from ...wrappers.policies.loading import CHECKPOINTS, make_policy, newest_whole
from ..algorithms import find
from ..evaluation.duplicate import evaluate, unit_per_game
from ..evaluation.exact import Probable, flat_tree, nash_conv
from ..evaluation.games import best_response, compare
from ..learning import run_folder
from ..learning.league import HasPolicy, League
from ..learning.learner import TABLES, Learner, Monitor, clone, corrections, demonstrations
from ..learning.networks import blas_threads
from ..learning.settings import LearnerArguments, TrainConfig, pair
from ..parallel.tasks import Tick, held_back, ignore, interruptible
from ..terminal.console import Console, training_bar
from .config import load_config, scale_of, settings_from, source_of, to_toml

NODES = 200_000
"""NashConv is computed for games with at most this many nodes."""
BEST_RESPONSE = "best_response"
"""The name of the game's best response among the opponents."""
DEALS = 1_000
"""Deals per opponent. Each is played once with the policy in each seat."""
HANDS = 200
"""Number of hands of the best response."""
FEW = 200
"""Deals of `Evaluations.glance`."""


class Evaluations:
    """Evaluates the policy of a run, always on the same deals.

    Args:
        config: the setting ``evaluate_against``.
        game: the game with its options.

    Attributes:
        latest: the last results by name; empty before the first evaluation.
        glances: whether `glance` is of use: `run` is not, and seats win from each other.

    Raises:
        ValueError: for an unknown opponent, or if there is no best response for the game.
    """

    def __init__(self, config: TrainConfig, game: Game) -> None:
        self._config, self._game = config, game
        self.latest: dict[str, float] = {}
        self.glances = not config.evaluate_against and not game.payoffs.shared
        self._tree = None
        if not config.evaluate_against:
            return
        self._best_response = BEST_RESPONSE in config.evaluate_against
        self._opponents = [name for name in config.evaluate_against if name != BEST_RESPONSE]
        for name in self._opponents:
            make_policy(name, game, seed=0)
        if game.capabilities.chance is not None:
            try:
                self._tree = flat_tree(game, config.encoder, NODES)
            except ValueError:  # the tree is too large
                self._tree = None
        if self._best_response:
            best_response(make_policy("random", game, seed=0), game, hands=4)  # raises if there is no method

    def glance(self, policy: Policy) -> None:
        """Play a few deals against the game's first bot but `random`, for `note`.

        The mean reward in self-play does not say whether a policy learns: in games whose rewards sum to 0 it is 0.
        """
        game, seed = self._game, self._config.seed
        for name in [*(one for one in game.bots if one != "random"), "random"]:
            with suppress(ValueError):  # a bot that cannot play the game with its options
                rival = make_policy(name, game, seed=seed)
                break
        self._same_draws(policy)
        self.latest = {f"eval/{name}": evaluate(policy, game, [rival], deals=FEW, seed=seed).mean}

    def run(self, policy: Policy) -> dict[str, float]:
        """Evaluate a policy and return the results.

        Returns:
            ``eval/NAME``: its mean return per game against an opponent, in `Payoffs.unit`, and ``eval/NAME_interval``,
            half the width of the 95 % interval; ``eval/nash_conv`` in the same unit; ``eval/best_response``, a lower
            bound on exploitability, in thousandths of it. ``theory/NAME`` and ``theory/NAME_theory``: the numbers
            of the comparison with theory, as `parlour evaluate` prints them, and their values in theory, if any.
        """
        config, game = self._config, self._game
        results: dict[str, float] = {}
        for number, name in enumerate(self._opponents):
            self._same_draws(policy)
            rival = make_policy(name, game, seed=config.seed + number)
            score = evaluate(policy, game, [rival], deals=DEALS, seed=config.seed)
            results |= {f"eval/{name}": score.mean, f"eval/{name}_interval": (score.high - score.low) / 2}
        if self._tree is not None and isinstance(policy, Probable):  # a bot tells none
            strategy = self._tree.strategy_of(policy)
            results["eval/nash_conv"] = nash_conv(self._tree, strategy) / game.payoffs.unit
        if self._best_response:
            self._same_draws(policy)
            results["eval/best_response"] = 1_000 * best_response(policy, game, hands=HANDS).mean
        self._same_draws(policy)
        beside = compare(policy, game, matches=DEALS, seed=config.seed)
        for line in beside.lines if beside else ():
            both = {f"theory/{line.name}": line.learned, f"theory/{line.name}_theory": line.theory}
            results |= {name: value for name, value in both.items() if value is not None}
        self.latest = results
        return results

    def _same_draws(self, policy: Policy) -> None:
        if isinstance(policy, MlpPolicy):
            policy.stream = self._config.seed

    @property
    def note(self) -> str:
        """The last results for the progress line, with their unit; empty before the first evaluation."""
        words = {"nash_conv": "NashConv", BEST_RESPONSE: "best response, thousandths:"}
        results = [(one.removeprefix("eval/"), value) for one, value in self.latest.items() if one.startswith("eval/")]
        means = ((words.get(name, f"against {name}"), value) for name, value in results if "_interval" not in name)
        text = ", ".join(f"{what} {value:+.2f}" for what, value in means)
        return f"{text} {unit_per_game(self._game)}" if text else ""


def in_words(seconds: float) -> str:
    """Return a duration: below two minutes in seconds.

    >>> in_words(5.6), in_words(600)
    ('5.6 s', '10.0 minutes')
    """
    return f"{seconds:.1f} s" if seconds < 120 else f"{seconds / 60:.1f} minutes"


class Metrics:
    """Appends metrics to the files of a run folder.

    Args:
        folder: the run folder.
    """

    def __init__(self, folder: Path) -> None:
        file = folder / "metrics.jsonl"
        self._lines = file.open("a", encoding="utf-8")
        self._lines.truncate(file.read_bytes().rfind(b"\n") + 1)  # a last line that was cut off by a crash
        self._board = SummaryWriter(str(folder / "tensorboard"))

    def write(self, metrics: Mapping[str, Any], timesteps: int) -> None:
        """Write metrics by name, with the number of timesteps so far."""
        values = {name: value.item() if hasattr(value, "item") else value for name, value in sorted(metrics.items())}
        numbers = {name: value for name, value in values.items() if isinstance(value, int | float)}
        with held_back():  # TensorBoard has threads of its own
            self._lines.write(json.dumps({"steps": timesteps, **values}) + "\n")
            self._lines.flush()
            for name, value in numbers.items():
                self._board.add_scalar(name, value, timesteps)
            self._board.flush()

    def close(self) -> None:
        """Close the files."""
        self._lines.close()
        self._board.close()


EXPERT = "expert"
"""The name of the game's expert among teachers."""
Callback = Callable[[Learner, Mapping[str, Any]], bool | None]
"""Called after each iteration with the learner and its metrics. It may return False to end the run."""


def train(
    config: TrainConfig, command: Sequence[str] = (), callbacks: Sequence[Callback] = (), *, reraise: bool = False
) -> Path:
    """Train a policy. Ctrl-C and SIGTERM end the run early and save it.

    Args:
        config: the settings.
        command: the command line, for ``command.txt``; empty: that of this process.
        callbacks: called after each iteration, in order.
        reraise: raise the KeyboardInterrupt again once the run is saved, to end what comes after it too.

    Returns:
        The run folder.

    Raises:
        FileExistsError: if the run exists.
        ValueError: for settings or options that do not fit the game.
    """
    config, game = completed(config)
    if unused := config.unused():
        Console(stderr=True).say(f"without effect beside the other settings: {', '.join(unused)}")
    if config.teacher:
        named("bot or expert", config.teacher, [*game.bots, *([EXPERT] if game.capabilities.expert else [])])
    evaluations = Evaluations(config, game)
    league = config.league()
    learner = find(config.algorithm)(config, game, league)
    folder = run_folder.new_folder(config.run, game.id)
    config = dataclasses.replace(config, run=folder)
    run_folder.begin_session(folder, to_toml(config), command)
    with run_folder.locked(folder), blas_threads(), interruptible():
        if config.teacher:
            try:
                probability = _clone(learner, config, game)
            except KeyboardInterrupt:
                _save(learner, folder)
                Console().say(f"stopped while cloning {config.teacher}; continue without it: {_resume(folder, game)}")
                if reraise:
                    raise
                return folder
            _save(learner, folder)
            Console().print(f"cloned {config.teacher}: mean probability of its actions {probability:.2f}")
        return _Run(learner, config, folder, league, evaluations, callbacks).learn(reraise)


def resume(
    run: str | Path,
    *,
    command: Sequence[str] = (),
    callbacks: Sequence[Callback] = (),
    reraise: bool = False,
    **overrides: Any,
) -> Path:
    """Continue a run from its last save: its settings, its learner with the optimiser, its checkpoints.

    Args:
        run: the run folder, or its name below ``runs/``.
        command: the command line, appended to ``command.txt``; empty: that of this process.
        callbacks: called after each iteration, in order.
        reraise: as in `train`.
        overrides: new values of ``total_timesteps`` or ``minutes`` (from now on).

    Returns:
        The run folder.

    Raises:
        FileNotFoundError: if there is no such run, or it was not saved yet.
        ValueError: if the run has reached its timesteps, another process is writing to it, or another setting is
            overridden.
    """
    folder = run_folder.existing(run)
    if folder is None:
        similar = did_you_mean(str(run), run_folder.names())
        raise FileNotFoundError(f"there is no run {str(run)!r} in {run_folder.RUNS.resolve()}; {similar}")
    if wrong := set(overrides) - {"total_timesteps", "minutes"}:
        raise ValueError(
            f"{', '.join(sorted(wrong))}: a run is resumed with its own settings, but for total_timesteps and minutes"
        )
    if not (folder / "config.toml").is_file():
        raise FileNotFoundError(f"{run} cannot be resumed: {folder / 'config.toml'} is missing")
    stored = load_config(folder / "config.toml", **overrides)
    with no_files():
        config, game = completed(stored)
    with run_folder.locked(folder), blas_threads(), interruptible():
        league = config.league()
        state = run_folder.read_state(folder)
        reading = "its league.json and checkpoints"
        try:
            next_checkpoint = None  # of a run that was stopped while it cloned a teacher
            if state is not None:
                next_checkpoint = int(state["next_checkpoint"])
                league.load(run_folder.checkpoint_files(folder), state["league"])
            reading = "its learner"
            learner = find(config.algorithm).load(folder, config, game, league)
        except FileNotFoundError as error:
            raise FileNotFoundError(f"{run} cannot be resumed: {error}") from None
        except Exception as error:  # JSON, zip, pickle and torch fail in many ways
            reason = error if isinstance(error, ValueError) else repr(error)
            raise ValueError(f"{run} cannot be resumed, {reading}: {reason}{newest_whole(folder)}") from None
        if learner.timesteps >= config.total_timesteps:
            raise ValueError(
                f"{folder} has had {learner.timesteps:,} of {config.total_timesteps:,} timesteps: give more with "
                "total_timesteps=…"
            )
        run_folder.begin_session(folder, to_toml(config), command)
        run_of = _Run(learner, config, folder, league, Evaluations(config, game), callbacks, next_checkpoint)
        return run_of.learn(reraise)


def completed(config: TrainConfig) -> tuple[TrainConfig, Game]:
    """Return the config with all options of the game and the encoder's name, and the game."""
    game = make_game(config.game, **config.options)
    encoder = config.encoder or game.encoder
    game.check_encoder(encoder)
    return dataclasses.replace(config, game=game.id, options=dict(game.options), encoder=encoder), game


def _save(learner: Learner, folder: Path) -> None:
    """Write the learner and ``policy.npz``. If the process dies meanwhile, the old files stay complete."""
    learner.save(folder)
    learner.policy().save(folder / "policy.npz")


def _resume(folder: Path, game: Game) -> str:
    own = source_of(game)
    return shlex.join(["parlour", "train", "--resume", str(folder), *(["--game", own] if own else [])])


def _clone(learner: Learner, config: TrainConfig, game: Game) -> float:
    if config.teacher == EXPERT and game.capabilities.expert is not None:
        expert = game.capabilities.expert(game, config.encoder, TABLES)
        taken = corrections(game, expert, learner, config.encoder, config.seed)
    else:
        teacher = make_policy(config.teacher, game, seed=config.seed)
        taken = demonstrations(game, teacher, config.encoder, config.seed)
    with training_bar() as bar:
        task = bar.add_task(f"cloning {config.teacher}", total=1.0, note="")
        return clone(learner, taken, config, lambda used, note: bar.update(task, completed=used, note=note))


class _Run(Monitor):
    """The `Monitor` of a run: manages the budget, the opponents, the checkpoints, the metrics and the progress bar."""

    def __init__(
        self,
        learner: Learner,
        config: TrainConfig,
        folder: Path,
        league: League,
        evaluations: Evaluations,
        callbacks: Sequence[Callback],
        next_checkpoint: int | None = None,
    ) -> None:
        super().__init__(learner, league, config.total_timesteps, config.minutes)
        self.first = learner.timesteps  # those of earlier sessions
        self._config, self._folder = config, folder
        self._evaluations, self._callbacks = evaluations, callbacks
        self._bar: Progress = training_bar()
        self._stopped = False  # by a callback
        self._evaluated = -1  # the timesteps of the last evaluation
        self._next_checkpoint = next_checkpoint or learner.timesteps + config.checkpoint_every  # timesteps

    def learn(self, reraise: bool) -> Path:
        """Learn, save, and print what came of it; return the run folder. `reraise`: as in `train`."""
        learner, folder, console = self._learner, self._folder, Console()
        with closing(learner), self._bar, closing(Metrics(folder)) as self._metrics:
            try:
                learner.fit(self)
                # Where minutes or a callback ended the run after its last evaluation.
                if self._config.evaluate_against and self._evaluated != learner.timesteps:
                    self.write(self._evaluate())
                else:
                    self._glance()
            except KeyboardInterrupt:
                self._bar.stop()  # it would overwrite the line
                console.say(
                    f"stopped at {learner.timesteps:,} timesteps; continue with: {_resume(folder, self._tables.game)}"
                )
                if reraise:
                    self.save()
                    raise
            self.save()
        new, whole, wanted = learner.timesteps - self.first, learner.timesteps, self._config.total_timesteps
        notes = [f"{whole:,} in all"] if self.first else []
        if whole > wanted:
            notes.append(f"{wanted:,} were asked for, and the last rollout is played to its end")
        words = f" ({'; '.join(notes)})" if notes else ""
        console.say(f"trained {new:,} timesteps in {in_words(self.seconds())}{words}: {folder}")
        if note := self._evaluations.note:
            deals = "" if self._config.evaluate_against else "in a few deals "
            console.say(f"{deals}{note}")
        return folder

    def on_start(self) -> None:
        """Start the clock and the bar, and make the first checkpoint or set those of before."""
        super().on_start()
        self._task = self._bar.add_task("training", total=1.0, note="")
        self._bar.update(self._task, completed=self.used())
        self.newly_counted()
        if self._league.checkpoints:
            self._league.resume(self._tables.policies)
        else:
            self._checkpoint()

    def on_rollout_start(self) -> None:
        """Update the budget, the random start steps and the opponents; make a checkpoint if the interval has passed."""
        used, most = self.used(), self._config.random_start_steps
        self._tables.random_start_steps = (round(most * max(0.0, 1 - 2 * used)), most)
        if self._learner.timesteps >= self._next_checkpoint:
            self._checkpoint()
            self._next_checkpoint += self._config.checkpoint_every
            self.save()
        super().on_rollout_start()

    def goes_on(self) -> bool:
        """Tell whether there is time left, and no callback has ended the run."""
        return not self._stopped and super().goes_on()

    def on_rollout_end(self) -> dict[str, float]:
        """Return the rollout's mean return, the speed and the results of an evaluation, if one is due; show them."""
        steps, (episodes, winnings) = self._learner.timesteps, self.newly_counted()
        per_second = (steps - self.first) / self.seconds()
        mean = winnings / max(1, episodes)
        results, due = {}, steps >= min(self._next_checkpoint, self._config.total_timesteps)
        if self._config.evaluate_against and due:
            results = self._evaluate()
        elif due or not self._evaluations.note:
            self._glance()
        measured = self._evaluations.note or f"mean return {mean:+.2f} {unit_per_game(self._tables.game)}"
        note = f"{per_second:,.0f} timesteps/s; {measured}"
        self._bar.update(self._task, completed=self.used(), note=note)
        return {"rollout/return": mean, "time/steps_per_second": per_second, **results}

    def _glance(self) -> None:
        if self._evaluations.glances and not self._bar.disable:
            self._evaluations.glance(self._learner.policy(self._config.seed))

    def _evaluate(self) -> dict[str, float]:
        self._evaluated = self._learner.timesteps
        return self._evaluations.run(self._learner.policy(self._config.seed))

    def write(self, metrics: Mapping[str, Any]) -> None:
        """Write metrics into the run folder, and hand them to the callbacks."""
        self._metrics.write(metrics, self._learner.timesteps)
        answers = [callback(self._learner, metrics) for callback in self._callbacks]
        self._stopped = self._stopped or False in answers

    def save(self) -> None:
        """Write the learner, the policy, and the state of the league."""
        state = {"league": self._league.state(), "next_checkpoint": self._next_checkpoint}
        run_folder.write_state(self._folder, {**state, "timesteps": self._learner.timesteps})
        _save(self._learner, self._folder)

    def _checkpoint(self) -> None:
        checkpoint = self._league.add_checkpoint(self._learner, self._tables.policies)
        folder = self._folder / CHECKPOINTS
        folder.mkdir(exist_ok=True)
        checkpoint.save(folder / f"{self._learner.timesteps}.npz")


Curve = list[tuple[int, float]]
"""Decisions so far, and the learner's mean return since the point before, in `Payoffs.unit`."""


def response_config(policy: Policy, game: Game, learned: LearnerArguments, seed: int = 0) -> TrainConfig:
    """Return the settings of the learner of `learned_response`.

    Args:
        policy: the frozen policy.
        game: the game with its options.
        learned: the learner's algorithm, budget and settings; it makes at least one decision, in whole rollouts.
        seed: seed of the learner.

    Raises:
        ValueError: for an unknown algorithm or setting, and for one that is not the caller's, such as ``seed``.
    """
    settings, algorithm = dict(map(pair, learned.learner)), learned.algorithm
    preset, encoder = settings_from(game.name, algorithm), encoder_of(policy, game)
    scale = {} if "reward_scale" in preset else {"reward_scale": scale_of(game)}
    fixed = {"options": dict(game.options), "total_timesteps": learned.decisions, "minutes": learned.minutes}
    fixed |= {"seed": seed, "random_start_steps": 0, "teacher": "", "algorithm": algorithm}
    names = {field.name for field in fields(find(algorithm).Config)}
    if "opponent_tables" in names:
        # Such an algorithm plays against itself at the other tables.
        fixed |= {"opponent_tables": 1.0, "mixed_tables": 0.0, "relabel": False}
    # Its newest weights reply best to a policy that does not change.
    newest = {"average_decay": 0.0} if "average_decay" in names else {}
    taken = sorted(set(settings) & set(fixed))
    if taken:
        raise ValueError(f"{', '.join(taken)}: a learned best response sets this itself; leave it out")
    layout = {part.path for part in game.encoders[encoder].layout}
    own: dict[str, Any] = {"encoder": encoder, **scale, **newest}
    if "observation_slices" in preset:  # the preset's encoder may have more
        own["observation_slices"] = [path for path in preset["observation_slices"] if path in layout]
    return load_config(game.name, **fixed, **own | settings)


def learned_response(
    policy: Policy, game: Game, config: TrainConfig, progress: Tick = ignore
) -> tuple[MlpPolicy, Curve]:
    """Train a new policy against a frozen one, and return it with its learning curve.

    The learner plays one seat and the frozen policy all others. It has the frozen policy's encoder. In a game with
    teams, copies of the learner play the other seats of its team. What the learner wins afterwards is a lower bound on
    what a best response wins.

    Args:
        policy: the frozen policy.
        game: the game with its options.
        config: the budget and the settings of the learner, by `response_config`.
        progress: called with the number of decisions just made.
    """
    league = _Frozen(policy, game, config.seed)
    learner = find(config.algorithm)(config, game, league)
    monitor = _Response(learner, league, config.total_timesteps, config.minutes, progress=progress)
    learner.fit(monitor)
    return learner.policy(seed=config.seed + 1), monitor.curve


class _Frozen(League):
    """The frozen policy in all seats of opponents; in a game with teams, the learner's copy beside the learner."""

    def __init__(self, policy: Policy, game: Game, seed: int) -> None:
        super().__init__(0, 0.0, {}, seed, self_play=1.0)
        self._policy, self._teams = policy, game.capabilities.teams is not None

    def pool(self) -> Pool:
        """Return the pool of opponents."""
        if not self._teams:
            return Pool([self._policy])
        return Pool([self._policy, "random"], [1.0, 0.0], [0.0, 1.0])

    def update_self_play(self, learner: HasPolicy, opponents: list[Policy]) -> None:
        """Write a copy of the learner into the slot of its team."""
        if self._teams:
            super().update_self_play(learner, opponents)


class _Response(Monitor):
    """The `Monitor` of a learned response, with its curve."""

    def __init__(self, *limits: Any, progress: Tick) -> None:
        super().__init__(*limits)
        self.curve: Curve = []
        self._progress, self._done = progress, 0

    def on_rollout_end(self) -> dict[str, float]:
        """Add a point to the curve."""
        steps, (episodes, winnings) = self._learner.timesteps, self.newly_counted()
        if episodes:
            self.curve.append((steps, winnings / episodes))
        self._progress(steps - self._done)
        self._done = steps
        return {}
