"""`parlour deploy poker`: lets a policy, a bot or a person play at a live poker table."""

import logging
import os
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from ....envs.core.options import named
from ....wrappers.agents.base import Agent
from ....wrappers.live.poker.agent import play
from ....wrappers.live.poker.agent_events import HandEnded, PokerEvent, SeatTaken
from ...stopping import until_done
from ..arguments import AccessArguments, SessionArguments
from ..lookup import agent, game_with

MOST_SEATS = 10
"""The number of seats of the game that bots play; live tables do not have more."""


def command(
    *,
    run: Annotated[tyro.conf.Positional[str | None], tyro.conf.arg(metavar="[RUN]")] = None,
    bot: str | None = None,
    url: str | None = None,
    api: str | None = None,
    name: str | None = None,
    table: str | None = None,
    seat: int | None = None,
    api_key: str | None = None,
    access: AccessArguments,
    hands: int | None = None,
    deadline: float | None = None,
    seats: int | None = None,
    session: SessionArguments,
) -> None:
    """Let a policy, a bot or a person play at a live poker table until it ends.

    Args:
        run: A run folder or its name below runs/, a saved policy (.npz, .zip), a bot, or human.
        bot: A bot's name, in place of a run.
        url: WebSocket URL of a seat, ws:// or wss://, with its token.
        api: REST URL of the platform, http:// or https://; registers and joins a table.
        name: Name to register with. Default: the run's or bot's.
        table: Table to join. Default: the platform chooses.
        seat: The preferred seat.
        api_key: Key of an agent registered before. Default: the environment's PARLOUR_API_KEY.
        hands: Number of hands after which the player leaves. Default: no limit.
        deadline: Seconds for a decision; then the safe action is played. Default: four fifths of the platform's time.
        seats: Number of seats that a policy file was trained for, if the file does not have it. Default: 2.
    """
    spec = run or bot
    if spec is None or (run and bot):
        raise ValueError("give either a run or --bot NAME")
    if (url is None) == (api is None):
        raise ValueError("give either --url ws://… of a seat or --api http://… of the platform")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    player = _player(spec, bot is not None, seats, session.seed)
    console = Console(highlight=False)
    stay = play(
        url or api or "",
        player,
        name=name or Path(spec).name,
        table=table,
        seat=seat,
        api_key=api_key or os.environ.get("PARLOUR_API_KEY"),
        access_token=access.token,
        hands=hands,
        deadline=deadline,
        log=session.log,
        on_event=lambda event: _tell(console, event),
    )
    played = until_done(stay)
    console.print(
        f"{played.hands} hands, {played.net:+d} chips; {played.actions} actions, {played.rejected} rejected, "
        f"{played.replaced} replaced by the safe action, {played.reconnects} reconnects; ended: {played.reason}",
        markup=False,
    )


def _player(spec: str, is_bot: bool, seats: int | None, seed: int | None) -> Agent:
    table = game_with("holdem", seats=MOST_SEATS)
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
