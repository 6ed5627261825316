"""Skins: every game in other words is the same tree: the same legal actions and returns after mapping back."""

import json

import jsonschema
import numpy as np
import pytest
from cases import slow_but
from parlour.envs import Match, find, how_to_play
from parlour.wrappers import Prompting, TextGame
from parlour.wrappers.agents.prompt import Skin

FAMOUS = ("poker", "Kuhn", "hold'em", "raiseTo", "mafia", "werewol", "sheriff", "ultimatum", "auction", "player_0")


@pytest.mark.parametrize("seed", slow_but([0], range(3)))
def test_a_skin_is_the_same_tree(game, seed):
    skin = Skin(game, seed)
    assert len(set(skin.names.values())) == len(skin.names)
    plain, disguised = Match(game), Match(game)
    plain.reset(seed)
    disguised.reset(seed)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        if plain.done:
            break
        agent = game.agents[plain.turn]
        state = plain.turn_state(agent)
        seen = skin.state(state)
        assert shape(seen.game_state) == shape(state.game_state)
        assert [one.action_type for one in seen.allowed_actions] == [
            skin.names[one.action_type] for one in state.allowed_actions
        ]
        schemas = {}
        for one in seen.allowed_actions:
            schemas.setdefault(one.action_type, []).append(one.payload_schema)
        legal = np.flatnonzero(plain.mask)
        for index in rng.choice(legal, min(5, len(legal)), replace=False):
            action = game.view.encode(plain.table, int(index)).action
            hidden = skin.disguised(action)
            assert any(jsonschema.Draft202012Validator(s).is_valid(hidden.payload) for s in schemas[hidden.action_type])
            assert skin.action(hidden) == action
        chosen = game.view.encode(plain.table, int(rng.choice(legal))).action
        assert plain.submit(agent, chosen) == disguised.submit(agent, skin.action(skin.disguised(chosen)))
        assert plain.table.tobytes() == disguised.table.tobytes()


def shape(value):
    """Return a state without its names."""
    if isinstance(value, dict):
        return sorted((shape(one) for one in value.values()), key=str)
    if isinstance(value, list):
        return [shape(one) for one in value]
    return "text" if isinstance(value, str) else value


@pytest.mark.parametrize("name", ["kuhn", "leduc", "holdem", "mafia", "werewolf", "ultimatum", "english_auction"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_in_a_skin_names_the_game(name, seed):
    game = find(f"{name}-v0")()
    skin = Skin(game, seed)
    match = Match(game)
    match.reset(1)
    state = skin.state(match.turn_state(game.agents[match.turn]))
    text = skin.text(how_to_play(game)) + json.dumps(state.to_dict())
    for word in FAMOUS:
        assert word not in text
    assert skin.text(how_to_play(game)) == Skin(game, seed).text(how_to_play(game)) != Skin(game, seed + 3).text("")
    assert len({Skin(game, one).text(how_to_play(game)) for one in range(4)}) == 4


def test_a_model_plays_a_whole_episode_in_disguise():
    game = TextGame("leduc", prompting=Prompting(game=find("leduc-v0")(), skin=1, view="compact"))
    turn = game.reset(seed=1)
    refused = game.step("raise")  # nobody has said what that is
    assert refused.refused and "raise" not in json.dumps(refused.prompt[-1])
    while not turn.done:
        text = json.dumps(turn.prompt) + "".join(turn.answers)
        assert not any(word in text for word in ("poker", "Leduc", "raise", "player_0", "my_card"))
        turn = game.step(turn.answers[-1])
    assert game.match.done and turn.refused is None
