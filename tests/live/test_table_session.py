"""The browser's table without a socket: seats, matches, what clients may not see, and broken messages."""

import json
import random
from dataclasses import replace

import nim
import numpy as np
import pytest
from live.fuzzing import MESSAGES, WORKERS, fuzzed, mutated
from live.table_room import Room
from parlour import envs
from parlour.envs import Action, AgentResponse, Capabilities, Renderer
from parlour.envs.core.turn_state import ERROR_CODES
from parlour.wrappers.live.common.limits import admit_by_token
from parlour.wrappers.live.table import messages as m
from parlour.wrappers.live.table.host import TableDue, TableHost, TableHostSession

# Seats.


def two():
    """Return a table at which Ann and Bob sit, and Ann's token."""
    room = Room((None, None))
    token = room.sit(1, "Ann")
    room.sit(2, "Bob")
    return room, token


def test_who_comes_looks_on_and_who_sits_down_plays():
    room = Room().connect(1)
    assert room.last(1, "seating")["you"] is None
    assert room.last(1, "state") is None
    assert room.table.status == "waiting"
    assert room.sit(1, "Ann")
    assert room.last(1, "seated")["seat"] == 1
    assert room.last(1, "seating")["you"] == 1
    assert room.table.status == "running"
    assert room.table.due == TableDue("program", 0, room.table.turn)
    room.program("submit_offer", my_share=60)
    assert room.table.due.who == "person"
    assert room.state(1)["is_my_turn"]
    assert room.state(1)["game_state"]["current_offer"] == 60
    assert room.act(1, "accept") == {"ok": True, "error": None, "error_detail": None}
    assert room.table.status == "over"
    assert room.state(1)["outcome"]["reason"] == "agreement"
    room.connect(2)
    room.send(1, "stand")
    place = room.last(2, "seating")["seats"][1]
    assert (place["name"], place["played"]) == (None, "Ann")  # who has left stays in the result


def test_a_match_waits_for_all_people_and_the_next_until_they_are_ready():
    room = Room((None, None))
    room.sit(1, "Ann")
    assert room.table.status == "waiting"
    assert room.last(1, "seating")["match"] == 0
    assert [place["ready"] for place in room.last(1, "seating")["seats"]] == [True, False]
    room.sit(2, "Bob", seat=0)  # taken: another one
    assert room.last(2, "seated")["seat"] == 1
    assert room.last(2, "seating")["match"] == 1
    assert room.table.status == "running"
    room.act(1, "submit_offer", my_share=50)
    room.act(2, "accept")
    first, last_turn = room.state(1)["match_id"], room.last(1, "state")["turn"]
    room.send(1, "again")
    assert room.table.status == "over"
    assert [place["ready"] for place in room.last(2, "seating")["seats"]] == [True, False]
    room.send(2, "again")
    assert room.table.status == "running"
    assert room.state(2)["match_id"] != first
    assert room.last(1, "state")["turn"] > last_turn  # so that no answer to an earlier match fits


def test_a_time_bank_that_is_full_again_is_forgotten():
    host = TableHost(envs.game("bargaining"), [None, None], time_bank=10.0)
    host._turn_ended(TableDue("person", 0, 0, "gone"), 9.5)
    host._seconds(TableDue("program", 0, 0))
    assert not host._banks


def test_the_next_match_does_not_begin_without_somebody_who_is_away():
    room, token = two()
    room.act(1, "submit_offer", my_share=50)
    room.act(2, "accept")
    room.send(1, "again")
    room.take(room.table.disconnect(1))
    room.send(2, "again")
    assert room.table.status == "over"
    room.connect(3).send(3, "sit", token=token)  # ready as before
    assert room.table.status == "running"


def test_who_chose_the_token_of_a_seat_gets_the_same_seat_again():
    room, token = Room(), "the token that Ann has chosen"
    assert room.sit(1, "Ann", token=token) == token
    room.program("submit_offer", my_share=60)
    seen = room.state(1)
    assert room.sit(2, "bot") == m.NAME_TAKEN  # programs are nobody
    room.connect(3).send(3, "sit", name="Ann", token=token)  # the answer to the first was lost
    assert room.last(1, "unseated")["reason"] == "replaced"
    assert (room.last(3, "seated")["seat"], room.last(3, "seated")["token"]) == (1, token)
    assert room.state(3) == seen
    assert room.state(1)["agent_id"] == ""
    room.take(room.table.disconnect(1))
    assert room.act(3, "accept")["ok"]


def test_who_has_a_seat_takes_no_other_by_token():
    room = Room((None, None))
    tokens = [room.sit(1, "Ann"), room.sit(2, "Bob")]
    for token in tokens:
        room.send(1, "sit", token=token)
        assert room.last(1, "error")["code"] == m.ALREADY_SEATED
    assert [seat.client for seat in room.table.seats] == [1, 2]


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"token": "a token of another seat"}, m.INVALID_TOKEN),
        ({"token": "ü" * 22}, m.INVALID_TOKEN),
        ({"token": ""}, m.VALIDATION_ERROR),
        ({"name": "Bob", "token": "easily guessed"}, m.VALIDATION_ERROR),
        ({"name": "Bob", "token": "a token of another seat"}, m.TABLE_FULL),
        ({"name": "Ann"}, m.NAME_TAKEN),
        ({"name": "bot"}, m.NAME_TAKEN),
        ({"name": "Bob"}, m.TABLE_FULL),
        ({}, m.VALIDATION_ERROR),
        ({"name": ""}, m.VALIDATION_ERROR),
        ({"name": "  "}, m.VALIDATION_ERROR),
        ({"name": "B\nb"}, m.VALIDATION_ERROR),
        ({"name": "x" * 33}, m.VALIDATION_ERROR),
        ({"name": 3}, m.VALIDATION_ERROR),
    ],
)
def test_who_cannot_sit_is_told_why(fields, code):
    room = Room()
    room.sit(1, "Ann")
    room.connect(2).send(2, "sit", **fields)
    assert room.last(2, "error")["code"] == code
    assert room.last(2, "seated") is None


def test_a_locked_table_opens_to_its_key():
    room = Room(admit=admit_by_token("schlüssel", "no"))
    assert room.sit(1, "Ann") == m.UNAUTHORIZED
    assert room.sit(1, "Ann", access_token="schluessel") == m.UNAUTHORIZED
    assert room.sit(1, "Ann", access_token="schlüssel") == room.table.seats[1].token


def test_a_seat_left_in_a_match_is_played_safely_and_nobody_takes_it_before_the_end():
    room, token = two()
    room.send(1, "stand")
    assert room.last(1, "unseated")["reason"] == "stood"
    assert room.table.due.seat == 1  # Ann has passed
    assert room.sit(3, "Eve") == m.TABLE_FULL
    assert room.last(3, "error")["message"] == "no seat is free; one will be after this match"
    room.connect(4).send(4, "sit", token=token)
    assert room.last(4, "error")["code"] == m.INVALID_TOKEN
    while room.table.status == "running":
        assert room.act(2, "pass")["ok"]
    assert [row["action"] for row in room.state(2)["game_state"]["action_history"]] == ["pass"] * 6
    room.send(2, "again")
    assert room.table.status == "over"
    assert room.sit(3, "Eve") == room.table.seats[0].token
    assert room.table.status == "running"


def test_when_all_have_left_the_match_runs_out():
    room = Room()
    room.sit(1, "Ann")
    room.send(1, "stand")
    while room.table.status == "running":
        room.program()
    assert room.table.due is None


def test_a_match_does_not_wait_twice_for_somebody_away_and_the_seat_is_free_after_it():
    room = Room(("bot", None))
    token = room.sit(1, "Ann")
    room.program("submit_offer", my_share=60)
    room.take(room.table.disconnect(1))
    room.take(room.table.failed(room.table.turn, "no answer in time"))
    assert room.sit(2, "Eve") == m.TABLE_FULL
    room.program("submit_offer", my_share=60)  # Ann's turn is over at once
    assert room.table.due.who == "program"
    room.connect(3).send(3, "sit", token=token)  # and waits again when Ann is back
    room.program("submit_offer", my_share=60)
    assert room.table.due.who == "person"
    room.take(room.table.disconnect(3))
    room.take(room.table.failed(room.table.turn, "no answer in time"))
    assert room.table.status == "over"
    assert room.sit(2, "Eve") == room.table.seats[1].token
    assert room.table.status == "running"


def test_who_takes_a_seat_after_a_match_does_not_see_what_it_held():
    room, _ = two()
    room.act(1, "submit_offer", my_share=50)
    room.act(2, "accept")
    held = room.state(1)["game_state"]["my_reservation_value"]
    room.take(room.table.disconnect(2)).take(room.table.disconnect(1))
    room.sit(3, "Eve")
    assert room.table.seats[0].name == "Eve"
    assert "my_reservation_value" not in room.state(3)["game_state"]
    room.sit(4, "Dan")
    assert room.table.status == "running"
    assert room.state(3)["game_state"]["my_reservation_value"] != held


def test_a_table_needs_a_person_and_as_many_players_as_seats():
    with pytest.raises(ValueError, match="leave one to a person"):
        Room(("a", "b"))
    with pytest.raises(ValueError, match="3 players for 2 seats"):
        Room((None, "a", "b"))


# The match.


def test_an_answer_to_a_turn_that_is_over_is_refused():
    room, _ = two()
    turn = room.table.turn
    room.take(room.table.failed(turn, "no answer in time"))
    over = {"ok": False, "error": "not_your_turn", "error_detail": "that turn is over"}
    assert room.act(1, "pass", turn=turn) == over
    assert room.act(1, "pass")["error"] == "not_your_turn"
    assert room.table.failed(turn, "twice") == []
    assert room.table.answered(turn, AgentResponse(Action("pass"))) == []
    assert room.table.due.seat == 1
    assert room.act(2, "pass")["ok"]


def test_at_night_those_who_wait_are_told_nothing_of_turns_and_times():
    room = Room((None,) * 7, envs.game("mafia", seats=7)).connect(99)
    for client in range(7):
        room.sit(client, f"name {client}")
    roles = room.table.match.match.table.role[:7].tolist()
    villager = roles.index(max(roles))  # the only ones with nothing to do
    before = {client: len(room.inbox[client]) for client in (villager, 99)}
    assert room.last(villager, "state")["turn"] == room.last(99, "state")["turn"] == -1
    turns = []
    while room.state(villager)["phase"] == "NIGHT_ACTIONS":
        turns.append(room.table.turn)
        for client in before:
            assert len(room.inbox[client]) == before[client]
        assert room.state(room.table.due.seat)["is_my_turn"]
        for number in range(turns[0] - 1, turns[-1] + 2):  # guessing tells nothing either
            assert room.act(villager, "pass", turn=number)["error_detail"] == "it is not your turn"
        room.inbox[villager] = room.inbox[villager][: before[villager]]
        room.take(room.table.failed(room.table.turn, "late"))
    assert len(turns) == 4  # two mafia, doctor, sheriff
    assert room.last(99, "state")["turn"] == room.table.turn


def test_a_refused_answer_keeps_the_turn_and_says_why():
    room, _ = two()
    due = room.table.due
    assert "bounds are 0 to 100" in room.act(1, "submit_offer", my_share=101)["error_detail"]
    assert room.act(1, "accept")["error"] == "game_rule_violation"
    assert room.act(1, "dance")["error"] == "invalid_action_type"
    assert room.table.due == due
    for _ in range(17):
        room.act(1, "dance")
    assert room.table.due.seat == 1  # it was the twentieth


def test_acting_and_talking_before_the_first_match_is_refused():
    room = Room((None, None))
    room.sit(1, "Ann")
    assert room.act(1, "pass")["error"] == "match_not_running"
    room.send(1, "say", intent={"scope": "public", "content": "hi"})
    assert room.last(1, "result")["result"]["error"] == "match_not_running"


def test_a_program_may_talk_first_but_not_for_ever():
    room = Room()
    room.sit(1, "Ann")
    for _ in range(11):
        assert room.table.due.who == "program"
        room.program("message_only")
    assert room.table.due.who == "person"


def test_messages_reach_those_who_may_read_them_and_no_others():
    room = Room((None, None, "bot"), envs.game("auction", seats=3)).connect(9)
    room.sit(1, "Ann")
    room.sit(2, "Bob")
    room.send(2, "say", intent={"scope": "public", "content": "to all"})
    room.send(2, "say", intent={"scope": "private", "content": "psst", "to_agent_ids": ["player_2"]})
    assert [message["content"] for message in room.state(2)["messages"]] == ["to all", "psst"]
    assert [message["content"] for message in room.state(1)["messages"]] == ["to all"]
    assert [message["content"] for message in room.state(9)["messages"]] == ["to all"]
    assert [message.content for message in room.table.state(2).messages] == ["to all", "psst"]
    room.send(2, "say", intent={"scope": "private", "content": "?", "to_agent_ids": ["nobody"]})
    assert room.last(2, "result")["result"]["error"] is None  # unknown recipients are left out
    assert [message["content"] for message in room.state(1)["messages"]] == ["to all"]


def test_the_same_seed_deals_the_same_matches():
    def dealt(seed):
        room = Room(seed=seed)
        room.sit(1, "Ann")
        values = []
        for _ in range(3):
            values.append(room.state(1)["game_state"]["my_reservation_value"])
            room.program("submit_offer", my_share=50)
            room.act(1, "accept")
            room.send(1, "again")
        return values

    assert dealt(1) == dealt(1) != dealt(2)
    assert len(set(dealt(1))) == 3


def test_a_picture_or_a_forecast_that_fails_is_none_and_is_logged_once(caplog):
    def picture(states):
        if not states[0].agent_id:
            raise KeyError("own card")
        return "<svg/>"

    def forecasts(state):
        raise ZeroDivisionError("division by zero")

    renderer, capable = Renderer(picture=picture), Capabilities(forecasts=forecasts)
    game = replace(nim.game(), renderer=renderer, capabilities=capable)
    room = Room((None, "bot"), game, pictures=[picture])
    token = room.sit(1, "Ann")
    assert room.last(1, "state")["pictures"] == ["<svg/>"]
    room.connect(2).connect(3)
    assert room.state(2)["game_state"] == {"heap": 21}
    assert room.last(2, "state")["pictures"] == [None]
    room.take(room.table.disconnect(1)).connect(4).send(4, "sit", token=token)
    assert room.last(4, "seated")["seat"] == 0
    assert room.last(4, "state")["pictures"] == ["<svg/>"]
    assert room.act(4, "take_1")["ok"]
    assert caplog.messages == [
        "nim-v0: no forecast: ZeroDivisionError: division by zero",
        "nim-v0: no picture: KeyError: 'own card'",
    ]


# Secrecy.


def test_no_client_is_told_what_its_seat_may_not_know(game):
    """Whatever a client's seat cannot know may be another: the client is told the same."""
    room = Room((None,) * game.seats, game).connect(99)
    for seat in range(game.seats):
        room.sit(seat, f"name {seat}")
    match, generator = room.table.match.match, np.random.default_rng(1)

    def told(client):
        room.inbox.clear()
        room.table._latest.clear()
        return room.take(room.table._states([client])).inbox[client]

    assert game.seats == 1 or told(0) != told(game.seats - 1)
    assert bool(told(99)) == (game.public_view is not None)
    for client in (0, game.seats - 1, 99):
        seen, dealt = told(client), match.tables.copy()
        game.view.resample(match.table, client if client < 99 else 0, generator)
        assert match.tables.tobytes() != dealt.tobytes()
        assert told(client) == seen
        match.tables[:] = dealt


# Whatever comes.


@pytest.mark.parametrize("data", ["", "{", "[]", "null", b"\xff", '{"type":"sit","name":"\\ud800"}', "[" * 10_000])
def test_what_is_no_message_is_refused(data):
    room = Room().connect(1)
    room.take(room.table.receive(1, data))
    assert room.last(1, "error")["code"] == m.VALIDATION_ERROR


GAMES = [envs.game("auction"), envs.game("liars_dice"), envs.game("mafia", seats=5), envs.game("holdem", seats=3)]
HONEST, HOSTILE, ONLOOKER = 1, 2, 3
CODES = {value for name, value in vars(m).items() if name.isupper() and isinstance(value, str)}


class Hostile:
    """A table with programs, an honest person, one who sends what is broken, and one who looks on and does, too."""

    def __init__(self, game, rng):
        self.rng, self.game = rng, game
        programs = [None, None, *["bot"] * (game.seats - 2)]
        self.table = TableHostSession(game, [None if one is None else f"bot {i}" for i, one in enumerate(programs)])
        for client in (HONEST, HOSTILE, ONLOOKER):
            self.table.connect(client)
        self.say(HONEST, type="sit", name="ann", seat=0)
        self.sit_again()

    def say(self, client, **message):
        return self.table.receive(client, json.dumps(message))

    def sit_again(self):
        """Let the seats be taken and ready again, where the hostile client has left."""
        self.say(HOSTILE, type="sit", name="bob", seat=1)
        for client in (HONEST, HOSTILE):
            self.say(client, type="again")

    def legal(self):
        """A legal answer of the seat to act."""
        table = self.table.match.match.table
        legal = self.game.mask(table, self.table.due.seat).nonzero()[0]
        return self.game.view.encode(table, int(self.rng.choice(legal.tolist())))

    def moment(self):
        """What a refused message may not change."""
        match = self.table.match
        seats = [(seat.name, seat.token, seat.client, seat.ready) for seat in self.table.seats]
        return self.table.turn, self.table.status, seats, None if match is None else match.match.table.tobytes()


def refused(sends):
    """Whether all that was answered are refusals; each has a documented code."""
    for _, message in sends:
        if isinstance(message, m.Error):
            assert message.code in CODES
        elif isinstance(message, m.Result) and not message.result.ok:
            assert message.result.error in ERROR_CODES
        else:
            return False
    return True


@fuzzed
def test_a_table_refuses_what_is_broken_and_serves_the_honest(worker):
    rng = random.Random(worker)
    sent = turns = refusals = 0
    room = Hostile(GAMES[worker], rng)
    while sent < MESSAGES // WORKERS:
        if room.table.due is None:
            room.sit_again()
            if room.table.due is None:  # the hostile client sits under another name, or lost its seat
                room = Hostile(GAMES[worker], rng)
        due = room.table.due
        answer = json.loads(room.legal().to_json())
        base = [
            {"type": "act", "turn": due.turn, "response": answer},
            {"type": "say", "intent": {"scope": "public", "content": "hello"}},
            {"type": "sit", "name": "eve", "seat": 1, "token": "t"},
            {"type": "stand"},
            {"type": "again"},
            {"type": "sit_out", "out": True},
            {"type": "ping"},
        ]
        for _ in range(rng.randint(1, 4)):
            before = room.moment()
            message = mutated(rng, rng.choices(base, (8, 3, 1, 0.05, 0.5, 0.5, 0.5))[0])
            sends = room.table.receive(rng.choice((HOSTILE, ONLOOKER)), message)
            sent += 1
            assert sends
            if refused(sends):
                refusals += 1
                assert room.moment() == before
            for client, out in sends:
                assert client in (HONEST, HOSTILE, ONLOOKER) and json.loads(m.encode(out))
        if room.table.due != due:
            continue
        if due.who == "program":
            room.table.answered(due.turn, room.legal())
        elif room.table.seats[due.seat].client == HONEST:
            sends = room.say(HONEST, type="act", turn=due.turn, response=answer)
            assert [out.result.ok for client, out in sends if client == HONEST and isinstance(out, m.Result)] == [True]
            turns += 1
        else:
            room.table.failed(due.turn, "no answer in time")
    assert turns > sent / 100 and refusals > sent / 5
