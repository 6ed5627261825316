"""Parses the command line with tyro. Only the command that is called is loaded."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial, wraps
from importlib import import_module
from inspect import isfunction, signature
from io import StringIO
from pkgutil import iter_modules
from threading import Lock
from typing import Annotated, Any, Union, cast

from . import commands
from .commands import COMMANDS

HELP = ("-h", "--help")
COMPLETION = "--tyro-print-completion"
"""tyro's option for shell completion."""
PARSING = Lock()
"""tyro's registry, and the standard error that is read here, belong to the whole process: one thread at a time."""
SHELLS = ("bash", "zsh", "fish")

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
    _check("command", name, COMMANDS)
    platforms = _platforms(name)
    if not platforms:
        return _parsed(_load(name, rest), f"parlour {name}", rest, file=name == "train")
    if rest and rest[0] in HELP:
        return _parsed(_subcommands(dict.fromkeys(platforms), name), f"parlour {name}", rest)
    if not rest or rest[0].startswith("-"):
        raise ValueError(f"name a platform first: {', '.join(platforms)}")
    platform, *rest = rest
    _check("platform", platform, platforms)
    from .configured import configured  # loads msgspec and Numba

    command = _load(f"{name}.{platform}", rest)
    if not set(HELP) & set(rest):  # help shows nothing of the environment, which may hold secrets
        command = configured(command, rest)
    return _parsed(command, f"parlour {name} {platform}", rest, file=True)


def _check(kind: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        from ..envs.core.options import did_you_mean  # loads Numba, which takes half a second

        raise ValueError(f"no {kind} is called {name!r}; {did_you_mean(name, known)}")


def _platforms(name: str) -> list[str]:
    """Return the platforms of a command: the modules of its package; empty if it is a module."""
    found = next((entry for entry in iter_modules(commands.__path__) if entry.name == name), None)
    if found is None or not found.ispkg:
        return []
    package = import_module(f"{commands.__name__}.{name}")
    return sorted(module.name for module in iter_modules(package.__path__))


def _load(module: str, args: Sequence[str]) -> Callable[..., object]:
    """Return the command of a module, for these arguments."""
    found = import_module(f"{commands.__name__}.{module}")
    command: Callable[..., object] = found.command_for(args) if hasattr(found, "command_for") else found.command
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
    with redirect_stdout(StringIO()) as told, suppress(SystemExit):
        _parsed(_subcommands(COMMANDS), "parlour", args)
    script = re.sub(r"(?m)^COMPLETION_SPEC = .*$", lambda found: found[0].replace("\\n", " "), told.getvalue())
    return partial(print, script, end="")


def _subcommands(summaries: Mapping[str, str | None], package: str = "") -> Any:
    """Return the type with which tyro parses these commands; it loads all of them."""
    import tyro

    members = []
    for name, summary in summaries.items():
        platforms = [] if package else _platforms(name)
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
    registry.primitive_rule(_text)
    with PARSING, redirect_stderr(StringIO()) as told, registry:
        try:
            return cast(Run, tyro.cli(target, prog=prog, args=args, config=config))
        except SystemExit as end:
            if end.code in (None, 0):
                raise
    raise ValueError(_in_one_line(told.getvalue()))


def _text(info: Any) -> Any:
    """Return how tyro reads a string: help calls its value TEXT; its own word is STR. None: `info` is another type."""
    import tyro

    if info.type is not str:
        return None
    return tyro.constructors.PrimitiveConstructorSpec(
        nargs=1,
        metavar="TEXT",
        instance_from_str=lambda texts: texts[0],
        is_instance=lambda instance: isinstance(instance, str),
        str_from_instance=lambda instance: [instance],
    )


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
    return re.sub(r"^Error parsing \w+: (?=\w+=)", "", re.sub(r"'\w+\.(\w+)'", r"\1", text))
