"""An agent that keeps playing: from table to table, through restarts and refusals, until it is to stop."""

import asyncio
from datetime import datetime, timedelta

import pytest
from live.poker_client import hosting
from live.poker_options import play
from live.poker_platform import Platform
from live.poker_server import CALLER, Scripted, checks
from live.test_poker_platform import bot
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.poker.rest_client import PokerRestClient, SeatRequest
from yarl import URL

pytestmark = pytest.mark.usefixtures("compiled_poker")


def goes_on(url, agent=CALLER, **options):
    return asyncio.create_task(play(url, agent, keep_playing=True, **{"retry_after": 0.01, **options}))


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.01)


async def stopped(*tasks):
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_it_goes_from_table_to_table_until_its_hands_are_played():
    platform = Platform(stack=20)
    async with platform.serve() as url:
        other = goes_on(url, bot("maniac"), name="other")
        result = await goes_on(url, bot("maniac", 2), name="ann", hands=30)
        await stopped(other)
    assert (result.hands, result.reason) == (30, "hands")
    assert result.tables > 2 and len(platform.tables) >= result.tables
    assert result.rejected == result.replaced == platform.timeouts == 0
    assert platform.registered == ["other", "ann"] or platform.registered == ["ann", "other"]


def all_in(state):
    most = [offer["max"] for offer in state.game_state["actions"] if offer["kind"] == "raiseTo"]
    return AgentResponse(Action("raiseTo", {"amount": most[0]})) if most else checks(state)


def folds(state):
    kinds = [action.action_type for action in state.allowed_actions]
    return AgentResponse(Action("check" if "check" in kinds else "fold"))


async def test_who_is_busted_does_not_wait_for_the_others():
    platform = Platform(min_players=3, stack=60, hand_delay=0.05)
    async with platform.serve() as url:
        players = [goes_on(url, Scripted(answer)) for answer in (all_in, checks, folds)]
        await until(lambda: len(platform.tables) > 1)
        assert [table.status for table in platform.tables.values()] == ["running", "waiting"]
        await stopped(*players)


@pytest.mark.parametrize("forget_agents", [False, True], ids=["sessions-lost", "keys-lost-too"])
async def test_a_server_that_was_restarted_is_joined_anew(forget_agents):
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        players = [goes_on(url, name=name) for name in ("ann", "bob")]
        await until(lambda: platform.hands > 5)
        platform.restart(forget_agents=forget_agents)
        hands = platform.hands
        await until(lambda: platform.hands > hands + 5)
        await stopped(*players)
    assert len(platform.registered) == (4 if forget_agents else 2)
    assert platform.timeouts == 0


async def test_until_ends_it_after_the_hand_and_at_once_where_it_waits():
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        soon = datetime.now() + timedelta(seconds=1)
        alone = await goes_on(url, until=soon)
        assert (alone.reason, alone.hands) == ("until", 0)
        soon = datetime.now() + timedelta(seconds=1)
        results = await asyncio.gather(goes_on(url, until=soon), goes_on(url, until=soon))
    assert {result.reason for result in results} == {"until"}
    assert min(result.hands for result in results) > 0
    assert platform.timeouts == 0


async def test_at_our_own_tables_it_waits_for_the_next_one_to_open():
    async with hosting(seats=2, tables=1, stack=10) as (host, _):
        players = [goes_on(host.url, bot("maniac", seed), hands=25) for seed in (1, 2)]
        first = await asyncio.wait(players, return_when=asyncio.FIRST_COMPLETED, timeout=60)
        [result] = [task.result() for task in first[0]][:1]
        await stopped(*players)
    assert (result.hands, result.reason) == (25, "hands") and result.tables > 1


async def test_a_seat_that_a_crash_left_behind_is_given_back():
    async with hosting(seats=3, min_players=2) as (host, lost):
        await lost.register("ann")
        await lost.join()  # and its token is lost
        other = goes_on(host.url)
        result = await goes_on(host.url, api_key=lost.key, hands=3)
        await stopped(other)
    assert result.hands == 3


async def test_what_was_never_reached_is_given_up():
    with pytest.raises(LiveError, match="gave up after 4 tries"):
        await goes_on("http://127.0.0.1:9")


async def test_a_key_that_never_worked_and_a_missing_access_token_are_told():
    async with hosting(access_token="let me in") as (host, _):
        with pytest.raises(LiveError, match="INVALID_API_KEY"):
            await goes_on(host.url, api_key="wrong")
        with pytest.raises(LiveError, match="UNAUTHORIZED"):
            await goes_on(host.url)


def test_a_key_that_was_given_is_kept_and_one_of_ours_is_not():
    given = PokerRestClient(None, URL("http://h"), SeatRequest(api_key="given"))
    assert not given.forget_key() and given.api_key == "given"  # it has never worked
    given._key_works = True
    assert given.forget_key() and given.api_key == "given"
    given.api_key = "registered"
    assert given.forget_key() and given.api_key is None


async def test_a_table_that_falls_silent_is_left(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent.STALLED_SECONDS", 0.1)
    monkeypatch.setattr("parlour.wrappers.live.poker.agent_session.PING_SECONDS", 0.02)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    platform = Platform(stack=1000, hand_delay=3600.0)
    async with platform.serve() as url:
        players = [goes_on(url, deadline=0.01, hands=3) for _ in range(2)]
        results = await asyncio.gather(*players)
    assert [result.hands for result in results] == [3, 3]
    assert min(result.tables for result in results) == 3


async def test_a_table_that_never_starts_is_left(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent_session.STARTING_SECONDS", 0.05)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    monkeypatch.setattr("parlour.wrappers.live.poker.agent_session.NEVER_STARTED_SECONDS", 0.1)
    platform = Platform(stack=1000)
    platform.start_delay = 3600.0
    async with platform.serve() as url:
        players = [goes_on(url, hands=2) for _ in range(2)]
        await until(lambda: len(platform.tables) > 1)
        platform.start_delay = 0.0
        results = await asyncio.gather(*players)
    assert [result.hands for result in results] == [2, 2]


async def test_a_seats_url_is_not_for_going_on():
    with pytest.raises(ValueError, match="one seat's"):
        await play("ws://127.0.0.1:9/ws", CALLER, keep_playing=True)


async def test_a_server_that_kept_its_database_is_joined_anew():
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        players = [goes_on(url, name=name) for name in ("ann", "bob")]
        await until(lambda: platform.hands > 5)
        platform.restart_with_database()
        hands = platform.hands
        await until(lambda: platform.hands > hands + 5)
        await stopped(*players)
    assert len(platform.registered) == 2 and platform.timeouts == 0


async def test_a_seat_that_was_given_twice_is_left_to_the_other():
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        ann = goes_on(url, name="ann")
        await until(lambda: platform.sessions)
        platform.one_seat = True
        bob = goes_on(url, name="bob")
        await until(lambda: platform.hands > 3)
        [table] = platform.tables.values()
        assert sorted(player.name for player in table.players.values()) == ["ann", "bob"]
        await stopped(ann, bob)
    assert platform.refused == [] and platform.timeouts == 0


async def test_a_seat_of_ours_whose_token_is_lost_is_given_back():
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        crashed = goes_on(url, name="ann")
        await until(lambda: platform.sessions)
        for table in platform.tables.values():
            table.leave = None  # what the agent says when it is stopped does not arrive
        await stopped(crashed)
        for table in platform.tables.values():
            del table.leave
        players = [goes_on(url, api_key="key-1"), goes_on(url, name="bob")]
        await until(lambda: platform.hands > 3)
        await stopped(*players)
    assert platform.registered == ["ann", "bob"] and platform.timeouts == 0


async def test_a_session_that_has_expired_gives_its_seat_back():
    platform = Platform(stack=1000, min_players=3)
    async with platform.serve() as url:
        ann = goes_on(url, name="ann")
        await until(lambda: platform.queues)
        platform.sessions.clear()
        for socket in list(platform.queues):
            socket._req.transport.abort()
        await until(lambda: platform.sessions)
        await stopped(ann)
    assert len(platform.tables) == 1  # it has joined the same table again
