"""Tangram's rooms put together: options in, `Game` out."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.game import Game, Tables
from ..core.options import named, switch, whole
from . import actions, bots, observation, render, rules, view
from .generator import ANY, SPLITS, difficulty
from .pieces import ASPECTS
from .table import BONUS, MODALITIES, PLACES, SEATS, SKIP, TABLE


def game(
    *,
    seats: int = 2,
    figure: str = "random",
    split: str | None = None,
    hidden: Sequence[float] = (0.0, 1.0),
    turns: int = 20,
    plays: int = 8,
    sparse: bool = False,
    modality: str = "numeric",
    aspect: str = "square",
    images: bool = False,
) -> Game:
    """Return tangram with these options."""
    whole("seats", seats, 1, SEATS)
    options = dict(
        seats=seats, figure=figure, split=split, hidden=list(hidden), turns=turns, plays=plays, sparse=sparse,
        modality=modality, aspect=aspect, images=images,
    )
    blank = np.zeros(1, TABLE).view(np.recarray)
    table = blank[0]
    table.seats, table.turns, table.plays, table.sparse, table.images = seats, turns, plays, sparse, images
    table.modality, table.aspect = MODALITIES.index(modality), list(ASPECTS).index(aspect)
    table.scale = ASPECTS[aspect]
    table.per_unit = 1 / table.scale
    table.split = ANY if split is None else SPLITS.index(split)
    table.easiest, table.hardest = hidden
    table.moved = -1
    agents = tuple(f"player_{seat}" for seat in range(seats))
    return Game(
        name="tangram",
        agents=agents,
        options=options,
        blank=blank,
        layout=observation.layout(seats, int(table.modality), turns),
        num_actions=PLACES + 1,
        reward_range=(-SKIP * turns, 1 + BONUS),
        zero_sum=False,
        action_spaces=actions.action_spaces(),
        bots=bots.BOTS,
        reset=rules.reset,
        play=rules.play,
        step=rules.step,
        menu=rules.menu,
        legal=rules.legal,
        observe=observation.observe,
        reset_batch=rules.reset_batch,
        step_batch=rules.step_batch,
        encode=actions.encode,
        decode=actions.decode,
        nearest=actions.nearest,
        safe=actions.safe,
        allowed=actions.allowed,
        phase=view.phase,
        game_state=view.game_state,
        outcome=view.outcome,
        load=partial(view.load, blank),
        redeal=view.redeal,
        render=render.render,
    )
