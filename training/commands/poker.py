"""`parlour host` and `parlour deploy`: our tables behind a platform's protocol, and our policies on a platform."""

import asyncio
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tyro
from rich.console import Console

from ...wrappers.agents.base import Agent
from ...wrappers.live.poker.agent import play
from ...wrappers.live.poker.agent_session import HandEnded, PokerEvent, SeatTaken
from ...wrappers.live.poker.host import PokerHost
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.logs.safe_match_log import SafeMatchLog
from . import arena, mafia, tangram
from .arguments import agent, game_with, named
from .stopping import until_done


def host(args: list[str]) -> None:
    """Serve a platform's protocol: ``parlour host PLATFORM …``."""
    _of_platform("host", {"poker": host_poker, "arena": arena.host, "mafia": mafia.host, "tangram": tangram.host}, args)


def deploy(args: list[str]) -> None:
    """Let a policy play on a platform: ``parlour deploy PLATFORM …``."""
    platforms: dict[str, Callable[..., None]] = {
        "poker": deploy_poker,
        "arena": arena.deploy,
        "mafia": mafia.deploy,
        "tangram": tangram.deploy,
    }
    _of_platform("deploy", platforms, args)


def _of_platform(command: str, platforms: Mapping[str, Callable[..., None]], args: list[str]) -> None:
    if args and args[0] in ("-h", "--help"):
        print(f"usage: parlour {command} PLATFORM …      (parlour {command} PLATFORM --help tells all of one)\n")
        for name, function in platforms.items():
            print(f"  {name:8} {(function.__doc__ or '').splitlines()[0]}")
        return
    if not args or args[0].startswith("-"):
        raise ValueError(f"name a platform first: {', '.join(platforms)}")
    name = named("platform", args[0], platforms)
    config = (tyro.conf.FlagCreatePairsOff,)
    tyro.cli(platforms[name], prog=f"parlour {command} {name}", args=args[1:], config=config)


def host_poker(
    *,
    seats: int = 9,
    port: int = 9000,
    address: str = "127.0.0.1",
    tables: int = 1,
    small_blind: int = 1,
    big_blind: int = 2,
    stack: int = 100,
    min_players: int = 2,
    raise_cap: int | None = 4,
    hands: int | None = None,
    timeout: float = 30.0,
    hand_delay: float = 1.5,
    access_token: str | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Serve poker tables over WebSocket, until Ctrl-C, SIGTERM, or every table has played its hands.

    Args:
        seats: of a table, 2 to 10.
        port: where to listen; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        tables: how many are open at once; one that ends is replaced by a new one.
        small_blind: chips.
        big_blind: chips.
        stack: chips of a new player.
        min_players: connected players with which the first hand begins.
        raise_cap: bets and raises allowed on a street; None: no cap.
        hands: hands after which a table ends and, when all have, the server; None: no limit. A table that was
            abandoned does not count, but the one that replaces it.
        timeout: seconds to act; then check if free, else fold.
        hand_delay: seconds between two hands.
        access_token: what registering agents must bear; None lets everybody in.
        seed: makes the cards reproducible; None takes the operating system's.
        log: file to which every event is added as JSON Lines, the cards of every hand included.
    """
    if not 0 <= port < 2**16:
        raise ValueError(f"port={port}: ports are 0 to {2**16 - 1}")
    console = Console(highlight=False)

    book = SafeMatchLog(None if log is None else MatchLog(log))

    def note(kind: str, **fields: Any) -> None:
        book.write(kind, **fields)
        console.print(f"{fields['table_id']} {_line(kind, fields)}", markup=False)

    server = PokerHost(
        tables=tables,
        seats=seats,
        small_blind=small_blind,
        big_blind=big_blind,
        stack=stack,
        min_players=min_players,
        raise_cap=raise_cap,
        max_hands=hands,
        seed=seed,
        timeout=timeout,
        hand_delay=hand_delay,
        address=address,
        port=port,
        access_token=access_token,
        on_event=note,
    )
    until_done(_serve(server, forever=hands is None, console=console))


async def _serve(server: PokerHost, forever: bool, console: Console) -> None:
    async with server:
        console.print(f"serving poker at {server.url} (WebSocket {server.ws_url}); Ctrl-C ends it")
        console.print(f"seat an agent with: parlour deploy poker tight --api {server.url}", markup=False)
        await (asyncio.Event().wait() if forever else server.finished())


def _line(kind: str, event: dict[str, Any]) -> str:
    match kind:
        case "joined":
            return f"{event['name'] or event['agent_id']} takes seat {event['seat']}"
        case "left":
            return f"seat {event['seat']} leaves"
        case "hand":
            won = ", ".join(f"seat {row['seat']} {row['won']}" for row in event["results"] if row["won"])
            return f"hand {event['hand']}: won by {won}"
        case _:
            return f"ended after {event['hands']} hands: {event['reason']}"


def deploy_poker(
    run: tyro.conf.Positional[str | None] = None,
    *,
    bot: str | None = None,
    url: str | None = None,
    api: str | None = None,
    name: str | None = None,
    table: str | None = None,
    seat: int | None = None,
    api_key: str | None = None,
    access_token: str | None = None,
    hands: int | None = None,
    deadline: float | None = None,
    seats: int | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Let a policy, a bot or a person play at a live poker table until it ends.

    Args:
        run: a run folder or its name below runs/, a saved policy, a bot, or human.
        bot: a bot's name, in place of a run.
        url: a seat's WebSocket, ws:// or wss://, with its token.
        api: the platform's REST address, http:// or https://; registers and joins by itself.
        name: to register with; default: the run's or bot's.
        table: to join; default: the platform chooses.
        seat: the preferred one.
        api_key: of an agent registered before; default: the environment's PARLOUR_API_KEY.
        access_token: what the server asks of those who register; default: the environment's PARLOUR_ACCESS_TOKEN.
        hands: leave after so many.
        deadline: seconds for a decision, then the safe action; default: four fifths of the platform's.
        seats: of the game that a policy file was trained for; default: 2. Bots and runs know theirs.
        seed: of the policy's own random stream.
        log: file to which every turn is added as JSON Lines.
    """
    spec = run or bot
    if spec is None or (run and bot):
        raise ValueError("give a run, or --bot NAME: one of them")
    if (url is None) == (api is None):
        raise ValueError("give --url ws://… of a seat, or --api http://… of the platform: one of them")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    player = poker_agent(spec, bot is not None, seats, seed)
    console = Console(highlight=False)
    stay = play(
        url or api or "",
        player,
        name=name or Path(spec).name,
        table=table,
        seat=seat,
        api_key=api_key or os.environ.get("PARLOUR_API_KEY"),
        access_token=access_token or os.environ.get("PARLOUR_ACCESS_TOKEN"),
        hands=hands,
        deadline=deadline,
        log=log,
        on_event=lambda event: _tell(console, event),
    )
    played = until_done(stay)
    console.print(
        f"{played.hands} hands, {played.net:+d} chips; {played.actions} actions, {played.rejected} rejected, "
        f"{played.replaced} replaced by the safe action, {played.reconnects} reconnects; ended: {played.reason}",
        markup=False,
    )


def poker_agent(spec: str, is_bot: bool, seats: int | None, seed: int | None) -> Agent:
    """Return the agent; a bot gets a table of ten, on which every live table has room."""
    table = game_with("holdem", seats=10)
    if is_bot:
        named("bot", spec, {"random": None, **table.bots})
    if spec != "random" and spec not in table.bots:
        table = game_with("holdem", seats=seats or 2)
    return agent(spec, table, seed)


def _tell(console: Console, event: PokerEvent) -> None:
    if isinstance(event, SeatTaken):
        console.print(f"playing in seat {event.seat}")
    elif isinstance(event, HandEnded):
        console.print(f"hand {event.hand}: won {event.won}, stack {'unknown' if event.stack is None else event.stack}")
