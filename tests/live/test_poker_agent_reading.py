"""What the poker agent makes of doubtful counters and results: seq that jumps or stands still, winnings of 0."""

import pytest
from live.platform_table import Player
from live.poker_platform import Platform, Table, compact
from live.poker_sessions import decisions, table
from live.settled import act
from live.small_host import Host
from parlour import envs
from parlour.envs import Action
from parlour.wrappers.live.common.player import Note, Over
from parlour.wrappers.live.poker.agent_session import (
    Busted,
    HandEnded,
    PokerAgentSession,
    SeatTaken,
    TableEnded,
)

HIGH = 1_000_000


@pytest.mark.parametrize("ours", [True, False], ids=["in-our-turn", "in-anothers"])
def test_a_single_high_seq_does_not_hide_the_states_after_it(ours):
    host, seat, session = table()
    if ours:
        [decision] = session.receive(host.state(seat, seq=HIGH))
        [sent] = act(session, Action("call"), decision)
        session.receive({"type": "ack", "turn_token": sent.action.turn_token, "seq": host.seq + 1})
    host.play(1)
    if not ours:
        session.receive(host.state(seat, seq=HIGH))
    host.play(1)
    while host.table.turn != seat:
        session.receive(host.state(seat))
        host.play(1)
    [decision] = session.receive(host.state(seat))
    [sent] = act(session, Action("check"), decision)
    assert (sent.action.turn_token, sent.expected_seq) == (host.token, host.seq)


def test_a_counter_that_jumped_for_good_is_followed():
    host, seat, session = table()
    session.receive(host.state(seat))
    host.seq += HIGH
    session.receive(host.state(seat))
    host.seq += 1
    session.receive(host.state(seat))
    [note] = session.receive(host.state(1 - seat, seq=5))
    assert isinstance(note, Note) and session.seq == host.seq


@pytest.mark.parametrize(("step", "late"), [(1, True), (2, True), (3, False), (4, False)])
def test_seq_jumps_where_it_grows_by_more_than_2(step, late):
    """An action that ends a street makes it grow by 2. After a jump a lower one may be the right one."""
    host, seat, session = table()
    for seq in (10, 11, 11 + step):
        session.receive(host.state(1 - seat, seq=seq))
    notes = session.receive(host.state(1 - seat, seq=10 + step))
    assert [isinstance(note, Note) for note in notes] == [True] * late
    assert session.seq == (11 if late else 10) + step


def test_a_late_state_takes_no_turn_away_even_after_a_jump():
    host, seat, session = table()
    session.receive(host.state(seat, seq=host.seq))
    [] = session.receive(host.state(seat, seq=HIGH))
    [note] = session.receive(host.state(1 - seat, seq=HIGH - 1))
    assert isinstance(note, Note) and session.turn is not None


def test_a_turn_with_a_new_token_is_answered_whatever_its_seq():
    host, seat, session = table()
    host.seq += 100
    session.receive(host.state(1 - seat))
    assert session.turn is None
    [decision] = decisions(session.receive(host.state(seat, seq=3, turn_token="another")))
    assert decision.id == "another"


def test_states_that_share_a_seq_are_all_read():
    host, seat, session = table()
    host.seq = 4
    session.receive(host.state(seat, seq=4))
    host.play(1)
    session.receive(host.state(seat, seq=4))
    history = session.turn_state().game_state["history"]
    assert [(entry["seat"], entry["kind"]) for entry in history] == [(seat, "call")]
    session.receive(host.state(seat, seq=4))
    assert session.turn_state().game_state["history"] == history


def test_once_a_seq_is_called_stale_the_token_alone_names_the_turn():
    host, seat, session = table()
    [first] = session.receive(host.state(seat, seq=HIGH))
    [sent] = act(session, Action("call"), first)
    assert sent.expected_seq == HIGH
    _, again = session.receive({"type": "error", "code": "STALE_SEQ", "message": ""})
    [sent] = act(session, Action("call"), again)
    assert (sent.action.turn_token, sent.action.kind, sent.expected_seq) == (host.token, "call", None)


class Counted(Table):
    """A platform's table that counts what seat 0 puts in."""

    def start_hand(self):
        self.spent = 0
        return super().start_hand()

    def _put_in(self, seat, chips):
        super()._put_in(seat, chips)
        self.spent += chips if seat == 0 else 0


@pytest.mark.parametrize("seed", range(8))
def test_where_no_winnings_are_reported_the_stack_tells(seed):
    platform = Platform(seed=seed, stack=60)
    table = Counted(platform, "t")
    table.players = {seat: Player(f"agt-{seat}", None, 60) for seat in range(3)}
    session = PokerAgentSession()
    session.receive({"type": "welcome", "seat": 0})
    while table.start_hand() and table.hand < 20:
        before, dealt = table.players[0].stack, table.players[0].active
        before += table.spent
        while table.turn is not None:
            session.receive({"type": "game_state", **compact("game_state", table.state(0))})
            offers = table.legal(table.turn)
            offer = offers[1 + int(platform.rng.integers(len(offers) - 1))]  # nobody folds: showdowns alone report 0
            table.act(table.turn, offer["kind"], offer["minAmount"] if offer["kind"] == "raiseTo" else None)
        session.receive({"type": "game_state", **compact("game_state", table.state(0))})
        results = {"handNumber": table.hand, "results": [{**row, "holeCards": []} for row in table.results()]}
        events = session.receive({"type": "hand_complete", **compact("hand_complete", {**results, "showdown": True})})
        ended = [event for event in events if isinstance(event, HandEnded)]
        truth = table.players[0].stack - before + table.spent
        assert [(event.won, event.stack) for event in ended] == [(truth, table.players[0].stack)] * dealt
    assert table.hand > 1


def test_who_has_no_chips_left_is_busted_once_and_counts_no_further_hand():
    host = Host(envs.game("holdem", seats=3, stacks=[2, 100, 100]), 5)
    session = PokerAgentSession()
    session.receive({"type": "welcome", "seat": 0})
    busted = dealt = 0
    while host.hand < 30 and not host.over:
        dealt += int(host.table.stack[0] > 0)
        ending = host.deal()
        while not ending:
            busted += sum(isinstance(event, Busted) for event in session.receive(host.state(0)))
            ending = host.play()
        for message in ending:
            busted += sum(isinstance(event, Busted) for event in session.receive(message))
        if host.table.stack[0] == 0 and busted and host.hand > dealt + 3:
            break
    assert host.hand > dealt
    assert (busted, session.hands_played) == (1, dealt)
    assert session.busted and not session.in_hand


def test_who_takes_a_seat_without_chips_is_told_by_the_next_hand():
    host = Host(envs.game("holdem", seats=3, stacks=[0, 100, 100]), 1)
    session = PokerAgentSession()
    session.receive({"type": "welcome", "seat": 0})
    host.deal()
    assert session.receive(host.state(0)) == [Busted(1)]


MONEY = [
    {"type": "welcome", "seat": 1, "real_money": True},
    {"type": "welcome", "seat": 1, "deposit_status": "pending"},
    {"type": "table_status", "status": "waiting", "seat_id": 1, "real_money": True},
    {"type": "deposit_confirmed", "deposit_id": "d", "amount_usdc": 1.5, "tx_hash": "0x"},
    {"type": "payout_initiated", "payout_id": "p", "status": "pending"},
    {"type": "payout_initiated", "table_id": "t", "ts": 1, "payload": {"amount_usdc": "much"}},
]


@pytest.mark.parametrize("message", MONEY, ids=repr)
def test_signs_of_real_money_are_told(message):
    [over] = [event for event in PokerAgentSession().receive(message) if isinstance(event, Over)]
    assert over.error.code == "REAL_MONEY" and message["type"] in str(over.error)
    assert not any(isinstance(event, Over) for event in PokerAgentSession(real_money=True).receive(message))


@pytest.mark.parametrize(
    "message",
    [
        {"type": "welcome", "seat": 1, "real_money": False, "deposit_status": None},
        {"type": "table_status", "status": "ended", "reason": "game_complete", "real_money": False},
    ],
    ids=repr,
)
def test_tables_without_real_money_have_no_sign_of_it(message):
    event = PokerAgentSession().receive(message)[0]
    assert event in (SeatTaken(1, None), TableEnded("game_complete", None))
