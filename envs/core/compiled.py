"""Decorators that compile a function with Numba and cache the machine code on disk, without stale caches."""

import marshal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import EnumType
from functools import cache, cached_property, partial
from glob import escape
from hashlib import sha256
from inspect import signature
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast
from zlib import crc32

import numba
import numpy as np
from numba.core import types
from numba.core.caching import IndexDataCacheFile
from numba.core.compiler import Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError, NumbaExperimentalFeatureWarning
from numba.core.event import register
from numba.core.registry import CPUDispatcher
from numba.extending import is_jitted, typeof_impl
from numba.np.numpy_support import from_dtype

from .compiling import CompilingNotice
from .parts import Joined, Part
from .plain_python import in_python, interpreted, names_in
from .plain_start import PLAIN_START

# An encoder that extends another one passes it a record of offsets with more fields at the end. That is intended.
warnings.filterwarnings("ignore", r"Record\(.* has been considered a subtype", NumbaExperimentalFeatureWarning)

Function = TypeVar("Function", bound=Callable[..., Any])
KEPT = 8
"""For how many versions of the sources the code of a function is kept."""
NUMBA = ">=0.61,<0.69"
"""The versions of Numba whose private attributes are those that this module uses; see pyproject.toml."""

_njit: Any = numba.njit  # its signature does not name all of its options
_config: Any = numba.config  # its settings have no types
_lock: Any = global_compiler_lock
_record_type: Any = cache(from_dtype)  # making it takes a millisecond


register("numba:compile", CompilingNotice())


@typeof_impl.register(np.record)
def _type_of_record(record: Any, _context: Any) -> Any:
    """Return the type of a record: while functions run as plain Python, Numba asks for it at each call."""
    return _record_type(record.dtype)


def compiled(
    function: Function,
    inline: str = "never",
    nogil: bool = False,
    allocates: bool = False,
    compile_first: bool = False,
) -> Function:
    """Compile `function` with Numba at its first call and cache the machine code on disk.

    Numba's own cache checks only the file of the function itself. It goes stale when the function calls another one
    in another file, and that file changes. Here the cache key holds the source files of the function, of all functions
    that it calls, and of the types that these name; the values of the constants that they name; and the source files of
    `core`, which say how they are compiled. So an edit compiles again what depends on it. A function is compiled again
    in every process if no cache folder can be written (package and home both read-only), or if it was defined in a
    notebook.

    Numba also compiles a function again for every constant and every integer width that it is called with. Here all
    signed integers that compiled functions pass to each other have 64 bits, which halves the compile time. The
    wrapper for C code is left out, because nothing calls it and it would take a seventh more time.

    Numba counts the references to every array, atomically, and again at each call: that took an eighth to a half of the
    time of a decision. Here only functions that make arrays count them, and those that call one with `allocates`.

    Args:
        function: a plain function over records and arrays, with no closure over other compiled functions.
        inline: see `inlined`.
        nogil: whether other Python threads run meanwhile; for loops that are called from a pool of threads.
        allocates: whether the function returns an array to other compiled functions. It may then not be a part of a
            game's rules or encoders.
        compile_first: whether it never runs as plain Python while another process compiles (see `plain_start`); for
            work over many tables, trees or boards, where one call would take seconds or minutes.

    Returns:
        The compiled function; with ``NUMBA_DISABLE_JIT=1``, `function` in plain Python (see `interpreted`).

    Raises:
        ImportError: if this version of Numba lacks a private attribute that is used here.
    """
    if _config.DISABLE_JIT:
        return interpreted(function)
    if not Path(function.__code__.co_filename).is_file():
        return cast(Function, numba.njit(function))
    counts = allocates or any(one.targetoptions.get("_nrt", True) for one in _called(function))
    dispatcher: Any = _njit(inline=inline, nogil=nogil, no_cfunc_wrapper=True, _nrt=counts)(function)
    part: Any = Part(function, dispatcher.targetoptions)
    with suppress(RuntimeError):  # "cannot cache function: no locator available"
        for each in (dispatcher, part):
            each.enable_caching()
            cache_file = _inside(each, "_cache", "_cache_file")
            _inside(cache_file, "_source_stamp")
            _inside(cache_file, "_load_index")
            cache_file.__class__, cache_file.dispatcher = _Index, dispatcher
            root = Path(_config.CACHE_DIR)
            if _config.CACHE_DIR and root in Path(_inside(cache_file, "_cache_path")).parents:
                folder = root / (function.__module__.rpartition(".")[0] or "main")  # Numba's has the checkout's name
                folder.mkdir(exist_ok=True)
                cache_file._cache_path = str(folder)
        _inside(dispatcher, "_cache", "_index_key")
        dispatcher.missed = -1  # the latest `PLAIN_START.ended` at which it was not on the disk
        dispatcher.compile_first = compile_first
        dispatcher.compile = partial(_compile_when_ready, dispatcher, _inside(dispatcher, "compile"))
    dispatcher.sources = sources_of(function)  # now: its file may change before it is called
    dispatcher.part, dispatcher._compiler = part, Joined(part)
    dispatcher.get_overload = part.get_overload
    call = _inside(part, "get_call_template")
    dispatcher.get_call_template = partial(widened, call)
    if not counts:
        _inside(dispatcher, "_compiler", "_failed_cache")
        part.compile = partial(_compile_as_needed, part, _inside(part, "compile"))
        dispatcher.get_call_template = partial(_returns_no_array, part, call)
        dispatcher._reduce_states = partial(_reduced, _inside(dispatcher, "_reduce_states"))
    dispatcher.__class__ = _Function
    return cast(Function, dispatcher)


class _Function(CPUDispatcher):
    """A compiled function. Pickles and copies name it, if other processes can import it by its name."""

    __name__: str

    def __reduce__(self) -> Any:
        module: Any = sys.modules.get(self.__module__)
        if self.__module__ != "__main__" and getattr(module, self.__name__, None) is self:
            return self.__name__
        return super().__reduce__()


def _inside(thing: Any, *names: str) -> Any:
    """Return a private attribute of Numba, by the names that lead to it from `thing`.

    Raises:
        ImportError: if it is missing; the cache could then be stale without notice.
    """
    for name in names:
        if not hasattr(thing, name):
            raise ImportError(_unknown_numba(f"{type(thing).__name__}.{name}"))
        thing = getattr(thing, name)
    return thing


def _unknown_numba(missing: str) -> str:
    return (
        f"Numba {numba.__version__} has no {missing}, which the cache of compiled functions needs: "
        f"install 'numba{NUMBA}', the versions that have it"
    )


if list(signature(Dispatcher.get_call_template).parameters) != ["self", "args", "kws"]:
    raise ImportError(_unknown_numba("Dispatcher.get_call_template(args, kws)"))
for _flag in ("no_cfunc_wrapper", "nrt"):
    if not hasattr(Flags, _flag):
        raise ImportError(_unknown_numba(f"Flags.{_flag}"))


def _mangling_of(record: types.Record) -> tuple[str, tuple[int]]:
    """Return what machine code calls a type of records: its layout.

    Numba calls it by a number that it counts anew in each process. So functions that two processes kept on disk for
    two layouts, such as two numbers of seats, could have one name; a third process called one of them for both.
    """
    return "Record", (int.from_bytes(sha256(record.name.encode()).digest()[:7]),)


if not isinstance(vars(types.Record).get("mangling_args"), property):
    raise ImportError(_unknown_numba("Record.mangling_args"))
types.Record.mangling_args = property(_mangling_of)  # type: ignore[assignment]


Source = str
"""The checksum of a source file."""


@cache
def _checksum(file: str, _changed: int, _size: int) -> Source:
    return sha256(Path(file).read_bytes()).hexdigest()


def _checksums(file: Any) -> set[Source]:
    """Return the checksum of a source file; nothing if there is none."""
    try:
        stat = Path(file).stat()
        return {_checksum(str(file), stat.st_mtime_ns, stat.st_size)}
    except (OSError, TypeError):  # of an editor's lock file, or of a module without a file
        return set()


_COMPILER = ("ahead", "compiled", "local_array", "loops", "parts", "plain_python")
_CORE: set[Source] = set().union(*(_checksums(Path(__file__).with_name(f"{name}.py")) for name in _COMPILER))


class _Index(IndexDataCacheFile):
    """The index of a function's cache; its name has a checksum of what the machine code depends on.

    So any checkout with the same sources finds the machine code, whatever its folder and the times of its files.
    By the first call all that a function names is there, also what stands below it in its file.
    """

    dispatcher: Any

    @cached_property
    def _stamp(self) -> str:
        return stamp_of(self.dispatcher)

    @property
    def _source_stamp(self) -> str:
        return self._stamp

    @cached_property
    def _base(self) -> str:
        return self._index_name.removesuffix(".nbi")

    @property
    def _index_path(self) -> str:
        return str(Path(self._cache_path, f"{self._base}.{self._stamp}.nbi"))

    def save(self, key: Any, data: Any) -> None:
        """Keep machine code, unless a constant has changed since the first call: another process would not see that.

        Numba numbers the files of a function, and names them in the index before they are there. Two processes that
        compile it at the same time, each for records of its own, would then read each other's machine code.
        """
        if stamp_of(self.dispatcher) == self._stamp:
            index, number = self._load_index(), int.from_bytes(sha256(repr(key).encode()).digest()[:8])
            index[key] = f"{self._base}.{self._stamp}.{number}.nbc"
            self._save_data(index[key], data)  # type: ignore[no-untyped-call]
            self._save_index(index)  # type: ignore[no-untyped-call]
            self._remove_old()

    def _remove_old(self) -> None:
        """Keep the code of the latest sources alone."""
        folder = Path(self._cache_path)
        with suppress(OSError):  # another process removes them too
            indices = sorted(
                folder.glob(f"{escape(self._base)}.{'[0-9a-f]' * 16}.nbi"), key=lambda one: one.stat().st_mtime_ns
            )
            for old in indices[:-KEPT]:
                for file in (old, *folder.glob(f"{escape(old.stem)}.*.nbc")):
                    file.unlink(missing_ok=True)

    def _load_index(self) -> Any:
        """Read the index; empty if it is older. It is unpickled before its stamp is seen, and may name a lost type."""
        try:
            return super()._load_index()  # type: ignore[no-untyped-call]
        except (AttributeError, ImportError):
            return {}


def stamp_of(dispatcher: Any) -> str:
    """Return a checksum of what machine code of a function depends on: Numba, source files, constants by function."""
    sources, values = set(_CORE), set()
    seen: list[Any] = []
    waiting = [dispatcher]
    while waiting:
        each = waiting.pop()
        if not any(each is other for other in seen):
            seen.append(each)
            function, constants = each.py_func, []
            for name, value in _named(function):
                constants.append((name, _content(value)))
                waiting += filter(is_jitted, _parts(value))
            sources |= getattr(each, "sources", set()) | sources_of(function)
            values.add((function.__module__, function.__qualname__, _own(function), crc32(repr(constants).encode())))
    return sha256(repr((numba.__version__, sorted(sources), sorted(values))).encode()).hexdigest()[:16]


def sources_of(function: Callable[..., Any]) -> set[Source]:
    """Return the source files of a function, and of the types and functions that it names."""
    modules = set()
    for _, value in _named(function):
        for part in _parts(value):
            owner = getattr(part, "_dispatcher", part)
            modules.update({getattr(getattr(owner, "py_func", owner), "__module__", None), type(part).__module__})
    files = {getattr(sys.modules.get(module), "__file__", None) for module in modules if module is not None}
    return _checksums(function.__code__.co_filename).union(*map(_checksums, files))


def _own(function: Callable[..., Any]) -> int:
    """Return a checksum of a function's own code, and of values that are bound to it."""
    cells = [_content(cell.cell_contents) for cell in function.__closure__ or ()]
    return crc32(repr((marshal.dumps(_bare(function.__code__), 2), _content(function.__defaults__), cells)).encode())


def _bare(code: CodeType) -> CodeType:
    """Return code without the name of its file."""
    inner = tuple(_bare(one) if isinstance(one, CodeType) else one for one in code.co_consts)
    return code.replace(co_filename="", co_consts=inner)


def _content(value: Any) -> Any:
    """Return what a value is: of it the text is the same in every process."""
    if is_jitted(value):
        return value.py_func.__module__, value.py_func.__qualname__, _own(value.py_func)
    if isinstance(value, np.ndarray | np.generic):
        return repr(value.dtype), value.shape, crc32(value.tobytes())
    if isinstance(value, list | tuple):
        return type(value).__qualname__, getattr(value, "_fields", ""), [_content(part) for part in value]
    if isinstance(value, EnumType):
        members: list[Any] = list(value)
        return value.__qualname__, [(member.name, _content(member.value)) for member in members]
    if isinstance(value, type):
        return value.__module__, value.__qualname__, getattr(value, "_fields", "")
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text and not isinstance(value, str) else text


def _parts(value: Any) -> list[Any]:
    """Return a value, and what stands in it."""
    return [value, *(part for each in value for part in _parts(each))] if isinstance(value, list | tuple) else [value]


def _named(function: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """Yield the globals that a function names, by themselves or as parts of modules that it names, and its cells."""
    names = names_in(function.__code__)
    spaces, modules = [function.__globals__], set[str]()
    for cell in function.__closure__ or ():
        yield "", cell.cell_contents
    for space in spaces:
        for name in sorted(names & space.keys()):
            value = space[name]
            if not isinstance(value, ModuleType):
                yield name, value
            elif value.__name__ not in modules:
                modules.add(value.__name__)
                spaces.append(vars(value))


def _called(function: Callable[..., Any]) -> list[Any]:
    """Return the compiled functions that a function names."""
    return [value for _, value in _named(function) if is_jitted(value)]


def _compile_as_needed(dispatcher: Any, compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile a function without counted references, or with them if it makes an array."""
    try:
        return compile_(signature)
    except NumbaError as error:
        if not any(phrase in str(error) for phrase in ("Only accept returning of array", "NRT required")):
            raise
    dispatcher.targetoptions["_nrt"] = True
    dispatcher._compiler._failed_cache.clear()
    return compile_(signature)


def _compile_when_ready(dispatcher: Any, compile_: Callable[..., Any], signature: Any) -> Any:
    """Compile a function that Python calls, load it from the disk, or return it as plain Python for this call.

    Functions that other ones call while these are compiled are compiled too.
    """
    if not PLAIN_START.on or dispatcher.compile_first or _lock.is_locked():
        return compile_(signature)
    if dispatcher.missed < PLAIN_START.ended and not _on_disk(dispatcher, signature):
        dispatcher.missed = PLAIN_START.ended
    if dispatcher.missed == PLAIN_START.ended and PLAIN_START.waits():
        return partial(_quietly, in_python(dispatcher))
    return compile_(signature)


def _quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function whose whole numbers may go round, as those of machine code do."""
    with np.errstate(over="ignore"):
        return function(*arguments)


def _on_disk(dispatcher: Any, signature: Any) -> bool:
    cache = dispatcher._cache
    return cache._index_key(signature, dispatcher.targetctx.codegen()) in cache._cache_file._load_index()


def _returns_no_array(dispatcher: Any, template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Resolve a call by another compiled function, which may not count references either.

    Raises:
        TypeError: if the function returns an array; it would be freed too early or never.
    """
    call_signature = widened(template, args, kws)
    if any(_holds_array(one.return_type) for one in dispatcher.nopython_signatures):
        raise TypeError(
            f"{dispatcher.py_func.__qualname__} returns an array to a compiled function: let it write into an array "
            "that it is given, or decorate it with partial(compiled, allocates=True)"
        )
    return call_signature


def _holds_array(kind: Any) -> bool:
    if isinstance(kind, types.BaseTuple):
        return any(_holds_array(part) for part in cast(Any, kind))
    return isinstance(kind, types.Array) or (isinstance(kind, types.Optional) and _holds_array(kind.type))


def _reduced(states: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what is pickled of a function. It counts references there, as what is done here to it is not pickled."""
    state = states()
    return {**state, "targetoptions": {**state["targetoptions"], "_nrt": True}}


def inlined(function: Function) -> Function:
    """Compile `function` inline, as a part of its callers; and by itself, for calls from Python.

    Inlining a large function that has one caller saves its own types and lowering, so it compiles a little faster.
    """
    return compiled(function, inline="always")


def widened(template: Callable[..., Any], args: Any, kws: Any) -> Any:
    """Resolve a call by another compiled function with 64-bit integers."""
    return template([types.int64 if _whole(one) else one for one in args], kws)


def _whole(kind: Any) -> bool:
    return isinstance(kind, types.IntegerLiteral) or kind in types.signed_domain
