"""Hold'em in the browser over real sockets: people beside programs, and observers."""

import asyncio
import json
import ssl

import aiohttp
import msgspec
import pytest
from live.table_people import Program, caller, on_loop
from parlour import envs
from parlour.envs.holdem import hands
from parlour.training.commands.arguments import TableArguments
from parlour.training.commands.table import browser_table, players_of
from parlour.wrappers.live.common.server import ServerSettings, server_tls
from parlour.wrappers.live.poker.host import PokerHost
from parlour.wrappers.live.poker.host_session import PokerRules
from parlour.wrappers.live.poker.hosted_table import PokerTimes
from parlour.wrappers.live.table.poker import PokerTable, turn_state


class Guest:
    """A page at a poker table."""

    def __init__(self, http, table):
        self.http, self.url = http, table.url

    async def post(self, path, body, key=None):
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        async with self.http.post(f"{self.url}/v1/{path}", json=body, headers=headers) as reply:
            return await reply.json()

    async def join(self, name="Ann", seat=None):
        self.key = (await self.post("agents", {"name": name}))["api_key"]
        return await self.post("tables/auto-join", {"preferred_seat": seat}, self.key)

    async def table_id(self):
        async with self.http.get(f"{self.url}/v1/tables") as reply:
            return (await reply.json())["tables"][0]["id"]


async def until(socket, kind, into=None):
    while True:
        message = json.loads(await socket.receive_str())
        if into is not None:
            into.append(message)
        if message["type"] == kind:
            return message


@on_loop
async def test_poker_is_played_beside_programs_while_others_look_on_without_cards():
    programs = {1: ("caller", Program(caller)), 2: ("caller 2", Program(caller))}
    async with (
        PokerTable(PokerRules(seats=3), programs, seed=5, times=PokerTimes(hand=0)) as table,
        aiohttp.ClientSession() as http,
    ):
        guest, seen, hands = Guest(http, table), [], []
        watch = f"{table.url}/v1/tables/{await guest.table_id()}/watch"
        async with http.ws_connect(watch) as eve:
            assert (await until(eve, "table_status"))["status"] == "waiting"
            joined = await guest.join()
            assert joined["seat_id"] == 0
            async with http.ws_connect(f"{joined['ws_url']}?token={joined['session_token']}&format=agent") as ann:
                while len(hands) < 3:
                    message = json.loads(await ann.receive_str())
                    if message["type"] == "hand_complete":
                        hands.append(message)
                    elif message.get("turn") == 0:
                        own = message["players"][0]["cards"]
                        kind = "fold" if len(hands) == 1 else message["actions"][1]["kind"]
                        choice = {"turn_token": message["turn_token"], "kind": kind}
                        await ann.send_json({"type": "action", "action": choice, "expected_seq": message["seq"]})
                await eve.send_str("{}")
                assert (await until(eve, "error", seen))["code"] == "NOT_SEATED"
        states = [message for message in seen if message["type"] == "game_state"]
        assert {"turn"} & states[0].keys()
        assert not any(set(player) & {"cards"} for state in states for player in state["players"])
        assert not any({"actions", "turn_token"} & state.keys() for state in states)
        ends = [message for message in seen if message["type"] == "hand_complete"]
        assert len(ends) >= 3
        folded = next(row for row in ends[1]["results"] if row["seat"] == 0)
        assert "cards" not in folded
        assert own


@on_loop
async def test_when_a_poker_table_ends_the_programs_sit_down_at_the_next():
    programs = {0: ("caller", Program(caller))}
    async with (
        PokerTable(PokerRules(seats=2, stack=2, max_hands=1), programs, times=PokerTimes(hand=0)) as table,
        aiohttp.ClientSession() as http,
    ):
        guest = Guest(http, table)
        for _ in range(2):
            joined = await guest.join(seat=1)
            assert joined["seat_id"] == 1
            async with http.ws_connect(f"{joined['ws_url']}?token={joined['session_token']}&format=agent") as ann:
                while (message := await until(ann, "table_status"))["status"] != "ended":
                    pass
                assert message["final_stacks"]


@on_loop
async def test_nobody_looks_on_where_it_is_not_wanted():
    async with PokerHost() as host, aiohttp.ClientSession() as http:
        for table_id, code in ((next(iter(host.tables)), "TABLE_FULL"), ("none", "TABLE_NOT_FOUND")):
            async with http.ws_connect(f"{host.url}/v1/tables/{table_id}/watch") as socket:
                assert (await until(socket, "error"))["code"] == code
                assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
                assert socket.close_code == 1008


@on_loop
async def test_a_poker_seat_is_free_again_when_its_player_stays_away():
    async with (
        PokerTable(PokerRules(seats=2), {}, times=PokerTimes(away=0.2)) as table,
        aiohttp.ClientSession() as http,
    ):
        guest = Guest(http, table)
        joined = await guest.join()
        url = f"{joined['ws_url']}?token={joined['session_token']}&format=agent"
        for _ in range(2):
            async with http.ws_connect(url) as socket:
                await until(socket, "table_status")
            await asyncio.sleep(0.05)  # not away for long: the seat is kept
        await asyncio.sleep(0.4)
        assert (await guest.join("Bob"))["seat_id"] == joined["seat_id"]
        async with http.ws_connect(url) as socket:
            assert (await until(socket, "error"))["code"] == "INVALID_SESSION"


def test_a_poker_table_needs_a_person():
    with pytest.raises(ValueError, match="leave one to a person"):
        PokerTable(PokerRules(seats=2), {0: ("a", Program(caller)), 1: ("b", Program(caller))})


@on_loop
async def test_people_come_by_tls_and_programs_need_no_certificate(certificate):
    settings, programs = ServerSettings(tls=server_tls(*certificate)), {1: ("caller", Program(caller))}
    table = PokerTable(PokerRules(seats=2), programs, times=PokerTimes(hand=0), server=settings)
    trusting = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=certificate[0]))
    async with table, aiohttp.ClientSession(connector=trusting) as http:
        assert table.url.startswith("https://")
        guest = Guest(http, table)
        joined = await guest.join()
        assert joined["ws_url"].startswith("wss://")
        async with http.ws_connect(f"{joined['ws_url']}?token={joined['session_token']}&format=agent") as ann:
            assert (await until(ann, "game_state"))["hand"] == 1


@on_loop
async def test_the_view_of_a_table_has_what_its_reader_may_know():
    programs = {1: ("caller", Program(caller)), 2: ("caller 2", Program(caller))}
    async with (
        PokerTable(PokerRules(seats=3), programs, seed=5, times=PokerTimes(hand=60)) as table,
        aiohttp.ClientSession() as http,
    ):
        guest = Guest(http, table)
        joined = await guest.join()
        table_id = joined["table_id"]
        hosted = table.tables[table_id].session

        async def seen(token=None, name=table_id):
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            async with http.get(f"{table.url}/v1/tables/{name}/view", headers=headers) as reply:
                return reply.status, await reply.json()

        async with http.ws_connect(f"{joined['ws_url']}?token={joined['session_token']}&format=agent") as ann:
            while True:
                message = json.loads(await ann.receive_str())
                if message["type"] == "hand_complete":
                    break
                if hosted.table.done:  # it may be ahead of its messages
                    continue
                cards = [hands.card_name(int(card)) for row in hosted.table.cards for card in row]
                for seat in (None, 0):
                    told = json.dumps(msgspec.to_builtins(turn_state(hosted, seat)))
                    found = [card for card in cards if f'"{card}"' in told]
                    assert found == (cards[:2] if seat == 0 else [])
                if message.get("turn") == 0:
                    status, own = await seen(joined["session_token"])
                    assert (status, own["hand"], own["smallBlind"]) == (200, 1, 1)
                    assert own["rank"]
                    _, public = await seen()
                    assert public["rank"] == ""
                    assert public["history"] == own["history"]
                    assert public["picture"] != own["picture"]
                    kind = message["actions"][1]["kind"]
                    choice = {"turn_token": message["turn_token"], "kind": kind}
                    await ann.send_json({"type": "action", "action": choice, "expected_seq": message["seq"]})
            status, over = await seen()
            assert "over: showdown" in over["picture"]
            assert {entry["street"] for entry in over["history"]} == {"preflop", "flop", "turn", "river"}
            assert [entry["seat"] for entry in over["history"]].count(0) >= 4
        assert (await seen("made up"))[0] == 400
        assert (await seen(name="nothing"))[0] == 404
        assert (await seen(joined["session_token"], "nothing"))[0] == 404


@on_loop
async def test_the_command_opens_a_poker_table_with_its_time_to_act():
    settings = TableArguments(delay=0, hands=3, timeout=7.0)
    holdem = envs.game("holdem", seats=2)
    table = browser_table(holdem, players_of(holdem, ["human", "call"], settings), settings)
    async with table, aiohttp.ClientSession() as http, http.get(f"{table.url}/v1/tables") as reply:
        config = (await reply.json())["tables"][0]["config"]
        assert config["actionTimeoutMs"] == 7000 and config["minPlayersToStart"] == 2
