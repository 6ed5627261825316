"""Both ends of the tangram protocol under broken messages; see `fuzzing`."""

import json
import random

import pytest
from live.fuzzing import MESSAGES, WORKERS, mutated
from live.settled import act
from live.small_game import SmallGame
from live.tangram_turns import GAME, NONSENSE
from msgspec import Struct
from parlour.envs.core.match import Match
from parlour.envs.core.turn_state import Action
from parlour.envs.tangram.lattice import PIECES
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.common.player import Note
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import TangramAgentSession
from parlour.wrappers.live.tangram.host import AgentSaid, TangramHostSession, TurnEnded


@pytest.mark.parametrize("worker", range(WORKERS))
def test_a_host_refuses_what_is_broken_and_plays_on(worker):
    rng = random.Random(worker)
    session, sent, honest, refused = None, 0, 0, 0
    while sent < MESSAGES // WORKERS:
        if session is None or session.over:
            match = Match(GAME)
            match.reset(seed=rng.randrange(2**32))
            session = TangramHostSession(match)
        if not session.agents_turn:
            legal = session.match.game.mask(session.match.table, 0).nonzero()[0]
            answer = session.match.game.view.encode(session.match.table, int(rng.choice(legal.tolist())))
            session.play(answer)
            continue
        session.request()
        while session.agents_turn and rng.random() < 0.8:
            place = [rng.uniform(0, 100), rng.uniform(0, 100)]
            play = {"type": "play", "shape": rng.choice(PIECES), "position": place, "rotation": rng.uniform(0, 360)}
            base = rng.choices([play, {"type": "chat", "message": "hi"}, {"type": "finish"}], (8, 2, 1))[0]
            before = session.match.table.tobytes()
            events = session.receive(mutated(rng, base))
            sent += 1
            ended = any(isinstance(event, TurnEnded) for event in events)
            refusals = [one for one in events if isinstance(one, m.Error)]
            refused += len(refusals)
            if refusals and not ended:
                assert session.match.table.tobytes() == before
            for event in events:
                assert isinstance(event, (Struct, TurnEnded, AgentSaid))
                if isinstance(event, Struct):
                    json.loads(m.encode(event))
            if ended:
                session.request()
        if session.agents_turn:
            events = session.receive('{"type": "finish"}')
            assert events == [TurnEnded("")] and not session.agents_turn
            honest += 1
    assert honest > sent / 100 and refused > sent / 10


def answers(session, events, rng):
    """Answer decisions, well or badly; whatever goes out can be read at the other end."""
    out = []
    for event in events:
        assert isinstance(event, (Struct, Turn, Note))
        if isinstance(event, Struct):
            out.append(event)
        elif isinstance(event, Turn):
            out += act(session, rng.choice([Action("finish"), *NONSENSE]), event)
    for message in out:
        assert m.decode_agent(m.encode(message)) == message


@pytest.mark.parametrize("worker", range(WORKERS))
def test_an_agent_takes_whatever_comes_and_answers_its_turns(worker):
    rng = random.Random(worker)
    sent = turns = 0
    while sent < MESSAGES // WORKERS:
        session, game = TangramAgentSession(GAME), SmallGame("A square", godot=rng.random() < 0.5)
        for _ in range(20):
            name = rng.choice(PIECES)
            game.poses[name] = rng.uniform(10, 90), rng.uniform(10, 90), 45.0 * rng.randrange(8)
            clean = game.message()
            base = json.loads(clean)
            for _ in range(rng.randint(1, 8)):
                kind = rng.choices(["playRequest", "playFeedback", "chatRequest"], (4, 2, 1))[0]
                answers(session, session.receive(mutated(rng, {**base, "type": kind, "message": "hi"})), rng)
                sent += 1
            events = session.receive(clean)
            [asked] = [event for event in events if isinstance(event, Turn)]
            assert set(asked.state.game_state["on_board"]) == set(game.poses)
            [finish] = act(session, Action("finish"), asked)
            assert isinstance(finish, m.Finish)
            turns += 1
    assert turns > 0
