"""Memory of compiled functions: arrays on the stack, arrays at an address, and records that are loaded ahead."""

from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import extending, types
from numpy.typing import NDArray

from .machine_code import array_of, on_cpu
from .plain_python import wide

LINE = 64
"""Bytes of a cache line."""
MOST = 18 * LINE
"""The bytes of a record that `load_ahead` loads, its first ones. In longer records they are what most steps need."""
_numba: Any = extending  # it has no types


def local_array(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array on the stack for use within a compiled function, which must not return it.

    It costs nothing to make, works on a GPU, which has no heap, and may hold anything at first.

    Args:
        shape: constants: whole numbers, written out or global.
        dtype: a NumPy scalar type, such as ``np.int64``.
    """
    return cast(NDArray[Any], wide(np.empty(shape, dtype)))


def _element(dtype: Any) -> Any:
    return dtype.instance_type if isinstance(dtype, types.TypeRef) else dtype.dtype


def _lengths(shape: Any) -> list[Any]:
    return [shape] if isinstance(shape, types.Integer) else list(shape)


def _type_of_local_array(_context: Any) -> Callable[..., Any]:
    def type_of(shape: Any, dtype: Any) -> Any:
        literal = all(isinstance(length, types.IntegerLiteral) for length in _lengths(shape))
        return types.Array(_element(dtype), len(_lengths(shape)), "C") if literal else None

    return type_of


def _lower_local_array(context: Any, builder: Any, signature: Any, _args: Any) -> Any:
    kind = signature.return_type
    shape = [length.literal_value for length in _lengths(signature.args[0])]
    with builder.goto_entry_block():  # once, also within a loop
        room = ir.ArrayType(context.get_data_type(kind.dtype), prod(shape))
        memory = builder.alloca(room)
        builder.store(room(None), memory)
    if isinstance(kind.dtype, types.Record) and on_cpu(context):
        # LLVM would follow every access to a record on the stack through all that is inlined. An encoder that plays
        # moves on a copy of the table then compiles in 20 s instead of 5 s, and is no faster. So it is not told where
        # the pointer leads.
        word = ir.IntType(64)
        same = builder.asm(ir.FunctionType(word, [word]), "", "=r,0", [builder.ptrtoint(memory, word)], True)
        memory = builder.inttoptr(same, memory.type)
    return array_of(context, builder, kind, memory, [context.get_constant(types.intp, length) for length in shape])


def array_at(address: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return the array at an address; for compiled functions alone, on the CPU or on a GPU (there in global memory).

    Args:
        address: where it begins.
        shape: its lengths.
        dtype: a NumPy scalar type or the dtype of a record, a constant.

    Raises:
        RuntimeError: outside compiled functions.
    """
    raise RuntimeError(f"array_at({address}, {shape}, {dtype}): only compiled functions can call it")


def _lower_array_at(context: Any, builder: Any, signature: Any, given: Any) -> Any:
    kind = signature.return_type
    data = builder.inttoptr(given[0], ir.IntType(8).as_pointer(0 if on_cpu(context) else 1))
    if not on_cpu(context):
        data = builder.addrspacecast(data, ir.IntType(8).as_pointer(), "generic")
    return array_of(context, builder, kind, data, [builder.extract_value(given[1], k) for k in range(kind.ndim)])


def load_ahead(record: Any) -> None:
    """Tell the processor that `record` is needed soon, within a compiled function on a CPU; elsewhere do nothing.

    A loop over many tables waits for memory otherwise.
    """


def _lower_load_ahead(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    if on_cpu(context):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        start = builder.bitcast(args[0], byte)
        for place in range(0, min(signature.args[0].size, MOST), LINE):
            to_read, keep, data = number(0), number(3), number(1)
            builder.call(prefetch, [builder.gep(start, [number(place)]), to_read, keep, data])
    return ir.Constant(ir.IntType(8).as_pointer(), None)


_numba.type_callable(local_array)(_type_of_local_array)
for _shape in (types.IntegerLiteral, types.BaseTuple):
    _numba.lower_builtin(local_array, _shape, types.Any)(_lower_local_array)
_numba.type_callable(array_at)(
    lambda context: lambda address, shape, dtype: types.Array(_element(dtype), len(shape), "C")
)
_numba.lower_builtin(array_at, types.Integer, types.BaseTuple, types.Any)(_lower_array_at)
_numba.type_callable(load_ahead)(
    lambda context: lambda record: types.none if isinstance(record, types.Record) else None
)
_numba.lower_builtin(load_ahead, types.Record)(_lower_load_ahead)
