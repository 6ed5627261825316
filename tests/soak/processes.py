"""The ends of a soak test: processes that are started, killed, started again and measured."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class RestartableProcess:
    """One process, and those that took its place.

    Args:
        name: for the report and the names of its files.
        command: the arguments of Python.
        folder: where its output goes, as ``NAME.out`` and ``NAME.err``.

    Attributes:
        starts: how often it was started.
        processor: seconds of processor time of the processes that have ended.
    """

    def __init__(self, name: str, command: Sequence[str], folder: Path) -> None:
        self.name = name
        self.starts = 0
        self.processor = 0.0
        self.errors = folder / f"{name}.err"
        self._command = list(command)
        self._output = folder / f"{name}.out"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it."""
        self.starts += 1
        with self._output.open("ab") as output, self.errors.open("ab") as errors:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, *self._command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=errors
            )

    @property
    def exit_code(self) -> int | None:
        """With what it has ended; None while it runs."""
        return None if self._process is None else self._process.returncode

    async def kill(self) -> None:
        """End it at once, as a power cut would."""
        if self._process is not None:
            self.processor += self.processor_now()
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()

    async def stop(self, seconds: float = 20.0) -> None:
        """Ask it to end (SIGTERM), and kill it if it does not."""
        if self._process is None or self._process.returncode is not None:
            return
        self.processor += self.processor_now()
        self._process.terminate()
        try:
            async with asyncio.timeout(seconds):
                await self._process.wait()
        except TimeoutError:
            await self.kill()

    def memory(self) -> float | None:
        """Return the resident memory in MB; None where the system does not tell."""
        fields = self._proc("statm")
        return None if fields is None else int(fields[1]) * PAGE / 1e6

    def processor_now(self) -> float:
        """Return the processor time of the running process in seconds; 0 where the system does not tell."""
        fields = self._proc("stat")
        return 0.0 if fields is None else (int(fields[13]) + int(fields[14])) / TICKS

    def _proc(self, file: str) -> list[str] | None:
        if self._process is None or self._process.returncode is not None:
            return None
        try:
            return Path(f"/proc/{self._process.pid}/{file}").read_text().split()
        except OSError:
            return None
