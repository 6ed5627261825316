"""The engine of games in phases: names, options, and what hosts send."""

import pickle
from typing import Annotated

import msgspec
import pytest
from economics.matches import played
from parlour import envs
from parlour.envs import Action
from parlour.envs.core.compiled import compiled
from parlour.envs.core.rng import uniform
from parlour.envs.phases import End, Named, Phase, PhaseGame, Private, make
from parlour.envs.phases.game import nothing
from parlour.training import flat_tree
from parlour.wrappers.live.arena.platform_games import hosted_games, platform_game, supported_games

GAMES = sorted(game_id for game_id in envs.GAMES if envs.find(game_id).__module__.startswith("parlour.envs.economics."))


@pytest.mark.parametrize("game_id", GAMES)
def test_the_platforms_id_is_the_games_name(game_id):
    game = envs.game(game_id)
    platform = game_id.removesuffix("-v0").replace("_", "-")
    assert envs.game(platform).id == envs.game(f"{platform}-v0").id == game_id
    assert supported_games(game) == hosted_games(game) == [platform]
    assert platform_game(platform, game).name == game.name


POST = {"task_description": "Write a poem.", "success_criteria": "It rhymes."}
INVEST = "invest", {"amount": 2}


@pytest.mark.parametrize(
    ("name", "before", "kind", "payload", "code"),
    [
        ("insurance_moral_hazard", [], "accept", {}, "game_rule_violation"),
        ("common_agency", [], "pass", {}, "game_rule_violation"),
        ("dictator", [], "allocate_split", {"allocator_share": 50, "recipient_share": 49}, "invalid_payload"),
        ("ultimatum", [], "submit_offer", {"shares": {"player_0": 60, "player_1": 50}}, "invalid_payload"),
        ("hold_up", [INVEST, INVEST], "make_offer", {"split": {"player_0": 9, "player_1": 9}}, "invalid_payload"),
        ("principal_agent", [], "post_contract", {**POST, "success_criteria": " "}, "invalid_payload"),
        ("principal_agent", [("post_contract", POST)], "accept_contract", {}, "game_rule_violation"),
    ],
)
def test_what_no_schema_can_say_is_refused(name, before, kind, payload, code):
    env = played(name, *before)
    assert env.submit(env.agent_selection, Action(kind, payload)).error == code


class Seats(envs.Options, frozen=True, kw_only=True):
    seats: Annotated[int, envs.within(2, 20)] = 2


def toy(seats=2, **more):
    parts = {"phases": [Phase("play", ("take",))], "actions": [Named("take", 1, "take it")]}
    rest = {"name": "toy", "title": "Toy", "options": Seats(seats=seats), "pay": nothing, "payoffs": (0, 1), "end": End}
    return PhaseGame(**{**rest, **parts, **more})


def test_a_game_too_large_for_the_record_is_refused():
    with pytest.raises(ValueError, match="toy has 9 seats; the record has room for 8"):
        make(toy(seats=9))
    with pytest.raises(ValueError, match="offers 'push'; known are take"):
        make(toy(phases=[Phase("play", ("push",))]))


def test_private_values_below_0_are_refused():
    with pytest.raises(ValueError, match="toy: my_worth may be below 0; private values are 0 or more"):
        make(toy(private=Private("my_worth", ((0, 1), (-0.01, 1)))))


@compiled
def lottery(table):
    table.rewards[0] = 1.0 if uniform(table) < 0.3 else 0.0


def test_payoffs_that_draw_from_the_stream_have_no_tree():
    with pytest.raises(ValueError, match=r"toy-v0 draws from the stream of the match.*PhaseGame\(odds=…\)"):
        flat_tree(make(toy(pay=lottery)))


def test_the_type_of_a_state_is_pickled_with_its_game():
    game = envs.game("trust", rounds=2)
    kind = pickle.loads(pickle.dumps(game)).view.state_type
    assert msgspec.json.schema(kind) == msgspec.json.schema(game.view.state_type)
    fields = {field.name: field.type for field in msgspec.structs.fields(kind)}
    assert {"my_role", "trustor", "sent", "past_rounds"} <= set(fields)
    env = envs.make("trust", rounds=2)
    env.reset(seed=0)
    public = game.public_turn_state(env.table).game_state
    assert "my_role" not in public and msgspec.convert(public, kind).to_dict() == public
