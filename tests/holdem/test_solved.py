"""Hold'em solved from samples: equities, buckets, betting trees, and the policy that plays a solved strategy."""

import zlib
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.core.rollout import play_until_done
from parlour.envs.holdem.hands import card_number
from parlour.envs.holdem.ranges import HOLDINGS, equities, possible
from parlour.training.commands.measures import BatteryArguments, battery
from parlour.training.learning.settings import LearnerArguments
from parlour.training.solving import holdem_tree
from parlour.training.solving.problems import AbstractedProblem, sampled_response
from parlour.training.solving.sampled import END, Sampling, grow
from parlour.wrappers.policies import buckets, solved
from parlour.wrappers.policies.base import TrainedFor
from parlour.wrappers.policies.buckets import board_buckets, place_of, pocket, texture
from parlour.wrappers.policies.loading import load_policy, make_policy
from parlour.wrappers.policies.solved import SolvedPolicy

RANDOM = np.random.default_rng(5)


@cache
def game():
    return envs.game("holdem", seats=2)


@cache
def some_tables():
    """Tables in which all boards have the same row: what hands are worth is random, and quick to have."""
    random = np.random.default_rng(1)
    flops, turns = (random.integers(0, 256, (1, len(HOLDINGS), 2)).astype(np.uint8) for _ in range(2))
    rows = [(np.zeros(count, np.int16), np.zeros(count, np.int8)) for count in (22_100, 270_725)]
    return buckets.EquityTables(*rows[0], flops, *rows[1], turns)


@pytest.fixture(autouse=True)
def quick_tables(monkeypatch, tmp_path):
    for module in (holdem_tree, solved):
        monkeypatch.setattr(module, "equity_tables", some_tables)
    monkeypatch.setattr(solved, "cached", lambda: [tmp_path])
    monkeypatch.setattr(solved, "computed_worth", lambda board: some_tables().flops[0])


@cache
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holdem_tree, "equity_tables", some_tables)
        problem = AbstractedProblem(game(), sampling=Sampling(seed=1), small=True)
    for solver in problem.solvers:
        solver.run(150)
    return problem


@cache
def large():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holdem_tree, "equity_tables", some_tables)
        return AbstractedProblem(game(), sampling=Sampling(seed=1))


def started(seed):
    tables = game().tables(1)
    tables.stream = streams(seed, 1)
    return tables


def others(hand, board):
    free = np.empty(len(HOLDINGS), bool)
    known = np.array([*hand, *board], np.int8)
    possible(HOLDINGS, known, len(known), free)
    return HOLDINGS[free]


def test_what_a_hand_is_worth_on_a_turn_is_its_mean_equity_and_suits_can_be_renamed():
    board = tuple(RANDOM.permutation(52)[:4].tolist())
    worth = buckets.computed_worth(board)
    h = next(h for h in range(700, 1326) if not {*HOLDINGS[h].tolist()} & {*board})
    against = others(HOLDINGS[h], board)
    each = np.empty(len(against))
    equities(HOLDINGS[h], np.array(board, np.int8), 4, against, 1, np.uint64(0), each)
    assert worth[h, 0] == pytest.approx(255 * each.mean(), abs=0.5001)
    suiting = np.array([2, 0, 3, 1])
    there = buckets.computed_worth(tuple(card & ~3 | int(suiting[card & 3]) for card in board))
    for hand in range(0, 1326, 50):
        assert (there[buckets.renamed_hand(hand, suiting)] == worth[hand]).all()


def test_flops_that_differ_only_in_their_suits_have_one_row():
    boards, row_of, suiting_of = buckets.boards_without_suits(3)
    assert len(boards) == 1_755 and len(row_of) == 22_100 and set(row_of.tolist()) == set(range(1_755))
    for _ in range(50):
        board = RANDOM.permutation(52)[:3]
        number = buckets.board_number(board, 3)
        suiting = buckets.SUITINGS[suiting_of[number]]
        assert sorted(board & ~3 | suiting[board & 3]) == boards[row_of[number]].tolist()


def test_textures_places_and_kinds_of_hands():
    cards = [card_number(name) for name in ("2c", "2d", "9c", "Kc", "Ac")]
    assert [texture(np.array(cards), count) for count in (3, 4, 5)] == [3, 3, 5]
    flops = {texture(np.array(board), 3) for board in combinations(range(52), 3)}
    assert flops == {0, 1, 2, 3, 4}  # three cards of a suit have no pair; no other rows are wasted
    assert len({pocket(int(one), int(two)) for one, two in HOLDINGS}) == 169
    assert [place_of(np.array([0.2, 0.5]), equity) for equity in (0.1, 0.2, 0.6)] == [0, 1, 2]


@pytest.mark.parametrize("owner", [0, 1])
def test_a_tree_has_the_rules_amounts(owner):
    tree = holdem_tree.betting_tree(game(), owner, holdem_tree.SMALL)
    for _ in range(30):
        table = game().tables(1)[0]
        table.button = 0
        game().rules.reset(table)
        node = 0
        while tree.kind[node] != END:
            assert (tree.kind[node], tree.street[node]) == (table.turn, table.phase - 1)
            node = int(tree.first[node] + RANDOM.integers(tree.count[node]))
            game().rules.play(table, int(tree.action[node]))
        assert table.done
        if table.showdown:
            assert tree.matrix[node] == holdem_tree.SHOWN and (tree.amount[node] > 0).all()
            won = max(table.rewards[:2])
            assert won in (0, tree.amount[node, 0] * 2)
        else:
            assert (tree.amount[node] * 2 == table.rewards[:2]).all()


def test_a_hand_inside_the_tree_is_followed_to_its_node():
    lookup = small().policy()
    followed = 0
    for seed in range(60):
        owner = seed % 2
        tree, tables = small().solvers[owner].deals.tree, started(seed)
        table, node = tables[0], 0
        table.button = 0
        game().rules.reset(table)
        while tree.kind[node] != END:
            if tree.kind[node] == owner:
                seen = game().encoders["v0"].observation(table, owner)
                nodes, owed, pot = lookup._followed(seen, owner)
                assert (nodes, owed, pot) == ({node: 1.0}, table.to_call, table.pot)
                followed += 1
            node = int(tree.first[node] + RANDOM.integers(tree.count[node]))
            game().rules.play(table, int(tree.action[node]))
    assert followed > 60


def test_an_amount_between_two_sizes_counts_as_both():
    own = small().policy().seats[1]
    raises = [child for child in own.children(0) if own.action[child] >= 2]
    a, b = own.sizes[raises[:2]].tolist()
    half = (a + b + 2 * a * b) / (a + b + 2)  # where the mapping is indifferent
    assert own.below(0, 0, half, False, False) == pytest.approx({raises[0]: 0.5, raises[1]: 0.5})
    assert own.below(0, 0, a, False, False) == {raises[0]: 1.0}
    assert own.below(0, 0, 50.0, False, False) == {raises[-1]: 1.0}
    less = own.below(0, 0, a / 2, False, False)
    assert set(less) == {own.children(0)[1], raises[0]} and sum(less.values()) == pytest.approx(1)
    assert own.below(0, 1, None, False, True) == {}  # it is not this seat's turn


def test_the_policy_file_plays_any_table_and_tells_probabilities(tmp_path):
    small().policy().save(tmp_path / "solved.npz")
    policy = load_policy(tmp_path / "solved.npz", seed=1)
    assert isinstance(policy, SolvedPolicy) and policy.trained_for.make_game().id == game().id
    table, seen = started(3), 0
    for seed in range(40):  # random play goes far beyond the tree
        tables = started(seed)
        game().rules.reset(tables[0])
        while not tables[0].done:
            table, seat = tables[0], int(tables[0].turn)
            mask = game().mask(table, seat)
            observation = game().encoders["v0"].observation(table, seat)
            chances = policy.probabilities(observation[None], mask[None])[0]
            assert chances.sum() == pytest.approx(1, abs=1e-5) and (chances[mask == 0] == 0).all()
            game().rules.play(table, int(RANDOM.choice(np.flatnonzero(mask))))
            seen += 1
    assert seen > 100
    deeper = envs.game("holdem", seats=2, stacks=400, hands=3)
    elsewhere = make_policy(str(tmp_path / "solved.npz"), deeper, seed=1)
    assert len(play_until_done(deeper, [elsewhere, elsewhere], deeper.tables(4))) > 0


@pytest.mark.parametrize(
    ("array", "damage", "error"),
    [
        ("spreads_1", None, "not a saved SolvedPolicy"),
        ("nodes_1", lambda each: np.where(np.arange(5)[:, None] == 1, 10**6, each), "not a saved SolvedPolicy"),
        ("abstraction", np.ones_like, "another version of Parlour put other hands together"),
    ],
)
def test_a_damaged_file_and_one_of_other_buckets_are_refused(tmp_path, array, damage, error):
    policy = small().policy()
    policy.arrays = {name: each for name, each in policy.arrays.items() if name != array}
    if damage is not None:
        policy.arrays[array] = damage(small().policy().arrays[array])
    policy.save(tmp_path / "damaged.npz")
    with pytest.raises(ValueError, match=error):
        load_policy(tmp_path / "damaged.npz")


def digest():
    """A checksum of the buckets of all hands on some boards, with made up worths, and of the version of the tables."""
    found, out = zlib.crc32(bytes([buckets.VERSION])), np.empty(len(HOLDINGS), np.int64)
    edges = np.arange(1, 16) / 16
    cut = buckets.Buckets((edges, edges, edges), (np.full(16, 0.25), np.full(16, 0.25)))
    worth = np.stack([np.arange(len(HOLDINGS)) % 256, np.arange(len(HOLDINGS)) % 7 * 42], axis=1).astype(np.uint8)
    for n in range(24):
        board = np.argsort((np.arange(52) * 7_919 * (n + 1) ** 2 + n) % 10_007, kind="stable")[:5]
        for count in (0, 3, 4, 5) if n == 0 else (3, 4):  # a river takes longest
            buckets.board_buckets(cut, board, count, worth, out)
            found = zlib.crc32(out.astype("<i8").tobytes(), found)
    return found


def test_the_digest_changes_with_the_textures(monkeypatch):
    """With it, files of before are refused: change it on purpose, and say so in the changelog."""
    assert digest() == buckets.DIGEST
    monkeypatch.setattr(buckets, "board_buckets", getattr(board_buckets, "py_func", board_buckets))
    monkeypatch.setattr(buckets, "river_equities", lambda board, out: out.fill(0.5))
    today = digest()
    assert digest() == today
    monkeypatch.setattr(buckets, "texture", lambda board, count: texture(board, max(4, count)))  # of flops, once
    assert digest() != today


@pytest.mark.slow
def test_a_new_raise_begins_as_the_nearest_raise_not_as_a_check():
    before, after = small().solvers[1], large().solvers[1]
    grow(before, after)
    answers = []
    for solver, bet in ((before, 5), (after, 2)):  # ⅔ of the pot is the least that the small tree has
        tree, node = solver.deals.tree, 0
        for action in (1, 1, 1, bet):  # a call and a check before the flop; a check, and the bet
            children = range(tree.first[node], tree.first[node] + tree.count[node])
            node = next(child for child in children if tree.action[child] == action)
        answers.append(solver.strategies(node)[:, :3])
    assert answers[1] == pytest.approx(answers[0]) and answers[0].std() > 0.02


def folding():
    """Return a policy that folds whenever somebody has bet."""

    def folds(node, deals):
        rows, count = deals.rows[deals.tree.street[node], deals.tree.kind[node]], deals.tree.count[node]
        return np.tile(np.eye(int(count))[0], (int(rows), 1))

    solved_seats = [(solver.deals, lambda node, deals=solver.deals: folds(node, deals)) for solver in small().solvers]
    return SolvedPolicy(holdem_tree.packed(game(), solved_seats), TrainedFor.of(game(), "v0"))


@pytest.mark.parametrize("buckets", [(), (3, 2, 4)])
def test_a_sampled_best_response_finds_what_a_policy_that_folds_loses(buckets):
    found = sampled_response(folding(), game(), buckets=buckets, iterations=300, deals=40)
    assert found.score.mean == pytest.approx(0.75, abs=0.01)  # the blinds
    assert found.opponent.startswith(f"sampled best response, {'3/2/4' if buckets else 'the policy'}")
    assert "600 iterations" in found.opponent


def test_the_battery_has_the_sampled_best_response(tmp_path):
    folding().save(tmp_path / "folds.npz")
    spent = BatteryArguments(deals=8, hands=4, solver_seconds=0.1, buckets=())
    wins = battery(str(tmp_path / "folds.npz"), game(), spent, LearnerArguments(decisions=0), zoo=False)
    found = [win for win in wins if win.kind == "sampled"]
    assert len(found) == 1 and found[0].score.mean > 0.5


def test_a_sampled_best_response_refuses_another_game_and_buckets_that_do_not_fit():
    with pytest.raises(ValueError, match="another game"):
        sampled_response(folding(), envs.game("holdem", seats=2, stacks=100))
    with pytest.raises(ValueError, match="three numbers"):
        sampled_response(folding(), game(), buckets=(3, 4))


def test_options_that_have_no_trees_are_refused():
    with pytest.raises(ValueError, match="no abstraction"):
        AbstractedProblem(envs.game("holdem", seats=3))
    with pytest.raises(ValueError, match="two seats, equal stacks"):
        AbstractedProblem(envs.game("holdem", seats=2, stacks=[100, 200]))
