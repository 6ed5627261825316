"""Sessions that are polled: our agents in an arena's, and clients of the platform in ours."""

import asyncio
import json

import aiohttp
import pytest
from aiohttp import web
from live.arena_players import BARGAINING, FREE, ours, run
from live.event_loops import VirtualLoop, on_loop
from live.test_poker_stop import command
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.arena.hosted_sessions import MOST_SESSIONS, HostedSessions, SessionRefused
from parlour.wrappers.live.arena.messages import SessionChat
from parlour.wrappers.live.arena.players import SessionPlayer, TimeBudget
from parlour.wrappers.live.arena.polling_agent import ArenaPollingAgent, PollingTimes
from parlour.wrappers.policies.base import RandomPolicy

QUICK = PollingTimes(running=0.01, waiting=0.05, retry=0.01)


def polling(name, url, game=BARGAINING, policy="random", **options):
    return ArenaPollingAgent(ours(name, game, policy), url, times=QUICK, **options)


class Client:
    """A client as the platform's guide for agents describes it: nothing but these calls."""

    def __init__(self, http, url):
        self.http, self.url = http, url

    async def call(self, method, path, **kind):
        async with self.http.request(method, self.url + path, **kind) as reply:
            return reply.status, await reply.json()

    async def state(self, token):
        return (await self.call("GET", "/api/sessions/state", params={"token": token}))[1]

    async def post(self, path, **body):
        return await self.call("POST", f"/api/sessions/{path}", json=body)

    async def turn(self, token):
        """Poll until it is this player's turn, or the match is over."""
        while True:
            state = await self.state(token)
            if state["status"] not in ("waiting", "running") or state.get("is_my_turn"):
                return state
            await asyncio.sleep(0.01)


@pytest.fixture
def law_1(monkeypatch):
    """Note what policies see, and what the environment shows to them."""
    from parlour.wrappers.live.arena.host_session import ArenaHostSession

    shown = []
    original = ArenaHostSession.turn_state

    def watch(session, agent_id):
        if agent_id == "watched":
            seat = session.agent_ids.index(agent_id)
            table = session.match.table
            shown.append((session.game.observation(table, seat).tobytes(), session.game.mask(table, seat).tobytes()))
        return original(session, agent_id)

    monkeypatch.setattr(ArenaHostSession, "turn_state", watch)
    return shown


def test_our_agents_meet_in_our_sessions_and_see_what_the_environment_shows(game_id, law_1):
    game, seen = envs.game(game_id), []

    class Watched(RandomPolicy):
        def act(self, observations, masks):
            seen.append((observations.tobytes(), masks.tobytes()))
            return super().act(observations, masks)

    async def one(player):
        async with player:
            seen.clear()  # the warm-up's
            await player.play(1, 1)
        return player

    async def main():
        async with ArenaHost(game, limits=FREE, seed=3) as host:
            agents = [ArenaAgent("watched", PolicyAgent(game, Watched(seed=9)))]
            agents += [ours(f"bot {seat}", game) for seat in range(1, game.seats)]
            games = [game.id]
            players = [ArenaPollingAgent(agent, host.url, games=games, times=QUICK) for agent in agents]
            for player in await asyncio.gather(*map(one, players)):
                assert (player.matches, player.lost, player.agent.statistics.replaced) == (1, 0, 0)
            return host.results

    (result,) = run(main(), within=110)
    assert seen == law_1
    assert seen or game.name == "mafia"  # whoever dies in the first night may have had no turn
    assert not any(result.rejected.values()) and not any(result.failed.values())


def test_many_sessions_at_once_and_an_invitation():
    async def one(player, **play):
        async with player:
            await player.register()
            await player.play(**play)
        return player.matches, player.lost

    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, seat = await client.post("create", game_id="unfair-split", player_name="host")
            guest = asyncio.create_task(one(polling("guest", host.url), matches=1, invites=seat["invite_codes"]))
            while (await client.turn(seat["token"]))["status"] == "running":
                await client.post("act", token=seat["token"], action_type="pass", payload={})
            assert await guest == (1, 0)
            counts = await asyncio.gather(
                *(one(polling(name, host.url), sessions=5, matches=12) for name in ("ann", "bob"))
            )
            listed = (await client.call("GET", "/api/agents"))[1]["agents"]
            assert {row["agent_id"] for row in listed} == {"guest", "ann", "bob"}
            assert listed[0]["supported_games"] == ["unfair-split", "ultimatum"]  # which it plays elsewhere
            return counts

    assert run(main()) == [(12, 0), (12, 0)]


def test_a_client_of_the_platform_plays_here():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, games = await client.call("GET", "/api/games")
            assert games["games"][0]["game_id"] == "unfair-split" and games["games"][0]["min_agents"] == 2
            async with http.get(f"{host.url}/api/games/unfair-split/rules") as reply:
                assert "submit_offer" in await reply.text()
            async with http.get(f"{host.url}/SKILL.md") as reply:
                assert '{"game_id": "unfair-split", "player_name": "Me"}' in await reply.text()
            _, ann = await client.post("create", game_id="unfair-split", player_name="Ann")
            assert (await client.state(ann["token"]))["status"] == "waiting"
            _, waiting = await client.call("GET", "/api/sessions?status=waiting&game_id=unfair-split")
            (session,) = waiting["sessions"]
            assert session["invite_codes"] == ann["invite_codes"] and session["slots_remaining"] == 1
            _, bob = await client.post("join", invite_code=session["invite_codes"][0], player_name="Bob")
            assert bob["status"] == "running"
            state = await client.turn(ann["token"])
            assert (state["game_id"], state["agent_id"], state["waiting"]) == ("unfair-split", "Ann", False)
            assert (await client.state(bob["token"])) == {"status": "running", "is_my_turn": False, "waiting": True}
            assert (await client.post("act", token=bob["token"], action_type="pass"))[0] == 400
            said = [{"scope": "private", "content": "psst", "to_agent_ids": ["Bob", "nobody"]}]
            share = {"my_share": 40.0}
            _, answer = await client.post(
                "act", token=ann["token"], action_type="submit_offer", payload=share, messages=said
            )
            assert answer == {"ok": True}
            state = await client.turn(bob["token"])
            assert [m["content"] for m in state["messages"]] == ["psst"] and state["game_state"]["current_offer"] == 40
            assert (await client.post("act", token=bob["token"], action_type="wave"))[1] == {"ok": True}
            state = await client.turn(bob["token"])  # it was refused, and is asked again
            assert (await client.post("act", token=bob["token"], action_type="accept", payload={}))[0] == 200
            ends = [await client.turn(one["token"]) for one in (ann, bob)]
            assert [(end["status"], end["game_over"]) for end in ends] == [("finished", True)] * 2
            assert [row["agent_id"] for row in ends[0]["outcome"]["payoffs"]] == ["Ann", "Bob"]
            _, board = await client.call("GET", "/api/leaderboard")
            assert {row["agent_id"]: row["matches"] for row in board["leaderboard"]} == {"Ann": 1, "Bob": 1}
            assert host.results[0].rejected == {"Ann": 0, "Bob": 1}

    run(main())


def test_what_cannot_be_served_is_told():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            _, seat = await client.post("create", player_name="Ann")
            code, token = seat["invite_codes"][0], seat["token"]
            for path, body, status, words in (
                ("create", {"game_id": "chess"}, 400, "unknown game"),
                ("create", {"num_players": 3}, 400, "has 2"),
                ("create", {"game_params": {"total": 5}}, 400, "game_params"),
                ("create", {"player_name": "accept"}, 409, "a word of"),
                ("create", {"max_turns": 0}, 400, "max_turns"),
                ("join", {"invite_code": "inv_x"}, 400, "not known"),
                ("join", {"invite_code": code, "player_name": "Ann"}, 409, "already"),
                ("act", {"token": token, "action_type": "pass"}, 400, "is waiting"),
                ("act", {"token": "pt_x", "action_type": "pass"}, 401, "token"),
                ("act", {"token": token}, 400, "action_type"),
                ("chat", {"token": token, "content": ""}, 400, "content"),
            ):
                found, answer = await client.post(path, **body)
                assert found == status and words in answer["error_detail"], (path, body, answer)
            assert (await client.call("GET", "/api/sessions/state"))[0] == 401
            for data in (b"", b"[]", b"{", b"\xff", b"[" * 9999):
                assert (await client.call("POST", "/api/sessions/create", data=data))[0] == 400
            assert (await client.call("GET", "/api/games/chess/rules"))[0] == 404

    run(main())


def test_an_access_token_guards_sessions_and_matches():
    async def main():
        async with ArenaHost(BARGAINING, access_token="sesame") as host, aiohttp.ClientSession() as http:
            client = Client(http, host.url)
            assert (await client.post("create"))[0] == 401
            assert (await client.post("join", invite_code="x"))[0] == 401
            assert (await client.call("POST", "/api/match", json={"agent_ids": []}))[0] == 401
            async with polling("ann", host.url, access_token="sesame") as player:
                await player.register()

    run(main())


def test_matches_between_agents_that_are_here():
    async def main():
        async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
            host.add(ours("ann"))
            host.add(ours("bob"))
            client = Client(http, host.url)
            for wrong in (["ann"], ["ann", "ann"], ["ann", "eve"]):
                assert (await client.call("POST", "/api/match", json={"agent_ids": wrong}))[0] == 400
            body = {"agent_ids": ["ann", "bob"], "game_id": "unfair-split", "num_matches": 3}
            _, started = await client.call("POST", "/api/match", json=body)
            while True:
                _, told = await client.call("GET", f"/api/match/{started['session_id']}")
                if told["status"] == "finished":
                    break
                await asyncio.sleep(0.01)
            assert [result["agent_ids"] for result in told["results"]] == [["ann", "bob"]] * 3
            assert (await client.call("GET", "/api/match/x"))[0] == 404

    run(main())


def test_three_silent_turns_end_the_match():
    loop = VirtualLoop()
    host = ArenaHost(envs.game("bargaining"))
    sessions = HostedSessions()

    async def main():
        session, seat = sessions.create("unfair-split", "ann", 2, None, 0.0)
        sessions.join(seat["invite_codes"][0], "bob", 0.0)
        task = asyncio.create_task(host.play_session(session, sessions))
        bob = session.seats[list(session.seats)[1]]
        while not task.done():
            if bob.state is not None:
                assert bob.submit(AgentResponse(Action("pass")))
            await asyncio.sleep(0.5)
        return sessions.state(seat["token"], loop.time())

    end = loop.run_until_complete(main())
    loop.close()
    assert end["outcome"]["reason"] == "error" and "no answer in 3 turns" in end["error"]
    assert 180 <= loop.now < 190
    assert host.results[0].forced["ann"] == 2


def test_an_answer_is_taken_once():
    async def main():
        player = SessionPlayer("ann", "unfair-split")
        assert not player.submit("early")
        state = TurnState("m", "bargaining-v0", "ann", "negotiation", True)
        task = asyncio.create_task(player.act(state, TimeBudget(5)))
        await asyncio.sleep(0)
        assert player.state.game_id == "unfair-split"
        assert player.submit("first") and not player.submit("second")
        return await task

    assert asyncio.run(main()) == "first"


def test_sessions_that_wait_expire_and_those_that_are_over_are_forgotten():
    sessions = HostedSessions()
    _, seat = sessions.create("unfair-split", "ann", 2, None, 0.0)
    assert sessions.state(seat["token"], 299.0)["status"] == "waiting"
    assert sessions.state(seat["token"], 301.0)["game_over"]
    with pytest.raises(SessionRefused, match="expired"):
        sessions.join(seat["invite_codes"][0], "bob", 301.0)
    for number in range(MOST_SESSIONS):
        sessions.create("unfair-split", f"{number}", 2, None, 400.0)
    with pytest.raises(SessionRefused, match="are open"):
        sessions.create("unfair-split", "more", 2, None, 400.0)
    assert len(sessions.listed("waiting", None, 400.0)) == MOST_SESSIONS
    sessions.expire(1e9)
    assert len(sessions.listed(None, None, 1e9)) == MOST_SESSIONS
    with pytest.raises(SessionRefused, match="token"):
        sessions.state(seat["token"], 1e9)


def test_a_sessions_chat():
    sessions = HostedSessions()
    _, ann = sessions.create("unfair-split", "ann", 3, None, 0.0)
    codes = ann["invite_codes"]
    _, bob = sessions.join(codes[0], "bob", 0.0)
    _, eve = sessions.join(codes[1], "eve", 0.0)
    sessions.say(SessionChat(ann["token"], "hello"), 1.0)
    sessions.say(SessionChat(ann["token"], "psst", "private", [bob["player_id"]]), 2.0)

    def heard(seat, since=0):
        return [one["content"] for one in sessions.words(seat["token"], since, 3.0)["messages"]]

    assert heard(ann) == heard(bob) == ["hello", "psst"] and heard(eve) == ["hello"]
    assert heard(bob, 1) == ["psst"] and sessions.words(eve["token"], 0, 3.0)["total"] == 2


# Our agent in the sessions of an arena that is impolite where the platform is.


class RudeArena:
    """An arena that says what it is told to, and notes what it gets.

    It shows an answered turn once more before it goes on, asks for words where it is nobody's turn, fails now and then,
    gives a token for a name, and answers an action that comes too late with HTTP 400.
    """

    def __init__(self, states, end):
        self.states, self.end, self.posted, self.asked = list(states), end, [], 0
        self.left = [2] * len(self.states)

    def routes(self):
        return [
            web.post("/api/register", self.register),
            web.get("/api/sessions", self.listed),
            web.post("/api/sessions/create", self.create),
            web.post("/api/sessions/join", self.join),
            web.get("/api/sessions/state", self.state),
            web.post("/api/sessions/act", self.act),
        ]

    async def register(self, request):
        self.posted.append(await request.json())
        return web.json_response({"ok": True})

    async def listed(self, request):
        waiting = {
            "session_id": "s",
            "game_id": "ultimatum",
            "invite_codes": ["inv_1"],
            "players": [{"display_name": "x"}],
        }
        mine = {**waiting, "players": [{"display_name": "me"}], "invite_codes": ["inv_0"]}
        return web.json_response({"sessions": [mine, waiting] if request.query["game_id"] == "ultimatum" else []})

    async def create(self, request):
        raise web.HTTPInternalServerError

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
        app = web.Application()
        app.add_routes(arena.routes())
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        player = polling("me", f"http://127.0.0.1:{runner.addresses[0][1]}", policy="fair", games=["ultimatum"])
        async with player:
            await player.register()
            await player.play(1, 1)
        await runner.cleanup()
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


def test_a_session_without_an_outcome_is_lost_and_the_next_one_is_played():
    arena = RudeArena([], {"status": "finished", "game_over": True, "outcome": None, "error": "idle"})

    async def main():
        app = web.Application()
        app.add_routes(arena.routes())
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        async with polling("me", f"http://127.0.0.1:{runner.addresses[0][1]}", games=["ultimatum"]) as player:
            await player.play(1, 2)
        await runner.cleanup()
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
    with pytest.raises(ValueError, match="which games"):
        ArenaPollingAgent(agent, "http://x", games=[])
    with pytest.raises(ValueError, match="above 0"):
        PollingTimes(running=0)


def test_a_bot_of_several_games_needs_one_by_name():
    from parlour.training.commands.arguments import PolicyArguments
    from parlour.training.commands.deploy.arena import _game

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
