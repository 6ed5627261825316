"""The laws of `parlour.envs.testing`, tried on every registered game with every set of options in cases.py.

What only the tests can do stands here too: property-based answers, golden playthroughs, players of the upper half.
PARLOUR_GOLDEN=1 writes the golden playthroughs anew: read the difference before you commit it.
"""

import json
import os
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
import pytest
from cases import CASES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from parlour import envs
from parlour.envs import Action, AgentResponse, GameEnv
from parlour.envs.core.turn_state import ERROR_CODES
from parlour.envs.testing import LAWS, Trial, try_law
from parlour.envs.testing.copies import environment_at_a_decision
from parlour.envs.testing.determinism import fingerprint, fingerprints_elsewhere
from parlour.envs.testing.payloads import try_answer
from parlour.envs.testing.trial import chooser

GOLDEN = Path(__file__).parent / "golden"
NUMBER = 1 if numba.config.DISABLE_JIT else 8 if os.environ.get("PARLOUR_NIGHTLY") else 4
"""Of random episodes: plain Python is a hundred times slower, and a game has several sets of options."""


@pytest.mark.parametrize("law", LAWS)
def test_the_game_keeps_the_law(game, law, request):
    further = NUMBER == 4 and request.node.get_closest_marker("slow")  # options of a game that `make test` tries
    number = NUMBER if not further else 2 if law.startswith("secrecy") else 1
    not_tried = try_law(law, game, number).skipped
    if not_tried is not None and "not installed" in not_tried:
        pytest.skip(not_tried)
    # One episode may happen to differ in nothing that is hidden.
    shown = law in ("secrecy", "secrecy of the public view") and (
        game.name in HIDES_NOTHING or numba.config.DISABLE_JIT
    )
    assert not_tried is None or shown or any(reason in not_tried for reason in DOES_NOT_APPLY), not_tried


HIDES_NOTHING = {
    "bargaining",  # with public reservation values
    "centipede",
    "common_agency",  # the effort ends the round
    "dictator",  # the same
    "hold_up",
    "insurance_moral_hazard",  # the effort ends the round
    "multi_issue_bargaining",  # with public preferences
    "nim",
    "principal_agent",
    "sequential_investment",
    "tangram",
    "trust",
    "voluntary_contribution",
}
"""Games, or some options of them, in which every seat may know all that there is at its decisions."""
DOES_NOT_APPLY = (
    "nothing is compiled",
    "has no public view",
    "has no state_type",
    "no encoder",
    "no capability chance",
    "the tree has more",
    "lead to more than",
    "the limit may end",
)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_same_seed_and_actions_same_bytes_in_another_process():
    games, sources = [], []
    for game_id, options in [case.values[0] for case in CASES if not case.marks][::3]:
        function = envs.find(game_id)
        games.append(envs.game(game_id, **options))
        sources.append((f"{function.__module__}:{function.__qualname__}", options, games[-1].encoder))
    assert fingerprints_elsewhere(sources) == [fingerprint(game) for game in games]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def answers(game, allowed):
    """Nearly right answers: known types, known keys, wrong values."""
    types = [*game.view.action_spaces, "pass", "message_only", *ERROR_CODES]
    keys = {key for action in allowed for key in action.payload_schema.get("properties", {})} | {"amount", "target"}
    payload = JSON | st.dictionaries(st.sampled_from(sorted(keys)), JSON | st.integers(-3, 500), max_size=2)
    action = st.fixed_dictionaries({"action_type": st.sampled_from(types) | JSON}, optional={"payload": payload})
    scope = {"scope": st.sampled_from(["public", "private", "loud"]) | JSON, "content": st.text(st.characters()) | JSON}
    intent = st.fixed_dictionaries(scope, optional={"to_agent_ids": st.lists(st.sampled_from(game.agents)) | JSON})
    response = st.fixed_dictionaries({"action": action | JSON}, optional={"messages": st.lists(intent | JSON) | JSON})
    structs = st.builds(Action, JSON, JSON) | st.builds(AgentResponse, st.builds(Action, JSON, JSON) | JSON, JSON)
    return JSON | action | response | structs


@given(data=st.data())
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_answer_is_taken_or_refused_with_a_documented_code(game_id, data):
    trial = Trial("any answer", envs.game(game_id), 1)
    env = environment_at_a_decision(trial, seed=data.draw(st.integers(0, 5)), steps=data.draw(st.integers(0, 6)))
    agent = data.draw(st.sampled_from(env.possible_agents))
    try_answer(trial, env, agent, data.draw(answers(env.game, env.turn_state(env.agent_selection).allowed_actions)))


JUNK = (-1, 0.5, 1001, 10**400, float("nan"), True, "5", "", "x" * 4001, None, [], [50], {}, {"player_0": 100})


def test_a_payload_that_is_not_valid_by_its_schema_is_refused(game_id):
    """With another value, a field less or one more than a legal one: at some decisions of an episode."""
    game = envs.game(game_id)
    for steps in range(6):
        env = environment_at_a_decision(Trial("any answer", game, 1), seed=steps, steps=steps)
        legal = [game.view.encode(env.table, index).action for index in np.flatnonzero(env.match.mask)]
        payloads = {action.action_type: action.payload for action in legal}
        for offer in env.turn_state(env.agent_selection).allowed_actions:
            payload, schema = payloads.get(offer.action_type, {}), Draft202012Validator(offer.payload_schema)
            wrong = [{**payload, field: junk} for field in payload for junk in JUNK] + [{**payload, "more": 1}]
            wrong += [{field: payload[field] for field in payload if field != other} for other in payload]
            for one in wrong:
                if not schema.is_valid(one):
                    result = env.clone().submit(env.agent_selection, Action(offer.action_type, one))
                    assert result.error in ("invalid_payload", "game_rule_violation"), (offer, one)


# Golden playthroughs.

GOLDEN_OPTIONS = {
    "holdem-v0": {"seats": 3, "stacks": [60, 100, 40], "hands": 2},
    "auction-v0": {"seats": 3, "bids": 5, "talk": True},
    "bargaining-v0": {"rounds": 2, "offers": 5, "talk": True},
    "mafia-v0": {"seats": 5, "max_days": 2},
    "tangram-v0": {"figure": "A house", "turns": 5, "plays": 2},
}


def playthrough(game_id):
    """One episode as text: the whole table, what is new to every player, what the acting one observes and does."""
    game = envs.game(game_id, **GOLDEN_OPTIONS.get(game_id, {}))
    env, choose = GameEnv(game, render_mode="ansi", render_view="all"), chooser(game, 1)
    env.reset(seed=1)
    lines = [f"{game.id} {json.dumps(dict(game.options))} seed 1"]
    known = {agent: {} for agent in game.agents}
    while True:
        lines += ["", "=" * 100, env.render(), ""]
        for agent in game.agents:
            views = known[agent], dict(leaves(env.turn_state(agent).to_dict()))
            lines.append(f"{agent} sees {'; '.join(news(*views))}")
            known[agent] = views[1]
        if env.table.done:
            return "\n".join([*lines, "", f"rewards {env.rewards}", ""])
        agent = env.agent_selection
        seen = game.observation(env.table, game.agents.index(agent))
        mask = env.observe(agent)["action_mask"]
        number = choose(mask)
        lines += ["", f"{agent} observes {', '.join(nonzero(game.layout, seen))}"]
        lines += [f"{agent} may play {np.flatnonzero(mask).tolist()} and plays {number}: "]
        lines[-1] += game.view.encode(env.table, number).to_json().decode()
        env.step(number)


def leaves(state):
    """Flatten a TurnState to one line per field, per field of `game_state`, and per member of a list of dicts."""
    for name, value in state.items():
        fields = value.items() if isinstance(value, dict) else [("", value)]
        for field, part in fields:
            path = f"{name}.{field}".removesuffix(".")
            if isinstance(part, list) and any(isinstance(member, dict) for member in part):
                yield from ((f"{path}[{i}]", json.dumps(member)) for i, member in enumerate(part))
            else:
                yield path, json.dumps(part)


def news(before, after):
    yield from (f"{path}: {value}" for path, value in after.items() if before.get(path) != value)
    yield from (f"{path} gone" for path in before if path not in after and path.split("[")[0] not in after)


def nonzero(layout, seen):
    for part in layout:
        values = seen[part.start : part.stop].reshape(part.shape)
        if values.size > 200:  # a picture
            yield f"{part.path}: {np.count_nonzero(values)} values, {sha256(values.tobytes()).hexdigest()[:8]}"
            continue
        for index in zip(*np.nonzero(values), strict=True):
            yield f"{part.path}{list(map(int, index))}={values[index]:.4g}"


def test_the_golden_playthrough_has_not_changed(game_id):
    path = GOLDEN / f"{game_id}.txt"
    text = playthrough(game_id)
    if os.environ.get("PARLOUR_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{game_id} has no golden playthrough: run this test with PARLOUR_GOLDEN=1"
    assert text == path.read_text(encoding="utf-8"), "if a view, mask or reward changed, raise the version"


# Full information, in the upper half.


class Peeking:
    """A policy that asks for the observations of the full encoder."""

    encoder = "full"

    def act(self, observations, masks):
        return masks.argmax(axis=1)


@pytest.mark.skipif(not find_spec("parlour.wrappers"), reason="this installation has no parlour.wrappers")
def test_no_table_of_a_learner_and_no_agent_takes_the_full_encoder(game_id):
    from parlour.wrappers.agents.policy import PolicyAgent
    from parlour.wrappers.rl.tables import SingleAgentTables

    game = envs.game(game_id)
    if "full" not in game.encoders:
        return  # nothing is hidden in it
    refused = pytest.raises(ValueError, match="'full' shows hidden information: it is for critics, not for players")
    with refused:
        SingleAgentTables(game, 2, encoder="full")
    with refused:
        tables = SingleAgentTables(game, 2, Peeking())
        tables.reset(seed=1)
        for _ in range(50):  # until an opponent decides
            tables.step(tables.masks.argmax(axis=1))
    with refused:
        PolicyAgent(game, Peeking())
