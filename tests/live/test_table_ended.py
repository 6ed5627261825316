"""What people take home from a table, and when: logs, replays, hands. And the time bank, sitting out, watchers."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import aiohttp
import nim
import pytest
from aiohttp import web
from live.poker_room import pass_turn
from live.table_people import BARGAINING, Program, caller, offering, on_loop, person
from live.test_table_server import Guest, until
from needs import library
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.training.commands.table import Results
from parlour.wrappers.live.common.clock import TimeBanks
from parlour.wrappers.live.poker.host import PokerTimes
from parlour.wrappers.live.poker.host_session import PokerHostSession, PokerRules
from parlour.wrappers.live.table import results as ended_matches
from parlour.wrappers.live.table.host import TableHost
from parlour.wrappers.live.table.poker import PokerHands, PokerTable
from parlour.wrappers.live.table.results import EndedMatches, PlayerResult, TableResult
from parlour.wrappers.replay.phh_writer import phhs

KUHN = envs.game("kuhn")


class Noting(Program):
    """A program that says what it thought."""

    def thoughts(self):
        return {"probabilities": {"pass": 0.25, "bet": 0.75}, "value": 0.5, "think": "I never bluff"}


def passing(state):
    return AgentResponse(Action("pass"))


async def got(http, url, token=None):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with http.get(url, headers=headers) as reply:
        return reply.status, await reply.text(), reply.headers


# Matches of any game.


def test_a_status_line_names_a_few_players_and_no_name_reads_as_more_of_it():
    results = Results(KUHN)
    for number, name in enumerate(["Ann", "Bob", "Eve, +99 chips", "Dan", "Zoe"]):
        results.add(TableResult((PlayerResult(name, False, number), PlayerResult("bot", True, -number)), "over"))
    assert results.counts() == {"matches": 5}
    assert results.in_words() == "chips: 'Zoe' +4 · 'Dan' +3 · 'Eve, +99 chips' +2 · 'Bob' +1 · and 2 others"


def test_hands_are_what_a_game_calls_hands():
    assert Results(envs.game("holdem")).counts() == {"hands": 0}
    assert Results(replace(KUHN, payoffs=replace(KUHN.payoffs, episode_name="hand"))).counts() == {"hands": 0}


@on_loop
async def test_a_match_that_has_ended_can_be_taken_home_with_what_the_program_thought_and_none_before():
    results = Results(KUHN)
    assert (results.counts(), results.in_words()) == ({"matches": 0}, "")
    async with (
        TableHost(KUHN, [("bot", Noting(passing)), None], on_result=results.add) as host,
        person(host) as ann,
        aiohttp.ClientSession() as http,
    ):
        await ann.sit()
        first = await ann.turn()
        for file in ("log.jsonl", "replay.html", "hands.phhs", "..%2Fws"):
            assert (await got(http, f"{host.url}/ended/{file}"))[0] == 404
        await ann.act(first["turn"], "pass")
        assert (await ann.turn())["turn_state"]["game_over"]
        assert results.counts() == {"matches": 1}
        assert results.in_words() in ("chips: 'bot' +1 · 'Ann' -1", "chips: 'Ann' +1 · 'bot' -1")
        status, log, headers = await got(http, f"{host.url}/ended/log.jsonl")
        entries = [json.loads(line) for line in log.splitlines()]
        assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="kuhn-log.jsonl"')
        assert [entry["kind"] for entry in entries] == ["match", "turn", "turn", "end"]
        assert entries[1]["think"] == "I never bluff"
        status, page, headers = await got(http, f"{host.url}/ended/replay.html")
        assert status == 200 and "I never bluff" in page and "0.75" in page
        assert entries[0]["agents"] == [{"id": "player_0", "name": "bot"}, {"id": "player_1", "name": "Ann"}]
        assert '"Ann"' in page and "player_1" not in page
        assert "sandbox allow-scripts;" in f"{headers['Content-Security-Policy']};"
        assert "'self'" not in headers["Content-Security-Policy"]
        assert (await got(http, f"{host.url}/ended/hands.phhs"))[0] == 404  # of hold'em alone
        await ann.send("again")  # nothing of the next match is given out while it runs
        await ann.turn()
        assert host.status == "running"
        assert (await got(http, f"{host.url}/ended/log.jsonl"))[1] == log


@on_loop
async def test_a_replay_is_made_once(monkeypatch):
    made, real = [], ended_matches.page
    monkeypatch.setattr(ended_matches, "page", lambda *args: made.append(args) or real(*args))
    async with (
        TableHost(KUHN, [("bot", Program(passing)), None]) as host,
        person(host) as ann,
        aiohttp.ClientSession() as http,
    ):
        await ann.sit()
        await ann.act((await ann.turn())["turn"], "pass")
        await ann.turn()
        pages = await asyncio.gather(*(got(http, f"{host.url}/ended/replay.html") for _ in range(5)))
        assert {status for status, *_ in pages} == {200} and len(made) == 1


def hands_of_two(count):
    """Return the log of hands in which the first to act folds."""
    session = PokerHostSession(PokerRules(seats=2), seed=1)
    for seat in range(2):
        session.connect(session.join(f"agent {seat}", preferred=seat)[0])
    hands = PokerHands({})
    while True:
        pass_turn(session)
        hands.add(session.hand_log)
        if len(hands) == count:
            return hands.log(None)
        session.next_hand()


@on_loop
async def test_a_replay_shows_the_latest_hands_and_says_so_and_the_log_has_all(monkeypatch):
    monkeypatch.setattr(ended_matches, "MOST_SHOWN", 3)
    five, three = hands_of_two(5), hands_of_two(3)
    answers = {}
    for log in (five, three):
        for file in ended_matches.KINDS:
            request = SimpleNamespace(app={}, remote="", match_info={"file": file}, transport=None)
            answers[log, file] = (await EndedMatches().answer(request, log, "holdem")).body.decode()
    replay = answers[five, "replay.html"]
    assert "The latest 3 of 5; the log has all." in replay
    assert ["hand 2" in replay, "hand 3" in replay, "hand 5" in replay] == [False, True, True]
    assert "latest" not in answers[three, "replay.html"].split('<script type="application/json"')[-1]
    assert answers[five, "log.jsonl"].encode() == five
    assert answers[five, "hands.phhs"].count("variant") == 5


@on_loop
async def test_an_address_may_ask_for_few_replays_that_must_be_made():
    class Peer:
        def __init__(self, address):
            self.addresses = {"peername": (address, 1), "sockname": ("10.0.0.1", 2)}

        def get_extra_info(self, name):
            return self.addresses[name]

    files, logs = EndedMatches(), [hands_of_two(count) for count in range(1, 9)]

    async def ask(log, address, file="hands.phhs"):
        request = SimpleNamespace(app={}, remote="", match_info={"file": file}, transport=Peer(address))
        return (await files.answer(request, log, "holdem")).status

    for log in logs[: ended_matches.MADE_AT_ONCE + 1]:
        assert await ask(log, "10.0.0.7") == 200
    with pytest.raises(web.HTTPTooManyRequests) as refusal:
        await ask(logs[-1], "10.0.0.7")
    assert refusal.value.headers["Retry-After"] == "10"
    assert await ask(logs[0], "10.0.0.7") == 200  # it is there already
    assert await ask(logs[-1], "10.0.0.7", "log.jsonl") == 200
    assert await ask(logs[-1], "10.0.0.8") == 200


@on_loop
async def test_the_seed_of_a_match_that_has_ended_does_not_foretell_the_next():
    seeds = []
    for _ in range(2):
        async with TableHost(KUHN, [("bot", Program(passing)), None]) as host, person(host) as ann:
            await ann.sit()
            seeds.append(host.session.match.events[0]["seed"])
            assert host.session._seeds is None  # each comes from the operating system
    assert len(set(seeds)) == 2


# The time bank.


def test_a_bank_gets_less_with_what_turns_use_and_is_filled_up_to_its_size():
    banks = TimeBanks(10.0)
    banks.turn_ended(0, 25.0)  # in time: the bank is whole
    assert banks.left(0) == 10.0
    banks.turn_ended(0, 4.0)
    banks.turn_ended(0, 7.0)
    assert (banks.left(0), banks.left(1)) == (4.0, 10.0)
    banks.refill(0.5)
    assert banks.left(0) == 9.0
    banks.refill(0.5)
    assert banks.left(0) == 10.0


@on_loop
async def test_a_person_may_think_longer_out_of_the_bank_which_is_full_again_in_the_next_match():
    table = TableHost(BARGAINING, [None, ("bot", Program(offering))], timeout=0.2, time_bank=5.0)
    async with table as host, person(host) as ann:
        await ann.sit()
        turn = await ann.turn()
        assert turn["bank"] == 5000 and 5000 < turn["left"] <= 5200
        await asyncio.sleep(0.5)
        await ann.act(turn["turn"], "pass")
        assert (await ann.until("result"))["result"]["ok"]
        turn = await ann.turn()
        assert 4000 < turn["bank"] < 4900
        await ann.act(turn["turn"], "accept")
        assert (await ann.turn())["turn_state"]["game_over"]
        await ann.send("again")
        assert (await ann.turn())["bank"] == 5000


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_bank_needs_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match="time_bank"):
        TableHost(BARGAINING, [None, ("bot", Program(offering))], time_bank=seconds)


# A game of one's own.


@on_loop
async def test_a_game_without_a_drawing_has_no_picture_of_its_fields_which_the_page_lists():
    async with TableHost(nim.game(), [None, ("bot", Program(passing))]) as host, person(host) as ann:
        await ann.sit()
        state = await ann.turn()
        assert state["picture"] is None and state["turn_state"]["game_state"]["heap"] == 21


@on_loop
async def test_where_nothing_is_hidden_those_who_look_on_see_the_board():
    async with (
        TableHost(nim.game(), [None, ("bot", Program(passing))]) as host,
        person(host) as ann,
        person(host) as eve,
    ):
        await ann.sit()
        turn = (await ann.turn())["turn_state"]
        seen = (await eve.until("state"))["turn_state"]
        assert seen["game_state"] == turn["game_state"] and seen["current_turn_agent_id"] == "first"
        assert seen["allowed_actions"] == [] and not seen["is_my_turn"]


# Those who look on.


@on_loop
async def test_those_who_look_on_are_counted():
    async with TableHost(BARGAINING, [None, None]) as host, person(host) as ann, person(host) as eve:
        assert (await ann.until("seating"))["watchers"] == 1
        assert (await eve.until("seating"))["watchers"] == 2
        await ann.sit()
        await ann.send("ping")
        assert (await ann.until("pong"))["watchers"] == 1
        assert host.watchers == 1


# Hold'em.


class Table:
    """A poker table with Ann in it, who calls."""

    def __init__(self, http, table, name="Ann"):
        self.http, self.table, self.guest = http, table, Guest(http, table)
        self.name = name

    async def __aenter__(self):
        joined = await self.guest.join(self.name)
        self.token, self.path = joined["session_token"], f"{self.table.url}/v1/tables/{joined['table_id']}"
        self.socket = await self.http.ws_connect(f"{joined['ws_url']}?token={self.token}&format=agent")
        return self

    async def __aexit__(self, *_):
        await self.socket.close()

    async def play(self, hands, kind="call"):
        """Play until so many hands are over; return their ends."""
        ends = []
        while len(ends) < hands:
            message = json.loads(await self.socket.receive_str())
            if message["type"] == "hand_complete":
                ends.append(message)
            elif message.get("actions"):
                kinds = [one["kind"] for one in message["actions"]]
                chosen = next(one for one in (kind, "check", "fold") if one in kinds)
                choice = {"turn_token": message["turn_token"], "kind": chosen}
                await self.socket.send_json({"type": "action", "action": choice, "expected_seq": message["seq"]})
        return ends

    async def ended(self):
        while (await until(self.socket, "table_status"))["status"] != "ended":
            pass

    async def sit_out(self, out, token=None):
        headers = {"Authorization": f"Bearer {self.token if token is None else token}"}
        body = json.dumps({"out": out}) if isinstance(out, bool) else out
        async with self.http.post(f"{self.path}/sit-out", data=body, headers=headers) as reply:
            return reply.status, await reply.json()


def cards_in(log):
    """Return the cards that a log of hands shows, by the players' names."""
    return [{row["name"]: row["cards"] for row in json.loads(line)["players"]} for line in log.splitlines()]


@on_loop
async def test_hands_show_a_reader_the_own_cards_and_those_that_were_shown_and_the_programs_when_the_table_has_ended():
    programs = {1: ("caller", Noting(caller)), 2: ("caller 2", Noting(caller))}
    rules, results = PokerRules(seats=4, max_hands=3, stack=50), Results(envs.game("holdem", seats=4))
    async with (
        PokerTable(rules, programs, seed=5, times=PokerTimes(hand=0.3), on_result=results.add) as table,
        aiohttp.ClientSession() as http,
        Table(http, table) as ann,
        Table(http, table, "Bob") as bob,
    ):

        async def log(token=None, file="log.jsonl"):
            return await got(http, f"{ann.path}/ended/{file}", token)

        assert (await log())[0] == 409  # no hand has ended
        await asyncio.gather(ann.play(1, "fold"), bob.play(1))
        status, told, headers = await log(ann.token)
        assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="holdem-log.jsonl"')
        [own], [others] = cards_in(told), cards_in((await log())[1])
        assert len(own["Ann"]) == 2 and others["Ann"] == []  # what she folded stays hers
        assert all(len(others[name]) == 2 for name in ("Bob", "caller", "caller 2"))  # the showdown
        assert "never bluff" not in told and "probabilities" not in told
        assert (await log(file="replay.html"))[0] == 409  # the table goes on
        assert (await log("made up"))[0] == 400
        assert (await log(file="x"))[0] == 404
        assert results.counts() == {"hands": 1}
        await asyncio.gather(ann.play(2, "fold"), bob.play(2, "fold"))
        await ann.ended()
        assert results.counts() == {"hands": 3}
        won = re.findall(r"'(\w[\w ]*)' ([+-]\d+)", results.in_words().removeprefix("chips: "))
        assert {name for name, _ in won} == {"Ann", "Bob", "caller", "caller 2"} and sum(
            int(chips) for _, chips in won
        ) == 0
        told = (await log())[1]
        hands = cards_in(told)
        assert [hand["Ann"] for hand in hands] == [[], [], []]
        assert [len(hand["caller"]) for hand in hands] == [2, 2, 2]
        assert told.count("I never bluff") > 6 and hands[1]["Bob"] == hands[2]["Bob"] == []
        status, page, _ = await log(file="replay.html")
        assert status == 200 and "I never bluff" in page and "0.75" in page
        status, own, _ = await got(http, f"{ann.path}/ended/hands.phhs?token={ann.token}")
        status, text, _ = await log(file="hands.phhs")
        assert status == 200 and text.count("d dh p") == own.count("d dh p") == 3 * 4
        assert text.count("????") == own.count("????") + 3


def test_hands_with_raises_all_in_and_a_seat_that_is_empty_are_phh():
    """Hands of random players, of many numbers of seats, are read back to the same stacks."""
    library("pokerkit")
    import numpy as np
    from parlour.wrappers.replay.phh import HandHistory, hand_of

    generator = np.random.default_rng(3)
    count = 0
    for seats in (2, 3, 6):
        session = PokerHostSession(PokerRules(seats=seats + 1, stack=40, rebuy=True), seed=seats)
        for seat in range(seats):
            session.connect(session.join(f"agent {seat}", preferred=seat + (seat > 0))[0])
        for _ in range(12):
            while session.due is not None and session.due.what == "act":
                game = session.game
                mask = np.zeros(game.num_actions, np.int8)
                game.rules.legal(session.table, mask)
                move = game.rules.decode(session.table, int(generator.choice(np.flatnonzero(mask))))
                session.play(move)
                session._go_on()
            entry = session.hand_log
            text = phhs([entry]).removeprefix("[1]\n")
            dealer = entry["dealer"]
            order = sorted(entry["results"], key=lambda row: (row["seat"] <= dealer, row["seat"]))
            assert hand_of(HandHistory.loads(text))[1] == [row["stack"] for row in order], text
            count += 1
            session.next_hand()
    assert count == 36


@on_loop
async def test_who_sits_out_is_dealt_no_hand_and_keeps_the_seat():
    programs = {1: ("caller", Program(caller)), 2: ("caller 2", Program(caller))}
    async with (
        PokerTable(PokerRules(seats=3), programs, seed=5, times=PokerTimes(hand=0.05)) as table,
        aiohttp.ClientSession() as http,
        Table(http, table) as ann,
    ):
        await ann.play(1)
        assert await ann.sit_out(True) == (200, {"out": True})
        assert (await ann.sit_out(False))[0] == 429  # once a second
        session = table._table.session
        async with asyncio.timeout(10):
            while session.table.seated[0]:  # her hand under way is checked or folded, though she does nothing
                await asyncio.sleep(0.02)
        dealt = session.hand
        async with asyncio.timeout(10):
            while session.hand < dealt + 2:  # the others play on
                await asyncio.sleep(0.02)
        assert not session.table.seated[0] and session.seats[0].connected
        assert json.loads((await got(http, f"{ann.path}/view"))[1])["out"] == [0]
        for body, token, status in (
            ("{", None, 400),
            ('{"out": 3}', None, 400),
            (True, "made up", 400),
            (True, "", 400),
        ):
            assert (await ann.sit_out(body, token))[0] == status, body
        await asyncio.sleep(1.0)
        assert (await ann.sit_out(False))[0] == 200
        async with asyncio.timeout(10):
            while not session.table.seated[0]:
                await asyncio.sleep(0.02)


async def turn_of(client):
    """Read until it is the player's turn."""
    while not (await until(client.socket, "game_state")).get("actions"):
        pass


@asynccontextmanager
async def heads_up(times):
    """Yield a table for two, a session of HTTP, and Ann, who has the turn in seat 0."""
    async with (
        PokerTable(PokerRules(seats=2), {1: ("caller", Program(caller))}, times=times) as table,
        aiohttp.ClientSession() as http,
        Table(http, table) as ann,
    ):
        await turn_of(ann)
        yield table, http, ann


def bank_of(hosted):
    """Return the seconds in the bank of who sits in seat 0."""
    return hosted._banks.left(hosted.session.seats[0].agent_id)


@on_loop
async def test_a_poker_player_may_think_longer_out_of_a_bank_that_comes_back_by_and_by():
    times = PokerTimes(hand=0.01, act=0.2, bank=5.0)
    async with heads_up(times) as (table, http, ann):
        seen = json.loads((await got(http, f"{ann.path}/view", ann.token))[1])
        assert seen["bank"] == 5000 and 5000 < seen["left"] <= 5200
        await asyncio.sleep(0.7)
        hosted = table._table
        seat = hosted.session.due.seat
        assert seat == 0  # still hers
        hosted._deliver(hosted.session.timeout(seat, hosted.session.due.token))
        left = bank_of(hosted)
        assert 4.0 < left < 4.7
        async with asyncio.timeout(10):
            while bank_of(hosted) < left + 0.4:  # with the next hand
                await asyncio.sleep(0.01)


@on_loop
async def test_sitting_out_and_in_does_not_fill_a_bank():
    times = PokerTimes(hand=60.0, act=0.1, bank=5.0)
    async with heads_up(times) as (table, _, _):
        await asyncio.sleep(0.8)
        hosted = table._table
        for out in (True, False) * 5:  # she folds, and the next hand is not dealt yet
            hosted.sit_out(0, out)
        assert (hosted.session.hand, hosted.session.due.what) == (1, "hand")
        assert bank_of(hosted) < 4.5


@on_loop
async def test_who_takes_a_seat_has_a_full_bank_and_not_what_another_left():
    times = PokerTimes(hand=0.3, act=0.1, bank=5.0)
    async with heads_up(times) as (table, http, _):
        await asyncio.sleep(0.8)
        hosted = table._table
        hosted._deliver(hosted.session.timeout(0, hosted.session.due.token))
        assert bank_of(hosted) < 4.5
        hosted.leave(0)
        async with Table(http, table, "Bob") as bob:
            await turn_of(bob)
            assert (hosted.session.due.seat, hosted.session.seats[0].name, hosted.bank) == (0, "Bob", 5.0)


def test_the_cards_and_notes_of_programs_are_shown_at_the_end_and_not_those_of_a_person_in_their_seat():
    hands = PokerHands({0: "bot"})
    entry = {
        "hand": 3,
        "players": [{"seat": 0, "agent_id": "a", "name": "bot", "stack": 5, "cards": ["As", "Ad"]}],
        "actions": [{"seat": 0, "kind": "check"}, {"seat": 0, "kind": "check", "value": 0.5}],
        "results": [{"seat": 0, "won": 1, "stack": 6}],
    }
    hands.add(entry)
    assert "As" not in hands.log(None).decode() and "As" in hands.log("a").decode()
    assert "value" not in hands.log(None).decode()
    hands.ended = True
    [shown] = [json.loads(line) for line in hands.log(None).splitlines()]
    assert [action.get("value") for action in shown["actions"]] == [None, 0.5]
    hands.add({**entry, "hand": 4, "players": [{**entry["players"][0], "name": "Ann"}]})  # a person in its seat
    assert json.loads(hands.log(None).splitlines()[1])["players"][0]["cards"] == []
