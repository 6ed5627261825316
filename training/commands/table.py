"""`parlour table`: a page where people sit down beside policies and bots."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from socket import AF_INET, SOCK_DGRAM, gethostname, socket
from typing import Any
from urllib.parse import quote

import tyro
from rich.console import Console

from ...envs import Game
from ...wrappers.agents.base import Agent
from ...wrappers.agents.delayed import DelayedAgent
from ...wrappers.agents.language_model import Model
from ...wrappers.live.table.host import TableHost
from ...wrappers.live.table.poker import PokerTable
from ...wrappers.logs.match_log import MatchLog, opened
from ...wrappers.logs.safe_match_log import SafeMatchLog
from .arguments import LLM, agent, game_with, has_seats, language_model
from .poker import poker_agent
from .stopping import until_done

POKER_OPTIONS = {"small_blind": "small_blind", "big_blind": "big_blind", "stacks": "stack", "raise_cap": "raise_cap"}
"""Hold'em's options that a poker table has, and what they are called there."""


def command(
    game: tyro.conf.Positional[str],
    *,
    agents: tuple[str, ...] = (),
    seats: int | None = None,
    options: tuple[str, ...] = (),
    port: int = 8000,
    address: str = "127.0.0.1",
    names: tuple[str, ...] = (),
    access_token: str | None = None,
    model: str | None = None,
    llm_url: str | None = None,
    timeout: float = 60.0,
    delay: float = 1.0,
    hands: int | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Serve a page where people play, each in a browser; others may look on. Until Ctrl-C or SIGTERM.

    Args:
        game: its name, such as holdem.
        agents: who sits there, seat by seat: runs, policy files, bots, or llm; human is a person's seat, and so are
            those left.
        seats: how many; default: one for each of the agents, and one for a person if none is named.
        options: the game's options as key=value.
        port: where to listen; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        names: further host names under which browsers reach this server, such as a proxy's.
        access_token: asked of those who sit down; it is part of the link that is printed.
        model: the language model that llm stands for.
        llm_url: its endpoint, such as http://127.0.0.1:8080/v1; default: the environment's OPENAI_BASE_URL.
        timeout: seconds for a turn; then the safe action is played.
        delay: seconds that policies and bots take for an answer, at least.
        hands: hands of a poker table, after which it ends and another opens; default: no limit.
        seed: of everything that is dealt and drawn; default: another match every time.
        log: file to which everything that is played is added, hidden cards included.
    """
    if not 0 <= port < 2**16:
        raise ValueError(f"port={port}: ports are 0 to {2**16 - 1}")
    if delay < 0 or timeout <= 0:
        raise ValueError(f"timeout={timeout:g}, delay={delay:g}: need some seconds for a turn, and a delay from 0 up")
    chosen = game_with(game, options, seats=_seats(game, agents, seats, options))
    specs = [*agents, *["human"] * (chosen.seats - len(agents))]
    seeds = [None if seed is None else seed + 1 + seat for seat in range(len(specs))]
    llm = language_model(model, llm_url, timeout=0.8 * timeout)
    players = [
        None if spec == "human" else DelayedAgent(_program(spec, chosen, llm, one), delay)
        for spec, one in zip(specs, seeds, strict=True)
    ]
    console = Console(highlight=False)
    with opened(log) as book:
        common: dict[str, Any] = {
            "timeout": timeout,
            "seed": seed,
            "address": address,
            "port": port,
            "names": names,
            "access_token": access_token,
        }
        if chosen.name == "holdem":
            table: TableHost | PokerTable = _poker(chosen, options, _named(specs, players), hands, book, common)
        else:
            table = TableHost(chosen, _named(specs, players), log=book, **common)
        until_done(_serve(table, access_token, console))


def _seats(game: str, agents: Sequence[str], seats: int | None, options: Sequence[str]) -> int | None:
    """Return how many seats are asked for; None where the game or its options tell."""
    if not has_seats(game) or (seats is None and any(option.startswith("seats=") for option in options)):
        return seats
    return seats or max(2, len(agents) + ("human" not in agents))


def _program(spec: str, game: Game, model: Model | None, seed: int | None) -> Agent:
    """Return the agent that `spec` names."""
    if game.name == "holdem" and spec != LLM:
        return poker_agent(spec, False, game.seats, seed)
    return agent(spec, game, seed, model)


def _named(specs: Sequence[str], players: Sequence[Agent | None]) -> list[tuple[str, Agent] | None]:
    """Return the programs with names of their own, by which people tell them apart."""
    taken: set[str] = set()
    named: list[tuple[str, Agent] | None] = []
    for spec, player in zip(specs, players, strict=True):
        name = label = Path(spec).stem[:28] or spec[:28]
        count = 1
        while name in taken:
            count += 1
            name = f"{label} {count}"
        named.append(None if player is None else (name, player))
        if player is not None:
            taken.add(name)
    return named


def _poker(
    game: Game,
    options: Sequence[str],
    players: Sequence[tuple[str, Agent] | None],
    hands: int | None,
    log: MatchLog | None,
    common: dict[str, Any],
) -> PokerTable:
    wanted = {}
    for option in options:
        name = option.partition("=")[0]
        if name != "seats" and name not in POKER_OPTIONS:
            raise ValueError(f"{option}: poker tables take {', '.join(POKER_OPTIONS)}")
        if name != "seats":
            wanted[POKER_OPTIONS[name]] = game.options[name]
    if not isinstance(wanted.setdefault("stack", 200), int):
        raise ValueError(f"stacks={wanted['stack']}: at a poker table everybody begins with the same")
    return PokerTable(
        game.seats,
        {seat: player for seat, player in enumerate(players) if player is not None},
        max_hands=hands,
        hand_delay=4.0,
        on_event=SafeMatchLog(log).write,
        **{"raise_cap": None, **wanted},
        **common,
    )


async def _serve(table: TableHost | PokerTable, access_token: str | None, console: Console) -> None:
    async with table:
        key = "" if access_token is None else f"#{quote(access_token, safe='')}"
        console.print(f"play at {_link(table.url)}/{key}   (Ctrl-C ends it)", markup=False, soft_wrap=True)
        await asyncio.Event().wait()


def _link(url: str) -> str:
    """Return an address by which others reach this machine, where it listens on all that it has."""
    every = next((one for one in ("//0.0.0.0:", "//[::]:") if one in url), None)
    if every is None:
        return url
    with socket(AF_INET, SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))  # nothing is sent: it only tells which address it would be sent from
            own = way.getsockname()[0]
        except OSError:  # no network
            own = gethostname()
    return url.replace(every, f"//{own}:")
