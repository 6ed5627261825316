"""Arguments that several commands have. Each option is described here once.

A command takes these dataclasses as parameters; tyro shows their fields as options of the command.
"""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from ...wrappers.agents.language_model import Model

GameName = Annotated[
    tyro.conf.Positional[str],
    tyro.conf.arg(metavar="GAME", help="The game by name, such as holdem (see `parlour list games`)."),
]
PolicyName = Annotated[
    tyro.conf.Positional[str],
    tyro.conf.arg(
        metavar="RUN", help="A run folder or its name below runs/, a saved policy (.npz, .zip), or the name of a bot."
    ),
]
AsJson = Annotated[bool, tyro.conf.arg(name="json", help="Print JSON instead of tables.")]


def secret(given: str | None, file: Path | None, variable: str) -> str | None:
    """Return a secret from the command line, a file, or the environment, the first that has it; None: none has.

    Raises:
        ValueError: if the file cannot be read, or is empty.
    """
    if given or file is None:
        return given or os.environ.get(variable) or None
    try:
        read = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {file}: {error}") from None
    if not read:
        raise ValueError(f"{file} is empty: it should hold a token")
    return read


@dataclass(frozen=True, kw_only=True)
class GameArguments:
    """The game."""

    game: GameName
    options: tuple[str, ...] = ()
    """The game's options as name=value, such as seats=6."""


@dataclass(frozen=True, kw_only=True)
class PolicyArguments:
    """The policy, and the game that it plays."""

    run: PolicyName
    game: str | None = None
    """The game by name. Default: the policy's own; for a bot, the first game that has it."""
    seats: int | None = None
    """How many seats. Default: the policy's; for a bot, those of the game's preset."""
    options: tuple[str, ...] = ()
    """The game's options as name=value. Default: the policy's."""


@dataclass(frozen=True, kw_only=True)
class ModelArguments:
    """The language model that plays for llm."""

    model: str | None = None
    """Name of the language model that llm stands for."""
    llm_url: str | None = None
    """Its endpoint, such as http://127.0.0.1:8080/v1. Default: the environment's OPENAI_BASE_URL."""
    temperature: float = 0.7
    """Temperature of the model's draws, 0 to 2."""
    max_tokens: int = 400
    """Tokens of one answer of the model, at most."""
    llm_timeout: float | None = None
    """Seconds for one answer of the model, retries included. Default: four fifths of the turn's time; 20 where turns
    have no limit."""

    def language_model(self, turn: float | None = None) -> Model | None:
        """Return the language model; None where none is named. `turn` is how many seconds a turn has, None: any."""
        if self.model is None:
            return None
        seconds = self.llm_timeout or (20.0 if turn is None else 0.8 * turn)
        return Model(
            name=self.model,
            base_url=self.llm_url,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            timeout=seconds,
        )


@dataclass(frozen=True, kw_only=True)
class AgentsArguments(ModelArguments):
    """Who plays."""

    agents: tuple[str, ...]
    """Who plays, seat by seat: runs, policy files, bots, human, or llm."""


@dataclass(frozen=True, kw_only=True)
class MatchArguments:
    """The match."""

    hands: int = 1
    """How many hands are played (episodes of other games)."""


@dataclass(frozen=True, kw_only=True)
class ShownMatchArguments(MatchArguments):
    """The match."""

    delay: float = 0.5
    """Seconds to wait after every action."""


@dataclass(frozen=True, kw_only=True)
class SessionArguments:
    """Chance, and the log."""

    seed: int | None = None
    """Seed of everything that is dealt and drawn here. Default: another one every time."""
    log: Path | None = None
    """File to which everything that is played is added as JSON Lines, hidden cards included (see `parlour replay`)."""


@dataclass(frozen=True, kw_only=True)
class ReportArguments:
    """Chance, and the report."""

    seed: int = 0
    """Seed of deals and policies."""
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class AddressArguments:
    """Where the command listens."""

    port: int
    """Port to listen on; 0 takes a free one."""
    address: str = "127.0.0.1"
    """Address to listen on; 0.0.0.0 lets other machines in."""

    def __post_init__(self) -> None:
        """Check the port."""
        if not 0 <= self.port < 2**16:
            raise ValueError(f"port={self.port}: ports are 0 to {2**16 - 1}")


@dataclass(frozen=True, kw_only=True)
class ServerArguments(AddressArguments):
    """Where the command listens, and who may take part."""

    access_token: str | None = None
    """Token that others must bear to take part. Everybody on this machine can read it here: rather use the file, or
    the environment's PARLOUR_ACCESS_TOKEN. Default: everybody may take part."""
    access_token_file: Path | None = None
    """File with that token."""

    @property
    def token(self) -> str | None:
        """The token; None: everybody may take part."""
        return secret(self.access_token, self.access_token_file, "PARLOUR_ACCESS_TOKEN")


@dataclass(frozen=True, kw_only=True)
class TlsServerArguments(ServerArguments):
    """Where the command listens, who may take part, and the certificate."""

    tls_cert: Path | None = None
    """Certificate (PEM, with those of its authorities): the server speaks TLS then, as https:// and wss://."""
    tls_key: Path | None = None
    """The certificate's key (PEM). Default: it stands in the same file."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """What the server shows; None: it speaks plain HTTP."""
        if self.tls_cert is None:
            if self.tls_key is not None:
                raise ValueError("--tls-key needs --tls-cert")
            return None
        from ...wrappers.live.common.server import server_tls  # aiohttp is loaded by those who serve

        return server_tls(self.tls_cert, self.tls_key)


@dataclass(frozen=True, kw_only=True)
class AccessArguments:
    """Access to the other side."""

    access_token: str | None = None
    """Token that the platform asks of us; where it connects to us, that we ask of it. Everybody on this machine can
    read it here: rather use the file, or the environment's PARLOUR_ACCESS_TOKEN. Default: none."""
    access_token_file: Path | None = None
    """File with that token."""

    @property
    def token(self) -> str | None:
        """The token; None: there is none."""
        return secret(self.access_token, self.access_token_file, "PARLOUR_ACCESS_TOKEN")


@dataclass(frozen=True, kw_only=True)
class FilmArguments:
    """The film."""

    view: str = "all"
    """Whose view a film shows: a player as the film calls it, or all."""
    fps: float = 1.5
    """Actions a second in a film."""
