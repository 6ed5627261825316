"""The `parlour` command: the overview, errors, standard output in any encoding; cyclopts reads the command line.

Only the command that is called is loaded. Commands that run for long also read a file (TOML), ``--config FILE`` or
``PARLOUR_CONFIG``, and the environment, ``PARLOUR_NAME``. The environment is stronger than the file, and the command
line is stronger than both. The names are the same everywhere; in files and in the environment ``-`` is ``_``.
"""

import codecs
import errno
import json
import os
import re
import shlex
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import partial, wraps
from importlib import import_module, metadata
from inspect import Parameter as P
from inspect import cleandoc, signature
from pathlib import Path
from threading import Timer
from typing import Annotated, Any, cast, get_type_hints

from cyclopts import App, CycloptsError, Parameter, Token
from cyclopts.config import Dict
from cyclopts.exceptions import UnknownCommandError
from cyclopts.help import DefaultFormatter

from . import commands
from .commands import COMMANDS, MERGED, SUBCOMMANDS

PLAIN = dict(zip("–—−×·›’“”øØłŁ", '---x->\'""oOlL', strict=True)) | {"ß": "ss"}
"""ASCII for characters that Unicode does not decompose."""
READABLE = "parlour-readable"
"""The name of the error handler `readable`."""


def readable(error: UnicodeError) -> tuple[str, int]:
    """Return characters that an encoding lacks as similar ASCII, else as escapes: an error handler of `codecs`.

    >>> codecs.register_error(READABLE, readable)
    >>> "Zoë: −1…".encode("ascii", READABLE)
    b'Zoe: -1...'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(char: str) -> str:
    letters = unicodedata.normalize("NFKD", PLAIN.get(char, char)).encode("ascii", "ignore").decode()
    return letters or ("" if unicodedata.combining(char) else ascii(char)[1:-1])


def prepare_streams() -> None:
    """Set up standard output and standard error for all characters, whatever their encoding is."""
    codecs.register_error(READABLE, readable)
    for stream in (sys.stdout, sys.stderr):
        if not (stream.encoding or "").lower().startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=READABLE)


EXAMPLES = """\
  parlour demo
  parlour play holdem
  parlour table holdem --agents zoo:holdem
  parlour train holdem --minutes 8 --run first
  parlour evaluate first --against call tight
  parlour evaluate reference leduc call
  parlour host poker --seats 6 --port 9000
  parlour deploy poker first --api http://127.0.0.1:9000
  parlour host arena bargaining --agents fair conceder boulware
  parlour replay matches.jsonl --serve"""

EXTRAS = {
    "cuda": ("numba_cuda",),
    "train": ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "threadpoolctl"),
    "plot": ("matplotlib",),
    "phh": ("pokerkit",),
    "ray": ("ray",),
    "live": ("prometheus_client",),
    "render": ("resvg_py", "ttf_opensans", "PIL", "imageio_ffmpeg"),
}
"""Packages that some commands need, and the extras that install them."""

MISTAKE = 2
"""Exit code of an error that the user can correct."""

PATIENCE = 1.0
"""Seconds of starting before a terminal says so."""

REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "this is a folder, not a file",
    errno.EACCES: "this file or port may not be used, permission is denied",
    errno.ENOSPC: "the disk is full",
    errno.EADDRINUSE: "the port is in use by another program; choose one with --port",
}
"""What an error of the operating system means for a user."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `parlour` command and return its exit code.

    A user error prints one line on stderr and returns exit code 2. ``PARLOUR_TRACEBACK=1`` shows the traceback.

    Args:
        argv: the arguments; None: those of the process.
    """
    prepare_streams()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small networks are slower with more threads
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        _front_page()
        return 0
    if args[0] in ("-V", "--version"):
        print(f"parlour {metadata.version('parlour')}")
        return 0
    name = args[0]
    before, sys.argv = sys.argv, ["parlour", *args]  # runs and results keep the command that made them
    try:
        with _said_that_it_starts(name):
            run = parse(args)
        run()
        return 0
    except KeyboardInterrupt as stop:
        return _complain(name, str(stop) or "stopped", 130)
    except BrokenPipeError:  # the reader has gone, as in `parlour … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("PARLOUR_TRACEBACK"):
            raise
        lacking = isinstance(error, ValueError) and not [
            one for one in args[1:] if one not in SUBCOMMANDS.get(name, ())
        ]
        return _complain(name, _sentence(error) + (_example(args) if lacking else ""), MISTAKE)
    except SystemExit as end:
        if isinstance(end.code, str):
            return _complain(name, end.code.removeprefix(f"parlour {name}: "), MISTAKE)
        return end.code or 0
    finally:
        sys.argv = before


@contextmanager
def _said_that_it_starts(name: str) -> Iterator[None]:
    """Say on a terminal that the command starts, if the body takes long: on a slow machine imports take 20 seconds."""
    timer = Timer(PATIENCE, lambda: print(f"parlour {name} is starting …", file=sys.stderr, flush=True))
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0]
        for extra, packages in EXTRAS.items():
            if package in packages:
                from ..envs.core.installed import install  # loads Numba

                return f"this needs {package}, which is not installed: {install(extra)}"
    if isinstance(error, OSError) and error.errno is not None:
        reason = REASONS.get(error.errno, os.strerror(error.errno))
        return f"{reason}: {error.filename}" if error.filename else f"{reason} ({error.strerror})"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {str(error).partition(' for an array')[0]}"  # NumPy goes on with the dtype
    return " ".join(str(error).split()) or type(error).__name__


def _example(args: Sequence[str]) -> str:
    """Return an example of a command that was given without arguments; empty: there is none."""
    given = f"  parlour {' '.join(args)} "
    example = next((line for line in EXAMPLES.splitlines() if line.startswith(given)), None)
    return "" if example is None else f" (for example: {example.strip()})"


def _complain(name: str, sentence: str, code: int) -> int:
    print(f"parlour {name}: {sentence}", file=sys.stderr)
    return code


def _front_page() -> None:
    from rich.table import Table

    from .terminal.console import Console

    console = Console()
    console.print("[bold]Parlour[/]: parlour games for multi-agent learning and live play.\n")
    console.print("[bold]Usage:[/] parlour COMMAND …      (parlour COMMAND --help describes a command)\n")
    table = Table.grid(padding=(0, 3))
    for name, summary in COMMANDS.items():
        table.add_row(f"  [bold cyan]{name}[/]", summary)
    console.print(table)
    console.print(f"\n[bold]For example:[/]\n{EXAMPLES}")
    console.print(f"\nTab completion: parlour {COMPLETION} bash (zsh, fish)", markup=False)


# Reading the command line.


COMPLETION = "--completion"
"""The option that prints a script for a shell's completion."""
SHELLS = ("bash", "zsh", "fish")
SOURCE = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
"""A function of a module, as in my_package.my_game:game."""
PREFIX = "PARLOUR_"
ELSEWHERE = {"TRACEBACK", "SESSION_TOKEN", "COMPILE_FIRST", "NIGHTLY"}
"""Variables of the environment that are no options."""

Run = Callable[[], object]
"""Runs the command."""


def parse(args: Sequence[str]) -> Run:
    """Return a function that runs the command of the arguments.

    Args:
        args: the command's name and its arguments.

    Raises:
        ValueError: for wrong arguments, in one sentence.
    """
    name, *rest = args
    if name == COMPLETION:
        if rest[:1] not in [[shell] for shell in SHELLS]:
            raise ValueError(f"name a shell: {', '.join(SHELLS)}")
        return lambda: print(_app(args).generate_completion(shell=cast(Any, rest[0])))
    if name in MERGED:
        raise ValueError(f"this is `{MERGED[name]}` now")
    # A module:function names a game if it stands on the command line, as after ``--game=`` and between commas.
    if sources := [part for arg in rest for part in re.split("[=,]", arg) if SOURCE.fullmatch(part)]:
        from ..envs.core.registry import TYPED  # loads Numba

        for source in sources:
            TYPED.setdefault(source, "")
    app = _app(args)
    try:
        command, bound, _ = app.parse_args(list(args), exit_on_error=False, print_error=False)
    except UnknownCommandError as error:
        raise ValueError((_game_hint(name) if name not in COMMANDS else None) or _without_dashes(error)) from None
    except CycloptsError as error:
        raise ValueError(_without_dashes(error)) from None
    run = partial(command, *bound.args, **bound.kwargs)
    names = [arg for arg in rest if arg[:1] != "-" and arg not in SUBCOMMANDS.get(name, ())]
    if {"-h", "--help"}.isdisjoint(rest) or not names:
        return run
    from ..envs.core.registry import TYPED, game_meant  # loads Numba
    from .commands.list import options_of

    games = [one for one in names if one in TYPED or game_meant(one) == one]
    return lambda: (run(), *(print(f"\n{options_of(one)}") for one in games))


def _without_dashes(error: CycloptsError) -> str:
    text = re.sub("--([A-Z]+)", r"\1", " ".join(str(error).split()))
    return text[:1].lower() + text[1:]


def _app(args: Sequence[str]) -> App:
    """Return all commands; the one that is called is loaded, for completion scripts all are."""
    app = App(
        name="parlour",
        default_parameter=Parameter(consume_multiple=True, negative_iterable=(), negative_none=(), show_env_var=False),
        result_action="return_value",
        version_flags=(),
        help_format="plaintext",
        help_formatter=_print_panel,
        config=_sources,
    )
    for name, summary in COMMANDS.items():
        if name not in SUBCOMMANDS:
            _add(app, name, f"{name}:command", summary, args[0] in (name, COMPLETION))
            continue
        called = name == "evaluate" and args[0] in (name, COMPLETION)
        group = App(name=name, help=None if called else summary)
        for sub, (place, text) in SUBCOMMANDS[name].items():
            _add(group, sub, place, text, args[0] == COMPLETION or list(args[:2]) == [name, sub])
        if called:
            group.default(one_by_one(import_module(f"{commands.__name__}.evaluate").command))
        app.command(group)
    return app


def _add(app: App, name: str, place: str, summary: str, loaded: bool) -> None:
    """Add the command at module:function: the function if it is `loaded`, else its place."""
    module, _, function = f"{commands.__name__}.{place}".partition(":")
    if loaded:
        app.command(one_by_one(getattr(import_module(module), function)), name=name)
    else:
        app.command(f"{module}:{function}", name=name, help=summary)


def one_by_one(command: Callable[..., object]) -> Callable[..., object]:
    """Return a command whose parameters that are dataclasses are options one by one, each with its own default."""
    hints, changed = get_type_hints(command, include_extras=True), []
    for parameter in signature(command).parameters.values():
        kind = hints[parameter.name]
        if is_dataclass(kind):
            if parameter.default is not P.empty:
                kind = _with_defaults(kind, parameter.default)
            needed = any(one.default is MISSING and one.default_factory is MISSING for one in fields(kind))
            parameter = parameter.replace(default=P.empty if needed else kind())
            kind = Annotated[kind, Parameter(name="*")]
        changed.append(parameter.replace(annotation=kind))
    whole = signature(command).replace(parameters=changed)

    @wraps(command)
    def flat(*given: Any, **options: Any) -> object:
        bound = whole.bind(*given, **options)
        bound.apply_defaults()
        return command(*bound.args, **bound.kwargs)

    text, args, described = cleandoc(command.__doc__ or "").partition("\nArgs:")
    # A paragraph is a line.
    flat.__doc__ = re.sub(r"(?<!\n)\n(?!\n)", " ", text.strip()) + "\n" + args + described
    flat.__signature__ = whole  # type: ignore[attr-defined]
    flat.__annotations__ = {one.name: one.annotation for one in changed}
    return flat


def _with_defaults(kind: Any, default: Any) -> Any:
    """Return a dataclass with other defaults: cyclopts fills what is not given from the class."""
    hints = get_type_hints(kind, include_extras=True)
    values = {one.name: getattr(default, one.name) for one in fields(kind)}
    members = {"__module__": kind.__module__, "__doc__": kind.__doc__, "__annotations__": {n: hints[n] for n in values}}
    return dataclass(frozen=True, kw_only=True)(type(kind.__name__, (kind,), members | values))


def _print_panel(console: Any, options: Any, panel: Any) -> None:
    """Print a panel of the help: one name per option, and no default where it is off or empty."""
    for entry in panel.entries:
        if not all(name.startswith("-") for name in entry.positive_names):
            entry.positive_names = entry.positive_names[:1]
        if entry.default == "False":
            entry.negative_names = ()
        if entry.default in ("False", "()"):
            entry.default = None
        entry.description = " ".join(entry.description.primary_renderable.plain.replace("``", "").split())
    DefaultFormatter()(console, options, panel)


def _game_hint(name: str) -> str | None:
    """Return the command that plays the game of this name, or of a similar one if no command has a similar name."""
    from ..envs.core.options import nearest  # loads Numba
    from ..envs.core.registry import GAMES, game_meant

    game = game_meant(name)
    if game is None and not nearest(name, list(COMMANDS)):
        game = nearest(name, [game_id.partition("-")[0] for game_id in GAMES])
    return None if game is None else f"no command is called {name!r}; did you mean `parlour play {game}`?"


# Options from the environment and a file.


def _sources(app: App, path: tuple[str, ...], arguments: Any) -> None:
    """Check whole numbers, and fill in what the command line does not give, for commands that run for long."""
    for one in arguments:
        for token in one.tokens if one.hint in (int, int | None, tuple[int, ...]) else ():
            if not re.fullmatch(r"[-+]?\d[\d_]*", token.value):  # cyclopts would round it
                raise ValueError(f"invalid value for {one.name}: {token.value!r} is not a whole number")
    by_name = {one.name.removeprefix("--").replace("-", "_").lower(): one for one in arguments}
    config = by_name.get("config")
    if config is None or "log_level" not in by_name:
        return
    variables = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in os.environ.items()
        if name.startswith(PREFIX) and value and name.removeprefix(PREFIX) not in ELSEWHERE
    }
    for name in sorted(variables.keys() - by_name.keys()):  # those of other commands may be set, too
        for like in get_close_matches(name, by_name, 1, 0.8):
            hint = f"did you mean {PREFIX}{like.upper()}?"
            print(f"{PREFIX}{name.upper()} in the environment is no option here; {hint}", file=sys.stderr)
    given = {name for name, one in by_name.items() if one.tokens}
    for name in sorted(variables.keys() & by_name.keys() - _settled(given)):
        words = shlex.split(variables[name]) if by_name[name].token_count()[1] else [variables[name]]
        for index, word in enumerate(words):
            by_name[name].append(
                Token(keyword=f"{PREFIX}{name.upper()}", value=word, source="environment", index=index)
            )
    if not config.tokens:
        return
    file = config.tokens[0].value
    settled = _settled({name for name, one in by_name.items() if one.tokens})
    from ..wrappers.policies.base import read_settings  # loads Numba

    settings = dict[str, Any]()
    for name, value in read_settings(Path(file)).items():
        pairs = value.items() if isinstance(value, dict) else None
        settings[name.replace("-", "_")] = (
            value if pairs is None else [f"{key}={json.dumps(one)}" for key, one in pairs]
        )
    for name in settings.keys() - by_name.keys():
        like = get_close_matches(name, by_name, 1)
        hint = f"did you mean {like[0]!r}?" if like else f"choose from {', '.join(by_name)}"
        raise ValueError(f"no option in {file} is called {name!r}; {hint}")
    values = {by_name[name].name.removeprefix("--"): settings[name] for name in settings.keys() - settled}
    Dict(values, source=file, use_commands_as_keys=False)(app, path, arguments)


def _settled(given: set[str]) -> set[str]:
    """Return the options that weaker sources do not set: of a secret and the file that holds it, one is enough."""
    secrets = {name.removesuffix("_file") for name in given}
    secrets = {name for name in secrets if name.endswith("_token") or name == "api_key"}
    return given | secrets | {f"{name}_file" for name in secrets}


if __name__ == "__main__":
    sys.exit(main())
