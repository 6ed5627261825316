"""Our agents called by a host as the platform mafia-ai-benchmark would be: a test double from what its engine does.

The engine was run (2026-11) with its own mock players; its interface for agents was never implemented there. Seen: two
players of one first name ("Taylor 51", "Taylor 60"); roles in capital letters, with a VIGILANTE in larger matches; in a
discussion twice as many statements as there are living players, by speakers who are drawn, so that some speak often
and some never; players that vote for themselves; nights and days that count from 1 together; mafia that win at parity.
From the document: the context holds everybody's role, and nothing of what was said; a villager gets no night action.
Beyond both, as JavaScript does it: null where something is missing, and keys that nobody knows.
"""

import asyncio
import json
import random

import aiohttp
import pytest
from logs import Even
from mafia_players import FIVE, TEN, warnings
from parlour.envs.mafia.bots import PERSONALITIES
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agents import MafiaPolicyAgent, MafiaScriptedAgent

ROLES = {5: ["MAFIA", "DOCTOR", "SHERIFF"], 10: ["MAFIA", "MAFIA", "MAFIA", "DOCTOR", "SHERIFF", "VIGILANTE"]}
NIGHT = {"MAFIA": "KILL", "DOCTOR": "PROTECT", "SHERIFF": "INVESTIGATE"}
FIRST_NAMES = ["Taylor", "Casey", "Taylor", "Jordan", "Morgan"]


class Platform:
    """One match. `socket` leads to a service of agents, which plays the seats `ours`; the others play at random.

    Attributes:
        problems: what the agents of the service did that the document does not allow.
        asked: calls by method.
    """

    def __init__(self, socket, seats, seed, ours=None):
        self.socket, self.random = socket, random.Random(seed)
        roles = ROLES[seats] + ["VILLAGER"] * (seats - len(ROLES[seats]))
        self.random.shuffle(roles)
        self.players = [
            {
                "id": f"player_{i}",
                "name": f"{FIRST_NAMES[i % 5]} {40 + i}",
                "role": role,
                "alive": True,
                "eliminatedRound": None,
                "emoji": "🎭",
            }
            for i, role in enumerate(roles)
        ]
        self.ours = {f"player_{seat}" for seat in (range(seats) if ours is None else ours)}
        self.game_id, self.round, self.phase = f"game-{seed}-x", 1, "NIGHT_ACTIONS"
        self.last_night, self.history, self.protected, self.found = None, [], {}, {}
        self.calls, self.problems, self.asked = 0, [], {}

    def living(self):
        return [player for player in self.players if player["alive"]]

    def side(self, mafia):
        return [player for player in self.living() if (player["role"] == "MAFIA") == mafia]

    @property
    def winner(self):
        if not self.side(True):
            return "town"
        return "mafia" if len(self.side(True)) >= len(self.side(False)) else None

    # What agents are shown.

    def context(self):
        dead = [player for player in self.players if not player["alive"]]
        return {
            "gameId": self.game_id,
            "phase": self.phase,
            "dayNumber": self.round,
            "roundNumber": self.round,
            "players": self.players,
            "alivePlayers": self.living(),
            "deadPlayers": dead,
            "mafiaCount": len(self.side(True)),
            "townCount": len(self.side(False)),
            "winner": None,
            "lastNightResult": self.last_night,
            "votingHistory": self.history,
            "costTracker": {"usd": 0.1},
        }

    def private(self, player):
        mates = [other for other in self.players if other["role"] == "MAFIA" and other is not player]
        return {
            "self": player,
            "gameState": self.context(),
            "privateKnowledge": {
                "mafiaTeammates": mates if player["role"] == "MAFIA" else None,
                "lastProtected": self.protected.get(player["id"]),
                "investigationResults": self.found.get(player["id"], []),
            },
        }

    def public(self):
        last = self.last_night
        return {
            **{name: self.context()[name] for name in ("gameId", "phase", "dayNumber", "roundNumber", "votingHistory")},
            "alivePlayers": [{"id": one["id"], "name": one["name"]} for one in self.living()],
            "deadPlayers": [one for one in self.players if not one["alive"]],
            "lastNightResult": last
            and {**last, "killed": last["killed"] and last["killed"]["name"], "protected": None},
        }

    # The calls.

    async def call(self, method, player):
        """Call an agent of the service; return the text of a stream, or the result."""
        self.calls += 1
        self.asked[method] = self.asked.get(method, 0) + 1
        info = self.private(player) if method in ("think", "nightAction") else self.public()
        call = {"id": f"call-{self.calls}", "agent": player["id"], "method": method, "context": self.context()}
        await self.socket.send_str(json.dumps({**call, "info": info}))
        text = ""
        while True:
            answer = json.loads((await self.socket.receive(timeout=60)).data)
            assert answer["id"] == call["id"]
            if "error" in answer:
                self.problems.append(f"{method} of {player['id']}: {answer['error']}")
                return None
            text += answer.get("chunk", "")
            if answer.get("done"):
                return answer.get("result") if method in ("nightAction", "vote") else text

    async def choose(self, method, player, targets):
        """Return the id that a player chooses; None where it chooses nobody."""
        if player["id"] not in self.ours:  # players of the platform vote for themselves, too
            return self.random.choice([*targets, player["id"]] if method == "vote" else targets)
        await self.call("think", player)
        answer = await self.call(method, player) or {}
        chosen = answer.get("targetId")
        wanted = NIGHT.get(player["role"]) if method == "nightAction" else None
        if answer.get("actionType") != wanted or chosen not in [*targets, *([None] if method == "vote" else [])]:
            self.problems.append(f"{method} of {player['id']}, a {player['role']}: {answer}")
        return chosen

    # The match.

    async def play(self, rounds=12):
        while self.winner is None and self.round <= rounds:
            await self.night()
            if self.winner is None:
                await self.day()
            self.round += 1
        return self.winner

    def kill(self, player):
        player["alive"], player["eliminatedRound"] = False, self.round

    async def night(self):
        self.phase = "NIGHT_ACTIONS"
        by_id = {player["id"]: player for player in self.players}
        chosen = {}
        for role in NIGHT:
            for player in self.living():
                if player["role"] == role:
                    others = [one["id"] for one in self.living() if one is not player or role == "DOCTOR"]
                    left = [one for one in others if role != "DOCTOR" or one != self.protected.get(player["id"])]
                    chosen[player["id"]] = await self.choose("nightAction", player, left)
        targets = [chosen[one["id"]] for one in self.side(True) if chosen.get(one["id"])]
        saved = {target for actor, target in chosen.items() if by_id[actor]["role"] == "DOCTOR"}
        self.protected = {actor: target for actor, target in chosen.items() if by_id[actor]["role"] == "DOCTOR"}
        for actor, target in chosen.items():
            if by_id[actor]["role"] == "SHERIFF" and target:
                result = {"target": by_id[target], "isMafia": by_id[target]["role"] == "MAFIA", "round": self.round}
                self.found.setdefault(actor, []).append(result)
        victim = by_id[max(set(targets), key=targets.count)] if targets else None
        prevented = victim is not None and victim["id"] in saved
        if victim is not None and not prevented:
            self.kill(victim)
        killed = None if prevented else victim
        self.last_night = {"killed": killed, "protected": victim if prevented else None, "prevented": prevented}

    async def day(self):
        self.phase = "DAY_DISCUSSION"
        for _ in range(2 * len(self.living())):
            speaker = self.random.choice(self.living())
            if speaker["id"] in self.ours:
                await self.call("think", speaker)
                text = await self.call("say", speaker)
                if not text or not text.strip():
                    self.problems.append(f"{speaker['id']} said nothing")
        self.phase = "DAY_VOTING"
        names = {player["id"]: player["name"] for player in self.players}
        votes = {}
        for player in self.living():
            targets = [one["id"] for one in self.living() if one is not player]
            target = await self.choose("vote", player, targets)
            votes[player["name"]] = names[target] if target else None
        cast = [name for name in votes.values() if name]
        out = max(sorted(set(cast)), key=cast.count) if cast else None
        for player in self.players:
            if player["name"] == out:
                self.kill(player)
        self.history.append({"round": self.round, "eliminated": out, "votes": votes})


# Our agents.


def scripted(id, name):
    personality = PERSONALITIES[int(id.rpartition("_")[2]) % len(PERSONALITIES)]
    config = wire.AgentConfig(type="scripted", scripted_config=wire.ScriptedConfig(personality=personality))
    return MafiaScriptedAgent(id, name, config, seed=1)


def trained(seats):
    game = FIVE if seats == 5 else TEN
    return lambda id, name: MafiaPolicyAgent(id, name, game, Even(), seed=1)


def play(make, seats, seeds, ours=None):
    async def main():
        matches = []
        async with MafiaAgentServer(make, seed=0) as service, aiohttp.ClientSession() as http:
            for seed in seeds:
                async with http.ws_connect(service.url) as socket:
                    match = Platform(socket, seats, seed, ours)
                    await match.play()
                    matches.append(match)
            return matches, service.statistics.replaced

    return asyncio.run(asyncio.wait_for(main(), 300))


@pytest.mark.parametrize("seats", [5, 10])
@pytest.mark.parametrize("kind", ["scripted", "trained"])
def test_no_answer_of_ours_is_illegal_or_replaced(kind, seats, caplog):
    make = scripted if kind == "scripted" else trained(seats)
    matches, replaced = play(make, seats, range(4))
    assert not [problem for match in matches for problem in match.problems]
    assert replaced == 0 and not warnings(caplog)
    assert all(match.winner for match in matches)
    assert all(set(match.asked) == {"think", "say", "nightAction", "vote"} for match in matches)


def test_beside_players_who_vote_for_themselves():
    matches, replaced = play(scripted, 10, range(4), ours=range(4))
    assert not [problem for match in matches for problem in match.problems] and replaced == 0
    cast = [pair for match in matches for voting in match.history for pair in voting["votes"].items()]
    assert any(voter == target for voter, target in cast)  # and our agents have seen it


def test_roles_of_the_later_versions_are_read_as_the_documents():
    roles = ["MAFIA", "Doctor", "sheriff", "VILLAGER", "VIGILANTE", "jester", None]
    read = [wire.read({"id": "p", "name": "P", "role": role}, wire.Player).role for role in roles]
    assert read == ["mafia", "doctor", "sheriff", "villager", "villager", "unknown", "unknown"]
