"""Turns that are answered without an agent."""

from parlour.wrappers.live.common.player import Played
from parlour.wrappers.live.tangram.agent import UsefulTurn


def act(session, answer, turn=None):
    """Settle a turn with an answer, and return what the session sends; None: the turn that is open."""
    turn = turn or session._asked
    if turn is None:
        return []
    response, problem = turn.settle(lambda: answer)
    return settled(session, session.reply(turn, Played(response, problem)))


def settled(session, events):
    """Return events with what comes of the turns for which no agent is asked."""
    told = []
    for event in events:
        told += act(session, event.ask(None), event) if isinstance(event, UsefulTurn) else [event]
    return told
