"""Networks of learners in PyTorch: their layers, threads, and calls that are recorded on a GPU."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits
from torch import nn

from ...envs.core.encoder import Layout
from ...wrappers.policies.mlp import Network, SeatLayer


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


Capture = Callable[[Callable[[], None]], Callable[[], None]]
"""Records the work of a function on the GPU, and returns a function that repeats it."""


class Recorded:
    """A function of numbers and tensors that makes a tensor. Without a `capture` it is called as it is.

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
        self._records: dict[tuple[Any, ...], Callable[..., torch.Tensor] | None] = {}

    def __call__(self, *numbers: float, **tensors: torch.Tensor) -> torch.Tensor:
        """Return the function's result. With a `capture`, the next call overwrites it."""
        if self._capture is None:
            return self._function(*numbers, **tensors)
        shapes = tuple(tensor.shape for tensor in tensors.values())
        if shapes not in self._records:
            self._records[shapes] = None
            return self._function(*numbers, **tensors)
        record = self._records[shapes]
        if record is None:
            record = self._records[shapes] = self._record(self._capture, len(numbers), tensors)
        return record(numbers, tensors)

    def _record(self, capture: Capture, numbers: int, tensors: dict[str, torch.Tensor]) -> Callable[..., torch.Tensor]:
        values: list[float | None] = [None] * numbers
        scalars = [torch.zeros((), device=self._device) for _ in values]
        places = {name: torch.empty_like(tensor) for name, tensor in tensors.items()}
        made = torch.empty(0)

        def forward() -> None:
            nonlocal made
            made = self._function(*scalars, **places)

        again = capture(forward)

        def call(numbers: Sequence[float], tensors: dict[str, torch.Tensor]) -> torch.Tensor:
            for place, value in enumerate(numbers):
                if value != values[place]:
                    values[place] = value
                    scalars[place].fill_(value)
            for name, tensor in tensors.items():
                places[name].copy_(tensor, non_blocking=True)
            again()
            return made

        return call


def capture_on(device: torch.device, *generators: torch.Generator) -> Capture | None:
    """Return the recorder of a device: of CUDA graphs; None on the CPU.

    Args:
        device: the device.
        generators: the generators of random numbers from which the function draws.
    """

    def capture(function: Callable[[], None]) -> Callable[[], None]:
        graph = torch.cuda.CUDAGraph()
        for generator in generators:
            graph.register_generator_state(generator)
        # Relaxed: Numba may look at the memory of an array, or free some, while its kernels are recorded.
        with torch.cuda.graph(graph, capture_error_mode="relaxed"):
            function()
        return graph.replay

    return capture if device.type == "cuda" else None


def current_stream(device: torch.device) -> int:
    """Return the handle of PyTorch's current CUDA stream; 0 on the CPU."""
    return torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0


_ILLEGAL = -1e9


ALIGNED = 8
"""A GPU multiplies rows of bfloat16 fast if their length is a multiple of this."""


class Linear(nn.Linear):
    """A linear layer whose input may have further columns, which are zeros (see `ALIGNED`)."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return float32[…, out]."""
        further = values.shape[-1] - self.in_features
        weights = nn.functional.pad(self.weight, (0, further)) if further else self.weight
        return nn.functional.linear(values, weights, self.bias)


class Residual(nn.Module):
    """Layers whose input is added to their output."""

    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum, of the same shape as `values`."""
        return values + torch.as_tensor(self.layers(values))


class SharedOverSeats(nn.Module):
    """A first layer with the same weights for every seat (see `SeatLayer`).

    Args:
        layout: the layout of the observations. Slices whose first dimension is `seats` have a row for every seat.
        seats: the number of seats.
        features: the number of outputs per seat.

    Raises:
        ValueError: if there is no such slice.

    Attributes:
        outputs: the number of outputs in all: those of every seat, and the columns that belong to no seat.
    """

    def __init__(self, layout: Layout, seats: int, features: int) -> None:
        super().__init__()
        columns, others = seat_columns(layout, seats)
        if not columns.size:
            raise ValueError(f"network='seats': no slice of the observation has a row for each of {seats} seats")
        self.columns: torch.Tensor
        self.others: torch.Tensor
        self.register_buffer("columns", torch.as_tensor(columns), persistent=False)
        self.register_buffer("others", torch.as_tensor(others), persistent=False)
        self.linear = _linear(columns.shape[1], features, 2**0.5)
        self.activation = nn.ReLU()
        self.outputs = seats * features + len(others)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """Return float32[N, outputs] for observations float32[N, D]."""
        rows = self.activation(self.linear(values[:, self.columns]))
        return torch.cat([rows.flatten(1), values[:, self.others].to(rows.dtype)], 1)


def seat_columns(layout: Layout, seats: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns that belong to each seat, int64[seats, K], and those that belong to none, int64[R]."""
    of_seats, others = [], []
    for part in layout:
        columns = np.arange(part.start, part.stop)
        if part.shape[0] == seats:
            of_seats.append(columns.reshape(seats, -1))
        else:
            others.append(columns)
    nothing = np.zeros((seats, 0), np.int64)
    return np.concatenate([nothing, *of_seats], axis=1), np.concatenate([nothing[0], *others])


def build(kind: str, layout: Layout, seats: int, hidden: Sequence[int], outputs: int, gain: float) -> nn.Sequential:
    """Return a network from observations to `outputs` numbers, with orthogonal weights and biases of 0.

    Args:
        kind: ``"mlp"``; ``"residual"``: the input of a hidden layer is added to its output if both have the same size;
            ``"seats"``: an MLP whose first layer is shared over the seats. It has as many outputs per seat as the
            first hidden layer divided by the number of seats, but at least 8.
        layout: the layout of the observations.
        seats: the number of seats.
        hidden: sizes of the hidden layers.
        outputs: the number of outputs.
        gain: the gain of the last layer's weights.
    """
    modules: list[nn.Module] = []
    size = layout.size
    if kind == "seats":
        shared = SharedOverSeats(layout, seats, max(8, hidden[0] // seats if hidden else 0))
        modules, size = [shared], shared.outputs
    for number, width in enumerate(hidden):
        layer = [_linear(size, width, 2**0.5), nn.ReLU()]
        modules += [Residual(*layer)] if kind == "residual" and number > 0 and size == width else layer
        size = width
    return nn.Sequential(*modules, _linear(size, outputs, gain))


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    linear = Linear(inputs, outputs)
    nn.init.orthogonal_(linear.weight, gain)
    nn.init.zeros_(linear.bias)
    return linear


def numpy_network(net: nn.Module) -> Network:
    """Return a copy of a network that `build` made, in NumPy."""
    shared = next((module for module in net.modules() if isinstance(module, SharedOverSeats)), None)
    seat_layer = None
    if shared is not None:
        seat_layer = SeatLayer(shared.columns.cpu().numpy(), shared.others.cpu().numpy(), *_arrays(shared.linear))
    first = None if shared is None else shared.linear
    linear = [module for module in net.modules() if isinstance(module, nn.Linear) and module is not first]
    residual = any(isinstance(module, Residual) for module in net.modules())
    return Network([_arrays(one) for one in linear], "ReLU", residual, seat_layer)


def _arrays(linear: nn.Linear) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    weights, biases = (each.detach().cpu().float().numpy() for each in (linear.weight, linear.bias))
    return np.array(weights.T, order="C"), biases.copy()


class Forward:
    """Computes networks on a device, in float32 on the CPU and in bfloat16 elsewhere.

    Args:
        device: the device of the networks, such as ``"cpu"``.

    Attributes:
        dtype: the type in which they compute.
    """

    def __init__(self, device: str) -> None:
        self.device = device
        self.dtype = torch.float32 if device == "cpu" else torch.bfloat16

    def __call__(self, net: nn.Module, observations: NDArray[np.float32] | torch.Tensor) -> torch.Tensor:
        """Return a network's outputs, float32[N, out]."""
        given = torch.as_tensor(observations).to(self.device, non_blocking=True)
        with torch.autocast(given.device.type, self.dtype, enabled=self.device != "cpu"):
            return torch.as_tensor(net(given)).float()

    def log_probs(self, net: nn.Module, observations: Any, masks: Any) -> torch.Tensor:
        """Return the log-probabilities of all actions, float32[N, A]; of illegal ones about -1e9."""
        logits = self(net, observations)
        illegal = torch.as_tensor(masks).to(logits.device) == 0
        return torch.log_softmax(logits.masked_fill(illegal, _ILLEGAL), 1)


def copy_of(net: nn.Module) -> nn.Module:
    """Return an independent copy that is not trained by gradients."""
    copy = deepcopy(net)
    for parameter in copy.parameters():
        parameter.requires_grad_(False)
    return copy


@torch.no_grad()
def move(net: nn.Module, target: nn.Module, rate: float) -> None:
    """Move the weights of `net` towards those of `target` by the share `rate` of the way, 0 to 1."""
    for weights, goal in zip(net.parameters(), target.parameters(), strict=True):
        weights.lerp_(goal, rate)
