"""Version 1 of the observation: what every action leads to, against the rules played on a copy."""

import numpy as np
import pytest
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.tangram.table import PLACES, SOLVED

FINISH = PLACES


def boards(count, decisions, **options):
    """Yield boards after up to `decisions` random decisions."""
    game = envs.game("tangram", **options)
    random = np.random.default_rng(7)
    for number in range(count):
        tables = game.tables(1)
        table = tables.view(np.ndarray)[0]
        table.stream = streams(number, 1)[0]
        game.rules.reset(table)
        for _ in range(int(random.integers(decisions + 1))):
            if table.turn >= 0:
                game.rules.play(table, int(random.choice(np.flatnonzero(game.mask(table, int(table.turn))))))
        yield game, tables, table


def shown(game, table, seat=0):
    """Return the slices of version 1 that version 0 does not have, by name."""
    encoder = game.encoders["v1"]
    out = encoder.observation(table, seat)
    assert encoder.layout.flat_space().contains(out)
    parts = {name: encoder.layout[f"after.{name}"] for name in ("solved", "dead", "fitting", "open", "width")}
    return {name: out[part.start : part.stop] for name, part in parts.items()}


def played_on_a_copy(game, tables, action):
    """Return a copy of the board after the action, with the turn ended."""
    copy = tables.copy().view(np.recarray)
    turn = int(copy[0].turn_number)
    game.rules.play(copy[0], action)
    if not copy[0].done and copy[0].turn_number == turn:
        game.rules.play(copy[0], FINISH)
    return copy[0]


@pytest.mark.parametrize("options", [{}, {"figure": "library", "aspect": "godot"}, {"plays": 1, "turns": 5}])
def test_it_shows_the_board_after_every_legal_action(options):
    seen = set()
    for game, tables, table in boards(60, 14, **options):
        if table.turn < 0:
            continue
        after = shown(game, table)
        mask = game.mask(table, int(table.turn))
        for action in range(PLACES + 1):
            if not mask[action]:
                assert not any(values[action] for values in after.values())
                continue
            then = played_on_a_copy(game, tables, action)
            assert after["solved"][action] == (then.iou >= SOLVED)
            assert after["dead"][action] == np.float32(min(1, then.dead / 8))
            assert after["fitting"][action] == then.fitting
            assert after["open"][action] == np.float32(bin(then.open).count("1") / PLACES)
            assert after["width"][action] == np.float32(then.width / 8)
            seen.add(bool(then.dead))
    assert seen == {False, True}  # actions that lose the figure, and others
