"""The poker server over real sockets on this machine: REST calls, connecting, and bad input."""

import asyncio

import pytest
from live.poker_client import Client, action, hosting, refused, turned_away
from parlour.wrappers.live.poker import messages as m
from parlour.wrappers.live.poker.host import FRAME_LIMIT

# REST.


async def test_register_join_look_leave():
    async with hosting() as (host, client):
        agent = await client.register("Ann")
        assert set(agent) == {"agent_id", "api_key", "name", "protocol_version", "skill_doc_url"}
        assert agent["agent_id"].startswith("agt_") and agent["skill_doc_url"] == f"{host.url}/skill.md"
        seat = await client.join(preferred_seat=4)
        assert seat["seat_id"] == 4 and seat["action_timeout_ms"] == 30_000
        assert seat["protocol_version"] == seat["min_supported_protocol_version"] == "0.1"
        assert seat["ws_url"] == host.ws_url
        status, tables = await client.call("GET", "/v1/tables")
        assert status == 200 and [table["id"] for table in tables["tables"]] == [client.table_id]
        status, table = await client.call("GET", f"/v1/tables/{client.table_id}")
        ann = {"seatId": 4, "agentId": client.agent_id, "agentName": "Ann", "stack": 100, "isActive": True}
        assert [seat for seat in table["seats"] if seat["agentId"] is not None] == [ann]
        assert (len(table["seats"]), table["playerCount"], table["availableSeats"]) == (6, 1, 5)
        assert table["status"] == "waiting" and table["config"]["blinds"] == {"small": 1, "big": 2}
        status, left = await client.call("POST", f"/v1/tables/{client.table_id}/leave")
        assert status == 200 and left["success"] and left["seat_id"] == 4
        await client.connect()
        assert (await client.receive())["code"] == m.INVALID_SESSION
        assert (await client.join(f"/v1/tables/{client.table_id}/join"))["seat_id"] == 0


async def test_rest_errors():
    async with hosting(seats=2) as (_, client):
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/tables/auto-join", {})
        await refused(client, 401, m.INVALID_API_KEY, "POST", "/v1/tables/auto-join", {}, key="wrong")
        await client.register()
        await refused(client, 404, m.TABLE_NOT_FOUND, "POST", "/v1/tables/nowhere/join", {})
        await refused(client, 404, m.TABLE_NOT_FOUND, "GET", "/v1/tables/nowhere")
        await client.join()
        table = f"/v1/tables/{client.table_id}"
        await refused(client, 409, m.ALREADY_SEATED, "POST", "/v1/tables/auto-join", {})
        await refused(client, 409, m.ALREADY_SEATED, "POST", f"{table}/join", {})
        other = Client(client.http, client.host)
        await other.register()
        await refused(other, 409, m.NOT_SEATED, "POST", f"{table}/leave")
        await refused(other, 400, m.VALIDATION_ERROR, "POST", f"{table}/join", {"preferred_seat": "3"})
        await refused(other, 400, m.VALIDATION_ERROR, "POST", f"{table}/join", [])
        await refused(other, 426, m.OUTDATED_CLIENT, "POST", f"{table}/join", {"client_protocol_version": "0.0.9"})
        await other.join(f"{table}/join")
        third = Client(client.http, client.host)
        await third.register()
        await refused(third, 409, m.TABLE_FULL, "POST", "/v1/tables/auto-join", {})
        await refused(third, 409, m.TABLE_FULL, "POST", f"{table}/join", {})
        await refused(third, 404, m.VALIDATION_ERROR, "GET", "/v1/nothing")
        await refused(third, 405, m.VALIDATION_ERROR, "DELETE", "/v1/tables")


@pytest.mark.parametrize("name", [b"5", b'"\\u0007"', b'" "', b'"\\u202ebob"', b'""'])
async def test_bad_names(name):
    async with (
        hosting() as (host, client),
        client.http.post(host.url + "/v1/agents", data=b'{"name": %b}' % name) as got,
    ):
        assert got.status == 400 and (await got.json())["error"]["code"] == m.VALIDATION_ERROR


@pytest.mark.parametrize("body", [b"{", b"\xff", b"17", b"[" * 10_000, b'"x"'])
async def test_bad_bodies(body):
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents", data=body) as answer:
        assert answer.status == 400 and (await answer.json())["error"]["code"] == m.VALIDATION_ERROR


async def test_a_person_who_opens_the_address_gets_a_page():
    async with hosting(2) as (host, one, _), one.http.get(host.url) as answer:
        text = await answer.text()
        assert answer.status == 200 and answer.content_type == "text/html"
        assert one.table_id in text and "2 of 6" in text and f"--api {host.url}" in text


async def test_wrong_tokens_lock_out_nobody_else_at_their_address():
    async with hosting(access_token="secret") as (host, one):
        for client in (one, Client(one.http, host)):
            await client.register(key="secret")
            await client.join()
            await client.connect()
        await refused(one, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {"name": "eve"}, key="wrong")
        for _ in range(30):
            await refused(one, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {"name": "eve"}, key="wrong")
        assert (await one.call("POST", "/v1/agents", {"name": "bob"}, key="secret"))[0] == 201  # who shares the address
        assert (await one.call("POST", f"/v1/tables/{one.table_id}/join", {}))[0] == 409  # a key of the host goes on
        await one.connect()
        await one.act(await one.my_turn())
        await one.until("ack")


async def test_a_huge_body_is_refused():
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents", data=b" " * 100_000) as answer:
        assert answer.status == 413 and (await answer.json())["error"]["code"] == m.VALIDATION_ERROR


async def test_a_body_may_be_missing():
    async with hosting() as (host, client), client.http.post(host.url + "/v1/agents") as answer:
        assert answer.status == 201


async def test_registering_may_need_an_access_token():
    async with hosting(access_token="sésame") as (_, client):
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {})
        await refused(client, 401, m.UNAUTHORIZED, "POST", "/v1/agents", {}, key="wrong")
        await client.register(key="sésame")
        await client.join()


# Connecting.


async def test_a_bad_token_is_told_and_closed_with_1008():
    async with hosting() as (host, client):
        client.ws_url = host.ws_url
        for client.token, code in (("", m.UNAUTHORIZED), ("made-up", m.INVALID_SESSION)):
            await client.connect()
            await turned_away(client, code)


@pytest.mark.slow
async def test_a_session_expires_only_while_nobody_uses_it():
    async with hosting(2, session_lifetime=0.8) as (_, one, two):
        await asyncio.sleep(1)
        await one.ws.close()
        await one.connect()
        await one.until("welcome")
        await one.ws.close()
        await asyncio.sleep(1)
        await one.connect()
        await turned_away(one, m.SESSION_EXPIRED)
        await two.send({"type": "ping"})
        await two.until("pong")


async def test_of_two_connections_with_one_token_the_newest_wins():
    async with hosting(2) as (host, one, two):
        state = await one.my_turn()
        older = one.ws
        await one.connect()
        assert (await one.receive())["type"] == "welcome"
        assert (await one.receive())["turn_token"] == state["turn_token"]
        one.ws, newer = older, one.ws
        assert await one.closed() == 1000
        one.ws = newer
        await one.act(state)
        await one.until("ack")
        assert host.tables[one.table_id].session.seats[one.seat].connected
        await two.my_turn()


async def test_a_message_may_come_as_binary():
    async with hosting(2) as (_, one, _two):
        await one.ws.send_bytes(b'{"type": "ping"}')
        await one.until("pong")


# Bad input: always the documented error, and the hand goes on.


BAD = {
    "not JSON": ("hello", m.VALIDATION_ERROR),
    "too long": ('{"type": "ping", "x": "' + "x" * 20_000 + '"}', m.VALIDATION_ERROR),
    "below the minimum": (lambda state: action(state, "raiseTo", 3), m.INVALID_ACTION),
}
"""One of each kind: what else is refused, `test_poker_table_play.py` has without sockets."""


@pytest.mark.parametrize("name", BAD)
async def test_bad_input_gets_its_error_and_the_hand_goes_on(name):
    bad, code = BAD[name]
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await one.send(bad(state) if callable(bad) else bad)
        error = await one.receive()
        assert error["type"] == "error" and error["code"] == code and error["message"]
        await one.act(state)
        await one.until("ack")
        await two.act(await two.my_turn())
        await two.until("ack")


async def test_a_message_beyond_all_bounds_ends_only_its_own_connection():
    async with hosting(2) as (_, one, two):
        state = await one.my_turn()
        await two.send("x" * (FRAME_LIMIT + 1))
        assert await two.closed() == 1009
        await two.connect()
        await two.until("welcome")
        await one.act(state)
        await two.act(await two.my_turn())
        await two.until("ack")


@pytest.mark.slow
async def test_the_rate_limit_spares_play_and_tells_the_rest():
    async with hosting(2, rate=5) as (_, one, two):
        other = asyncio.create_task(two.play())
        for _ in range(40):  # far more than ten actions at once
            await one.act(await one.my_turn())
        for _ in range(30):
            await one.send({"type": "ping"})
        assert (await one.until("error"))["code"] == m.RATE_LIMIT_EXCEEDED
        await one.until("pong")
        other.cancel()
