"""Turns of a tangram agent, for tests without a socket."""

import math

from live.settled import act, settled
from live.small_game import SmallGame
from msgspec import Struct
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.common.player import Turn
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import TangramAgentSession

GAME = envs.game("tangram", aspect="godot")

NOBODYS = "A lighthouse on a rock"


def play(shape="Red", x=50.0, y=50.0, rotation=0.0):
    return Action("play", {"shape": shape, "position": [x, y], "rotation": rotation})


def sent(events):
    """Return the messages that go out, asserting that each can be read as the document has it."""
    found = [event for event in events if isinstance(event, Struct)]
    for message in found:
        assert m.decode_agent(m.encode(message)) == message
        assert len(m.encode(message)) < 1_000
    return found


def decision(events):
    (found,) = (event for event in events if isinstance(event, Turn))
    return found


def turn(session, game, answer):
    """Play the agent's turn; `answer(turn_state)` is the agent. Return how many plays it took."""
    events = session.receive(game.message())
    for plays in range(100):
        if any(isinstance(event, Turn) for event in events):
            asked = decision(events)
            (message,) = act(session, answer(asked.state), asked)
        else:
            (message,) = sent(events)
        if isinstance(message, m.Finish):
            game.finish()
            return plays
        events = settled(session, session.receive(game.put(message)))
    raise AssertionError("the turn does not end")


def scripted(*answers):
    left = iter(answers)
    return lambda state: next(left, Action("finish"))


def begun(poses):
    """Return a session and its game after a turn on the empty board, with pieces that the person has put there."""
    session, game = TangramAgentSession(GAME), SmallGame("A square")
    turn(session, game, scripted())
    game.poses.update(poses)
    return session, game


NONSENSE = [
    None,
    7,
    "play",
    {"action": 3},
    Action("fold"),
    AgentResponse(Action("finish"), [3]),
    Action("play"),
    play("Orange"),
    play(x=math.nan),
    Action("play", {"shape": 3, "position": [50, 50], "rotation": 0}),
    Action("play", {"shape": "Red", "position": [50], "rotation": 0}),
    AgentResponse(action=None),
]
