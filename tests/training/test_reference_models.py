"""Reference opponents: ratings of language models, and the leaderboards of all results."""

import asyncio
import json
import os
import re
import signal
import time
from collections import Counter
from pathlib import Path

import endpoint
import pytest
from aiohttp import web
from command_line import run
from needs import library
from parlour.training.commands.supervisor import TRY_AGAIN
from parlour.training.models.reference import load_pool
from reference_command import rated

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
    fixed = [n for n, one in enumerate(load_pool("leduc").members) if one.plays in ("call", "tight") and not one.random]
    assert fixed and all(of_model["results"][n] == of_bot["results"][n] for n in fixed)
    counts = of_model["counts"].values()
    assert sum(row["decisions"] for row in counts) == model.asked["all"]
    assert sum(row["tokens in"] for row in counts) == 11 * model.asked["all"]
    assert of_model["player"] == "stub" and of_model["kind"] == "model" and of_model["skill"] is None


def test_an_endpoint_that_goes_down_loses_no_game_and_the_same_command_goes_on(tmp_path, capsys):
    whole = Caller()
    with endpoint.answering(whole) as url:
        expected = rated(tmp_path / "whole", capsys, *asked(url, "--deals", "2"))
    broken = Caller(down_after=whole.asked["all"] * 3 // 4)
    with endpoint.answering(broken) as url:
        arguments = asked(url, "--deals", "2")
        said = rated(tmp_path, capsys, *arguments, code=TRY_AGAIN)
        assert re.search(r"refused by the endpoint: HTTP 401; \d+ games are kept", said)
        kept = json.loads((tmp_path / "leduc-stub.json").read_text())
        assert answers(kept)["failed"] == answers(kept)["replaced"] == 0  # what was lost is played again
        before = broken.asked["all"]
        broken.down_after = None
        result = rated(tmp_path, capsys, *arguments)
    assert result["results"] == expected["results"] and result["deals"] == 2
    assert broken.asked["all"] - before < whole.asked["all"] // 2
    assert answers(result) == answers(expected) and answers(result)["decisions"] == whole.asked["all"]
    lines = [json.loads(line) for line in (tmp_path / "leduc-stub.conversations.jsonl").read_text().splitlines()]
    assert len(lines) == whole.asked["all"]
    assert lines[0]["messages"][-1] == {"role": "assistant", "content": '{"action_type": "call", "payload": {}}'}
    assert {line["against"] for line in lines} == {one.name for one in load_pool("leduc").members}


def test_the_limit_of_time_is_a_limit_and_what_was_played_counts(tmp_path, capsys):
    class Slow(Caller):
        async def __call__(self, request, body):
            await asyncio.sleep(0.25 if self.asked["all"] < 20 else 12)
            return await super().__call__(request, body)

    began = time.monotonic()
    with endpoint.answering(Slow(dict.fromkeys(range(1, 9), "no"))) as url:
        arguments = asked(url, "--minutes", "0.15")
        code, out, said = run(capsys, "evaluate", "reference", *arguments, "--out", str(tmp_path))
    assert code == 0 and time.monotonic() - began < 60, said
    result = json.loads((tmp_path / "leduc-stub.json").read_text())
    played = [cell for member in result["results"] for deal in member for cell in deal if cell is not None]
    assert 0 < len(played) == result["return"]["games"] < 24
    total = answers(result)
    assert total["late"] == 0 and 0 < total["replaced"] < total["decisions"]
    assert f"of {total['decisions']} decisions {total['replaced']} were replaced" in " ".join(out.split())


@pytest.mark.slow
def test_ctrl_c_makes_no_late_answers_and_another_temperature_no_other_file(tmp_path, capsys, monkeypatch):
    class Interrupting(Caller):
        async def __call__(self, request, body):
            if self.asked["all"] == self.down_after - 1:
                self.asked["all"] += 1
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(1)
            return await super().__call__(request, body)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with endpoint.answering(model := Caller()) as url:
            rated(tmp_path / "two", capsys, *asked(url, "--deals", "2"))
        with endpoint.answering(Interrupting(down_after=model.asked["all"] * 3 // 2)) as url:
            said = rated(tmp_path, capsys, *asked(url, "--deals", "4"), code=TRY_AGAIN)
            assert re.search(r"stopped; \d+ games are kept", said)
            file = tmp_path / "leduc-stub.json"
            kept = file.read_text()
            total = answers(json.loads(kept))
            assert 0 < total["decisions"] < 2 * model.asked["all"] and (total["late"], total["replaced"]) == (0, 0)
            said = rated(tmp_path, capsys, *asked(url, "--deals", "4", "--temperature", "1"), code=2)
    finally:
        signal.signal(signal.SIGINT, before)
    assert "with another temperature:" in said and file.read_text() == kept


def answers(result):
    """Return the numbers of decisions, errors and tokens of all seats."""
    rows = result["counts"].values()
    return Counter({name: sum(row[name] for row in rows) for name in next(iter(rows)) if name != "s/decision"})


# Leaderboards.


def test_the_leaderboard_has_ratings_and_differences(tmp_path, capsys):
    for player, name in (("call", "a <b>caller</b>"), ("tight", "tight")):
        arguments = ("leduc", player, "--deals", "40", "--name", name, "--out", str(tmp_path))
        assert run(capsys, "evaluate", "reference", *arguments)[0] == 0
    code, out, _ = run(capsys, "evaluate", "reference", "--out", str(tmp_path), "--json")
    ((title, (first, second)),) = json.loads(out).items()
    assert code == 0 and title.startswith("leduc-v0, pool 2 (") and first["the first has more"] == "—"
    assert (first["player"], second["player"]) == ("tight", "a <b>caller</b>") and "[" in second["the first has more"]
    assert "a <b>caller</b>" in run(capsys, "evaluate", "reference", "--out", str(tmp_path))[1]


def test_broken_and_foreign_files_are_left_out_and_named(tmp_path, capsys):
    good = rated(tmp_path, capsys, "kuhn", "honest", "--deals", "10")
    foreign = {
        "none": {"player": 1, "pool": 2, "rating": 3, "results": []},
        "short": {**good, "results": good["results"][1:]},
        "ragged": {**good, "results": [[[0.0]], [[0.0, 1.0]]]},
        "counted": {**good, "counts": {"player_0": {"decisions": 3}}},
        "interval": {**good, "return": {**good["return"], "high": None}},
    }
    for name, facts in foreign.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(facts))
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "deep.json").write_text(9_999 * "[" + 9_999 * "]")
    (tmp_path / "other.json").write_text("[1]")
    (tmp_path / "members.json").write_text(
        json.dumps({**good, "members": {f"{name}!": one for name, one in good["members"].items()}})
    )
    code, out, said = run(capsys, "evaluate", "reference", "--out", str(tmp_path))
    lines = [line for line in said.splitlines() if line]
    named = {Path(line.partition("left out: ")[2].partition(".json")[0]).name for line in lines}
    assert code == 0 and named == {*foreign, "broken", "deep", "other"} and "honest" in out
