"""What agents say beside their choices: `metadata` and `reason` reach admins, logs and replays, and nobody else."""

import asyncio
import json

import pytest
from mafia_players import FIVE, Plain, scripted, table
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agent_policy import METADATA, REASON, beside
from parlour.wrappers.live.mafia.host import MafiaHost
from parlour.wrappers.live.mafia.service_client import RemoteAgent, ServiceConnection
from parlour.wrappers.logs import recorder
from parlour.wrappers.logs.match_log import MatchLog, read
from parlour.wrappers.replay.log_reader import moments


class Explaining(Plain):
    """Explains every choice."""

    async def night_action(self, context, private_info):
        action = await super().night_action(context, private_info)
        return action and wire.NightAction(action.action_type, action.target_id, {"plan": ["wait", 2]})

    async def vote(self, context, public_info):
        other = next(player for player in context.players if player.alive and player.id != self.id)
        return wire.VoteAction(other.id, "it was too quiet")


def agents(seats=5):
    return [Explaining(f"p{seat + 1}", f"Player {seat + 1}") for seat in range(seats)]


def events(stream, kind):
    return [event["payload"] for event in map(json.loads, stream) if event["eventType"] == kind]


def test_admins_are_told_and_the_public_and_the_players_are_not():
    match = table(3, 5, bad=dict(enumerate(agents())))
    asyncio.run(match.play())
    admin, public = match.feed.admin, match.feed.public
    assert all(event["metadata"] == {"plan": ["wait", 2]} for event in events(admin, "NIGHT_ACTION_SUBMITTED"))
    votes = events(admin, "VOTE_CAST")
    assert votes and all(vote["reason"] == "it was too quiet" for vote in votes)
    assert [vote | {"reason": "it was too quiet"} for vote in events(public, "VOTE_CAST")] == votes
    assert b"too quiet" not in b"".join(public) and b"plan" not in b"".join(public)


@pytest.mark.parametrize("remote", [False, True])
async def test_the_log_and_its_replay_hold_them(tmp_path, remote):
    path, at_the_agents = tmp_path / "log.jsonl", tmp_path / "agents.jsonl"
    with MatchLog(path) as log, MatchLog(at_the_agents) as service_log:
        service = MafiaAgentServer(Explaining, log=service_log)
        async with service, MafiaHost(FIVE, seed=3, log=log) as host:
            players = [scripted(seat) for seat in range(5)]
            players[0] = Explaining("p1", "Ann")
            if remote:
                connection = ServiceConnection(service.url)
                players[0] = RemoteAgent("p1", "Ann", connection)
            result = await host.play(
                players, seed=next(s for s in range(99) if table(s, 5).session.roles[0] == "mafia")
            )
            if remote:
                await connection.close()
    turns = [line["response"]["action"] for line in read(path) if line["kind"] == "turn" and line["agent"] == "p1"]
    explained = [turn["payload"] for turn in turns if turn["action_type"] != "say"]
    assert {next(iter(payload.keys() & {"metadata", "reason"})) for payload in explained} == {"metadata", "reason"}
    assert recorder.replay(path).table.tobytes() == result.record
    shown = [moment for moment in moments(path) if moment.agent == "Ann" and not moment.action.startswith("say")]
    assert all("plan" in moment.think or "reason: it was too quiet" in moment.think for moment in shown)
    assert not any("plan" in moment.action or "quiet" in moment.action for moment in shown)
    if remote:
        own = [line["response"]["action"]["payload"] for line in read(at_the_agents) if line["kind"] == "turn"]
        assert [payload for payload in own if "text" not in payload] == explained


def test_what_is_kept_is_bounded():
    assert beside(wire.VoteAction("p1", "x" * 99_999)) == {"reason": "x" * REASON}
    assert beside(wire.VoteAction("p1")) == beside(wire.NightAction("KILL", "p1")) == beside(None) == {}
    assert "leftOut" in beside(wire.NightAction("KILL", "p1", {"plan": "x" * METADATA}))["metadata"]


def test_an_illegal_choice_is_not_explained():
    match = table(3, 5, bad={0: Explaining("p1", "Ann")})
    match.agents[0].vote = lambda context, info: _vote(wire.VoteAction("p1", "I am tired"))
    asyncio.run(match.play())
    assert b"tired" not in b"".join(match.feed.admin)


async def _vote(vote):
    return vote
