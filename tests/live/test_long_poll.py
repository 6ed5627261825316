"""The protocol of examples/long_poll.py, both ends over real sockets: what a protocol has to add to `live.common`."""

import asyncio
import json
import time
from pathlib import Path

import aiohttp
import pytest
from forking import loaded
from parlour import envs
from parlour.envs import Action
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.policies.base import RandomPolicy

EXAMPLE = Path(__file__).parents[2] / "examples" / "long_poll.py"
pytestmark = pytest.mark.skipif(not EXAMPLE.is_file(), reason="the examples lie in the checkout")


@pytest.fixture(scope="module")
def long_poll():
    return loaded(EXAMPLE)


def random_agent(game, seed):
    return PolicyAgent(game, RandomPolicy(seed=seed))


@pytest.mark.parametrize(("name", "options"), [("bargaining", {}), ("holdem", {"seats": 3}), ("mafia", {"seats": 5})])
async def test_a_match_of_any_game_is_played_to_its_end_and_nothing_is_refused(long_poll, name, options):
    game = envs.game(name, **options)

    async with long_poll.LongPollHost(game, seed=3) as host, asyncio.TaskGroup() as group:
        agents = [random_agent(game, seed) for seed in range(game.seats)]
        urls = [f"{host.url}/turn/{token}" for token in host.tokens]
        ends = [group.create_task(long_poll.play(url, agent)) for url, agent in zip(urls, agents, strict=True)]
    session, ends = host.session, [end.result() for end in ends]

    assert session.outcome is not None and all(end.outcome is not None for end in ends)
    for counts in (session.rejections, session.failures, session.forced):
        assert set(counts.values()) == {0}


class Slow:
    def respond(self, state):
        time.sleep(0.5)
        return Action("accept")


class Broken:
    def respond(self, state):
        raise RuntimeError("boom")


@pytest.mark.parametrize("broken", [Slow(), Broken()], ids=["slow", "broken"])
async def test_an_agent_that_fails_plays_the_safe_action_in_time(long_poll, broken):
    game = envs.game("bargaining", rounds=2)

    async with long_poll.LongPollHost(game, seconds=5.0, seed=3) as host, asyncio.TaskGroup() as group:
        for token, agent in zip(host.tokens, (broken, random_agent(game, 1)), strict=True):
            group.create_task(long_poll.play(f"{host.url}/turn/{token}", agent, seconds=0.1))
    session = host.session

    assert session.outcome is not None and set(session.forced.values()) == {0}


async def test_an_agent_that_is_gone_costs_its_turns_and_strangers_cost_nothing(long_poll):
    game = envs.game("bargaining", rounds=2)

    async with long_poll.LongPollHost(game, seconds=0.2, seed=3) as host, aiohttp.ClientSession() as http:
        token = next(token for token, name in host.tokens.items() if name == host.session.turn)
        for path, body, status in (
            ("turn/nobody", None, 404),
            (f"act/{token}?turn=0", b"[" * 10_000, 400),
            (f"act/{token}?turn=7", b"{}", 409),
            (f"act/{token}?turn=0", b"{}", 200),
        ):
            method = "GET" if body is None else "POST"
            async with http.request(method, f"{host.url}/{path}", data=body) as reply:
                assert reply.status == status
                answer = await reply.read()
        assert json.loads(answer)["error"] == "invalid_payload"
        async with asyncio.timeout(20), http.get(f"{host.url}/turn/{token}") as reply:
            await reply.read()
        while host.session.outcome is None:
            await asyncio.sleep(0.1)
    result = host.session

    assert sum(result.forced.values()) >= 2
