"""Our agent in the sessions of an arena that is impolite where the platform is."""

import asyncio
import json

import pytest
from aiohttp import web
from live.arena_players import ours, run
from live.arena_sessions import polling
from live.event_loops import on_loop
from live.small_server import served
from live.test_poker_stop import command
from parlour import envs
from parlour.envs import TurnState
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.arena.polling_agent import ArenaPollingAgent, PollingTimes

# Our agent in the sessions of an arena that is impolite where the platform is.


class RudeArena:
    """An arena that says what it is told to, and notes what it gets.

    It shows an answered turn once more before it goes on, asks for words where it is nobody's turn, fails now and then,
    gives a token for a name, and answers an action that comes too late with HTTP 400. What it thinks of the other
    actions stands in its events alone.
    """

    def __init__(self, states, end, events=(), sessions=None):
        self.states, self.end, self.posted, self.asked = list(states), end, [], 0
        self.events, self.sessions = list(events), sessions
        self.left = [2] * len(self.states)

    def routes(self):
        return [
            web.post("/api/register", self.register),
            web.get("/api/sessions", self.listed),
            web.post("/api/sessions/create", self.create),
            web.post("/api/sessions/join", self.join),
            web.get("/api/sessions/state", self.state),
            web.post("/api/sessions/act", self.act),
            web.get("/api/sessions/sync", self.sync),
        ]

    async def sync(self, request):
        since = int(request.query["index"])
        shown = self.events[since : since + 2]  # the last ones only when it is asked again
        return web.json_response({"events": shown, "total": since + len(shown)})

    async def register(self, request):
        self.posted.append(await request.json())
        return web.json_response({"ok": True})

    async def listed(self, request):
        if self.sessions is not None:
            return web.json_response({"sessions": self.sessions})
        waiting = {
            "session_id": "s",
            "game_id": "ultimatum",
            "invite_codes": ["inv_1"],
            "players": [{"display_name": "x"}],
        }
        mine = {**waiting, "players": [{"display_name": "me"}], "invite_codes": ["inv_0"]}
        return web.json_response({"sessions": [mine, waiting] if request.query["game_id"] == "ultimatum" else []})

    async def create(self, request):
        if self.sessions is None:
            raise web.HTTPInternalServerError
        return await self.join(request)

    async def join(self, request):
        self.posted.append(await request.json())
        seat = {"session_id": "s", "player_id": "p", "token": "pt_1", "status": "running", "claim_token": "ct_1"}
        return web.json_response(seat)

    async def state(self, request):
        self.asked += 1
        if self.asked % 7 == 3:
            raise web.HTTPServiceUnavailable
        while self.left and self.left[0] == 0:
            self.states.pop(0)
            self.left.pop(0)
        if not self.states:
            return web.json_response(self.end)
        return web.json_response({"status": "running", "waiting": False, **self.states[0]})

    async def act(self, request):
        self.posted.append(await request.json())
        self.left[0] = 0
        return (
            web.json_response({"error": "Not your turn"}, status=400)
            if len(self.posted) == 4
            else web.json_response({"ok": True})
        )


def state(mine, **seen):
    game = {"agent_ids": ["me", "x"], "num_agents": 2, "total": 100, "current_offer": None, "last_offer_by": None,
            "my_reservation_value": 30, "action_history": [], **seen}  # fmt: skip
    offers = ["submit_offer", "accept", "reject", "pass", "message_only"] if mine else []
    told = TurnState("m", "ultimatum", "me", "negotiation", mine, "me" if mine else "x", game).to_dict()
    return told | {"allowed_actions": [{"action_type": name} for name in offers]}


def test_an_arena_with_the_platforms_manners():
    offer = {"me": 55.0, "x": 45.0}
    states = [
        state(True),
        state(False),  # asked for words alone
        state(True, current_offer=offer, last_offer_by="x"),
    ]
    arena = RudeArena(
        states, {"status": "finished", "game_over": True, "outcome": {"payoffs": [], "reason": "agreement"}}
    )

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", policy="fair", games=["ultimatum"]) as player,
        ):
            await player.register()
            await player.play(1, 1)
            return player

    player = run(main())
    register, join, *acts = arena.posted
    assert register == {
        "agent_id": "me", "agent_type": "polling", "display_name": "me", "supported_games": ["ultimatum"]
    }  # fmt: skip
    assert join == {"invite_code": "inv_1", "player_name": "me"}
    assert [act["action_type"] for act in acts] == ["submit_offer", "message_only", "accept"]
    assert acts[0]["payload"] == {"shares": {"me": 50.0, "x": 50.0}} and acts[0]["messages"] == []
    assert (player.matches, player.lost, player.turns, player.claim_token) == (1, 0, 3, "ct_1")
    assert (player.agent.statistics.replaced, player.agent.statistics.rejected) == (0, 1)


def action(name, ok, **more):
    detail = {"error": None if ok else "invalid_payload", "error_detail": None if ok else "too low"}
    return {"event_type": "action", "agent_id": name, "data": {"action_type": "accept", "ok": ok, **detail, **more}}


def test_refusals_are_counted_where_the_arena_writes_them(caplog):
    """Its answer to an action is ok, whatever it thinks of it."""
    events = [
        {"event_type": "turn_state", "agent_id": "me", "data": {"game_state": {}}}, action("me", False),
        action("x", False), action("me", True), "nonsense", action("me", False, payload={"bid": 5}),
    ]  # fmt: skip
    end = {"status": "finished", "outcome": {"payoffs": [], "reason": "agreement"}}
    arena = RudeArena([state(True)] * 2, end, events)

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", policy="fair", games=["ultimatum"]) as player,
        ):
            await player.play(1, 1)
            return player

    assert run(main()).agent.statistics.rejected == 2
    assert [record.getMessage() for record in caplog.records if "refused" in record.getMessage()] == [
        "match m: the arena refused accept None: too low",
        "match m: the arena refused accept {'bid': 5}: too low",
    ]


@pytest.mark.parametrize(
    "joined, free, wanted", [(1, 1, "join"), (1, 2, "create"), (2, 1, "create"), (None, None, "join")]
)
def test_sessions_have_as_many_players_as_the_game(joined, free, wanted):
    waiting = {"session_id": "s", "game_id": "ultimatum", "invite_codes": ["inv_1"], "players": []}
    if joined is not None:
        waiting |= {"num_players": joined, "slots_remaining": free}
    end = {"status": "finished", "outcome": {"payoffs": [], "reason": "agreement"}}
    arena = RudeArena([], end, sessions=[waiting])

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", policy="fair", games=["ultimatum"], seats=2) as player,
        ):
            await player.play(1, 1)

    run(main())
    (body,) = arena.posted
    assert (
        body
        == {
            "join": {"invite_code": "inv_1", "player_name": "me"},
            "create": {"game_id": "ultimatum", "num_players": 2, "player_name": "me"},
        }[wanted]
    )


class Claiming(RudeArena):
    """An arena whose join claims the name, and keeps the token where the invite code was used."""

    token = None

    def routes(self):
        return [*super().routes(), web.post("/api/claim", self.claim)]

    async def claim(self, request):
        body = await request.json()
        assert self.token in (None, body.get("claim_token"))
        self.token = "ct_9"
        return web.json_response({"ok": True, "claim_token": self.token})

    async def join(self, request):
        body = await request.json()
        if self.token is not None and body.get("claim_token") != self.token:
            return web.json_response({"error": "already claimed"}, status=409)
        self.token, first = "ct_9", not self.posted
        self.posted.append(body)
        if first:
            return web.json_response({"error": "Invalid or expired invite code"}, status=400)
        return web.json_response({"session_id": "s", "player_id": "p", "token": "pt_1", "status": "running"})


def test_a_name_is_claimed_before_a_join_can_lose_its_token():
    """After a join that failed, the name belonged to nobody, and the agent could not play any more."""
    waiting = {"session_id": "s", "game_id": "ultimatum", "invite_codes": ["inv_1", "inv_2"], "players": []}
    end = {"status": "finished", "outcome": {"payoffs": [], "reason": "agreement"}}
    arena = Claiming([], end, sessions=[waiting])

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", policy="fair", games=["ultimatum"]) as player,
        ):
            await player.play(1, 1)
            return player

    player = run(main())
    assert (player.matches, player.claim_token) == (1, "ct_9")
    assert [body["claim_token"] for body in arena.posted] == ["ct_9", "ct_9"]


def test_a_session_without_an_outcome_is_lost_and_the_next_one_is_played():
    arena = RudeArena([], {"status": "finished", "game_over": True, "outcome": None, "error": "idle"})

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", games=["ultimatum"]) as player,
        ):
            await player.play(1, 2)
            return player

    player = run(main())
    assert (player.matches, player.lost) == (0, 2)
    assert json.dumps(arena.posted).count("ct_1") == 1  # the second time the name is claimed


def test_an_arena_without_the_agents_games_is_told():
    async def main():
        async with ArenaHost(envs.game("auction")) as host, polling("me", host.url) as player:
            with pytest.raises(ConnectionError, match=r"it plays first-price-auction, .* and the agent unfair-split"):
                await player.play()

    run(main())


def test_wrong_arguments_are_told():
    agent = ours("me")
    with pytest.raises(ValueError, match="is no address"):
        ArenaPollingAgent(agent, "ftp://x")
    with pytest.raises(ValueError, match="has no list of its games"):
        ArenaPollingAgent(agent, "http://x", games=[])
    with pytest.raises(ValueError, match="above 0"):
        PollingTimes(running=0)


def test_a_bot_of_several_games_needs_one_by_name():
    from parlour.training.commands.arguments import PolicyArguments
    from parlour.training.commands.deploy import _game

    with pytest.raises(ValueError, match=r"random plays .*bargaining.*: name the game with --game"):
        _game(PolicyArguments(run="random"))
    assert _game(PolicyArguments(run="random", game="auction")).name == "auction"
    assert _game(PolicyArguments(run="conceder")).name == "bargaining"


@pytest.mark.slow
@on_loop
async def test_the_commands_play_sessions():
    """`parlour host arena --serve`, and two of `parlour deploy arena --sessions`, each in a process of its own."""
    async with command("host", "arena", "bargaining", "--serve", "--port", "0") as host:
        url = (await host.stdout.readline()).decode().split()[-1]

        async def deployed(bot):
            options = ("--arena", url, "--sessions", "2", "--matches", "4", "--poll", "0.05")
            async with command("deploy", "arena", bot, *options) as process:
                out, err = await process.communicate()
            return process.returncode, out.decode().splitlines()[-1], "Traceback" in err.decode()

        for code, summary, crashed in await asyncio.gather(deployed("fair"), deployed("conceder")):
            assert (code, crashed) == (0, False)
            assert summary.startswith("summary: 4 matches, 0 lost") and ", 0 replaced," in summary
        host.terminate()
        out, err = await host.communicate()
    assert host.returncode == 143 and "Traceback" not in err.decode()
    assert "bargaining-v0: 4 matches" in out.decode()


class Listing(RudeArena):
    """Lists games and sessions in forms of its own."""

    def __init__(self, games, sessions):
        super().__init__(
            [], {"status": "finished", "game_over": True, "outcome": {"payoffs": [], "reason": "agreement"}}
        )
        self.games, self.rows = games, sessions

    def routes(self):
        return [*super().routes(), web.get("/api/games", self.list_games)]

    async def list_games(self, request):
        return web.json_response(self.games)

    async def listed(self, request):
        return web.json_response(self.rows)


WAITING = {"session_id": "s", "game_id": "ultimatum", "invite_codes": ["inv_1"], "players": ["x", {"display_name": 3}]}


@pytest.mark.parametrize("games", [[{"game_id": "ultimatum"}], {"games": ["text", {"game_id": "ultimatum"}]}], ids=repr)
@pytest.mark.parametrize("sessions", [["text", WAITING], {"sessions": [3, "text", WAITING]}], ids=repr)
def test_lists_of_any_form_are_read(games, sessions):
    arena = Listing(games, sessions)

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", games=["ultimatum"]) as player,
        ):
            await player.play(1, 1)
            return player

    assert run(main()).matches == 1
