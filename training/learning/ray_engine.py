"""The engine with actors in a Ray cluster. Actors play while the learner learns, and may fail without ending the run.

Every actor always has one call. Its batch was made with the weights of an earlier version: batches that are more than
`STALE` versions old are dropped. An actor that fails is called again after a pause that doubles with every failure;
after `FAILURES` failures in a row it is in quarantine and is tried once in `QUARANTINE` seconds. Ray starts the process
of an actor again, on another node if its own is gone.
"""

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import torch
from ray.exceptions import ActorDiedError, RayActorError, RayError

from ...envs import Game
from ...envs import game as make_game
from ...wrappers.rl.tables import Pool
from ..parallel.tasks import connect
from .collector import Collector, Engine, Opponents, RolloutBatch, Weights
from .settings import SelfPlayConfig

STALE = 4
"""The most versions by which a batch may be behind the learner."""
FAILURES = 5
"""Failures in a row after which an actor is in quarantine."""
QUARANTINE = 60.0
"""Seconds between two tries of an actor in quarantine."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0
"""Seconds before an actor that failed is called again: after its first failure, and at most."""
PATIENCE = 300.0
"""Seconds without a batch after which the run ends."""
POLL = 0.5
"""Seconds between two looks at actors that pause."""


class RemoteActor:
    """An actor in the cluster."""

    def __init__(self, config: SelfPlayConfig, pool: Pool, actor: int) -> None:
        torch.set_num_threads(1)
        self._collector = Collector(config, make_game(config.game, **config.options), pool, actor)

    def rollout(
        self, version: int, weights: Weights, opponents: Opponents, random_start_steps: tuple[int, int]
    ) -> RolloutBatch:
        """Return a packed batch (see `Collector.rollout`)."""
        return self._collector.rollout(version, weights, opponents, random_start_steps).packed()

    def ready(self) -> None:
        """Return when the actor's process has started."""


@dataclass
class _Actor:
    """The state of an actor: its handle, its running call, its failures in a row, and its pause.

    After the end of its process it is `restarting`: the running call then waits for the new process.
    """

    number: int
    handle: Any
    call: Any = None
    restarting: bool = False
    failures: int = 0
    pause_until: float = 0.0


class RayEngine(Engine):
    """Plays in ``config.actors`` actors of a Ray cluster. See `Engine`.

    Attributes:
        lost: the number of batches that were lost because an actor failed.
        dropped: the number of batches that were too old.

    Raises:
        ConnectionError: if there is no cluster at the address of the environment's ``RAY_ADDRESS``.
    """

    def __init__(self, config: SelfPlayConfig, game: Game, pool: Pool) -> None:
        super().__init__(config, game, pool)
        self.lost, self.dropped = 0, 0
        self._own_connection = connect(os.environ.get("RAY_ADDRESS", ""), config.actors)
        self._remote = ray.remote(num_cpus=1, max_restarts=-1, scheduling_strategy="SPREAD")(RemoteActor)
        self._actors: list[_Actor] = []
        self._opponents_put: tuple[list[int], Any] = ([], None)
        self._lag = self._bytes = 0.0

    def begin(self) -> None:
        """Start the actors. They begin their episodes with their first call."""
        self._actors = [_Actor(number, self._start(number)) for number in range(self.config.actors)]

    def _start(self, number: int) -> Any:
        return self._remote.remote(self.config, self.pool, number)

    def _collect(self, version: int, weights: Weights) -> list[RolloutBatch]:
        opponents = self._opponents()
        if self._opponents_put[0] != self._serials:
            self._opponents_put = list(self._serials), ray.put(opponents)
        order = version, ray.put(dict(weights)), self._opponents_put[1], self.random_start_steps
        last = time.monotonic()
        batches: list[RolloutBatch] = []
        while not batches:
            self._call(order)
            ready = list(self._ready())
            batches = [batch for batch in ready if version - batch.version <= STALE]
            self.dropped += len(ready) - len(batches)
            self._check(time.monotonic() - last)
        self._call(order)
        self._lag = sum(version - batch.version for batch in batches) / len(batches)
        self._bytes = sum(batch.nbytes for batch in batches) / max(1, sum(batch.decisions for batch in batches))
        return batches

    def _call(self, order: tuple[Any, ...]) -> None:
        """Call every actor that has no call and does not pause."""
        for actor in self._actors:
            if actor.call is not None or time.monotonic() < actor.pause_until:
                continue
            if actor.restarting:
                actor.call = actor.handle.ready.options(max_task_retries=-1).remote()
            else:
                actor.call = actor.handle.rollout.remote(*order)

    def _ready(self) -> Iterator[RolloutBatch]:
        """Wait for a batch, and yield all that are there."""
        running = {actor.call: actor for actor in self._actors if actor.call is not None}
        if not running:
            time.sleep(POLL)
            return
        ray.wait(list(running), num_returns=1, timeout=POLL)
        for call in ray.wait(list(running), num_returns=len(running), timeout=0)[0]:
            actor = running[call]
            actor.call = None
            try:
                batch: RolloutBatch = ray.get(call)
            except RayError as error:
                self._failed(actor, error)
            else:
                if actor.restarting:
                    actor.restarting = False
                    continue
                actor.failures = 0
                yield batch

    def _failed(self, actor: _Actor, error: RayError) -> None:
        self.lost += not actor.restarting
        self._last_error = error
        actor.failures += 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (actor.failures - 1))
        actor.pause_until = time.monotonic() + (QUARANTINE if actor.failures >= FAILURES else pause)
        actor.restarting = isinstance(error, RayActorError)
        if isinstance(error, ActorDiedError):  # Ray does not start it again, as it failed in its constructor
            actor.handle = self._start(actor.number)

    def _check(self, waited: float) -> None:
        """Raise ConnectionError if no actor works."""
        if all(actor.failures >= FAILURES for actor in self._actors):
            reason = str(self._last_error).strip().splitlines()[-1]
            raise ConnectionError(f"all {len(self._actors)} actors have failed {FAILURES} times in a row: {reason}")
        if waited > PATIENCE:
            nodes: Any = ray.nodes  # it has no type
            cpus = sum(node["Resources"].get("CPU", 0) for node in nodes() if node["Alive"])
            raise ConnectionError(
                f"no batch for {PATIENCE:.0f} seconds; the cluster has {cpus:.0f} CPUs for {len(self._actors)} actors"
            )

    def save(self, folder: Path) -> dict[str, Any]:
        """Return the serial numbers of the opponents: actors begin new episodes after a break."""
        self._opponents()
        return {"serials": self._serials, "actors": []}

    def load(self, folder: Path, state: dict[str, Any]) -> None:
        """Load what `save` returned."""
        self._serials = list(state["serials"])

    def metrics(self) -> dict[str, float]:
        """Return lost and dropped batches, the actors in quarantine, the lag in versions, and bytes per decision."""
        return {
            "engine/lost_batches": self.lost,
            "engine/dropped_batches": self.dropped,
            "engine/quarantined": sum(actor.failures >= FAILURES for actor in self._actors),
            "engine/lag": self._lag,
            "engine/bytes_per_decision": self._bytes,
        }

    def close(self) -> None:
        """End the actors, and the connection to the cluster if it was made here."""
        for actor in self._actors:
            ray.kill(actor.handle)
        self._actors = []
        if self._own_connection and ray.is_initialized():
            ray.shutdown()


ENGINE = RayEngine
