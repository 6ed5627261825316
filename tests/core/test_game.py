"""What cannot be a game is an error in one sentence, when it is made."""

from dataclasses import MISSING, fields, replace
from pathlib import Path

import high_card
import nim
import pytest
import three_cards
from gymnasium import spaces
from parlour import envs
from parlour.envs import (
    ActionGrid,
    ActionRange,
    Capabilities,
    Chance,
    Encoder,
    Game,
    HiddenTurn,
    Layout,
    Payoffs,
    PublicView,
    Renderer,
    Slice,
    Talk,
    Teams,
    new_table,
    record,
)
from parlour.envs.testing import check

GAME = three_cards.game()
HEAP = Slice("game_state.heap", (1,), 0, 21, "stones")


def required(**changed):
    """A record with the required fields, some of another type."""
    types = {"stream": ("u8",), "turn": ("i4",), "done": ("?",), "rewards": ("f8", 2)}
    return new_table(record(*((name, *kind) for name, kind in (types | changed).items())))


GAMES = [
    ({"name": "my game"}, "the name 'my game' needs to be letters, digits and _"),
    ({"name": None}, "the name None needs to be letters"),
    ({"agents": ("a", "a")}, "'a' is in agents more than once"),
    ({"agents": ()}, r"agents is \(\); it needs to be a tuple of at least 1"),
    ({"agents": "ab"}, "agents is 'ab'; it needs to be a tuple"),
    ({"agents": ("a", "")}, "'' in agents is not a name"),
    ({"agents": (0, 1)}, "0 in agents is not a name"),
    ({"agents": ("a", "b", "c")}, "rewards has room for 2 of 3 seats"),
    ({"rules": None}, "rules is None; it needs to be of the type Rules"),
    ({"encoders": {}}, "three_cards has no encoder 'v0'; it has none"),
    ({"encoders": GAME.encoders["v0"]}, "it needs to be a dict of encoders by name"),
    ({"encoders": {"v0": Layout([HEAP])}}, "needs to be of the type Encoder"),
    ({"encoders": {"v1": GAME.encoders["v0"]}}, "three_cards has no encoder 'v0'; it has v1"),
    ({"encoder": "v1"}, "three_cards has no encoder 'v1'; it has v0, full"),
    ({"encoder": "full"}, "the default encoder is a version, such as 'v0'"),
    ({"encoder": "v"}, "the default encoder is a version"),
    ({"encoders": {"v0": GAME.encoders["full"]}}, "'v0' shows hidden information: it is for critics, not for players"),
    ({"payoffs": (-2, 2)}, "needs to be of the type Payoffs"),
    ({"view": "view"}, "view is 'view'; it needs to be of the type View"),
    ({"view": None}, "'full' shows hidden information, and the default view hides nothing"),
    (
        {"view": replace(GAME.view, action_ranges=(ActionRange(0, 3, ("bet",), ""),))},
        "end at 3; there are 2 action",
    ),
    ({"renderer": print}, "needs to be of the type Renderer"),
    ({"bots": {"caller": None}}, "caller is None; it needs to be a function"),
    ({"bots": {"caller": lambda game: None}}, r"bots: caller takes \(game\); it needs to take \(game, seed\)"),
    ({"platform_id": 3}, "platform_id is 3; it needs to be of the type str"),
    ({"bots": [print]}, "needs to be a dict of functions by name"),
    ({"options": ["seats"]}, "needs to be a dict of options by name"),
    ({"options": {3: 3}}, "3 in options is not a name"),
    ({"capabilities": None}, "needs to be of the type Capabilities"),
]


@pytest.mark.parametrize(("parts", "sentence"), GAMES)
def test_a_game_of_wrong_parts_is_refused(parts, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        replace(GAME, **parts)
    assert "\n" not in str(error.value)


RULES = [
    ({"reset": None}, "reset is None; it needs to be a function"),
    ({"step": 3}, "step is 3; it needs to be a function"),
    ({"legal": [1, 1]}, r"legal is \[1, 1\]; it needs to be a function"),
    ({"decode": "bet"}, "decode is 'bet'; it needs to be a function"),
    ({"reset": lambda: None}, r"reset takes \(\); it needs to take \(table\)"),
    ({"legal": lambda table: None}, r"legal takes \(table\); it needs to take \(table, mask\)"),
    ({"num_actions": 0}, "num_actions=0: a game has a whole number of action indices, at least 1"),
    ({"num_actions": 2.0}, "num_actions=2.0"),
    ({"num_actions": True}, "num_actions=True"),
    ({"blank": three_cards.BLANK[0]}, r"blank is a record of shape \(\); it needs to be one record"),
    ({"blank": {"heap": 21}}, r"blank is a dict of shape \(\); it needs to be one record"),
    ({"blank": required(stream=("i8",))}, "field stream is int64; it needs to be uint64"),
    ({"blank": required(turn=("u1",))}, "field turn is uint8; it needs to be a signed integer"),
    ({"blank": required(done=("i1",))}, "field done is int8; it needs to be bool"),
    ({"blank": required(done=("f4",))}, "field done is float32; it needs to be bool"),
    ({"blank": required(rewards=("f4", 2))}, "field rewards is .*f4.*; it needs to be float64, one per seat"),
    ({"blank": required(rewards=("f8",))}, "field rewards is float64; it needs to be float64, one per seat"),
]


@pytest.mark.parametrize(("parts", "sentence"), RULES)
def test_rules_of_wrong_parts_are_refused(parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(GAME.rules, **parts)


@pytest.mark.parametrize(
    ("slices", "sentence"),
    [
        ([], "there is no slice"),
        (["heap"], "a slice is 'heap'; it needs to be of the type Slice"),
        ([replace(HEAP, path="")], "slice '': write names with dots between them"),
        ([replace(HEAP, path="game_state..heap")], "write names with dots between them"),
        ([replace(HEAP, path="a heap")], "write names with dots between them"),
        ([replace(HEAP, path=None)], "slice None: write names"),
        ([replace(HEAP, path="game_state.size")], "cannot be called 'size'"),
        ([replace(HEAP, shape=())], r"shape \(\) needs integers from 1 up; a single number has \(1,\)"),
        ([replace(HEAP, shape=1)], "shape 1 needs integers"),
        ([replace(HEAP, shape=(2, 0))], r"shape \(2, 0\) needs integers"),
        ([replace(HEAP, shape=(2.0,))], r"shape \(2.0,\) needs integers"),
        ([replace(HEAP, low=22)], "low is 22 and high 21; low may not be above high"),
        ([replace(HEAP, high=float("nan"))], "low is 0 and high nan"),
        ([replace(HEAP, low=[0])], r"low is \[0\] and high 21"),
        ([HEAP, HEAP], "'game_state.heap' clashes with 'game_state.heap'"),
        ([HEAP, replace(HEAP, path="game_state.heap.left")], "clashes with 'game_state.heap'"),
        ([replace(HEAP, path="game_state.heap.left"), HEAP], "clashes with 'game_state.heap.left'"),
    ],
)
def test_a_layout_of_wrong_slices_is_refused(slices, sentence):
    with pytest.raises(ValueError, match=sentence):
        Layout(slices)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Encoder([HEAP], nim.observe), "Encoder: layout is .* needs to be of the type Layout"),
        (lambda: Encoder(Layout([HEAP]), None), "Encoder: observe is None"),
        (lambda: Encoder(Layout([HEAP]), nim.observe, "yes"), "full_information is 'yes'"),
        (lambda: replace(GAME.view, parse=None), "View: parse is None"),
        (lambda: replace(GAME.view, load="record"), "View: load is 'record'"),
        (lambda: replace(GAME.view, action_spaces=["bet"]), "action_spaces is .* needs to be a dict"),
        (lambda: replace(GAME.view, action_spaces={"bet": spaces.Discrete(2)}), "the space of 'bet' is Discrete"),
        (lambda: replace(GAME.view, action_ranges=(ActionRange(1, 2, ("bet",), ""),)), "needs to begin at 0"),
        (lambda: replace(GAME.view, action_ranges=(ActionRange(0, 0, ("bet",), ""),)), "needs to begin at 0"),
        (lambda: ActionGrid((), print, print), r"sizes is \(\)"),
        (lambda: ActionGrid((2, 0), print, print), r"sizes is \(2, 0\)"),
        (lambda: ActionGrid((2,), None, print), "ActionGrid: legal is None"),
        (lambda: ActionGrid((2,), print, None), "ActionGrid: decode is None"),
        (lambda: Renderer("text"), "Renderer: text is 'text'"),
        (lambda: Renderer(str, None), "Renderer: picture is None"),
        (lambda: Payoffs(1, -1), "low=1, high=-1: give two finite numbers, low first"),
        (lambda: Payoffs(0, float("inf")), "low=0, high=inf"),
        (lambda: Payoffs(0, 1, episode_name=" "), "episode_name=' ' needs to be a word, such as 'game'"),
        (lambda: Payoffs(0, 1, unit_name=""), "unit_name='' needs to be a word, such as 'points'"),
        (lambda: Payoffs(0, 1, unit=0), "unit=0 needs to be above 0"),
        (lambda: Payoffs(-1, 1, zero_sum=True, shared=True), r"zero_sum and shared: .* set one"),
        (lambda: Talk(record_message=3), "Talk: record_message is 3"),
        (lambda: Teams(("town",), print), "names is .* at least 2"),
        (lambda: Teams(("town", "town"), print), "'town' is in names more than once"),
        (lambda: Teams(("town", "mafia"), None), "Teams: of is None"),
        (lambda: HiddenTurn(None), "visible_turn is None"),
        (lambda: PublicView(None), "game_state is None"),
        (lambda: Chance(begin=None, step=print, outcomes=print, play=print), "Chance: begin is None"),
        (lambda: Chance(begin=print, step=print, outcomes=print, play=print, probability=0.5), "probability is 0.5"),
        (lambda: Capabilities(talk=print), "talk is .* needs to be of the type Talk"),
        (lambda: Capabilities(chance=True), "chance is True; it needs to be of the type Chance"),
        (lambda: envs.register("wrong-v0", nim.game()), "source is .*; it needs to be a function"),
    ],
)
def test_a_part_of_wrong_parts_is_refused(make, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        make()
    assert "\n" not in str(error.value)


def test_a_function_of_encoders_returns_one(monkeypatch):
    from parlour.envs.holdem.encoders import ENCODERS

    monkeypatch.setitem(ENCODERS, "v8", lambda table: None)
    with pytest.raises(ValueError, match=r"encoder 'v8': it is None; it needs to be of the type Encoder"):
        envs.game("holdem").encoders["v8"]


def test_a_small_game_needs_ten_arguments_and_forty_lines():
    """`Game` has five that it cannot do without, and `Rules` too."""
    assert len(Path(nim.__file__).read_text(encoding="utf-8").splitlines()) <= 40
    needed = [
        field.name
        for part in (Game, type(GAME.rules))
        for field in fields(part)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    assert len(needed) <= 10, needed


def test_a_small_game_with_options_chance_and_hidden_cards_needs_sixty_lines():
    source = Path(high_card.__file__).read_text(encoding="utf-8")
    assert sum(bool(line.strip()) for line in source.splitlines()) <= 60
    assert check(high_card.game(ranks=3), episodes=1)
    assert high_card.game(stake=2).options == {"ranks": 5, "stake": 2.0}
    with pytest.raises(ValueError, match="ranks=14: need a whole number, from 2 to 13"):
        high_card.game(ranks=14)
    assert "ranks: number of ranks, 2 to 13." in high_card.game.__doc__


def test_actions_of_a_small_game_have_names():
    game = nim.game()
    env = envs.GameEnv(game)
    env.reset(seed=1)
    names = [one.action_type for one in env.turn_state("first").allowed_actions]
    assert names == ["take_1", "take_2", "take_3"] == list(game.view.action_spaces)
    assert [one.meaning for one in game.view.action_ranges] == ["take 1", "take 2", "take 3"]
    assert env.submit("first", envs.Action("take_3", {})).ok and env.table.heap == 18
    refused = env.submit("second", envs.Action("take_4", {}))
    assert refused.error == "invalid_action_type" and "take_1, take_2, take_3" in refused.error_detail
    described = replace(game, view=None, actions={"one": "take a stone", "two": "take two", "three": "take three"})
    assert described.view.action_ranges[0].meaning == "take a stone"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"view": None, "actions": ("take_1", "take_2")}, r"2 names \(take_1, take_2\) for 3 action indices"),
        ({"view": None, "actions": ("take", "take", "take")}, "'take' is in actions more than once"),
        ({"actions": ("a", "b", "c")}, "actions=.* is for the default view; this view names its own"),
    ],
)
def test_names_that_do_not_fit_the_actions_are_refused(changed, words):
    with pytest.raises(ValueError, match=words):
        replace(nim.game(), **changed)
