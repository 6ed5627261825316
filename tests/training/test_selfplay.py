"""The self-play learner: credit per seat, schedules, opponents at some tables, exact resuming, what it learns."""

import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from parlour.envs import game
from parlour.training.algorithms.selfplay import Learner
from parlour.training.evaluation.exact import flat_tree, nash_conv
from parlour.training.learning.collector import seat_advantages
from parlour.training.learning.settings import Schedule, SelfPlayConfig
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume, train
from parlour.wrappers.policies.mlp import MlpPolicy
from parlour.wrappers.rl.tables import Pool, SelfPlayTables
from tiny import TINY, lines

MIRROR = {"update": "mirror_descent", "action_values": True, "kl_coef": Schedule(3.5)}


class Monitor:
    """Keeps a budget of rollouts and the metrics."""

    def __init__(self, learner, rollouts):
        self.learner, self.left, self.metrics = learner, rollouts, []

    @property
    def remaining(self):
        return 1 - self.learner.timesteps / self.learner.config.total_timesteps

    def on_start(self):
        pass

    def on_rollout_start(self):
        self.left -= 1

    def goes_on(self):
        return self.left > 0

    def on_rollout_end(self):
        return {}

    def write(self, metrics):
        self.metrics.append(metrics)


def make(name="kuhn", **settings):
    made = game(name)
    config = SelfPlayConfig(game=made.id, **{**TINY, **settings})
    league = config.league()
    return Learner(config, made, league), league


def weights(learner):
    return np.concatenate([one.detach().numpy().ravel() for one in learner._parameters])


def slow_advantages(turn, acts, rewards, dones, values, last, gamma, lam):
    """The definition, seat by seat, with lists: each step's error, then the discounted sum of the errors after it."""
    steps, tables = turn.shape
    out = np.zeros((steps, tables))
    for table in range(tables):
        for seat in range(rewards.shape[2]):
            episode, begun, steps_of = 0, 0, []  # (step, episode)
            for step in range(steps):
                if acts[step, table] and turn[step, table] == seat:
                    steps_of.append((step, episode))
                episode += dones[step, table]
            errors = []
            for k, (step, episode) in enumerate(steps_of):
                follows = k + 1 < len(steps_of) and steps_of[k + 1][1] == episode
                ends = [s for s in range(step, steps) if dones[s, table]]
                until = steps_of[k + 1][0] if follows else (ends[0] + 1 if ends else steps)
                gained = rewards[step:until, table, seat].sum()
                after = values[steps_of[k + 1][0], table] if follows else (0.0 if ends else last[table, seat])
                errors.append((gained + gamma * after - values[step, table], follows))
            begun = 0.0
            for k in range(len(steps_of) - 1, -1, -1):
                error, follows = errors[k]
                begun = error + (gamma * lam * begun if follows and not np.isnan(begun) else 0.0)
                out[steps_of[k][0], table] = begun
    return out


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_advantages_are_those_of_the_definition(seed):
    random = np.random.default_rng(seed)
    steps, tables, seats = random.integers(1, 12), 3, random.integers(1, 5)
    turn = random.integers(seats, size=(steps, tables))
    acts, dones = random.random((steps, tables)) < 0.8, random.random((steps, tables)) < 0.3
    rewards = random.normal(size=(steps, tables, seats)).astype(np.float32)
    values, last = random.normal(size=(steps, tables)).astype(np.float32), random.normal(size=(tables, seats))
    last[random.random(last.shape) < 0.3] = np.nan  # not known
    gamma, lam = random.choice([1.0, 0.9]), random.choice([1.0, 0.95, 0.0])
    out = seat_advantages(turn, acts, rewards, dones, values, last.astype(np.float32), gamma, lam)
    expected = slow_advantages(turn, acts, rewards, dones, values, last, gamma, lam)
    np.testing.assert_allclose(out[acts], expected[acts], atol=1e-4)


def after_one_step(name):
    """Advantages, values and returns of one decision per table, and the values of the seats that decide next."""
    learner, _ = make(name, n_steps=1)
    learner.engine.begin()
    batch = learner.engine.rollout(0, learner._weights())[0]
    tables, critic = learner.engine.collectors[0].tables.tables, learner.game.encoders["full"]
    seen = critic.observations(tables.tables, np.arange(64))
    values = learner._critic(torch.from_numpy(seen))[:, 0].detach().numpy()
    goes_on = ~tables.dones & (tables.rewards == 0).all(axis=1)
    return batch.arrays["returns"][goes_on], values[goes_on]


def test_who_waits_for_the_only_opponent_may_expect_what_that_one_loses():
    returns, values = after_one_step("kuhn")
    assert len(returns) > 20 and np.abs(values).max() > 0.01
    np.testing.assert_allclose(returns, -values, atol=1e-5)
    returns, values = after_one_step("centipede")  # not zero-sum: the value of the waiting seat itself
    assert len(returns) > 20
    assert not np.allclose(returns, -values, atol=1e-3)


@pytest.mark.parametrize(("name", "settings"), [("bargaining", {}), ("trust", {}), ("trust", MIRROR)])
def test_a_seat_that_waits_is_not_valued_by_a_critic_that_never_saw_it(name, settings):
    learner, _ = make(name, n_steps=3, **settings)
    learner.engine.begin()
    (batch,) = learner.engine.rollout(0, learner._weights())
    collector = learner.engine.collectors[0]
    turn, dones = collector._turn, collector._dones
    left_out = set(range(turn.size)) - set(batch.rows.tolist())
    waiting = {
        step * 64 + table
        for table in range(64)
        for step in range(3)
        if not dones[step:, table].any()
        and turn[step, table] not in turn[step + 1 :, table]
        and turn[step, table] != collector.tables.tables.turn[table]
    }
    assert left_out == waiting and waiting
    assert all(np.isfinite(batch.arrays[key][batch.rows]).all() for key in ("advantages", "returns"))


@pytest.mark.parametrize("settings", [{"exploration": 0.2}, {"engine": "ray"}])
def test_mirror_descent_is_refused_where_it_would_be_wrong(settings):
    with pytest.raises(ValueError, match=r"exploration=0\.2: need 0 in auction-v0|needs engine='local' or 'process'"):
        make("auction", **MIRROR, **settings)


def test_schedules():
    schedules = [Schedule(4), Schedule((4, 1, "linear")), Schedule((4, 1)), Schedule((4, 0)), Schedule((0, 4))]
    assert [schedule.at(0.0) for schedule in schedules] == [4.0, 4.0, 4.0, 4.0, 0.0]
    assert [schedule.at(0.5) for schedule in schedules] == [4.0, 2.5, 2.0, 2.0, 2.0]
    assert [schedule.at(1.0) for schedule in schedules] == [4.0, 1.0, 1.0, 0.0, 4.0]
    copies = [pickle.loads(pickle.dumps(schedule)) for schedule in schedules]
    assert copies == schedules and copies[1].at(0.5) == 2.5
    assert Schedule(["4", "1", "linear"]) == schedules[1]  # as on the command line


@pytest.mark.parametrize("values", [[], [1, 2, 3], [1, "linear"], [1, 2, "power"], "cosine", None, [1, 2, "linear", 3]])
def test_values_that_are_no_schedule_are_named(values):
    with pytest.raises(ValueError, match="True: need the start and the end"):
        Schedule(True)
    with pytest.raises(ValueError, match=r"ent_coef=.*: need the start and the end, such as \[0.1, 0.003\], or one"):
        load_config("kuhn", algorithm="selfplay", ent_coef=values)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"action_values": True, "kl_coef": Schedule((1.0, 5.0))}])
def test_it_learns_kuhn_poker(more):
    """By the exact best response, after some seconds of self-play; uniform play has a NashConv of 0.92."""
    budget = {"total_timesteps": 1_000_000, "n_envs": 256, "n_steps": 16, "batch_size": 1024}
    entropy = {"ent_coef": Schedule((0.1, 0.02)), "learning_rate": Schedule((2e-3, 1e-4)), "average_decay": 0.998}
    learner, _ = make(net_arch=(64,), critic_net_arch=(64,), **budget, **entropy, **more)
    tree = flat_tree(game("kuhn"))
    assert nash_conv(tree, tree.uniform()) > 0.9
    learner.fit(Monitor(learner, 10**9))
    assert nash_conv(tree, tree.strategy_of(learner.policy())) < 0.2  # 0.1 as a rule


def test_opponents_sit_at_their_share_of_the_tables_only():
    holdem = game("holdem", seats=3)
    tables = SelfPlayTables(holdem, 12, Pool(["call"]), opponent_tables=6)
    tables.reset(seed=1)
    seats_of_learner = {row: set() for row in range(12)}
    for _ in range(200):
        acts, turn = tables.learner_acts.copy(), tables.tables.turn.copy()
        for row in np.flatnonzero(acts):
            seats_of_learner[row].add(int(turn[row]))
        assert acts[6:].all() and not acts[:6].all()
        actions = tables.tables.sample()
        actions[~acts] = 0  # not the learner's to choose: the opponent's call takes its place
        tables.step(actions)
    assert all(seats == {0, 1, 2} for seats in seats_of_learner.values())  # the seat moves on with every episode
    assert tables.episodes > 20


def test_at_mixed_tables_the_learner_plays_none_half_or_all_of_a_team():
    mafia = game("mafia")
    tables = SelfPlayTables(mafia, 30, Pool(["loyal"]), opponent_tables=5, mixed_tables=20)
    tables.reset(seed=1)
    learner = np.zeros((30, 10), np.bool_)
    for _ in range(30):
        acts, turn = tables.learner_acts.copy(), tables.tables.turn.copy()
        learner[np.flatnonzero(acts), turn[acts]] = True
        assert acts[25:].all()
        tables.step(np.where(acts, tables.tables.sample(), 0))
    assert learner[:5].sum(axis=1).max() <= 2  # its seat, and the next one if an episode has ended
    assert 60 < learner[5:25].sum() < 140  # about half of 200 seats
    assert len({row.tobytes() for row in learner[5:25]}) > 10


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("holdem", {"chance_samples": 20}),
        ("holdem", {"opponent_tables": 0.5, "bots": {"call": 1.0, "tight": 1.0}}),
        ("leduc", {**MIRROR, "exploration": 0.3, "reference_every": 1, "n_steps": 3}),
        pytest.param(
            "mafia",
            {"relabel": True, "mixed_tables": 0.5, "bots": {"mixed": 1.0}, "adam_beta1": 0.5, "n_envs": 16},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_resumed_run_goes_on_as_if_it_had_not_stopped(tmp_path, name, settings):
    same = {"average_decay": 0.9, "kl_coef": Schedule(0.1), **settings}
    whole, _ = make(name, **same)
    whole.fit(Monitor(whole, 4))
    first, league = make(name, **same)
    first.fit(Monitor(first, 2))
    first.save(tmp_path)
    second = Learner.load(tmp_path, first.config, first.game, league)
    assert second.timesteps == first.timesteps > 0
    second.fit(Monitor(second, 2))
    assert second.timesteps == whole.timesteps
    np.testing.assert_array_equal(weights(second), weights(whole))
    np.testing.assert_array_equal(second.policy().layers[0][0], whole.policy().layers[0][0])


def with_opponents(folder, name, **settings):
    constant = {"learning_rate": 1e-3, "ent_coef": 0.05}  # the budget changes nothing
    opponents = {"opponent_tables": 0.75, "past_checkpoints": 0.5}
    plan = {**TINY, **constant, **opponents, "checkpoint_every": 700, "run": folder / name, **settings}
    return load_config("holdem", **plan)


@pytest.mark.parametrize("stop", [900, 1500])  # with the next checkpoint due, and not
def test_a_resumed_run_meets_the_same_opponents(tmp_path, stop):
    whole = train(with_opponents(tmp_path, "whole", total_timesteps=3000))
    stopped = train(with_opponents(tmp_path, "stopped", total_timesteps=stop))
    (stopped / "checkpoints" / "2999.npz").write_bytes((stopped / "policy.npz").read_bytes())  # a kill before the save
    resume(stopped, total_timesteps=3000)
    (stopped / "checkpoints" / "2999.npz").unlink()
    names = [sorted(file.name for file in (run / "checkpoints").iterdir()) for run in (whole, stopped)]
    assert names[0] == names[1] and len(names[0]) >= 4
    one, other = (MlpPolicy.load(run / "policy.npz") for run in (whole, stopped))
    for (weights, biases), (others, other_biases) in zip(one.layers, other.layers, strict=True):
        np.testing.assert_array_equal(weights, others)
        np.testing.assert_array_equal(biases, other_biases)
    returns = [[one["rollout/return"] for one in lines(run / "metrics.jsonl")] for run in (whole, stopped)]
    assert returns[0] == returns[1]


def test_the_critic_may_see_everything_and_the_policy_may_not():
    learner, _ = make("holdem")
    policy = learner.policy()
    assert policy.encoder == "v0" and policy.inputs == learner.game.encoders["v0"].layout.size
    assert policy.critic_network is None  # it needs hidden information: nobody may ask it
    assert learner._critic[0].in_features == learner.game.encoders["full"].layout.size
    with pytest.raises(ValueError, match="full"):
        make("holdem", encoder="full")
    newer, _ = make("holdem", encoder="v1")
    assert newer._critic[0].in_features == newer.game.encoders["full_v1"].layout.size


def test_averaged_weights_follow_slowly_and_forget_the_first_ones():
    learner, _ = make(average_decay=0.9999)
    steps, first = [], learner.policy().layers[0][0].copy()
    step = learner._step

    def noted(*given):
        step(*given)
        steps.append(learner._actor[0].weight.detach().numpy().T.copy())

    learner._step = noted
    learner.fit(Monitor(learner, 12))
    expected, share = steps[0], 1.0
    for number, weights_then in enumerate(steps[1:], 2):
        rate = max(1e-4, 2 / (1 + number))
        expected, share = expected + rate * (weights_then - expected), share * (1 - rate)
    average = learner.policy().layers[0][0]
    np.testing.assert_allclose(average, expected, atol=1e-5)
    assert np.abs(average - steps[-1]).sum() > 0
    assert np.abs(average - steps[-1]).sum() < np.abs(first - steps[-1]).sum() / 2


@pytest.mark.parametrize("prior", ["actions", "action_types"])
def test_the_entropy_bonus_pushes_towards_its_prior(prior):
    settings = {"ent_coef": Schedule(100.0), "learning_rate": Schedule((1e-2, 1e-3)), "average_decay": 0.95}
    learner, _ = make("holdem", ent_prior=prior, total_timesteps=100 * 512, **settings)
    for net in (learner._actor, learner._average):
        torch.nn.init.normal_(net[-1].bias)  # not even at the beginning
    learner.fit(Monitor(learner, 100))
    made = learner.game
    tables = made.tables(1)
    tables["stream"] = 7
    made.rules.reset(tables[0])
    seat = int(tables[0].turn)
    seen, mask = made.encoders[made.encoder].observation(tables[0], seat), made.mask(tables[0], seat)
    told, raises = learner.policy().probabilities(seen[None], mask[None])[0], np.flatnonzero(mask[2:]) + 2
    share = len(raises) / mask.sum() if prior == "actions" else 1 / 3  # fold, call, raise
    assert len(raises) > 5
    np.testing.assert_allclose(told[raises], share / len(raises), atol=0.04)
    np.testing.assert_allclose(told[:2], (1 - share) / 2, atol=0.06)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"net_arch": (0,)}, "net_arch"),
        ({"learning_rate": Schedule((1e-3, 0.0))}, "learning_rate=0.0: need a number above 0"),
        ({"ent_prior": "kinds"}, "ent_prior"),
        ({"average_decay": 1.0}, "average_decay=1"),
        ({"adam_beta1": -0.1}, "adam_beta1=-0.1"),
        ({"action_values": True}, "action_values needs kl_coef above 0"),
        ({"update": "mirror_descent"}, "needs action_values: give --set action_values=true kl_coef=3.5"),
        (
            {"update": "mirror_descent", "action_values": True, "kl_coef": Schedule(3.5), "engine": "gpu"},
            "not engine='gpu'",
        ),
        ({"exploration": 0.1}, "exploration=0.1: needs update='mirror_descent'"),
        ({"kl_coef": Schedule((0.0, -1.0))}, "kl_coef=-1.0"),
        ({"opponent_tables": 0.6, "mixed_tables": 0.5}, "together at most 1"),
        ({"engine": "cloud"}, "engine"),
        ({"device": "tpu"}, "device='tpu': need cpu, or cuda"),
    ],
)
def test_a_wrong_setting_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        SelfPlayConfig(game="holdem", **settings)


def test_chance_samples_need_a_game_with_expected_rewards():
    with pytest.raises(ValueError, match="chance_samples=5: kuhn-v0 cannot tell its expected rewards; need 0"):
        make("kuhn", chance_samples=5)


@pytest.mark.parametrize("network", ["mlp", "seats"])
def test_the_saved_policy_has_the_temperature_and_the_learner_has_none(network):
    settings = {"network": network, "net_arch": (32, 32), "average_decay": 0.9}
    (warm, _), (cold, _) = make(**settings), make(temperature=0.25, **settings)
    for learner in (warm, cold):
        learner.fit(Monitor(learner, 2))
    torch.testing.assert_close(warm._actor.state_dict(), cold._actor.state_dict(), rtol=0, atol=0)
    random, size = np.random.default_rng(5), warm.game.encoders["v0"].layout.size
    observations = random.random((64, size), np.float32)
    masks = (random.random((64, warm.game.num_actions)) < 0.7).astype(np.int8)
    masks[:, :2] = 1
    before, after = (learner.policy().probabilities(observations, masks) for learner in (warm, cold))
    powers = before.astype(np.float64) ** 4
    np.testing.assert_allclose(after, powers / powers.sum(axis=1, keepdims=True), atol=1e-5)
    assert (after.max(axis=1) > before.max(axis=1)).all()


def test_settings_without_effect_are_named(tmp_path, capsys):
    quiet = {"total_timesteps": 1, **TINY}
    train(load_config("kuhn", bots={"honest": 1}, run=tmp_path / "a", **quiet))
    told = " ".join(capsys.readouterr().err.split())
    assert "without effect beside the other settings: bots" in told
    used = {"opponent_tables": 0.5}
    train(load_config("kuhn", bots={"honest": 1}, run=tmp_path / "b", **used, **quiet))
    assert "without effect" not in capsys.readouterr().err
