"""The laws that hold for every registered game (with every set of options in cases.py), written once.

PARLOUR_GOLDEN=1 writes the golden playthroughs anew: read the difference before you commit it.
"""

import json
import os
import random
import subprocess
import sys
import warnings
from copy import deepcopy
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import gymnasium
import jsonschema
import msgspec
import numpy as np
import pettingzoo
import pytest
from fingerprint import fingerprint
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from parlour import envs
from parlour.envs import Action, ActionResult, AgentResponse, GameEnv, TurnState, VectorGame
from parlour.envs.core.rng import streams
from parlour.envs.core.turn_state import ERROR_CODES
from pettingzoo.test import api_test

GOLDEN = Path(__file__).parent / "golden"
EPISODES = 6


def chooser(game, seed):
    """Random legal numbers; every chooser has a taste of its own, so that some episodes are long and some are not."""
    generator = np.random.default_rng(seed)
    taste = generator.exponential(size=game.num_actions) ** 2 + 1e-3

    def choose(mask):
        weights = taste * mask
        return int(generator.choice(len(mask), p=weights / weights.sum()))

    return choose


def decisions(game, seed):
    """Play one random episode; yield the table at every decision and once it is over."""
    table, choose = game.tables(1)[0], chooser(game, seed)
    table.stream = streams(seed, 1)[0]
    game.rules.reset(table)
    while not table.done:
        yield table
        game.rules.play(table, choose(game.mask(table, int(table.turn))))
    yield table


def watched(game, seed):
    """Yield `decisions` and from which seats to look: all of a few; of many the acting one and five others, which take
    turns; all at the end."""
    for i, table in enumerate(decisions(game, seed)):
        some_seats = {int(table.turn), *((5 * i + k) % game.seats for k in range(5))}
        yield table, range(game.seats) if game.seats <= 6 or table.done else some_seats


def at_a_decision(game, seed, steps):
    """Return an environment after up to `steps` random moves, before its end."""
    env, choose = GameEnv(game, "flat"), chooser(game, seed)
    env.reset(seed=seed)
    for _ in range(steps):
        ahead = env.clone()
        ahead.step(choose(ahead.observe(ahead.agent_selection)["action_mask"]))
        if ahead.table.done:
            break
        env = ahead
    return env


# Law 1: sim-to-live parity.


def test_a_turn_state_loads_to_the_same_observation_and_mask(game):
    for seed in range(EPISODES):
        for table, seats in watched(game, seed):
            for seat in seats:
                state = TurnState.from_json(game.turn_state(table, seat, match_id="m").to_json())
                tables, me = game.view.load(state)
                assert np.array_equal(game.observation(tables[0], me), game.observation(table, seat)), state
                assert np.array_equal(game.mask(tables[0], me), game.mask(table, seat)), state


def test_observations_lie_in_their_space(game):
    space = game.layout.flat_space()
    for seed in range(EPISODES):
        for table, seats in watched(game, seed):
            for seat in seats:
                seen = game.observation(table, seat)
                assert space.contains(seen), [part.path for part in game.layout if not within(part, seen)]


def within(part, seen):
    values = seen[part.start : part.stop]
    return bool((values >= part.low).all() and (values <= part.high).all())


# Law 2: secrecy.


def test_what_a_seat_cannot_know_does_not_show(game):
    generator = np.random.default_rng(2)
    hidden = False
    for seed in range(EPISODES):
        for table, seats in watched(game, seed):
            for seat in seats:
                other = table.copy()
                game.view.resample(other, seat, generator)
                assert game.turn_state(other, seat) == game.turn_state(table, seat)
                assert np.array_equal(game.observation(other, seat), game.observation(table, seat))
                assert np.array_equal(game.mask(other, seat), game.mask(table, seat))
                assert game.renderer.text(other, seat) == game.renderer.text(table, seat)
                hidden = hidden or other.tobytes() != table.tobytes()
    assert hidden, "redeal changes nothing"


def test_those_who_look_on_know_no_more_than_any_seat(game):
    if game.capabilities.public_view is None:
        with pytest.raises(ValueError, match="no public view"):
            game.public_turn_state(game.tables(1)[0])
        return
    generator = np.random.default_rng(3)
    for seed in range(EPISODES):
        for table, seats in watched(game, seed):
            seen = game.public_turn_state(table, match_id="m")
            assert TurnState.from_json(seen.to_json()) == seen
            assert (seen.game_over, seen.allowed_actions) == (bool(table.done), [])
            for seat in seats:
                other = table.copy()
                game.view.resample(other, seat, generator)
                assert game.public_turn_state(other, match_id="m") == seen


# Law 3: one rules source.


def test_aec_and_vector_play_the_same_game(game):
    """Also that `VectorGame` resets a finished table in the same step, as its docstring says."""
    seeds = [11, 12, 13]
    tables = VectorGame(game, len(seeds))
    tables.reset(seed=seeds)
    single = [GameEnv(game, "flat") for _ in seeds]
    for env, seed in zip(single, seeds, strict=True):
        env.reset(seed=seed)
    ended = 0
    for round_ in range(100):
        actions = [chooser(game, [round_, i])(mask) for i, mask in enumerate(tables.action_masks)]
        tables.step(actions)
        for i, env in enumerate(single):
            env.step(actions[i])
            assert np.array_equal(np.float32([env.rewards[agent] for agent in game.agents]), tables.rewards[i])
            over = env.terminations[env.agent_selection], env.truncations[env.agent_selection]
            assert any(over) == tables.dones[i]
            assert over[1] == tables.truncations[i]
            if any(over):
                ended += 1
                env.reset()
            assert env.agent_selection == game.agents[tables.turn[i]]
            shown = env.observe(env.agent_selection)
            assert np.array_equal(shown["observation"], tables.observations[i])
            assert np.array_equal(shown["action_mask"], tables.action_masks[i])
            assert env.state().tobytes() == tables.tables[i].tobytes()
    assert ended


# Law 4: determinism.


@cache
def elsewhere(game_id):
    """The fingerprints of a game's cases, from another process."""
    code = Path(__file__).parent / "fingerprint.py"
    run = subprocess.run(
        [sys.executable, code, game_id], env={**os.environ, "PYTHONHASHSEED": "1"}, cwd=code.anchor,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(run.stdout)


def test_same_seed_and_actions_same_bytes_in_another_process_too(case):
    assert fingerprint(case) == fingerprint(case) == elsewhere(case[0])[str(case)]


def test_global_random_state_is_neither_used_nor_touched(game):
    def one():
        env = GameEnv(game)
        env.reset(seed=3)
        tables = VectorGame(game, 2)
        tables.reset(seed=3)
        for _ in range(20):
            tables.step(tables.sample())
        return env.state().tobytes() + tables.tables.tobytes()

    before = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
    first = one()
    assert (random.getstate(), np.random.get_state()[1].tobytes()) == before  # noqa: NPY002
    random.random(), np.random.random()  # noqa: NPY002
    assert one() == first


def test_other_seeds_other_games_and_no_seed_is_fresh(game):
    def deal(seed):
        env = GameEnv(game)
        env.reset(seed=seed)
        return env.state().tobytes()

    assert len({deal(seed) for seed in range(10)}) == 10
    assert deal(None) != deal(None)


# Law 5: clone.


@pytest.mark.parametrize("copy", [GameEnv.clone, deepcopy], ids=["clone", "deepcopy"])
def test_a_clone_goes_the_same_way_until_the_actions_differ(game, copy):
    env = at_a_decision(game, seed=1, steps=3)
    twin, choose = copy(env), chooser(game, 9)
    before = env.state().tobytes()
    while not twin.table.done:
        twin.step(choose(twin.observe(twin.agent_selection)["action_mask"]))
    assert env.state().tobytes() == before
    choose = chooser(game, 9)
    while not env.table.done:
        env.step(choose(env.observe(env.agent_selection)["action_mask"]))
    assert env.state().tobytes() == twin.state().tobytes()
    assert [env.turn_state(agent) for agent in game.agents] == [twin.turn_state(agent) for agent in game.agents]
    assert env.rewards == twin.rewards


def test_every_byte_of_a_record_belongs_to_a_field(game):
    """NumPy does not copy the gaps of an aligned dtype: with gaps, the same game has not the same bytes."""
    dtype = game.rules.blank.dtype
    assert sum(dtype[name].itemsize for name in dtype.names) == dtype.itemsize
    assert all(dtype.fields[name][1] % (dtype[name].base.alignment) == 0 for name in dtype.names)


def test_a_copied_record_is_the_same_game(game):
    for table in decisions(game, 4):
        if not table.done:
            twin, other = table.copy(), table.copy()
            number = int(np.flatnonzero(game.mask(table, int(table.turn)))[-1])
            game.rules.play(twin, number)
            game.rules.play(other, number)
            assert twin.tobytes() == other.tobytes() != table.tobytes()


def scribble(value):
    """Write over every list and dict of plain data or of a struct."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            scribble(getattr(value, name))
    elif isinstance(value, (list, dict)):
        for part in value.values() if isinstance(value, dict) else value:
            scribble(part)
        if isinstance(value, dict):
            value["scribble"] = "scribble"
        else:
            value.append("scribble")


def test_who_writes_into_a_turn_state_changes_no_other(game_id):
    def episode():
        game = envs.game(game_id)
        for table in decisions(game, 5):
            states = [game.turn_state(table, seat) for seat in range(game.seats)]
            yield states if game.capabilities.public_view is None else [*states, game.public_turn_state(table)]

    before = [[state.to_json() for state in states] for states in episode()]
    for states in episode():
        for state in states:
            scribble(state)
    assert [[state.to_json() for state in states] for states in episode()] == before


# Law 6: accounting.


def test_payoffs_sum_up_and_lie_in_the_declared_bounds(game):
    low, high = game.payoffs.low, game.payoffs.high
    for seed in range(EPISODES):
        total = np.zeros(game.seats)
        for i, table in enumerate(decisions(game, seed)):
            assert i > 0 or not table.rewards.any()
            total += table.rewards[: game.seats]
            assert not game.payoffs.zero_sum or table.rewards[: game.seats].sum() == 0
        assert (low <= total).all()
        assert (total <= high).all()
        utility = [payoff["utility"] for payoff in game.turn_state(table, 0).outcome["payoffs"]]
        assert utility == pytest.approx(total)


# Law 7: payloads.


def test_every_legal_number_is_a_documented_payload(game):
    for seed in range(3):
        env, choose = GameEnv(game, "flat"), chooser(game, seed)
        env.reset(seed=seed)
        while not env.table.done:
            agent = env.agent_selection
            allowed = {}
            for offer in env.turn_state(agent).allowed_actions:
                jsonschema.Draft202012Validator.check_schema(offer.payload_schema)
                allowed[offer.action_type] = jsonschema.Draft202012Validator(offer.payload_schema)
            mask = env.observe(agent)["action_mask"]
            for number in some(np.flatnonzero(mask), env.table):
                response = game.view.encode(env.table, number)
                action = response.action
                blocks = [block for block in game.view.action_ranges if block.start <= number < block.stop]
                assert [action.action_type in block.action_types for block in blocks] == [True] * bool(
                    game.view.action_ranges
                )
                allowed[action.action_type].validate(action.payload)
                assert game.view.action_spaces[action.action_type].contains(as_sample(action.payload))
                if action.action_type != "message_only":  # talk: the message says which number it is
                    assert game.view.nearest(env.table, game.view.parse(env.table, action)) == number
                by_number, by_payload = env.clone(), env.clone()
                by_number.step(number)
                assert by_payload.submit(agent, AgentResponse.from_json(response.to_json())) == ActionResult(True)
                assert by_number.state().tobytes() == by_payload.state().tobytes()
                assert by_number.rewards == by_payload.rewards
                for other in {agent, game.agents[number % game.seats]}:  # in turn, for all of them take long
                    assert by_number.turn_state(other) == by_payload.turn_state(other)
                same_view(by_number.observe(agent), by_payload.observe(agent))
            env.step(choose(mask))


def some(numbers, table):
    """All of a few numbers; of many a dozen, others at every table, and always the last."""
    generator = np.random.default_rng(table.stream + np.uint64(table.turn))
    return {*generator.permutation(numbers)[:12].tolist(), int(numbers[-1])}


def as_sample(payload):
    return {key: np.array(value) if isinstance(value, (int, float, list)) else value for key, value in payload.items()}


def same_view(one, other):
    assert np.array_equal(one["observation"], other["observation"])
    assert np.array_equal(one["action_mask"], other["action_mask"])


def test_the_safe_action_is_legal(game):
    for seed in range(10):
        for table in decisions(game, seed):
            assert table.done or game.mask(table, int(table.turn))[game.view.safe(table)]


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
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_answer_is_taken_or_refused_with_a_documented_code(game_id, data):
    env = at_a_decision(envs.game(game_id), seed=data.draw(st.integers(0, 5)), steps=data.draw(st.integers(0, 6)))
    agent = data.draw(st.sampled_from(env.possible_agents))
    answer = data.draw(answers(env.game, env.turn_state(env.agent_selection).allowed_actions))
    before = env.state().tobytes(), env.agent_selection, list(env.messages)
    result = env.submit(agent, answer)
    if result.ok:
        assert agent == before[1]
    else:
        assert result.error in ERROR_CODES
        assert result.error_detail
        assert (env.state().tobytes(), env.agent_selection, env.messages) == before
    assert ActionResult.from_json(result.to_json()) == result
    for other in env.possible_agents:
        state = env.turn_state(other)
        assert TurnState.from_json(state.to_json()) == state


# Law 8: a golden playthrough.

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


# Law 9: conformance.


@pytest.mark.parametrize("observation", ["dict", "flat"])
def test_pettingzoo_accepts_it(game_id, observation):
    env = pettingzoo.make("aec", f"parlour/{game_id}", observation=observation)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names and shapes that PettingZoo's own games have too
        api_test(env, num_cycles=200)


@pytest.mark.skipif(
    not find_spec("parlour.wrappers.rl.gymnasium_env"),
    reason="this installation has no parlour.wrappers.rl.gymnasium_env",
)
def test_gymnasium_and_stable_baselines_accept_a_seat_of_it(game_id):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    name, _, version = game_id.partition("-")
    env = gymnasium.make(f"parlour/{name.capitalize()}-{version}").unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gymnasium.utils.env_checker.check_env(env, skip_render_check=True)
        checker.check_env(env, warn=False)
