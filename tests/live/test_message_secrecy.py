"""Private messages that a seat cannot read do not show: in an arena, at the table in the browser, and in replays.

Two matches are played alike, but in one of them other seats also speak in private. The law of the same name
(`parlour.envs.testing`) compares what `Match` shows; here it is what travels and what is written.
"""

import json

import pytest
from live.table_room import Room
from parlour import envs
from parlour.envs.core.turn_state import MessageIntent, MessageScope
from parlour.envs.testing.trial import Chatter, chooser
from parlour.wrappers.live.common import match_session
from parlour.wrappers.live.common.match_session import MatchLimits, MatchSession
from parlour.wrappers.logs.match_log import MatchLog
from parlour.wrappers.replay.log_reader import moments

DECISIONS = 12


@pytest.fixture(autouse=True)
def same_names(monkeypatch):
    """Both matches have the same id, which hosts draw at random."""
    monkeypatch.setattr(match_session.secrets, "token_hex", lambda size: "a" * size)


@pytest.fixture(params=[0, -1], ids=["first seat", "last seat"])
def seat(request, game_id):
    return range(envs.game(game_id).seats)[request.param]


def script(game, seat, seed=5):
    """What is done before each decision: (sender, message, whether it is one of the others' private ones)."""
    chatter, others = Chatter(game, seed), tuple(agent for agent in game.agents if agent != game.agents[seat])
    for _ in range(DECISIONS):
        spoken = [(chatter.one_of(game.agents), chatter.intent(game.agents), False)]
        if others:
            spoken.append((chatter.one_of(others), chatter.intent(others, private=True), True))
        yield spoken


def play(game, matches, choose):
    """Play the same random action in all matches, one that is legal in each of them."""
    quiet, busy = (one.match for one in matches)
    action = choose(quiet.mask & busy.mask)
    for one in matches:
        assert one.act(one.turn, game.view.encode(one.match.table, action)).ok


def test_at_the_table_in_the_browser(game_id, seat):
    """Not even by the number of frames that the client of a seat, or an observer, is sent."""
    game = envs.game(game_id)
    rooms = [Room((None,) * game.seats, game).connect(99) for _ in range(2)]
    for room in rooms:
        for one in range(game.seats):
            room.sit(one, f"name {one}")
        for one in range(game.seats):
            room.inbox[one] = [frame for frame in room.inbox[one] if frame["type"] != "seated"]  # a token of its own
    choose = chooser(game, 1)
    for spoken in script(game, seat):
        for sender, intent, more in spoken:
            for room in rooms[1:] if more else rooms:
                room.send(game.agents.index(sender), "say", intent=json.loads(intent.to_json()))
        quiet, busy = (room.table.match for room in rooms)
        action = choose(quiet.match.mask & busy.match.mask)
        for room in rooms:
            turn, table = room.table.match.match.turn, room.table.match.match.table
            room.send(turn, "act", turn=room.table.turn, response=json.loads(game.view.encode(table, action).to_json()))
        for client in (seat, 99):
            one, other = (room.inbox[client] for room in rooms)
            assert one == other
        if quiet.turn is None:
            break


def test_in_replays(game_id, seat, tmp_path):
    game = envs.game(game_id)
    matches = [MatchSession(game, game.agents, seed=3, limits=MatchLimits(actions=None)) for _ in range(2)]
    choose = chooser(game, 1)
    for spoken in script(game, seat):
        for sender, intent, more in spoken:
            for one in matches[1:] if more else matches:
                one.send(sender, intent)
        play(game, matches, choose)
        if matches[0].turn is None:
            break
    told = []
    for number, one in enumerate(matches):
        path = tmp_path / f"{number}.jsonl"
        with MatchLog(path) as log:
            for event in one.events:
                log.write(**event)
        name = game.agents[seat]
        told.append([moment.states[name].to_json() for moment in moments(path) if moment.action != "says"])
    assert told[0] == told[1] and len(told[0]) > 1


def test_a_private_message_is_one_of_a_series_of_its_readers():
    match = MatchSession(envs.game("auction", seats=3), ("a", "b", "c"), seed=1)
    for sender, readers in (("a", ["b"]), ("a", ["b"]), ("a", ["c"]), ("b", ["a"])):
        assert match.send(sender, MessageIntent(MessageScope.PRIVATE, "psst", readers)).ok
    seen = {agent: [message.message_id for message in match.turn_state(agent).messages] for agent in "abc"}
    assert len(set(seen["a"])) == 4 and seen["b"] == [seen["a"][i] for i in (0, 1, 3)] and seen["c"] == [seen["a"][2]]
