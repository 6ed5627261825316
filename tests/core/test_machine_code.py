"""What `machine_code` uses of Numba's private interface is there: each name with what it is for."""

from inspect import signature

import numba
import pytest
from numba.core import caching, codegen, compiler, compiler_lock, dispatcher, serialize, typed_passes
from numba.core.registry import cpu_target
from numba.np import arrayobj
from parlour.envs.core.compiled import compiled

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
NULL_CACHE = "loads and saves the code of a function"
PRIVATE = (
    (codegen.JITCodeLibrary, "_optimize_final_module", "a part is not optimised by itself"),
    (codegen.JITCodeLibrary, "_finalize_final_module", "a part does not become machine code"),
    (codegen.JITCodeLibrary, "_finalize_dynamic_globals", "a part keeps the addresses of global arrays"),
    (typed_passes.NativeLowering, "run_pass", "makes the LLVM code of a part"),
    (compiler.DefaultPassBuilder, "define_nopython_pipeline", "has the passes that compile a function"),
    (compiler.CompileResult, "_find_referenced_environments", "machine code finds the globals of its parts"),
    (compiler.Flags, "no_cfunc_wrapper", "leaves out the wrapper for C, a seventh of the time"),
    (compiler.Flags, "nrt", "is off where no array is made: references are not counted"),
    (compiler_lock.global_compiler_lock, "is_locked", "tells that a function is compiled for another one"),
    (dispatcher.NullCache, "load_overload", NULL_CACHE),
    (dispatcher.NullCache, "save_overload", NULL_CACHE),
    (dispatcher.Dispatcher, "get_overload", "gives a caller the part"),
    (dispatcher.Dispatcher, "get_call_template", "gives a caller the part's types, with integers of 64 bits"),
    (dispatcher._FunctionCompiler, "_compile_core", "makes machine code of a part"),
    (caching.CompileResultCacheImpl, "check_cachable", "tells what may lie on disk"),
    (caching.CompileResultCacheImpl, "locator", "finds the folder"),
    (caching.CompileResultCacheImpl, "filename_base", "names the files"),
    (serialize, "dumps", "pickles environments"),
    (arrayobj, "make_array", "makes arrays on the stack"),
    (arrayobj, "populate_array", "makes arrays on the stack"),
    (cpu_target.target_context, "create_cpython_wrapper", "lets Python call machine code"),
)


@pytest.mark.parametrize(("owner", "name", "use"), PRIVATE, ids=[name for _, name, _ in PRIVATE])
def test_numba_has_what_the_package_uses(owner, name, use):
    assert hasattr(owner, name), (
        f"Numba {numba.__version__} has no {name}, which {use}: change envs/core/machine_code.py, or lower the version "
        "in pyproject.toml"
    )


def test_numba_calls_what_is_replaced_with_the_same_arguments():
    wanted = {"get_call_template": ["self", "args", "kws"], "compile": ["self", "sig"]}
    taken = {name: list(signature(getattr(dispatcher.Dispatcher, name)).parameters) for name in wanted}
    assert taken == wanted, f"Numba {numba.__version__} calls a dispatcher otherwise: see envs/core/machine_code.py"


@compiled
def twice(x):
    return 2 * x


@compiled
def four_times(x):
    return twice(twice(x))


def test_a_function_that_is_called_is_a_part_alone():
    assert four_times(3) == 12
    assert not twice.overloads and len(four_times.overloads) == 1, (
        f"Numba {numba.__version__} makes machine code of what only compiled functions call"
    )
