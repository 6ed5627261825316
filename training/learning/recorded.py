"""Recorded: a function whose work on a GPU is recorded, so that one call starts all of it (a CUDA graph)."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

Capture = Callable[[Callable[[], None]], Callable[[], None]]
"""Records what a function does on the GPU, and returns the function that does it again."""


class Recorded:
    """A function of numbers and tensors that makes a tensor. Without a `capture` a call is a call of the function.

    With one, the first call for tensors of some shapes runs the function, which compiles kernels and makes what stays,
    such as the state of an optimiser. The second call records it. From then on a call copies numbers and tensors to
    where the record reads them, and starts it: no Python of the function runs. So the function must do the same with
    all values, must not wait for the GPU, and must change tensors that stay in place.

    Args:
        function: called with numbers, and with tensors by name. The numbers of a record are tensors without dimension.
        device: where the tensors are.
        capture: see `capture_on`; None: nothing is recorded.
    """

    def __init__(self, function: Callable[..., torch.Tensor], device: torch.device, capture: Capture | None) -> None:
        self._function, self._device, self._capture = function, device, capture
        self._records: dict[tuple[Any, ...], _Record | None] = {}

    def __call__(self, *numbers: float, **tensors: torch.Tensor) -> torch.Tensor:
        """Return what the function makes. With a `capture`, the next call overwrites it."""
        if self._capture is None:
            return self._function(*numbers, **tensors)
        shapes = tuple(tensor.shape for tensor in tensors.values())
        if shapes not in self._records:
            self._records[shapes] = None
            return self._function(*numbers, **tensors)
        record = self._records[shapes]
        if record is None:
            record = self._records[shapes] = _Record(self._function, self._device, self._capture, len(numbers), tensors)
        return record(numbers, tensors)


class _Record:
    """The record for tensors of some shapes."""

    def __init__(
        self,
        function: Callable[..., torch.Tensor],
        device: torch.device,
        capture: Capture,
        numbers: int,
        tensors: dict[str, torch.Tensor],
    ) -> None:
        self._values: list[float | None] = [None] * numbers
        self._numbers = [torch.zeros((), device=device) for _ in self._values]
        self._tensors = {name: torch.empty_like(tensor) for name, tensor in tensors.items()}
        self._made = torch.empty(0)

        def work() -> None:
            self._made = function(*self._numbers, **self._tensors)

        self._again = capture(work)

    def __call__(self, numbers: Sequence[float], tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        for place, value in enumerate(numbers):
            if value != self._values[place]:
                self._values[place] = value
                self._numbers[place].fill_(value)
        for name, tensor in tensors.items():
            self._tensors[name].copy_(tensor, non_blocking=True)
        self._again()
        return self._made


def capture_on(device: torch.device, *generators: torch.Generator) -> Capture | None:
    """Return what records on a device: CUDA graphs; None on the CPU.

    Args:
        device: the device.
        generators: the generators of random numbers from which the function draws.
    """

    def capture(work: Callable[[], None]) -> Callable[[], None]:
        graph = torch.cuda.CUDAGraph()
        for generator in generators:
            graph.register_generator_state(generator)
        # Relaxed: Numba may look at the memory of an array, or free some, while its kernels are recorded.
        with torch.cuda.graph(graph, capture_error_mode="relaxed"):
            work()
        return graph.replay

    return capture if device.type == "cuda" else None


def current_stream(device: torch.device) -> int:
    """Return the handle of PyTorch's current CUDA stream; 0 on the CPU."""
    return torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0
