"""Agents for tests, good and bad, and a context to call them with."""

import asyncio
import time
from contextlib import asynccontextmanager

from parlour.envs import game
from parlour.envs.mafia.bots import PERSONALITIES
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaLimits
from parlour.wrappers.live.mafia.agents import MafiaScriptedAgent
from parlour.wrappers.live.mafia.host import HostedMatch, MafiaHostSession, RemoteAgent, ServiceConnection

NAMES = ["Ann", "Bob", "Cat", "Dan", "Eve", "Fay", "Gus", "Hal", "Ivy", "Joe"]
TEN = game("mafia", seats=10)
FIVE = game("mafia", seats=5)
SHORT = MafiaLimits(think=0.05, say=0.05, act=0.05, thought=2_000, statement=400)


def scripted(seat, seed=0, name=None):
    config = wire.AgentConfig(
        type="scripted", scripted_config=wire.ScriptedConfig(personality=PERSONALITIES[seat % len(PERSONALITIES)])
    )
    return MafiaScriptedAgent(
        f"p{seat + 1}", name or f"{NAMES[seat % 10]}{'' if seat < 10 else seat}", config, seed=100 * seed + seat
    )


def table(seed=0, seats=10, bad=None, limits=None, game=None, **watch):
    """A match of scripted agents; `bad` is put into seats: {seat: agent}. Its `events` are kept."""
    agents = [scripted(seat, seed) for seat in range(seats)]
    for seat, agent in (bad or {}).items():
        agents[seat] = agent
    events, game = [], game or (TEN if seats == 10 else FIVE)
    match = HostedMatch(
        game, agents, game_id=f"game-{seed}", seed=seed, limits=limits, **{"on_event": events.append, **watch}
    )
    match.events = events
    return match


@asynccontextmanager
async def remote(url, seats=1, token=None):
    """The agents of a service for these seats of a match of ours."""
    connection = ServiceConnection(url, token)
    yield [RemoteAgent(f"p{seat + 1}", NAMES[seat], connection) for seat in range(seats)]
    await connection.close()


def dealt(role, seats=5):
    """A seed with which the first seat has that role."""
    return next(seed for seed in range(100) if table(seed, seats).session.roles[0] == role)


def session(seed=0, game=FIVE, **settings):
    """The host's end of a match, without agents."""
    players = [(f"p{seat + 1}", NAMES[seat]) for seat in range(game.seats)]
    return MafiaHostSession(game, players, game_id="g", seed=seed, **settings)


def warnings(caplog):
    """What our code has logged."""
    return [line for line in caplog.records if line.name.startswith("parlour")]


def context(phase="DAY_VOTING", seats=5, me=0, role="villager", dead=(), **fields):
    """What `p1` of five sees on the first day, and its private information."""
    players = [
        wire.Player(
            id=f"p{seat + 1}",
            name=NAMES[seat],
            role=role if seat == me else "villager" if seat in dead else "unknown",
            alive=seat not in dead,
            eliminated_round=1 if seat in dead else None,
        )
        for seat in range(seats)
    ]
    state = wire.GameState(
        game_id="g",
        phase=phase,
        day_number=0 if phase == "NIGHT_ACTIONS" else 1,
        round_number=1,
        players=players,
        alive_players=[player for player in players if player.alive],
        dead_players=[player for player in players if not player.alive],
        mafia_count=1,
        town_count=seats - 1 - len(dead),
        **fields,
    )
    private = wire.PrivateInfo(self=players[me], game_state=state, private_knowledge=wire.PrivateKnowledge())
    public = wire.PublicInfo(
        game_id="g",
        phase=phase,
        day_number=state.day_number,
        round_number=1,
        alive_players=[wire.Alive(id=one.id, name=one.name) for one in players if one.alive],
    )
    return state, private, public


class Plain:
    """An agent of others that does what the rules want, and no more."""

    def __init__(self, id="p1", name="Ann"):
        self.id, self.name, self.role = id, name, None
        self.config = wire.AgentConfig(type="scripted")

    async def think(self, context, private_info):
        yield "Hm."

    async def say(self, context, public_info):
        yield "I have "
        yield "nothing to report."

    async def night_action(self, context, private_info):
        if private_info.self.role not in wire.NIGHT_ACTIONS:
            return None
        other = next(player for player in context.players if player.alive and player.id != self.id)
        return wire.NightAction(wire.NIGHT_ACTIONS[private_info.self.role], other.id)

    async def vote(self, context, public_info):
        return wire.VoteAction(None)


class Silent(Plain):
    """Never answers anything."""

    async def think(self, context, private_info):
        await asyncio.Event().wait()
        yield ""

    say = think

    async def night_action(self, context, private_info):
        await asyncio.Event().wait()

    vote = night_action


class Endless(Plain):
    """Streams for ever, without a pause."""

    words = "and so on "

    async def think(self, context, private_info):
        while True:
            yield self.words

    say = think


class EndlessNothing(Endless):
    """Streams nothing for ever, without a pause."""

    words = ""


class Blocking(Plain):
    """Blocks its thread."""

    async def think(self, context, private_info):
        time.sleep(0.4)
        yield "I was away."

    async def vote(self, context, public_info):
        time.sleep(0.4)
        return wire.VoteAction(None)


class Raising(Plain):
    """Raises at every call; some of it is not meant to be caught."""

    async def think(self, context, private_info):
        yield "now "
        raise SystemExit("goodbye")

    async def say(self, context, public_info):
        raise KeyError("say")
        yield ""

    async def night_action(self, context, private_info):
        raise asyncio.CancelledError

    async def vote(self, context, public_info):
        raise RecursionError


class Stubborn(Plain):
    """Does not let itself be cancelled."""

    async def night_action(self, context, private_info):
        while True:
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                continue

    async def vote(self, context, public_info):
        return await self.night_action(context, None)


class Meddling(Plain):
    """Changes what it is shown."""

    async def think(self, context, private_info):
        context.players.clear()
        context.voting_history.append("rubbish")
        private_info.game_state.statements = None
        yield "ha"


class Explaining(Plain):
    """Explains every choice."""

    async def night_action(self, context, private_info):
        action = await super().night_action(context, private_info)
        return action and wire.NightAction(action.action_type, action.target_id, {"plan": ["wait", 2]})

    async def vote(self, context, public_info):
        other = next(player for player in context.players if player.alive and player.id != self.id)
        return wire.VoteAction(other.id, "it was too quiet")
