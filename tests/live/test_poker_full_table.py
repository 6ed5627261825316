"""`host poker` for clients that do not ask for the agent format: whole tables in envelopes, and the page for agents."""

import asyncio
import json

import aiohttp
import pytest
from live.poker_client import hosting
from live.poker_full_client import FullClient, check_state
from live.poker_room import Room
from parlour.wrappers.live.common.server import local_url
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent_session import PokerAgentSession
from parlour.wrappers.live.poker.host_messages import FullTableForm, encode

pytestmark = pytest.mark.usefixtures("compiled_poker")
FORM = FullTableForm("tbl", "http://host/skill.md")


async def play(hands, players=3):
    options = {"seats": players, "min_players": players, "stack": 50 * hands, "max_hands": hands}
    async with hosting(**options) as (host, _), aiohttp.ClientSession() as http:
        return await asyncio.gather(*[FullClient(http, host, seed).play() for seed in range(players)])


async def test_clients_of_the_full_table_form_play():
    clients = await play(30)
    assert [(client.hands, client.errors, client.reason) for client in clients] == [(30, [], "admin_stopped")] * 3


@pytest.mark.nightly
async def test_clients_of_the_full_table_form_play_1000_hands():
    clients = await play(1000)
    assert [(client.hands, client.errors, client.reason) for client in clients] == [(1000, [], "admin_stopped")] * 3


class Mixed(Room):
    """A table whose seat 0 is sent every message in both forms."""

    def __init__(self, **options):
        super().__init__(3, **options)
        self.pairs = []
        to = self.table._messages.to

        def both(receiver, message):
            send = to(receiver, message)
            if receiver == 0:
                form = FORM.envelope(message, self.table._hand, self.table.seats)
                self.pairs.append((json.loads(messages.encode(message)), json.loads(encode(form))))
            return send

        self.table._messages.to = both


def test_both_forms_say_the_same_and_our_agent_reads_either():
    room = Mixed(stack=30)
    for _ in range(8):
        if room.table.status == "ended":
            break
        room.check_down()
        room.deal()
    compact = [message for message, _ in room.pairs if message["type"] == "game_state"]
    full = [envelope["payload"] for _, envelope in room.pairs if envelope["type"] == "game_state"]
    assert len(compact) > 30
    for short, long in zip(compact, full, strict=True):
        assert (short["seq"], short["hand"], short["phase"]) == (long["seq"], long["handNumber"], long["phase"])
        assert short["board"] == [one["rank"] + one["suit"] for one in long["communityCards"]]
        assert short["pot"] == sum(pot["amount"] for pot in long["pots"]) + sum(one["bet"] for one in long["players"])
        assert short["turn"] == long["currentSeat"] and short["toCall"] == long.get("toCall", 0)
        for a, b in zip(short["players"], long["players"], strict=True):
            assert (a["seat"], a["stack"], a["bet"]) == (b["seatId"], b["stack"], b["bet"])
            assert ("cards" in a) == (b["holeCards"] is not None) == (b["seatId"] == 0)


def test_a_seat_gets_the_form_of_its_newest_connection():
    room = Room(2)
    [send] = room.table.connect(0, FORM)[-1:]
    assert json.loads(encode(send.message))["payload"]["tableId"] == "tbl"
    [send] = room.table.connect(0)[-1:]
    assert "payload" not in json.loads(encode(send.message))


def test_side_pots_name_who_can_win_them():
    room = Room(0, stack=100, raise_cap=None, min_players=3)
    for i, stack in enumerate((20, 60, 100)):
        room.join(f"agent-{i}")
        room.table.seats[i].chips = stack
    for i in range(3):
        room.table.connect(i, FORM)
    while room.table.due.what == "act":
        seat, most = room.turn, int(room.table.table.raise_max)
        room.act("raiseTo", most) if most else room.act("call")
        assert seat in range(3)
    payload = json.loads(
        encode(
            FORM.envelope(messages.HandComplete(hand=1, results=[], showdown=True), room.table._hand, room.table.seats)
        )
    )["payload"]
    assert payload["finalPots"] == [
        {"amount": 60, "eligibleSeats": [0, 1, 2]},
        {"amount": 80, "eligibleSeats": [1, 2]},
    ]


async def test_errors_come_in_the_envelope_too():
    async with hosting() as (host, client), client.http.ws_connect(f"{host.ws_url}?token=wrong") as socket:
        error = (await socket.receive()).json()
        assert (error["type"], error["payload"]["code"]) == ("error", messages.INVALID_SESSION)
        assert error["payload"]["skill_doc_url"] == f"{host.url}/skill.md"
        assert (await socket.receive()).data == 1008


async def test_the_page_for_agents_names_this_server():
    async with hosting() as (host, client):
        async with client.http.get(host.url + "/skill.md") as answer:
            text = await answer.text()
            assert answer.content_type == "text/markdown"
        assert f'url: "{host.url}/v1/agents"' in text and "{BASE_URL}" not in text
        assert text.startswith("---\n") and "format=agent" in text


def test_our_agent_ignores_what_is_not_its_format():
    session = PokerAgentSession()
    room = Room(2)
    [welcome, *_] = room.table.connect(0, FORM)
    assert all("ignored" in event.text for event in session.receive(encode(welcome.message)))


async def test_tables_are_listed_by_status_and_page():
    async with hosting(tables=3) as (_, client):
        _, all_of_them = await client.call("GET", "/v1/tables")
        _, two = await client.call("GET", "/v1/tables?limit=2")
        _, none = await client.call("GET", "/v1/tables?status=ended")
    assert (len(all_of_them["tables"]), len(two["tables"]), len(none["tables"])) == (3, 2, 0)
    assert (all_of_them["hasMore"], two["hasMore"]) == (False, True)


async def test_a_flooder_of_watchers_takes_places_from_itself_alone():
    """The flooder comes from 127.0.0.2, the honest watcher from 127.0.0.1."""
    async with hosting(observers=3, address="0.0.0.0") as (host, client):
        url = f"{local_url(host.url)}/v1/tables/{next(iter(host.tables))}/watch"
        honest = await client.http.ws_connect(url)
        elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
        async with aiohttp.ClientSession(connector=elsewhere) as flooding:
            for _ in range(10):
                await flooding.ws_connect(url)
            late = await client.http.ws_connect(url)
            for socket in (honest, late):
                await socket.send_str("x")
                while (await socket.receive_json(timeout=5))["type"] != "error":
                    pass


async def test_without_places_nobody_looks_on():
    async with hosting() as (host, client):
        socket = await client.http.ws_connect(f"{host.url}/v1/tables/{next(iter(host.tables))}/watch")
        assert (await socket.receive_json())["code"] == "TABLE_FULL"
        await socket.receive()
        assert socket.close_code == 1008


async def observed(socket, table_id, hands):
    """Check every message that an observer gets; return the results of so many hands."""
    results = []
    while len(results) < hands:
        message = json.loads(await socket.receive_str())
        assert message["table_id"] == table_id and message["ts"] > 0
        if message["type"] == "game_state":
            state = message["payload"]
            check_state(state, -1, table_id)
            assert state["legalActions"] is None and "toCall" not in state and message["seq"] == state["seq"]
        elif message["type"] == "hand_complete":
            results.append(message["payload"])
    return results


async def test_an_observer_gets_the_full_table_and_no_hidden_card():
    options = {"seats": 3, "min_players": 3, "stack": 400, "hand_delay": 0.02}
    async with hosting(observers=2, **options) as (host, _), aiohttp.ClientSession() as http:
        table_id = next(iter(host.tables))
        address = f"{host.ws_url}/observe/{table_id}"
        async with http.ws_connect(address) as early:
            assert json.loads(await early.receive_str())["payload"]["code"] == "TABLE_NOT_FOUND"
            await early.receive()
            assert early.close_code == 1008
        clients = [asyncio.create_task(FullClient(http, host, seed).play()) for seed in range(3)]
        while host.tables[table_id].session.status != "running":
            await asyncio.sleep(0.01)
        async with http.ws_connect(address) as eve, http.ws_connect(address) as adam:
            await eve.send_str('{"type": "action", "action": {"turn_token": "x", "kind": "fold"}}')  # not heard
            seen = await observed(eve, table_id, 25)
            await (await http.ws_connect(address)).close()  # a third takes the place of the oldest, and goes
            async with asyncio.timeout(10):
                async for _ in eve:
                    pass
            by_hand = {result["handNumber"]: result for result in await observed(adam, table_id, 25)}
        both = [result for result in seen if result["handNumber"] in by_hand]  # adam may have come a hand later
        assert len(both) > 10 and all(by_hand[result["handNumber"]] == result for result in both)
        for client in clients:
            client.cancel()
    rows = [row for result in seen for row in result["results"]]
    assert any(row["holeCards"] for row in rows)
    assert all("handRank" in row for row in rows if row["holeCards"])  # shown at a showdown
