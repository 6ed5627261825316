"""The function `game`: makes tangram from its options."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from functools import lru_cache, partial
from typing import Annotated, Any

from ..core.capabilities import Capabilities, PublicView
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs, made_of
from ..core.options import Options, Rule, from_options, named, number, within
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, picture, rules, silhouettes, view
from .bots import FigureExpert
from .encoders import ENCODERS, lowest_utility
from .figure_sets import figures_of, set_text
from .generator import ANY, SPLITS, difficulty
from .lattice import ASPECTS
from .rules import FIGURES
from .silhouettes import Silhouette
from .table import BONUS, LIBRARY, MODALITIES, OWN, PLACES, RANDOM, SEATS, SET, TABLE
from .view import TangramState


@lru_cache(8)
def _figure(figure: str, flip: bool) -> tuple[int, Silhouette | None, tuple[Silhouette, ...]]:
    """Return where figures come from, the figure if there is only one, and those of one's own."""
    if flip and "\n" not in figure:
        raise ValueError("flip=True: only figures of one's own are flipped; give them with the option figure")
    if figure == "random":
        return RANDOM, None, ()
    if figure == "library":
        return LIBRARY, None, ()
    if "\n" in figure:
        own = tuple(figures_of(figure, flip).values())
        if not own:
            raise ValueError("the text holds no figure: give one, or several")
        return (OWN, own[0], own) if len(own) == 1 else (SET, None, own)
    silhouette = silhouettes.objective(figure)
    if silhouette is None:
        near = get_close_matches(figure, ["random", "library"], 1) + silhouettes.resembling(figure)
        guess = f"did you mean {' or '.join(map(repr, near))}? There" if near else "there"
        count = len(silhouettes.library())
        raise ValueError(
            f"no figure is called {figure!r}; {guess} are 'random', 'library', and {count} by name: "
            "parlour.envs.tangram.silhouettes.library() has them, docs/tangram.svg shows them; "
            "a file with figures of one's own ends in .txt, .json or .svg"
        )
    return LIBRARY, silhouette, ()


def _hidden(option: str, hidden: Any) -> list[float]:
    try:
        easiest, hardest = (number(option, one, 0, 1) for one in hidden)
    except (TypeError, ValueError):
        raise ValueError(f"{option}={hidden!r}: give the least and the greatest share, such as (0.3, 0.5)") from None
    return list(difficulty(easiest, hardest))


def _as_kept(option: str, figure: Any, flip: bool) -> str:
    """Return the name of a figure of the library as it is written there, another one as text."""
    if not isinstance(figure, str):
        raise ValueError(f"{option}={figure!r}: give 'random', 'library', the name of a figure or its text")
    text = set_text(figure) or figure
    source, silhouette, _ = _figure(text, flip)
    return silhouette.name if source == LIBRARY and silhouette is not None else text


def _word(choices: Iterable[str]) -> Rule:
    return Rule(lambda option, value: None if value is None else named(option, value, choices))


class TangramOptions(Options, frozen=True, kw_only=True):
    """The options of tangram."""

    figure: Annotated[str, Rule(_as_kept, ("flip",))] = "random"
    """the figure to build: ``"random"``: a new silhouette in every episode; ``"library"``: a random one of the library;
    the name of one of these, such as ``"A house"``; or figures of your own: a file of text, JSON or SVG (see
    `figure_sets`), or a text in the library's format (see `silhouettes`). The options of the game then hold the figures
    as text."""
    split: Annotated[str | None, _word(SPLITS)] = "train"
    """the silhouettes from which random and library figures are drawn: ``"train"``, ``"validation"`` or ``"test"``,
    which are disjoint, or None for all. Figures of your own are not split."""
    flip: bool = False
    """whether the mirror images of your own figures are drawn, too, if the pieces can fill them."""
    hidden: Annotated[Sequence[float], Rule(_hidden)] = (0.0, 1.0)
    """the difficulty of random figures: the least and the greatest share of the pieces' edges that the silhouette hides
    (see `generator.difficulty`)."""
    seats: Annotated[int, within(1, SEATS)] = 2
    """number of players, {}. They take turns and share the reward."""
    turns: Annotated[int, within(1, 1000)] = 20
    """number of turns of all seats together, {}, after which the game is over."""
    plays: Annotated[int, within(1, 100)] = 8
    """number of plays in a turn, {}. The last one finishes the turn."""
    sparse: bool = False
    """whether the only reward is 1 for a solved figure."""
    modality: Annotated[str, _word(MODALITIES)] = "numeric"
    """the kind of observation: ``"numeric"``, ``"pixels"`` (planes of 64 × 64) or ``"both"``."""
    aspect: Annotated[str, _word(ASPECTS)] = "square"
    """``"square"``, or ``"godot"`` for the board of TangramCollaborativeAI, which is wider than high."""
    images: bool = False
    """whether TurnState holds pictures of board and drawer, as TangramCollaborativeAI sends them."""


@from_options(TangramOptions)
def game(given: TangramOptions) -> Game:
    """Return tangram with these options."""
    source, known, own = _figure(given.figure, given.flip)
    agents = tuple(f"player_{seat}" for seat in range(given.seats))
    blank = _blank(given, source, known, own)
    title = view.ANY_FIGURE if known is None else known.name
    figures = own if source == SET else FIGURES
    names, load = [figure.name for figure in figures], partial(view.load, blank, figures)
    return Game(
        name="tangram",
        agents=agents,
        rules=made_of(
            Rules,
            rules,
            blank=blank,
            num_actions=PLACES + 1,
            reset=rules.reset_from(own) if source == SET else rules.reset,
        ),
        encoders=Encoders(ENCODERS, blank),
        payoffs=Payoffs(lowest_utility(blank[0]), BONUS + (0.0 if given.sparse else 1.0), shared=True),
        view=made_of(
            View,
            actions,
            action_spaces=actions.action_spaces(),
            action_ranges=actions.ACTION_RANGES,
            grid=actions.GRID,
            phase=view.phase,
            game_state=partial(view.game_state, title, names),
            outcome=view.outcome,
            load=load,
            state_type=TangramState,
            resample=view.resample,
        ),
        renderer=Renderer(partial(picture.render, load), picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(public_view=PublicView(partial(view.public, title, names)), expert=FigureExpert),
    )


def _blank(given: TangramOptions, source: int, known: Silhouette | None, own: Sequence[Silhouette]) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    for name in ("seats", "turns", "plays", "sparse", "images"):
        table[name] = getattr(given, name)
    table.modality = MODALITIES.index(given.modality)
    table.aspect, table.scale = list(ASPECTS).index(given.aspect), ASPECTS[given.aspect]
    table.per_unit = 1 / table.scale
    table.source, table.figure, table.moved = source, -1, -1
    table.split = ANY if given.split is None else SPLITS.index(given.split)
    table.easiest, table.hardest = given.hidden
    if source == LIBRARY:
        chosen = [
            i
            for i, figure in enumerate(FIGURES)
            if figure is known or (known is None and given.split in (None, figure.split))
        ]
        table.first_figure, table.figures = chosen[0], len(chosen)
    elif source == SET:
        table.figures = len(own)
    elif known is not None:
        table.outline, table.ends = known.outline(given.aspect), known.ends
    return blank
