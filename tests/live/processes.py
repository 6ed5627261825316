"""Programs that a test runs beside itself, and how they are stopped."""

import asyncio
import signal
import sys
from contextlib import asynccontextmanager

import pytest

SIGNALS = pytest.mark.parametrize(("sig", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])


@asynccontextmanager
async def program(*args, **options):
    """Run a program; it is killed if it is still there at the end."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*args, **{"stdout": pipe, "stderr": pipe, **options})
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def python(*args, **options):
    """Run Python."""
    return program(sys.executable, *args, **options)


def command(*args, **options):
    """Run `parlour`."""
    return python("-m", "parlour.training.cli", *args, **options)


async def stopped(process, sig):
    """Send a signal; return exit code and stderr."""
    process.send_signal(sig)
    _, err = await asyncio.wait_for(process.communicate(), 15)
    return process.returncode, err.decode()
