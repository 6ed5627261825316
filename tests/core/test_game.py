"""What cannot be a game is an error in one sentence, when it is made."""

from dataclasses import MISSING, fields, replace
from pathlib import Path

import nim
import numpy as np
import pytest
import three_cards
from gymnasium import spaces
from jsonschema import Draft202012Validator
from parlour import envs
from parlour.envs.core.options import rules_of

GAME = three_cards.game()
HEAP = envs.Slice("game_state.heap", (1,), 0, 21, "stones")


def required(**changed):
    """A record with the required fields, some of another type."""
    types = {"stream": ("u8",), "turn": ("i4",), "done": ("?",), "rewards": ("f8", 2)}
    return envs.new_table(envs.record(*((name, *kind) for name, kind in (types | changed).items())))


GAMES = [
    ({"name": "my game"}, "the name 'my game' needs to be letters, digits and _"),
    ({"agents": ("a", "a")}, "'a' is in agents more than once"),
    ({"agents": "ab"}, "agents is 'ab'; it needs to be a tuple"),
    ({"agents": (0, 1)}, "0 in agents is not a name"),
    ({"agents": ("a", "b", "c")}, "rewards has room for 2 of 3 seats"),
    ({"encoder": "v1"}, "three_cards has no encoder 'v1'; it has v0, full"),
    ({"encoder": "full"}, "the default encoder is a version, such as 'v0'"),
    ({"encoders": {"v0": GAME.encoders["full"]}}, "'v0' shows hidden information: it is for critics, not for players"),
    ({"view": "view"}, "view is 'view'; it needs to be of the type View"),
    ({"view": None}, "'full' shows hidden information, and the default view hides nothing"),
    ({"view": replace(GAME.view, action_ranges=(envs.ActionRange(0, 3, ("bet",), ""),))}, "end at 3; there are 2"),
    ({"bots": {"caller": lambda game: None}}, r"bots: caller takes \(game\); it needs to take \(game, seed\)"),
    ({"platform_id": 3}, "platform_id is 3; it needs to be of the type str"),
    ({"options": ["seats"]}, "needs to be a dict of options by name"),
]


@pytest.mark.parametrize(("parts", "sentence"), GAMES)
def test_a_game_of_wrong_parts_is_refused(parts, sentence):
    with pytest.raises(ValueError, match=sentence) as error:
        replace(GAME, **parts)
    assert "\n" not in str(error.value)


RULES = [
    ({"reset": None}, "reset is None; it needs to be a function"),
    ({"legal": lambda table: None}, r"legal takes \(table\); it needs to take \(table, mask\)"),
    ({"num_actions": 0}, "num_actions=0: a game has a whole number of action indices, at least 1"),
    ({"blank": three_cards.BLANK[0]}, r"blank is a record of shape \(\); it needs to be one record"),
    ({"blank": required(stream=("i8",))}, "field stream is int64; it needs to be uint64"),
    ({"blank": required(turn=("u1",))}, "field turn is uint8; it needs to be a signed integer"),
    ({"blank": required(done=("i1",))}, "field done is int8; it needs to be bool"),
    ({"blank": required(rewards=("f4", 2))}, "field rewards is .*f4.*; it needs to be float64, one per seat"),
]


@pytest.mark.parametrize(("parts", "sentence"), RULES)
def test_rules_of_wrong_parts_are_refused(parts, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(GAME.rules, **parts)


@pytest.mark.parametrize(
    ("slices", "sentence"),
    [
        ([], "there is no slice"),
        ([replace(HEAP, path="")], "slice '': write names with dots between them"),
        ([replace(HEAP, path="a heap")], "write names with dots between them"),
        ([replace(HEAP, path="game_state.size")], "cannot be called 'size'"),
        ([replace(HEAP, shape=())], r"shape \(\) needs integers from 1 up; a single number has \(1,\)"),
        ([replace(HEAP, shape=(2, 0))], r"shape \(2, 0\) needs integers"),
        ([replace(HEAP, low=22)], "low is 22 and high 21; low may not be above high"),
        ([replace(HEAP, high=float("nan"))], "low is 0 and high nan"),
        ([replace(HEAP, path="game_state.heap.left"), HEAP], "clashes with 'game_state.heap.left'"),
    ],
)
def test_a_layout_of_wrong_slices_is_refused(slices, sentence):
    with pytest.raises(ValueError, match=sentence):
        envs.Layout(slices)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: envs.Encoder([HEAP], nim.observe), "Encoder: layout is .* needs to be of the type Layout"),
        (lambda: envs.Encoder(envs.Layout([HEAP]), nim.observe, "yes"), "full_information is 'yes'"),
        (lambda: replace(GAME.view, parse=None), "View: parse is None"),
        (lambda: replace(GAME.view, action_spaces=["bet"]), "action_spaces is .* needs to be a dict"),
        (lambda: replace(GAME.view, action_spaces={"bet": spaces.Discrete(2)}), "the space of 'bet' is Discrete"),
        (lambda: replace(GAME.view, action_ranges=(envs.ActionRange(1, 2, ("bet",), ""),)), "needs to begin at 0"),
        (lambda: envs.ActionGrid((), print, print), r"sizes is \(\)"),
        (lambda: envs.Renderer(str, None), "Renderer: picture is None"),
        (lambda: envs.Payoffs(1, -1), "low=1, high=-1: give two finite numbers, low first"),
        (lambda: envs.Payoffs(0, 1, episode_name=" "), "episode_name=' ' needs to be a word, such as 'game'"),
        (lambda: envs.Payoffs(0, 1, unit=0), "unit=0 needs to be above 0"),
        (lambda: envs.Payoffs(-1, 1, zero_sum=True, shared=True), r"zero_sum and shared: .* set one"),
        (lambda: envs.Teams(("town",), print), "names is .* at least 2"),
        (lambda: envs.Teams(("town", "town"), print), "'town' is in names more than once"),
        (lambda: envs.Chance(begin=print, step=print, outcomes=print, play=print, probability=0.5), "probability is"),
        (lambda: envs.Capabilities(chance=True), "chance is True; it needs to be of the type Chance"),
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
        for part in (envs.Game, type(GAME.rules))
        for field in fields(part)
        if field.default is MISSING and field.default_factory is MISSING
    ]
    assert len(needed) <= 10, needed


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


def test_a_record_has_every_field_that_games_need_and_names_by_which_python_finds_them():
    short = np.zeros(1, envs.record(("turn", "i4"), ("rewards", "f8", 2), ("done", "?"), *three_cards.FIELDS))
    with pytest.raises(ValueError, match="the record has no stream; it needs stream, turn"):
        replace(GAME.rules, blank=short.view(np.recarray))
    for name in ("size", "class", "my field", ""):
        with pytest.raises(ValueError, match=f"cannot be called '{name}'"):
            envs.record(("stream", "u8"), (name, "i4"))


KINDS = {game_id: envs.find(game_id).options for game_id in envs.GAMES if hasattr(envs.find(game_id), "options")}
OPTIONS = [(game_id, option) for game_id, kind in KINDS.items() for option in envs.schema_of(kind)["properties"]]


@pytest.mark.parametrize(("game_id", "option"), OPTIONS)
def test_an_option_of_another_kind_or_out_of_its_range_is_named(game_id, option):
    rule, bad = rules_of(KINDS[game_id])[option], [float("nan"), {"a": "b"}]
    bad += [bound + step for bound, step in zip(rule.range, (-1, 1), strict=False) if not isinstance(bound, str)]
    for value in [*bad, *["no such word"] * bool(rule.choices)]:
        with pytest.raises(ValueError, match=option):
            envs.find(game_id)(**{option: value})
        assert value != value or not Draft202012Validator(envs.schema_of(KINDS[game_id])).is_valid({option: value})
