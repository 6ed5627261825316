"""Our agent against a double of the public platform, with the platform's own ways."""

import asyncio

import pytest
from aiohttp import web
from live.poker_options import play
from live.poker_platform import Platform
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.client import LiveError

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
async def test_bots_play_a_table_to_its_end(seats):
    platform = Platform(seed=seats, min_players=seats, stack=1000)
    platform.together = True  # who comes late does not know what the hands before cost
    results = await stays(platform, *[bot("maniac" if i % 2 else "tight", i) for i in range(seats)])
    assert {result.reason for result in results} == {"insufficient_players"}
    assert platform.hands >= 1
    assert platform.refused == [] and platform.timeouts == 0
    assert [result.rejected + result.replaced for result in results] == [0] * seats
    [table] = platform.tables.values()
    assert sorted(result.net for result in results) == sorted(p.stack - 1000 for p in table.players.values())


async def test_a_connection_that_the_server_has_forgotten_is_made_anew(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent_session.LEAST_PATIENCE", 0.2)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    platform = Platform(stack=1000, timeout=0.1, hand_delay=0.02)
    async with platform.serve() as url:
        plays = [asyncio.create_task(play(url, bot("tight"), retry_after=0.01, hands=40)) for _ in range(2)]
        while platform.hands < 3:
            await asyncio.sleep(0.01)
        [table] = platform.tables.values()
        del table.sockets[0]  # an older connection of the same agent closes after the new one has come
        results = await asyncio.wait_for(asyncio.gather(*plays), 60)
    assert {result.reason for result in results} <= {"hands", "insufficient_players"}
    assert min(result.hands for result in results) > 5  # a slow machine is deaf for longer
    assert 1 <= sum(result.reconnects for result in results) <= 3


async def test_who_connects_while_the_table_starts_hears_of_the_first_hand(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent_session.STARTING_SECONDS", 0.1)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    platform = Platform(stack=1000, timeout=30.0)
    platform.start_delay = 0.3
    [first, second] = await stays(platform, bot("tight"), bot("tight", 2), hands=5)
    assert min(first.hands, second.hands) >= 4
    assert platform.timeouts == 0 and first.reconnects + second.reconnects >= 1


@pytest.mark.parametrize("sign", ["page", "join", "welcome"])
@pytest.mark.parametrize("keep_playing", [False, True])
async def test_a_table_for_real_money_is_refused_and_its_seat_given_back(sign, keep_playing):
    platform = Platform(stack=1000)
    platform.real_money = (sign,)
    async with platform.serve() as url:
        plays = [play(url, bot("tight"), retry_after=0.01, hands=3, keep_playing=keep_playing) for _ in range(2)]
        refusals = await asyncio.wait_for(asyncio.gather(*plays, return_exceptions=True), 60)
        assert all(isinstance(refusal, LiveError) and "--play-for-real-money" in str(refusal) for refusal in refusals)
        assert all(
            player.gone
            for table in platform.tables.values()
            if table.status != "ended"
            for player in table.players.values()
        )


class Unwell(Platform):
    """Does not show what a table plays for."""

    async def _tables(self, request):
        return web.Response(status=503)


async def test_where_nobody_says_whether_it_is_for_real_money_no_seat_is_kept():
    platform = Unwell(stack=1000)
    async with platform.serve() as url:
        with pytest.raises(LiveError, match="HTTP 503"):
            await play(url, bot("tight"), retry_after=0.01, retries=2)
        assert platform.hands == 0 and all(
            player.gone or table.status == "ended"
            for table in platform.tables.values()
            for player in table.players.values()
        )


async def test_a_named_table_for_real_money_is_not_even_joined():
    platform = Platform(stack=1000)
    platform.real_money = ("page",)
    async with platform.serve() as url:
        waiting = platform._waiting()
        with pytest.raises(LiveError, match="real money"):
            await play(url, bot("tight"), table=waiting.table_id)
        assert waiting.players == {}


async def test_a_table_for_real_money_is_played_where_the_user_says_so():
    platform = Platform(stack=1000)
    platform.real_money = ("page", "join", "welcome")
    [first, second] = await stays(platform, bot("tight"), bot("tight", 2), hands=3, real_money=True)
    assert min(first.hands, second.hands) >= 2 and platform.refused == []
