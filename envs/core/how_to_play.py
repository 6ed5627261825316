"""The rules of a game in words, for players: people at the browser table, and language models.

Every game has a template, ``envs/how_to_play/<game>.md`` (Jinja): the aim, the turns, the payoffs in the unit of the
reward, what ends the game, and the fields of `game_state`. It is filled in from the options of the game. What the
template leaves out of the fields is taken from the type of `game_state`. A first line ``{# disguise: words #}`` lists
the words that skins replace (`parlour.wrappers.agents.prompt`); ``{# words: t time #}`` says what the page writes for
short words in names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

if TYPE_CHECKING:
    from jinja2 import Environment

    from .game import Game

UNKNOWN = "# {{ name }}\n\nA game for {{ agents | length }} players: `{{ agents | join('`, `') }}`.\n"
"""The template of a game that has none."""
FIELDS = "## Fields"
MESSAGE_ONLY = "`message_only` sends messages to the others and keeps the turn."


def how_to_play(game: "Game", *, fields: bool = True) -> str:
    """Return the rules of a game in words, with the numbers of its options: Markdown, at most a page.

    Args:
        game: the game.
        fields: whether the fields of `game_state` are described, which programs read.

    Raises:
        ValueError: if the template of the game cannot be filled in.
    """
    from jinja2 import TemplateError

    values, environment = _values(game), _environment()
    try:
        text = environment.from_string(game.how_to_play or _source(game.name) or UNKNOWN).render(values)
    except TemplateError as error:
        raise ValueError(f"how_to_play of {game.id}: {error}; it may name {', '.join(values)}") from None
    words, _, own = text.partition(FIELDS)
    if "message_only" in game.view.action_spaces:
        words = f"{words.rstrip()}\n\n{MESSAGE_ONLY}"
    kind = game.view.state_type if fields else None
    meanings = dict(described(kind)) if kind else {}
    lines = [line for line in own.splitlines() if meanings.keys() & _names(line)]  # the options may leave fields out
    lines += [f"- `{name}`: {meaning}" for name, meaning in meanings.items() if name not in _names("".join(lines))]
    return "\n\n".join([words.strip(), *([f"{FIELDS} of `game_state`", "\n".join(lines)] if lines else [])])


def _names(text: str) -> set[str]:
    """Return the names in backticks."""
    return set(re.findall(r"`([^`]+)`", text))


def _values(game: "Game") -> dict[str, Any]:
    """Return the variables of templates: the options, the payoffs, the agents, and facts of games in phases."""
    payoffs, spaces = game.payoffs, game.view.action_spaces
    values = {"seats": game.seats, "agents": game.agents, "name": game.name, **game.options}
    return values | {
        "unit": payoffs.unit,
        "unit_name": payoffs.unit_name,
        "low": payoffs.low,
        "high": payoffs.high,
        "game_issues": {name: int(part.n) for name, part in spaces["submit_offer"].items() if hasattr(part, "n")}
        if "submit_offer" in spaces
        else {},
        "has_private": getattr(getattr(game.view.state_type, "rules", None), "private", None) is not None,
    }


def telltale_words(game: "Game") -> list[str]:
    """Return the words by which players recognise a game, from the first line of its template; see `skins`."""
    match = re.match(r"\{# disguise: (.*?) #\}", game.how_to_play or _source(game.name) or "")
    return match[1].split() if match else []


def meanings_of_words(game: "Game") -> dict[str, str]:
    """Return the meanings of short words in names, from ``{# words: w wage, p chance of #}`` in the game's template."""
    match = re.search(r"\{# words: (.*?) #\}", game.how_to_play or _source(game.name) or "")
    return dict(pair.split(" ", 1) for pair in match[1].split(", ")) if match else {}


@cache
def _environment() -> "Environment":
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(_source),
        undefined=StrictUndefined,
        finalize=formatted,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"listed": listed, "drawn": drawn, "quantiles": quantiles}
    return environment


def _source(name: str) -> str | None:
    """Return a template of this package; None if there is none of this name."""
    file = files(f"{__package__.rpartition('.')[0]}") / "how_to_play" / f"{name}.md"
    return file.read_text(encoding="utf-8") if file.is_file() else None


def formatted(value: Any) -> Any:
    """Return a number as people write it; anything else as it is."""
    return f"{value:.10g}" if isinstance(value, float) else value


def listed(values: Any) -> str:
    """Return numbers as a list in words; one number as it is."""
    return ", ".join(str(formatted(one)) for one in values) if isinstance(values, Sequence) else str(formatted(values))


def drawn(ranges: Sequence[Any], agents: Sequence[str]) -> str:
    """Return the ranges of private values in words: one range, (low, high), or one for each agent."""
    if isinstance(ranges[0], Sequence):
        return "; ".join(f"{agent}: {drawn(one, ())}" for agent, one in zip(agents, ranges, strict=True))
    low, high = map(formatted, ranges)
    return f"always {low}" if low == high else f"uniform from {low} to {high}"


def quantiles(tables: Sequence[Any], agents: Sequence[str]) -> str:
    """Return the distribution of values in words, from a table of quantiles or one for each agent."""
    if isinstance(tables[0], Sequence):
        return "; ".join(f"{agent}: {quantiles(one, ())}" for agent, one in zip(agents, tables, strict=True))
    return drawn(tables, ()) if len(tables) == 2 else f"between the quantiles {listed(tables)}"


def described(kind: type[Struct]) -> Iterator[tuple[str, str]]:
    """Return the fields of a type by their names in JSON, with their meanings and those of the fields in them."""
    for field, meaning, inside in fields_of(kind):
        parts = [f"`{name}`{f' ({what})' if what else ''}" for one in inside for name, what in described(one)]
        yield field, "; ".join(filter(None, [meaning, f"with {', '.join(parts)}" if parts else ""]))


def fields_of(kind: type[Struct]) -> Iterator[tuple[str, str, list[type[Struct]]]]:
    """Return the fields of a type: their names in JSON, their meanings, and the types with fields in them."""
    for field in msgspec.structs.fields(kind):
        info = msgspec.inspect.type_info(field.type)
        schema: Mapping[str, Any] = (info.extra_json_schema or {}) if isinstance(info, msgspec.inspect.Metadata) else {}
        yield field.encode_name, str(schema.get("description", "")), list(structs_in(info))


def structs_in(info: Any) -> Iterator[type[Struct]]:
    """Return the structs that a type is made of."""
    types = msgspec.inspect
    match info:
        case types.Metadata():
            yield from structs_in(info.type)
        case types.StructType():
            yield info.cls
        case types.UnionType():
            for one in info.types:
                yield from structs_in(one)
        case types.ListType():
            yield from structs_in(info.item_type)
        case types.DictType():
            yield from structs_in(info.value_type)
