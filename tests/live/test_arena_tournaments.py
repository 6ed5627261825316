"""Our arena: tournaments of every game, and agents in process that misbehave in every way."""

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from live.arena_players import BARGAINING, FREE, Theirs, flood, ours, passing, raising, run
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.common.match_session import MatchLimits
from parlour.wrappers.logs import match_log
from parlour.wrappers.policies.base import RandomPolicy
from pydantic import BaseModel

# Tournaments.


def test_a_policy_that_hangs_loses_its_turns_and_holds_up_nobody_else():
    release, ticks = threading.Event(), []

    async def ticking():
        while not release.is_set():
            ticks.append(None)
            await asyncio.sleep(0.01)

    async def main():
        async with ArenaHost(BARGAINING, limits=FREE, timeout=0.2, seed=1) as host:
            stuck = ours("stuck")
            stuck.agent.respond = lambda state: release.wait(20)
            for agent in (stuck, ours("ann", seed=2)):
                host.add(agent)
            beat = asyncio.create_task(ticking())
            result = await host.play(["stuck", "ann"])
            release.set()
            await beat
            return result

    result = run(main())
    assert result.forced["stuck"] > 0 == result.forced["ann"]
    assert len(ticks) > 5


def test_every_game_is_hosted_and_every_match_replays(game, tmp_path):
    async def main():
        with match_log.MatchLog(tmp_path / "log.jsonl") as log:
            async with ArenaHost(game, limits=FREE, seed=1, log=log) as host:
                for seat in range(game.seats):
                    host.add(ours(f"agent {seat}", game, RandomPolicy(seed=seat)))
                return await host.tournament(1)

    results = run(main())
    assert len(results) == game.seats  # every rotation
    for result in results:
        assert sum(result.payoffs.values()) == pytest.approx(0) or not game.payoffs.zero_sum
        assert not any([*result.rejected.values(), *result.failed.values(), *result.forced.values(), result.error])
        assert result.agent_ids[0] in result.payoffs
    outcomes = [entry["outcome"] for entry in match_log.read(tmp_path / "log.jsonl") if entry["kind"] == "end"]
    assert len(outcomes) == game.seats
    assert match_log.replay(tmp_path / "log.jsonl").table.done


def test_a_round_robin_meets_everybody_in_every_seat():
    async def main():
        async with ArenaHost(BARGAINING, seed=1) as host:
            for name in "abc":
                host.add(ours(name))
            return await host.tournament(2, concurrent=3)

    tables = sorted(tuple(result.agent_ids) for result in run(main()))
    assert tables == sorted([(a, b) for a in "abc" for b in "abc" if a != b] * 2)


def test_the_same_seed_is_the_same_tournament():
    def tournament():
        async def main():
            async with ArenaHost(BARGAINING, seed=7) as host:
                for number, name in enumerate("ab"):
                    host.add(ours(name, seed=number))
                return [result.payoffs for result in await host.tournament(5, concurrent=2)]

        return run(main())

    assert tournament() == tournament()


def test_others_see_their_own_names_and_hooks_and_types():
    class Model(BaseModel):
        agent_id: str
        is_my_turn: bool
        game_state: dict[str, Any]

    seen = []

    class Typed(Theirs):
        def act(self, state: Model) -> Any:
            seen.append(state)
            return {"action": {"action_type": "submit_offer", "payload": {"my_share": 50}}}

    class Asynchronous(Theirs):
        async def act(self, state: Mapping[str, Any]):
            await asyncio.sleep(0)
            seen.append(state)
            return AgentResponse(Action("pass"))

    typed, asynchronous = Typed("ann", None), Asynchronous("bob", None)

    async def main():
        async with ArenaHost(BARGAINING) as host:
            host.add(typed)
            host.add(asynchronous)
            return await host.play(["ann", "bob"], seed=1)

    result = run(main())
    assert result.actions == 6 and result.reason == "max_rounds_exceeded"
    assert {type(state) for state in seen} == {Model, dict}
    assert seen[1]["agent_id"] == "bob" and seen[1]["game_state"]["last_offer_by"] == "ann"
    (match, game_id, agents), (same, outcome) = typed.told
    assert (game_id, agents, same) == ("bargaining-v0", ["ann", "bob"], match)
    assert {row["agent_id"] for row in outcome["payoffs"]} == {"ann", "bob"}


def test_matches_run_side_by_side():
    def slow(state):
        time.sleep(0.05)
        return {"action": {"action_type": "pass"}}

    async def main():
        async with ArenaHost(BARGAINING) as host:
            for name in "abcd":
                host.add(Theirs(name, slow))
            began = time.monotonic()
            results = await host.tournament(concurrent=8)
            return len(results), time.monotonic() - began

    count, seconds = run(main())
    assert count == 12
    assert seconds < 0.7 * 12 * 6 * 0.05  # one by one it would take the whole


# Agents that misbehave, in process.


class Exploding:
    def __getattr__(self, name):
        raise RuntimeError("do not look at me")


class BrokenText(Exception):
    def __str__(self):
        raise ValueError("no text either")


RUBBISH = {
    "none": None,
    "text": "accept",
    "wrong types": {"action": {"action_type": 3, "payload": []}},
    "unknown action": {"action": {"action_type": "explode"}},
    "not a number": {"action": {"action_type": "submit_offer", "payload": {"my_share": float("nan")}}},
    "ten megabytes": {"action": {"action_type": "pass", "payload": {"x": "y" * 10_000_000}}},
    "deep": json.loads("[" * 400 + "]" * 400),
    "half characters": {"action": {"action_type": "\ud800"}},
    "long message": {"action": {"action_type": "pass"}, "messages": [{"scope": "public", "content": "x" * 10**7}]},
    "many messages": {"action": {"action_type": "pass"}, "messages": [{"scope": "public", "content": "x"}] * 100_000},
}

BAD = {
    "raises": raising(RuntimeError("boom")),
    "raises without text": raising(BrokenText()),
    "exits": raising(SystemExit(1)),
    "interrupts": raising(KeyboardInterrupt()),
    "floods": flood,
    "explodes": lambda state: Exploding(),
    "changes the state": lambda state: state.game_state.clear() or state.allowed_actions.clear(),
    **{name: lambda state, answer=answer: answer for name, answer in RUBBISH.items()},
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_agent_loses_its_own_turns_only(name):
    bad = Theirs("bad", BAD[name])

    async def main():
        async with ArenaHost(BARGAINING, seed=1, timeout=20) as host:
            host.add(bad)
            host.add(ours("good"))
            host.add(ours("fine", policy="fair"))
            return await host.tournament()

    results = run(main())
    assert len(results) == 6
    for result in results:
        assert result.reason in ("agreement", "max_rounds_exceeded") and result.error is None
        others = [agent for agent in result.agent_ids if agent != "bad"]
        for kind in (result.rejected, result.failed, result.forced):
            assert not any(kind[agent] for agent in others)
        if "bad" in result.agent_ids:
            assert result.forced["bad"] > 0
    assert len(bad.told) == 8


@pytest.mark.parametrize("kind", ["raises", "wrong types"])
def test_a_mistake_may_cost_the_match(kind):
    async def main():
        async with ArenaHost(BARGAINING, limits=MatchLimits(rejected="end", failed="end")) as host:
            host.add(Theirs("bad", BAD[kind]))
            host.add(ours("good"))
            host.add(ours("fine"))
            return await host.tournament(concurrent=2)

    results = run(main())
    assert len(results) == 6
    for result in results:
        assert (result.reason == "error") == ("bad" in result.agent_ids)
        assert result.error is None or result.error.startswith("bad: ")


def test_an_agent_that_hangs_loses_its_turns_and_holds_up_nobody():
    release = threading.Event()

    async def main():
        async with ArenaHost(BARGAINING, timeout=0.2) as host:
            host.add(Theirs("hangs", lambda state: release.wait(60) and passing(state)))
            host.add(ours("good"))
            host.add(ours("fine"))
            return await host.tournament(concurrent=2)

    began = time.monotonic()
    results = run(main())
    release.set()
    assert len(results) == 6
    assert time.monotonic() - began < 10
    assert all(result.failed["hangs"] == result.forced["hangs"] > 0 for result in results if "hangs" in result.payoffs)


def test_a_hook_that_raises_or_hangs_costs_nothing():
    class Rude(Theirs):
        def on_match_start(self, match_id, game_id, agent_ids):
            raise RuntimeError("no")

        def on_match_end(self, match_id, outcome):
            time.sleep(0.6)

    async def main():
        async with ArenaHost(BARGAINING, timeout=0.3) as host:
            host.add(Rude("rude", passing))
            host.add(ours("good", policy="hardliner"))
            return await host.play(["rude", "good"])

    assert run(main()).failed == {"rude": 0, "good": 0}


def test_policies_that_fail_are_counted_too():
    class Broken:
        def act(self, observations, masks):
            return np.array([10**6])

    async def main():
        async with ArenaHost(BARGAINING) as host:
            host.add(ArenaAgent("broken", PolicyAgent(BARGAINING, Broken())))
            host.add(ours("good"))
            return await host.play(["broken", "good"])

    result = run(main())
    assert result.failed["broken"] == result.forced["broken"] > 0
