"""The loops of a game as functions that XLA calls, by its foreign-function interface. Numba compiles them.

XLA gives such a function an address, that of an ``XLA_FFI_CallFrame``. The layout of its structures is in
``xla/ffi/api/c_api.h``, which jaxlib has in `jax.ffi.include_dir`. The places below are those of interface 0 on a
64-bit machine, in words of 8 bytes; a minor version adds fields at the end and moves none.

XLA's arrays, in the order of the call:

- arguments: the records, float32[N, D] observations, bool[N, A] masks and int32[N] seats that decide, which are
  results too and are written in place; then int32[N] actions, and the offsets of the encoder's slices;
- results: these four, float32[N, seats] rewards, and bool[N] whether the episode ended.

N may be several axes, or none.
"""

from functools import cache
from typing import Any, NamedTuple
from zlib import crc32

import numba
import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.extending import is_jitted

from .compiled import compiled, stamp_of
from .game import Game
from .loops import Batch
from .machine_code import array_of
from .memory import array_at, local_array
from .plain_python import constant
from .vector import NO_ACTION

_extending: Any = extending  # these have no types
_types: Any = types

EXTENSION, API, CONTEXT, ARGUMENTS, RESULTS = 1, 2, 3, 9, 14
"""Words of a call frame."""
METADATA = 1
"""The type of the extension with which XLA asks for a function's properties."""
OLDEST = 1
"""The oldest minor version. XLA did not show its own then."""
CREATE_ERROR, GET_STREAM = 6, 10
"""Words of the interface: the addresses of its functions."""
DATA, RANK, SIZES = 3, 4, 5
"""Words of a buffer."""
RECORDS, OBSERVATIONS, MASKS, TURN, REWARDS, TERMINATED = range(6)
"""The results. The first four are arguments too."""
ACTIONS, OFFSETS = 4, 5
"""Further arguments."""
INVALID_ARGUMENT, INTERNAL = 3, 13
"""Codes of errors."""
BLOCK = 256
"""Tables that are played at once: their moves and turns fit on the stack."""


def letters(text: str) -> Any:
    """Return a text as compiled functions read it."""
    return constant(list(text.encode()), np.uint8)


ACTION, NOT_LEGAL = letters("action "), letters(" is not legal at table ")
FAILED, UP_TO = letters("a function of the game raised an error at a table from "), letters(" to ")


def _call_c(typing: Any, address: Any, words: Any) -> Any:
    """Call a function of C with whole numbers or addresses; return its result, a number of 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        arguments = [builder.extract_value(given[1], k) for k in range(len(words))]
        kind = ir.FunctionType(ir.IntType(64), [one.type for one in arguments])
        return builder.call(builder.inttoptr(given[0], kind.as_pointer()), arguments)

    return types.int64(types.int64, _types.UniTuple(types.int64, len(words))), generate


call_c: Any = _extending.intrinsic(_call_c)
_BYTES, BYTE = types.Array(types.uint8, 1, "C"), ir.IntType(8).as_pointer()


def _call_loop(typing: Any, loop: Any, begins: Any, records: Any, size: Any, moves: Any, batch: Any) -> Any:
    """Call a game's compiled loop; return whether it raised an error.

    It is called by its address: code that Numba links into this function would be optimised again, for seconds.

    Args:
        typing: Numba's context.
        loop: the address of `reset_batch` or `step_batch`.
        begins: whether it is `reset_batch`, a constant.
        records: the address of the records.
        size: the bytes of a record.
        moves: int64[N].
        batch: the `Batch`. Of its offsets the address counts.
    """
    steps = not begins.literal_value
    kinds = [_BYTES, moves, batch, types.boolean] if steps else [_BYTES, batch, types.boolean]

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        address, _, records, size, moves, batch = given
        count = context.make_array(signature.args[4])(context, builder, moves).nitems
        tables = array_of(context, builder, _BYTES, builder.inttoptr(records, BYTE), [count], size)
        flag = context.get_constant(types.boolean, steps)
        convention = context.call_conv
        kind = convention.get_function_type(types.none, kinds).as_pointer()
        arguments = [tables, moves, batch, flag] if steps else [tables, batch, flag]
        status, _ = convention.call_function(builder, builder.inttoptr(address, kind), types.none, kinds, arguments)
        return status.is_error

    return types.boolean(types.int64, begins, types.int64, types.int64, moves, batch), generate


call_loop: Any = _extending.intrinsic(prefer_literal=True)(_call_loop)


@compiled
def word(address: int, place: int) -> Any:
    """Return a word of a structure."""
    return array_at(address, (place + 1,), np.int64)[place]


@compiled
def data(frame: int, side: int, number: int) -> Any:
    """Return the address of one of XLA's arrays; `side` is `ARGUMENTS` or `RESULTS`."""
    return word(word(word(frame, side), number), DATA)


@compiled
def width(frame: int, number: int) -> Any:
    """Return the last length of a result."""
    buffer = word(word(frame, RESULTS), number)
    return word(word(buffer, SIZES), word(buffer, RANK) - 1)


@compiled
def tables_in(frame: int) -> int:
    """Return the number of tables N."""
    buffer = word(word(frame, RESULTS), TURN)
    count = 1
    for axis in range(word(buffer, RANK)):
        count *= word(word(buffer, SIZES), axis)
    return count


@compiled
def describes(frame: int, traits: int) -> bool:
    """Answer, if XLA asks for the function's properties: its interface is XLA's own, and its traits. True: it asked."""
    extension = word(frame, EXTENSION)
    if extension == 0 or word(extension, 1) & 0xFFFFFFFF != METADATA:
        return False
    metadata, interface = word(extension, 3), word(frame, API)
    minor = word(interface, 4) >> 32 if interface != 0 else OLDEST
    array_at(metadata, (4,), np.int64)[3] = minor << 32  # behind the major version 0
    array_at(metadata, (9,), np.uint32)[8] = traits
    return True


@compiled
def _written(text: Any, end: int, part: Any) -> int:
    for i in range(len(part)):
        text[end + i] = part[i]
    return end + len(part)


@compiled
def _number_written(text: Any, end: int, number: int) -> int:
    if number < 0:
        text[end] = 45  # a minus sign
        end += 1
    rest, digits = abs(number), 1
    while rest >= 10**digits:
        digits += 1
    for i in range(digits):
        text[end + digits - 1 - i] = 48 + rest % 10
        rest //= 10
    return end + digits


@compiled
def error(frame: int, code: int, before: Any, first: int, between: Any, second: int) -> Any:
    """Return the address of an error of XLA with a text of two parts, each with a number behind it."""
    text = local_array(128, np.uint8)
    length = _number_written(text, _written(text, 0, before), first)
    length = _number_written(text, _written(text, length, between), second)
    text[length] = 0
    request = local_array(4, np.int64)
    request[0], request[1], request[2], request[3] = 28, 0, text.ctypes.data, code
    return call_c(word(word(frame, API), CREATE_ERROR), (request.ctypes.data,))


@compiled
def begin(actions: Any, players: Any, moves: Any, batch: Any) -> int:
    """Write `moves` and turns for the loops, and blank results.

    An illegal action is taken as none; return the last row that has one, or −1.
    """
    refused = -1
    for i in range(len(actions)):
        moves[i] = actions[i]
        batch.turn[i] = players[i]
        if moves[i] != NO_ACTION and (
            moves[i] < 0 or moves[i] >= batch.masks.shape[1] or batch.masks[i, moves[i]] == 0
        ):
            moves[i] = NO_ACTION
            refused = i
        for seat in range(batch.rewards.shape[1]):
            batch.rewards[i, seat] = 0
        batch.dones[i] = False
    return refused


@compiled
def end(players: Any, batch: Any) -> None:
    """Write the turns."""
    for i in range(len(players)):
        players[i] = batch.turn[i]


@compiled
def play(frame: int, loop: int, begins: int, size: int) -> Any:
    """Play one decision on every table, or begin their episodes; return the address of an error, or 0.

    Args:
        frame: the address of the call frame.
        loop: the address of the game's compiled loop.
        begins: 1 where it is `reset_batch`, 0 where it is `step_batch`.
        size: the bytes of a record.
    """
    if describes(frame, 0):
        return 0
    count, d, a, seats = tables_in(frame), width(frame, OBSERVATIONS), width(frame, MASKS), width(frame, REWARDS)
    all_moves, all_turns = local_array(BLOCK, np.int64), local_array(BLOCK, np.int64)
    offsets = array_at(data(frame, ARGUMENTS, OFFSETS), (1,), np.uint8)
    for first in range(0, count, BLOCK):
        rows = min(BLOCK, count - first)
        moves, turns = all_moves[:rows], all_turns[:rows]
        actions = array_at(data(frame, ARGUMENTS, ACTIONS) + first * 4, (rows,), np.int32)
        observations = array_at(data(frame, RESULTS, OBSERVATIONS) + first * d * 4, (rows, d), np.float32)
        masks = array_at(data(frame, RESULTS, MASKS) + first * a, (rows, a), np.int8)
        players = array_at(data(frame, RESULTS, TURN) + first * 4, (rows,), np.int32)
        rewards = array_at(data(frame, RESULTS, REWARDS) + first * seats * 4, (rows, seats), np.float32)
        terminated = array_at(data(frame, RESULTS, TERMINATED) + first, (rows,), np.bool_)
        batch = Batch(observations, masks, turns, rewards, terminated, offsets)
        refused = begin(actions, players, moves, batch)
        if refused >= 0:
            return error(frame, INVALID_ARGUMENT, ACTION, actions[refused], NOT_LEGAL, first + refused)
        records = data(frame, RESULTS, RECORDS) + first * size
        if begins:
            failed = call_loop(loop, True, records, size, moves, batch)
        else:
            failed = call_loop(loop, False, records, size, moves, batch)
        if failed:
            return error(frame, INTERNAL, FAILED, first, UP_TO, first + rows - 1)
        end(players, batch)
    return 0


class Exported(NamedTuple):
    """A function of C that XLA calls.

    Attributes:
        name: what it is called in compiled programs, of this process or kept on disk by another.
        address: its address, valid as long as `function` exists.
        function: Numba's object.
    """

    name: str
    address: int
    function: Any


class Loop(NamedTuple):
    """A compiled loop of a game.

    Attributes:
        function: `reset_batch` or `step_batch`.
        kinds: the types of its arguments.
        record: the dtype of the records.
        offsets: the dtype of the encoder's offsets.
        sizes: the numbers of an observation, of actions and of seats.
    """

    function: Any
    kinds: tuple[Any, ...]
    record: np.dtype[Any]
    offsets: np.dtype[Any]
    sizes: tuple[int, int, int]

    @property
    def begins(self) -> bool:
        """Whether it is `reset_batch`."""
        return len(self.kinds) == 3


def loops_of(game: Game, encoder: str) -> tuple[Loop, Loop]:
    """Return the loops that begin the episodes of all tables, and that play a decision on each.

    Raises:
        ValueError: if the game's functions are not compiled.
    """
    loops, batch, tables = game.loops(encoder), game.batch(1, encoder), game.tables(1).view(np.ndarray)
    if not is_jitted(loops.step):
        raise ValueError(f"the functions of {game.name} are not compiled, so XLA cannot call them")
    about = tables.dtype, batch.offsets.dtype, (batch.observations.shape[1], batch.masks.shape[1], game.seats)
    begun, played = (tables, batch, False), (tables, batch.turn, batch, True)
    return (
        Loop(loops.reset, tuple(map(numba.typeof, begun)), *about),
        Loop(loops.step, tuple(map(numba.typeof, played)), *about),
    )


def exported(loop: Loop, function: Any, *constants: int) -> Exported:
    """Return a function of C that calls `function`, compiled, with the call frame and `constants`, named by a loop."""

    def called(frame: int) -> Any:
        return function(frame, *constants)

    source = loop.function.py_func
    kept = hasattr(loop.function, "sources")  # else of a notebook, or with a closure
    depends = stamp_of(loop.function) if kept else id(loop.function)
    digest = crc32(f"{source.__qualname__} {loop.kinds} {loop.sizes} {depends}".encode())
    cfunc: Any = numba.cfunc(types.int64(types.int64))(called)
    return Exported(f"parlour_{source.__name__}_{digest:08x}", cfunc.address, cfunc)


@cache
def on_the_cpu(loop: Loop) -> Exported:
    """Return the function of the CPU that plays with a loop."""
    loop.function.compile(loop.kinds)
    code = loop.function.overloads[loop.kinds]
    address = int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))
    return exported(loop, play, address, int(loop.begins), loop.record.itemsize)
