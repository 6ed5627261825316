"""Models and endpoints that misbehave, against every command that asks one: a sentence, and what was measured stays."""

import asyncio
import json
import re
from functools import partial

import endpoint
import msgspec
import pytest
from aiohttp import web
from cases import slow_but
from command_line import line, run
from endpoint import saying
from needs import library
from parlour.training.commands.supervisor import TRY_AGAIN
from parlour.training.models import reference as core
from parlour.training.models.reference import load_pool

library("openai")

CALL = '{"action_type": "call", "payload": {}}'


async def endless(request, body):
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" " * 2**20)
        await asyncio.sleep(0)


async def drips(request, body, status=200):
    response = web.StreamResponse(status=status, headers={"Content-Type": "application/json"})
    await response.prepare(request)
    while True:
        await response.write(b" ")
        await asyncio.sleep(0.05)


TOOL = {"id": "1", "type": "function", "function": {"name": "call", "arguments": "{}"}}
BAD = {
    "nothing": (saying("  \n"), "unparsable"),
    "no choices": (endpoint.says_nothing, "unparsable"),
    "another language": (saying("我跟注，祝你好运。"), "unparsable"),
    "10 MB": (saying("call " * 2**21), "unparsable"),
    "10 MB around an answer": (saying(" " * 10**7 + CALL), "unparsable"),
    "tool calls": (saying(None, tool_calls=[TOOL]), "unparsable"),
    "two actions": (saying(f"{CALL}\n{CALL}"), "illegal"),
    "an action that is not offered": (saying('{"action_type": "bluff", "payload": {}}'), "illegal"),
    "a refusal": (endpoint.refuses, "refused"),
    "endless": (endless, "unparsable"),
    "drips for ever": (drips, "late"),
    "slow": (endpoint.slow, "late"),
    "down": (endpoint.unauthorized, "failed"),
    "rubbish": (endpoint.rubbish, "failed"),
    "an error without end": (partial(drips, status=400), "failed"),
}
"""What answers, and how the answer is counted."""


@pytest.fixture(params=slow_but(("no choices", "an action that is not offered", "a refusal", "slow", "down"), BAD))
def bad(request):
    answer, fault = BAD[request.param]
    with endpoint.answering(answer) as url:
        yield ("--model", "stub", "--llm-url", url, "--llm-timeout", "0.7" if fault == "late" else "20"), fault


def ends_early(fault):
    return fault in ("late", "failed")


def test_evaluate(bad, capsys):
    model, fault = bad
    code, out, said = line(capsys, "evaluate model kuhn --against random --deals 6 --parallel 1 --json", *model)
    rows = json.loads(out)["counts"].values()
    assert sum(row[fault] for row in rows) > 0 and {row["replaced"] == row["decisions"] for row in rows} == {True}
    assert code == (TRY_AGAIN if ends_early(fault) else 0)
    assert ("of 6 deals were played" in said) == ends_early(fault)


def test_reference(bad, capsys, tmp_path, monkeypatch):
    model, fault = bad
    pool = load_pool("kuhn")
    few = msgspec.structs.replace(pool, members=pool.members[:3])
    monkeypatch.setattr(core, "load_pool", lambda *arguments: few)
    command = "evaluate reference kuhn --deals 2 --parallel 1 --json"
    code, out, said = line(capsys, command, "--out", str(tmp_path), *model)
    assert code == (TRY_AGAIN if ends_early(fault) else 0), said
    if ends_early(fault):
        assert "no games are kept" in said and not list(tmp_path.iterdir())
    else:
        assert sum(row[fault] for row in json.loads(out)["counts"].values()) > 0


def test_exploit(bad, capsys, tmp_path):
    model, fault = bad
    answers = tmp_path / "answers.jsonl"
    code, out, said = line(capsys, "evaluate exploit-model kuhn --samples 1 --json --answers", str(answers), *model)
    if ends_early(fault):
        assert code == TRY_AGAIN and "0 of 12 information sets are measured" in said
    else:
        facts = json.loads(out)
        assert code == 0 and facts["illegal"] == 1 and facts["faults"][fault] > 0


def test_play(bad, capsys, tmp_path):
    model, fault = bad
    command = "play kuhn --agents llm random --matches 1 --delay 0 --seed 1"
    code, out, _ = line(capsys, command, "--log", str(tmp_path / "log"), *model)
    assert code == 0 and re.search(rf"{fault}: [1-9]", out), out[-1500:]
    assert (tmp_path / "log").stat().st_size < 10**6


def test_a_match_of_an_arena(bad, capsys):
    model, fault = bad
    command = "host arena kuhn --agents llm random --rounds 1 --port 0 --json --status-every 0"
    code, out, said = line(capsys, command, *model)
    assert code == 0, said[-600:]
    row = next(iter(json.loads(out)["models"].values()))
    assert row[fault] > 0 and row["replaced"] == row["decisions"] > 0


def test_a_good_model_is_evaluated_and_what_was_played_counts_after_ctrl_c(capsys, monkeypatch):
    arguments = ("evaluate", "model", "leduc", "--against", "call", "tight", "--json", "--prices", "1", "2")
    with endpoint.answering(saying(CALL)) as url:
        model = ("--model", "stub", "--llm-url", url)
        code, out, said = run(capsys, *arguments, "--deals", "4", *model)
        assert code == 0, said
        facts, whole, rounds = json.loads(out), core.results_of, []

        def stopped(*given):
            rounds.append(given)
            if len(rounds) == 3:
                raise KeyboardInterrupt
            return whole(*given)

        monkeypatch.setattr(core, "results_of", stopped)
        code, out, said = run(capsys, *arguments, "--deals", "4", *model)
    call, tight = facts["results"]
    assert (call["mean"], call["low"], call["high"]) == (0, 0, 0) and tight["deals"] == 4 and tight["mean"] < 0
    assert facts["model"] == "stub" and set(facts["counts"]) == {"player_0", "player_1"}
    row = facts["counts"]["player_0"]
    assert row["tokens in"] == 11 * row["decisions"] > 0 and row["replaced"] == 0
    assert row["cost"] == pytest.approx((11 + 2 * 7) * row["decisions"] / 1e6)
    assert code == TRY_AGAIN and "stopped; 2 of 4 deals were played" in said
    assert [one["deals"] for one in json.loads(out)["results"]] == [2, 2]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["kuhn", "--model", "stub", "--deals", "1"], "for --deals. Must be >= 2"),
        (["kuhn", "--model", "stub", "--parallel", "0"], "for --parallel. Must be > 0"),  # it would wait for ever
        (["kuhn", "--model", "stub", "--mute"], "unknown option: --mute"),
    ],
)
def test_mistakes_of_an_evaluation_are_sentences(arguments, sentence, capsys):
    code, _, said = run(capsys, "evaluate", "model", *arguments)
    assert code == 2 and sentence in said
