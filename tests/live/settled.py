"""Turns that are answered without an agent."""

from parlour.wrappers.live.common.agent_turn import Played


def act(session, answer, turn=None):
    """Settle a turn with an answer, and return what the session sends; None: the turn that is open."""
    turn = turn or session._asked
    if turn is None:
        return []
    response, problem = turn.settle(lambda: answer)
    return session.reply(turn, Played(response, problem))
