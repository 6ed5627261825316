"""Engines: where the decisions of a learner are collected.

``local`` plays in the learner's process, ``process`` in other processes of this machine, which gives the same bytes;
``ray`` in a Ray cluster, ``gpu`` on the learner's GPU. The last two are modules of their own.
"""

import multiprocessing
import signal
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import torch

from ...envs import Game
from ...envs import game as make_game
from ...envs.core.files import replacing
from ...wrappers.policies.base import Policy
from ...wrappers.policies.mlp import MlpPolicy
from ...wrappers.rl.opponents import OpponentSeats, Pool
from .collector import Collector, Opponents, RolloutBatch, Weights
from .settings import SelfPlayConfig


class Engine:
    """Collects decisions with one or more actors. It is also the `LearnerTables` of the run.

    Args:
        config: the settings.
        game: the game with its options.
        pool: the pool of opponents.

    Attributes:
        game: the game with its options.
        policies: the current opponents. One may be replaced between rollouts; every actor then takes a copy.
        random_start_steps: the least and the most random decisions at the beginning of an episode. May be changed.
        episodes: number of finished episodes in the batches so far.
        winnings: the sum of their returns for the learner, in `Payoffs.unit`.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        self.config = config
        self.game = game
        self.pool = pool
        self.policies: list[Policy] = list(OpponentSeats(game, 1, pool).policies)
        self.random_start_steps = (config.random_start_steps, config.random_start_steps)
        self.episodes, self.winnings = 0, 0.0
        self._known = list(self.policies)
        self._serials = [0] * len(self.policies)

    def begin(self) -> None:
        """Start the actors. Called once; before it, `load` may have set their state."""
        self._ask("begin", [()] * self.config.actors)

    def rollout(self, version: int, weights: Weights) -> list[RolloutBatch]:
        """Return batches to learn from, at least one.

        Args:
            version: the version of the weights, one more than that of the call before.
            weights: the weights of the networks.
        """
        batches = self._collect(version, weights)
        self.episodes += sum(batch.episodes for batch in batches)
        self.winnings += sum(batch.winnings for batch in batches)
        return batches

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        order = version, weights, self._opponents(), self.random_start_steps
        return self._ask("rollout", [order] * self.config.actors)

    def metrics(self) -> dict[str, float]:
        """Return counts of the engine, by the names of the metrics."""
        return {}

    def save(self, folder: Path) -> dict[str, Any]:
        """Write the state of the actors into a run folder, and return the rest of it."""
        self._opponents()
        with ExitStack() as stack:
            files = [stack.enter_context(replacing(tables_file(folder, one))) for one in range(self.config.actors)]
            return {"serials": self._serials, "actors": self._ask("save", [(file,) for file in files])}

    def load(self, folder: Path, state: dict[str, Any]) -> None:
        """Load what `save` wrote and returned.

        Raises:
            FileNotFoundError: if a file is missing.
        """
        self._serials = list(state["serials"])
        files = [tables_file(folder, actor) for actor in range(len(state["actors"]))]
        for file in files:
            if not file.is_file():
                raise FileNotFoundError(f"{file} is missing")
        self._ask("load", list(zip(files, state["actors"], strict=True)))

    def keep_opponents(self) -> None:
        """Declare that `policies` are those that the actors had when the state was saved."""
        self._known = list(self.policies)

    def close(self) -> None:
        """End the actors."""

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every actor, each with its arguments, and return the answers."""
        raise NotImplementedError

    def _opponents(self) -> Opponents:
        """Return the opponents that were set from outside, with their serial numbers."""
        for slot, policy in enumerate(self.policies):
            if policy is not self._known[slot]:
                self._serials[slot] += 1
                self._known[slot] = policy
        return {
            slot: (serial, policy)
            for slot, (serial, policy) in enumerate(zip(self._serials, self.policies, strict=True))
            if serial and isinstance(policy, MlpPolicy)
        }


def tables_file(folder: Path, actor: int) -> Path:
    """Return the file of an actor's tables in a run folder."""
    return folder / ("tables.pkl" if actor == 0 else f"tables-{actor}.pkl")


class LocalEngine(Engine):
    """Plays in this process. See `Engine`.

    Attributes:
        collectors: the actors.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        super().__init__(config, game, pool)
        self.collectors = [self._collector(actor) for actor in range(config.actors)]

    def _collector(self, actor: int) -> Any:
        return Collector(self.config, self.game, self.pool, actor, self.config.device)

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        return [getattr(each, method)(*given) for each, given in zip(self.collectors, args, strict=True)]


class ProcessEngine(Engine):
    """Plays in ``config.actors`` other processes at the same time. See `Engine`."""

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        super().__init__(config, game, pool)
        context = multiprocessing.get_context("spawn")  # a fork would copy the locks of PyTorch's threads
        self._connections: list[Any] = []
        self._processes = []
        self._calls = 0
        for actor in range(config.actors):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, config, pool, actor), daemon=True)
            process.start()
            theirs.close()  # so that reading fails when the process dies
            self._connections.append(ours)
            self._processes.append(process)

    def close(self) -> None:
        """End the processes."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join(timeout=10)
            if process.is_alive():
                process.terminate()

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        """Call all processes at the same time.

        Raises:
            ConnectionError: if a process has ended.
            Exception: what an actor has raised.
        """
        self._calls += 1
        actor, answers = 0, []
        try:
            for actor, arguments in enumerate(args):
                self._connections[actor].send((self._calls, method, arguments))
            for actor in range(len(args)):
                answers.append(self._answer(self._connections[actor]))
        except (EOFError, OSError):
            raise ConnectionError(f"the process of actor {actor} has ended: resume the run") from None
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _answer(self, connection: Any) -> Any:
        """Return the answer to the last call. Ctrl-C may have left the answer to an earlier one."""
        while True:
            call, answer = connection.recv()
            if call == self._calls:
                return answer


def _serve(connection: Any, config: SelfPlayConfig, pool: Pool, actor: int) -> None:
    """Answer the calls of the learner, until it closes the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of the terminal; the learner ends them
    torch.set_num_threads(1)
    collector = Collector(config, make_game(config.game, **config.options), pool, actor)
    while True:
        try:
            call, method, args = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer = getattr(collector, method)(*args)
        except Exception as error:  # the learner raises it
            answer = error
        connection.send((call, answer))


def find(name: str) -> type[Engine]:
    """Return the class of the engine of this name.

    Raises:
        ImportError: if a package that it needs is not installed.
    """
    here = {"local": LocalEngine, "process": ProcessEngine}.get(name)
    return here or cast(type[Engine], import_module(f"..{name}_engine", __name__).ENGINE)
