"""Results of an arena's matches, and the commands."""

import json
import threading

import endpoint
import pytest
from aiohttp import web
from needs import library
from parlour.envs import TurnState
from parlour.training import cli
from parlour.training.evaluation import arena_results
from parlour.training.evaluation.arena_results import Standings
from parlour.wrappers.live.arena.host import ArenaResult, assess
from parlour.wrappers.live.arena.messages import ANSWER_LIMIT
from parlour.wrappers.logs import match_log

# Results.


def lines_of(*matches):
    table = Standings()
    for match in matches:
        table.add(match)
    return table.lines()


def test_standings_are_means_with_intervals_and_ratings():
    def match(number, a, b, deal=None, efficiency=None):
        return ArenaResult(str(number), "g", ["a", "b"], {"a": a, "b": b}, "end", deal=deal, efficiency=efficiency)

    lines = lines_of(match(0, 3.0, 1.0, True, 1.0), match(1, 5.0, 1.0, False, 0.0), match(2, 4.0, 1.0))
    first, second = lines
    assert (first.agent_id, first.mean, first.matches, first.deals, first.efficiency) == ("a", 4.0, 3, 0.5, 0.5)
    assert first.high - first.mean == pytest.approx(1.96 * 1.0 / 3**0.5)
    assert (second.low, second.high) == (1.0, 1.0)
    assert first.rating > 25 > second.rating
    assert lines_of(match(0, 1.0, 2.0))[0].low is None
    assert lines_of() == []


def test_an_arena_that_stays_for_months_forgets_the_oldest_agents(monkeypatch):
    monkeypatch.setattr(arena_results, "MOST_AGENTS", 3)
    table = Standings()
    for pair in ("ab", "ac", "ad", "ae"):
        table.add(ArenaResult(pair, "g", list(pair), {pair[0]: 1.0, pair[1]: 0.0}, "end"))
    assert table.matches == 4
    lines = {line.agent_id: line.matches for line in table.lines()}
    assert lines == {"a": 4, "d": 1, "e": 1}


def test_deals_and_efficiency_are_those_of_the_outcome():
    def bargained(low, high, outcome):
        states = [
            TurnState("m", "bargaining-v0", name, "", False, game_state={"total": 100, "my_reservation_value": value})
            for name, value in (("a", low), ("b", high))
        ]
        return assess(states, outcome)

    def pay(a, b):
        return {"payoffs": [{"agent_id": "a", "utility": a}, {"agent_id": "b", "utility": b}]}

    assert bargained(20, 30, {"reason": "agreement", **pay(30, 20)}) == (True, 1.0)
    assert bargained(20, 30, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (False, 0.0)
    assert bargained(60, 50, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (None, None)
    assert bargained(20, 30, {"reason": "error", **pay(0, 0)}) == (None, None)
    issues = [
        TurnState("m", "multi_issue_bargaining-v0", name, "", False, game_state={"my_preferences": worth, **other})
        for name, worth, other in (
            ("a", {"price": [0.0, 0.6], "date": [0.4, 0.0]}, {"my_reservation_value": 0.3}),
            ("b", {"price": [0.3, 0.0], "date": [0.0, 0.7]}, {"my_reservation_value": 0.4}),
        )
    ]
    # The most without a loss is 0.3 and 0.3: the high price for one, the late date for the other.
    assert assess(issues, {"reason": "agreement", **pay(0.15, 0.3)}) == (True, pytest.approx(0.75))
    assert assess(issues, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (False, 0.0)
    issues[0].game_state["my_reservation_value"] = 0.7
    assert assess(issues, {"reason": "max_rounds_exceeded", **pay(0, 0)}) == (None, None)
    bidders = [
        TurnState("m", "auction-v0", name, "", False, game_state={"my_valuation": value})
        for name, value in (("a", 80.0), ("b", 60.0))
    ]
    assert assess(bidders, {"reason": "auction_resolved", "winner": "b", **pay(0, 9)}) == (True, 0.75)
    assert assess([TurnState("m", "holdem-v0", "a", "", False)], {"reason": "showdown", "payoffs": []}) == (None, None)


# The commands.


def test_the_host_command(capsys, tmp_path):
    log = tmp_path / "log.jsonl"
    three = ["bargaining", "--agents", "fair", "fair", "random", "--rounds", "2", "--log", str(log)]
    assert cli.main(["host", "arena", *three, "--port", "0", "--seed", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {line["agent_id"]: line["matches"] for line in report["standings"]} == {"fair": 8, "fair-2": 8, "random": 8}
    assert sum(entry["kind"] == "end" for entry in match_log.read(log)) == 12
    three = ["holdem", "--agents", "call", "tight", "random", "--rounds", "1"]
    assert cli.main(["host", "arena", *three, "--port", "0", "--seed", "1"]) == 0
    out = capsys.readouterr().out
    assert "holdem-v0: 3 matches" in out
    assert "call-2" in out  # "call" is a word of hold'em


def test_the_host_command_counts_the_answers_of_a_language_model(capsys, tmp_path):
    library("openai")
    texts = iter(["I would rather talk.", '{"action_type": "bid", "payload": {"quantity": 1, "face": 9}}'])

    async def answer(request, body):
        text = next(texts, '{"action_type": "challenge", "payload": {}}')
        return web.json_response({**endpoint.said(text), "usage": endpoint.USAGE})

    with endpoint.answering(answer) as url:
        where = ["--model", "stub", "--llm-url", url, "--port", "0", "--seed", "1", "--out", str(tmp_path)]
        args = ["host", "arena", "liars_dice", "--agents", "llm", "careful", "--rounds", "2", "--json", *where]
        assert cli.main(args) == 0
    row = json.loads(capsys.readouterr().out)["models"]["llm"]
    assert row["unparsable"] == 1 and row["illegal"] >= 1  # the second answer is out of the bounds of its schema
    assert row["decisions"] >= 2 and row["tokens in"] >= 11 * (row["decisions"] + 1)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert "Language models" in page and "<th>unparsable</th>" in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("barganing",), "did you mean 'bargaining'"),
        (("bargaining", "--agents", "fiar", "fair"), "did you mean 'fair'"),
        (("bargaining", "--agents", "fair"), "1 agent for 2 seats"),
        (("bargaining", "--agents", "fair", "fair", "--rounds", "0"), "rounds=0"),
        (("bargaining", "--agents", "fair", "--remote", "http://x"), "name=http"),
        (("bargaining", "--agents", "fair", "fair", "--timeout", "0"), "timeout=0"),
        (("bargaining", "--agents", "fair", "fair", "--port", "70000"), "port=70000"),
        (("bargaining", "--agents", "fair", "fair", "--max-actions", "-3"), "actions=-3"),
    ],
)
def test_a_mistake_is_told_in_one_line(capsys, arguments, words):
    assert cli.main(["host", "arena", *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err and err.count("\n") == 1


def test_both_commands_meet(capsys):
    """`parlour host arena --wait 1` and `parlour deploy arena`, each in a thread, over a real socket."""
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def deploy():
        guest = ["conceder", "--game", "bargaining", "--name", "guest", "--port", "0", "--matches", "6", "--seed", "2"]
        assert cli.main(["deploy", "arena", *guest, "--arena", f"http://127.0.0.1:{port}"]) == 0

    guest = threading.Thread(target=deploy, daemon=True)
    guest.start()
    one = ["bargaining", "--agents", "fair", "--wait", "1", "--rounds", "3", "--port", str(port)]
    assert cli.main(["host", "arena", *one, "--seed", "1", "--json"]) == 0
    guest.join(20)
    assert not guest.is_alive()
    report = json.loads(next(line for line in capsys.readouterr().out.splitlines() if line.startswith("{")))
    assert {line["agent_id"]: (line["matches"], line["failed"]) for line in report["standings"]} == {
        "fair": (6, 0),
        "guest": (6, 0),
    }


def test_an_answer_of_every_allowed_message_fits():
    messages = [{"scope": "public", "content": "\u0001" * 4000}] * 10
    assert len(json.dumps({"action": {"action_type": "pass"}, "messages": messages})) < ANSWER_LIMIT
