"""`parlour host tangram` and `parlour deploy tangram`: the live game's side, and our policies behind its protocol."""

import logging
from pathlib import Path

import tyro
from rich.console import Console

from ...wrappers.agents.policy import PolicyAgent
from ...wrappers.live.tangram.agent import TangramAgentServer
from ...wrappers.live.tangram.host import TangramHost
from ...wrappers.live.tangram.messages import Dialect
from ...wrappers.live.tangram.person import Person
from ...wrappers.logs.match_log import opened
from .arguments import agent, game_with
from .stopping import until_done


def host(
    *,
    url: str = "ws://localhost:5000",
    partner: str = "human",
    matches: int = 1,
    dialect: Dialect = "documented",
    options: tuple[str, ...] = (),
    timeout: float = 30.0,
    delay: float = 0.0,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Play tangram with an agent, in the role of the live game: connect to its server, and reconnect.

    Args:
        url: the agent's server.
        partner: who plays the person's seat: human (you, at this terminal), a run or a bot.
        matches: how many.
        dialect: the form of our messages: documented, or godot as the real game sends them.
        options: the game's options as key=value, such as figure='"A house"'; by default any of the library.
        timeout: seconds that the agent may take for each message.
        delay: seconds between a play and its feedback; the real game's animation takes 0.5.
        seed: of the figures and of the partner; default: others every time.
        log: file to which every turn is added as JSON Lines.
    """
    if matches < 1 or timeout <= 0 or delay < 0:
        raise ValueError(
            f"matches={matches}, timeout={timeout}, delay={delay}: need 1 match, some seconds, no less than 0"
        )
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    game = game_with("tangram", ("split=null", *options), seats=2, aspect="godot", figure="library")
    person = Person(game) if partner == "human" else agent(partner, game, None if seed is None else seed + 1)
    console = Console(highlight=False)
    with opened(log) as book:
        table = TangramHost(
            game,
            person,
            url,
            dialect=dialect,
            timeout=timeout,
            delay=delay,
            log=book,
            on_chat=lambda text: console.print(f"the agent says: {text}", markup=False),
        )
        try:
            played = until_done(table.play(matches, seed))
        except EOFError:
            raise ValueError("the input ended before the match") from None
    for one in played:
        end = one.outcome or {}
        console.print(
            f"{one.objective}: {one.turns} turns, {one.lost} lost by the agent, {one.refused} of its messages refused; "
            f"{end.get('reason')}, IoU {end.get('iou'):.2f}",
            markup=False,
            soft_wrap=True,
        )


def deploy(
    run: tyro.conf.Positional[str],
    *,
    port: int = 5000,
    address: str = "127.0.0.1",
    options: tuple[str, ...] = (),
    deadline: float = 10.0,
    games: int | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Serve a policy or a bot to live tangram games, which connect to it by WebSocket.

    Args:
        run: a run folder or its name below runs/, a saved policy, or a bot.
        port: where to listen; 0 takes a free one.
        address: where to listen; 0.0.0.0 lets other machines in.
        options: of the game that a policy file was trained for, as key=value; runs and bots know theirs.
        deadline: seconds for a decision, then the turn is finished.
        games: end after so many connections have ended; default: until Ctrl-C.
        seed: of the policy's own random stream.
        log: file to which every decision is added as JSON Lines.
    """
    if not 0 <= port < 2**16:
        raise ValueError(f"port={port}: ports are 0 to {2**16 - 1}")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    game = game_with("tangram", options, seats=2, aspect="godot")
    player = agent(run, game, seed)
    seen = player.game if isinstance(player, PolicyAgent) else game
    with opened(log) as book:
        server = TangramAgentServer(player, seen, address=address, port=port, deadline=deadline, log=book)
        until_done(_serve(server, Path(run).stem, games, Console(highlight=False)))


async def _serve(server: TangramAgentServer, name: str, games: int | None, console: Console) -> None:
    async with server:
        console.print(f"{name} waits for games at {server.url}; Ctrl-C ends it", markup=False)
        console.print(f"try it with: parlour host tangram --url {server.url}", markup=False)
        await server.played(games)
    console.print(
        f"{server.games} games, {server.turns} turns, {server.plays} plays, "
        f"{server.statistics.replaced} replaced by finish"
    )
