"""The number of threads that a learner computes with."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from threadpoolctl import threadpool_limits


def threads() -> int:
    """Return the number of threads: that of the environment's OMP_NUM_THREADS, else 1.

    More than one is much slower for small batches if other processes are busy.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(wanted)) if wanted.isdecimal() else 1


@contextmanager
def torch_threads() -> Iterator[None]:
    """Set PyTorch's threads, and set them back at the end."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads())
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def blas_threads() -> Iterator[None]:
    """Set NumPy's threads: the opponents play in NumPy, which is five times slower with more threads on busy cores."""
    with threadpool_limits(threads(), "blas"):
        yield
