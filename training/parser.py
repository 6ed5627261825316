"""Parses the command line with tyro. Only the command that is called is loaded."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from functools import partial, wraps
from importlib import import_module
from inspect import isfunction, signature
from io import StringIO
from pathlib import Path
from pkgutil import iter_modules
from threading import Lock
from typing import Annotated, Any, Union, cast, get_args

from . import commands
from .commands import COMMANDS, MERGED
from .help_page import print_page

HELP = ("-h", "--help")
HELP_ALL = "--help-all"
"""The option that prints the description of every option; `HELP` describes those that are used most."""
COMPLETION = "--tyro-print-completion"
"""tyro's option for shell completion."""
PARSING = Lock()
"""tyro's registry, and the standard error that is read here, belong to the whole process: one thread at a time."""
SHELLS = ("bash", "zsh", "fish")

SOURCE = re.compile(r"[^\W\d][\w.]*:[^\W\d]\w*")
"""A function of a module, as in my_package.my_game:game."""

Run = Callable[[], object]
"""A function that runs the command."""


def parse(args: Sequence[str]) -> Run:
    """Return a function that runs the command of the arguments.

    Args:
        args: the command's name and its arguments.

    Raises:
        ValueError: for wrong arguments, in one sentence.
        SystemExit: after printing help or a completion script.
    """
    if args[0] == COMPLETION:
        _check("shell", "".join(args[1:2]), SHELLS)
        return _completion(args)
    name, *rest = args
    if name in MERGED:
        raise ValueError(f"this is `{MERGED[name]}` now")
    _check("command", name, COMMANDS)
    _allow_own_games(rest)
    platforms = platforms_of(name)
    if not platforms:
        return _command(name, f"parlour {name}", rest, file=name == "train")
    if rest and rest[0] in HELP:
        return _parsed(_subcommands(dict.fromkeys(platforms), name), f"parlour {name}", rest)
    if not rest or rest[0].startswith("-"):
        raise ValueError(f"name a platform first: {', '.join(platforms)}")
    platform, *rest = rest
    _check("platform", platform, platforms)
    return _command(f"{name}.{platform}", f"parlour {name} {platform}", rest, file=True, live=True)


def _allow_own_games(args: Sequence[str]) -> None:
    """Let module:function name a game if it stands on the command line, as after ``--game=`` and between commas."""
    sources = [one for arg in args for one in re.split("[=,]", arg) if SOURCE.fullmatch(one)]
    if sources:
        from ..envs.core.registry import TYPED  # loads Numba

        for source in sources:
            TYPED.setdefault(source, "")


def _command(module: str, prog: str, args: Sequence[str], *, file: bool, live: bool = False) -> Run:
    """Return a function that runs the command of a module, or prints its help.

    Args:
        module: the module, below ``commands``.
        prog: the command as it is called.
        args: its arguments.
        file: whether a file may set switches too.
        live: whether a file and the environment give defaults.
    """
    if HELP_ALL in args:
        return _parsed(_load(module, HELP[1:]), prog, HELP, file=file)
    command = _load(module, args)
    if set(HELP) & set(args):  # help shows nothing of the environment, which may hold secrets
        first = getattr(import_module(command.__module__), "FIRST", ())
        return partial(print_page, prog, partial(_parsed, command, prog, HELP, file=file), first)
    if live:
        from .configured import configured  # loads msgspec and Numba

        command = configured(command, args)
    return _parsed(command, prog, args, file=file)


def _check(kind: str, name: str, names: Iterable[str]) -> None:
    if name not in names:
        from ..envs.core.options import did_you_mean  # loads Numba, which takes half a second

        hint = _game_hint(name, names) if kind == "command" else None
        raise ValueError(f"no {kind} is called {name!r}; {hint or did_you_mean(name, names)}")


def _game_hint(name: str, names: Iterable[str]) -> str | None:
    """Return the command that plays the game of this name, or of a similar one if no command has a similar name."""
    from ..envs.core.options import nearest
    from ..envs.core.registry import GAMES, game_meant

    game = game_meant(name)
    if game is None and not nearest(name, list(names)):
        game = nearest(name, [game_id.partition("-")[0] for game_id in GAMES])
    return None if game is None else f"did you mean `parlour play {game}`?"


def platforms_of(name: str) -> list[str]:
    """Return the platforms of a command: the modules of its package; empty if it is a module."""
    entry_of_name = next((entry for entry in iter_modules(commands.__path__) if entry.name == name), None)
    if entry_of_name is None or not entry_of_name.ispkg:
        return []
    package = import_module(f"{commands.__name__}.{name}")
    return sorted(module.name for module in iter_modules(package.__path__))


def _load(module: str, args: Sequence[str]) -> Callable[..., object]:
    """Return the command of a module, for these arguments."""
    loaded = import_module(f"{commands.__name__}.{module}")
    command: Callable[..., object] = loaded.command_for(args) if hasattr(loaded, "command_for") else loaded.command
    if args and not args[0].startswith("-"):
        _check_game(command, args[0])
    return command


def _check_game(command: Callable[..., object], name: str) -> None:
    """Raise ValueError if the command needs a game and this is none; tyro would name a missing option first."""
    from .commands.arguments import GameArguments

    if any(parameter.annotation is GameArguments for parameter in signature(command).parameters.values()):
        from ..envs import find

        find(name)


def _completion(args: Sequence[str]) -> Run:
    """Return a function that prints a completion script, with every description in one line.

    tyro's script prints a description as it is in the docstring, and the shell would take a second line for a word.
    """
    with redirect_stdout(StringIO()) as printed, suppress(SystemExit):
        _parsed(_subcommands(COMMANDS), "parlour", args)
    script = re.sub(r"(?m)^COMPLETION_SPEC = .*$", lambda found: found[0].replace("\\n", " "), printed.getvalue())
    return partial(print, script, end="")


def _subcommands(summaries: Mapping[str, str | None], package: str = "") -> Any:
    """Return the type with which tyro parses these commands; it loads all of them."""
    import tyro

    members = []
    for name, summary in summaries.items():
        platforms = [] if package else platforms_of(name)
        if platforms:
            target = _subcommands(dict.fromkeys(platforms), name)
        else:
            target = _deferred(_load(f"{package}.{name}" if package else name, HELP[1:]))
        members.append(Annotated[Any, tyro.conf.subcommand(name=name, constructor=target, description=summary)])
    return Union[tuple(members)]  # noqa: UP007 (made at run time)


def _parsed(command: Any, prog: str, args: Sequence[str], *, file: bool = False) -> Run:
    """Parse the arguments. Where a `file` may set switches too, there are ``--switch`` and ``--no-switch``."""
    import tyro

    target = _deferred(command) if isfunction(command) else command
    config = (tyro.conf.OmitArgPrefixes, *(() if file else (tyro.conf.FlagCreatePairsOff,)))
    if set(HELP) & set(args):
        args = HELP[1:]  # tyro's help does not show the arguments before it
    registry = tyro.constructors.ConstructorRegistry()
    registry.primitive_rule(_in_words)
    registry.primitive_rule(_optional)
    registry.primitive_rule(_several)
    with PARSING, redirect_stderr(StringIO()) as errors, registry:
        try:
            return cast(Run, tyro.cli(target, prog=prog, args=args, config=config))
        except SystemExit as end:
            if end.code in (None, 0):
                raise
    raise ValueError(_unknown_option(errors.getvalue(), target, config) or _in_one_line(errors.getvalue()))


def _unknown_option(box: str, target: Any, config: Sequence[Any]) -> str | None:
    """Return a sentence about the first option that the command does not have; None if it has all."""
    import tyro

    from .option_names import meant  # loads Numba

    unknown = re.search(r"Unrecognized options:\s*(--[\w-]+)", box)
    if unknown is None:
        return None
    with redirect_stdout(StringIO()) as page, suppress(SystemExit):
        tyro.cli(target, args=HELP[1:], config=config)
    options = dict.fromkeys(re.findall(r"(?<![\w-])--([a-z][\w-]*)", page.getvalue()))
    options.pop("help", None)
    likely = meant(unknown[1].removeprefix("--"), options)
    return f"no option is called {unknown[1]}; " + (f"did you mean --{likely}?" if likely else "--help lists all")


WORDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", Path: "a path"}
"""What help calls the values of a type."""


def _in_words(info: Any) -> Any:
    """Return how tyro reads a text, a number or a path, with words in help. None: `info` is another type."""
    import tyro

    kind = info.type
    if kind not in WORDS:
        return None

    def read(texts: Sequence[str]) -> Any:
        try:
            return kind(texts[0])
        except ValueError:
            raise ValueError(f"{texts[0]!r} is not {WORDS[kind]}") from None

    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar=WORDS[kind],
        instance_from_str=read,
        is_instance=lambda instance: isinstance(instance, (float, int) if kind is float else kind),
        str_from_instance=lambda instance: [str(instance)],
    )


def _optional(info: Any) -> Any:
    """Return how tyro reads a value that may be None: as it reads the value. None: `info` is another type."""
    if type(None) not in (inner := get_args(info.type)) or len(inner) != 2:
        return None
    spec = _spec_of(next(kind for kind in inner if kind is not type(None)), info)
    if not hasattr(spec, "nargs"):
        return None

    def read(texts: list[str]) -> Any:
        return None if texts == ["None"] else spec.instance_from_str(texts)

    return replace(
        spec,
        instance_from_str=read,
        is_instance=lambda instance: instance is None or spec.is_instance(instance),
        str_from_instance=lambda instance: ["None"] if instance is None else spec.str_from_instance(instance),
        choices=None if spec.choices is None else (*spec.choices, "None"),
    )


def _several(info: Any) -> Any:
    """Return how tyro reads a tuple of any length: help has the word of one and dots. None: `info` is another type."""
    import tyro

    if info.type_origin is not tuple or get_args(info.type)[1:] != (Ellipsis,):
        return None
    inner = _spec_of(get_args(info.type)[0], info)
    if getattr(inner, "nargs", None) != 1:
        return None
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs="*",
        metavar=f"{inner.metavar} …",
        instance_from_str=lambda texts: tuple(inner.instance_from_str([text]) for text in texts),
        is_instance=lambda instance: isinstance(instance, tuple) and all(map(inner.is_instance, instance)),
        str_from_instance=lambda instance: [text for one in instance for text in inner.str_from_instance(one)],
        choices=inner.choices,
    )


def _spec_of(kind: Any, info: Any) -> Any:
    """Return how tyro reads a type that is a part of another."""
    from tyro.constructors import ConstructorRegistry, PrimitiveTypeInfo

    return ConstructorRegistry.get_primitive_spec(PrimitiveTypeInfo.make(kind, info.markers))


def _deferred(command: Callable[..., object]) -> Callable[..., Run]:
    """Return a function that returns the call of a command, to run after the parsing."""

    @wraps(command)
    def deferred(**arguments: Any) -> Run:
        return partial(command, **arguments)

    return deferred


def _in_one_line(box: str) -> str:
    """Return the text of tyro's error box, without the box, its title and the repeated hints."""
    _title, *lines = (re.sub("[╭╮╰╯│─]", " ", line).strip() for line in box.strip().splitlines())
    text = " ".join(" ".join(line for line in lines if line.strip("-")).split())
    for hint in ("For full helptext", "Argument helptext:", "Got errors:"):
        text = text.partition(hint)[0].strip()
    text = re.sub(r"^Missing from parlour [\w ]+: ([A-Z]+) (.*?)( \(required\))?$", r"\1 is missing: \2", text)
    return re.sub(r"^Error parsing \w+: (?=\w+=)", "", re.sub(r"'[a-z_]\w*\.(\w+)'", r"\1", text))
