"""Tables on a GPU: whether they give the CPU's bytes, and decisions per second, alone and with a learner."""

import time
from typing import Any

from ...envs import GAMES, VectorGame
from ...envs import game as make_game
from ...envs.core.game import Game
from ...envs.core.installed import install
from .base import Row, Seconds

EPISODES = 10_000
"""Episodes of every game that are compared with the CPU's."""
SIZES = tuple(2**power for power in range(10, 21))
"""Numbers of tables that are measured."""
LEARNER_TABLES = 2**15
"""Tables of the learner that is measured."""
_ARRAYS = ("tables", "observations", "action_masks", "turn", "rewards", "dones", "truncations")


def cuda_tables(seconds: Seconds) -> list[Row]:
    """Compare every game with the CPU, and measure random legal play with observation and mask, by the wall clock."""
    try:
        from ...envs.core.cuda.toolchain import require_gpu

        require_gpu()
    except (ImportError, RuntimeError) as missing:
        return [Row("cuda", "tables on a GPU", None, "decisions/s", note=str(missing))]
    rows = []
    for game_id in GAMES:
        game = make_game(game_id)
        what = f"{game.name} on the GPU: episodes with the CPU's bytes"
        rows.append(Row(f"cuda-{game.name}-equal", what, equal_episodes(game, 1_024, EPISODES), "episodes", EPISODES))
        for count in SIZES:
            rate = decisions_per_second(game, count, seconds / 10)
            note = "" if rate else "the GPU's memory is too small"
            rows.append(Row(f"cuda-{game.name}-{count}", f"{count:,} tables", rate, "decisions/s", note=note))
    return [*rows, learner_on_gpu(seconds)]


def learner_on_gpu(seconds: Seconds) -> Row:
    """Measure self-play PPO end to end, tables and networks on the GPU: hold'em heads-up, two networks of 128×128."""
    what = f"self-play PPO heads-up, end to end, {LEARNER_TABLES:,} tables"
    try:
        import torch

        from ..algorithms.selfplay import Learner
    except ImportError:
        return Row("cuda-learner", what, None, "decisions/s", note=f"not installed: {install('train')}")
    if not torch.cuda.is_available():
        return Row("cuda-learner", what, None, "decisions/s", note="PyTorch finds no GPU; install its CUDA build")
    from ..learning.league import League
    from ..runs.config import load_config

    settings: Any = {"engine": "gpu", "device": "cuda", "n_envs": LEARNER_TABLES, "batch_size": LEARNER_TABLES}
    config: Any = load_config("holdem", algorithm="selfplay", **settings)
    learner: Any = Learner(config, make_game("holdem", **config.options), League(1, 1.0, {}, 0))
    learner.rollout()  # compiles the kernels
    best = 0.0
    for _ in range(3):
        begun, decisions = time.perf_counter(), 0
        while decisions == 0 or time.perf_counter() - begun < seconds:
            decisions += learner.rollout()
        best = max(best, decisions / (time.perf_counter() - begun))
    return Row("cuda-learner", what, best, "decisions/s", note="bfloat16")


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


def decisions_per_second(game: Game, count: int, seconds: Seconds) -> float | None:
    """Return the rate of `count` tables on the GPU, the best of five rounds; None if its memory is too small."""
    from ...envs.core.cuda.toolchain import cuda

    batch = game.batch(1)
    needed = count * (game.rules.blank.nbytes + sum(array.nbytes for array in batch[:-1]) + 64)
    if needed > 0.9 * cuda.current_context().get_memory_info().free:
        return None
    tables = VectorGame(game, count, device="cuda")
    tables.reset(seed=0)
    best = 0.0
    for _ in range(5):
        tables.step(tables.sample())
        cuda.synchronize()
        begun, decisions = time.perf_counter(), 0
        while decisions == 0 or time.perf_counter() - begun < seconds / 5:
            tables.step(tables.sample())
            cuda.synchronize()
            decisions += count
        best = max(best, decisions / (time.perf_counter() - begun))
    return best


def _bytes(tables: VectorGame, name: str) -> bytes:
    array: Any = getattr(tables, name)
    return bytes(array.tobytes() if tables.device == "cpu" else array.copy_to_host().tobytes())
