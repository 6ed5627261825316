"""Metrics of a run: a line per iteration in ``metrics.jsonl``, and the same for TensorBoard."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from torch.utils.tensorboard import SummaryWriter

from ..parallel.signals import held_back


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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()
        self._board.close()
