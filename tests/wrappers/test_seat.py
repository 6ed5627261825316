"""A learner's seat: whose reward is whose, what happens at an end, who plays against whom."""

import dataclasses
import warnings

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.utils import env_checker
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from parlour.envs import Capabilities, Teams, VectorGame, game, holdem_v0
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.rl.gymnasium_env import SingleAgentEnv, SingleAgentVectorEnv, TablesVectorEnv
from parlour.wrappers.rl.sb3 import sb3_env
from parlour.wrappers.rl.tables import Pool, SingleAgentTables
from policies import Acting, Always
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env

FOLD, CALL = 0, 1


def play(seats, steps, seed=0):
    policy = RandomPolicy(seed)
    for _ in range(steps):
        seats.step(policy.act(seats.observations, seats.masks))
        yield


def test_what_opponents_do_after_the_learners_last_decision_is_its_reward():
    """The learner raises, the opponent folds later: the blinds are the learner's, on the step in which it raised."""
    seats = SingleAgentTables(game("holdem", seats=2, button=0), 4, Always(FOLD), seat=0)
    seats.reset(seed=1)
    seats.step(np.full(4, 2))
    assert seats.dones.all()
    assert (seats.rewards == 1).all()


def test_episodes_without_a_decision_are_rolled_over_and_counted():
    folder = Always(FOLD)
    seats = SingleAgentTables(
        game("holdem", seats=2), 32, folder, seat=0
    )  # the button is drawn: half of all hands are walks
    seats.reset(seed=1)
    assert (seats.tables.turn == 0).all()
    walks, total, results = int(seats.skipped.sum()), float(seats.skipped_returns.sum()), 0
    for _ in range(50):
        seats.step(np.full(32, FOLD))
        assert (seats.rewards == -0.5).all()  # never what a walk brought
        walks += int(seats.skipped.sum())
        total += float(seats.skipped_returns.sum())
        results += int(seats.dones.sum())
    assert walks > 0
    assert total == 0.5 * walks
    assert seats.episodes == walks + results
    assert seats.winnings == pytest.approx(0.5 * walks - 0.5 * results)


def test_step_rewards_sum_to_the_episodes_result_over_several_hands():
    """With 20 hands an episode, hands are won and lost before the first decision and between decisions."""
    holdem = game("holdem", seats=3, hands=20)
    seats = SingleAgentTables(holdem, 16, ["random", Always(FOLD)])
    seats.reset(seed=4)
    sums, ends = np.zeros(16), 0
    for _ in play(seats, 300):
        sums += seats.rewards
        rows = np.flatnonzero(seats.dones)
        for table, seen in zip(rows, seats.final_observations(rows), strict=True):
            assert sums[table] == pytest.approx(seats.returns[table])
            final = holdem.layout["outcome.payoffs"].start  # own payoff, in hundreds of big blinds
            assert seen[final] * 100 == pytest.approx(seats.returns[table], abs=1e-4)
            sums[table] = 0
            ends += 1
    assert ends > 20


def test_the_learner_plays_its_seat_and_rotating_takes_turns():
    seats = SingleAgentTables(game("holdem", seats=3), 6, "random", seat=2)
    seats.reset(seed=1)
    for _ in play(seats, 30):
        assert (seats.tables.turn == 2).all()
    rotating = SingleAgentTables(game("holdem", seats=3), 6, "random")
    rotating.reset(seed=1)
    before = rotating.seat.copy()
    for _ in play(rotating, 30):
        assert (rotating.tables.turn == rotating.seat).all()
        np.testing.assert_array_equal(rotating.seat, (before + rotating.dones + rotating.skipped) % 3)
        before = rotating.seat.copy()


def two_teams(tables):
    return np.tile(np.int8([0, 0, 1, 1]), (len(tables), 1))


def test_a_pool_draws_one_policy_for_each_team():
    """Seats 0 and 1 play together, and 2 and 3; here they are told apart by who bids what."""
    auction = dataclasses.replace(
        game("auction", seats=4, rounds=1), capabilities=Capabilities(teams=Teams(("first", "second"), two_teams))
    )
    low, high, highest = (Always(number) for number in (1, 50, 100))
    seats = SingleAgentTables(auction, 64, Pool([low, high, highest], weights=[0, 1, 1], teammate_weights=[1, 0, 0]))
    seats.reset(seed=3)
    against = set()
    for _ in range(20):
        bids = seats.tables.tables.bid.copy()
        for table, seat in enumerate(seats.seat):
            mate, rivals = seat ^ 1, (2, 3) if seat < 2 else (0, 1)
            assert bids[table, mate] == (1 if mate < seat else 0)  # who comes later has not bid yet
            before = {float(bids[table, rival]) for rival in rivals if rival < seat}
            assert len(before) <= 1
            against |= before
        seats.step(np.full(64, 7))
    assert against == {50.0, 100.0}


def test_same_seed_same_everything_and_the_deals_of_the_plain_tables():
    holdem = game("holdem", seats=2)

    def record(seats, seed):
        seats.reset(seed=seed)
        rows = [seats.observations.copy()]
        for _ in play(seats, 40):
            rows += [seats.observations.copy(), seats.rewards.copy()]
        return rows

    seats = SingleAgentTables(holdem, 8, Pool(["random", "maniac", "tight"]))
    first = record(seats, 5)
    again = record(seats, 5)  # also from the same object, used before
    other = record(SingleAgentTables(holdem, 8, Pool(["random", "maniac", "tight"])), 5)
    for one, two, three in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, three)
    assert any((one != two).any() for one, two in zip(first, record(seats, 6), strict=True))
    tables = VectorGame(holdem, 8)
    tables.reset(seed=5)
    seats = SingleAgentTables(holdem, 8, "call")
    seats.reset(seed=5)
    untouched = (tables.turn == seats.seat) & (seats.skipped == 0)
    np.testing.assert_array_equal(tables.observations[untouched], seats.observations[untouched])
    assert untouched.any()


def test_opponents_are_one_for_each_seat_or_drawn_by_weight():
    holdem, never, always = game("holdem", seats=3), Always(CALL), Always(CALL)
    seats = SingleAgentTables(holdem, 8, [Always(CALL), Always(CALL)], seat=0)
    seats.reset(seed=1)
    assert (seats._seating.who[:, 1:] == [0, 1]).all()
    seats = SingleAgentTables(holdem, 8, Pool([always, never], weights=[1, 0]))
    seats.reset(seed=1)
    for _ in play(seats, 20):
        pass
    assert always.asked > 0 == never.asked


WRONG = Acting(lambda observations, masks: np.full(len(masks), 99))


def stepped(actions, opponents="call", begun=True):
    seats = SingleAgentTables(game("holdem", seats=2), 2, opponents)
    if begun:
        seats.reset(seed=1)
    seats.step(actions)


def at_three(*args, **options):
    return lambda: SingleAgentTables(game("holdem", seats=3), 1, *args, **options)


def empty_seat():
    SingleAgentTables(game("holdem", seats=3, stacks=[200, 0, 200]), 1, "call", seat=1).reset(seed=1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (at_three(["call", "call", "call"]), "3 opponents for 2 other seats"),
        (at_three("tigt"), "did you mean 'tight'"),
        (at_three(3), "opponents=3: give names"),
        (lambda: Pool(["call", "random"], [1]), "weights"),
        (lambda: Pool(["random", "random"], teammate_weights=[1]), r"teammate_weights=\[1\]: give 2 numbers"),
        *((at_three(seat=seat), f'seat={seat!r}: need "rotate" or a whole') for seat in (3, -1, True, "rotated", 1.0)),
        *((at_three(random_start_steps=steps), "the least number") for steps in ((-1, 3), (4, 3))),
        (lambda: stepped([1, 1], WRONG), r"an opponent played .*action 99 is not legal"),
        (empty_seat, "seat 1 had no decision"),  # and no endless loop
        (lambda: stepped([1, 1], begun=False), "before reset"),
        (lambda: stepped([1, 1, 1]), r"shape \(3,\)"),
        (lambda: stepped([1.7, 1]), "float64; an integer dtype is needed"),
    ],
)
def test_wrong_calls_are_explained(call, words):
    with pytest.raises((ValueError, RuntimeError), match=words):
        call()


def test_the_checkers_of_gymnasium_and_stable_baselines():
    env = gymnasium.make("parlour/Holdem-v0", opponents="random", seats=2).unwrapped
    assert isinstance(env, SingleAgentEnv)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        env_checker.check_env(env)
        check_env(env)


def test_seat_env_ends_with_the_finished_table_and_then_wants_a_reset():
    env = SingleAgentEnv("holdem", seats=2, opponents="call", render_mode="ansi")
    _, info = env.reset(seed=3)
    assert "player" in env.render().lower()
    total, terminated = 0.0, False
    while not terminated:
        assert info["action_mask"][CALL]
        np.testing.assert_array_equal(env.action_masks(), info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(CALL)
        total += reward
        assert not truncated
    layout = env.game.layout
    assert observation[layout["game_over"].start] == 1
    assert observation[layout["outcome.payoffs"].start] * 100 == pytest.approx(total, abs=1e-4)
    assert info["episode_return"] == total
    assert not env.action_masks().any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(CALL)
    observation, info = env.reset()
    assert observation[layout["game_over"].start] == 0
    assert info["action_mask"].any()


def test_seat_env_and_vector_env_play_the_same_episodes():
    one = SingleAgentEnv("holdem", seats=2, opponents="call", seat=0)
    many = SingleAgentVectorEnv("holdem", num_envs=1, seats=2, opponents="call", seat=0)
    seen, _ = one.reset(seed=9)
    rows, infos = many.reset(seed=9)
    policy = RandomPolicy(2)
    for _ in range(60):
        np.testing.assert_array_equal(seen, rows[0])
        action = policy.act(rows, infos["action_mask"])
        seen, reward, terminated, _, _ = one.step(action[0])
        rows, rewards, terminations, truncations, infos = many.step(action)
        assert reward == rewards[0]
        assert terminated == terminations[0]
        assert not truncations[0]
        if terminated:
            np.testing.assert_array_equal(seen, infos["final_obs"][0])
            seen, _ = one.reset()


def test_make_vec_gives_one_seat_per_table():
    env = gymnasium.make_vec("parlour/Holdem-v0", num_envs=5, seats=4, opponents="random")
    assert isinstance(env.unwrapped, SingleAgentVectorEnv)
    observations, infos = env.reset(seed=1)
    assert env.observation_space.contains(observations)
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    for _ in range(30):
        masks = infos["action_mask"]
        observations, rewards, terminations, truncations, infos = env.step(masks.argmax(axis=1))
        assert env.observation_space.contains(observations)
        assert rewards.shape == terminations.shape == truncations.shape == (5,)
        for table in np.flatnonzero(terminations):
            assert env.single_observation_space.contains(infos["final_obs"][table])
    kept = observations.copy()
    env.step(env.unwrapped.action_masks().argmax(axis=1))
    np.testing.assert_array_equal(observations, kept)  # what was returned is the caller's
    with pytest.raises(ValueError, match="every table a seed"):
        env.reset(seed=[1, None, 2, 3, 4])


def test_an_opening_is_played_by_chance_in_every_seat():
    seats = SingleAgentTables(
        game("bargaining"), 512, Always(100), random_start_steps=(6, 6)
    )  # the opponents demand the whole pie
    seats.reset(seed=0)
    moves = seats.tables.tables.moves
    assert (moves <= 7).all()  # the opponent may have the first decision after the opening
    assert (moves >= 6).mean() > 0.9  # some openings end in an agreement and go on in the next episode
    offers = seats.tables.tables.log_share[moves >= 6, :6]
    assert len(np.unique(offers)) == 101
    assert seats.episodes == 0


def test_what_an_opening_brings_is_nobodys_reward():
    """Chance agrees now and then while it opens: that is no episode, and no winnings of the learner."""
    seats = SingleAgentTables(
        game("bargaining", reservations=(0, 0)), 256, Always(100), seat=1, random_start_steps=(15, 15)
    )
    seats.reset(seed=0)
    total, pass_ = np.zeros(256), 103
    for _ in range(30):
        seats.step(np.full(256, pass_))
        total += seats.rewards
    assert seats.episodes > 256
    assert seats.winnings == total.sum() == 0


def test_it_is_a_vector_env_with_spaces_and_metadata():
    env = TablesVectorEnv("holdem", 5, seats=3)
    assert isinstance(env, VectorEnv)
    learner = gymnasium.make_vec("parlour/Kuhn-v0", num_envs=2).unwrapped
    for one in (env, learner):  # skrl's wrap_env looks for gymnasium in the direct bases
        assert any(base.__module__.startswith("gymnasium.") for base in type(one).__bases__)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert (env.observation_space.shape, env.action_space.shape) == ((5, env.tables.observations.shape[1]), (5,))
    assert env.single_action_space == gymnasium.spaces.Discrete(game("holdem", seats=3).num_actions)


def test_it_plays_what_the_tables_play():
    env, tables = TablesVectorEnv("holdem", 16, seats=3), holdem_v0.vector_env(16, seats=3)
    observations, infos = env.reset(seed=9)
    tables.reset(seed=9)
    returns, ended = np.zeros((16, 3)), 0
    for _ in range(60):
        assert np.array_equal(observations, tables.observations)
        assert np.array_equal(infos["turn"], tables.turn)
        assert np.array_equal(infos["action_mask"], tables.action_masks)
        actions, acted = tables.sample(), tables.turn.copy()
        tables.step(actions)
        assert env.observation_space.contains(observations)
        observations, rewards, terminations, truncations, infos = env.step(actions)
        assert (terminations.dtype, truncations.dtype) == (np.bool_, np.bool_)
        assert np.array_equal(rewards, tables.rewards[np.arange(16), acted])
        assert np.array_equal(infos["rewards"], tables.rewards)
        assert np.array_equal(terminations | truncations, tables.dones)
        returns += tables.rewards
        for table in np.flatnonzero(tables.dones):
            assert infos["_episode_return"][table]
            assert infos["episode_return"][table].tolist() == returns[table].tolist()
            returns[table] = 0
            ended += 1
    assert ended > 10


def test_the_final_observation_is_of_the_seat_that_acted_last():
    env = TablesVectorEnv("holdem", 1, seats=2, button=0)
    env.reset(seed=4)
    aec = holdem_v0.raw_env(seats=2, button=0, observation="flat")
    aec.reset(seed=4)
    aec.step(0)
    _, rewards, terminations, _, infos = env.step(np.array([0]))
    assert (terminations.tolist(), rewards.tolist(), infos["episode_length"].tolist()) == ([True], [-1.0], [1])
    assert np.array_equal(infos["final_obs"][0], aec.observe("player_0")["observation"])


def test_gymnasiums_own_wrappers_take_it():
    env = RecordEpisodeStatistics(TablesVectorEnv("kuhn", 8))
    _, infos = env.reset(seed=1)
    lengths = []
    for _ in range(20):
        *_, infos = env.step(env.env.tables.sample())
        lengths += infos["episode"]["l"][infos["_episode"]].tolist() if "episode" in infos else []
    assert {2, 3} <= set(lengths) <= {1, 2, 3}  # Gymnasium 1.1 counts wrong after an end


OPTIONS_REFUSED = [
    ({"cards": [["As", "Ah"], None], "board": ["2c"]}, "cards, board: drawn here"),
    ({"reset_mask": np.array([True, False])}, "reset_mask: a finished table begins its next episode by itself"),
    ({"other": 1}, "options={'other': 1}: reset\\(\\) takes none here"),
    ([], r"options=\[\]: give a dict, such as {}, or None"),
    ("cards", "options='cards': give a dict"),
]


@pytest.mark.parametrize(("options", "words"), OPTIONS_REFUSED)
def test_options_are_refused_and_change_nothing(options, words):
    makers = [
        lambda: gymnasium.make("parlour/Holdem-v0", seats=2).unwrapped,
        lambda: gymnasium.make_vec("parlour/Holdem-v0", num_envs=2, seats=2),
        lambda: TablesVectorEnv("holdem", 2, seats=2),
    ]
    for make in makers:
        env, twin = make(), make()
        env.reset(seed=1)
        twin.reset(seed=1)
        with pytest.raises(ValueError, match=words):
            env.reset(seed=5, options=options)
        assert np.array_equal(env.reset(options={})[0], twin.reset()[0])


def test_an_action_that_is_not_legal_is_played_as_the_safe_one():
    env = TablesVectorEnv("holdem", 4, seats=2, stacks=3, button=0)
    env.reset(seed=1)
    _, rewards, terminations, _, infos = env.step(np.array([3, 99, -1, 1]))  # a raise that the stack does not allow
    assert infos["illegal"].tolist() == terminations.tolist() == [True, True, True, False]
    assert rewards.tolist() == [-1, -1, -1, 0]


torch.set_num_threads(1)


def test_masks_are_found_by_maskable_ppo():
    env = sb3_env("holdem", n_envs=7, seats=2)
    env.seed(1)
    env.reset()
    assert is_masking_supported(env)
    np.testing.assert_array_equal(get_action_masks(env), env.seats.masks.astype(bool))
    assert env.env_method("action_masks", indices=[2, 5]).shape == (2, 10)
    assert env.get_attr("num_envs", indices=3) == [7]
    for index in (1, np.int64(1), [np.int32(1)]):
        np.testing.assert_array_equal(env.env_method("action_masks", indices=index), env.action_masks()[[1]])
    with pytest.raises(IndexError):
        env.get_attr("num_envs", indices=7)
    assert not env.has_attr("no_such_thing")
    assert env.env_is_wrapped(object) == [False] * 7


def test_steps_are_those_of_the_seats():
    env = sb3_env("holdem", n_envs=6, seats=2, opponents="call", reward_scale=0.5)
    seats = SingleAgentTables(game("holdem", seats=2), 6, "call")
    env.seed(4)
    seats.reset([4, 5, 6, 7, 8, 9])
    np.testing.assert_array_equal(env.reset(), seats.observations)
    ended = 0
    for _ in range(40):
        actions = seats.tables.sample()
        observations, rewards, dones, infos = env.step(actions)
        seats.step(actions)
        np.testing.assert_array_equal(observations, seats.observations)
        np.testing.assert_allclose(rewards, seats.rewards / 2)
        np.testing.assert_array_equal(dones, seats.dones)
        for table in np.flatnonzero(dones):
            assert infos[table]["episode"]["r"] == seats.returns[table]
            assert infos[table]["episode"]["l"] == seats.lengths[table]
            assert infos[table]["TimeLimit.truncated"] is False
            final = seats.final_observations(np.array([table]))[0]
            np.testing.assert_array_equal(infos[table]["terminal_observation"], final)
            assert final[seats.layout["game_over"].start] == 1
        assert all(infos[table] == {} for table in np.flatnonzero(~dones))
        ended += int(dones.sum())
    assert ended > 10


def test_options_and_attributes_of_single_tables_are_refused():
    env = sb3_env("holdem", n_envs=2, seats=2)
    env.set_options({})
    env.set_options([{}, None])
    for wrong, words in [
        ({"cards": [["As", "Ah"]]}, "cards: drawn here"),
        ([{}, {"board": ["2c"]}], "board: drawn here"),
        ([], r"options=\[\]: give a dict"),
        ([{}], r"options=\[\{\}\]: give a dict"),
    ]:
        with pytest.raises(ValueError, match=words):
            env.set_options(wrong)
    with pytest.raises(ValueError, match="reward_scale is one for all tables"):
        env.set_attr("reward_scale", 2.0, indices=[0])
    env.set_attr("reward_scale", 2.0, indices=[0, 1])
    assert env.get_attr("reward_scale") == [2.0, 2.0]


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        (MaskablePPO, {"n_steps": 16, "batch_size": 64}),
        (PPO, {"n_steps": 16, "batch_size": 64}),
        (DQN, {"learning_starts": 32, "buffer_size": 500}),
    ],
)
def test_algorithms_learn_with_masks_and_without(algorithm, settings):
    env = sb3_env("holdem", n_envs=8, seats=2, opponents="call", reward_scale=0.01)
    model = algorithm("MlpPolicy", env, seed=1, device="cpu", **settings)
    model.learn(256)
    assert model.num_timesteps == 256
    assert len(model.ep_info_buffer) > 0
    assert bool(env.seats.illegal.any()) <= (algorithm is not MaskablePPO)
