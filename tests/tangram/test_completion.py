"""What completes a figure from boards on which pieces lie wrong."""

import pytest
from figures import spoilt
from parlour import envs
from parlour.envs.tangram.bots import completion, useful_moves
from parlour.envs.tangram.rules import put
from parlour.envs.tangram.table import SOLVED

GAME = envs.game("tangram", split="test", turns=30, plays=1)


@pytest.mark.parametrize("strays", [0, 1, 2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_useful_moves_lead_to_the_solution(seed, strays):
    table = spoilt(GAME, seed, strays)
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
    assert completion(GAME, spoilt(GAME, 1, 1), steps=1) is None
