"""Loading a record before it is needed. A loop over many tables waits for memory otherwise."""

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import cgutils, types
from numba.core.cpu import CPUContext

_extending: Any = extending  # these have no types
_cgutils: Any = cgutils

LINE = 64
"""Bytes of a cache line."""
MOST = 18 * LINE
"""The bytes of a record that are loaded, its first ones. In longer records they are what most steps need."""


def load_ahead(record: Any) -> None:
    """Tell the processor that `record` is needed soon, within a compiled function on a CPU; elsewhere do nothing."""


def _type_of_call(_context: Any) -> Any:
    return lambda record: types.none if isinstance(record, types.Record) else None


def _generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    if isinstance(context, CPUContext):
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = _cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        start = builder.bitcast(args[0], byte)
        for place in range(0, min(signature.args[0].size, MOST), LINE):
            to_read, keep, data = number(0), number(3), number(1)
            builder.call(prefetch, [builder.gep(start, [number(place)]), to_read, keep, data])
    return context.get_dummy_value()


_extending.type_callable(load_ahead)(_type_of_call)
_extending.lower_builtin(load_ahead, types.Record)(_generate)
