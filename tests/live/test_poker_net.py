"""What an agent counts as won is the change of its chips, also in hands in which nobody can act."""

import numpy as np
from live.poker_room import Room
from parlour.wrappers.live.poker.agent_session import HandEnded, PokerAgentSession


def actions_by_hand(seed):
    """Play a table to its end with short stacks and random actions; return the number of actions of each hand."""
    generator = np.random.default_rng(seed)
    players, stack = int(generator.integers(2, 4)), int(generator.integers(3, 9))
    room = Room(players, seats=players, stack=stack, seed=seed)
    agents = [PokerAgentSession() for _ in range(players)]
    read, before, actions = [0] * players, [stack] * players, []
    ended = [[] for _ in range(players)]
    while True:
        for seat, agent in enumerate(agents):
            for message in room.inbox[seat][read[seat] :]:
                ended[seat] += [one for one in agent.receive(message) if isinstance(one, HandEnded)]
            read[seat] = len(room.inbox[seat])
        due = room.table.due
        if due is None or len(actions) == 200:
            return actions
        if due.what == "act":
            kinds = {one["kind"]: one for one in room.state(room.turn)["actions"]}
            kind = str(generator.choice(sorted(kinds)))
            bounds = [kinds[kind].get(name) for name in ("min", "max")]
            room.act(kind, None if None in bounds else int(generator.integers(bounds[0], bounds[1] + 1)))
            continue
        actions.append(len(room.table.hand_log["actions"]))
        now = [room.table.stack(seat) for seat in range(players)]
        for seat in range(players):
            if before[seat]:
                last = ended[seat][-1]
                assert (last.hand, last.stack, last.net) == (room.table.hand, now[seat], now[seat] - before[seat])
        before = now
        room.deal()


def test_the_net_of_each_hand_is_the_change_of_the_stack():
    actions = [count for seed in range(60) for count in actions_by_hand(seed)]
    assert actions.count(0) > 10 and len(actions) > 300
