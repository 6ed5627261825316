"""A language model on every platform, as `parlour deploy … llm` plays it: its answers are counted while it plays."""

import asyncio
import re
from contextlib import asynccontextmanager
from functools import partial
from socket import socket

import endpoint
import msgspec
import pytest
from aiohttp import web
from beginnings import record
from command_line import run
from live.arena_players import FREE, ours, polling
from live.poker_client import CALLER, hosting
from live.poker_options import play
from needs import library
from parlour.envs import TurnState, game
from parlour.training.commands.deploy import watch_table
from parlour.training.commands.lookup import agent
from parlour.wrappers import Model, PolicyAgent, make_policy
from parlour.wrappers.agents.prompt import Prompting
from parlour.wrappers.live.arena.agent import ASKING, ArenaAgent, ArenaDecisions
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.common.clock import Deadline
from parlour.wrappers.live.common.player import Player, Turn
from parlour.wrappers.live.tangram.host import TangramHost

library("openai")

KUHN = game("kuhn")


def first_legal():
    """An endpoint whose first two answers are no JSON, and all others the first one that fits the schema."""
    asked = []

    async def answer(request, body):
        asked.append(body)
        if len(asked) <= 2:
            return web.json_response({**endpoint.said("I would rather not."), "usage": endpoint.USAGE})
        offers = body["response_format"]["json_schema"]["schema"]["anyOf"]
        empty = next(one for one in offers if not one["properties"]["payload"].get("required"))
        action = {"action_type": empty["properties"]["action_type"]["enum"][0], "payload": {}}
        return web.json_response({**endpoint.said(msgspec.json.encode(action).decode()), "usage": endpoint.USAGE})

    return answer


@asynccontextmanager
async def poker():
    """A poker table with another player; the value is what deploys a player there."""
    async with hosting(seats=2, hands=6, hand_delay=0.01) as (host, _):
        other = asyncio.create_task(play(host.url, CALLER))
        yield "poker", "llm", "--api", host.url, "--one-table"
        await other


@asynccontextmanager
async def arena(concurrent=1, **options):
    """An arena that calls the agent in so many matches at a time, with another one."""
    async with ArenaHost(KUHN, limits=FREE, **options) as host:
        host.add(ours("other", KUHN))

        async def plays():
            await host.wait_for(2)
            await host.tournament(2, concurrent=concurrent)

        playing = asyncio.create_task(plays())
        yield "arena", "llm", "--game", "kuhn", "--arena", host.url, "--matches", "4", "--port", "0"
        await playing


@asynccontextmanager
async def arena_by_polling():
    """An arena whose sessions the agent polls, with another one."""
    async with ArenaHost(KUHN, limits=FREE) as host, polling("other", host.url, KUHN) as other:
        await other.register()
        playing = asyncio.create_task(other.play(1, 2))
        options = ("--game", "kuhn", "--arena", host.url, "--sessions", "1", "--matches", "2", "--poll", "0.02")
        yield "arena", "llm", *options
        await playing


@asynccontextmanager
async def tangram():
    """A person of tangram who connects to the agent."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    table = game("tangram", figure="A square", aspect="godot", turns=10)
    person = TangramHost(table, PolicyAgent(table, make_policy("solver", table)), f"ws://127.0.0.1:{port}")
    playing = asyncio.create_task(person.play(1, 1))
    yield "tangram", "llm", "--port", str(port), "--matches", "1"
    await playing


@pytest.mark.parametrize("platform", [poker, arena, arena_by_polling, tangram], ids=lambda one: one.__name__)
def test_the_answers_of_a_deployed_model_are_counted_in_status_lines_and_at_the_end(platform, capsys):
    with endpoint.answering(first_legal()) as url, endpoint.in_a_thread(platform()) as deployed:
        model = ("--model", "stub", "--llm-url", url, "--status-every", "0.02", "--prices", "1", "2")
        code, out, said = run(capsys, "deploy", *deployed, *model)
    assert code == 0, said
    assert re.search(r"status: .*; llm: [\d,]+ decisions, .*2 unparsable, .*tokens in, .* cost", said), said
    turns = re.search(r"summary: .* ([\d,]+ decisions), 1 replaced", out)
    assert turns and re.search(rf"^llm: {turns[1]}, 1 replaced, 2 unparsable, [\d,]+ tokens in, ", out, re.M), out


def test_a_deployed_model_is_asked_in_all_its_matches_at_the_same_time(capsys):
    legal, now, most = first_legal(), [], []

    async def answer(request, body):
        now.append(body)
        most.append(len(now))
        await asyncio.sleep(0.5)
        now.remove(body)
        return await legal(request, body)

    with endpoint.answering(answer) as url, endpoint.in_a_thread(arena(4, timeout=20)) as deployed:
        code, out, _ = run(capsys, "deploy", *deployed, "--model", "stub", "--llm-url", url, "--deadline", "15")
    assert code == 0 and max(most) > 1 and re.search(r"^llm: \d+ decisions, (2 unparsable|1 replaced)", out, re.M), out


def test_turns_that_an_arena_gives_up_are_counted_everywhere(capsys):
    with endpoint.answering(endpoint.slow) as url, endpoint.in_a_thread(arena(4, timeout=1.0)) as deployed:
        code, out, _ = run(capsys, "deploy", *deployed, "--model", "stub", "--llm-url", url)
    turns = re.search(r"summary: 4 matches, (\d+) turns, (\d+) decisions, (\d+) replaced", out)
    assert code == 0 and turns and turns[1] == turns[2] == turns[3] and int(turns[1]) >= 4, out
    assert f"llm: {turns[1]} decisions, {turns[1]} replaced" in out, out


async def test_each_match_of_a_model_has_a_memory_of_its_own_that_no_stranger_takes(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.arena.agent.MOST_MATCHES", 2)
    begun = record(KUHN)
    state = KUHN.turn_state(begun, int(begun.turn)).to_dict()
    legal = first_legal()
    async with endpoint.endpoint(legal) as (url, asked):
        model, prompting = Model(name="stub", base_url=url), partial(Prompting, conversation=True)

        def make():
            return agent("llm", KUHN, None, model, prompting)

        decisions = ArenaDecisions(ArenaAgent("llm", make(), for_match=make), 20.0)
        await decisions.opening()
        for match in ("first", "first", "second", "stranger's", "first", "second"):
            ASKING.set("192.0.2.1" if match == "stranger's" else "")
            await decisions.decide(TurnState.from_dict({**state, "match_id": match}))
        await decisions.closing()
    sizes = [len(body["messages"]) for body, _ in asked[2:]]
    assert sizes == [2, 2, 2, 4, 4], sizes


def test_a_model_is_told_the_rules_of_the_table_that_it_meets():
    told = game("holdem", seats=2)
    player = agent("llm", told, None, Model(name="stub", base_url="http://127.0.0.1:9/v1"))
    watch_table("llm", player)
    table = game("holdem", seats=3, small_blind=5, big_blind=10, stacks=700)
    begun = record(table)
    player.on_turn(table.turn_state(begun, int(begun.turn)))
    assert "Poker for 3 seats" in player.prompting.rules
    assert "700 chips" in player.prompting.rules and "the blinds are 5 and 10" in player.prompting.rules
    player.on_turn(TurnState.from_dict(table.turn_state(begun, int(begun.turn)).to_dict() | {"game_state": {}}))
    assert player.on_turn is None and "Poker for 3 seats" in player.prompting.rules


async def test_a_model_is_waited_for_no_longer_than_its_turn_and_is_free_in_the_next_one():
    async with endpoint.endpoint(endpoint.slow) as (url, _):
        kuhn = game("kuhn")
        player = agent("llm", kuhn, None, Model(name="stub", base_url=url, timeout=20.0))
        driver = Player(player)
        begun = record(kuhn)
        state = kuhn.turn_state(begun, int(begun.turn))
        played = [await driver.answer(Turn(state), Deadline.after(2.0)) for _ in range(2)]
        driver.close()
    assert all("gave no answer within 1." in one.problem for one in played), played  # not: the agent is busy
    assert player.statistics.faults == {"late": 2} and player.statistics.decisions == 2
