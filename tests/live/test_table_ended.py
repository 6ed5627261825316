"""What people take home from a table, and when: logs, replays, hands. And the time bank, sitting out, watchers."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import aiohttp
import pytest
from aiohttp import web
from live.poker_room import pass_turn
from live.table_people import BARGAINING, Program, caller, holdem, offering, person
from live.test_table_server import callers_move as move
from needs import library
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.training.commands.table import Results
from parlour.wrappers.live.poker.host import PokerHostSession, PokerRules, Refusal
from parlour.wrappers.live.table import host as ended_matches
from parlour.wrappers.live.table.host import EndedMatches, PlayerResult, TableHost, TableResult
from parlour.wrappers.live.table.poker import PokerHands, PokerMatch, PokerTable
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.replay.phh_writer import phhs

KUHN = envs.game("kuhn")


class Noting(Program):
    """A program that says what it thought."""

    def thoughts(self):
        return {"probabilities": {"pass": 0.25, "bet": 0.75}, "value": 0.5, "think": "I never bluff"}


def passing(state):
    return AgentResponse(Action("pass"))


async def got(http, url):
    async with http.get(url) as reply:
        return reply.status, await reply.text(), reply.headers


# Matches of any game.


def test_a_status_line_names_a_few_players_and_no_name_reads_as_more_of_it(monkeypatch):
    monkeypatch.setattr("parlour.training.commands.table.MOST_SUMS", 6)
    results = Results(KUHN)
    for number, name in enumerate(["Once", "Ann", "Bob", "Eve, +99 chips", "Dan", "Zoe"]):
        results.add(TableResult((PlayerResult(name, False, number), PlayerResult("bot", True, -number)), "over"))
    assert results.counts() == {"matches": 6}
    assert results.in_words() == "chips: 'Zoe' +5 · 'Dan' +4 · 'Eve, +99 chips' +3 · 'Bob' +2 · and 2 others"


def test_hands_are_what_a_game_calls_hands():
    assert Results(envs.game("holdem")).counts() == {"hands": 0}
    assert Results(replace(KUHN, payoffs=replace(KUHN.payoffs, episode_name="hand"))).counts() == {"hands": 0}


async def test_a_match_that_has_ended_can_be_taken_home_with_what_the_program_thought_and_none_before():
    results = Results(KUHN)
    assert (results.counts(), results.in_words()) == ({"matches": 0}, "")
    async with (
        TableHost(KUHN, [("bot", Noting(passing)), None], on_result=lambda one: results.add(one) or 1 / 0) as host,
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
        assert host.session.status == "running"
        assert (await got(http, f"{host.url}/ended/log.jsonl"))[1] == log


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
    hands = PokerHands([])
    while True:
        pass_turn(session)
        hands.hands.append(session.hand_log)
        if len(hands.hands) == count:
            return hands.log(None)
        session.next_hand()


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

    for log in logs[: ended_matches.MADE_AT_ONCE]:
        assert await ask(log, "10.0.0.7") == 200
    with pytest.raises(web.HTTPTooManyRequests) as refusal:
        await ask(logs[-1], "10.0.0.7")
    assert refusal.value.headers["Retry-After"] == "10"
    assert await ask(logs[0], "10.0.0.7") == 200  # it is there already
    assert await ask(logs[-1], "10.0.0.7", "log.jsonl") == 200
    assert await ask(logs[-1], "10.0.0.8") == 200


async def test_the_seed_of_a_match_that_has_ended_does_not_foretell_the_next():
    seeds = []
    for _ in range(2):
        async with TableHost(KUHN, [("bot", Program(passing)), None]) as host, person(host) as ann:
            await ann.sit()
            seeds.append(host.session.match.events[0]["seed"])
            assert host.session._seeds.entropy != seeds[-1]  # what is drawn from the operating system is not told
    assert len(set(seeds)) == 2


# The time bank.
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


# Those who look on.
async def test_those_who_look_on_are_counted():
    async with TableHost(BARGAINING, [None, None]) as host, person(host) as ann, person(host) as eve:
        assert (await ann.until("seating"))["watchers"] == 1
        assert (await eve.until("seating"))["watchers"] == 2
        await ann.sit()
        await ann.send("ping")
        assert (await ann.until("pong"))["watchers"] == 1
        assert host.session.watchers == 1


# Hold'em.


def cards_in(log):
    """Return the cards that a log of hands shows, by the players' names."""
    return [{row["name"]: row["cards"] for row in json.loads(line)["players"]} for line in log.splitlines()]


async def play(ann, hands, kind="call"):
    """Play until so many hands are over."""
    over = 0
    while over < hands:
        state = await ann.turn()
        over += state["turn_state"]["game_over"]
        if state["turn_state"]["is_my_turn"]:
            await move(ann, state, kind)


async def test_hands_show_a_reader_the_own_cards_and_those_that_were_shown_and_the_programs_when_the_table_has_ended(
    tmp_path,
):
    programs = [("caller", Noting(caller)), ("caller 2", Noting(caller))]
    game = holdem(seats=4, stacks=50)
    results = Results(game)
    whole = tmp_path / "whole.jsonl"
    async with (
        PokerTable(
            game,
            [None, *programs, None],
            hands=3,
            seed=5,
            pauses=(0.3,) * 3,
            on_result=results.add,
            log=MatchLog(whole),
        ) as table,
        aiohttp.ClientSession() as http,
        person(table) as ann,
        person(table) as bob,
    ):

        async def log(key="", file="log.jsonl"):
            return await got(http, f"{table.url}/ended/{file}?key={key}")

        token = await ann.sit()
        await bob.sit("Bob")
        key = ann.got[-1]["key"]
        assert (await log())[0] == 404  # no hand has ended
        await asyncio.gather(play(ann, 1, "fold"), play(bob, 1))
        status, told, headers = await log(key)
        assert (status, headers["Content-Disposition"]) == (200, 'attachment; filename="holdem-log.jsonl"')
        [own], [others] = cards_in(told), cards_in((await log())[1])
        assert len(own["Ann"]) == 2 and others["Ann"] == []  # what she folded stays hers
        assert cards_in((await log("made up"))[1]) == cards_in((await log(token))[1]) == [others]
        assert all(len(others[name]) == 2 for name in ("Bob", "caller", "caller 2"))  # the showdown
        assert "never bluff" not in told and "probabilities" not in told
        assert (await log(file="replay.html"))[0] == 404  # the table goes on
        assert (await log(file="x"))[0] == 404
        assert results.counts() == {"hands": 1}
        await asyncio.gather(play(ann, 2, "fold"), play(bob, 2, "fold"))
        await ann.until("seating", status="over")
        assert results.counts() == {"hands": 3}
        won = re.findall(r"'(\w[\w ]*)' ([+-]\d+)", results.in_words().removeprefix("chips: "))
        assert {name for name, _ in won} == {"Ann", "Bob", "caller", "caller 2"}
        assert sum(int(chips) for _, chips in won) == 0
        told = (await log())[1]
        hands = cards_in(told)
        assert [hand["Ann"] for hand in hands] == [[], [], []]
        assert [len(hand["caller"]) for hand in hands] == [2, 2, 2]
        assert told.count("I never bluff") > 6 and hands[1]["Bob"] == hands[2]["Bob"] == []
        status, page, _ = await log(file="replay.html")
        assert status == 200 and "I never bluff" in page and "0.75" in page
        _, own, _ = await log(key, "hands.phhs")
        status, text, _ = await log(file="hands.phhs")
        assert status == 200 and text.count("d dh p") == own.count("d dh p") == 3 * 4
        assert text.count("????") == own.count("????") + 3
    assert [entry["kind"] for entry in read(whole)] == ["hand", "hand", "hand", "ended"]


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


async def test_who_sits_out_is_dealt_no_hand_and_keeps_the_seat():
    programs = [("caller", Program(caller)), ("caller 2", Program(caller))]
    async with PokerTable(holdem(seats=3), [None, *programs], pauses=(0.05,) * 3) as table, person(table) as ann:

        async def dealt_in(wanted):
            while True:
                game = (await ann.until("state"))["turn_state"]["game_state"]
                if game["phase"] == "preflop" and ("cards" in game["players"][0]) == wanted:
                    return game["hand"]

        await ann.sit()
        await play(ann, 1)
        await ann.turn()
        await ann.send("sit_out", out=True)
        assert (await ann.until("seating"))["seats"][0]["out"]
        hand = await dealt_in(False)  # her hand under way was checked or folded, though she does nothing
        while await dealt_in(False) < hand + 2:  # the others play on
            pass
        await ann.send("sit_out", out=False)
        seat = (await ann.until("seating"))["seats"][0]
        assert not seat["out"] and seat["waits"]  # for the big blind
        await dealt_in(True)
        assert not (await ann.until("seating"))["seats"][0]["waits"]
        await ann.send("sit_out", out=True)
        while not table.session.poker.seats[0].out:
            await asyncio.sleep(0.01)
        await ann.socket.close()  # who is gone does not keep it
        while 0 in table.session.poker.seats:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def heads_up(pause, timeout):
    """Yield a table for two with a time bank, and Ann in seat 0, who has the turn."""
    programs = [None, ("caller", Program(caller))]
    async with (
        PokerTable(holdem(seats=2), programs, pauses=(pause,) * 3, timeout=timeout, time_bank=5.0) as table,
        person(table) as ann,
    ):
        await ann.sit()
        yield table, ann, await ann.turn()


async def test_a_poker_player_may_think_longer_out_of_a_bank_that_comes_back_by_and_by_but_not_by_sitting_out():
    async with heads_up(0.1, 0.2) as (_, ann, state):
        assert state["bank"] == 5000 and 5000 < state["left"] <= 5200
        await asyncio.sleep(0.7)
        await ann.act(state["turn"], "fold")
        for out in (True, False) * 5:
            await ann.send("sit_out", out=out)
        while (state := await ann.turn())["turn_state"]["game_over"]:
            pass
        assert 4400 < state["bank"] < 5000  # half a second is back with the hand


def test_who_stands_up_and_sits_down_again_has_the_chips_of_before():
    match = PokerMatch(PokerRules(seats=2), ["Ann", "Bob"], 1)
    seat, poker = match.poker.turn, match.poker
    name, agent = poker.seats[seat].name, poker.seats[seat].agent_id
    poker.leave(seat)
    match.join(seat, name.upper())
    assert poker.stack(seat) == 99 and poker.seats[seat].agent_id != agent
    poker.leave(seat)
    poker._left.update(dict.fromkeys(poker._left, 0))
    with pytest.raises(Refusal, match="has lost its chips"):
        match.join(seat, name.upper())


async def test_who_takes_a_seat_has_a_full_bank_and_not_what_another_left():
    async with heads_up(0.2, 0.1) as (table, ann, _), person(table) as bob:
        await asyncio.sleep(0.8)
        await ann.send("stand")
        await ann.until("unseated")
        while bob.got[-1:] == [] or bob.got[-1]["type"] != "seated":
            await bob.send("sit", name="Bob")
            bob.got.append(json.loads(await bob.socket.receive_str()))
        while (state := await bob.turn())["turn_state"]["game_over"]:
            pass
        assert state["bank"] == 5000
