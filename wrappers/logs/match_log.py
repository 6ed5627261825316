"""Match logs: JSON Lines, one object per event.

Every line has a ``kind``. `Recorder` writes the log of a match in an environment: ``match`` (with ``setup``, what was
given instead of drawn), then one ``turn`` per decision, then ``end``. `replay.log_reader.replay` plays it again, to the
same record. The arena host writes the same, with ``message`` for messages out of turn. Live bridges write their own
lines with `MatchLog`: ``joined``, ``turn`` (TurnState and AgentResponse), ``hand``, ``ended``. No log holds a token or
a key.
"""

import logging
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from io import BytesIO
from os import SEEK_END, PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec
import numpy as np

from ... import envs
from ...envs.core.files import opened as opened_file
from ...envs.core.files import parsed
from ...envs.core.turn_state import Action, ActionResult, AgentResponse, TurnState

LIMIT = 300
"""The most characters of a text in a log line."""


def escaped(text: str, limit: int = LIMIT) -> str:
    """Return the first `limit` characters of a text; characters that are not printable are escaped.

    >>> escaped("Take\\nit \\x1b[2J")
    'Take\\\\nit \\\\x1b[2J'
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:limit])


def short(value: object) -> str:
    """Return a value as text of at most 80 characters."""
    try:
        return escaped(str(value), 80)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number without end"


def describe_error(error: BaseException) -> str:
    """Return the error's type and text, at most `LIMIT` characters. If the text cannot be read, it is "(no text)"."""
    try:
        text = str(error)
    except Exception:
        text = "(no text)"
    return escaped(f"{type(error).__name__}: {text}")[:LIMIT]


Path_ = str | PathLike[str]
SECRETS = ("token", "api_key", "apikey", "authorization", "password", "secret")
"""Words in names that mark a secret. Names of players are allowed as keys (votes, roles)."""
MOST_NAMES = 1_000
"""Names of players that are remembered, where no line says that a match begins."""
BLOCK = 2**16
"""Bytes that are read at once."""


class Lines:
    """Makes the lines of a log, in order."""

    def __init__(self) -> None:
        self._players: set[str] = set()  # of the current match

    def line(self, kind: str, **fields: Any) -> bytes:
        """Return a line; see `MatchLog.write`."""
        plain = msgspec.to_builtins({"kind": kind, **fields}, enc_hook=_plain, str_keys=True)
        if kind == "match":
            self._players = set(_names(plain))
        elif isinstance(plain.get("turn_state"), dict):
            before = self._players if len(self._players) < MOST_NAMES else set()
            self._players = before | set(_names(plain["turn_state"].get("game_state")))
        return msgspec.json.encode(_without_secrets(plain, self._players)) + b"\n"


class MatchLog(AbstractContextManager["MatchLog"]):
    """An open log; a context manager. `write` flushes every line to the disk.

    With `most_bytes`, a full file ``log.jsonl`` becomes ``log.1.jsonl``, that one ``log.2.jsonl`` and so on;
    the oldest is deleted. A match with a line ``match`` is never divided: its file may be longer by that match.

    Args:
        path: the file. Its folder is made if it does not exist.
        append: whether to keep the old lines of the file; a last line cut off by a crash is removed.
        most_bytes: the size in bytes at which a file is full; None: no limit.
        old_files: number of full files that are kept.

    Raises:
        ValueError: if `most_bytes` or `old_files` is below 1.
    """

    def __init__(self, path: Path_, *, append: bool = True, most_bytes: int | None = None, old_files: int = 10) -> None:
        if min(old_files, 1 if most_bytes is None else most_bytes) < 1:
            raise ValueError(f"most_bytes={most_bytes}, old_files={old_files}: need at least 1")
        self.path = Path(path)
        if self.path.exists() and not self.path.is_file() and not self.path.is_dir():
            raise ValueError(f"{path} is no regular file: a log cannot be kept there")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._most_bytes, self._old_files = most_bytes, old_files
        self._lines, self._in_match = Lines(), False
        self._open(_whole_lines(self.path) if append and self.path.exists() else 0)

    def _open(self, size: int) -> None:
        """Open the file, with the first `size` bytes of what it holds."""
        self._file = self.path.open("ab", buffering=0)
        self._file.truncate(size)
        self._size = size

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line: TurnState types, structs, dicts, lists, text, numbers. Secrets by name are left out."""
        line = self._lines.line(kind, **fields)
        if self._most_bytes is not None and self._size >= self._most_bytes and (kind == "match" or not self._in_match):
            self._file.close()
            for number in range(self._old_files, 0, -1):
                newer = self.path if number == 1 else self._old(number - 1)
                if newer.exists():
                    newer.replace(self._old(number))
            self._open(0)
        self._in_match = kind == "match" or (self._in_match and kind != "end")
        self._size += len(line)
        while line:
            line = line[self._file.write(line) :]

    def _old(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _whole_lines(path: Path) -> int:
    """Return the number of bytes of a file's whole lines; only the text after the last of them is read."""
    with path.open("rb") as file:
        at = file.seek(0, SEEK_END)
        while at > 0:
            start = max(0, at - BLOCK)
            file.seek(start)
            if (found := file.read(at - start).rfind(b"\n")) >= 0:
                return start + found + 1
            at = start
    return 0


def opened(log: Path_ | MatchLog | None) -> AbstractContextManager[MatchLog | None]:
    """Open a log by its path, as a context manager. A log that is open is returned, and stays open; None is None."""
    return nullcontext(log) if log is None or isinstance(log, MatchLog) else MatchLog(log)


def read(path: Path_ | bytes) -> Iterator[dict[str, Any]]:
    """Return the lines of a log in order, without a last line cut off by a crash, blank lines, and a byte order mark
    (BOM) of UTF-8.

    Args:
        path: the file; or the log itself, as bytes.

    Raises:
        ValueError: if it is no regular file; naming the line, if another one is not an object with a `kind`.
    """
    source, name = (BytesIO(path), "the log") if isinstance(path, bytes) else (opened_file(path), path)
    with source as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(BOM_UTF8)
            if not line.endswith(b"\n"):
                return  # cut off by a crash
            if line.strip():
                entry = parsed(line, f"{name}, line {number}", msgspec.json.decode)
                if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
                    raise ValueError(f"{name}, line {number} is not an object with a kind: {line[:80]!r}")
                yield entry


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {value!r} cannot be logged; give plain data")


def _names(value: Any) -> Iterator[str]:
    """Return the ids and names of the players in a match or in a game's state."""
    if not isinstance(value, dict):
        return
    for field in ("agents", "agent_ids", "players"):
        players = value.get(field)
        for player in players if isinstance(players, list) else ():
            called = [player.get("id"), player.get("name")] if isinstance(player, dict) else [player]
            yield from (name for name in called if isinstance(name, str))


def _without_secrets(value: Any, players: Set[str]) -> Any:
    if isinstance(value, dict):
        by_player = value.keys() <= players
        return {name: _without_secrets(part, players) for name, part in value.items() if by_player or _harmless(name)}
    return [_without_secrets(part, players) for part in value] if isinstance(value, list) else value


@lru_cache(maxsize=4096)
def _harmless(name: str) -> bool:
    return not any(secret in name.lower() for secret in SECRETS)


logger = logging.getLogger(__name__)


class SafeMatchLog:
    """The match log of a live agent or a host. Write from the event loop only.

    Attributes:
        target: the log to write; None: no log, or no longer.
    """

    def __init__(self, log: MatchLog | None) -> None:
        self.target = log

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line, if there is a log. A line that cannot be written is left out; a full disk ends the log."""
        if self.target is None:
            return
        try:
            self.target.write(kind, **fields)
        except OSError as error:
            logger.warning("the match log ends here: %s", error)
            self.target = None
        except (ValueError, TypeError, RecursionError) as error:
            logger.warning("a %s is left out of the match log: %s", kind, describe_error(error))


def safe_thoughts(thoughts: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return an agent's notes on its answer; {} with a warning if the agent raises an error."""
    try:
        return thoughts()
    except Exception as error:  # any error: the match continues
        logger.warning("the agent's thoughts are left out of the match log: %s", describe_error(error))
        return {}


def without_images(state: TurnState) -> TurnState:
    """Return a state without its pictures, which would fill the disk."""
    fields = {name: value for name, value in state.game_state.items() if name not in ("board_img", "drawer_img")}
    return msgspec.structs.replace(state, game_state=fields)


class Recorder:
    """Plays an environment and writes its log.

    >>> import tempfile
    >>> from parlour.wrappers.replay.log_reader import replay
    >>> env, path = envs.make("holdem", seats=2), tempfile.mkdtemp() + "/match.jsonl"
    >>> with MatchLog(path) as log:
    ...     recorder = Recorder(log, env, seed=7)
    ...     while env.agents and not env.table.done:
    ...         result = recorder.submit(env.agent_selection, Action("fold"))
    >>> replay(path).state().tobytes() == env.state().tobytes()
    True

    Args:
        log: the log to write.
        env: the environment of a registered game; it is reset with `seed`.
        seed: the seed of the match.
        agent_ids: the players' names, seat by seat, for replays; None: the names of the seats.
        setup: fixed parts of the deal, such as the cards (see `GameEnv.reset`); None: all are drawn.
    """

    def __init__(
        self,
        log: MatchLog,
        env: envs.GameEnv,
        seed: int,
        agent_ids: Sequence[str] | None = None,
        setup: Mapping[str, Any] | None = None,
    ) -> None:
        self.log, self.env = log, env
        env.reset(seed=seed, options=None if setup is None else dict(setup))
        names: dict[str, Any] = {} if agent_ids is None else {"agent_ids": list(agent_ids)}
        names |= {} if setup is None else {"setup": dict(setup)}
        log.write("match", game=env.game.id, options=env.game.options, seed=seed, match_id=env.match.match_id, **names)

    def submit(
        self,
        agent: str,
        response: AgentResponse | Action | Mapping[str, Any],
        thoughts: Mapping[str, Any] | None = None,
    ) -> ActionResult:
        """Call `GameEnv.submit`, and write an accepted answer, and the outcome at the end.

        Args:
            agent: the agent that answers.
            response: the answer.
            thoughts: the agent's notes on its answer (see `parlour.wrappers.agents.base.thoughts`); None: no notes.

        Returns:
            The result of `GameEnv.submit`.
        """
        result = self.env.submit(agent, response)
        if result.ok:
            self.log.write("turn", agent=agent, response=response, **(thoughts or {}))
            if self.env.table.done:
                self.log.write("end", outcome=self.env.turn_state(agent).outcome)
        return result

    def play(self, number: int) -> ActionResult:
        """Play the selected agent's legal action index, and write it as its payload."""
        return self.submit(self.env.agent_selection, self.env.game.view.encode(self.env.table, number))


class FirstMatches(MatchLog):
    """A match log that keeps the first `most` matches. Every line also goes to `also`.

    Args:
        path: the file, which is written anew.
        most: the number of matches that are kept.
        also: a log of all matches; None: there is none.
    """

    def __init__(self, path: Path_, most: int, also: MatchLog | None) -> None:
        super().__init__(path, append=False)
        self._left, self._also, self._kept = most, also, False

    def write(self, kind: str, **fields: Any) -> None:
        """See `MatchLog`."""
        if kind == "match":
            self._kept = self._left > 0
            self._left -= self._kept
        if self._kept:
            super().write(kind, **fields)
        if self._also is not None:
            self._also.write(kind, **fields)
