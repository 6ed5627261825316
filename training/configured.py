"""Options of a command from a file and the environment.

The weakest is the file (TOML) of ``--config FILE`` or ``PARLOUR_CONFIG``, then the environment's ``PARLOUR_NAME``, and
the strongest is the command line. The names are the same everywhere; in files and on the command line ``-`` is ``_``.
"""

import argparse
import inspect
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import tyro

from ..wrappers.policies.trained_for import read_settings
from .option_names import meant
from .runs.conversion import convert

PREFIX = "PARLOUR_"
FILE = "_file"
"""The end of the name of an option that names a file with a secret; the secret's own option has the name before it."""
ELSEWHERE = ("TRACEBACK", "SESSION_TOKEN")
"""Variables of the environment that are no options."""


def configured(
    command: Callable[..., object], args: Sequence[str], environ: Mapping[str, str] | None = None
) -> Callable[..., object]:
    """Return the command with the defaults that the file and the environment give.

    Args:
        command: the command; its parameters, and the fields of those that are dataclasses, are the options.
        args: the arguments on the command line. Only ``--config`` and the presence of secrets are read here.
        environ: the environment; None: that of the process.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: for an unknown name in the file, with the most similar one, or for a value of another type.
    """
    environ = os.environ if environ is None else environ
    kinds = _kinds(command)
    variables = {
        name.removeprefix(PREFIX).lower(): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and value and name.removeprefix(PREFIX) not in ELSEWHERE
    }
    _warn_of_unknown(variables.keys() - kinds.keys(), kinds)
    variables = {name: value for name, value in variables.items() if name in kinds}
    file = _file_of(args) or variables.pop("config", None)
    read = {} if file is None else _read(Path(file), kinds)
    secrets = {name.removesuffix(FILE) for name in kinds if name.endswith("_token_file") or name == "api_key_file"}
    given = {text.removeprefix("--").partition("=")[0].replace("-", "_") for text in args if text.startswith("--")}
    for secret in secrets:  # a secret has one source: the strongest that has it or its file
        pair = {secret, secret + FILE}
        if given & pair or environ.get(PREFIX + secret.upper()) or pair & variables.keys():
            read = {name: value for name, value in read.items() if name not in pair}
        if given & pair or environ.get(PREFIX + secret.upper()):
            variables = {name: value for name, value in variables.items() if name not in pair}
    values = read | _typed(variables, kinds)
    return _with_defaults(command, values) if values else command


def _file_of(args: Sequence[str]) -> str | None:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--config", nargs="?")
    file: str | None = parser.parse_known_args(list(args))[0].config
    return file


def _warn_of_unknown(names: Any, kinds: Mapping[str, Any]) -> None:
    """Say which variables look like options of this command; those of other commands may be set, too."""
    for name in sorted(names):
        for like in get_close_matches(name, kinds, 1, 0.8):
            hint = f"did you mean {PREFIX}{like.upper()}?"
            print(f"{PREFIX}{name.upper()} in the environment is no option here; {hint}", file=sys.stderr)


# Reading.


def _read(file: Path, kinds: Mapping[str, Any]) -> dict[str, Any]:
    settings = {name.replace("-", "_"): value for name, value in read_settings(file).items()}
    for name, value in settings.items():
        if name not in kinds:
            likely = meant(name, kinds)
            hint = f"did you mean {likely!r}?" if likely else f"choose from {', '.join(kinds)}"
            raise ValueError(f"no option in {file} is called {name!r}; {hint}")
        if isinstance(value, dict) and _is_list(kinds[name]):  # a table of the game's options
            settings[name] = [f"{key}={json.dumps(one)}" for key, one in value.items()]
    try:
        return _convert(settings, kinds, strict=True)
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _typed(texts: Mapping[str, str], kinds: Mapping[str, Any]) -> dict[str, Any]:
    split = {name: shlex.split(value) if _is_list(kinds[name]) else value for name, value in texts.items()}
    try:
        return _convert(split, kinds, strict=False)
    except ValueError as error:
        raise ValueError(f"the environment's {PREFIX}…: {error}") from None


def _convert(settings: Mapping[str, Any], kinds: Mapping[str, Any], strict: bool) -> dict[str, Any]:
    struct = msgspec.defstruct("Options", [(name, kinds[name]) for name in settings], kw_only=True)
    options = convert(settings, struct, strict)
    return {name: getattr(options, name) for name in settings}


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is tuple


# The command's options.


def _kinds(command: Callable[..., object]) -> dict[str, Any]:
    """Return the types of the options by name."""
    kinds: dict[str, Any] = {}
    for name, kind in get_type_hints(command, include_extras=True).items():
        if is_dataclass(kind):
            kinds |= dict(_fields(kind))
        elif name != "return":
            kinds[_option(name, kind)] = _plain(kind)
    return kinds


def _fields(kind: Any) -> Iterator[tuple[str, Any]]:
    hints = get_type_hints(kind, include_extras=True)
    return ((_option(field.name, hints[field.name]), _plain(hints[field.name])) for field in fields(kind))


def _option(name: str, kind: Any) -> str:
    """Return the name of a parameter's option, which may differ from the parameter's."""
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((mark.name for mark in marks if getattr(mark, "name", None)), name)


def _plain(kind: Any) -> Any:
    """Return a type without tyro's marks."""
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _with_defaults(command: Callable[..., object], values: Mapping[str, Any]) -> Callable[..., object]:
    """Return the command with other defaults."""
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)
    parameters = []
    for name, parameter in signature.parameters.items():
        kind, default = hints[name], parameter.default
        if is_dataclass(kind):
            default = _changed(kind, default, values)
        else:
            default = values.get(_option(name, kind), default)
        parameters.append(parameter.replace(default=default))

    @wraps(command)
    def with_defaults(**arguments: Any) -> object:
        return command(**arguments)

    with_defaults.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return with_defaults


def _changed(kind: Any, default: Any, values: Mapping[str, Any]) -> Any:
    """Return a dataclass's default with these values; the default itself if none belongs to it."""
    hints = get_type_hints(kind, include_extras=True)
    if not any(_option(field.name, hints[field.name]) in values for field in fields(kind)):
        return default
    values_by_field = {}
    for field in fields(kind):
        name = _option(field.name, hints[field.name])
        if name in values:
            values_by_field[field.name] = values[name]
        elif default is not inspect.Parameter.empty:
            values_by_field[field.name] = getattr(default, field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            values_by_field[field.name] = tyro.MISSING
    return kind(**values_by_field)
