"""Reference opponents: frozen pools, ratings of policies and scripted models, and their pages."""

import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from command_line import line
from parlour.envs.core.rng import streams
from parlour.training.commands.supervisor import TRY_AGAIN
from parlour.training.evaluation.exact import flat_tree, nash_conv, seated, values
from parlour.training.models import reference as core
from parlour.wrappers.policies.loading import make_policy
from parlour.zoo import PREFIX, names
from reference_command import rated

RELEASED = Path(__file__).parents[1] / "data" / "pools.json"
"""The digest of every released pool. A line never changes: a changed pool is a new version, and a further line."""


def released():
    quick = ("holdem-v0", "auction-v0", "cournot-v0", "kuhn-v0", "mafia-v0")
    return [
        pytest.param(pool, id=f"{pool.game}, {pool.version}", marks=() if pool.game in quick else pytest.mark.slow)
        for pool in core.pools()
    ]


def test_every_game_has_a_pool_and_no_released_pool_has_changed():
    assert {pool.game for pool in core.pools()} == {core.load_pool(name.partition("-")[0]).game for name in names()}
    digests = {f"{pool.game.partition('-')[0]}-{pool.version}": pool.digest for pool in core.pools()}
    assert digests == json.loads(RELEASED.read_text())


@pytest.mark.parametrize("pool", released())
def test_the_members_of_a_pool_are_what_they_were(pool):
    game = pool.make_game()
    given = json.loads(json.dumps({key: value for key, value in game.options.items() if value is not None}))
    assert given == pool.options and game.id == pool.game
    assert len(core.roles(game)) == len(pool.low) == len(pool.high) and pool.members[0].plays == "random"
    assert pool.best in {member.name for member in pool.members}
    for member in pool.members:
        if member.plays.startswith(PREFIX):
            file = core.weights_with(member.digest, member.plays)
            assert sha256(file.read_bytes()).hexdigest() == member.digest
            make_policy(str(file), game)
        else:
            assert core.digest_of(make_policy(member.plays, game, seed=0), game) == member.digest, member.name


def test_a_member_whose_weights_are_gone_is_a_sentence():
    pool = core.load_pool("leduc")
    member = next(one for one in pool.members if one.plays.startswith(PREFIX))
    with pytest.raises(ValueError, match="the zoo has no weights of zoo:leduc with the digest 0000"):
        core.weights_with("0" * 64, member.plays)
    with pytest.raises(ValueError, match="there is no pool 9 of leduc; there are 1"):
        core.load_pool("leduc", 9)


# Ratings.


def test_ratings_in_leduc_have_the_order_of_exact_exploitability():
    """Exploitability knows nothing of the pool. The players: random, three checkpoints, the equilibrium."""
    pool = core.load_pool("leduc")
    game = pool.make_game()
    tree, seeds, names = flat_tree(game), streams(0, 1_000).tolist(), {one.name: one for one in pool.members}
    steps = [name for name in names if name.startswith("after")]
    probable = {name: names[name].player(game, 1) for name in (*steps, "zoo:leduc")}
    worth = {name: nash_conv(tree, tree.strategy_of(one)) / 2 for name, one in probable.items()}
    worth["random"] = nash_conv(tree, tree.uniform()) / 2
    ratings = {
        name: core.rate(pool, game, core.play(names[name].player(game, 1), game, pool.players(game), seeds))["rating"]
        for name in worth
    }
    order = sorted(worth, key=lambda name: -worth[name])
    assert len(order) == 5 and order[0] == "random" and order[-1] == "zoo:leduc"
    assert worth["random"] == pytest.approx(4.747222 / 2, abs=1e-5)  # NashConv by OpenSpiel
    assert all(ratings[weak]["high"] < ratings[strong]["low"] for weak, strong in pairwise(order)), (worth, ratings)


@pytest.mark.parametrize("mark", [0, 100])
def test_the_two_marks_of_the_scale_are_rated_at_them_in_each_seat(mark):
    """By the exact means, which need no deals: those of version 1 are off by up to 8 points, version 2 by 3."""
    pool = core.load_pool("leduc")
    game = pool.make_game()
    tree, plays = flat_tree(game), {}
    for one in pool.members:
        policy, share = make_policy(one.where, game), 1.0 if one.plays == "random" else one.random
        acts = np.eye(len(tree.masks[0]))[policy.act(tree.observations, tree.masks)]
        mine = tree.strategy_of(policy) if one.plays.startswith(PREFIX) else tree.strategy(acts)
        plays[one.name] = (1 - share) * mine + share * tree.uniform()
    player = plays[pool.best if mark else "random"]
    means = [[values(tree, seated(tree, seat, player, other))[seat] for seat in (0, 1)] for other in plays.values()]
    found = core.rate(pool, game, np.array(means)[:, None])
    assert found["rating"]["mean"] == pytest.approx(mark, abs=1)
    assert [role["rating"]["mean"] for role in found["roles"].values()] == pytest.approx([mark, mark], abs=4)


def test_a_policy_with_probabilities_has_its_exploitability_and_the_same_seed_gives_the_same(tmp_path, capsys):
    first = rated(tmp_path, capsys, "kuhn", "zoo:kuhn", "--deals", "60")
    again = rated(tmp_path, capsys, "kuhn", "zoo:kuhn", "--deals", "60")
    assert {**first, "seconds": 0} == {**again, "seconds": 0} and first["deals"] == 60
    assert first["exploitability"] == pytest.approx(0, abs=1e-3) and first["skill"] is None and first["counts"] == {}


def test_games_are_counted_where_they_were_played_and_few_deals_have_no_interval(tmp_path, capsys):
    members = len(core.load_pool("leduc").members)
    result = rated(tmp_path, capsys, "leduc", "call", "--deals", str(core.FEWEST))
    assert result["return"]["games"] == core.FEWEST * members * 2
    assert {one["games"] for one in result["members"].values()} == {core.FEWEST * 2}
    assert {one["return"]["games"] for one in result["roles"].values()} == {core.FEWEST * members}
    assert result["rating"]["low"] < result["rating"]["mean"] < result["rating"]["high"]
    few = rated(tmp_path / "few", capsys, "leduc", "call", "--deals", str(core.FEWEST - 1))
    figures = [few["rating"], few["return"], *few["members"].values()]
    figures += [one["rating"] for one in few["roles"].values()]
    assert {(one["low"], one["high"]) for one in figures} == {(None, None)} and core.paired(few, result) is None
    code, out, said = line(capsys, "evaluate reference leduc call --deals 9 --out", str(tmp_path / "few"))
    assert code == 0 and f" {few['rating']['mean']:.0f} " in out and "[" not in out.partition("written")[0]
    more = f"no intervals: they need {core.FEWEST} deals; the same command with --deals {core.FEWEST} goes on"
    assert more in " ".join(out.split())
    assert "has 9 deals of this player: no more are played" in said


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
        assert file.read_text() == kept and core.read_result(file)["deals"] == 50  # as another process sees it
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "write_text", half)
    assert "the disk is full" in rated(tmp_path, capsys, "kuhn", "random", "--deals", "100", code=2)
    assert file.read_text() == kept


def test_a_limit_of_time_ends_after_a_round(tmp_path, capsys):
    assert rated(tmp_path, capsys, "leduc", "call", "--deals", "60", "--minutes", "1e-9")["deals"] == 50
