"""Sessions that are polled: by our agents, by clients of the platform, and at an impolite arena."""

import asyncio
import json
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from live.arena_players import BARGAINING, Client, ours, polling
from live.event_loops import VirtualLoop, run
from live.processes import command
from live.small_server import served
from parlour import envs
from parlour.envs import Action, AgentResponse, TurnState
from parlour.wrappers.live.arena.agent import ArenaPollingAgent, PollingTimes, SessionFeeds
from parlour.wrappers.live.arena.host import MOST_ENDED, PAGE, ArenaHost, HostedSessions
from parlour.wrappers.live.arena.messages import Refused
from parlour.wrappers.live.common import limits
from yarl import URL


async def test_many_sessions_at_once_and_an_invitation():
    async def one(player, **play):
        async with player:
            await player.register()
            await player.play(**play)
        return player.matches, player.lost

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
        assert counts == [(12, 0), (12, 0)]


async def test_who_waits_in_an_own_session_that_was_just_joined_joins_no_other():
    async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http, polling("ann", host.url) as ann:
        client = Client(http, host.url)
        ann._own = await ann._enter("create", game_id="unfair-split")
        await client.post("create", game_id="unfair-split", player_name="Bob")
        assert await ann._find() is None  # it is younger
        await client.post("join", invite_code=ann._own.invite_codes[0], player_name="Bob")
        assert await ann._find() is None  # the own one is no longer listed
        assert await ann._seat_that_begins(looking=True) is not None and ann._own is None
        assert await ann._find() is not None


@pytest.mark.parametrize("waiting", [0.01, 60.0])
async def test_an_own_session_that_is_joined_at_the_end_is_played_too(waiting):
    async with ArenaHost(BARGAINING) as host, aiohttp.ClientSession() as http:
        client = Client(http, host.url)
        _, seat = await client.post("create", game_id="unfair-split", player_name="Bob")
        async with polling("ann", host.url) as ann:
            ann._times = replace(ann._times, waiting=waiting)  # 60: the match ends before it looks again
            own = ann._own = await ann._enter(
                "create", game_id="unfair-split"
            )  # younger than Bob's, whose session is joined first
            playing = asyncio.create_task(ann.play(sessions=2, matches=1))
            await client.turn(seat["token"])
            _, other = await client.post("join", invite_code=own.invite_codes[0], player_name="Eve")
            while not playing.done():
                for token in (seat["token"], other["token"]):
                    state = await client.state(token)
                    if state.get("is_my_turn"):
                        await client.post("act", token=token, action_type="pass", payload={})
                await asyncio.sleep(0.01)
            await playing
            assert (ann.matches, ann.lost) == (2, 0)


async def test_a_client_of_the_platform_plays_here():
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
        idle = {"status": "running", "is_my_turn": False, "waiting": True, "player_id": "Bob"}
        assert await client.state(bob["token"]) == idle
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
        assert [end["player_id"] for end in ends] == ["Ann", "Bob"]  # by which a client finds its payoff
        assert host.results[0].rejected == {"Ann": 0, "Bob": 1}


async def test_what_cannot_be_served_is_told():
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
        ):
            found, answer = await client.post(path, **body)
            assert found == status and words in answer["error_detail"], (path, body, answer)
        assert (await client.call("GET", "/api/sessions/state"))[0] == 401
        for data in (b"", b"[]", b"{", b"\xff", b"[" * 9999):
            assert (await client.call("POST", "/api/sessions/create", data=data))[0] == 400
        assert (await client.call("GET", "/api/games/chess/rules"))[0] == 404


async def test_matches_between_agents_that_are_here_end_also_if_they_cannot_be_told_or_fail(monkeypatch):
    def full(result):
        raise OSError("no space left on device")

    async with ArenaHost(BARGAINING, on_result=full) as host, aiohttp.ClientSession() as http:
        host.add(ours("ann"))
        host.add(ours("bob"))
        client = Client(http, host.url)

        async def ended():
            body = {"agent_ids": ["ann", "bob"], "game_id": "unfair-split", "num_matches": 3}
            _, started = await client.call("POST", "/api/match", json=body)
            while (told := await client.call("GET", f"/api/match/{started['session_id']}"))[1]["status"] == "running":
                await asyncio.sleep(0.01)
            return told[1]

        for wrong in (["ann"], ["ann", "ann"], ["ann", "eve"]):
            assert (await client.call("POST", "/api/match", json={"agent_ids": wrong}))[0] == 400
        assert (await client.call("GET", "/api/match/x"))[0] == 404
        told = await ended()
        assert (told["status"], len(host.results)) == ("finished", 3)
        assert [result["agent_ids"] for result in told["results"]] == [["ann", "bob"]] * 3
        monkeypatch.setattr(host, "_conclude", full)
        told = await ended()
        assert (told["status"], "no space" in told["error"]) == ("error", True)


def test_three_silent_turns_end_the_match():
    loop = VirtualLoop()
    host = ArenaHost(envs.game("bargaining"))
    sessions = host._sessions

    async def main():
        session, seat = sessions.create("unfair-split", "ann", 2, None, 0.0)
        sessions.join(seat["invite_codes"][0], "bob", 0.0)
        task = asyncio.create_task(host.play_session(host, session))
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


def test_sessions_that_wait_expire_and_those_that_are_over_are_forgotten():
    sessions = HostedSessions()
    _, seat = sessions.create("unfair-split", "ann", 2, None, 0.0)
    assert sessions.state(seat["token"], 299.0)["status"] == "waiting"
    assert sessions.state(seat["token"], 301.0)["game_over"]
    with pytest.raises(Refused, match="expired"):
        sessions.join(seat["invite_codes"][0], "bob", 301.0)
    for number in range(2 * MOST_ENDED):
        sessions.create("unfair-split", f"{number}", 2, None, 400.0 * number)
    assert json.loads(sessions.listed(None, None, 0, 1e9))["total"] == MOST_ENDED == len(sessions._by_token)
    with pytest.raises(Refused, match="token"):
        sessions.state(seat["token"], 1e9)


def test_one_address_takes_its_share_of_the_sessions_and_those_that_wait_or_run_stay():
    sessions = HostedSessions()
    _, honest = sessions.create("unfair-split", "honest", 2, None, 0.0, "10.0.0.1")
    for number in range(limits.SESSIONS[1]):
        _, seat = sessions.create("unfair-split", f"{number}", 2, None, 0.0, "10.0.0.2")
        if number % 2:
            sessions.join(seat["invite_codes"][0], "eve", 0.0)
    with pytest.raises(Refused, match="too many sessions"):
        sessions.create("unfair-split", "more", 2, None, 0.0, "10.0.0.2")
    assert sessions.state(honest["token"], 0.0)["status"] == "waiting"
    assert sessions.create("unfair-split", "another", 2, None, 0.0, "10.0.0.3")
    sessions.expire(1e9)  # those that wait; half of the address's run
    assert sessions.create("unfair-split", "more", 2, None, 1e9, "10.0.0.2")


def test_the_list_has_pages_and_is_made_once_a_change():
    sessions = HostedSessions()
    for number in range(PAGE + 5):
        _, seat = sessions.create("unfair-split", f"{number}", 2, None, 0.0)
    pages = [sessions.listed("waiting", None, after, 0.0) for after in (0, PAGE, 2 * PAGE)]
    rows = [json.loads(page)["sessions"] for page in pages]
    assert list(map(len, rows)) == [PAGE, 5, 0] and rows[0][0]["players"][0]["display_name"] == "0"
    assert sessions.listed("waiting", None, PAGE, 0.0) is pages[1]
    sessions.join(seat["invite_codes"][0], "bob", 0.0)
    assert json.loads(sessions.listed("waiting", None, PAGE, 0.0))["total"] == PAGE + 4
    for after in range(1000):
        sessions.listed("waiting", None, after, 0.0)
    assert len(sessions._pages) <= PAGE


# Our agent in the sessions of an arena that is impolite where the platform is.


END = {"status": "finished", "game_over": True, "outcome": {"payoffs": [], "reason": "agreement"}}
WAITING = {"session_id": "s", "game_id": "ultimatum", "invite_codes": ["inv_1"], "players": ["x", {"display_name": 3}]}


class RudeArena:
    """An arena that says what it is told to, and notes what it gets.

    It shows an answered turn once more before it goes on, asks for words where it is nobody's turn, fails now and then,
    gives a token for a name, and answers an action that comes too late with HTTP 400. What it thinks of the other
    actions stands in its events alone.
    """

    def __init__(self, states=(), end=None, events=(), sessions=None, games=None):
        self.states, self.end, self.posted, self.asked = list(states), end or END, [], 0
        self.events, self.sessions, self.games = list(events), sessions, games
        self.left = [2] * len(self.states)

    def routes(self):
        return [
            web.post("/api/register", self.register),
            web.get("/api/games", self.list_games),
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

    async def list_games(self, request):
        if self.games is None:
            raise web.HTTPNotFound
        return web.json_response(self.games)

    async def register(self, request):
        self.posted.append(await request.json())
        return web.json_response({"ok": True})

    async def listed(self, request):
        if self.sessions is not None:
            return web.json_response(self.sessions)
        mine = {**WAITING, "players": [{"display_name": "me"}], "invite_codes": ["inv_0"]}
        return web.json_response({"sessions": [mine, WAITING] if request.query["game_id"] == "ultimatum" else []})

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
        late = len(self.posted) == 4
        return web.json_response({"error": "Not your turn"} if late else {"ok": True}, status=400 if late else 200)


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    monkeypatch.setattr("parlour.wrappers.live.arena.agent.SECONDS", aiohttp.ClientTimeout(total=60.0))


def played_at(arena, matches=1, **options):
    """Let our agent play at an arena; return it."""

    async def main():
        async with (
            served(*arena.routes()) as address,
            polling("me", f"http://{address}", policy="fair", games=["ultimatum"], **options) as player,
        ):
            await player.register()
            await player.play(1, matches)
            return player

    return run(main())


def state(mine, **seen):
    game = {"agent_ids": ["me", "x"], "num_agents": 2, "total": 100, "current_offer": None, "last_offer_by": None,
            "my_reservation_value": 30, "action_history": [], **seen}  # fmt: skip
    offers = ["submit_offer", "accept", "reject", "pass", "message_only"] if mine else []
    told = TurnState("m", "ultimatum", "me", "negotiation", mine, "me" if mine else "x", game).to_dict()
    return told | {"allowed_actions": [{"action_type": name} for name in offers]}


def test_an_arena_with_the_platforms_manners_and_an_error_of_ours(monkeypatch):
    find, errors = ArenaPollingAgent._find, [ZeroDivisionError()]
    monkeypatch.setattr(ArenaPollingAgent, "_find", lambda self: errors.pop() if errors else find(self))  # no coroutine
    offer = {"me": 55.0, "x": 45.0}
    states = [state(True), state(False), state(True, current_offer=offer, last_offer_by="x")]  # (False): words alone
    arena = RudeArena(states)
    player = played_at(arena)
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
    statistics = played_at(RudeArena([state(True)] * 2, events=events)).agent.statistics
    assert statistics.rejected == 3  # and one that came too late
    assert [record.getMessage() for record in caplog.records if "arena refused" in record.getMessage()] == [
        "match m: the arena refused accept None: too low",
        "match m: the arena refused accept {'bid': 5}: too low",
    ]


JOIN, CREATE = {"invite_code": "inv_1"}, {"game_id": "ultimatum", "num_players": 2}


@pytest.mark.parametrize("joined, free, wanted", [(1, 1, JOIN), (1, 2, CREATE), (2, 1, CREATE), (None, None, JOIN)])
def test_sessions_have_as_many_players_as_the_game(joined, free, wanted):
    told = {} if joined is None else {"num_players": joined, "slots_remaining": free}
    arena = RudeArena(sessions={"sessions": [{**WAITING, **told}]})
    played_at(arena, seats=2)
    assert arena.posted[1:] == [{**wanted, "player_name": "me"}]


TALK = {"allowed_actions": [{"action_type": "message_only"}]}


@pytest.mark.parametrize("asked", [TALK, {"is_my_turn": False}, {"waiting": True}], ids=str)
def test_a_match_in_which_nothing_happens_is_left(asked, monkeypatch):
    """It is asked to talk alone; or others are who only talk, or pass where that is refused."""
    for name, most in (("PATIENCE", 3), ("QUIET_SECONDS", 0.5)):
        monkeypatch.setattr(f"parlour.wrappers.live.arena.agent.{name}", most)
    arena = RudeArena([state(True, current_round=number) | asked for number in range(1000)])
    assert played_at(arena).lost == 1
    assert len(arena.posted) == 2 + 3 or asked != TALK  # to register and to join, and three answers


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
        self.token, first = "ct_9", len(self.posted) == 1
        self.posted.append(body)
        if first:
            return web.json_response({"error": "Invalid or expired invite code"}, status=400)
        return web.json_response({"session_id": "s", "player_id": "p", "token": "pt_1", "status": "running"})


def test_a_name_is_claimed_before_a_join_can_lose_its_token():
    """After a join that failed, the name belonged to nobody, and the agent could not play any more."""
    arena = Claiming(sessions=[{**WAITING, "invite_codes": ["inv_1", "inv_2"]}])
    player = played_at(arena)
    assert (player.matches, player.claim_token) == (1, "ct_9")
    assert [body["claim_token"] for body in arena.posted[1:]] == ["ct_9", "ct_9"]


@pytest.mark.parametrize("outcome", [None, {}], ids=["without an outcome", "by an error of ours"])
def test_a_session_is_lost_and_the_next_one_is_played(outcome, monkeypatch):
    if outcome is not None:
        monkeypatch.setattr(ArenaPollingAgent, "match_ended", lambda *match: 1 / 0)
    arena = RudeArena(end={"status": "finished", "game_over": True, "outcome": outcome, "error": "idle"})
    player = played_at(arena, 2)
    assert (player.matches, player.lost) == (0, 2)
    assert player.agent.statistics.broken == (outcome is not None)
    assert json.dumps(arena.posted).count("ct_1") == 1  # the second time the name is claimed


async def test_an_arena_without_the_agents_games_is_told():
    async with ArenaHost(envs.game("auction")) as host, polling("me", host.url) as player:
        with pytest.raises(ConnectionError, match=r"it plays first-price-auction, .* and the agent unfair-split"):
            await player.play()


def test_wrong_arguments_are_told():
    agent = ours("me")
    with pytest.raises(ValueError, match="is no address"):
        ArenaPollingAgent(agent, "ftp://x")
    with pytest.raises(ValueError, match="has no list of its games"):
        ArenaPollingAgent(agent, "http://x", games=[])
    with pytest.raises(ValueError, match="above 0"):
        PollingTimes(running=0)


@pytest.mark.slow
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


@pytest.mark.parametrize("games", [[{"game_id": "ultimatum"}], {"games": ["text", {"game_id": "ultimatum"}]}], ids=repr)
@pytest.mark.parametrize("sessions", [["text", WAITING], {"sessions": [3, "text", WAITING]}], ids=repr)
def test_lists_of_any_form_are_read(games, sessions):
    assert played_at(RudeArena(sessions=sessions, games=games)).matches == 1


async def test_a_chat_that_is_broken_or_missing_costs_nothing():
    said = {"index": 4, "sender_id": "p1", "sender_display_name": "ann", "content": "hello", "scope": "public"}
    answers = [
        web.json_response({"messages": ["junk", {"index": "x"}, said], "total": 1}),
        web.json_response([]),
        web.Response(status=500),
        web.json_response({"messages": [said, {"index": 5, "sender_id": "p2", "scope": "private"}], "total": 2}),
        web.Response(status=404),
    ]
    asked = []

    async def sync(request):
        asked.append(request.query["index"])
        return answers.pop(0)

    hello = [("ann", "hello")]
    routed = web.get("/api/sessions/chat/sync", sync)
    async with served(routed) as address, aiohttp.ClientSession() as http:
        feeds = SessionFeeds(http, URL(f"http://{address}/api/sessions"), "pt", "me")
        result = [[(one.sender_id, one.content) for one in await feeds.chat()] for _ in range(6)]
    assert result == [hello, hello, hello, [*hello, ("p2", "")], [*hello, ("p2", "")], [*hello, ("p2", "")]]
    assert asked == ["0", "5", "5", "5", "6"]  # after the 404 it is not asked again
