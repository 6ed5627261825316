"""All use of private names of Numba but on GPUs. Another Numba may lack them: then games do not compile.

Numba optimises each function together with all that it calls, and makes machine code of it, and does both again for
every function that calls it. Where one function calls a hundred, that is most of the time of compilation. Here a
function that others call stays a `Part`, LLVM code that is joined with them as it is. Only what Python calls, a
`Function`, is optimised and becomes machine code, together with its parts.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Any, TypeVar, cast

import numba
from llvmlite import binding
from numba import types
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, CompileResult, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.errors import NumbaError
from numba.core.registry import CPUDispatcher
from numba.core.serialize import dumps
from numba.core.typed_passes import NativeLowering
from numba.np import arrayobj

Called = TypeVar("Called", bound=Callable[..., Any])
FIELDS = ("fndesc", "environment", "signature", "reload_init")
"""What is kept of a part besides its LLVM code."""
_arrayobj: Any = arrayobj  # these have no types
_lock: Any = global_compiler_lock


class _Code(JITCodeLibrary):
    """LLVM code of a function and of all that it calls. Numba would make machine code of it."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _Address:
    """Stands for a part where Numba has the address of a function."""


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Makes LLVM code, and nothing for calls from Python."""

    _name = "lowering_of_a_part"

    def run_pass(self, state: Any) -> bool:
        # Numba tells functions of one name, and layouts of records, apart by numbers that it counts anew in each
        # process. A third process would take what two processes kept on disk for two layouts for the same function.
        state.func_id.unique_id = int.from_bytes(sha256(repr(state.args).encode()).digest()[:7])
        state.library = _Code(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        super().run_pass(state)
        state.library.finalize()  # join its parts
        state.reload_init.extend(getattr(state.library, "_reload_init", ()))  # Numba 0.61 has none
        state["cr"] = state["cr"]._replace(cfunc=_Address())
        state.targetctx.insert_user_function(state["cr"].cfunc, state["cr"].fndesc, [state.library])
        return True


class _Compiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_Lowering if one is NativeLowering else one, text) for one, text in passes.passes]
        passes.finalize()
        return [passes]


class _PartOnDisk(CompileResultCacheImpl):
    """How a part is written to the disk. Numba writes machine code."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return f"{super().get_filename_base(fullname, abiflags)}.part"

    def reduce(self, part: Any) -> tuple[Any, ...]:
        part.fndesc.typemap = part.fndesc.calltypes = None  # some cannot be pickled
        code = part.library._final_module.as_bitcode()
        return part.library.name, code, {name: getattr(part, name) for name in FIELDS}

    def rebuild(self, context: Any, kept: tuple[Any, ...]) -> Any:
        name, code, fields = kept
        for function in fields["reload_init"]:
            function()
        library = _Code(context.codegen(), name)
        library._reload_init = set(fields["reload_init"])
        library._final_module = binding.parse_bitcode(code)
        library._finalize_final_module()
        fields |= {"typing_context": context.typing_context, "target_context": context, "library": library}
        fields |= {"entry_point": _Address(), "objectmode": False, "lifted": ()}
        return CompileResult(**dict.fromkeys(CompileResult._fields) | fields)


class Part(CPUDispatcher):
    """A function as a part of those that call it. It cannot be called from Python.

    Signed integers have 64 bits. References to arrays are counted if the option `_nrt` says so, or if it makes arrays.
    """

    _cache: Any
    _compiler: Any

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        super().__init__(function, targetoptions=options, pipeline_class=_Compiler)
        self._counts = options.get("_nrt", True)

    def add_overload(self, result: Any) -> None:
        """Add what was compiled for a signature. Numba would enter the address of machine code."""
        self.overloads[tuple(result.signature.args)] = result

    def compile(self, signature: Any) -> Any:
        """Compile it without counted references, or with them if it makes an array."""
        try:
            return super().compile(signature)
        except NumbaError as error:
            words = "Only accept returning of array", "NRT required"
            if self._counts or not any(phrase in str(error) for phrase in words):
                raise
        self.targetoptions["_nrt"] = True
        self._compiler._failed_cache.clear()
        return super().compile(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Resolve a call by another compiled function, which may not count references either."""
        template = widened(super().get_call_template, args, kws)
        if not self._counts and any(_holds_array(one.return_type) for one in self.nopython_signatures):
            raise TypeError(  # the array would be freed too early or never
                f"{self.py_func.__qualname__} returns an array to a compiled function: let it write into an array that "
                "it is given, or decorate it with partial(compiled, allocates=True)"
            )
        return template


def widened(template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Resolve a call by another compiled function with 64-bit integers."""
    whole = [isinstance(one, types.IntegerLiteral) or one in types.signed_domain for one in args]
    return template([types.int64 if is_whole else one for one, is_whole in zip(args, whole, strict=True)], kws)


def _holds_array(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return any(map(_holds_array, cast(Any, kind)))
    return isinstance(kind, types.Array) or (isinstance(kind, types.Optional) and _holds_array(kind.type))


class _Joined(_FunctionCompiler):
    """Makes machine code of a part, for calls from Python."""

    def __init__(self, part: Part) -> None:
        super().__init__(part.py_func, part.targetdescr, part.targetoptions, part.locals, None)
        self._part = part

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        self._part.compile(tuple(args))
        part: Any = self._part.overloads[tuple(args)]
        context, nogil = part.target_context, self.targetoptions.get("nogil", False)
        library = context.codegen().create_library(part.fndesc.qualname)
        library.enable_object_caching()
        context.create_cpython_wrapper(library, part.fndesc, part.environment, None, nogil)
        library._final_module.link_in(part.library._final_module, preserve=True)
        entry = context.get_executable(library, part.fndesc, part.environment)
        result = part._replace(library=library, entry_point=entry, metadata={})
        context.insert_user_function(result.entry_point, part.fndesc, [library])
        for environment in result._find_referenced_environments():
            library.codegen.set_env(environment.env_name, environment)
        return result


class Function(CPUDispatcher):
    """A compiled function: machine code for Python, and a part for other functions."""

    def __init__(self, function: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(function, locals, targetoptions)
        self.part = Part(function, self.targetoptions)
        self._compiler = _Joined(self.part)

    def get_overload(self, signature: Any) -> Any:
        """Return the name of the function in the code of its callers."""
        return self.part.get_overload(signature)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Resolve a call by another compiled function."""
        return self.part.get_call_template(args, kws)

    def keep(self, store: Callable[[Any], Any]) -> None:
        """Keep it on disk: `store` returns the disk cache for a class that writes code."""
        self._cache, self.part._cache = store(CompileResultCacheImpl), store(_PartOnDisk)

    def on_disk(self, signature: Any) -> bool:
        """Return True if its machine code for a signature is on disk."""
        store, context = cast(Any, self._cache), cast(Any, self.targetctx)
        return bool(store.file(signature, context.codegen()).exists())


def packed(written: Any, code: Any) -> bytes:
    """Return code as bytes. Numba's pickles hold environments and functions without a name."""
    return bytes(dumps(written.reduce(code)))


def compiling() -> bool:
    """Return True if a function is being compiled."""
    return bool(_lock.is_locked())


def direct(function: Called, *arguments: Any) -> Called:
    """Return the machine code that a function has for arguments of these types; `function` if it has none.

    A call of a function spends a microsecond on the types of its arguments, a call of its machine code nothing.
    """
    made = getattr(function, "overloads", None)
    found = made and made.get(tuple(map(numba.typeof, arguments)))
    return cast(Called, found.entry_point) if found else function


def on_cpu(context: Any) -> bool:
    """Return True if code is made for the CPU, and not for a GPU."""
    return isinstance(context, CPUContext)


def array_of(context: Any, builder: Any, kind: Any, data: Any, shape: Any, size: Any = None) -> Any:
    """Return an array of a type over memory; `size`: the bytes of an element, if its type does not say so."""
    size = size or context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    array = _arrayobj.make_array(kind)(context, builder)
    at = builder.bitcast(data, array.data.type)
    _arrayobj.populate_array(array, data=at, shape=shape, strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
