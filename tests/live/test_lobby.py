"""A lobby over real sockets: names, tables that come and go, results; and what it keeps."""

import asyncio
import json
import logging
import sqlite3
import threading
from contextlib import asynccontextmanager

import aiohttp
import pytest
from live.full_disk import full_disk
from live.table_people import BARGAINING, Person, Program, caller, holdem, offering
from parlour.training.commands.arguments import TableArguments
from parlour.training.commands.table import _table
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common.database import SaveError
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.lobby import host as stores
from parlour.wrappers.live.lobby.host import LobbyHost, LobbyStore
from parlour.wrappers.live.lobby.messages import Offer, Opponent
from parlour.wrappers.live.table.host import PlayerResult, TableHost
from parlour.wrappers.live.table.poker import PokerTable

OFFERS = (
    Offer("bargaining", 2, False, (Opponent("fair", False, (2,)), Opponent("zoo:bargaining", True, (2,)))),
    Offer("holdem", 2, True, (Opponent("call", False, (2, 3)),)),
)


def made(game, seats, opponents, options, **lobby):
    """A table whose programs do always the same."""
    if game == "holdem":
        table = holdem(seats=seats or 2, stacks=50)
        players = [*((name, Program(caller)) for name in opponents), *[None] * (table.seats - len(opponents))]
        return PokerTable(table, players, hands=2, pauses=(0, 0, 60), **lobby)
    players = [*((name, Program(offering)) for name in opponents), *[None] * (2 - len(opponents))]
    if len(opponents) > 1:
        raise ValueError("leave a seat to a person")
    if options:
        return _table(game, seats, opponents, options, **lobby, tables=TableArguments())
    return TableHost(BARGAINING, players, seed=1, **lobby)


@asynccontextmanager
async def lobby(**options):
    async with LobbyHost(OFFERS, made, **options) as host, aiohttp.ClientSession() as http:
        host.http = http
        yield host


async def call(host, method, path, token=None, body=None):
    """Return status and body of a call."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body)
    async with host.http.request(method, f"{host.url}{path}", headers=headers, data=data) as reply:
        return reply.status, await reply.json()


async def enter(host, name, key=None):
    status, body = await call(host, "POST", "/people", key, {"name": name})
    assert status == 201, body
    return body["token"]


async def opened(host, token, **wish):
    status, body = await call(host, "POST", "/tables", token, wish)
    assert status == 201, body
    return body["table_id"]


async def look(host, token=None):
    status, body = await call(host, "GET", "/lobby", token)
    assert status == 200
    return body


@asynccontextmanager
async def at_table(host, table_id):
    async with host.http.ws_connect(f"{host.url}/tables/{table_id}/ws") as socket:
        yield Person(socket)


@asynccontextmanager
async def sitting(host, token, **wish):
    """Open a table, of bargaining with a program by default, and sit down there; yield its page."""
    wish = wish or {"game": "bargaining", "opponents": ["fair"]}
    async with at_table(host, await opened(host, token, **wish)) as page:
        await page.send("sit", name="Ann", access_token=token, token=token)
        await page.until("seated")
        yield page


async def play_hands(page, count):
    """Check or call until so many hands are over."""
    while count:
        state = (message := await page.turn())["turn_state"]
        count -= state["game_over"]
        if state["is_my_turn"]:
            await page.act(message["turn"], state["allowed_actions"][1]["action_type"])


async def test_a_person_opens_a_table_plays_and_stands_in_the_results():
    async with lobby() as host:
        ann = await enter(host, "Ann")
        table_id = await opened(host, ann, game="bargaining", opponents=["fair"])
        [table] = (await look(host, ann))["tables"]
        assert (table["game"], table["status"], table["yours"]) == ("bargaining", "waiting", True)
        assert [seat["name"] for seat in table["seats"]] == ["fair", None]
        async with at_table(host, table_id) as page:
            await page.send("sit", name="Ann", access_token=ann)
            await page.until("seated")
            turn = await page.turn()
            assert (await look(host))["tables"][0]["seats"][1] == {"name": "Ann", "program": False, "here": True}
            await page.act(turn["turn"], "accept")
            over = await page.turn()
        payoffs = {row["agent_id"]: row["utility"] for row in over["turn_state"]["outcome"]["payoffs"]}
        seen = await look(host, ann)
        [result] = seen["results"]
        assert (result["game"], result["reason"]) == ("bargaining", "agreement")
        assert result["players"] == [
            {"name": "fair", "program": True, "payoff": payoffs["player_0"]},
            {"name": "Ann", "program": False, "payoff": payoffs["player_1"]},
        ]
        assert seen["you"] == "Ann"


async def test_who_opens_a_table_chooses_options_and_the_list_shows_them():
    async with lobby() as host:
        ann = await enter(host, "Ann")
        async with sitting(host, ann, game="bargaining", opponents=["fair"], options={"rounds": "3"}) as page:
            [table] = (await look(host, ann))["tables"]
            assert table["options"] == {"rounds": "3"}
            assert (await page.turn())["turn_state"]["game_state"]["total"] == 100
        for options in ({"round": "3"}, {"rounds": "0"}, {"rounds": "[" * 150}, {"seats": "3"}, {"rounds": 3}):
            body = {"game": "bargaining", "opponents": ["fair"], "options": options}
            status, answer = await call(host, "POST", "/tables", ann, body)
            assert (status, answer["code"]) == (400, "VALIDATION_ERROR")
            assert options == {"rounds": 3} or next(iter(options)) in answer["message"]


async def test_a_poker_table_gives_one_result_of_all_its_hands():
    async with lobby() as host:
        async with sitting(host, await enter(host, "Ann"), game="holdem", seats=2, opponents=["call"]) as page:
            await play_hands(page, 2)
        [result] = (await look(host))["results"]
        assert {one["name"]: one["program"] for one in result["players"]} == {"Ann": False, "call": True}
        assert sum(one["payoff"] for one in result["players"]) == 0


async def test_a_seat_needs_the_name_that_the_token_proves():
    async with lobby() as host:
        ann, bob = await enter(host, "Ann"), await enter(host, "Bob")
        table_id = await opened(host, ann, game="bargaining", opponents=["fair"])
        async with at_table(host, table_id) as page:
            for name, token, why in (
                ("Ann", None, "choose a name"), ("Ann", "no", "choose a name"), ("Ann", bob, "you are called Bob"),
            ):  # fmt: skip
                await page.send("sit", name=name, access_token=token)
                error = await page.until("error")
                assert error["code"] == "UNAUTHORIZED" and why in error["message"]
            await page.send("sit", name="Bob", access_token=bob)
            await page.until("seated")


async def test_a_name_is_given_again_to_the_token_that_asked_for_it():
    async with lobby() as host:
        wish = {"name": "Ann", "token": 24 * "x"}
        assert await call(host, "POST", "/people", None, wish) == (201, wish)
        assert await call(host, "POST", "/people", None, wish) == (200, wish)
        assert await call(host, "POST", "/people", None, {**wish, "name": "Anna"}) == (200, wish)
        status, body = await call(host, "POST", "/people", None, {**wish, "token": 24 * "y"})
        assert (status, body["code"]) == (409, "NAME_TAKEN")
        status, body = await call(host, "POST", "/people", None, {"name": "Bob", "token": "short"})
        assert (status, body["code"]) == (400, "VALIDATION_ERROR")


async def test_what_is_wrong_with_a_call_is_said_and_nothing_changes(monkeypatch):
    monkeypatch.setattr(limits, "TABLES_OF_ONE", 1)
    async with lobby(server=ServerSettings(access_token="key")) as host:
        assert (await call(host, "POST", "/people", None, {"name": "Ann"}))[0] == 401
        assert (await call(host, "POST", "/people", "kez", {"name": "Ann"}))[0] == 401
        ann = await enter(host, "Ann", "key")
        for name in ("ann", "Ａnn", "fair", "Fair 2", "ZOO:bargaining"):
            status, body = await call(host, "POST", "/people", "key", {"name": name})
            assert (status, body["code"]) == (409, "NAME_TAKEN")
            await asyncio.sleep(0.3)  # names are limited in number
        names = [{"name": name} for name in ("", "x" * 33, "a\nb", 3, "Ann\u200b")]
        for body in (b"", b"{", b"[]", b"[" * 9000, *names):
            status, answer = await call(host, "POST", "/people", "key", body)
            assert (status, answer["code"]) == (400, "VALIDATION_ERROR"), body
        for wish, words in (
            ({"game": "chess"}, "no game 'chess'"),
            ({"game": "bargaining", "opponents": ["../../secret"]}, "no opponent '../../secret'"),
            ({"game": "bargaining", "opponents": ["fair", "fair"]}, "leave a seat to a person"),
            ({"game": "holdem", "seats": 1}, "cannot read the body"),
        ):
            status, answer = await call(host, "POST", "/tables", ann, wish)
            assert (status, answer["code"]) == (400, "VALIDATION_ERROR") and words in answer["message"]
        assert (await call(host, "POST", "/tables", "no", {"game": "bargaining"}))[0] == 401
        assert (await look(host))["tables"] == []
        await opened(host, ann, game="bargaining")
        status, answer = await call(host, "POST", "/tables", ann, {"game": "bargaining"})
        assert (status, answer["code"]) == (429, "LIMIT_REACHED")
        assert len((await look(host))["tables"]) == 1
        async with host.http.get(f"{host.url}/tables/nothing/") as reply:
            assert reply.status == 404
        async with host.http.post(f"{host.url}/people", data=b"x" * 20_000) as reply:
            assert reply.status in (401, 413)
        async with host.http.get(f"{host.url}/lobby", headers={"Origin": "http://evil.example"}) as reply:
            assert reply.status == 403


async def test_new_names_are_limited_in_number():
    async with lobby() as host:
        answers = [await call(host, "POST", "/people", None, {"name": f"p{i}"}) for i in range(45)]
        assert {status for status, _ in answers} == {201, 429}
        elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
        async with (
            aiohttp.ClientSession(connector=elsewhere) as http,
            http.post(f"{host.url}/people", json={"name": "honest"}) as reply,
        ):
            assert reply.status == 201  # somebody else comes in


async def test_one_address_does_not_take_all_tables(monkeypatch):
    monkeypatch.setattr(limits, "TABLES", (50, 2))
    async with lobby() as host:
        people = [await enter(host, name) for name in ("Ann", "Bob", "Eve")]
        for person in people[:2]:
            await opened(host, person, game="bargaining", opponents=["fair"])
        status, answer = await call(host, "POST", "/tables", people[2], {"game": "bargaining", "opponents": ["fair"]})
        assert (status, answer["code"]) == (429, "LIMIT_REACHED")


async def test_a_table_that_is_not_listed_is_seen_by_its_owner_only():
    async with lobby() as host:
        ann, bob = await enter(host, "Ann"), await enter(host, "Bob")
        table_id = await opened(host, ann, game="bargaining", listed=False)
        assert (await look(host, bob))["tables"] == (await look(host))["tables"] == []
        assert [one["table_id"] for one in (await look(host, ann))["tables"]] == [table_id]
        async with host.http.get(f"{host.url}/tables/{table_id}/") as reply:
            assert reply.status == 200  # for those who have the link
        async with at_table(host, table_id) as page:  # who sits there goes on from it to the next table
            await page.send("sit", name="Bob", access_token=bob)
            await page.until("seated")
            [seen] = (await look(host, bob))["tables"]
            assert (seen["table_id"], seen["listed"], seen["yours"]) == (table_id, False, False)
            assert (await look(host))["tables"] == []


async def test_a_table_without_visitors_ends_and_its_owner_can_open_another(monkeypatch):
    monkeypatch.setattr(limits, "TABLES_OF_ONE", 1)
    async with lobby(empty_after=1.5) as host:
        ann = await enter(host, "Ann")
        table_id = await opened(host, ann, game="holdem", opponents=["call"])  # its program does not keep it open
        another = await opened(host, await enter(host, "Bob"), game="bargaining")
        async with at_table(host, another) as page:
            await page.until("seating")
            async with asyncio.timeout(20):
                while any(one["table_id"] == table_id for one in (await look(host, ann))["tables"]):
                    await asyncio.sleep(0.05)
            assert len((await look(host))["tables"]) == 1  # the one with an open page
        async with host.http.get(f"{host.url}/tables/{table_id}/") as reply:
            assert reply.status == 404
        await opened(host, ann, game="bargaining")


async def test_a_table_that_ended_empty_has_its_replay():
    async with lobby(empty_after=0.3) as host:
        async with sitting(host, await enter(host, "Ann"), game="holdem", seats=2, opponents=["call"]) as page:
            await play_hands(page, 1)
        async with asyncio.timeout(20):
            while not (seen := await look(host))["results"] or seen["tables"]:
                await asyncio.sleep(0.02)
        [result] = seen["results"]
        async with host.http.get(f"{host.url}/results/{result['number']}/replay.html") as reply:
            assert reply.status == 200 and "hand 1" in await reply.text()


async def test_a_table_whose_opening_is_cancelled_does_not_stay_open(monkeypatch):
    monkeypatch.setattr(limits, "TABLES_OF_ONE", 1)
    begun, on = threading.Event(), threading.Event()

    def slow(*args, **options):
        begun.set()
        assert on.wait(60)
        return made(*args, **options)

    async with LobbyHost(OFFERS, slow) as host, aiohttp.ClientSession() as http:
        host.http = http
        ann = await enter(host, "Ann")
        asking = asyncio.create_task(opened(host, ann, game="bargaining"))
        await asyncio.to_thread(begun.wait, 60)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.sleep(0.1)  # until the server has seen it
        on.set()
        await opened(host, ann, game="bargaining")
        assert len((await look(host, ann))["tables"]) == 1


async def test_a_lobby_that_stops_ends_its_tables_and_keeps_names_and_results(tmp_path):
    path = tmp_path / "lobby.sqlite"
    async with lobby(state=path) as host:
        ann = await enter(host, "Ann")
        async with sitting(host, ann) as page:
            await page.act((await page.turn())["turn"], "accept")
            await page.turn()
            await host.stop()
            while (message := await page.socket.receive()).type is aiohttp.WSMsgType.TEXT:
                pass
            assert message.type is aiohttp.WSMsgType.CLOSE and message.data == aiohttp.WSCloseCode.GOING_AWAY
        await host.start()
        seen = await look(host, ann)
        assert seen["you"] == "Ann" and len(seen["results"]) == 1 and seen["tables"] == []


async def test_a_player_at_a_table_keeps_its_socket_when_all_of_the_lobby_are_taken(monkeypatch):
    monkeypatch.setattr(limits, "SOCKETS", (10, 10))
    async with lobby() as host, sitting(host, await enter(host, "Ann")) as page:
        turn = (await page.turn())["turn"]
        [table] = (await look(host))["tables"]
        async with aiohttp.ClientSession() as http:  # from the same address, and each has a socket of its own
            watchers = []
            for _ in range(20):
                watchers.append(await http.ws_connect(f"{host.url}/tables/{table['table_id']}/ws"))
                assert (await watchers[-1].receive_json(timeout=5))["type"] == "seating"
            await page.act(turn, "accept")
            assert (await page.turn())["turn_state"]["game_over"]


async def test_a_full_disk_costs_the_result_only(monkeypatch):
    async with lobby() as host:

        def full(*_):
            raise SaveError("database or disk is full")

        monkeypatch.setattr(host.store, "add_result", full)
        async with sitting(host, await enter(host, "Ann")) as page:
            await page.act((await page.turn())["turn"], "accept")
            assert (await page.turn())["turn_state"]["game_over"]
            await page.send("again")
            assert not (await page.turn())["turn_state"]["game_over"]


async def test_a_full_disk_refuses_new_names_in_words_and_is_a_problem_of_the_lobby():
    async with lobby() as host:
        with full_disk(host.store):
            with pytest.raises(SaveError):
                for number in range(1000):
                    host.store.add_person(f"somebody {number}", f"token {number}")
            status, body = await call(host, "POST", "/people", None, {"name": "Ann"})
            assert (status, body["code"]) == (503, "STATE_FAILED")
            assert "full" in host.problem
        await enter(host, "Ann")


async def test_a_table_that_fails_to_open_is_no_table(monkeypatch, caplog):
    caplog.set_level(logging.CRITICAL)
    async with lobby() as host:
        ann = await enter(host, "Ann")

        async def start(self):
            raise TimeoutError

        with monkeypatch.context() as patch:
            patch.setattr(PokerTable, "start", start)
            status, body = await call(host, "POST", "/tables", ann, {"game": "holdem", "opponents": ["call"]})
        assert (status, body["code"]) == (503, "TABLE_FAILED")
        assert (await look(host, ann))["tables"] == []
        await opened(host, ann, game="holdem", opponents=["call"])


def player(name, payoff, program=False):
    return PlayerResult(name, program, payoff)


def test_a_file_keeps_everything_but_no_token(tmp_path):
    path = tmp_path / "lobby.sqlite"
    store = LobbyStore(path)
    store.add_person("Ann", "secret-token")
    store.add_result("kuhn", "2026-01-02T03:04:05+00:00", "fold", [player("Ann", 1), player("honest", -1, True)])
    before = store.results(5)
    store.close()
    again = LobbyStore(path)
    assert again.results(5) == before
    assert again.name_of("secret-token") == "Ann"
    again.close()
    assert b"secret-token" not in b"".join(file.read_bytes() for file in tmp_path.iterdir())


def test_the_store_stays_bounded(monkeypatch):
    monkeypatch.setattr(limits, "ACCOUNTS", 3)
    monkeypatch.setattr(stores, "MOST_RESULTS", 2)
    store = LobbyStore()
    store.add_person("Ann", "ann")
    for number in range(4):
        store.add_result("kuhn", "2026-01-01T00:00:00+00:00", str(number), [player("Ann", 1), player("x", 0, True)])
        store.add_person(f"p{number}", f"t{number}")
    assert [one.reason for one in store.results(9)] == ["3", "2"]
    known = [store.name_of(token) is not None for token in ("ann", "t0", "t1", "t2", "t3")]
    assert sum(known) == 3 and known[-1]
    assert known[0]  # who has played is kept
    for number in range(4):
        store.add_person(f"q{number}", f"s{number}", used={"Ann"})
        store.add_result("kuhn", "2026-01-01T00:00:00+00:00", "", [player(f"q{number}", 1), player("x", 0, True)])
    assert [name for (name,) in store.read("SELECT name FROM people ORDER BY rowid")] == ["Ann", "q2", "q3"]
    assert store.read("SELECT count(*) FROM played").fetchone() == (3,)


def test_a_result_that_cannot_be_kept_leaves_nothing_behind(monkeypatch):
    store = LobbyStore()

    def full(log):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(stores.zlib, "compress", full)
    with pytest.raises(SaveError):
        store.add_result("kuhn", "2026-01-01T00:00:00+00:00", "", [player("Ann", 1), player("Bob", 0)], b"log")
    monkeypatch.undo()
    assert store.results(5) == []
    store.add_result("kuhn", "2026-01-01T00:00:00+00:00", "", [player("Ann", 1), player("Bob", 0)])
    assert len(store.results(5)) == 1
