"""Memory of a live program."""

import asyncio
import platform

import pytest
from parlour.wrappers.live.common.activity import resident_bytes, trim_memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc is trimmed")
def test_free_memory_between_blocks_in_use_is_given_back():
    blocks = [bytes(1024) for _ in range(200_000)]
    kept = blocks[::64]
    del blocks
    before = resident_bytes()

    async def trim():
        task = asyncio.create_task(trim_memory(0.01))
        await asyncio.sleep(0.2)
        task.cancel()

    asyncio.run(trim())
    assert resident_bytes() < before - 150_000_000
    assert len(kept) == 3125


@pytest.mark.skipif(platform.libc_ver()[0] == "glibc", reason="glibc is trimmed")
def test_another_c_library_is_left_alone():
    asyncio.run(trim_memory(0.01))
