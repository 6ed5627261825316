"""Pictures of every registered game: well formed, secret where they must be, the same from every door."""

import re
import tracemalloc
from itertools import combinations
from math import dist
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from cases import CASES, SMALL
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from needs import library
from parlour import envs
from parlour.envs import Message, TurnState, holdem_v0
from parlour.envs.core.turn_state import MessageScope
from parlour.envs.holdem.picture import SUITS
from parlour.envs.render import svg, window
from parlour.envs.testing import Trial
from parlour.wrappers.rl.gymnasium_env import make_single_agent_env

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


def test_no_number_in_a_state_makes_a_large_picture(game):
    """A log that somebody else wrote may hold any state."""
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


def test_what_a_seat_cannot_know_is_in_no_picture_of_it(game):
    generator = np.random.default_rng(5)
    for seed in range(2):
        for table in some_decisions(game, seed):
            public = seen_by_observers(game, table)
            for seat in range(game.seats):
                other = table.copy()
                game.view.resample(other, seat, generator)
                assert game.renderer.picture([game.turn_state(other, seat)]) == game.renderer.picture(
                    [game.turn_state(table, seat)]
                )
                assert seen_by_observers(game, other) == public


def seen_by_observers(game, table):
    """Return the picture and the text of the public view, if the game has one."""
    if game.public_view is None:
        return None
    return game.renderer.picture([game.public_turn_state(table)]), game.renderer.text(table, -1)


def test_all_seats_together_show_what_is_hidden_from_each(game_id):
    game = envs.game(game_id)
    first = next(Trial("pictures", game, 1).decisions(0))
    if (
        game.renderer.picture is svg.plain
        or "full" not in game.encoders
        or game.encoders["full"].layout.size == game.layout.size
        or game.turn_state(first, 0).game_state == game.turn_state(first, 1).game_state
    ):
        return  # it has no picture of its own, or everybody sees everything
    seen = [list(views(game, table)) for seed in range(3) for table in some_decisions(game, seed)]
    assert any(all(game.renderer.picture(every) != game.renderer.picture(one) for one in ones) for *ones, every in seen)


def test_a_full_village_has_room_for_all():
    """No player covers another, nor what is told of it below: its role and its end."""
    env = envs.GameEnv(envs.game("mafia", seats=20), "flat")
    env.reset(seed=1)
    tokens = re.findall(
        r'transform="translate\((\S+) (\S+)\)"', env.game.renderer.picture(env.match.turn_states("all"))
    )
    places = [(float(x), float(y)) for x, y in tokens]
    assert len(places) == 20
    for one, other in combinations(places, 2):
        assert abs(one[0] - other[0]) > 55 or abs(one[1] - other[1]) > 38 or dist(one, other) > 60


def test_the_view_of_all_is_nobodys_own():
    env = envs.GameEnv(envs.game("holdem", seats=2), "flat")
    env.reset(seed=1)
    assert "your turn" in env.game.renderer.picture(env.match.turn_states("player_0"))
    assert "your turn" not in env.game.renderer.picture(env.match.turn_states("all"))


def test_both_parties_are_known_before_the_first_offer():
    env = envs.GameEnv(envs.game("bargaining"), "flat")
    env.reset(seed=1)
    assert "unknown" not in env.game.renderer.picture(env.match.turn_states("all"))
    assert "unknown" in env.game.renderer.picture(env.match.turn_states("player_0"))


def test_bidders_keep_their_rows_when_they_become_known():
    env = envs.GameEnv(envs.game("auction", seats=4), "flat")
    names = dict(zip(env.possible_agents, ["ann", "bob", "cy", "dee"], strict=True))
    env.reset(seed=1)
    rows = []
    while True:
        state = TurnState.from_dict(renamed(env.turn_state("player_2").to_dict(), names))
        rows.append(re.findall(r">(ann|bob|cy \(you\)|dee|bidder \d)<", env.game.renderer.picture([state])))
        if env.table.done:
            break
        env.submit(env.agent_selection, {"action_type": "submit_bid", "payload": {"bid": 1.0}})
    assert rows[-1] == ["cy (you)", "ann", "bob", "dee"]
    for row in rows:
        assert all(name == last or name.startswith("bidder") for name, last in zip(row, rows[-1], strict=True))


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
    case = data.draw(
        st.sampled_from([case.values[0] for case in CASES if case.values[0][0].partition("-")[0] not in SMALL])
    )
    game = envs.game(case[0], **case[1])
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


def test_wrapping_breaks_between_words():
    assert svg.wrapped("the quick brown fox jumps over", 12, 2) == ["the quick", "brown fox j…"]
    assert svg.wrapped("one two", 20, 2) == ["one two"]


@pytest.mark.parametrize(
    ("value", "words"), [(1234567, "1,234,567"), (0.5, "0.5"), (33.333, "33.33"), (-2, "−2"), (2.0, "2")]
)
def test_numbers_as_people_write_them(value, words):
    assert svg.number(value) == words


# Environments.


def test_the_view_is_public_unless_another_is_asked_for():
    def open_cards(**options):
        env = holdem_v0.raw_env(seats=3, render_mode="svg", **options)
        env.reset(seed=3)
        return sum(env.render().count(outline) for outline in SUITS.values())

    assert (open_cards(), open_cards(render_view="player_1"), open_cards(render_view="all")) == (0, 2, 6)
    with pytest.raises(ValueError, match="'public', 'player_0', 'player_1', 'player_2', 'all'"):
        open_cards(render_view="player_3")


def test_text_hides_as_the_picture_does():
    def shown(view):
        env = holdem_v0.raw_env(seats=3, render_mode="ansi", render_view=view)
        env.reset(seed=3)
        return env.render().count("??")

    assert (shown(None), shown("player_1"), shown("all")) == (6, 4, 0)


def test_a_frame_of_every_game(game_id):
    library("resvg_py")
    env = envs.make(game_id, render_mode="rgb_array")
    env.reset(seed=1)
    frame = env.render()
    assert (frame.shape, frame.dtype) == ((480, 640, 3), np.uint8)
    assert len(np.unique(frame.reshape(-1, 3), axis=0)) > 20
    assert env.metadata["render_modes"] == ["human", "rgb_array", "svg", "ansi"]


def test_letters_need_no_fonts_of_the_system():
    library("resvg_py")
    blank = window.pixels(svg.document("a", []))
    written = window.pixels(svg.document("a", [svg.text(50, 200, "Parlour Привет Γειά", 60)]))
    dark = np.flatnonzero((written != blank).any(axis=(0, 2)))
    assert dark.size > 200
    assert dark.max() > 500


def test_a_window_follows_the_game(monkeypatch):
    pygame = library("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(window, "FPS", 1000)
    env = envs.make("bargaining", render_mode="human")
    env.reset(seed=1)
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


@pytest.fixture
def windows(monkeypatch):
    """Make environments with a window, on a screen that is none."""
    pygame = library("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    monkeypatch.setattr(window, "FPS", 1000)
    made = []

    def make(game_id):
        made.append(envs.make(game_id, render_mode="human"))
        made[-1].reset(seed=1)
        return made[-1]

    yield make
    for env in made:
        env.close()
    assert not pygame.display.get_init()


def test_a_window_stays_with_the_process_that_made_it(windows, monkeypatch):
    library("pygame")
    env = windows("bargaining")
    monkeypatch.setattr(env._display._window, "_process", -1)  # as in a forked child
    with pytest.raises(RuntimeError, match="the window belongs to process -1, from which this one was forked"):
        env.render()
    env.close()
    env.render()  # in a window of its own


def test_an_environment_draws_on_when_another_has_closed_the_window(windows):
    pygame = library("pygame")
    first, second = windows("bargaining"), windows("auction")
    assert pygame.display.get_caption()[0] == "auction-v0"
    first.render()
    assert pygame.display.get_caption()[0] == "bargaining-v0"
    first.close()
    second.step(0)
    assert pygame.display.get_caption()[0] == "auction-v0"


def test_a_window_closed_by_hand_stays_closed_until_another_is_opened(windows):
    pygame = library("pygame")
    env = windows("bargaining")
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    env.render()
    env.step(40)
    assert not pygame.display.get_init()
    env.close()
    env.render()
    assert pygame.display.get_init()


def test_a_learner_sees_its_own_seat():
    env = make_single_agent_env(game="holdem", opponents="call", seat=1, render_mode="svg", seats=3)
    env.reset(seed=4)
    own = env.render()
    assert own == env.game.renderer.picture([env.game.turn_state(env.match.table, 1)])
    every = make_single_agent_env(
        game="holdem", opponents="call", seat=1, render_mode="svg", render_view="all", seats=3
    )
    every.reset(seed=4)
    assert every.render() != own
    with pytest.raises(ValueError, match='choose from "own", "public", "all"'):
        make_single_agent_env(game="holdem", render_view="player_1")


def test_gymnasium_accepts_the_pictures():
    library("resvg_py")
    env = gymnasium.make("parlour/Auction-v0", render_mode="rgb_array")
    env.reset(seed=1)
    assert env.render().shape == (480, 640, 3)
    film = gymnasium.wrappers.RenderCollection(env)
    film.reset(seed=1)
    film.step(3)
    assert all(frame.shape == (480, 640, 3) for frame in film.render())


@pytest.mark.parametrize(("mode", "kind"), [("rgb_array_list", np.ndarray), ("svg_list", str), ("ansi_list", str)])
def test_gymnasium_makes_lists_of_the_pictures(mode, kind):
    library("resvg_py")
    env = gymnasium.make("parlour/Auction-v0", render_mode=mode)
    env.reset(seed=1)
    env.step(3)
    assert [isinstance(frame, kind) for frame in env.render()] == [True, True]


def test_to_render_without_a_mode_is_warned_of():
    single, table = make_single_agent_env(game="auction"), envs.make("auction")
    for env in (single, gymnasium.make_vec("parlour/Auction-v0", num_envs=2), table):
        env.reset(seed=1)
        with pytest.warns(UserWarning, match="without a render_mode"):
            assert env.render() is None


def test_every_table_of_a_vector_environment_is_a_frame(game_id):
    env = gymnasium.make_vec(f"parlour/{game_id.capitalize()}", num_envs=3, render_mode="svg", opponents="random")
    env.reset(seed=4)
    first = env.render()
    seats = env.seats
    views = zip(seats.tables.tables, seats.seat.tolist(), strict=True)
    assert first == tuple(seats.game.renderer.picture([seats.game.turn_state(table, seat)]) for table, seat in views)
    env.step(np.array([np.flatnonzero(mask)[-1] for mask in env.action_masks()]))
    assert env.render() != first
    assert env.metadata["render_modes"] == ["rgb_array", "svg", "ansi"]


def test_vector_environments_give_pixels():
    library("resvg_py")
    env = gymnasium.make_vec("parlour/Auction-v0", num_envs=2, render_mode="rgb_array")
    env.reset(seed=1)
    assert [frame.shape for frame in env.render()] == [(480, 640, 3)] * 2
    with pytest.raises(ValueError, match="choose from None, 'rgb_array', 'svg', 'ansi'"):
        gymnasium.make_vec("parlour/Auction-v0", num_envs=2, render_mode="human")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(window, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"'rgb_array' needs resvg_py.*\[render\]"):
        envs.make("holdem", render_mode="rgb_array")
    envs.make("holdem", render_mode="svg")
