"""The browser's tables over real sockets: the page, times, programs that misbehave; hold'em beside programs."""

import asyncio
import json
import logging
import ssl
import time
from dataclasses import replace
from importlib.resources import files

import aiohttp
import nim
import pytest
from live.table_people import BARGAINING, Program, caller, hanging, holdem, offering, person, raising
from parlour import envs
from parlour.envs import Action, AgentResponse, new_table, with_required_fields
from parlour.training.commands.arguments import PlayersArguments, TableArguments
from parlour.training.commands.table import browser_table, players_of
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.server import HEADERS, ServerSettings, server_tls
from parlour.wrappers.live.poker.host import PokerHost as PokerHost
from parlour.wrappers.live.table import messages as m
from parlour.wrappers.live.table.host import TableHost, _unset, _warm_up
from parlour.wrappers.live.table.poker import PokerTable
from parlour.wrappers.logs import match_log
from parlour.wrappers.policies.loading import make_policy
from parlour.wrappers.replay import log_reader


async def test_a_match_between_a_person_and_a_bot_is_logged_and_replays(tmp_path):
    bot, left = PolicyAgent(BARGAINING, make_policy("fair", BARGAINING, seed=1)), []
    bot.set_seconds_left = left.append
    with match_log.MatchLog(tmp_path / "log.jsonl") as log:
        async with (
            TableHost(BARGAINING, [("fair", bot), None], delay=0.05, seed=3, log=log) as host,
            person(host) as ann,
        ):
            await ann.sit()
            state = await ann.turn()
            assert 0 < state["left"] <= 60_000
            assert 0 < left[0] <= 59.95  # less its delay
            await ann.act(state["turn"], "accept")
            over = await ann.turn()
            assert over["turn_state"]["outcome"]["reason"] == "agreement"
            assert over["left"] is None
    assert log_reader.replay(tmp_path / "log.jsonl").table.agreed
    assert [entry["kind"] for entry in match_log.read(tmp_path / "log.jsonl")] == ["match", "turn", "turn", "end"]


@pytest.mark.parametrize(
    ("respond", "words"),
    [(raising, "my mistake"), (hanging, "no answer within 0.3 s"), (lambda state: 3, ""), (None, "of ours at")],
)
async def test_a_program_that_fails_costs_only_itself_and_so_does_an_error_of_ours(respond, words, caplog):
    caplog.set_level(logging.WARNING)
    bad, limits = ("bad", Program(respond)), {"timeout": 600, "program_timeout": 0.3}
    async with TableHost(BARGAINING, [bad, None], **limits) as host, person(host) as ann:
        host._players[0].answer = host._players[0].answer if respond else None
        await ann.sit()
        for _ in range(3):
            state = await ann.turn()
            assert state["turn_state"]["game_state"]["action_history"][-1]["action"] == "pass"
            await ann.act(state["turn"], "pass")
    assert words in caplog.text


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


async def test_a_turn_without_its_person_takes_nothing_of_the_time_bank():
    async with TableHost(BARGAINING, [None, ("bot", Program(offering))], timeout=0.3, time_bank=60) as host:
        async with person(host) as ann:
            await ann.sit()
            await ann.turn()
        async with asyncio.timeout(20):
            while host.session.match.actions == 0:
                await asyncio.sleep(0.01)
        assert min(host._banks.values()) > 59


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


async def test_long_messages_and_floods_are_refused_and_an_error_of_ours_is_told(monkeypatch):
    async with TableHost(BARGAINING, [None, None]) as host, person(host) as ann:
        with monkeypatch.context() as broken:
            broken.setattr(host.session, "receive", raising)
            await ann.send("ping")
            await ann.until("error", code=m.INTERNAL_ERROR)
        await ann.send("sit", name="x" * 2**17)
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
            facts = await reply.json()
            assert (facts["page"], facts["rules"]) == ("bargaining", envs.how_to_play(BARGAINING))
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
    game = replace(simple, rules=replace(simple.rules, blank=blank, reset=reset, step=step), view=None)
    assert _unset(game) == (["balance"] if nothing else [])


def test_the_page_writes_no_markup():
    """What others say goes in as text: nothing in the page can make tags or code of it."""
    folder = files("parlour.wrappers.live.table") / "page"
    scripts = [file for place in (folder, folder / "games") for file in place.iterdir() if file.name.endswith(".js")]
    assert len(scripts) > 8
    for script in scripts:
        for danger in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "Function(", "srcdoc"):
            assert danger not in script.read_text(), script.name


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


async def callers_move(ann, state, kind="call"):
    """Check or call (or what else is wanted, where it is offered)."""
    offers = [offer["action_type"] for offer in state["turn_state"]["allowed_actions"]]
    await ann.act(state["turn"], next(one for one in (kind, "check", "call") if one in offers))


def callers(count):
    return [(f"caller {number}", Program(caller)) for number in range(count)]


def cards_of(state):
    return [player.get("cards") for player in state["turn_state"]["game_state"]["players"]]


async def test_poker_is_played_beside_programs_and_everybody_sees_the_own_cards_alone_until_they_are_shown():
    async with (
        PokerTable(holdem(seats=3), [None, *callers(2)], seed=5, pauses=(0, 0, 60)) as table,
        person(table) as ann,
        person(table) as eve,
    ):
        await ann.sit()
        ends = 0
        while ends < 3:
            state = await ann.until("state")
            own, *others = cards_of(state)
            assert len(own) == 2 and others == [None, None]
            game = state["turn_state"]["game_state"]
            assert game["players"][0]["rank"] and game["smallBlind"] == 1
            if state["turn_state"]["game_over"]:
                ends += 1
                assert "over: " in state["pictures"][0] and state["left"] is None
                assert any(row["won"] for row in state["turn_state"]["outcome"]["results"])
            elif state["turn_state"]["is_my_turn"]:
                await callers_move(ann, state, "fold" if ends == 1 else "call")
        await ann.send("say", intent={"scope": "public", "content": "hello", "to_agent_ids": None})
        assert not (await ann.until("result"))["result"]["ok"]
        await eve.send("act", turn=table.session.turn, response={"action": {"action_type": "fold", "payload": {}}})
        await eve.until("error", code=m.NOT_SEATED)
    seen = [message for message in eve.got if message["type"] == "state"]
    ends = [state for state in seen if state["turn_state"]["game_over"]]
    assert len(seen) > 20 and len(ends) >= 3
    assert not any(state["turn_state"]["allowed_actions"] for state in seen)
    assert {cards for state in seen if state not in ends for cards in map(str, cards_of(state))} == {"None"}
    assert "cards" not in ends[1]["turn_state"]["outcome"]["results"][0]  # what was folded
    assert all("cards" in row for row in ends[0]["turn_state"]["outcome"]["results"])


class Dead:
    def warm_up(self):
        raise OSError("policy.npz is gone")

    respond = staticmethod(raising)


async def test_a_program_that_is_dead_keeps_no_poker_table_from_its_people(caplog):
    async with PokerTable(holdem(seats=2), [None, ("dead", Dead())]) as table, person(table) as ann:
        assert "policy.npz is gone" in caplog.text
        await ann.sit()
        while not (state := await ann.turn())["turn_state"]["game_over"]:
            await callers_move(ann, state)
    assert "dead: check instead of the agent's answer" in caplog.text or "dead: fold" in caplog.text


async def test_when_a_poker_table_ends_there_is_a_rematch_with_new_stacks():
    players = [*callers(1), None]
    async with PokerTable(holdem(seats=2, stacks=2), players, hands=1, pauses=(0,) * 3) as table, person(table) as ann:
        await ann.sit()
        for number in (1, 2):
            while not (state := await ann.turn())["turn_state"]["game_over"]:
                await callers_move(ann, state)
            over = await ann.until("seating", status="over")
            assert over["match"] == number and [place["ready"] for place in over["seats"]] == [True, False]
            await ann.send("again")
            assert (await ann.until("seating", status="running"))["match"] == number + 1


async def test_nobody_looks_on_where_it_is_not_wanted():
    async with PokerHost() as host, aiohttp.ClientSession() as http:
        for table_id, code in ((next(iter(host.tables)), "TABLE_FULL"), ("none", "TABLE_NOT_FOUND")):
            async with http.ws_connect(f"{host.url}/v1/tables/{table_id}/watch") as socket:
                assert json.loads(await socket.receive_str())["code"] == code
                assert (await socket.receive()).type == aiohttp.WSMsgType.CLOSE
                assert socket.close_code == 1008


async def test_who_stays_away_from_a_poker_table_loses_the_seat_and_who_comes_back_has_it():
    async with (
        PokerTable(holdem(seats=2), [None, *callers(1)], timeout=0.05, pauses=(0, 0, 4)) as table,
        person(table) as eve,
    ):
        async with person(table) as ann:
            token = await ann.sit()
            await ann.turn()
        while not (await eve.until("seating"))["seats"][0]["out"]:  # after two turns
            pass
        async with person(table) as ann:
            await ann.send("sit", token=token)
            await ann.until("seated")
            assert not (await ann.until("seating"))["seats"][0]["out"]
        while (await eve.until("seating"))["seats"][0]["name"] is not None:
            pass
        await eve.until("seating", status="over")  # nobody is left to play with
        async with person(table) as ann:
            await ann.send("sit", token=token)
            await ann.until("error", code=m.INVALID_TOKEN)


async def test_a_seat_that_was_left_is_free_after_the_hand_and_its_next_player_sees_no_cards_of_it():
    async with (
        PokerTable(holdem(seats=4), [None, None, *callers(2)], seed=5, pauses=(0.2, 0.2, 60)) as table,
        person(table) as ann,
        person(table) as bob,
        person(table) as eve,
    ):
        await ann.sit()
        await bob.sit("Bob")
        stays, leaves = (ann, bob) if table.session.due.seat == 0 else (bob, ann)
        gone = (ann, bob).index(leaves)
        await leaves.send("stand")  # not the one whose turn it is
        await leaves.until("unseated")
        await eve.send("sit", name="Eve")
        await eve.until("error", code=m.TABLE_FULL)
        while not (state := await stays.turn())["turn_state"]["game_over"]:
            await callers_move(stays, state)
        await eve.sit("Eve")
        while (state := await eve.until("state"))["turn_state"]["game_state"]["hand"] == 1:
            assert cards_of(state)[gone] is None
        assert len(cards_of(state)[gone]) == 2


async def test_people_come_by_tls(certificate):
    settings = ServerSettings(tls=server_tls(*certificate))
    async with PokerTable(holdem(seats=2), [None, *callers(1)], server=settings) as table:
        assert table.url.startswith("https://")
        async with person(table, ssl=ssl.create_default_context(cafile=certificate[0])) as ann:
            await ann.sit()
            assert (await ann.until("state"))["turn_state"]["game_state"]["hand"] == 1


async def test_the_command_opens_a_poker_table_with_its_options_and_its_time_to_act():
    settings = TableArguments(delay=0, hands=3, timeout=7.0)
    game = holdem(seats=2, big_blind=4)
    table = browser_table(game, players_of(game, PlayersArguments(agents=("human", "call")), settings), settings)
    async with table, person(table) as ann:
        assert (await ann.until("seating"))["timeout"] == 7000
        await ann.sit()
        game = (await ann.until("state"))["turn_state"]["game_state"]
        assert (game["bigBlind"], game["hands"], game["players"][1]["committed"]) == (4, 3, 4)
