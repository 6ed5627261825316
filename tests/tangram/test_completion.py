"""What completes a figure from boards on which pieces lie wrong."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs.tangram.bots import completion, useful_moves
from parlour.envs.tangram.rules import put
from parlour.envs.tangram.table import SOLVED

GAME = envs.game("tangram", split="test", turns=30, plays=1)


def spoilt(seed, strays):
    """Return a board of a random figure with so many pieces in random poses that collide with nothing."""
    draw, table = np.random.default_rng(seed), GAME.tables(1)[0]
    table.stream = seed
    GAME.rules.reset(table)
    for piece in draw.choice(7, strays, replace=False).tolist():
        while not table.on_board[piece] or table.hits[piece]:
            put(table, piece, *draw.uniform(15, 85, 2).tolist(), float(draw.choice([0, 17, 90])))
    return table


@pytest.mark.parametrize("strays", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_useful_moves_lead_to_the_solution(seed, strays):
    table = spoilt(seed, strays)
    found = completion(GAME, table)
    assert found.solved.iou >= SOLVED
    assert len(found.lifted) <= strays
    for _ in range(7 + strays):
        move = next(useful_moves(GAME, table), None)
        if move is None:
            break
        put(table, move.piece, move.x, move.y, move.rotation)
        assert not table.hits[move.piece]
        table.iou = GAME.view.load(GAME.turn_state(table, 0))[0][0].iou
    assert table.iou >= SOLVED


def test_nothing_is_found_without_steps():
    assert completion(GAME, spoilt(1, 1), steps=1) is None
