"""Functions that XLA calls, called here as XLA does, without JAX (see tests/wrappers/test_jax.py)."""

import ctypes
import os
import sys
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

import numba
import numpy as np
import pytest
from forking import python
from parlour.envs import VectorGame, game
from parlour.envs.core import xla
from parlour.envs.core.rng import streams

# What XLA gives to a function that it calls, made by hand, as ``xla/ffi/api/c_api.h`` has it.

Function = ctypes.CFUNCTYPE(c_void_p, c_void_p)


def struct(*fields):
    """Return a structure that begins with its size and its extensions, as those of XLA do."""
    own = [("struct_size", c_size_t), ("extension_start", c_void_p), *fields]
    return type("Struct", (Structure,), {"_fields_": own})


Version = struct(("major_version", c_int32), ("minor_version", c_int32))
Buffer = struct(("dtype", c_int32), ("data", c_void_p), ("rank", c_int64), ("dims", POINTER(c_int64)))
Buffers = struct(("size", c_int64), ("types", c_void_p), ("buffers", POINTER(c_void_p)))
Attributes = struct(("size", c_int64), ("types", c_void_p), ("names", c_void_p), ("attrs", c_void_p))
CallFrame = struct(
    ("api", c_void_p), ("ctx", c_void_p), ("stage", c_int32), ("args", Buffers), ("rets", Buffers),
    ("attrs", Attributes), ("future", c_void_p),
)  # fmt: skip
ErrorArgs = struct(("message", c_char_p), ("errc", c_int32))
StreamArgs = struct(("ctx", c_void_p), ("stream", c_void_p))
Metadata = type(
    "Metadata",
    (Structure,),
    {"_fields_": [("struct_size", c_size_t), ("version", Version), ("traits", c_uint32), ("state_type", c_int64)]},
)


class Extension(Structure):
    """The question for the properties of a function."""

    _fields_ = (("struct_size", c_size_t), ("type", c_int32), ("next", c_void_p), ("metadata", POINTER(Metadata)))


CONTEXT, STREAM, ERROR = 4321, 1234, 99


class Frame:
    """A call with NumPy arrays as arguments and results. `errors` has codes and texts."""

    def __init__(self, arguments, results, stream_error=0):
        self.errors, self.metadata = [], Metadata()
        self._kept = []
        interface = struct(
            ("version", Version), ("internal", c_void_p), *((f"function_{number}", Function) for number in range(18))
        )
        api = interface(version=Version(major_version=0, minor_version=3))
        api.function_0, api.function_4 = Function(self._error), Function(self._stream)
        self._stream_error = stream_error
        self.frame = CallFrame(api=ctypes.addressof(api), ctx=CONTEXT, stage=3)
        self.frame.args, self.frame.rets = self._buffers(arguments), self._buffers(results)
        self._kept.append(api)

    def _buffers(self, arrays):
        made = []
        for array in arrays:
            sizes = (c_int64 * max(array.ndim, 1))(*array.shape)
            made.append(Buffer(data=array.ctypes.data, rank=array.ndim, dims=sizes))
            self._kept += [array, sizes]
        places = (c_void_p * len(made))(*map(ctypes.addressof, made))
        self._kept += [made, places]
        return Buffers(size=len(made), buffers=places)

    def _error(self, given):
        asked = ErrorArgs.from_address(given)
        self.errors.append((asked.errc, asked.message.decode()))
        return ERROR

    def _stream(self, given):
        asked = StreamArgs.from_address(given)
        assert (asked.struct_size, asked.ctx) == (ctypes.sizeof(StreamArgs), CONTEXT)
        asked.stream = STREAM
        return self._stream_error

    def call(self, address):
        """Call a function at an address; return its result."""
        return Function(address)(ctypes.addressof(self.frame)) or 0

    def ask(self, address):
        """Ask a function for its properties; return them."""
        extension = Extension(type=1, metadata=ctypes.pointer(self.metadata))
        self.frame.extension_start = ctypes.addressof(extension)
        assert self.call(address) == 0
        self.frame.extension_start = None
        return self.metadata


def arrays_of(made, count, encoder="v0"):
    """Return blank arrays as XLA gives them: records, observations, masks, turn, rewards and ends."""
    batch = made.batch(count, encoder)
    masks, turn = batch.masks.view(np.bool_), np.zeros(count, np.int32)
    return [made.tables(count).view(np.ndarray), batch.observations, masks, turn, batch.rewards + 9, ~batch.dones]


def frame_of(made, arrays, actions):
    return Frame([*arrays[:4], np.asarray(actions, np.int32), made.layout.offsets], arrays)


def test_it_plays_as_the_tables_do():
    made, count = game("leduc"), xla.BLOCK + 30
    begins, plays = map(xla.on_the_cpu, xla.loops_of(made, "v0"))
    tables, arrays = VectorGame(made, count), arrays_of(made, count)
    tables.reset(seed=3)
    arrays[0]["stream"] = streams(3, count)
    assert frame_of(made, arrays, np.full(count, -1)).call(begins.address) == 0
    for step in range(40):
        assert arrays[0].tobytes() == tables.tables.tobytes()
        assert np.array_equal(arrays[1], tables.observations)
        assert np.array_equal(arrays[2], tables.action_masks)
        assert np.array_equal(arrays[3], tables.turn)
        assert np.array_equal(arrays[4], tables.rewards)
        assert np.array_equal(arrays[5], tables.dones)
        actions = tables.sample()
        actions[step % 5 :: 5] = -1
        tables.step(actions)
        assert frame_of(made, arrays, actions).call(plays.address) == 0
    assert tables.rewards.any()


@pytest.mark.parametrize(("action", "table"), [(2, 0), (-2, 3), (-(2**31), 270), (1_000_003, 256)])
def test_an_illegal_action_is_an_error_of_xla(action, table):
    made, count = game("kuhn"), 280
    begins, plays = map(xla.on_the_cpu, xla.loops_of(made, "v0"))
    arrays = arrays_of(made, count)
    frame_of(made, arrays, np.full(count, -1)).call(begins.address)
    actions = np.full(count, -1)
    actions[table] = action
    frame = frame_of(made, arrays, actions)
    assert frame.call(plays.address) == ERROR
    assert frame.errors == [(3, f"action {action} is not legal at table {table}")]


def test_a_function_that_raises_is_an_error_of_xla():
    made = game("kuhn")

    @numba.njit
    def raises(tables, batch, ended):
        raise ValueError("an error of a game")

    function = xla.on_the_cpu(xla.loops_of(made, "v0")[0]._replace(function=raises))
    frame = frame_of(made, arrays_of(made, 40), np.full(40, -1))
    assert frame.call(function.address) == ERROR
    assert frame.errors == [(13, "a function of the game raised an error at a table from 0 to 39")]


def test_the_function_of_the_gpu_launches_the_kernel_on_the_stream_of_xla():
    code = """
import ctypes

import numpy as np
from parlour.envs import game
from parlour.envs.core import xla
from parlour.envs.core.cuda.toolchain import threads_in_block
from parlour.envs.core.cuda.xla import launch
from test_xla import ERROR, STREAM, Frame, arrays_of

made, calls, answers = game("kuhn"), [], [0, 400]


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3)
def launcher(kernel, *given):
    places = ctypes.cast(given[8], ctypes.POINTER(ctypes.POINTER(ctypes.c_int64)))
    calls.append((kernel, given[:8], given[9], [places[number][0] for number in range(9)]))
    return answers[len(calls) - 1]


address = ctypes.cast(launcher, ctypes.c_void_p).value
exported = xla.exported(xla.loops_of(made, "v0")[1], launch, 7**12, address)
count = 20_000
arrays, actions = arrays_of(made, count), np.zeros(count, np.int32)
given = [*arrays[:4], actions, made.layout.offsets]
assert Frame(given, arrays, stream_error=5).call(exported.address) == 5
assert not calls
frame = Frame(given, arrays)
assert frame.call(exported.address) == 0
threads = threads_in_block(count)
assert 1 < threads < count
values = [count, *(array.ctypes.data for array in (*arrays, actions, made.layout.offsets))]
assert calls == [(7**12, (-(-count // threads), 1, 1, threads, 1, 1, 0, STREAM), None, values)], calls
assert frame.call(exported.address) == ERROR
assert frame.errors == [(13, "the GPU's driver answers cuLaunchKernel with error 400, tables: 20000")]
assert frame.ask(exported.address).traits == 1
"""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    python("-c", code, NUMBA_ENABLE_CUDASIM="1", PYTHONPATH=path)
