"""Tables on a GPU: whether they give the CPU's bytes, and decisions per second, alone and with a learner."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from parlour.envs import GAMES, VectorGame
from parlour.envs import game as make_game
from parlour.envs.core.game import Game
from parlour.envs.core.installed import install

from .base import Row, Seconds

EPISODES = 10_000
"""Episodes of every game that are compared with the CPU's."""
SIZES = tuple(2**power for power in (10, 14, 17, 20))
"""Numbers of tables that are measured."""
TOGETHER = 64
"""Steps that a CUDA graph starts."""
LEARNER_TABLES = 2**15
"""Tables of the learner that is measured, and decisions per gradient step."""
LEARNER_GOALS = {128: 10_000_000, 384: 7_000_000}
"""Decisions per second that it learns from, by the size of two layers in each of its networks."""
_ARRAYS = ("tables", "observations", "action_masks", "turn", "rewards", "dones")


def cuda_holdem(seconds: Seconds) -> list[Row]:
    """Compare hold'em with the CPU, and measure it by the wall clock: tables, and self-play PPO."""
    rows = _tables(["holdem-v0"], seconds)
    if rows[0].value is None:
        return rows
    try:
        import torch
    except ImportError:
        return [*rows, Row("cuda-learner", "self-play PPO", None, "decisions/s", note=install("train"))]
    if not torch.cuda.is_available():
        return [*rows, Row("cuda-learner", "self-play PPO", None, "decisions/s", note="PyTorch finds no GPU")]
    game = make_game("holdem")
    for count in SIZES[:-1]:
        rate, goal = decisions_per_second(game, count, seconds / 10, TOGETHER), 20_000_000 if count == 1_024 else None
        what = f"{count:,} tables, {TOGETHER} steps in a CUDA graph"
        rows.append(Row(f"cuda-holdem-{count}-graph", what, rate, "decisions/s", goal))
    for width, goal in LEARNER_GOALS.items():
        what = f"self-play PPO heads-up, end to end, {LEARNER_TABLES:,} tables, two networks of {width}×{width}"
        rate = learned_per_second(width, seconds)
        rows.append(Row(f"cuda-learner-{width}", what, rate, "decisions/s", goal, note="bfloat16"))
    return rows


def cuda_games(seconds: Seconds) -> list[Row]:
    """Compare all other games with the CPU, and measure their tables."""
    return _tables([game_id for game_id in GAMES if game_id != "holdem-v0"], seconds)


def _tables(game_ids: list[str], seconds: Seconds) -> list[Row]:
    """Compare games with the CPU, and measure random legal play with observation and mask."""
    try:
        from parlour.envs.core.cuda.toolchain import require_gpu

        require_gpu()
    except (ImportError, RuntimeError) as missing:
        return [Row("cuda", "tables on a GPU", None, "decisions/s", note=str(missing))]
    rows = []
    for game_id in game_ids:
        game = make_game(game_id)
        what = f"{game.name} on the GPU: episodes with the CPU's bytes"
        rows.append(Row(f"cuda-{game.name}-equal", what, equal_episodes(game, 1_024, EPISODES), "episodes", EPISODES))
        for count in SIZES:
            rate = decisions_per_second(game, count, seconds / 10)
            note = "" if rate else "the GPU's memory is too small"
            rows.append(Row(f"cuda-{game.name}-{count}", f"{count:,} tables", rate, "decisions/s", note=note))
    return rows


def learned_per_second(width: int, seconds: Seconds) -> float:
    """Return the decisions per second that a learner of two networks learns from, the best of three rounds."""
    from parlour.training.algorithms.selfplay import Learner
    from parlour.training.learning.league import League
    from parlour.training.runs.config import load_config

    settings: Any = {"engine": "gpu", "device": "cuda", "n_envs": LEARNER_TABLES, "batch_size": LEARNER_TABLES}
    config: Any = load_config(
        "holdem", algorithm="selfplay", net_arch=(width, width), critic_net_arch=(width, width), **settings
    )
    learner: Any = Learner(config, make_game("holdem", **config.options), League(1, 1.0, {}, 0))
    for _ in range(2):
        learner.rollout()  # compiles the kernels; records the graphs
    best = 0.0
    for _ in range(3):
        begun, decisions = time.perf_counter(), 0
        while decisions == 0 or time.perf_counter() - begun < seconds:
            decisions += learner.rollout()
        best = max(best, decisions / (time.perf_counter() - begun))
    return best


def equal_episodes(game: Game, count: int, episodes: int) -> int:
    """Play a game on CPU and GPU until `episodes` are over, or an array differs; return how many were over before."""
    pair = [VectorGame(game, count, device=device) for device in ("cpu", "cuda")]
    for tables in pair:
        tables.reset(seed=0)
    over = 0
    while over < episodes and all(_bytes(pair[0], name) == _bytes(pair[1], name) for name in _ARRAYS):
        over += int(pair[0].dones.sum())
        for tables in pair:
            tables.step(tables.sample())
    return min(over, episodes)


def decisions_per_second(game: Game, count: int, seconds: Seconds, together: int = 1) -> float | None:
    """Return the rate of `count` tables on the GPU, the best of five rounds; None if its memory is too small.

    Args:
        game: the game.
        count: the number of tables.
        seconds: the time for all rounds.
        together: 1: actions are drawn and played by `sample` and `step`; more: so many steps are one CUDA graph.
    """
    from parlour.envs.core.cuda.toolchain import cuda
    from parlour.envs.core.cuda.vector import CudaVectorGame

    batch = game.batch(1)
    needed = count * (game.rules.blank.nbytes + sum(array.nbytes for array in batch[:-1]) + 64)
    if needed > 0.9 * cuda.current_context().get_memory_info().free:
        return None
    tables = VectorGame(game, count, device="cuda")
    assert isinstance(tables, CudaVectorGame)
    tables.reset(seed=0)
    play = partial(_step, tables) if together == 1 else _graph(tables, together)
    best = 0.0
    for _ in range(5):
        play()
        cuda.synchronize()
        begun, decisions = time.perf_counter(), 0
        while decisions == 0 or time.perf_counter() - begun < seconds / 5:
            play()
            cuda.synchronize()
            decisions += count * together
        best = max(best, decisions / (time.perf_counter() - begun))
    return best


def _step(tables: VectorGame) -> None:
    tables.step(tables.sample())


def _graph(tables: Any, steps: int) -> Callable[[], None]:
    """Return what starts so many steps of random play."""
    import torch
    from parlour.training.learning.networks import capture_on, current_stream

    device = torch.device("cuda")

    def work() -> None:
        for _ in range(steps):
            tables.enqueue(stream=current_stream(device))

    work()  # compiles the kernels
    capture = capture_on(device)
    assert capture is not None
    return capture(work)


def _bytes(tables: VectorGame, name: str) -> bytes:
    array: Any = getattr(tables, name)
    return bytes(array.tobytes() if tables.device == "cpu" else array.copy_to_host().tobytes())
