"""A learner's seat: whose reward is whose, what happens at an end, who plays against whom."""

import dataclasses

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from parlour.envs import Capabilities, Teams, VectorGame, game
from parlour.wrappers.policies.base import RandomPolicy
from parlour.wrappers.rl.gymnasium_env import (
    SingleAgentEnv,
    SingleAgentVectorEnv,
    make_single_agent_env,
    make_single_agent_vector_env,
)
from parlour.wrappers.rl.opponents import Pool
from parlour.wrappers.rl.single_agent import SingleAgentTables

FOLD, CALL = 0, 1


class Always:
    """Plays one action; calls where it is masked. Counts the decisions it is asked for."""

    def __init__(self, action):
        self.action = action
        self.asked = 0

    def act(self, observations, masks):
        self.asked += len(masks)
        return np.where(masks[:, self.action], self.action, CALL)


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


@pytest.mark.parametrize("seats", [2, 5])
def test_every_chip_is_booked_once(seats):
    """The learner's results and its opponents' sum to zero: what the tables paid its seat is what was booked."""
    tables = SingleAgentTables(game("holdem", seats=seats), 16, Pool(["random", "maniac"]))
    paid = np.zeros(16)
    step = tables.tables.step_with_ends

    def watched(moves, keep):
        seat = tables.seat.copy()
        ends = step(moves, keep)
        paid.__iadd__(tables.tables.rewards[np.arange(16), seat] / 2)
        return ends

    tables.tables.step_with_ends = watched
    tables.reset(seed=6)
    for _ in play(tables, 100):
        pass
    unfinished = tables._result.sum()
    assert tables.winnings + unfinished == pytest.approx(paid.sum())


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
    with pytest.raises(ValueError, match=r"teammate_weights=\[1\]: give 2 numbers"):
        Pool(["random", "random"], teammate_weights=[1])


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


def test_opponents_one_each_per_seat_or_drawn():
    holdem = game("holdem", seats=3)
    left, right = Always(CALL), Always(CALL)
    seats = SingleAgentTables(holdem, 8, [left, right], seat=0)
    seats.reset(seed=1)
    assert (seats._seating.who[:, 1] == 0).all()
    assert (seats._seating.who[:, 2] == 1).all()
    never, always = Always(CALL), Always(CALL)
    seats = SingleAgentTables(holdem, 8, Pool([always, never], weights=[1, 0]))
    seats.reset(seed=1)
    for _ in play(seats, 20):
        pass
    assert always.asked > 0
    assert never.asked == 0
    with pytest.raises(ValueError, match="3 opponents for 2 other seats"):
        SingleAgentTables(holdem, 1, ["call", "call", "call"])
    with pytest.raises(ValueError, match="did you mean 'tight'"):
        SingleAgentTables(holdem, 1, "tigt")
    with pytest.raises(ValueError, match="weights"):
        Pool(["call", "random"], [1])
    for wrong in (3, -1, True, "rotated", 1.0):
        with pytest.raises(ValueError, match=f'seat={wrong!r}: need "rotate" or a whole number, from 0 to 2'):
            SingleAgentTables(holdem, 1, seat=wrong)


def test_an_opponent_that_plays_a_masked_action_is_distinguished_from_the_learner():
    class Wrong:
        def act(self, observations, masks):
            return np.full(len(masks), 99)

    seats = SingleAgentTables(game("holdem", seats=2), 2, Wrong())
    with pytest.raises(ValueError, match=r"an opponent played .*action 99 is not legal"):
        seats.reset(seed=1)
        seats.step([1, 1])


def test_wrong_calls_are_explained():
    with pytest.raises(ValueError, match="opponents=3: give names"):
        SingleAgentTables(game("holdem", seats=2), 2, 3)
    seats = SingleAgentTables(game("holdem", seats=2), 2)
    with pytest.raises(ValueError, match="before reset"):
        seats.step([1, 1])
    seats.reset(seed=1)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        seats.step([1, 1, 1])
    with pytest.raises(ValueError, match="float64; an integer dtype is needed"):
        seats.step([1.7, 1])


@pytest.mark.filterwarnings("error::UserWarning")
@pytest.mark.parametrize("opponents", ["random", "call", "tight"])
def test_gymnasiums_checker(opponents):
    env = gymnasium.make("parlour/Holdem-v0", opponents=opponents, seats=2)
    assert isinstance(env.unwrapped, SingleAgentEnv)
    check_env(env.unwrapped)


def test_seat_env_ends_with_the_finished_table_and_then_wants_a_reset():
    env = make_single_agent_env(game="holdem", seats=2, opponents="call", render_mode="ansi")
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
    one = make_single_agent_env(game="holdem", seats=2, opponents="call", seat=0)
    many = make_single_agent_vector_env(game="holdem", num_envs=1, seats=2, opponents="call", seat=0)
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


@pytest.mark.parametrize("opening", [(-1, 3), (4, 3)])
def test_random_start_steps_that_cannot_be_drawn_are_named(opening):
    with pytest.raises(ValueError, match="the least number"):
        SingleAgentTables(game("bargaining"), 4, "fair", random_start_steps=opening)
