"""The live poker agent over real sockets: connections and answers that are lost, servers that refuse, what is kept."""

import asyncio
import json
import logging
import time

import pytest
from aiohttp import web
from live.poker_client import CALLER, hosting
from live.poker_options import play
from live.small_server import served
from live.table_people import Program
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.poker.host import HostedTable, PokerHost, PokerStore
from parlour.wrappers.logs.match_log import read

pytestmark = pytest.mark.usefixtures("compiled_poker")


async def stay(host, agent=CALLER, **options):
    return await asyncio.wait_for(play(host.url, agent, **{"retry_after": 0.01, **options}), 20)


def noting(events):
    """Return what notes an event of a host in words, such as ``joined 3 Ann``; hands are left out."""
    return lambda kind, **told: kind != "hand" and events.append(f"{kind} {told.get('seat')} {told.get('name')}")


async def test_registering_joining_and_leaving_by_rest():
    events = []
    async with hosting(1, min_players=2, on_event=noting(events)) as (host, other):
        playing = asyncio.create_task(other.play())
        played = await stay(host, name="Ann", seat=3, hands=2)
        playing.cancel()
    assert (played.hands, played.reason) == (2, "hands")
    assert events[:3] == ["joined 0 client-0", "joined 3 Ann", "left 3 None"]


@pytest.mark.parametrize("after", [False, True], ids=["before-the-action", "before-the-ack"])
async def test_the_agent_reconnects_in_the_middle_of_a_hand(after, monkeypatch):
    """Its connection is lost at some of its actions: before they are played, or after that and before the ack."""
    receive, sent = HostedTable.receive, []

    def cut(table, seat, connection, data):
        message = json.loads(data)
        if message["type"] == "action" and seat == 1:
            sent.append(message["action"])
            if len(sent) in (2, 4, 5):
                connection.abort()
                if not after:
                    return False
        return receive(table, seat, connection, data)

    monkeypatch.setattr(HostedTable, "receive", cut)
    async with hosting(1, min_players=2, hands=10, hand_delay=0.05) as (host, other):
        session = host.tables[other.table_id].session
        playing = asyncio.create_task(other.play())
        played = await stay(host)
        await playing
    assert (played.reconnects, played.reason, played.replaced, played.rejected) == (3, "admin_stopped", 0, 0)
    assert played.net == session.stack(1) - 100
    if not after:  # what was not acknowledged is sent again, to the letter
        assert sent[1] == sent[2]


def test_a_server_that_is_gone_is_given_up(caplog):
    with pytest.raises(LiveError, match="gave up after 4 tries") as caught:
        asyncio.run(play("ws://127.0.0.1:9/ws?token=s3cret-session", CALLER, retry_after=0.001))
    assert caught.value.code == "UNREACHABLE"
    assert sum("trying again" in record.message for record in caplog.records) == 3
    assert "s3cret-session" not in caplog.text + str(caught.value)


async def test_a_lost_answer_to_a_join_is_recovered_from(monkeypatch):
    join, events = PokerHost._join, []

    async def lost_once(host, request):
        answer = await join(host, request)
        if len(events) == 2:
            request.transport.abort()
        return answer

    monkeypatch.setattr(PokerHost, "_join", lost_once)
    async with hosting(min_players=2, on_event=noting(events), hands=3) as (host, other):
        await other.sit_down()
        playing = asyncio.create_task(other.play())
        assert (await stay(host, name="Ann")).reason == "admin_stopped"
        await playing
    assert events[1:4] == ["joined 1 Ann", "left 1 None", "joined 1 Ann"]


async def test_who_was_seated_before_is_not_thrown_out():
    async with hosting(1) as (host, client):
        with pytest.raises(LiveError, match="ALREADY_SEATED"):
            await stay(host, table=client.table_id, api_key=client.key)
        assert list(host.tables[client.table_id].session.seats) == [0]


async def test_who_is_stopped_gives_its_seat_back():
    events, thinking, loop = [], asyncio.Event(), asyncio.get_running_loop()
    agent = Program(lambda state: (loop.call_soon_threadsafe(thinking.set), time.sleep(0.3))[1])
    async with hosting(1, min_players=2, on_event=noting(events)) as (host, other):
        others = asyncio.create_task(other.play())
        playing = asyncio.create_task(stay(host, agent))
        await asyncio.wait_for(thinking.wait(), 10)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        others.cancel()
    assert events[2] == "left 1 None"


@pytest.mark.parametrize(
    "answer", ["[" * 100_000, "{}", '{"ws_url": "ws://[", "session_token": "t"}'], ids=["deep", "empty", "no-address"]
)
async def test_a_nonsensical_answer_to_a_join_is_an_error_of_ours(answer):
    async def nonsense(request):
        return web.Response(text=answer)

    async with served(web.post("/v1/{call:.*}", nonsense)) as address:
        with pytest.raises(LiveError):
            await play(f"http://{address}", CALLER, api_key="s3cret-key", retry_after=0.01)


async def test_a_refused_handshake_stops_the_agent():
    tries = []

    async def forbid(request):
        tries.append(request)
        raise web.HTTPUnauthorized

    async with served(web.get("/v1/ws", forbid)) as address:
        with pytest.raises(LiveError, match=r"UNAUTHORIZED: the server answered the handshake with HTTP 401") as caught:
            await play(f"ws://{address}/v1/ws?token=s3cret-session", CALLER, retry_after=0.01)
    assert len(tries) == 1 and "s3cret-session" not in str(caught.value)


async def test_a_refused_join_names_the_servers_reason():
    async with hosting(2, seats=2) as (host, *_):
        with pytest.raises(LiveError, match=r"TABLE_FULL: .*all 2 seats are taken"):
            await stay(host)


async def test_the_match_log_tells_the_stay_and_no_secrets(tmp_path, caplog, monkeypatch):
    secrets, hands = [], []
    for name, made in (("issue", PokerStore.issue), ("register", PokerStore.register)):
        monkeypatch.setattr(PokerStore, name, lambda *args, made=made: secrets.append(made(*args)) or secrets[-1])
    with caplog.at_level(logging.DEBUG):
        async with hosting(1, min_players=2, hands=5, on_event=lambda _, **told: hands.append(told)) as (host, other):
            playing = asyncio.create_task(other.play())
            played = await stay(host, log=tmp_path / "log.jsonl")
            await playing
    entries = list(read(tmp_path / "log.jsonl"))
    kinds = [entry["kind"] for entry in entries]
    assert (kinds[0], kinds[-1]) == ("joined", "ended")
    assert kinds.count("hand") == played.hands
    turns = [entry for entry in entries if entry["kind"] == "turn"]
    played = [one["kind"] for hand in hands for one in hand.get("actions", ()) if one["seat"] == 1]
    assert [turn["response"]["action"]["action_type"] for turn in turns] == played != []
    assert all(turn["turn_state"]["is_my_turn"] for turn in turns)
    text = (tmp_path / "log.jsonl").read_text()
    (key, _), token = secrets[-2:]
    assert "turn_token" not in text
    for secret in (key, token):
        assert secret not in text + caplog.text
