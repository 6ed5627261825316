"""Reads the command line with cyclopts. Only the command that is called is loaded.

Commands that run for long also read a file (TOML), ``--config FILE`` or ``PARLOUR_CONFIG``, and the environment,
``PARLOUR_NAME``. The environment is stronger than the file, and the command line is stronger than both. The names are
the same everywhere; in files and in the environment ``-`` is ``_``.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter as P
from inspect import cleandoc, signature
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

from cyclopts import App, CycloptsError, Parameter, Token
from cyclopts.config import Dict
from cyclopts.exceptions import UnknownCommandError
from cyclopts.help import DefaultFormatter

from . import commands
from .commands import COMMANDS, MERGED, SUBCOMMANDS

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
    _allow_own_games(rest)
    app = _app(args)
    try:
        command, bound, _ = app.parse_args(list(args), exit_on_error=False, print_error=False)
    except UnknownCommandError as error:
        raise ValueError((_game_hint(name) if name not in COMMANDS else None) or _sentence(error)) from None
    except CycloptsError as error:
        raise ValueError(_sentence(error)) from None
    return partial(command, *bound.args, **bound.kwargs)


def _sentence(error: CycloptsError) -> str:
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


def _allow_own_games(args: Sequence[str]) -> None:
    """Let module:function name a game if it stands on the command line, as after ``--game=`` and between commas."""
    sources = [part for arg in args for part in re.split("[=,]", arg) if SOURCE.fullmatch(part)]
    if sources:
        from ..envs.core.registry import TYPED  # loads Numba

        for source in sources:
            TYPED.setdefault(source, "")


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
    settings = _read(Path(file))
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


def _read(file: Path) -> Mapping[str, Any]:
    from ..wrappers.policies.base import read_settings  # loads Numba

    return {
        name.replace("-", "_"): [f"{key}={json.dumps(one)}" for key, one in value.items()]
        if isinstance(value, dict)
        else value
        for name, value in read_settings(file).items()
    }
