"""Names, and what importing costs."""

import json
from functools import partial

import gymnasium
import pytest
import three_cards
from forking import python
from parlour import envs
from parlour.wrappers.live.arena.platform_games import platform_game


@pytest.mark.parametrize("name", ["holdem", "holdem-v0"])
def test_a_game_is_found_by_name(name):
    assert envs.make(name, seats=3).possible_agents == ["player_0", "player_1", "player_2"]
    assert envs.game(name).id == "holdem-v0"


def test_a_mistyped_name_gets_the_nearest_one():
    with pytest.raises(ValueError, match="'holdm'; did you mean 'holdem'"):
        envs.make("holdm")
    with pytest.raises(
        ValueError,
        match=r"'xyzzy'; for a game of your own give module:function .*; choose from holdem, .*all-pay-auction",
    ):
        envs.game("xyzzy")


@pytest.mark.parametrize("word", ["poker", "Poker", "texas-holdem", "nlhe"])
def test_a_word_by_which_people_look_for_a_game_names_it(word):
    with pytest.raises(ValueError, match=f"'{word}'; did you mean 'holdem'"):
        envs.game(word)


@pytest.mark.parametrize(
    "name", ["unfair-split", "all-pay-auction", "ultimatum", "dutch-auction", "war-of-attrition", "hold-up"]
)
def test_an_id_of_a_platform_is_a_name(name):
    made = envs.game(name)
    assert envs.make(name).game.id == made.id
    if name != "ultimatum":  # whose states our bargaining reads too
        assert platform_game(name, made) is not None


def test_an_id_of_a_platform_fixes_the_options_that_it_means():
    assert envs.game("all-pay-auction", seats=4, rule="all-pay").options["rule"] == "all-pay"
    with pytest.raises(ValueError, match="rule='second-price': all-pay-auction is the game with rule='all-pay'"):
        envs.game("all-pay-auction", rule="second-price")
    with pytest.raises(ValueError, match="unexpected keyword argument 'seets'"):
        envs.game("all-pay-auction", seets=3)


@pytest.mark.parametrize(
    "make",
    [
        partial(envs.make, "holdem"),
        partial(envs.game, "holdem"),
        envs.holdem_v0.env,
        envs.holdem_v0.raw_env,
        envs.holdem_v0.parallel_env,
        partial(envs.holdem_v0.vector_env, 4),
        partial(gymnasium.make, "parlour/Holdem-v0"),
        partial(gymnasium.make_vec, "parlour/Holdem-v0", num_envs=2),
        lambda **options: pytest.importorskip("pettingzoo", minversion="1.27").make(
            "aec", "parlour/holdem-v0", **options
        ),
    ],
)
@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_an_unexpected_keyword_is_named_with_the_nearest_one(make, kind):
    """Libraries probe by the TypeError and its words, as TorchRL does with `frameskip`."""
    with pytest.raises(kind, match=r"got an unexpected keyword argument 'seets'; did you mean 'seats'\?"):
        make(seets=3)
    with pytest.raises(kind, match="unexpected keyword argument 'frameskip'"):
        make(frameskip=1)


@pytest.mark.parametrize("game_id", ["leduc", "leduc-v", "rock-paper-v0", "2048-v0", "leduc-v00", "", "leduc-v0 "])
def test_an_id_is_a_name_with_a_version(game_id):
    with pytest.raises(ValueError, match="not a game id"):
        envs.register(game_id, three_cards.game)
    assert game_id not in envs.GAMES


@pytest.mark.parametrize("game_id", ["three_cards-v1", "other-v0"])
def test_a_game_is_called_as_it_is_registered(game_id, monkeypatch):
    monkeypatch.setitem(envs.GAMES, game_id, three_cards.game)
    with pytest.raises(ValueError, match=f"{game_id} is registered with a Game that is three_cards-v0"):
        envs.make(game_id)


def test_pettingzoo_and_gymnasium_know_it():
    env = pytest.importorskip("pettingzoo", minversion="1.27").make("aec", "parlour/holdem-v0", seats=4)
    assert len(env.possible_agents) == 4
    assert "parlour/Holdem-v0" in gymnasium.registry
    assert gymnasium.spec("parlour/Holdem-v0").kwargs == {"game": "holdem-v0"}


def test_importing_loads_no_learning_plotting_or_network_library_and_starts_no_thread():
    code = "import sys, threading, json; before = threading.active_count(); import parlour.envs; "
    code += "print(json.dumps([sorted(sys.modules), threading.active_count() - before]))"
    modules, threads = json.loads(python("-c", code).splitlines()[-1])
    top = {name.split(".")[0] for name in modules}
    libraries = "torch stable_baselines3 sb3_contrib matplotlib pygame tensorboard aiohttp shapely pandas openai ray"
    assert not top & {*libraries.split(" "), "envs", "wrappers", "training"}
    assert threads == 0
    assert "parlour.envs.holdem" not in modules
