"""Reference opponents: frozen pools, ratings of policies and scripted models, and their pages."""

import json
from collections import Counter
from hashlib import sha256
from pathlib import Path

import endpoint
import numpy as np
import pytest
from aiohttp import web
from command_line import run
from needs import library
from parlour.training.commands.stopping import TRY_AGAIN
from parlour.training.evaluation.reference import (
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
from parlour.training.evaluation.reference_page import write_pages
from parlour.wrappers.agents.model_calls import ModelStatistics
from parlour.wrappers.policies.loading import make_policy
from parlour.zoo import PREFIX, names

RELEASED = {
    ("auction", 1): "2e669f959720ab87",
    ("bargaining", 1): "f480b937aaf7fdaf",
    ("bilateral_trade", 1): "7a4cfee5760ec3cd",
    ("centipede", 1): "b949ebc26f33e55b",
    ("common_agency", 1): "1cc1fa6ea7ce3b6a",
    ("cournot", 1): "51f37e2b612c44b9",
    ("dictator", 1): "a643283844344880",
    ("dutch_auction", 1): "01f0b768c3309324",
    ("english_auction", 1): "2ebbff35ae1319ec",
    ("hold_up", 1): "fb7f6ffd9d08231c",
    ("holdem", 1): "c10629205a218b5e",
    ("insurance_moral_hazard", 1): "54a04e8be5491d2c",
    ("kuhn", 1): "a5d8bd88648284eb",
    ("leduc", 1): "d9d25bdbecb51096",
    ("liars_dice", 1): "8ba942ae2cd317f3",
    ("mafia", 1): "bf0c9c8a4e1b29f0",
    ("multi_issue_bargaining", 1): "68e9be886b05ddf6",
    ("principal_agent", 1): "770d40aed3714784",
    ("provision_point", 1): "72c416b8dfe08294",
    ("public_project", 1): "6723f0f6bf5f2ea1",
    ("sequential_investment", 1): "9368fe5c49a440a4",
    ("tangram", 1): "e928a7f50ab9f4c5",
    ("trust", 1): "d19971ebe0895787",
    ("ultimatum", 1): "a0058ec9ed6c33dc",
    ("voluntary_contribution", 1): "6f96995d54f1c686",
    ("war_of_attrition", 1): "35253522853a2263",
    ("werewolf", 1): "7671881acfc8e3b5",
}
"""The digest of every released pool. A line here never changes: a changed pool is a new version, and a further line."""


def released():
    return [pytest.param(pool, id=f"{pool.game}, {pool.version}") for pool in pools()]


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


def test_half_random_is_random_in_half_of_the_decisions():
    class First:
        def act(self, observations, masks):
            return np.zeros(len(masks), np.int64)

    masks, seen = np.ones((4_000, 5), np.int8), np.zeros((4_000, 1), np.float32)
    for share in (0.0, 0.5, 1.0):
        first = (PartlyRandom(First(), share, seed=3).act(seen, masks) == 0).mean()
        assert first == pytest.approx(1 - share + share / 5, abs=0.03)


# Ratings.


def rated(tmp_path, capsys, *arguments, code=0):
    """Call `parlour reference` in JSON; return the result, or what was said."""
    result = run(capsys, "reference", *arguments, "--json", "--out", str(tmp_path), "--samples", "0")
    assert result[0] == code, result[2]
    return json.loads(result[1]) if code == 0 else result[2]


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
    results[:, :2], faulty[:, :2] = -1, True  # what is lost by rule errors
    results[0, 3] = 1
    skill = rate(pool, game, results, faulty)["skill"]
    low, high = np.mean(pool.low), np.mean(pool.high)
    assert skill["mean"] == pytest.approx(100 * (0.5 / members - low) / (high - low))
    faulty[0, :3] = True
    assert rate(pool, game, results, faulty)["skill"] is None
    assert rate(pool, game, results)["skill"] is None


# Language models.

library("openai")


class Caller:
    """A model that calls, or checks; with `wrong`, every answer of that number has another text."""

    def __init__(self, wrong=None, down_after=None):
        self.asked, self.wrong, self.down_after = Counter(), wrong or {}, down_after

    async def __call__(self, request, body):
        self.asked["all"] += 1
        if self.down_after is not None and self.asked["all"] > self.down_after:
            return web.json_response({"error": {"message": "down"}}, status=401)
        text = '{"action_type": "call", "payload": {}}'
        return web.json_response({**endpoint.said(self.wrong.get(self.asked["all"], text)), "usage": endpoint.USAGE})


def asked(url, *arguments):
    return "leduc", "--model", "stub", "--llm-url", url, "--llm-timeout", "20", *arguments


def test_a_model_that_calls_is_rated_as_the_bot_that_calls(tmp_path, capsys):
    with endpoint.answering(model := Caller()) as url:
        of_model = rated(tmp_path, capsys, *asked(url, "--deals", "2"))
    of_bot = rated(tmp_path, capsys, "leduc", "call", "--deals", "2")
    assert of_model["results"] == of_bot["results"] and of_model["rating"] == of_bot["rating"]
    counts = of_model["counts"].values()
    assert sum(row["decisions"] for row in counts) == model.asked["all"]
    assert sum(row["tokens in"] for row in counts) == 11 * model.asked["all"]
    assert of_model["player"] == "stub" and of_model["kind"] == "model" and of_model["skill"] is None


def test_rule_errors_are_counted_apart_and_the_safe_action_is_played(tmp_path, capsys):
    wrong = {1: "I would rather not.", 2: "Me neither.", 3: '{"action_type": "bluff", "payload": {}}'}
    with endpoint.answering(Caller(wrong)) as url:
        result = rated(tmp_path, capsys, *asked(url, "--deals", "2", "--parallel", "1"))
    total = sum((Counter(row) for row in result["counts"].values()), Counter())
    assert (total["unparsable"], total["illegal"], total["replaced"]) == (2, 1, 1)
    assert np.sum(result["faulty"]) == 1 and result["skill"] is None  # one clean deal of a member in a role is too few


def test_an_endpoint_that_goes_down_loses_no_round_and_the_same_command_goes_on(tmp_path, capsys):
    whole, folder = Caller(), tmp_path / "whole"
    with endpoint.answering(whole) as url:
        expected = rated(folder, capsys, *asked(url, "--deals", "4"))
    broken = Caller(down_after=whole.asked["all"] * 3 // 4)
    with endpoint.answering(broken) as url:
        arguments = asked(url, "--deals", "4")
        said = rated(tmp_path, capsys, *arguments, code=TRY_AGAIN)
        assert "HTTP 401; 2 deals are kept" in said
        before = broken.asked["all"]
        broken.down_after = None
        result = rated(tmp_path, capsys, *arguments)
    assert result["results"] == expected["results"] and result["deals"] == 4
    assert broken.asked["all"] - before < whole.asked["all"]
    answered = sum(row["decisions"] for row in result["counts"].values())
    assert answered >= whole.asked["all"]


def test_numbers_of_calls_survive_their_row():
    given = ModelStatistics(decisions=4, replaced=1, input_size=30, output_size=8, seconds=2.0, cost=0.5)
    given.faults.update(["late", "late"])
    assert ModelStatistics.of(given.row()) == given


def test_mistakes_are_sentences(tmp_path, capsys):
    assert "name a run" in rated(tmp_path, capsys, "leduc", code=2)
    assert "at least 2 deals" in rated(tmp_path, capsys, "leduc", "call", "--deals", "1", code=2)
    assert "no bot, run or policy file" in rated(tmp_path, capsys, "leduc", "caller", code=2)


# Pages.


def test_the_leaderboard_has_ratings_differences_and_replays(tmp_path, capsys):
    for player, name in (("call", "a <b>caller</b>"), ("tight", "tight")):
        arguments = ("leduc", player, "--deals", "40", "--name", name, "--out", str(tmp_path))
        assert run(capsys, "reference", *arguments)[0] == 0
    measured = {"nash_conv": 4.0, "wins": 1.9876, "model": "tight", "game": "leduc-v0"}
    (tmp_path / "exploit.json").write_text(json.dumps(measured))
    code, out, _ = run(capsys, "reference", "--out", str(tmp_path))
    index = (tmp_path / "index.html").read_text("utf-8")
    assert code == 0 and str(tmp_path / "index.html") in out.replace("\n", "")
    assert index.index(">tight</a>") < index.index("a &lt;b&gt;caller&lt;/b&gt;</a>") and "<b>caller" not in index
    assert "1.9876" in index and "on the same deals" in index and index.count("<iframe") == 2
    page = next(Path(tmp_path).glob("leduc-a*.html")).read_text("utf-8")
    assert "<iframe" in page and "What the numbers mean" in page
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(ValueError, match=r"broken\.json is not JSON"):
        write_pages(tmp_path)


def test_play_has_a_result_for_every_member_deal_and_role():
    pool = load_pool("kuhn")
    game = pool.make_game()
    results, faulty = play(make_policy("random", game, seed=1), game, pool.players(game), [1, 2, 3])
    assert results.shape == faulty.shape == (len(pool.members), 3, 2) and not faulty.any()
