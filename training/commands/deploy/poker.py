"""`parlour deploy poker`: lets a policy, a bot, a language model or a person play at a live poker table."""

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from yarl import URL

from ....envs.core.options import named
from ....wrappers.agents.base import Agent
from ....wrappers.agents.language_model import Model
from ....wrappers.agents.prompt import Prompting
from ....wrappers.live.common.activity import Activity, Link
from ....wrappers.live.common.agent_turn import AgentStatistics
from ....wrappers.live.common.client import UNREACHABLE, UNTRUSTED_CERTIFICATE, LiveError
from ....wrappers.live.poker import messages
from ....wrappers.live.poker.agent import ClientSettings, Monitoring, PlayLength, play
from ....wrappers.live.poker.agent_session import HandEnded, PokerEvent, SeatTaken
from ....wrappers.live.poker.rest_client import SeatRequest
from ...evaluation.scores import RunningScore
from ...terminal.console import Console
from ..arguments import AccessArguments, LiveArguments, PromptArguments, SessionArguments, secret
from ..live_table import counts_of, watch_table
from ..lookup import HUMAN, LLM, agent, game_with
from ..searching import searching_agent
from ..stopping import TRY_AGAIN
from ..supervisor import Supervisor

MOST_SEATS = 10
"""The number of seats of the game that bots play; live tables do not have more."""
PER_HAND = "big blinds per hand"
FOR_GOOD = (
    messages.UNAUTHORIZED,
    messages.INVALID_API_KEY,
    messages.OUTDATED_CLIENT,
    messages.VALIDATION_ERROR,
    messages.TABLE_NOT_FOUND,
    messages.REAL_MONEY,
    UNTRUSTED_CERTIFICATE,
)
"""Error codes after which a retry does not help."""


@dataclass(frozen=True, kw_only=True)
class SeatArguments:
    """The seat."""

    url: str | None = None
    """URL of a seat that you have already, ws:// or wss://. The token is in the URL, in --session-token-file, or in the
    environment's PARLOUR_SESSION_TOKEN. Other users cannot read the last two."""
    session_token_file: Path | None = None
    """File with the seat's token."""
    api: str | None = None
    """URL of the platform, http:// or https://, where the player registers and joins a table."""
    name: str | None = None
    """Name to register with. Default: the run's or bot's."""
    table: str | None = None
    """Table to join. Default: the platform chooses."""
    seat: int | None = None
    """The preferred seat."""
    api_key: str | None = None
    """Key of an agent registered before. Others can read it here; rather use the file or PARLOUR_API_KEY."""
    api_key_file: Path | None = None
    """File with the key of an agent registered before."""
    play_for_real_money: bool = False
    """Sit down at tables for real money, too. You make the deposit; the agent never does."""

    @property
    def address(self) -> str:
        """The REST URL; or the URL of the seat with its token, which may have been given apart from it."""
        if (self.url is None) == (self.api is None):
            raise ValueError("give either --url ws://… of a seat or --api http://… of the platform")
        url = self.api or self.url or ""
        if self.api is not None or "token" in URL(url).query:
            return url
        token = secret(None, self.session_token_file, "PARLOUR_SESSION_TOKEN")
        return url if token is None else str(URL(url).update_query(token=token))

    def request(self, name: str, access_token: str | None) -> SeatRequest:
        """Return which seat is wanted; `name` is that of an agent to which none was given."""
        return SeatRequest(
            name=self.name or name,
            table=self.table,
            seat=self.seat,
            api_key=secret(self.api_key, self.api_key_file, "PARLOUR_API_KEY"),
            access_token=access_token,
            real_money=self.play_for_real_money,
        )


@dataclass(frozen=True, kw_only=True)
class LengthArguments:
    """How long the agent plays."""

    keep_playing: bool = False
    """Join the next table when a table ends, when the chips are gone, or when the server has restarted, until stopped
    or until --hands or --until is reached. It is the default with --api, except with --one-table."""
    one_table: bool = False
    """With --api, stop when the table ends."""
    hands: int | None = None
    """Number of hands, at all tables, after which the player leaves. Default: no limit."""
    until: datetime | None = None
    """Time after which the player leaves at the end of the hand, such as 2030-01-31T07:00:00 (local time)."""

    def __post_init__(self) -> None:
        """Check that one of the two was given."""
        if self.keep_playing and self.one_table:
            raise ValueError("give --keep-playing or --one-table, not both")

    def length(self, api: bool) -> PlayLength:
        """Return how long the agent plays, at tables of the REST URL or in one seat."""
        keep_playing = self.keep_playing or (api and not self.one_table)
        return PlayLength(hands=self.hands, until=self.until, keep_playing=keep_playing)


def command(
    run: Annotated[str | None, Parameter(name="RUN")] = None,
    *,
    bot: str | None = None,
    where: SeatArguments,
    access: AccessArguments,
    ca_file: Path | None = None,
    length: LengthArguments,
    deadline: float | None = None,
    seats: int | None = None,
    search: bool = False,
    asked: PromptArguments,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Let a policy, a bot, a language model or a person play at live poker tables.

    Exit codes: 0: the table has ended, or --hands or --until is reached; 75: retry later, the server is away or closed
    the connection without a reason; 2: an error or a refusal, a retry does not help; 130 and 143: stopped by Ctrl-C and
    SIGTERM, after leaving the seat.

    Args:
        run: A run folder or its name below runs/, a saved policy (.npz, .zip), a bot, human, or llm (the language model
            of --model).
        bot: A bot's name, in place of a run.
        ca_file: File with certificates (PEM) of further trusted authorities.
        deadline: Seconds for a decision; then the safe action is played. Default: four fifths of the platform's time.
        seats: Number of seats that a policy file was trained for, if the file does not have it. Default: 2.
        search: From the flop on, solve hands of two players again before acting, in five seconds and half of the time.
    """
    spec = run or bot
    if spec is None or (run and bot):
        raise ValueError("give either a run or bot, or --bot NAME")
    if deadline is not None and deadline <= 0:
        raise ValueError(f"--deadline {deadline:g}: give seconds above 0")
    address, console, counts = where.address, Console(), Counter[str]()
    statistics, link, score = AgentStatistics(), Link(), RunningScore(PER_HAND)

    def note(event: PokerEvent) -> None:
        _count(counts, score, event)
        _tell(console, event)

    if spec == HUMAN:
        live = replace(live, status_every=0.0)  # status lines would be in the person's way
    with Supervisor(live, session, console) as supervisor:
        model = asked.language_model([spec], deadline)
        chosen = player(spec, bot is not None, seats, session.seed, search, model, asked.prompting())
        watch_table(spec, chosen)
        stay = play(
            address,
            chosen,
            seat=where.request(Path(spec).name, access.token),
            length=length.length(where.api is not None),
            client=ClientSettings(deadline=deadline, ca_file=ca_file),
            log=supervisor.log,
            monitoring=Monitoring(statistics=statistics, link=link, on_event=note),
        )
        activity = Activity(
            counts=lambda: counts,
            score=score.in_words,
            statistics=statistics,
            models=counts_of(spec, chosen, statistics),
            link=link,
            patience=live.unhealthy_after,
        )
        try:
            played = supervisor.run(stay, activity, lambda result: messages.in_words(result.reason))
        except LiveError as error:
            for_good = error.code in FOR_GOOD or error.code.startswith("HTTP_")
            if for_good or (where.api is None and error.code != UNREACHABLE):
                raise
            print(f"parlour deploy poker: {error}", file=sys.stderr)
            raise SystemExit(TRY_AGAIN) from None
    if played.reason == "closed":
        raise SystemExit(TRY_AGAIN)


def _count(counts: Counter[str], score: RunningScore, event: PokerEvent) -> None:
    if isinstance(event, HandEnded):
        counts["hands"] += 1
        counts["chips"] += event.net
        if event.stack is not None:
            score.add(event.net / event.big_blind)


def player(
    spec: str,
    is_bot: bool,
    seats: int | None,
    seed: int | None,
    search: bool,
    model: Model | None = None,
    prompting: Callable[..., Prompting] | None = None,
) -> Agent:
    """Return the agent that plays.

    Raises:
        ValueError: if there is none, or it is to search and does not tell its probabilities.
    """
    table = game_with("holdem", seats=MOST_SEATS)
    if is_bot:
        named("bot", spec, {"random": None, **table.bots})
    if spec not in ("random", LLM, *table.bots):
        table = game_with("holdem", seats=seats or 2)
    chosen = agent(spec, table, seed, model, prompting)
    return searching_agent(spec, chosen, seed) if search else chosen


def _tell(console: Console, event: PokerEvent) -> None:
    if isinstance(event, SeatTaken):
        console.print(f"playing in seat {event.seat}")
    elif isinstance(event, HandEnded):
        if event.stack is None:
            console.print(f"hand {event.hand}: {event.won} chips from the pot")
        else:
            console.print(f"hand {event.hand}: {event.net:+,} chips, stack {event.stack:,}")
