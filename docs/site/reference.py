"""The API reference: the public names, grouped by what one needs them for, and a page for every version module."""

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from docutils import nodes
from parlour.envs import GAMES, find
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import GoogleDocstring

sys.path.append(str(Path(__file__).parents[1]))

import games
import settings

FOLDER = "docs/api"


@dataclass(frozen=True)
class Page:
    """A page of the reference.

    Args:
        title: its title.
        text: what the names on it are for.
        names: full names of classes, functions, data or modules. Of a module all public names are shown.
    """

    title: str
    text: str
    names: tuple[str, ...]


def _of(package: str, names: str) -> tuple[str, ...]:
    return tuple(f"parlour.{package}.{name}" for name in names.split())


PAGES = {
    "make": Page(
        "Make a game by its name",
        "A game has a name, such as ``holdem``, and options. These functions find it; the version modules below do the "
        "same for one version.",
        (*_of("envs", "make game find how_to_play"), "parlour.envs.core.registry.GAMES"),
    ),
    "environment": Page(
        "One table",
        "`GameEnv` is PettingZoo's environment (AEC): one table, one agent after the other. `Match` is the same table "
        "for programs that think in turns and messages instead of indices.",
        _of("envs", "GameEnv Match Policy play_until_done"),
    ),
    "tables": Page(
        "Many tables at once",
        "`VectorGame` steps thousands of tables of a game together, on processors or on a GPU. The others make such "
        "tables the environment of a single learner.",
        _of("envs", "VectorGame") + _of("wrappers", "TablesVectorEnv sb3_env Pool"),
    ),
    "turn_state": Page(
        "Turns, actions and messages",
        "The types of the TurnState protocol: what an agent sees at its turn, and what it answers. All games and all "
        "live platforms share them.",
        _of(
            "envs",
            "TurnState AllowedAction Action AgentResponse ActionResult Message MessageScope MessageIntent GameState",
        ),
    ),
    "observations": Page(
        "Observations",
        "An encoder writes what a player knows into an array of numbers. Its layout says what each number means.",
        _of("envs", "Encoder Layout Slice Element"),
    ),
    "own_game": Page(
        "A game of your own",
        "`Game` binds rules, view and encoders together; `register` gives it a name.",
        _of(
            "envs",
            "Game Rules View ActionGrid ActionRange Payoffs Capabilities Chance HiddenTurn OutsideOption PublicView "
            "Setup Talk Teams default_view new_table record with_required_fields compiled draw streams register "
            "Options within from_options schema_of "
            "register_platform_id Renderer chart",
        ),
    ),
    "phases": Page(
        "A game of phases",
        "Games in which players choose at the same time or one after the other, such as the games of economics, are "
        "written as a list of phases.",
        ("parlour.envs.phases",),
    ),
    "laws": Page(
        "Test a game of your own",
        "The laws that every game keeps, as functions that a test calls.",
        _of("envs.testing", "check"),
    ),
    "policies": Page(
        "Policies",
        "A policy maps observations to actions. Trained ones are in files, run folders and the zoo.",
        _of("wrappers", "make_policy load_policy load_run MlpPolicy"),
    ),
    "agents": Page(
        "Agents",
        "An agent answers a `TurnState`. The same agent plays here, at a table and on a live platform.",
        _of("wrappers", "Agent PolicyAgent LLMAgent Model Prompting sentence TextGame play_text"),
    ),
    "live": Page(
        "Live play",
        "Agents that connect to a platform, and hosts that are one.",
        _of("wrappers", "play_poker SeatRequest PlayLength ClientSettings Monitoring")
        + _of("wrappers", "PokerHost PokerRules PokerTimes PokerRoom ServerSettings ArenaAgent ArenaHost"),
    ),
    "logs": Page(
        "Logs and replays",
        "Every match can be written to a log, played again, and shown.",
        _of("wrappers", "MatchLog read_log"),
    ),
    "frameworks": Page(
        "Other frameworks",
        "Adapters, each a module of its own that needs the framework.",
        _of("wrappers", "jax rllib torchrl openspiel openenv verifiers"),
    ),
    "training": Page(
        "Training",
        "A run trains a policy by the settings of a preset; what it writes can be resumed and evaluated.",
        _of("training", "train resume load_config preset_for"),
    ),
    "evaluation": Page(
        "Evaluation",
        "How good a policy is: against others, against a best response, and against theory.",
        _of(
            "training",
            "evaluate play cross_play play_teams finished compare nash_conv values best_response flat_tree",
        ),
    ),
}
"""The pages by their names."""


def write(root: Path) -> None:
    """Write the pages of the reference below `root`, and the page that leads to them."""
    folder = root / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    pages = {name: _page(page) for name, page in PAGES.items()}
    pages |= {game_id.replace("-", "_"): _version_module(game_id) for game_id in GAMES}
    (folder / "settings.md").write_text(settings.settings_page(), encoding="utf-8")
    pages["versions"] = _list("Version modules", "A module for each version of a game.", [*pages][len(PAGES) :])
    pages["index"] = _list("Reference", "The public names by what they are for.", [*PAGES, "settings", "versions"])
    for game_id in set(GAMES) & set(games.GAME_IDS):
        (folder / f"{game_id.replace('-', '_')}.inc").write_text(games.details(game_id), encoding="utf-8")
    for name, lines in pages.items():
        (folder / f"{name}.rst").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _title(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


def _list(title: str, text: str, names: list[str]) -> list[str]:
    return [*_title(title), text, "", ".. toctree::", "   :maxdepth: 1", "", *(f"   {name}" for name in names), ""]


def _page(page: Page) -> Iterator[str]:
    yield from (*_title(page.title), page.text, "")
    for name in page.names:
        yield from _entry(name)


def _entry(name: str) -> list[str]:
    """Return the directive of a public name or a module, for Sphinx's autodoc."""
    package, _, last = name.rpartition(".")
    shown = getattr(importlib.import_module(package), last, None)
    module = find_spec(name) if shown is None or inspect.ismodule(shown) else None
    if module:
        imported = ["   :imported-members:"] if module.submodule_search_locations else []
        return [*_section(name), f".. automodule:: {name}", "   :members:", *imported, ""]
    if inspect.isclass(shown):
        values = ["   :undoc-members:"] if issubclass(shown, Enum) else []
        return [f".. autoclass:: {name}", "   :members:", *values, ""]
    return [f".. {'autofunction' if callable(shown) else 'autodata'}:: {name}", ""]


def _section(text: str) -> list[str]:
    return [text, "-" * len(text), ""]


def _version_module(game_id: str) -> Iterator[str]:
    """Write the page of a version module: the game's options with their meaning, and the functions that take them."""
    name, game = game_id.replace("-", "_"), game_id.partition("-")[0]
    module, make = getattr(importlib.import_module("parlour.envs"), name), find(game_id)
    yield from (*_title(name), f".. py:module:: {module.__name__}", "")
    yield from (f"The rules and bots are on :doc:`the page of the game <../games/{game}>`.", "")
    options = inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)
    yield from _function(f"{module.__name__}.{make.__name__}", [options], _explained(make))
    for function in (module.env, module.raw_env, module.parallel_env, module.vector_env):
        text = (inspect.getdoc(function) or "").partition("\n\nArgs:")[0]
        yield from _function(f"{module.__name__}.{function.__name__}", [*_own(function), options], text)
    if game_id in games.GAME_IDS:
        yield from (f".. include:: {name}.inc", "   :parser: myst_parser.sphinx_", "")


def _function(name: str, parameters: list[inspect.Parameter], docstring: str) -> Iterator[str]:
    signature = str(inspect.Signature(parameters)).replace("collections.abc.", "")
    yield from (f".. py:function:: {name}{signature}", "")
    yield from (*(f"   {line}".rstrip() for line in GoogleDocstring(docstring).lines()), "")


def _explained(make: Callable[..., Any]) -> str:
    """Return the docstring of `game` with type and default of each option beside its meaning."""
    text = inspect.getdoc(make) or ""
    for name, option in inspect.signature(make).parameters.items():
        kind = inspect.formatannotation(option.annotation).replace("collections.abc.", "").replace("typing.", "")
        facts = f"{kind}; default {games.rounded(option.default)!r}"
        text = re.sub(rf"^    {name}: ", lambda _, told=f"    {name} ({facts}): ": told, text, count=1, flags=re.M)
    return text


def _own(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Return the parameters of a function that are not options of a game."""
    return [each for each in inspect.signature(function).parameters.values() if each.kind != each.VAR_KEYWORD]


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element) -> nodes.Node | None:
    """Return the link of a name such as `Payoffs.unit` that a docstring does not write in full."""
    domain, target = env.domains["py"], node.get("reftarget", "")
    if node.get("refdomain") != domain.name or not target:
        return None
    full = [name for name in domain.objects if name.endswith(f".{target}")]
    if len(full) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", full[0], node, shown)
