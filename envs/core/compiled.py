"""Decorators that compile a function with Numba and cache the machine code on disk, without stale caches."""

import marshal
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import EnumType
from functools import cache, cached_property, partial
from glob import escape
from hashlib import sha256
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast
from zlib import crc32

import numba
import numpy as np
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.core.event import register
from numba.extending import is_jitted, typeof_impl

from .machine_code import Function, compiling, packed
from .plain_python import in_python, interpreted, names_in
from .plain_start import PLAIN_START, CompilingNotice

# An encoder that extends another one passes it a record of offsets with more fields at the end. That is intended.
warnings.filterwarnings("ignore", r"Record\(.* has been considered a subtype", NumbaExperimentalFeatureWarning)

Plain = TypeVar("Plain", bound=Callable[..., Any])
KEPT = 8
"""For how many versions of the sources the code of a function is kept."""
_config: Any = numba.config  # its settings have no types
_record_type: Any = cache(numba.from_dtype)  # making it takes a millisecond

cast(Any, register)("numba:compile", CompilingNotice())


@typeof_impl.register(np.record)
def _type_of_record(record: Any, _context: Any) -> Any:
    """Return the type of a record: while functions run as plain Python, Numba asks for it at each call."""
    return _record_type(record.dtype)


def compiled(
    function: Plain,
    inline: str = "never",
    nogil: bool = False,
    allocates: bool = False,
    compile_first: bool = False,
) -> Plain:
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
    """
    if _config.DISABLE_JIT:
        return interpreted(function)
    if not Path(function.__code__.co_filename).is_file():
        return cast(Plain, numba.njit(function))
    counts = allocates or any(one.targetoptions.get("_nrt", True) for one in _called(function))
    options = {"nopython": True, "boundscheck": None, "inline": inline, "nogil": nogil}
    made: Any = _Compiled(function, targetoptions=options | {"no_cfunc_wrapper": True, "_nrt": counts})
    made.sources = sources_of(function)  # now: its file may change before it is called
    with suppress(RuntimeError):  # "cannot cache function: no locator available"
        made.keep(lambda written: Store(written, function, partial(stamp_of, made)))
        made.compile_first = compile_first
    return cast(Plain, made)


class _Compiled(Function):
    """A compiled function. Pickles and copies name it, if other processes can import it by its name."""

    __name__: str
    compile_first = True
    missed = -1
    """The latest `PLAIN_START.ended` at which it was not on the disk."""

    def __reduce__(self) -> Any:
        module: Any = sys.modules.get(self.__module__)
        if self.__module__ != "__main__" and getattr(module, self.__name__, None) is self:
            return self.__name__
        return super().__reduce__()

    def compile(self, signature: Any) -> Any:
        """Compile for a call from Python, load from the disk, or return plain Python for this call.

        Functions that other ones call while these are compiled are compiled too.
        """
        if PLAIN_START.on and not (self.compile_first or compiling()):
            if self.missed < PLAIN_START.ended and not self.on_disk(signature):
                self.missed = PLAIN_START.ended
            if self.missed == PLAIN_START.ended and PLAIN_START.waits():
                return partial(_quietly, in_python(self))
        return super().compile(signature)


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


_COMPILER = ("compiled", "loops", "machine_code", "memory", "plain_python")
_CORE: set[Source] = set().union(*(_checksums(Path(__file__).with_name(f"{name}.py")) for name in _COMPILER))


class Store:
    """The code of a function on disk: a file for each signature, whose name has a checksum of all that it is for.

    Numba's files hold the time of the source file, and have numbers, which two processes may give at the same time.
    Here any checkout with the same sources finds the code. `stamp` returns a checksum of them; it is called when the
    function is, as then all is there that it names.
    """

    def __init__(self, written: Any, function: Any, stamp: Callable[[], str]) -> None:
        self._written, self._current = written(function), stamp
        folder, root = Path(self._written.locator.get_cache_path()), Path(_config.CACHE_DIR)
        if _config.CACHE_DIR and root in folder.parents:
            folder = root / (function.__module__.rpartition(".")[0] or "main")  # Numba's has the checkout's name
        self.cache_path = folder

    @cached_property
    def _stamp(self) -> str:
        return self._current()

    def file(self, signature: Any, codegen: Any) -> Path:
        """Return the path of the code for a signature."""
        key = sha256(repr((signature, codegen.magic_tuple())).encode()).hexdigest()[:16]
        return self.cache_path / f"{self._written.filename_base}.{self._stamp}.{key}.nbc"

    def load_overload(self, signature: Any, context: Any) -> Any:
        """Return the code for a signature; None if there is none. Numba calls this before it compiles."""
        context.refresh()
        try:
            kept = pickle.loads(self.file(signature, context.codegen()).read_bytes())
        except (OSError, AttributeError, ImportError):  # the last two: it names a type that is gone
            return None
        return self._written.rebuild(context, kept)

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep code, unless a constant has changed since the first call: another process would not see that."""
        if not self._written.check_cachable(code) or self._current() != self._stamp:
            return
        file = self.file(signature, code.codegen)
        with suppress(OSError):  # the disk is full, or another process removes old files too
            self.cache_path.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(packed(self._written, code))
            unfinished.replace(file)
            every = self.cache_path.glob(f"{escape(self._written.filename_base)}.{'[0-9a-f]' * 16}.*.nbc")
            files = sorted(every, key=lambda one: -one.stat().st_mtime_ns)
            stamps = list(dict.fromkeys(one.name.split(".")[-3] for one in files))
            for old in files:
                if old.name.split(".")[-3] in stamps[KEPT:]:
                    old.unlink(missing_ok=True)


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
    """Return a description of a value that is the same in every process."""
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


def _quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function whose whole numbers may go round, as those of machine code do."""
    with np.errstate(over="ignore"):
        return function(*arguments)


def inlined(function: Plain) -> Plain:
    """Compile `function` inline, as a part of its callers; and by itself, for calls from Python.

    Inlining a large function that has one caller saves its own types and lowering, so it compiles a little faster.
    """
    return compiled(function, inline="always")
