#!/usr/bin/env python3
"""Compile the GPU kernels of every game to machine code by NVIDIA's compilers, and print what they take.

    .ci/gpu_code.py [--json]

It needs the extra cuda, and no GPU.
"""

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numba
import numpy as np
from parlour.envs import GAMES
from parlour.envs import game as make_game
from parlour.envs.core.encoder import FULL
from parlour.envs.core.game import Game
from parlour.training.terminal.console import Console
from rich.table import Table

ARCHITECTURES = ("sm_80", "sm_90")
"""The GPUs for which machine code is made: A100; H100 and H200."""
CAPABILITY = (8, 0)
"""The compute capability of the PTX; newer GPUs run it too."""
_NUMBERS = {
    "registers": r"Used (\d+) registers",
    "stack": r"(\d+) bytes stack frame",
    "spills": r"(\d+) bytes spill stores",
    "constant": r"(\d+) bytes cmem\[3\]",
    "memory": r"(\d+) bytes gmem",
}


@dataclass
class KernelCode:
    """The machine code of one kernel.

    Attributes:
        game: the game's name; ``"every game"`` for kernels that all games share.
        kernel: ``"reset"`` and ``"step"``, of one game also for XLA;
            ``"observe"`` (by the encoder `full`; with the name of another one that shows
            hidden information), ``"check"`` (for illegal actions) or ``"sample"``.
        architecture: such as ``"sm_90"``; None: there is no `ptxas`, and so no machine code.
        ptx: bytes of PTX.
        registers: the most per thread that any of its functions uses.
        stack: bytes of memory per thread, the largest of its functions.
        spills: bytes stored because registers did not suffice, all its functions together.
        constant: bytes of constant memory for tables.
        memory: bytes of global memory for tables.
    """

    game: str
    kernel: str
    architecture: str | None
    ptx: int
    registers: int = 0
    stack: int = 0
    spills: int = 0
    constant: int = 0
    memory: int = 0


def machine_code(games: list[Game]) -> Iterator[KernelCode]:
    """Compile the kernels of some games, and yield what they take.

    Raises:
        ImportError: if the extra `cuda` is not installed.
        RuntimeError: if `ptxas` refuses a kernel.
    """
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        ptxas = _ptxas(Path(folder))
        waiting: list[Future[KernelCode]] = []
        for name, kernel, ptx in _kernels(games):
            if ptxas is None:
                yield KernelCode(name, kernel, None, len(ptx))
                continue
            file = Path(folder) / f"{name}_{kernel}.ptx"
            file.write_text(ptx, encoding="ascii")
            for architecture in ARCHITECTURES:
                waiting.append(pool.submit(_assembled, ptxas, file, name, kernel, architecture))
        for future in waiting:
            yield future.result()


def _kernels(games: list[Game]) -> Iterator[tuple[str, str, str]]:
    """Yield every kernel: the game's name, the kernel's, and its PTX."""
    from parlour.envs.core.cuda.vector import CHECK, SAMPLE, kernels, observe_kernel
    from parlour.envs.core.cuda.xla import kernel_of
    from parlour.envs.core.xla import loops_of

    def ptx(kernel: Any, *arguments: Any) -> str:
        return str(kernel.ptx(tuple(map(numba.typeof, arguments)), CAPABILITY))

    batch, words = games[0].batch(1), np.zeros(1, np.uint64)
    yield "every game", "check", ptx(CHECK, batch.masks, batch.turn, batch.turn, batch.turn)
    yield "every game", "sample", ptx(SAMPLE, batch.masks, words, batch.turn)
    for loop in loops_of(games[0], games[0].encoder):  # of one game: they call the same functions as its other kernels
        kernel = "reset (XLA)" if loop.begins else "step (XLA)"
        yield games[0].name, kernel, ptx(kernel_of(loop), *[0] * 9)
    for game in games:
        loops, batch, tables = game.loops(), game.batch(1), game.tables(1).view(np.ndarray)
        game_kernels = kernels(loops.reset, loops.step)
        yield game.name, "reset", ptx(game_kernels.reset, tables, *batch)
        yield game.name, "step", ptx(game_kernels.step, tables, batch.turn, *batch, batch.turn)
        for name, encoder in game.encoders.items():
            if encoder.full_information:
                seen = np.zeros((1, encoder.layout.size), np.float32)
                arguments = tables, batch.turn, batch.turn, encoder.layout.offsets, seen
                kernel = "observe" if name == FULL else f"observe {name}"
                yield game.name, kernel, ptx(observe_kernel(encoder.loop), *arguments)


def _ptxas(folder: Path) -> Path | None:
    """Return NVIDIA's assembler: a copy in `folder` of the one in the wheels, which is not executable there."""
    packages = find_spec("nvidia")
    for place in packages.submodule_search_locations or () if packages else ():
        for assembler in Path(place).rglob("ptxas"):
            copy = Path(shutil.copy(assembler, folder))
            copy.chmod(0o755)
            return copy
    installed = shutil.which("ptxas")
    return Path(installed) if installed else None


def _assembled(ptxas: Path, file: Path, game: str, kernel: str, architecture: str) -> KernelCode:
    command: list[str | Path] = [ptxas, f"-arch={architecture}", "-v", file, "-o", file.with_suffix(f".{architecture}")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ptxas refuses {kernel} of {game} for {architecture}: {done.stderr.strip()[-500:]}")
    total: dict[str, Callable[..., int]] = dict.fromkeys(_NUMBERS, lambda numbers: max(numbers, default=0))
    total["spills"] = sum
    sizes = {name: total[name](map(int, re.findall(form, done.stderr))) for name, form in _NUMBERS.items()}
    return KernelCode(game, kernel, architecture, file.stat().st_size, **sizes)


def main() -> None:
    """Print a table, or JSON."""
    parser = argparse.ArgumentParser(description="Compile the GPU kernels of every game and print what they take.")
    parser.add_argument("--json", action="store_true")
    as_json = parser.parse_args().json
    compiled = [asdict(code) for code in machine_code([make_game(game_id) for game_id in GAMES])]
    if as_json:
        print(json.dumps(compiled, indent=2))
        return
    titles = ["game", "kernel", "GPU", "PTX, bytes", "registers", "stack", "spills", "constant memory", "tables"]
    table = Table(*titles, title="GPU kernels, bytes but for registers")
    for column in table.columns[3:]:
        column.justify = "right"
    for code in compiled:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else value or "no ptxas" for value in code.values()))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
