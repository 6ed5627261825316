"""numba-cuda, set up to compile the functions of the rules as they are, with the results of the CPU.

It differs in five points from what numba-cuda does by itself:

- Integers that functions pass to each other have 64 bits, as on the CPU (see `parlour.envs.core.compiled`).
- A product and a sum are rounded one by one, as on the CPU, and not fused.
- Kernels are not optimised again when they are linked: NVIDIA's linker would fuse products and sums after all.
- Constant arrays lie in global memory. Constant memory has 64 KB, and tangram has more.
- The compute capability can be given. Kernels are then compiled without a GPU.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from numba import config
from numba.extending import is_jitted

from ..installed import install
from ..machine_code import widened
from ..plain_python import READERS, wide

SIMULATED: bool = vars(config)["ENABLE_CUDASIM"]
"""Whether Numba's simulator takes the place of a GPU (``NUMBA_ENABLE_CUDASIM=1``)."""

if not SIMULATED and find_spec("numba_cuda") is None:
    raise ImportError(f"device='cuda' needs numba-cuda: {install('cuda')}", name="numba_cuda")

import numba.cuda  # noqa: E402  # without numba-cuda, Numba has an older module of this name

cuda: Any = numba.cuda  # it has no types
"""Numba's module for CUDA: numba-cuda, or the simulator."""

if SIMULATED:
    # The simulator's arrays and records: functions that it calls read them as those of NumPy.
    from numba.cuda.simulator.cudadrv.devicearray import FakeWithinKernelCUDAArray

    READERS[FakeWithinKernelCUDAArray] = lambda fake: wide(fake._item._ary)

THREADS = 128
"""The largest number of threads in a block."""
BLOCKS = 4_096
"""The number of blocks before a block has more threads, so that few tables are spread over the whole GPU.

The threads of a warp wait for each other: on an H100, 16,384 tables of hold'em with 4 threads in a block play 1.3 times
as fast as with 32."""

_OPTIONS: dict[str, Any] = {} if SIMULATED else {"lto": False}

Capability = tuple[int, int]
"""A compute capability, such as (9, 0)."""


def require_gpu() -> None:
    """Raise RuntimeError unless kernels can run.

    Raises:
        RuntimeError: if there is no GPU, no driver or no compiler for it.
    """
    if not cuda.is_available():
        raise RuntimeError("device='cuda' needs an NVIDIA GPU with its driver and the extra cuda; there is none here")


def threads_in_block(count: int) -> int:
    """Return the number of threads in a block where `count` are needed: a power of two."""
    threads = 1
    while threads < THREADS and 2 * threads * BLOCKS <= count:
        threads *= 2
    return threads


class Kernel:
    """A function of the GPU's threads, compiled at its first call for each list of types.

    Args:
        function: a plain function that begins with ``cuda.grid(1)`` and returns nothing.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function
        self._launch = cuda.jit(function, **_OPTIONS)

    def __call__(self, count: int, *arguments: Any, stream: int = 0) -> None:
        """Run the function in at least `count` threads, on the CUDA stream of this handle."""
        self.bound(count, *arguments)(stream)

    def bound(self, count: int, *arguments: Any) -> Callable[[int], None]:
        """Return a function of a stream's handle that does the same as a call with these arguments, in microseconds.

        It holds the addresses of the arrays: they must not be freed before it.
        """
        threads = threads_in_block(count)
        blocks = -(-count // threads)
        if SIMULATED:
            return lambda stream: self._launch[blocks, threads](*arguments)
        from cuda.core import LaunchConfig, launch

        types = tuple(map(self._launch.typeof_pyval, arguments))
        kernel = self._launch.overloads.get(types)
        if kernel is None:
            with _as_on_the_cpu():
                kernel = self._launch.compile(types)
        values: list[Any] = []
        for kind, argument in zip(kernel.argument_types, arguments, strict=True):
            kernel._prepare_args(kind, argument, 0, [], values)
        function = kernel._codelibrary.get_cufunc().kernel
        config = LaunchConfig(grid=blocks, block=threads)
        return lambda stream: launch(_stream(stream), config, function, *values)

    def handle(self, *arguments: Any) -> int:
        """Run the function in one block; return the handle of its machine code for arguments of these types.

        The driver's `cuLaunchKernel` takes it, in any context of this process.
        """
        self(1, *arguments)
        machine_code = self._launch.overloads[tuple(map(self._launch.typeof_pyval, arguments))]
        return int(machine_code._codelibrary.get_cufunc().handle)

    def ptx(self, types: tuple[Any, ...], capability: Capability) -> str:
        """Return the code for arguments of these Numba types, in NVIDIA's assembly language. It needs no GPU."""
        with _as_on_the_cpu(capability):
            code, _ = cuda.compile_ptx(self._function, types, cc=capability)
        return str(code)


@cache
def _stream(handle: int) -> Any:
    """Return the object of a CUDA stream."""
    from cuda.core import Stream

    return Stream.from_handle(handle)


@contextmanager
def _as_on_the_cpu(capability: Capability | None = None) -> Iterator[None]:
    """Change what numba-cuda does while the body of the `with` statement runs.

    Args:
        capability: the compute capability to compile for; None: the GPU's.

    Raises:
        ImportError: if this version of numba-cuda lacks what is changed.
    """
    if SIMULATED:
        yield
        return
    from numba.cuda import compiler, dispatcher, target
    from numba.cuda.cudadrv import nvvm

    with ExitStack() as stack:
        change = partial(_change, stack)
        change(nvvm, "ADDRSPACE_CONSTANT", nvvm.ADDRSPACE_GLOBAL)
        change(target.CUDATypingContext, "resolve_value_type", _resolve)
        for module in (compiler, dispatcher):
            change(module, "compile_cuda", partial(_compile_unfused, compiler.compile_cuda))
            if capability is not None:
                change(module, "get_current_device", partial(SimpleNamespace, compute_capability=capability))
        yield


def _change(stack: ExitStack, place: Any, name: str, value: Any) -> None:
    if name not in vars(place):
        raise ImportError(f"this version of numba-cuda has no {place.__name__}.{name}: {install('cuda')}")
    stack.callback(setattr, place, name, vars(place)[name])
    setattr(place, name, value)


def _compile_unfused(compile_cuda: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Compile a function without fused multiply-add."""
    options["nvvm_options"] = {**options["nvvm_options"], "fma": False}
    return compile_cuda(*arguments, **options)


def _resolve(self: Any, value: Any) -> Any:
    """Return the type of a value: of a compiled function, that of the same function on the GPU."""
    if is_jitted(value):
        value = _on_the_gpu(value.py_func)
    return super(type(self), self).resolve_value_type(value)


@cache
def _on_the_gpu(function: Callable[..., Any]) -> Any:
    dispatcher = cuda.jit(device=True, **_OPTIONS)(function)
    dispatcher.get_call_template = partial(widened, dispatcher.get_call_template)
    return dispatcher
