"""Functions as parts of others: LLVM code without machine code.

Numba optimises each function together with all that it calls, and makes machine code of it, and does both again for
every function that calls it. Where one function calls a hundred, that is most of the time of compilation. Here a
function that others call stays a `Part`, which is joined with them as it is. Only what Python calls is optimised and
becomes machine code, together with its parts.
"""

from typing import Any

from llvmlite import binding
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering


class _Code(JITCodeLibrary):
    """LLVM code of a function and of all that it calls."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Key:
    """Stands for a part where Numba has the address of a function."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Makes LLVM code, and nothing for calls from Python."""

    _name = "lowering_of_a_part"

    def run_pass(self, state: Any) -> bool:
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        super().run_pass(state)
        state.library.finalize()  # join its parts
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))  # Numba 0.61 has none
        state["cr"] = state["cr"]._replace(cfunc=_Key())
        state.targetctx.insert_user_function(state["cr"].cfunc, state["cr"].fndesc, [state.library])
        return True


class _Compiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_Lowering if one is NativeLowering else one, text) for one, text in passes.passes]
        passes.finalize()
        return [passes]


class _Kept(CompileResultCacheImpl):
    """How a part is written to the disk."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.part"

    def reduce(self, part: Any) -> tuple[Any, ...]:
        part.fndesc.typemap = part.fndesc.calltypes = None  # some cannot be pickled
        code = part.library._final_module.as_bitcode()
        return part.library.name, code, part.fndesc, part.environment, part.signature, part.reload_init

    def rebuild(self, context: Any, kept: tuple[Any, ...]) -> Any:
        name, code, fndesc, environment, signature, reload_init = kept
        for function in reload_init:
            function()
        library = _Code(context.codegen(), name)
        library._reload_init = set(reload_init)
        library._final_module = binding.parse_bitcode(code)
        library._finalize_final_module()
        fields = dict.fromkeys(CompileResult._fields) | {
            "typing_context": context.typing_context,
            "target_context": context,
            "entry_point": _Key(),
            "signature": signature,
            "objectmode": False,
            "lifted": (),
            "fndesc": fndesc,
            "library": library,
            "environment": environment,
            "reload_init": reload_init,
        }
        return CompileResult(**fields)


class _Cache(FunctionCache):
    _impl_class = _Kept


class Part(CPUDispatcher):
    """A function as a part of those that call it. It cannot be called from Python."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=_Compiler)

    def enable_caching(self) -> None:
        """Keep LLVM code on disk, beside the machine code."""
        self._cache = _Cache(self.py_func)

    def add_overload(self, result: Any) -> None:
        """Add what was compiled for one signature."""
        self.overloads[tuple(result.signature.args)] = result


class Joined(_FunctionCompiler):
    """Makes machine code of a part, for calls from Python."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.py_func, part.targetdescr, part.targetoptions, part.locals, None)
        self.part = part

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        self.part.compile(tuple(args))
        part: Any = self.part.overloads[tuple(args)]
        context = part.target_context
        library = context.codegen().create_library(part.fndesc.qualname)
        library.enable_object_caching()
        context.create_cpython_wrapper(
            library, part.fndesc, part.environment, None, self.targetoptions.get("nogil", False)
        )
        library._final_module.link_in(part.library._final_module, preserve=True)
        entry = context.get_executable(library, part.fndesc, part.environment)
        result = part._replace(library=library, entry_point=entry, metadata={})
        context.insert_user_function(result.entry_point, part.fndesc, [library])
        for environment in result._find_referenced_environments():
            library.codegen.set_env(environment.env_name, environment)
        return result
