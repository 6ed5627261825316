"""The commands of poker as processes: exit codes, secrets by file and environment, certificates, signals."""

import asyncio
import ssl
import subprocess
import sys
from functools import partial
from types import SimpleNamespace

import pytest
from aiohttp import web
from command_line import address, printed
from live.poker_client import CALLER, hosting
from live.poker_options import play
from live.processes import SIGNALS, command, stopped
from live.small_server import served
from live.table_people import Program, raising
from parlour.training import cli
from parlour.training.commands.supervisor import TRY_AGAIN
from parlour.wrappers.live.common.client import LiveError
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.agent import ClientSettings, HandEnded, tls_context
from parlour.wrappers.logs.match_log import read


async def deploy(capsys, *args):
    """Run the command; return its exit code and what it said on both streams."""
    code = await asyncio.to_thread(cli.main, ["deploy", "poker", "call", *args])
    return code, "".join(capsys.readouterr())


def test_a_hand_says_what_was_gained_and_an_end_says_why(capsys, monkeypatch):
    hand = messages.HandComplete(hand=3, results=[], showdown=False)

    async def played(*_, monitoring, **__):
        for net, stack in ((6, 206), (-2, 204), (2, 206), (0, None)):  # what the last one gained is not known
            monitoring.on_event(HandEnded(3, won=12, stack=stack, message=hand, net=net, big_blind=4))
        return SimpleNamespace(reason="busted")

    monkeypatch.setattr("parlour.wrappers.live.poker.agent.play", played)
    told = printed(capsys, "deploy poker call --api http://127.0.0.1:1")
    assert "hand 3: +6 chips, stack 206\n" in told and "hand 3: 12 chips from the pot\n" in told
    assert "4 hands" in told and "+0.50 big blinds per hand (95 %: -1.98 to +2.98)" in told
    assert "busted (no chips are left)" in told and messages.in_words("a word of the server") == "a word of the server"


async def test_exit_codes_and_secrets_from_files_and_environment(tmp_path, capsys, monkeypatch):
    key, token = tmp_path / "key", tmp_path / "token"
    async with hosting(access_token="let me in", seats=2, hand_delay=0.01) as (host, client):
        await client.register("ann", key="let me in")
        key.write_text(client.key + "\n")
        token.write_text("let me in\n")
        command = (sys.executable, "-m", "parlour.training.cli", "deploy", "poker", "call", "--api", host.url)
        given = ("--hands", "3", "--api-key-file", str(key))
        process = await asyncio.create_subprocess_exec(*command, *given, stdout=subprocess.PIPE)
        monkeypatch.setenv("PARLOUR_API_KEY", "")
        told = await deploy(capsys, "--api", host.url, "--hands", "3", "--access-token-file", str(token))
        out = (await process.communicate())[0].decode()
        for code, said in ((process.returncode, out), told):
            assert code == 0 and "3 hands" in said and "big blinds per hand (95 %: " in said and "ended: hands" in said
        monkeypatch.setenv("PARLOUR_ACCESS_TOKEN", "wrong")
        code, said = await deploy(capsys, "--api", host.url)
        assert code == 2 and "UNAUTHORIZED" in said
    monkeypatch.setattr("parlour.training.commands.deploy.ClientSettings", partial(ClientSettings, retry_after=0.01))
    code, said = await deploy(capsys, "--api", host.url)
    assert code == TRY_AGAIN and "gave up after 4 tries" in said and "Traceback" not in said


async def test_a_connection_that_is_closed_without_a_word_is_no_success(tmp_path, capsys, monkeypatch):
    seen = []

    async def close(request):
        seen.append(request.query["token"])
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.close()
        return socket

    (tmp_path / "seat").write_text("from-file")
    monkeypatch.setenv("PARLOUR_SESSION_TOKEN", "from-environment")
    async with served(web.get("/v1/ws", close)) as address:
        url = f"ws://{address}/v1/ws"
        for given in ([url], [url, "--session-token-file", str(tmp_path / "seat")], [url + "?token=from-url"]):
            code, said = await deploy(capsys, "--url", *given)
            assert code == TRY_AGAIN and "from-" not in said
    assert seen == ["from-environment", "from-file", "from-url"]


async def test_an_untrusted_certificate_is_named_and_a_ca_file_trusts_it(certificate):
    cert, key = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    async def refuse(request):
        return web.json_response({"error": {"code": "VALIDATION_ERROR", "message": "reached"}}, status=400)

    async with served(web.post("/v1/agents", refuse), ssl_context=context) as address:
        url = f"https://{address}"
        with pytest.raises(LiveError, match=r"UNTRUSTED_CERTIFICATE: the certificate of 127.0.0.1:.* self-signed"):
            await play(url, CALLER)
        with pytest.raises(LiveError, match="reached"):
            await play(url, CALLER, ca_file=cert)


def test_a_ca_file_that_is_none_is_named(tmp_path):
    path = tmp_path / "ca.pem"
    path.write_text("no certificate")
    for file in (path, tmp_path / "nothing.pem"):
        with pytest.raises(ValueError, match=file.name):
            tls_context(file)


@pytest.mark.slow
@SIGNALS
async def test_a_host_that_is_stopped_ends_its_tables_and_says_so(sig, code, tmp_path):
    log = tmp_path / "log.jsonl"
    async with command("host", "poker", "--port", "0", "--hand-delay", "0.1", "--log", str(log)) as process:
        first = (await process.stdout.readline()).decode()
        url = address(first)
        assert f" {url.replace('http', 'ws')}/v1/ws " in first
        seen = asyncio.Event()
        playing = [asyncio.create_task(play(url, Program(raising), on_event=lambda _: seen.set())) for _ in range(2)]
        await asyncio.wait_for(seen.wait(), 20)
        returned, err = await stopped(process, sig)
        assert returned == code and "Traceback" not in err
        assert {played.reason for played in await asyncio.gather(*playing)} == {"admin_stopped"}
    assert list(read(log))[-1]["reason"] == "admin_stopped"


@pytest.mark.slow
@SIGNALS
async def test_an_agent_that_is_stopped_gives_its_seat_back(sig, code):
    left = asyncio.Event()
    on_event = lambda kind, **_: left.set() if kind == "left" else None  # noqa: E731
    async with hosting(on_event=on_event) as (host, _):
        async with command("deploy", "poker", "call", "--api", host.url) as process:
            table = next(iter(host.tables.values()))
            while not table.session.seats or not table.connected(0):
                await asyncio.sleep(0.05)
            returned, err = await stopped(process, sig)
        await asyncio.wait_for(left.wait(), 5)
        assert not table.session.seats
        assert returned == code and "Traceback" not in err


@pytest.mark.slow
async def test_a_host_for_other_machines_names_a_command_that_works_on_this_one():
    async with command("host", "poker", "--address", "0.0.0.0", "--port", "0", "--access-token", "secret") as process:
        port = address((await process.stdout.readline()).decode()).rpartition(":")[2]
        seat = (await process.stdout.readline()).decode()
    assert seat.split()[-4:] == ["--api", f"http://127.0.0.1:{port}", "--access-token-file", "FILE"]
