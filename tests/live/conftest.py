"""A browser, and tables served to it; and hold'em compiled before any clock runs."""

import subprocess
import sys
from contextlib import contextmanager

import pytest
from command_line import address
from live.small_host import Host
from parlour import envs
from parlour.envs import play_until_done
from parlour.envs.core.rollout import tables_with_seed
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.mafia import host
from parlour.wrappers.live.mafia.host import DueCall
from tables import BAD, MINE, WITHIN, sit


@pytest.fixture(scope="session")
def compiled_poker():
    """Compile hold'em, its agent's end included."""
    game = envs.game("holdem", seats=2)
    PolicyAgent(game, game.bots["maniac"](game, 1)).warm_up()
    host = Host(game)
    host.deal()
    host.play(1)
    host.state(0)


@pytest.fixture(scope="session")
def compiled_mafia():
    """Compile mafia, its agent's end included."""
    game = envs.game("mafia")
    policy = game.bots["mixed"](game, 1)
    PolicyAgent(game, policy).warm_up()
    play_until_done(game, [policy], tables_with_seed(game, 1, 1))


@pytest.fixture
def lobby(table):
    """Serve a lobby, ``with lobby(…) as visit``; see `table`."""
    return lambda *args: table("--lobby", *args)


@pytest.fixture
def table(browser):
    """Serve a table, ``with table(game, …) as visit``; every ``visit()`` opens its page in a browser of its own.

    In the end nobody's console may hold a complaint, and the server must stop tidily. A turn has ten minutes, unless a
    test says otherwise: no test may go on because somebody's time was over.
    """

    @contextmanager
    def serve(*args, delay="0.05", name="table"):
        patient = [] if "--timeout" in args else ["--timeout", "600"]
        command = [sys.executable, "-m", "parlour.training.cli", name, *args, *patient, "--port", "0", "--delay", delay]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        complaints, contexts = [], []
        try:
            line = server.stdout.readline()
            assert line, server.stderr.read()
            url = address(line)

            def visit(ready=None, key=True, name=None, turn=False, **options):
                """Open the page; with a name sit down, and with `turn` wait for the own turn."""
                contexts.append(browser.new_context(**options))
                page = contexts[-1].new_page()
                page.set_default_timeout(WITHIN)
                page.on("console", lambda said: complaints.append(said.text) if said.type in BAD else None)
                page.on("pageerror", lambda error: complaints.append(str(error)))
                page.traffic, page.complaints = [], complaints
                page.on("response", lambda reply: page.traffic.append(reply.url))
                page.on("websocket", lambda one: one.on("framereceived", lambda text: page.traffic.append(text)))
                if ready is not None:
                    ready(page)
                page.goto(url if key else url.partition("#")[0])
                if name is not None:
                    sit(page, name)
                if turn:
                    page.wait_for_selector(MINE)
                return page

            yield visit
        finally:
            for context in contexts:
                context.close()
            server.terminate()
            _, errors = server.communicate(timeout=20)
        assert complaints == []
        assert server.returncode == 143  # SIGTERM
        assert "Traceback" not in errors

    return serve


@pytest.fixture
def only_p1_and_p2_have_a_clock(monkeypatch):
    """Seats whose agents are in order have a minute, so that a slow machine costs them no answer."""

    def due(number, seat, method, seconds, *more):
        return DueCall(number, seat, method, seconds if seat < 2 else 60.0, *more)

    monkeypatch.setattr(host, "DueCall", due)
