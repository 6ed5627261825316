"""Memory of a program that runs for weeks: how much it has, and giving back what it no longer uses."""

import asyncio
import ctypes
import os
import platform
import sys
from pathlib import Path

TRIM_SECONDS = 60.0
"""Seconds between two times at which free memory is given back to the system."""


def resident_bytes() -> int | None:
    """Return the memory of this process in bytes; None where the system does not tell it as Linux does."""
    if sys.platform != "linux":
        return None
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def trim_memory(seconds: float = TRIM_SECONDS) -> None:
    """Give free memory back to the system every so many seconds, until cancelled.

    glibc keeps freed memory between blocks that are in use, so the memory of a program that opens and closes many
    connections grows for hours. Other C libraries are left alone.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    while True:
        await asyncio.sleep(seconds)
        libc.malloc_trim(0)
