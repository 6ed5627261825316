"""The engine with a process of this machine for every actor. It gives the same bytes as the engine ``local``."""

import multiprocessing
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from ....envs import Game
from ....envs import game as make_game
from ....envs.core.files import replacing
from ....wrappers.rl.opponents import Pool
from ..batch import RolloutBatch
from ..collector import Collector, Weights
from ..selfplay_settings import SelfPlayConfig
from .base import Engine, check_files, tables_file


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

    def begin(self) -> None:
        """Begin the episodes in every process."""
        self._ask_all("begin")

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        batches: list[RolloutBatch] = self._ask_all(
            "rollout", version, weights, self._opponents(), self.random_start_steps
        )
        return batches

    def _save_actors(self, folder: Path) -> list[dict[str, Any]]:
        with ExitStack() as stack:
            files = [tables_file(folder, actor) for actor in range(self.config.actors)]
            return self._ask("save", [(stack.enter_context(replacing(file)),) for file in files])

    def _load_actors(self, folder: Path, actors: list[dict[str, Any]]) -> None:
        check_files(folder, self.config.actors)
        self._ask("load", [(tables_file(folder, actor), state) for actor, state in enumerate(actors)])

    def close(self) -> None:
        """End the processes."""
        for connection in self._connections:
            connection.close()
        for process in self._processes:
            process.join(timeout=10)
            if process.is_alive():
                process.terminate()

    def _ask_all(self, method: str, *args: Any) -> list[Any]:
        return self._ask(method, [args] * self.config.actors)

    def _ask(self, method: str, args: list[tuple[Any, ...]]) -> list[Any]:
        """Call a method of every actor at the same time.

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


ENGINE = ProcessEngine
