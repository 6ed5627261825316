"""Arrays on the stack for compiled functions. They cost nothing to make, and work on a GPU, which has no heap."""

from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import extending
from numba.core import cgutils, types
from numba.core.cpu import CPUContext
from numba.core.typing import npydecl
from numba.np import arrayobj
from numpy.typing import NDArray

from .plain_python import wide

_extending: Any = extending  # these have no types
_cgutils: Any = cgutils
_npydecl: Any = npydecl
_arrayobj: Any = arrayobj


def local_array(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array for use within a compiled function, which must not return it. It may hold anything at first.

    Args:
        shape: constants: whole numbers, written out or global.
        dtype: a NumPy scalar type, such as ``np.int64``.
    """
    return cast(NDArray[Any], wide(np.empty(shape, dtype)))


def _lengths(shape: Any) -> list[Any]:
    return [shape] if isinstance(shape, types.Integer) else list(shape)


def _type_of_call(context: Any) -> Callable[..., Any]:
    def type_of(shape: Any, dtype: Any) -> Any:
        lengths = _lengths(shape)
        if all(isinstance(length, types.IntegerLiteral) for length in lengths):
            return types.Array(_npydecl.parse_dtype(dtype), len(lengths), "C")
        return None

    return type_of


def _hidden(builder: Any, pointer: Any) -> Any:
    """Return the same pointer, of which LLVM does not know where it leads.

    LLVM would follow every access to a record on the stack through all that is inlined. An encoder that plays moves on
    a copy of the table then compiles in 20 s instead of 5 s, and is no faster.
    """
    word = ir.IntType(64)
    same = builder.asm(ir.FunctionType(word, [word]), "", "=r,0", [builder.ptrtoint(pointer, word)], True)
    return builder.inttoptr(same, pointer.type)


def _generate(context: Any, builder: Any, signature: Any, _args: Any) -> Any:
    kind = signature.return_type
    shape = [length.literal_value for length in _lengths(signature.args[0])]
    element = context.get_data_type(kind.dtype)
    size = context.get_abi_sizeof(element)
    memory = _cgutils.alloca_once(builder, ir.ArrayType(element, prod(shape)))
    if isinstance(kind.dtype, types.Record) and isinstance(context, CPUContext):
        memory = _hidden(builder, memory)
    array = _arrayobj.make_array(kind)(context, builder)
    _arrayobj.populate_array(
        array,
        data=builder.bitcast(memory, array.data.type),
        shape=[context.get_constant(types.intp, length) for length in shape],
        strides=[context.get_constant(types.intp, size * prod(shape[axis + 1 :])) for axis in range(len(shape))],
        itemsize=context.get_constant(types.intp, size),
        meminfo=None,
    )
    return array._getvalue()


_extending.type_callable(local_array)(_type_of_call)
for _shape in (types.IntegerLiteral, types.BaseTuple):
    _extending.lower_builtin(local_array, _shape, types.Any)(_generate)
