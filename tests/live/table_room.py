"""A table and what every client has been sent, for tests without a socket."""

import json
from collections import defaultdict

from live.table_people import BARGAINING
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.table import messages as m
from parlour.wrappers.live.table.host import TableHostSession


class Room:
    """A table and what every client has been sent, as it travels."""

    def __init__(self, programs=("bot", None), game=BARGAINING, **options):
        self.table = TableHostSession(game, programs, **{"seed": 7, **options})
        self.inbox = defaultdict(list)

    def take(self, sends):
        for client, message in sends:
            self.inbox[client].append(json.loads(m.encode(message)))
        return self

    def connect(self, client):
        return self.take(self.table.connect(client))

    def send(self, client, kind, **fields):
        return self.take(self.table.receive(client, json.dumps({"type": kind, **fields})))

    def sit(self, client, name, **fields):
        """Connect and take a seat; return its token, or the error's code."""
        if client not in self.table._clients:
            self.connect(client)
        self.send(client, "sit", name=name, **fields)
        seated, error = self.last(client, "seated"), self.last(client, "error")
        return seated["token"] if seated else error["code"]

    def last(self, client, kind):
        return next((message for message in reversed(self.inbox[client]) if message["type"] == kind), None)

    def state(self, client):
        return self.last(client, "state")["turn_state"]

    def act(self, client, action_type, turn=None, **payload):
        turn = self.table.turn if turn is None else turn
        response = {"action": {"action_type": action_type, "payload": payload}}
        self.send(client, "act", turn=turn, response=response)
        return self.last(client, "result")["result"]

    def program(self, action_type="pass", **payload):
        """Let the program whose turn it is answer."""
        due = self.table.due
        assert due.who == "program"
        return self.take(self.table.answered(due.turn, AgentResponse(Action(action_type, payload))))
