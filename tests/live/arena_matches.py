"""Matches of an arena without sockets, and answers in them."""

from parlour import envs
from parlour.wrappers.live.common.match_session import MatchLimits, MatchSession

FREE = MatchLimits(actions=None)
TALK = {"messages": [{"scope": "public", "content": "hello"}], "action": {"action_type": "message_only"}}


def bargaining(*agents, seed=1, **limits):
    return MatchSession(envs.game("bargaining"), agents or ("ann", "bob"), seed=seed, limits=MatchLimits(**limits))


def offer(share):
    return {"action_type": "submit_offer", "payload": {"my_share": share}}
