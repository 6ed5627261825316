"""Pictures of every registered game: well formed, secret where they must be, the same from every door."""

import tracemalloc
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from beginnings import episode
from cases import CASES, SMALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from needs import library
from parlour import envs
from parlour.envs import Message, TurnState
from parlour.envs.core.turn_state import MessageScope
from parlour.envs.render import svg, window
from parlour.envs.testing import Trial

SVG = "{http://www.w3.org/2000/svg}"


def some_decisions(game, seed, most=8):
    """The table at a few moments of an episode, its beginning and its end among them."""
    moments = [table.copy() for table in Trial("pictures", game, 1).decisions(seed)]
    chosen = np.unique(np.linspace(0, len(moments) - 1, min(most, len(moments))).astype(int))
    return [moments[i] for i in chosen]


def views(game, table):
    """What every seat sees, one after the other; then those who look on; then all together."""
    seats = [game.turn_state(table, seat, match_id="m") for seat in range(game.seats)]
    yield from ([state] for state in seats)
    if game.public_view is not None:
        yield [game.public_turn_state(table, match_id="m")]
    yield seats


def checked(picture):
    """Read a picture as the XML that it must be, standing by itself."""
    root = ElementTree.fromstring(picture)
    assert (root.tag, root.get("width"), root.get("height"), root.get("viewBox")) == (
        f"{SVG}svg", "640", "480", "0 0 640 480",
    )  # fmt: skip
    assert root.find(f"{SVG}title").text
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in {
            "svg", "title", "g", "rect", "circle", "ellipse", "path", "polyline", "polygon", "line", "text", "tspan",
        }, element.tag  # fmt: skip
        assert not any(name.startswith("on") or "href" in name for name in element.attrib)
        assert not any(word in value for value in element.attrib.values() for word in ("nan", "inf", "url("))
    return root


def test_every_view_at_every_kind_of_moment_is_a_picture_of_its_own_lines(game):
    for table in some_decisions(game, 4):
        for states in views(game, table):
            picture = game.renderer.picture(states)
            root = checked(picture)
            # A thing to a line: replays keep pictures line by line.
            assert len(picture.splitlines()) <= 400
            assert len(list(root)) <= len(picture.splitlines())


def paths_of_numbers(value, path=()):
    """Where whole numbers stand in JSON."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from paths_of_numbers(part, (*path, key))


def with_number(value, path, number):
    if not path:
        return number
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = with_number(copy[path[0]], path[1:], number)
    return copy


def test_no_number_in_a_state_makes_a_large_picture(game_id):
    """A log that somebody else wrote may hold any state."""
    game = envs.game(game_id)
    for table in some_decisions(game, 0, 2):
        seen = game.turn_state(table, 0, match_id="m").to_dict()
        for path in paths_of_numbers(seen["game_state"]):
            state = seen | {"game_state": with_number(seen["game_state"], path, 2_000_000)}
            tracemalloc.start()
            try:
                game.renderer.picture([TurnState.from_dict(state)])
            except (ValueError, KeyError, IndexError, TypeError):  # `picture` in a replay says that it cannot be drawn
                pass
            finally:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
            assert peak < 20e6, path


def test_what_a_seat_cannot_know_is_in_no_picture_or_text_of_it(game):
    generator = np.random.default_rng(5)
    for seed in range(2):
        for table in some_decisions(game, seed):
            public = seen_by_observers(game, table)
            for seat in range(game.seats):
                other = table.copy()
                game.view.resample(other, seat, generator)
                one, two = ([game.turn_state(each, seat)] for each in (table, other))
                assert game.renderer.picture(one) == game.renderer.picture(two)
                assert game.renderer.text(one) == game.renderer.text(two)
                assert seen_by_observers(game, other) == public


def seen_by_observers(game, table):
    """Return the picture and the text of the public view, if the game has one."""
    states = [] if game.public_view is None else [game.public_turn_state(table)]
    return states and (game.renderer.picture(states), game.renderer.text(states))


def renamed(value, names):
    """Give every agent in a TurnState another name."""
    if isinstance(value, dict):
        return {renamed(key, names): renamed(part, names) for key, part in value.items()}
    if isinstance(value, list):
        return [renamed(part, names) for part in value]
    return names.get(value, value) if isinstance(value, str) else value


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(min_size=1, max_size=60)
    | st.sampled_from(["<script>alert(1)</script>", "]]>", "&amp;", "\x00", "\ud800"]),
    data=st.data(),
)
def test_names_and_messages_of_any_kind_stay_words(text, data):
    quick = [case.values[0] for case in CASES if not case.marks and case.values[0][0].partition("-")[0] not in SMALL]
    game_id, options = data.draw(st.sampled_from(quick))
    game = envs.game(game_id, **options)
    names = {agent: f"{i}{text}" for i, agent in enumerate(game.agents)}
    for table in some_decisions(game, 7, most=3):
        for states in views(game, table):
            told = [TurnState.from_dict(renamed(state.to_dict(), names)) for state in states]
            for state in told:
                state.messages = [*state.messages, Message("9", next(iter(names.values())), MessageScope.PUBLIC, text)]
            checked(game.renderer.picture(told))


@pytest.mark.parametrize("value", ["", "a" * 300, "two\nlines", "<b>", "\ud800\x00"])
def test_text_is_cut_wrapped_and_escaped(value):
    assert len(svg.short(value, 20)) <= 20 and len(svg.short(f"{value} 12", 7)) <= 7
    assert all(len(line) <= 20 for line in svg.wrapped(value, 20, 3))
    assert len(svg.wrapped(value, 20, 3)) <= 3
    ElementTree.fromstring(f"<a>{svg.escape(value)}</a>")


@pytest.mark.parametrize(
    ("value", "words"), [(1234567, "1,234,567"), (0.5, "0.5"), (33.333, "33.33"), (-2, "−2"), (2.0, "2")]
)
def test_numbers_as_people_write_them(value, words):
    assert svg.number(value) == words


# Environments.


def test_a_frame_of_every_game(game_id):
    library("resvg_py")
    env = episode(game_id, render_mode="rgb_array")
    frame = env.render()
    assert (frame.shape, frame.dtype) == ((480, 640, 3), np.uint8)
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 20
    assert env.metadata["render_modes"] == ["human", "rgb_array", "svg", "ansi"]


def test_a_window_follows_the_game(monkeypatch):
    pygame = library("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(window, "FPS", 1000)
    env = episode("bargaining", render_mode="human")
    first = pygame.surfarray.array3d(pygame.display.get_surface())
    env.step(40)
    then = pygame.surfarray.array3d(pygame.display.get_surface())
    assert first.shape == (640, 480, 3)
    assert (first != then).any()
    twin = env.clone()
    twin.step(twin.game.view.safe(twin.table))
    env.close()
    env.close()
    assert not pygame.display.get_init()


def test_gymnasium_accepts_the_pictures():
    library("resvg_py")
    env = gymnasium.make("parlour/Auction-v0", render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape == (480, 640, 3)
    film = gymnasium.wrappers.RenderCollection(env)
    film.reset(seed=1)
    film.step(3)
    assert all(frame.shape == (480, 640, 3) for frame in film.render())
