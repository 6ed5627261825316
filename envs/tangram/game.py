"""The function `game`: makes tangram from its options."""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import Any

from ..core.capabilities import Capabilities, PublicView
from ..core.encoder import Encoders
from ..core.game import Game, Payoffs
from ..core.options import named, number, switch, whole
from ..core.record import Tables, new_table
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import actions, bots, picture, render, rules, silhouettes, view
from .encoders.v0 import lowest_utility
from .figure_sets import figures_of, set_text
from .generator import ANY, SPLITS, difficulty
from .pieces import ASPECTS
from .rules import FIGURES
from .silhouettes import Silhouette
from .state import TangramState
from .table import BONUS, LIBRARY, MODALITIES, OWN, PLACES, RANDOM, SEATS, SET, TABLE
from .teacher import FigureExpert


def game(
    *,
    figure: str = "random",
    split: str | None = "train",
    flip: bool = False,
    hidden: Sequence[float] = (0.0, 1.0),
    seats: int = 2,
    turns: int = 20,
    plays: int = 8,
    sparse: bool = False,
    modality: str = "numeric",
    aspect: str = "square",
    images: bool = False,
) -> Game:
    """Return tangram with these options.

    Args:
        figure: the figure to build: ``"random"``: a new silhouette in every episode; ``"library"``: a random one of
            the library; the name of one of these, such as ``"A house"``; or figures of your own: a file of text,
            JSON or SVG (see `figure_sets`), or a text in the library's format (see `silhouettes`). The options of the
            game then hold the figures as text.
        split: the silhouettes from which random and library figures are drawn: ``"train"``, ``"validation"`` or
            ``"test"``, which are disjoint, or None for all. Figures of your own are not split.
        flip: whether the mirror images of your own figures are drawn, too, if the pieces can fill them.
        hidden: the difficulty of random figures: the least and the greatest share of the pieces' edges that the
            silhouette hides (see `generator.difficulty`).
        seats: number of players, 1 to 4. They take turns and share the reward.
        turns: number of turns of all seats together, 1 to 1,000, after which the game is over.
        plays: number of plays in a turn, 1 to 100. The last one finishes the turn.
        sparse: whether the only reward is 1 for a solved figure.
        modality: the kind of observation: ``"numeric"``, ``"pixels"`` (planes of 64 × 64) or ``"both"``.
        aspect: ``"square"``, or ``"godot"`` for the board of TangramCollaborativeAI, which is wider than high.
        images: whether TurnState holds pictures of board and drawer, as TangramCollaborativeAI sends them.

    Raises:
        ValueError: naming the option, its value and its range.
    """
    if isinstance(figure, str):
        figure = set_text(figure) or figure
    source, silhouette, own = _figure(figure, switch("flip", flip))
    options = {
        "figure": silhouette.name if source == LIBRARY and silhouette is not None else figure,
        "split": None if split is None else named("split", split, SPLITS),
        "flip": flip,
        "hidden": _hidden(hidden),
        "seats": whole("seats", seats, 1, SEATS),
        "turns": whole("turns", turns, 1, 1_000),
        "plays": whole("plays", plays, 1, 100),
        "sparse": switch("sparse", sparse),
        "modality": named("modality", modality, MODALITIES),
        "aspect": named("aspect", aspect, ASPECTS),
        "images": switch("images", images),
    }
    return _made(options, source, silhouette, own)


def _figure(figure: Any, flip: bool) -> tuple[int, Silhouette | None, tuple[Silhouette, ...]]:
    """Return where figures come from, the figure if there is only one, and those of one's own."""
    if flip and not (isinstance(figure, str) and "\n" in figure):
        raise ValueError("flip=True: only figures of one's own are flipped; give them with the option figure")
    if figure == "random":
        return RANDOM, None, ()
    if figure == "library":
        return LIBRARY, None, ()
    if not isinstance(figure, str):
        raise ValueError(f"figure={figure!r}: give 'random', 'library', the name of a figure or its text")
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


def _hidden(hidden: Any) -> list[float]:
    try:
        easiest, hardest = (number("hidden", one, 0, 1) for one in hidden)
    except (TypeError, ValueError):
        raise ValueError(f"hidden={hidden!r}: give the least and the greatest share, such as (0.3, 0.5)") from None
    return list(difficulty(easiest, hardest))


def _blank(options: dict[str, Any], source: int, known: Silhouette | None, own: Sequence[Silhouette]) -> Tables:
    """Return one table with these options."""
    blank = new_table(TABLE)
    table = blank[0]
    for name in ("seats", "turns", "plays", "sparse", "images"):
        table[name] = options[name]
    table.modality = MODALITIES.index(options["modality"])
    table.aspect, table.scale = list(ASPECTS).index(options["aspect"]), ASPECTS[options["aspect"]]
    table.per_unit = 1 / table.scale
    table.source, table.figure, table.moved = source, -1, -1
    table.split = ANY if options["split"] is None else SPLITS.index(options["split"])
    table.easiest, table.hardest = options["hidden"]
    if source == LIBRARY:
        chosen = [
            i
            for i, figure in enumerate(FIGURES)
            if figure is known or (known is None and options["split"] in (None, figure.split))
        ]
        table.first_figure, table.figures = chosen[0], len(chosen)
    elif source == SET:
        table.figures = len(own)
    elif known is not None:
        table.outline, table.ends = known.outline(options["aspect"]), known.ends
    return blank


def _made(options: dict[str, Any], source: int, known: Silhouette | None, own: tuple[Silhouette, ...]) -> Game:
    agents = tuple(f"player_{seat}" for seat in range(options["seats"]))
    blank = _blank(options, source, known, own)
    title = view.ANY_FIGURE if known is None else known.name
    figures = own if source == SET else FIGURES
    names = [figure.name for figure in figures]
    return Game(
        name="tangram",
        agents=agents,
        options=options,
        rules=Rules(
            blank=blank,
            num_actions=PLACES + 1,
            reset=rules.reset_from(own) if source == SET else rules.reset,
            step=rules.step,
            decode=rules.decode,
            legal=rules.legal,
        ),
        encoders=Encoders(__package__, blank),
        payoffs=Payoffs(lowest_utility(blank[0]), BONUS + (0.0 if options["sparse"] else 1.0), shared=True),
        view=View(
            action_spaces=actions.action_spaces(),
            action_ranges=actions.ACTION_RANGES,
            grid=actions.GRID,
            encode=actions.encode,
            parse=actions.parse,
            nearest=actions.nearest,
            safe=actions.safe,
            allowed=actions.allowed,
            phase=view.phase,
            game_state=partial(view.game_state, title, names),
            outcome=view.outcome,
            load=partial(view.load, blank, figures),
            state_type=TangramState,
            resample=view.resample,
        ),
        renderer=Renderer(partial(render.render, title, names), picture.picture),
        bots=bots.BOTS,
        capabilities=Capabilities(public_view=PublicView(partial(view.public, title, names)), expert=FigureExpert),
    )
