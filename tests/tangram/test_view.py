"""TurnState of a board (TangramCollaborativeAI, Platform Playing Messages), its pictures, and back into a record."""

import struct
import zlib
from base64 import b64decode
from copy import deepcopy

import numpy as np
import pytest
from parlour import envs
from parlour.envs import Action
from parlour.envs.tangram.lattice import AREAS, PIECES
from parlour.envs.tangram.picture import BACKGROUND, COLOURS


def board(**options):
    """One piece finished, another one played on it."""
    env = envs.make("tangram", **{"figure": "A house", **options})
    env.reset(seed=0)
    assert env.submit("player_0", Action("play", {"shape": "Red", "position": [50, 60], "rotation": 90})).ok
    assert env.submit("player_0", Action("finish")).ok
    assert env.submit("player_1", Action("play", {"shape": "Blue", "position": [53, 60], "rotation": 0})).ok
    return env


# Back into a record.


def loaded(state, **options):
    game = envs.game("tangram", **{"figure": "A house", **options})
    tables, seat = game.view.load(state)
    return game, tables[0], seat


def test_the_documents_fields_alone_are_enough():
    state = board().turn_state("player_1")
    state.game_state = {name: state.game_state[name] for name in ("objective", "on_board", "off_board")}
    for piece in state.game_state["on_board"].values():
        del piece["vertices"], piece["collisions"]
    game, table, seat = loaded(state, figure="random")
    assert (
        game.turn_state(table, seat).game_state["silhouette"] == board().turn_state("player_1").game_state["silhouette"]
    )
    assert (int(table.turn_number), int(table.moved), int(table.passes)) == (1, -1, 0)
    assert game.mask(table, seat).any()


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda game: game["on_board"].update(Pink=game["on_board"].pop("Red")), ValueError, "'Pink' is not a piece"),
        (
            lambda game: game.update(objective="A thing") or game.pop("silhouette"),
            ValueError,
            "the state has no silhouette",
        ),
        (lambda game: game.update(silhouette=[[[1, 2]] * 40]), ValueError, "40 vertices"),
    ],
)
def test_what_cannot_be_loaded_is_said(change, error, said):
    state = deepcopy(board().turn_state("player_1"))
    change(state.game_state)
    with pytest.raises(error, match=said):
        loaded(state, figure="random")


# Pictures.


def pixels_of(text):
    """A decoder of our own for what `png` writes: uint8[height, width] and the palette."""
    data = b64decode(text)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    chunks, at = {}, 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + size
    width, height, depth, colour = struct.unpack(">IIBB", chunks[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    rows = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:], np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)


def test_pictures_show_the_board_and_the_drawer():
    state = board(images=True, aspect="godot").turn_state("player_0").game_state
    picture, palette = pixels_of(state["board_img"])
    assert picture.shape == (322, 337)
    assert palette.tolist() == [list(colour) for colour in (BACKGROUND, *COLOURS)]
    counts = np.bincount(picture.ravel(), minlength=8)[1:]
    assert set(np.flatnonzero(counts)) == {PIECES.index("Red"), PIECES.index("Blue")}
    assert counts[PIECES.index("Blue")] == pytest.approx(2 * 25.6**2, rel=0.03)  # it lies on top
    rows, columns = np.nonzero(picture == 1 + PIECES.index("Red"))
    assert columns.min() == pytest.approx((50 - 7.6) * 3.37, abs=1.5)
    assert (rows.min() + rows.max()) / 2 == pytest.approx(322 * 0.4, abs=1.5)  # pixels count from the top
    drawer, _ = pixels_of(state["drawer_img"])
    counts = np.bincount(drawer.ravel(), minlength=8)[1:]
    assert counts == pytest.approx([0, *(AREAS[1:4] * 25.6**2), 0, *(AREAS[5:] * 25.6**2)], rel=0.08)
