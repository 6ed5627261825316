"""Our agent against a double of the public platform, with its own ways: at one table, and from table to table."""

import asyncio
from datetime import datetime, timedelta

import pytest
from aiohttp import web
from live.event_loops import until
from live.poker_client import CALLER, hosting
from live.poker_options import play
from live.poker_platform import Platform
from live.table_people import Program, caller
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.poker.agent import PokerRestClient, SeatRequest
from yarl import URL

pytestmark = pytest.mark.usefixtures("compiled_poker")


def bot(name, seed=1):
    game = envs.game("holdem", seats=6)
    return PolicyAgent(game, game.bots[name](game, seed))


async def stays(platform, *agents, **options):
    """Let agents play at one table to its end; return what came of it."""
    async with platform.serve() as url:
        plays = [play(url, agent, name=f"agent-{i}", retry_after=0.01, **options) for i, agent in enumerate(agents)]
        return await asyncio.wait_for(asyncio.gather(*plays), 280)


@pytest.mark.parametrize("seats", [2, 6])
async def test_bots_play_a_table_to_its_end(seats):
    platform = Platform(seed=seats, min_players=seats, stack=200)
    platform.together = True  # who comes late does not know what the hands before cost
    results = await stays(platform, *[bot("maniac" if i % 2 else "tight", i) for i in range(seats)])
    assert {result.reason for result in results} == {"insufficient_players"}
    assert platform.hands >= 1
    assert platform.refused == [] and platform.timeouts == 0
    assert [result.rejected + result.replaced for result in results] == [0] * seats
    [table] = platform.tables.values()
    assert sorted(result.net for result in results) == sorted(p.stack - 200 for p in table.players.values())


async def test_a_connection_that_the_server_has_forgotten_is_made_anew(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent.LEAST_PATIENCE", 0.2)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    platform = Platform(stack=1000, timeout=0.1, hand_delay=0.02)
    async with platform.serve() as url:
        plays = [asyncio.create_task(play(url, bot("tight"), retry_after=0.01, hands=40)) for _ in range(2)]
        await until(lambda: platform.hands >= 3)
        [table] = platform.tables.values()
        del table.sockets[0]  # an older connection of the same agent closes after the new one has come
        results = await asyncio.wait_for(asyncio.gather(*plays), 60)
    assert {result.reason for result in results} <= {"hands", "insufficient_players"}
    assert min(result.hands for result in results) > 5  # a slow machine is deaf for longer
    assert 1 <= sum(result.reconnects for result in results) <= 3


async def test_who_connects_while_the_table_starts_hears_of_the_first_hand(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent.STARTING_SECONDS", 0.1)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    platform = Platform(stack=1000, timeout=30.0)
    platform.start_delay = 0.3
    [first, second] = await stays(platform, bot("tight"), bot("tight", 2), hands=5)
    assert min(first.hands, second.hands) >= 4
    assert platform.timeouts == 0 and first.reconnects + second.reconnects >= 1


def nobody_sits(platform):
    return all(p.gone or table.status == "ended" for table in platform.tables.values() for p in table.players.values())


@pytest.mark.parametrize(("sign", "keep_playing"), [("page", True), ("join", False), ("welcome", True)])
async def test_a_table_for_real_money_is_refused_and_its_seat_given_back(sign, keep_playing):
    platform = Platform(stack=1000)
    platform.real_money = (sign,)
    async with platform.serve() as url:
        plays = [play(url, bot("tight"), retry_after=0.01, hands=3, keep_playing=keep_playing) for _ in range(2)]
        refusals = await asyncio.wait_for(asyncio.gather(*plays, return_exceptions=True), 60)
        assert all(isinstance(refusal, LiveError) and "--play-for-real-money" in str(refusal) for refusal in refusals)
        assert nobody_sits(platform)


class Unwell(Platform):
    """Does not show what a table plays for."""

    async def _tables(self, request):
        return web.Response(status=self.status, text=self.text)


@pytest.mark.parametrize(
    ("status", "text", "problem"),
    [(503, "", "HTTP 503"), (403, "{}", "HTTP_403"), (400, "", "HTTP_400"), (200, "[]", "read"), (200, "", "read")],
)
async def test_where_nobody_says_whether_it_is_for_real_money_no_seat_is_kept(status, text, problem):
    platform = Unwell(stack=1000)
    platform.status, platform.text = status, text
    async with platform.serve() as url:
        with pytest.raises(LiveError, match=problem):
            await play(url, bot("tight"), retry_after=0.01, retries=2)
        assert platform.hands == 0 and nobody_sits(platform)


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
    [first, second] = await stays(platform, bot("tight"), bot("tight", 2), hands=3, play_for_real_money=True)
    assert min(first.hands, second.hands) >= 2 and platform.refused == []


def goes_on(url, agent=CALLER, **options):
    return asyncio.create_task(play(url, agent, keep_playing=True, **{"retry_after": 0.01, **options}))


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
    return AgentResponse(Action("raiseTo", {"amount": most[0]})) if most else caller(state)


def folds(state):
    kinds = [action.action_type for action in state.allowed_actions]
    return AgentResponse(Action("check" if "check" in kinds else "fold"))


async def test_who_is_busted_does_not_wait_for_the_others():
    platform = Platform(min_players=3, stack=60, hand_delay=0.05)
    async with platform.serve() as url:
        players = [goes_on(url, Program(answer)) for answer in (all_in, caller, folds)]
        await until(lambda: len(platform.tables) > 1)
        assert [table.status for table in platform.tables.values()] == ["running", "waiting"]
        await stopped(*players)


@pytest.mark.parametrize("kept", ["database", "keys", "nothing"])
async def test_a_server_that_was_restarted_is_joined_anew(kept):
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        players = [goes_on(url, name=name) for name in ("ann", "bob")]
        await until(lambda: platform.hands > 5)
        platform.restart(kept)
        hands = platform.hands
        await until(lambda: platform.hands > hands + 5)
        await stopped(*players)
    assert platform.timeouts == 0 and len(platform.registered) == (4 if kept == "nothing" else 2)


async def test_until_ends_it_after_the_hand_and_at_once_where_it_waits():
    platform = Platform(stack=1000)
    async with platform.serve() as url:
        soon = datetime.now() + timedelta(seconds=1)
        alone = await goes_on(url, until=soon)
        assert (alone.reason, alone.hands) == ("until", 0)
        soon = datetime.now() + timedelta(seconds=1)
        results = await asyncio.gather(goes_on(url, until=soon), goes_on(url, until=soon))
    assert {result.reason for result in results} == {"until"}
    assert min(result.hands for result in results) > 0 and platform.timeouts == 0


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
    monkeypatch.setattr("parlour.wrappers.live.poker.agent.PING_SECONDS", 0.02)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    platform = Platform(stack=1000, hand_delay=3600.0)
    async with platform.serve() as url:
        players = [goes_on(url, deadline=0.01, hands=3) for _ in range(2)]
        results = await asyncio.gather(*players)
    assert [result.hands for result in results] == [3, 3]
    assert min(result.tables for result in results) == 3


async def test_a_table_that_never_starts_is_left(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.poker.agent.STARTING_SECONDS", 0.05)
    monkeypatch.setattr("parlour.wrappers.live.common.player.TICK_SECONDS", 0.02)
    monkeypatch.setattr("parlour.wrappers.live.poker.agent.NEVER_STARTED_SECONDS", 0.1)
    platform = Platform(stack=1000)
    platform.start_delay = 3600.0
    async with platform.serve() as url:
        players = [goes_on(url, hands=2) for _ in range(2)]
        await until(lambda: len(platform.tables) > 1)
        platform.start_delay = 0.0
        results = await asyncio.gather(*players)
    assert [result.hands for result in results] == [2, 2]


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


@pytest.mark.parametrize("case", ["key only", "seat kept", "seat kept and gone"])
async def test_a_seat_that_a_crash_left_is_gone_on_in_or_given_back(case, tmp_path):
    platform, state = Platform(stack=1000), tmp_path / "seat"
    options = {"api_key": "key-1"} if case == "key only" else {"state": state}
    async with platform.serve() as url:
        crashed = goes_on(url, name="ann", state=state)
        await until(lambda: platform.queues)
        kept, sessions = state.read_bytes(), len(platform.sessions)
        assert not state.stat().st_mode & 0o077
        for table in platform.tables.values():
            table.leave = None  # what the agent says when it is stopped does not arrive
        await stopped(crashed)
        state.write_bytes(kept)
        for table in platform.tables.values():
            del table.leave
        if case == "seat kept and gone":
            platform.restart()
        players = [goes_on(url, name="ann", **options), goes_on(url, name="bob")]
        await until(lambda: platform.hands > 3)
        await stopped(*players)
    assert platform.registered == ["ann", "bob"] and platform.timeouts == 0
    if case == "seat kept":
        assert len(platform.sessions) == sessions + 1  # bob's alone


def test_a_file_that_keeps_no_seat_is_not_overwritten(tmp_path):
    (file := tmp_path / "notes").write_text("mine")
    with pytest.raises(ValueError, match="notes keeps no seat"):
        PokerRestClient(None, URL("http://h"), SeatRequest(state=file))
    file.write_text("")  # as a new temporary file
    assert PokerRestClient(None, URL("http://h"), SeatRequest(state=file)).api_key is None
