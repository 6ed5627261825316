"""`parlour list`: games, bots, policies of the zoo with their cards, presets and runs."""

import inspect
import json
import re
import sys
from collections.abc import Callable
from itertools import starmap
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from ...envs import GAMES, Game, Match, find, how_to_play
from ...envs import game as make_game
from ...envs.core.how_to_play import FIELDS
from ...envs.core.options import schema_of, texts_of
from ...wrappers.policies.base import read_settings
from ...zoo import PREFIX, Card, Measure, card, names, seats_of, span, variants, weights
from ..evaluation.cross_play import LOST
from ..evaluation.exploit import is_lucky
from ..learning import run_folder
from ..learning.settings import ALGORITHM
from ..runs.config import platform_presets, presets, settings_from
from ..terminal.console import Console, table_of
from .arguments import AsJson
from .lookup import game_with

Rows = list[dict[str, Any]]
IN_JSON_ONLY = {"games": ["note"], "presets": ["algorithm"]}
"""Columns that tables leave out."""


def command(
    what: Annotated[tuple[str, ...], Parameter(name="KIND")] = (),
    *,
    runs: Path = run_folder.RUNS,
    options: tuple[str, ...] = (),
    as_json: AsJson = False,
) -> None:
    """Show the games with their players and bots, the bots, the policies of the zoo with the numbers of seats at which
    they play and their worst measure, the presets (settings of training), and the runs.

    Args:
        what: Any of games, bots, zoo, presets and runs; zoo:NAME, such as zoo:holdem, for all of the card of a policy;
            a game for its options, action indices, payloads, slices of the observation and fields of `game_state`, in
            JSON for the schema of its options. Default: games to runs.
        runs: The folder of all run folders.
        options: The game's options as name=value, such as seats=3.
    """
    make: dict[str, Callable[[], Rows]] = {
        "games": _games, "bots": _bots, "zoo": zoo_rows, "presets": _presets, "runs": lambda: _runs(runs),
    }  # fmt: skip
    cards = {name: card(name) for name in what if name.startswith(PREFIX)}
    games = {name: game_with(name, options) for name in what if name not in (*make, *cards)}
    tables = {kind: rows() for kind, rows in make.items() if kind in what or not what}
    if as_json:
        kinds = {name: getattr(find(name), "options", None) for name in games}
        schemas = {name: schema_of(kind) if kind else {} for name, kind in kinds.items()}
        print(json.dumps(tables | msgspec.to_builtins(cards) | schemas, indent=2))
        return
    print(*starmap(_layout, games.items()), sep="\n\n", end="\n" * bool(games))
    for kind, rows in tables.items():
        left_out = IN_JSON_ONLY.get(kind, ())
        columns = [column for column in (rows[0] if rows else {"none": ""}) if column not in left_out]
        table = table_of(columns, [[_cell(row[one]) for one in columns] for row in rows], kind, texts=len(columns))
        table.columns[0].no_wrap = True
        Console().print(table)
    for name, about in cards.items():
        Console().print(*card_page(name.removeprefix(PREFIX), about), sep="\n", soft_wrap=True)


def options_of(name: str) -> str:
    """Return a game's options as text, each with its type, its default, and its words."""
    kind = getattr(find(name), "options", None)
    words = texts_of(kind) if kind else {}
    parameters = inspect.signature(find(name)).parameters.values()
    text = "\n".join(f"{one}\n    {words.get(one.name, '')}" for one in parameters)
    return "Options\n\n" + (re.sub(r"(collections\.abc|typing)\.", "", text) or "none")


def _layout(name: str, game: Game) -> str:
    actions = [f"{one.start} to {one.stop - 1}: {one.meaning}" for one in game.view.action_ranges]
    payloads = [f"{kind}: {space}" for kind, space in game.view.action_spaces.items()]
    fields = how_to_play(game).partition(FIELDS)[2].partition("\n")[2].strip()
    if not fields:  # a default view has no type with words: an example says what is where
        match = Match(game)
        match.reset(seed=0)
        example = match.turn_state(game.agents[match.turn]).game_state
        fields = "\n".join(f"- `{name}`, such as {value}" for name, value in example.items())
    parts = {"Actions": "\n".join(actions), "Payloads": "\n".join(payloads), "Observation": game.layout.describe()}
    texts = [f"{title}\n\n{text}" for title, text in {**parts, "Fields of game_state": fields}.items()]
    return "\n\n".join([options_of(name), *texts])


def _games() -> Rows:
    rows: Rows = []
    for name in GAMES:
        row: dict[str, Any] = {"game": name, "players": None, "bots": [], "options": []}
        rows.append(row)
        try:
            row["options"] = list(inspect.signature(find(name)).parameters)
            game = make_game(name)
            row |= {"players": game.seats, "bots": list(game.bots)}
        except (TypeError, ValueError) as error:  # a user's game that needs options, or cannot be loaded
            row["note"] = str(error)
    return rows


def _bots() -> Rows:
    games: dict[str, list[str]] = {}
    for row in _games():
        for bot in row["bots"]:
            games.setdefault(bot, []).append(row["game"])
    return [{"bot": bot, "games": names} for bot, names in games.items()]


def _presets() -> Rows:
    platforms, rows = {one.preset: one.platform for one in platform_presets()}, []
    for name in presets():
        settings = settings_from(name)
        options = " ".join(f"{key}={json.dumps(value)}" for key, value in settings.get("options", {}).items())
        of_game = {"preset": name, "game": settings["game"], "for": platforms.get(name, "")}
        rows.append({**of_game, "algorithm": settings.get("algorithm", ALGORITHM), "options": options})
    return rows


def _runs(runs: Path) -> Rows:
    rows = []
    for name in run_folder.names(runs):
        folder = runs / name
        if not (folder / "config.toml").is_file():
            continue
        try:
            settings = read_settings(folder / "config.toml")
        except ValueError as error:
            print(f"left out: {name}: {error}", file=sys.stderr)
            continue
        learner = {"algorithm": settings.get("algorithm", ALGORITHM), "timesteps": run_folder.timesteps(folder)}
        rows.append({"run": name, "game": settings.get("game"), **learner, "preset": settings.get("preset", "")})
    return rows


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value) if value and isinstance(value[0], str) else span(value)
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


HELD_OUT = "held out"
"""The kind of a measure on held-out tasks. All others are what an opponent wins from the policy."""


def zoo_rows() -> list[dict[str, Any]]:
    """Return for each policy of the zoo: its name, its numbers of seats, what it cost, and its worst measure."""
    rows = []
    for name in names():
        about = card(name)
        exact = next((measure.mean for measure in about.measures if measure.kind == "exact"), None)
        worst = next(measure for measure in about.measures if not is_lucky(measure.kind, measure.low, exact))
        figure = f"{_number(worst.mean, worst.unit)} {worst.unit}"
        about_it = {"budget": about.budget, "worst measure": _what(worst), "figure": figure}
        rows.append({"policy": f"{PREFIX}{name}", "seats": seats_of(name), **about_it})
    return rows


def _what(measure: Measure) -> str:
    whom = f" wins from {f'its {measure.team}' if measure.team else 'it'}"
    return measure.name + ("" if measure.kind == HELD_OUT else whom)


def _number(value: float, unit: str) -> str:
    """Return a figure; shares and numbers have no sign."""
    return f"{value:{'' if unit in (LOST, '%', 'players') else '+'}.4g}"


def card_page(name: str, about: Card) -> list[Any]:
    """Return all of a policy's card, to be printed line by line."""
    rows = []
    for measure in about.measures:
        mean, low, high = (_number(value, measure.unit) for value in (measure.mean, measure.low, measure.high))
        rows.append([_what(measure), mean, f"{low} to {high}", measure.unit])
    table = table_of(["measure", "figure", "95 % interval", "unit"], rows, f"{PREFIX}{name}, {about.game}")
    table.columns[3].justify = "left"
    files = {count: weights(name, seats=count).stem for count in seats_of(name)}
    where = {file: [count for count in files if files[count] == file] for file in variants(name)}
    others = [f"{PREFIX}{file} in its place at {span(where[file])}" for file in where if file != name and where[file]]
    plays = f"plays at tables of {'; '.join([f'{span(where[name])} seats', *others])}"
    made_by = f"made by: {about.command} (seed {about.seed}; {about.budget}; licence {about.licence})"
    return [table, plays, made_by, f"measured by: {about.measured_by}"]
