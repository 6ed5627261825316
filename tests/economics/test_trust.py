"""The trust game: what arrives, what may be returned, and subgame-perfect play."""

import numpy as np
from economics.matches import played
from parlour.envs import Action


def sent(amount):
    return played("trust", ("send", {"amount": amount}))


def test_the_amount_is_multiplied_and_partly_returned():
    env = sent(4)
    assert (env.table.turn, env.turn_state("player_1").phase) == (1, "return")
    assert env.submit("player_1", Action("return_amount", {"amount": 5})).ok
    assert env.table.done and env.table.rewards[:2].tolist() == [11, 7]
    outcome = env.turn_state("player_0").outcome
    assert (outcome["reason"], outcome["sent"], outcome["returned"]) == ("trust_resolved", 4, 5)


def test_nobody_returns_more_than_what_arrived():
    env = sent(2.5)
    assert np.flatnonzero(env.observe("player_1")["action_mask"]).tolist() == [*range(11, 11 + 8), 42]
    refused = env.submit("player_1", Action("return_amount", {"amount": 7.6}))
    assert (refused.error, "0 to 7.5" in refused.error_detail) == ("invalid_payload", True)
    assert env.submit("player_1", Action("return_amount", {"amount": 7.5})).ok
