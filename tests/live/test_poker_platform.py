"""Our agent against a double of the public platform, with the platform's own ways."""

import asyncio

import pytest
from live.event_loops import on_loop
from live.poker_platform import Platform
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.poker.agent import play

pytestmark = pytest.mark.usefixtures("compiled_poker")


def bot(name, seed=1):
    game = envs.game("holdem", seats=6)
    return PolicyAgent(game, game.bots[name](game, seed))


async def stays(platform, *agents, **options):
    """Let agents play at one table to its end; return what came of it."""
    async with platform.serve() as url:
        plays = [play(url, agent, name=f"agent-{i}", retry_after=0.01, **options) for i, agent in enumerate(agents)]
        return await asyncio.wait_for(asyncio.gather(*plays), 100)


@pytest.mark.parametrize("seats", [2, 3, 6])
@on_loop
async def test_bots_play_a_table_to_its_end(seats):
    platform = Platform(seed=seats, min_players=seats, stack=1000)
    results = await stays(platform, *[bot("maniac" if i % 2 else "tight", i) for i in range(seats)])
    assert {result.reason for result in results} == {"insufficient_players"}
    assert platform.hands >= 1
    assert platform.refused == [] and platform.timeouts == 0
    assert [result.rejected + result.replaced for result in results] == [0] * seats
    [table] = platform.tables.values()
    assert sorted(result.net for result in results) == sorted(p.stack - 1000 for p in table.players.values())
