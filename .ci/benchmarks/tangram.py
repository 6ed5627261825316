"""Placements per second on tangram's boards, and of the same step made with shapely."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import shapely
from parlour.envs import tangram_v0
from parlour.envs.tangram.corners import pose
from parlour.envs.tangram.forms import PIECE
from parlour.envs.tangram.geometry import place

from .base import Row, Seconds, rate


def boards(modality: str, plays: int = 8) -> Callable[[], int]:
    """Return a function that plays a random legal place, else `finish`, on 1,024 boards and counts the places."""
    tables = tangram_v0.vector_env(1_024, modality=modality, plays=plays)
    tables.reset(seed=0)
    places = tables.game.num_actions - 1
    chances = np.random.default_rng(0).random((64, tables.num_envs, places), np.float32)
    steps = 0

    def run() -> int:
        nonlocal steps
        steps += 1
        worth = tables.action_masks[:, :places] * chances[steps % len(chances)]
        actions = np.where(worth.any(axis=1), worth.argmax(axis=1), places)
        tables.step(actions)
        return int((actions < places).sum())

    return run


def tangram(seconds: Seconds) -> list[Row]:
    """1,024 boards with random figures, observation and mask at every decision; the same step through shapely."""
    what = "tangram, 1,024 boards"
    ours, theirs = rate(boards("numeric"), seconds), rate(_shapely_boards(), seconds, rounds=3)
    alone = rate(boards("numeric", plays=1), seconds)
    note = f"{ours:,.0f} placements/s here in the same run; shapely finds no focus and writes no observation"
    return [
        Row("tangram", f"{what}, numeric", ours, "placements/s", 150_000),
        Row("tangram-single", f"{what}, numeric, one play a turn", alone, "placements/s"),
        Row("tangram-pixels", f"{what}, pixels", rate(boards("pixels"), seconds), "placements/s", 15_000),
        Row("shapely", "the same step through vectorised shapely", theirs, "placements/s"),
        Row("shapely-ratio", "Parlour's boards beside shapely", ours / theirs, "times", 20, note=note),
    ]


def _shapely_boards(count: int = 256) -> Callable[[], int]:
    """Return a function that places a piece on each of `count` boards by vectorised shapely: its collisions, its
    covered area, the rest of the figure, and which of the 18 places fit there. Constant polygons are made before.
    """
    env = tangram_v0.vector_env(count, plays=1)
    env.reset(seed=0)
    for _ in range(3):
        env.step(env.sample())
    offered = np.zeros((count, len(PIECE), 4, 2))
    figures, placed = [], []
    for table, shapes in zip(env.tables, offered, strict=True):
        for number, shape in enumerate(shapes):
            place(PIECE[number], *pose(table, number), table.scale, shape)
        ends = [0, *table.ends.tolist()]
        rings = [shapely.Polygon(table.outline[a:b]) for a, b in pairwise(ends) if a < b]
        figures.append(shapely.symmetric_difference_all(rings))
        placed.append(shapely.union_all(shapely.polygons(table.vertices[table.on_board > 0])))
    figure, pieces = np.array(figures), np.array(placed)
    left = shapely.difference(figure, pieces)
    chosen = offered[np.arange(count), np.argmax(env.action_masks[:, : len(PIECE)], axis=1)]

    def run() -> int:
        moved = shapely.polygons(chosen)
        collides = shapely.area(shapely.intersection(moved, pieces)) > 0.1
        covered = shapely.area(shapely.intersection(moved, figure))
        free = shapely.difference(left, moved)
        options = shapely.polygons(offered)
        fits = shapely.area(shapely.intersection(options, free[:, None])) > shapely.area(options) - 0.1
        return min(len(collides), len(covered), len(fits))

    return run
