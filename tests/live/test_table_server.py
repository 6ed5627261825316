"""The browser's tables over real sockets: the page, times, programs that misbehave; hold'em beside programs."""

import asyncio
import json
import logging
import ssl
import time
from dataclasses import replace
from importlib.resources import files

import aiohttp
import msgspec
import nim
import pytest
from live.table_people import BARGAINING, Program, caller, hanging, offering, on_loop, person, raising
from parlour import envs
from parlour.envs import Action, AgentResponse, new_table, with_required_fields
from parlour.envs.holdem import hands
from parlour.training.commands.arguments import TableArguments
from parlour.training.commands.table import browser_table, players_of
from parlour.wrappers.agents.base import DelayedAgent
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.server import HEADERS, Origins, ServerSettings, server_tls
from parlour.wrappers.live.poker.host import PokerHost as PokerHost
from parlour.wrappers.live.poker.host import PokerTimes
from parlour.wrappers.live.poker.host_session import PokerRules
from parlour.wrappers.live.table import messages as m
from parlour.wrappers.live.table.host import MESSAGE_LIMIT, TableHost, _unset, _warm_up
from parlour.wrappers.live.table.poker import PokerTable, turn_state
from parlour.wrappers.logs import match_log
from parlour.wrappers.policies.loading import make_policy


@on_loop
async def test_a_match_between_a_person_and_a_bot_is_logged_and_replays(tmp_path):
    bot = PolicyAgent(BARGAINING, make_policy("fair", BARGAINING, seed=1))
    with match_log.MatchLog(tmp_path / "log.jsonl") as log:
        async with (
            TableHost(BARGAINING, [("fair", DelayedAgent(bot, 0.05)), None], seed=3, log=log) as host,
            person(host) as ann,
        ):
            await ann.sit()
            state = await ann.turn()
            assert 0 < state["left"] <= 60_000
            await ann.act(state["turn"], "accept")
            over = await ann.turn()
            assert over["turn_state"]["outcome"]["reason"] == "agreement"
            assert over["left"] is None
    assert match_log.replay(tmp_path / "log.jsonl").table.agreed
    assert [entry["kind"] for entry in match_log.read(tmp_path / "log.jsonl")] == ["match", "turn", "turn", "end"]


@on_loop
async def test_a_person_who_thinks_too_long_gets_the_safe_action():
    async with TableHost(BARGAINING, [None, ("bot", Program(offering))], timeout=0.2) as host, person(host) as ann:
        await ann.sit()
        first = await ann.turn()
        second = await ann.turn()
        history = second["turn_state"]["game_state"]["action_history"]
        assert [(row["agent_id"], row["action"]) for row in history] == [
            ("player_0", "pass"),
            ("player_1", "submit_offer"),
        ]
        await ann.act(first["turn"], "accept")
        assert not (await ann.until("result"))["result"]["ok"]


@pytest.mark.parametrize(
    ("respond", "words"), [(raising, "my mistake"), (hanging, "no answer within 0.3 s"), (lambda state: 3, "")]
)
@on_loop
async def test_a_program_that_fails_costs_only_itself(respond, words, caplog):
    caplog.set_level(logging.WARNING)
    bad, limits = ("bad", Program(respond)), {"timeout": 600, "program_timeout": 0.3}
    async with TableHost(BARGAINING, [bad, None], **limits) as host, person(host) as ann:
        await ann.sit()
        for _ in range(3):
            state = await ann.turn()
            assert state["turn_state"]["game_state"]["action_history"][-1]["action"] == "pass"
            await ann.act(state["turn"], "pass")
    assert words in caplog.text


@on_loop
async def test_a_lost_connection_comes_back_to_its_seat_and_its_clock():
    async with TableHost(BARGAINING, [None, ("bot", Program(offering))], timeout=20) as host:
        async with person(host) as ann:
            token = await ann.sit()
            before = await ann.turn()
        async with person(host) as ann:
            await ann.send("sit", token=token)
            await ann.until("seated", seat=0)
            after = await ann.turn()
            assert after["turn_state"] == before["turn_state"]
            assert after["turn"] == before["turn"]
            assert after["left"] <= before["left"]
            await ann.act(after["turn"], "pass")
            assert (await ann.until("result"))["result"]["ok"]


@on_loop
async def test_a_table_whose_only_person_has_closed_the_page_goes_on_by_the_clock_of_programs():
    limits = {"timeout": 600, "program_timeout": 0.3}
    async with TableHost(BARGAINING, [None, ("bot", Program(offering))], **limits) as host:
        async with person(host) as ann:
            token = await ann.sit()
            before = (await ann.turn())["left"]
            await asyncio.sleep(0.1)
        async with person(host) as ann:
            await ann.send("sit", token=token)
            assert 500_000 < (await ann.turn())["left"] < before - 90  # the same deadline as before
            await asyncio.sleep(0.5)
            assert host.session.match.actions == 0
        async with person(host) as eve:
            await eve.until("seating", status="over")
            await eve.sit("Eve")
            await eve.turn()


@on_loop
async def test_a_page_that_is_loaded_again_and_again_does_not_hold_a_turn():
    limits = {"timeout": 0.6, "program_timeout": 0.5, "time_bank": 0.4}
    async with TableHost(BARGAINING, [None, ("bot", Program(offering))], **limits) as host:
        async with person(host) as ann:
            token = await ann.sit()
            assert (await ann.turn())["bank"] == 400
        while host.session.match.actions == 0:
            async with person(host) as ann:
                await ann.send("sit", token=token)
                left = (await ann.turn())["left"]
                assert host.session.match.actions or left <= 1000  # the time may have been up meanwhile
                await asyncio.sleep(0.02)


@on_loop
async def test_long_messages_and_floods_are_refused():
    async with TableHost(BARGAINING, [None, None]) as host, person(host) as ann:
        await ann.send("sit", name="x" * MESSAGE_LIMIT)
        await ann.until("error", code=m.VALIDATION_ERROR)
        codes = set()
        while m.RATE_LIMIT_EXCEEDED not in codes:  # a busy machine may not take so many within a second
            for _ in range(60):
                await ann.send("ping")
            codes = {json.loads(await ann.socket.receive_str()).get("code") for _ in range(60)}
        told = {"type": "error"}
        while told["type"] == "error":  # this message may be one too many, too
            await asyncio.sleep(0.1)
            await ann.send("sit", name="Ann")
            told = json.loads(await ann.socket.receive_str())
        assert told["type"] == "seated"


# The page and who may use it.


@on_loop
async def test_the_page_is_served_with_its_policy_and_nothing_else():
    async with TableHost(BARGAINING, [None, None]) as host, aiohttp.ClientSession() as http:
        async with http.get(host.url) as reply:
            assert reply.status == 200
            assert "module" in await reply.text()
            assert {name: reply.headers[name] for name in HEADERS} == HEADERS
        for path, kind in (
            ("main.js", "text/javascript"),
            ("games/auction.js", "text/javascript"),
            ("style.css", "text/css"),
        ):
            async with http.get(f"{host.url}/{path}") as reply:
                assert (reply.status, reply.content_type) == (200, kind)
        async with http.get(f"{host.url}/facts.json") as reply:
            assert await reply.json() == {
                "game": "bargaining",
                "page": "bargaining",
                "seats": 2,
                "unit": "points",
                "options": dict(BARGAINING.options),
                "rules": envs.how_to_play(BARGAINING),
                "meanings": {},
                "unset": [],
                "own": False,
                "protocol": "turnstate",
                "lobby": False,
            }
        for path in ("types.d.ts", "jsconfig.json", "..%2fhost.py", "games", "host.py"):
            async with http.get(f"{host.url}/{path}") as reply:
                assert reply.status == 404


@pytest.mark.parametrize(
    ("begins", "adds", "nothing"), [(-1, 1, True), (-1, -3, False), (-10, 3, False), (-2, 0, False), (0, -1, False)]
)
def test_minus_one_stands_for_nothing_where_a_field_begins_with_it_and_never_falls_below(begins, adds, nothing):
    def reset(table):
        simple.rules.reset(table)
        table.balance = begins

    def step(table, action):
        simple.rules.step(table, action)
        table.balance += adds

    simple = nim.game()
    blank = new_table(with_required_fields(2, ("heap", "i4"), ("balance", "i4")))
    game = replace(simple, rules=replace(simple.rules, blank=blank, reset=reset, step=step), view=None, renderer=None)
    assert _unset(game) == (["balance"] if nothing else [])


def test_the_page_writes_no_markup():
    """What others say goes in as text: nothing in the page can make tags or code of it."""
    folder = files("parlour.wrappers.live.table") / "page"
    scripts = [file for place in (folder, folder / "games") for file in place.iterdir() if file.name.endswith(".js")]
    assert len(scripts) > 8
    for script in scripts:
        for danger in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "srcdoc"):
            assert danger not in script.read_text(), script.name


OF_SITES = [
    ({"Origin": "http://evil.example"}, 403),
    ({"Origin": "null"}, 403),
    ({"Origin": "http://127.0.0.1:1"}, 403),
    ({"Host": "evil.example"}, 403),  # its name was given this machine's address
    ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
    ({"Host": "[", "Origin": "http://["}, 403),
    ({}, 200),
    ({"Origin": "{url}"}, 200),
    ({"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}, 200),
]


@pytest.mark.parametrize("path", ["/ws", "/v1/ws?token=x", "/v1/tables"])
@on_loop
async def test_pages_of_other_sites_may_not_speak_to_it(path):
    poker = path.startswith("/v1")
    table = PokerTable(PokerRules(seats=2), {}) if poker else TableHost(BARGAINING, [None, None])
    async with table as host, aiohttp.ClientSession() as http:
        port = host.url.rpartition(":")[2]
        for form, status in OF_SITES:
            headers = {name: value.format(url=host.url, port=port) for name, value in form.items()}
            if path == "/v1/tables":
                async with http.get(host.url + path, headers=headers) as reply:
                    assert reply.status == status, form
            elif status == 200:
                async with http.ws_connect(host.url + path, headers=headers) as socket:
                    assert json.loads(await socket.receive_str())["type"] in ("seating", "error")
            else:
                with pytest.raises(aiohttp.WSServerHandshakeError) as error:
                    await http.ws_connect(host.url + path, headers=headers)
                assert error.value.status == status, form


def test_a_server_that_others_reach_takes_any_name_unless_it_is_told_its_own():
    assert Origins.of("0.0.0.0")._names is None
    assert Origins.of("0.0.0.0", ["Table.example"])._names == {"0.0.0.0", "table.example"}
    assert Origins.of("::1", ["table.example"])._names == {"localhost", "127.0.0.1", "::1", "table.example"}


@on_loop
async def test_a_program_is_not_asked_again_once_the_server_stops():
    asked = []

    def once(state):
        asked.append(state)
        time.sleep(0.1)
        return AgentResponse(Action("pass"))

    async with TableHost(BARGAINING, [("bot", Program(once)), None]) as host, person(host) as ann:
        await ann.sit()
        while not asked:
            await asyncio.sleep(0.01)
        await host.stop()
        await asyncio.sleep(0.3)
    assert len(asked) == 1


def test_before_the_first_match_forecasts_are_made_once_in_a_phase():
    game, asked = envs.game("cournot"), []
    capabilities = replace(game.capabilities, forecasts=lambda state: asked.append(state.phase))
    _warm_up(replace(game, capabilities=capabilities))
    assert asked
    assert len(asked) == len(set(asked))


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


class Dead:
    def warm_up(self):
        raise OSError("policy.npz is gone")

    respond = staticmethod(raising)


@on_loop
async def test_a_program_that_is_dead_keeps_no_poker_table_from_its_people(caplog):
    table = PokerTable(PokerRules(seats=2), {1: ("dead", Dead())}, times=PokerTimes(hand=0))
    async with asyncio.timeout(30), table, aiohttp.ClientSession() as http:
        assert "policy.npz is gone" in caplog.text
        joined = await Guest(http, table).join()
        async with http.ws_connect(f"{joined['ws_url']}?token={joined['session_token']}&format=agent") as ann:
            while (message := json.loads(await ann.receive_str()))["type"] != "hand_complete":
                if message.get("actions"):
                    choice = {"turn_token": message["turn_token"], "kind": message["actions"][1]["kind"]}
                    await ann.send_json({"type": "action", "action": choice})
    assert "dead: check instead of the agent's answer" in caplog.text or "dead: fold" in caplog.text


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
