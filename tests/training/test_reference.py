"""Reference opponents: frozen pools, ratings of policies and scripted models, and their pages."""

import json
import signal
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from parlour.envs.core.rng import streams
from parlour.training.commands.supervisor import TRY_AGAIN
from parlour.training.evaluation.exact import flat_tree, nash_conv
from parlour.training.models import reference as core
from parlour.training.models.reference import (
    FEWEST,
    PartlyRandom,
    digest_of,
    load_pool,
    paired,
    play,
    pools,
    rate,
    roles,
    weights_with,
)
from parlour.training.models.reference_page import read_results
from parlour.wrappers.policies.loading import make_policy
from parlour.zoo import PREFIX, names
from reference_command import rated

RELEASED = {
    ("auction", 2): "0b575abccec1a640",
    ("bargaining", 1): "bdb9897ceb0ba781",
    ("bilateral_trade", 1): "2e53e86cec1d2755",
    ("centipede", 1): "6afb4f99fe3cdb16",
    ("common_agency", 1): "b79ab324aaea1bff",
    ("cournot", 1): "3b73308a43a70e0a",
    ("dictator", 1): "9b74b0578994acb9",
    ("dutch_auction", 1): "7c76f5e531c5417a",
    ("english_auction", 1): "9a562b84d40f6858",
    ("hold_up", 1): "b66ebdd9b9d6b84a",
    ("holdem", 1): "3d4d4ba92c56458a",
    ("insurance_moral_hazard", 1): "2941bfaa54d1ac4d",
    ("kuhn", 1): "28a16eb3f519ee40",
    ("leduc", 1): "80315c16e03975f4",
    ("leduc", 2): "4885b5d876f4e53b",
    ("liars_dice", 1): "ee192bb3fdd6ae12",
    ("mafia", 1): "a098b67b2b1e80ce",
    ("multi_issue_bargaining", 1): "307ae11d11d4e2e3",
    ("principal_agent", 1): "bde779b64ac5dc40",
    ("provision_point", 1): "fb6bed666ed6159a",
    ("public_project", 1): "b7de0358ef4e897d",
    ("sequential_investment", 1): "8c93d631ff36bb95",
    ("tangram", 1): "e928a7f50ab9f4c5",
    ("trust", 1): "71d349a656ef06b6",
    ("ultimatum", 1): "e9c3f253ae6baafd",
    ("voluntary_contribution", 1): "22017b6a6d30b8dd",
    ("war_of_attrition", 1): "8a9a62acdfbec696",
    ("werewolf", 1): "a0874b0d5865d051",
}
"""The digest of every released pool. A line here never changes: a changed pool is a new version, and a further line."""


def released():
    quick = ("holdem-v0", "auction-v0", "cournot-v0", "kuhn-v0", "mafia-v0")
    return [
        pytest.param(pool, id=f"{pool.game}, {pool.version}", marks=() if pool.game in quick else pytest.mark.slow)
        for pool in pools()
    ]


def test_every_game_has_a_pool_and_no_released_pool_has_changed():
    assert {pool.game for pool in pools()} == {load_pool(name.partition("-")[0]).game for name in names()}
    assert {(pool.game.partition("-")[0], pool.version): pool.digest for pool in pools()} == RELEASED


@pytest.mark.parametrize("pool", released())
def test_the_members_of_a_pool_are_what_they_were(pool):
    game = pool.make_game()
    given = json.loads(json.dumps({key: value for key, value in game.options.items() if value is not None}))
    assert given == pool.options and game.id == pool.game
    assert len(roles(game)) == len(pool.low) == len(pool.high) and pool.members[0].plays == "random"
    assert pool.best in {member.name for member in pool.members}
    for member in pool.members:
        if member.plays.startswith(PREFIX):
            file = weights_with(member.digest, member.plays)
            assert sha256(file.read_bytes()).hexdigest() == member.digest
            make_policy(str(file), game)
        else:
            assert digest_of(make_policy(member.plays, game, seed=0), game) == member.digest, member.name


def test_a_member_whose_weights_are_gone_is_a_sentence():
    pool = load_pool("leduc")
    member = next(one for one in pool.members if one.plays.startswith(PREFIX))
    with pytest.raises(ValueError, match="the zoo has no weights of zoo:leduc with the digest 0000"):
        weights_with("0" * 64, member.plays)
    with pytest.raises(ValueError, match="there is no pool 9 of leduc; there are 1"):
        load_pool("leduc", 9)


def test_a_game_has_its_pool_under_all_its_names(tmp_path, capsys):
    assert load_pool("kuhn-v0") == load_pool("kuhn") and load_pool("unfair-split") == load_pool("bargaining")
    assert load_pool("first-price-auction") == load_pool("auction")
    with pytest.raises(ValueError, match="there is no pool of all-pay-auction; the game has none"):
        load_pool("all-pay-auction")
    with pytest.raises(ValueError, match="no game is called 'leducc'; did you mean 'leduc'"):
        load_pool("leducc")
    assert rated(tmp_path, capsys, "kuhn-v0", "honest", "--deals", "10")["game"] == "kuhn-v0"


def test_half_random_is_random_in_half_of_the_decisions():
    class First:
        def act(self, observations, masks):
            return np.zeros(len(masks), np.int64)

    masks, seen = np.ones((4_000, 5), np.int8), np.zeros((4_000, 1), np.float32)
    for share in (0.0, 0.5, 1.0):
        first = (PartlyRandom(First(), share, seed=3).act(seen, masks) == 0).mean()
        assert first == pytest.approx(1 - share + share / 5, abs=0.03)


# Ratings.


def test_ratings_in_leduc_have_the_order_of_exact_exploitability():
    """Exploitability knows nothing of the pool. The players: random, three checkpoints, the equilibrium."""
    pool = load_pool("leduc")
    game = pool.make_game()
    tree, seeds, names = flat_tree(game), streams(0, 1_000).tolist(), {one.name: one for one in pool.members}
    steps = [name for name in names if name.startswith("after")]
    probable = {name: names[name].player(game, 1) for name in (*steps, "zoo:leduc")}
    worth = {name: nash_conv(tree, tree.strategy_of(one)) / 2 for name, one in probable.items()}
    worth["random"] = nash_conv(tree, tree.uniform()) / 2
    ratings = {
        name: rate(pool, game, play(names[name].player(game, 1), game, pool.players(game), seeds))["rating"]
        for name in worth
    }
    order = sorted(worth, key=lambda name: -worth[name])
    assert len(order) == 5 and order[0] == "random" and order[-1] == "zoo:leduc"
    assert worth["random"] == pytest.approx(4.747222 / 2, abs=1e-5)  # NashConv by OpenSpiel
    assert all(ratings[weak]["high"] < ratings[strong]["low"] for weak, strong in pairwise(order)), (worth, ratings)


def test_the_two_marks_of_the_scale_are_rated_at_them(tmp_path, capsys):
    pool = load_pool("leduc")
    worst = rated(tmp_path, capsys, "leduc", "random", "--deals", "600", "--seed", "5")
    best = rated(tmp_path, capsys, "leduc", pool.best, "--deals", "600", "--seed", "5")
    assert worst["rating"]["mean"] == pytest.approx(0, abs=15) and worst["rating"]["high"] < 20
    assert best["rating"]["mean"] == pytest.approx(100, abs=15) and best["rating"]["low"] > 80
    assert best["members"][pool.best]["mean"] == 0  # with itself, on duplicate deals
    assert best["pool"] == {"version": pool.version, "digest": pool.digest, "best": pool.best}
    assert set(best["roles"]) == {"player_0", "player_1"} and best["exploitability"] is None
    more = paired(best, worst)
    assert more.low > 0 and more.mean == pytest.approx(best["return"]["mean"] - worst["return"]["mean"])


def test_a_policy_with_probabilities_has_its_exploitability_and_the_same_seed_gives_the_same(tmp_path, capsys):
    first = rated(tmp_path, capsys, "kuhn", "zoo:kuhn", "--deals", "60")
    again = rated(tmp_path, capsys, "kuhn", "zoo:kuhn", "--deals", "60")
    assert {**first, "seconds": 0} == {**again, "seconds": 0} and first["deals"] == 60
    assert first["exploitability"] == pytest.approx(0, abs=1e-3) and first["skill"] is None and first["counts"] == {}


def test_games_are_counted_where_they_were_played_and_few_deals_have_no_interval(tmp_path, capsys):
    members = len(load_pool("leduc").members)
    result = rated(tmp_path, capsys, "leduc", "call", "--deals", str(FEWEST))
    assert result["return"]["games"] == FEWEST * members * 2
    assert {one["games"] for one in result["members"].values()} == {FEWEST * 2}
    assert {one["return"]["games"] for one in result["roles"].values()} == {FEWEST * members}
    assert result["rating"]["low"] < result["rating"]["mean"] < result["rating"]["high"]
    (tmp_path / "few").mkdir()
    few = rated(tmp_path / "few", capsys, "leduc", "call", "--deals", str(FEWEST - 1))
    figures = [
        few["rating"],
        few["return"],
        *few["members"].values(),
        *(one["rating"] for one in few["roles"].values()),
    ]
    assert {(one["low"], one["high"]) for one in figures} == {(None, None)} and paired(few, result) is None
    code, out, said = run(
        capsys, "evaluate", "reference", "leduc", "call", "--deals", "9", "--out", str(tmp_path / "few")
    )
    assert code == 0 and f" {few['rating']['mean']:.0f} " in out and "[" not in out.partition("written")[0]
    more = f"no intervals: they need {FEWEST} deals; the same command with --deals {FEWEST} goes on"
    assert more in " ".join(out.split())
    for line in (
        "chips per game: what the player has, the mean of all games",
        "player_0, player_1: this role alone, with 0 and 100 of its own (player_0 -0.931 and +0.815, player_1 ",
        "half random: every",
        "after: a policy of a separate",
    ):
        assert line in " ".join(out.split())
    assert "has 9 deals of this player: no more are played" in said


@pytest.mark.parametrize(("player", "undecided"), [("random", True), ("tight", False)])
def test_a_rating_that_may_be_that_of_random_play_says_so(tmp_path, capsys, player, undecided):
    code, out, said = run(capsys, "evaluate", "reference", "leduc", player, "--deals", "40", "--out", str(tmp_path))
    assert code == 0, said
    assert ("these deals do not tell the player from random play" in " ".join(out.split())) == undecided


def test_another_player_or_setting_does_not_write_over_a_result(tmp_path, capsys):
    arguments = ("kuhn", "honest", "--deals", "10", "--name", "a b")
    kept = rated(tmp_path, capsys, *arguments)
    for others, what in (
        (("kuhn", "honest", "--deals", "10", "--name", "a/b"), "player"),
        ((*arguments, "--seed", "1"), "seed"),
        (("kuhn", "maniac", "--deals", "10", "--name", "a b"), "run, digest"),
    ):
        said = rated(tmp_path, capsys, *others, code=2)
        assert f"holds another result, with another {what}: give another --name or --out" in said
    assert json.loads((tmp_path / "kuhn-a-b.json").read_text()) == kept
    (tmp_path / "kuhn-honest.json").write_text("{}")
    assert "kuhn-honest.json is no result" in rated(tmp_path, capsys, "kuhn", "honest", "--deals", "10", code=2)


def test_a_policy_that_was_stopped_or_crashed_goes_on(tmp_path, capsys, monkeypatch):
    expected = rated(tmp_path / "whole", capsys, "kuhn", "random", "--deals", "120")
    whole, rounds, own = core.play, [], {"seconds": 0, "command": ""}

    def ends_with(error):
        def play(*arguments):
            rounds.append(len(arguments[3]))
            if len(rounds) == 2:
                raise error
            return whole(*arguments)

        return play

    arguments = ("kuhn", "random", "--deals", "120")
    monkeypatch.setattr(core, "play", ends_with(KeyboardInterrupt()))
    assert "stopped; 800 games are kept in" in rated(tmp_path, capsys, *arguments, code=TRY_AGAIN)
    rounds[:] = []
    monkeypatch.setattr(core, "play", ends_with(RuntimeError("crash")))
    with pytest.raises(RuntimeError, match="crash"):
        rated(tmp_path, capsys, *arguments)
    assert json.loads((tmp_path / "kuhn-random.json").read_text())["deals"] == 100
    monkeypatch.setattr(core, "play", whole)
    assert rated(tmp_path, capsys, *arguments) | own == expected | own
    rounds[:] = [0]
    monkeypatch.setattr(core, "play", ends_with(KeyboardInterrupt()))
    said = rated(tmp_path / "new", capsys, *arguments, code=TRY_AGAIN)
    assert "stopped; no games are kept" in said and not list((tmp_path / "new").iterdir())


def test_a_result_is_complete_at_any_time(tmp_path, capsys, monkeypatch):
    rated(tmp_path, capsys, "kuhn", "random", "--deals", "50")
    file = tmp_path / "kuhn-random.json"
    kept, write = file.read_text(), Path.write_text

    def half(path, text, *arguments):
        if path.suffix != ".json":
            return write(path, text, *arguments)
        write(path, text[: len(text) // 2], *arguments)
        assert file.read_text() == kept and len(read_results(tmp_path)[0]) == 1  # as another process sees it
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", half)
    assert "the disk is full" in rated(tmp_path, capsys, "kuhn", "random", "--deals", "100", code=2)
    assert file.read_text() == kept


def test_sigterm_keeps_the_rounds_and_leaves_no_lock(tmp_path, capsys, monkeypatch):
    whole, rounds, before = core.play, [], signal.getsignal(signal.SIGTERM)

    def terminated(*arguments):
        rounds.append(arguments)
        if len(rounds) == 2:
            signal.raise_signal(signal.SIGTERM)
        return whole(*arguments)

    monkeypatch.setattr(core, "play", terminated)
    said = rated(tmp_path, capsys, "kuhn", "random", "--deals", "120", code=TRY_AGAIN)
    assert "stopped; 800 games are kept in" in said and not list(tmp_path.glob("*.lock"))
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_game_with_teams_is_rated_by_team(tmp_path, capsys):
    result = rated(tmp_path, capsys, "werewolf", "random", "--deals", "4")
    assert set(result["roles"]) == {"village", "werewolves"}
    assert np.array(result["results"]).shape == (len(load_pool("werewolf").members), 4, 2)
    assert set(np.unique(result["results"])) <= {0.0, 1.0}


def test_a_role_that_decides_nothing_has_no_rating():
    pool = load_pool("dictator")
    rating = rate(pool, pool.make_game(), np.ones((len(pool.members), 4, 2)))
    assert rating["roles"]["player_0"]["rating"] is not None and rating["roles"]["player_1"]["rating"] is None
    assert rating["rating"] is not None


def test_skill_counts_every_member_and_role_the_same():
    pool = load_pool("kuhn")
    game, members = pool.make_game(), len(load_pool("kuhn").members)
    results, faulty = np.zeros((members, 4, 2)), np.zeros((members, 4, 2), bool)
    results[:, :2], faulty[:, :2] = -1, True  # what is lost where decisions were replaced
    results[0, 3] = 1
    skill = rate(pool, game, results, faulty)["skill"]
    low, high = np.mean(pool.low), np.mean(pool.high)
    assert skill["mean"] == pytest.approx(100 * (0.5 / members - low) / (high - low))
    faulty[0, :3] = True
    assert rate(pool, game, results, faulty)["skill"] is None
    assert rate(pool, game, results)["skill"] is None


def test_the_interval_of_the_skill_is_that_of_the_rating_where_hardly_a_game_is_left_out():
    """Games of one deal share its luck: it cancels out over the roles, but for the game that is left out."""
    pool = load_pool("kuhn")
    luck = np.random.default_rng(1).normal(0, 1, 40)
    results = np.stack([np.stack([luck, -luck], 1)] * len(pool.members))
    results += np.random.default_rng(2).normal(0, 0.3, results.shape)
    faulty = np.zeros(results.shape, bool)
    faulty[0, 0, 0] = True
    rated = rate(pool, pool.make_game(), results, faulty)
    width = {name: rated[name]["high"] - rated[name]["low"] for name in ("rating", "skill")}
    assert 0.9 * width["rating"] < width["skill"] < 1.5 * width["rating"]


def test_a_checkpoint_may_be_the_best_member_and_plays_the_sample_games(tmp_path, capsys):
    assert load_pool("trust").best.startswith("after ")
    code, _, said = run(capsys, "evaluate", "reference", "trust", "equal", "--deals", "2", "--out", str(tmp_path))
    assert code == 0, said
    samples = json.loads((tmp_path / "trust-equal.json").read_text())["samples"]
    assert load_pool("trust").best in json.dumps(samples)


def test_mistakes_are_sentences(tmp_path, capsys):
    assert "name a run" in rated(tmp_path, capsys, "leduc", code=2)
    assert "deals=1: need a whole number, at least 2" in rated(
        tmp_path, capsys, "leduc", "call", "--deals", "1", code=2
    )
    assert "no bot, run or policy file" in rated(tmp_path, capsys, "leduc", "caller", code=2)
    assert rated(tmp_path, capsys, "leduc", "call", "--deals", "60", "--minutes", "1e-9")["deals"] == 50
    missing = tmp_path / "nowhere"
    assert run(capsys, "evaluate", "reference", "--out", str(missing))[::2] == (
        2,
        f"parlour evaluate: there is no folder {missing} with results: name a game and a player to rate\n",
    )


def test_play_has_a_result_for_every_member_deal_and_role():
    pool = load_pool("kuhn")
    game = pool.make_game()
    results = play(make_policy("random", game, seed=1), game, pool.players(game), [1, 2, 3])
    assert results.shape == (len(pool.members), 3, 2)
