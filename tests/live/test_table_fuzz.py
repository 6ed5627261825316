"""The table of the browser under broken messages, beside a person who plays on; see `fuzzing`."""

import json
import random

import pytest
from live.fuzzing import MESSAGES, WORKERS, mutated
from parlour import envs
from parlour.envs.core.turn_state import ERROR_CODES
from parlour.wrappers.live.table import messages as m
from parlour.wrappers.live.table.host_session import TableHostSession

GAMES = [envs.game("auction"), envs.game("liars_dice"), envs.game("mafia", seats=5), envs.game("holdem", seats=3)]
HONEST, HOSTILE, ONLOOKER = 1, 2, 3
CODES = {value for name, value in vars(m).items() if name.isupper() and isinstance(value, str)}


class Room:
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


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_table_refuses_what_is_broken_and_serves_the_honest(worker):
    rng = random.Random(worker)
    sent = turns = refusals = 0
    room = Room(GAMES[worker], rng)
    while sent < MESSAGES // WORKERS:
        if room.table.due is None:
            room.sit_again()
            if room.table.due is None:  # the hostile client sits under another name, or lost its seat
                room = Room(GAMES[worker], rng)
        due = room.table.due
        answer = json.loads(room.legal().to_json())
        base = [
            {"type": "act", "turn": due.turn, "response": answer},
            {"type": "say", "intent": {"scope": "public", "content": "hello"}},
            {"type": "sit", "name": "eve", "seat": 1, "token": "t"},
            {"type": "stand"},
            {"type": "again"},
            {"type": "ping"},
        ]
        for _ in range(rng.randint(1, 4)):
            before = room.moment()
            message = mutated(rng, rng.choices(base, (8, 3, 1, 0.05, 0.5, 0.5))[0])
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
