"""Arguments that several commands share.

A command has these dataclasses as parameters; their fields are options of the command. What takes long to import is
imported where it is used: the help of a command loads no game.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from cyclopts.types import NonNegativeFloat, NonNegativeInt, Port, PositiveFloat, PositiveInt
from cyclopts.validators import Number

from ...wrappers.agents import StateView
from ...wrappers.logs.program_log import Format, Level

if TYPE_CHECKING:
    from ...wrappers.agents.language_model import Model
    from ...wrappers.agents.prompt import Prompting
    from ...wrappers.live.common.server import ServerSettings

LLM = "llm"
"""The name of the language model among agents."""
PlayerName = Annotated[
    str,
    Parameter(
        name="RUN",
        help="A run folder or its name below runs/, a saved policy (.npz, .zip), the name of a bot, or llm (the "
        "language model of --model).",
    ),
]
LONGEST = 2.0**30
Seconds = Annotated[float, Parameter(validator=Number(gt=0, lt=LONGEST))]
Pause = Annotated[float, Parameter(validator=Number(gte=0, lt=LONGEST))]
"""Seconds from 0 up."""
AtLeast2 = Annotated[int, Parameter(validator=Number(gte=2))]
AsJson = Annotated[bool, Parameter(name="--json", negative=(), help="Print JSON instead of tables.")]


def secret(given: str | None, file: Path | None) -> str | None:
    """Return a secret that was given, or that is in a file; None: neither.

    Raises:
        ValueError: if it is empty, or the file cannot be read.
    """
    if given is not None and not given.strip():  # as from a variable of the shell that is not set
        raise ValueError("the token on the command line is empty: give a token, or leave the option out")
    if given or file is None:
        return given
    try:
        read = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {file}: {error}") from None
    if not read:
        raise ValueError(f"{file} is empty: it should hold a token")
    return read


@dataclass(frozen=True)
class GameArguments:
    """The game."""

    game: Annotated[str, Parameter(name="GAME")]
    """The game by name, such as holdem (see `parlour list games`); or module:function of your own."""
    _: KW_ONLY
    options: tuple[str, ...] = ()
    """The game's options as name=value, such as seats=6."""


@dataclass(frozen=True)
class PolicyArguments:
    """The policy, and the game that it plays."""

    run: Annotated[str, Parameter(name="RUN")]
    """A run folder or its name below runs/, a saved policy (.npz, .zip), or the name of a bot."""
    _: KW_ONLY
    game: str | None = None
    """The game by name. Default: the policy's own; for a bot, the first game that has it."""
    seats: int | None = None
    """Number of seats. Default: the policy's; for a bot, that of the game's preset."""
    options: tuple[str, ...] = ()
    """The game's options as name=value. Default: the policy's."""


@dataclass(frozen=True, kw_only=True)
class DealsArguments:
    """The deals, against whom they are played, and how."""

    against: tuple[str, ...] = ()
    """Opponents: bots, runs or policy files. Each one plays all other seats; of several joined by +, such as
    call+tight, each plays as many, in turns around the table. Default: every bot that can play the game with its
    options."""
    deals: int = 20_000
    """Deals per opponent. Each deal is played once with the policy in each seat; in a game with teams, once for each
    team."""
    search: bool = False
    """The policy searches before it acts, without a time limit. Tangram: a beam search. Hold'em: from the flop on hands
    of two players are solved again; that takes half a second to seven seconds for each decision, so take few deals."""
    mute: bool = False
    """The policy cannot say anything. What this changes is what its talk is worth."""
    scramble: bool = False
    """Every statement of the policy is replaced by a random one."""
    raw: bool = False
    """Count every result as it was, luck included. Default: where the game has a method for it, luck is taken out
    (hold'em: that of the board, or of all-ins); the mean is the same, the interval is smaller."""


@dataclass(frozen=True)
class PlayerArguments(PolicyArguments):
    """The player, and the game that it plays."""

    run: PlayerName


@dataclass(frozen=True, kw_only=True)
class ModelArguments:
    """The language model of the agent llm."""

    model: str | None = None
    """Name of the language model of the agent llm."""
    llm_url: str | None = None
    """Its endpoint, such as http://127.0.0.1:8080/v1, where `llama-server -m FILE --port 8080` of llama.cpp serves a
    model. Default: the environment's OPENAI_BASE_URL, else https://api.openai.com/v1."""
    temperature: float = 0.7
    """Sampling temperature of the model, 0 to 2."""
    max_tokens: int = 400
    """The most tokens of one answer."""
    llm_timeout: float | None = None
    """Seconds for one answer of the model, retries included. Default: four fifths of the turn's time; 20 without
    a time limit."""
    prompts: Path | None = None
    """TOML file with the prompts of language models. Default: Parlour's own (docs/bridges/llm.md)."""
    prices: tuple[float, float] = (0.0, 0.0)
    """The price of a million tokens sent, and of a million received."""

    def language_model(self, players: Sequence[str], turn: float | None = None) -> "Model | None":
        """Return the language model; None without a name.

        Args:
            players: the players of the command.
            turn: the time of a turn in seconds; None: no limit.

        Raises:
            ValueError: for an option of the model, where no player is one.
        """
        if LLM not in [one.partition(":")[0] for one in players]:
            for one in (*fields(ModelArguments), *fields(ViewArguments)):
                if getattr(self, one.name, one.default) != one.default:
                    option = f"--{one.name.replace('_', '-')}"
                    raise ValueError(f"{', '.join(players)}: {option} has no meaning beside it")
            return None
        if self.model is None:
            return None
        from ...wrappers.agents.language_model import Model

        seconds = self.llm_timeout
        if seconds is None:
            seconds = 20.0 if turn is None else 0.8 * turn
        return Model(
            name=self.model,
            base_url=self.llm_url,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            timeout=seconds,
            prices=self.prices,
        )


@dataclass(frozen=True, kw_only=True)
class ViewArguments:
    """How a language model is asked."""

    prompts: Path | None = None
    """TOML file with the prompts of language models. Default: Parlour's own (docs/bridges/llm.md)."""
    state_view: StateView = "json"
    """How the model is shown the state: as JSON, as compact lines, or in words."""
    legal_actions: bool = True
    """Whether the model is shown the legal actions."""
    conversation: bool = False
    """Whether the model is shown its earlier turns in the match, and its answers to them."""

    skin: int | None = None
    """Disguise of the game for the model: other words and another order of fields, by this number from 0 up."""

    def prompting(self) -> "Callable[..., Prompting]":
        """Return the function ``prompting(game=…)``, which makes the model's prompts for a game.

        Raises:
            OSError, ValueError: if the file of prompts cannot be used.
        """
        from ...wrappers.agents.prompt import Prompting, load_prompts

        return partial(
            Prompting,
            skin=self.skin,
            prompts=load_prompts(self.prompts),
            view=self.state_view,
            legal=self.legal_actions,
            conversation=self.conversation,
        )


@dataclass(frozen=True, kw_only=True)
class PromptArguments(ModelArguments, ViewArguments):
    """The language model of the agent llm, and how it is asked."""

    def facts(self) -> dict[str, Any]:
        """Return the settings of the model's play, as JSON; of the prompts a digest."""
        import msgspec

        from ...wrappers.agents.language_model import without_secrets

        names = ("model", "llm_url", "temperature", "max_tokens", "state_view", "legal_actions", "conversation", "skin")
        prompts = sha256(msgspec.json.encode(self.prompting()().prompts)).hexdigest()[:16]
        facts = {name: getattr(self, name) for name in names}
        return {**facts, "llm_url": self.llm_url and without_secrets(self.llm_url), "prompts": prompts}


@dataclass(frozen=True, kw_only=True)
class PlayersArguments(PromptArguments):
    """The players."""

    agents: tuple[str, ...] = ()
    """The players, seat by seat: runs, policy files, zoo:GAME, bots, human, or llm. `parlour play` without it: you, and
    the zoo's policy in all other seats (the game's first bot, if the zoo has none for these options)."""
    search: bool | None = None
    """The policies among them search before they act, in two seconds and half of the time for an answer. Hold'em and
    tangram have a search. Default: zoo:holdem-blueprint does."""


@dataclass(frozen=True, kw_only=True)
class TableArguments:
    """The table."""

    timeout: Seconds | None = None
    """Seconds for a turn; then the safe action is played. Default: 60, and outside a lobby 600 for one person
    alone with programs, who keep 60."""
    time_bank: Pause = 0.0
    """Seconds that a person has in a match, beyond the time for a turn; used when a turn takes longer. At a poker table
    a tenth comes back with each hand. As poker rooms have it: --timeout 20 --time-bank 60."""
    delay: Pause = 1.0
    """The least time of policies and bots for an answer, in seconds."""
    hands: PositiveInt | None = None
    """Number of hands after which a poker table ends and a new one opens. Default: no limit; 30 in a lobby."""
    rebuy: bool = False
    """Whether a poker player without chips gets a new stack before the next hand."""
    seats_per_address: PositiveInt | None = None
    """Seats of a poker table that one address may have. Default: a third; this machine may have all."""

    def turn(self, people: int) -> float:
        """Return the seconds for a turn at a table of its own with seats for so many people."""
        if self.timeout is not None:
            return self.timeout
        return 600.0 if people == 1 else 60.0


@dataclass(frozen=True, kw_only=True)
class SessionArguments:
    """The seed and the log."""

    seed: NonNegativeInt | None = None
    """Seed of all random numbers. Default: a random one."""
    log: Path | None = None
    """File to which the match log is appended, as JSON Lines, hidden cards included (see `parlour replay`)."""


@dataclass(frozen=True, kw_only=True)
class LiveArguments(SessionArguments):
    """The program: its seed, configuration, logs and metrics. `docs/leave_it_running.md` describes them."""

    config: Path | None = None
    """TOML file with options of this command, by their names. The environment's PARLOUR_NAME is stronger than the
    file, and an option on the command line is stronger than both."""
    log_level: Level = "info"
    """The lowest level of the log's lines; status: status lines and faults alone."""
    log_format: Format = "text"
    """The format of the log on stderr."""
    log_file: Path | None = None
    """File to which the log is appended, as JSON Lines. Default: none."""
    log_file_mb: PositiveFloat = 10.0
    """Size of a full log file in megabytes; it is renamed then, to FILE.1."""
    log_files: PositiveInt = 5
    """Number of full log files that are kept."""
    match_log_mb: NonNegativeFloat = 100.0
    """Size of a full match log in megabytes; it is renamed then, LOG.jsonl to LOG.1.jsonl. 0: no limit."""
    match_logs: PositiveInt = 10
    """Number of full match logs that are kept."""
    metrics_port: Port | None = None
    """Port of /healthz and /metrics (Prometheus); 0 chooses a free one. Default: none."""
    metrics_address: str = "127.0.0.1"
    """Address of /healthz and /metrics; 0.0.0.0 lets other machines read them."""
    status_every: NonNegativeFloat = 60.0
    """Seconds between two status lines in the log; 0: none."""
    unhealthy_after: PositiveFloat = 300.0
    """Seconds without a connection to the platform after which /healthz reports a problem."""


@dataclass(frozen=True, kw_only=True)
class ReportArguments:
    """The seed and the report."""

    seed: int = 0
    """Seed of the deals and of the policies."""
    as_json: AsJson = False

    def show(self, record: Any, *shown: Any) -> None:
        """Print a record as JSON, or what is shown in its place; texts are printed as they are."""
        if self.as_json:
            print(json.dumps(record, indent=2))
            return
        from ..terminal.console import Console

        console = Console()
        for one in shown:
            (console.say if isinstance(one, str) else console.print)(one)


@dataclass(frozen=True, kw_only=True)
class AddressArguments:
    """The address of the server."""

    port: Port
    """Port to listen on; 0 chooses a free one."""
    address: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 accepts other machines."""
    proxy: tuple[str, ...] = ()
    """Addresses of proxies in front, whose X-Forwarded-For says who a client is."""

    @property
    def settings(self) -> "ServerSettings":
        """The settings of the server."""
        from ...wrappers.live.common.server import ServerSettings  # imported here: it loads aiohttp

        return ServerSettings(address=self.address, port=self.port, proxies=self.proxy)


@dataclass(frozen=True, kw_only=True)
class AccessArguments:
    """The access token."""

    access_token: str | None = None
    """Access token: the one that a platform requires from us or, where others connect to us, that we require from them.
    Other users of this machine can read it here; better use the file or the environment's PARLOUR_ACCESS_TOKEN.
    Default: none."""
    access_token_file: Path | None = None
    """File with the access token."""

    @property
    def token(self) -> str | None:
        """The access token; None without one."""
        return secret(self.access_token, self.access_token_file)


@dataclass(frozen=True, kw_only=True)
class ServerArguments(AccessArguments, AddressArguments):
    """The address of the server, its access token and its certificate."""

    tls_cert: Path | None = None
    """Certificate (PEM, with those of its authorities): the server speaks TLS then, as https:// and wss://."""
    tls_key: Path | None = None
    """The certificate's key (PEM). Default: the certificate's file."""

    @property
    def settings(self) -> "ServerSettings":
        """The settings of the server."""
        from ...wrappers.live.common.server import server_tls  # imported here: it loads aiohttp

        if self.tls_key is not None and self.tls_cert is None:
            raise ValueError("--tls-key needs --tls-cert")
        tls = None if self.tls_cert is None else server_tls(self.tls_cert, self.tls_key)
        return replace(super().settings, access_token=self.token, tls=tls)


@dataclass(frozen=True, kw_only=True)
class FilmArguments:
    """The film."""

    view: str = "all"
    """The view of a film: a player's name in the film, or all."""
    fps: float = 1.5
    """Actions per second in a film."""
