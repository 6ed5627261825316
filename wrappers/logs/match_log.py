"""Match logs: JSON Lines, one object per event.

Every line has a ``kind``. `Recorder` writes the log of a match in an environment: ``match`` (with ``setup``, what was
given instead of drawn), then one ``turn`` per decision, then ``end``. `replay` plays it again, to the same record.
The arena host writes the same, with ``message`` for messages out of turn. Live bridges write their own lines with
`MatchLog`: ``joined``, ``turn`` (TurnState and AgentResponse), ``hand``, ``ended``. No log holds a token or a key.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Set
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from io import BytesIO
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec
import numpy as np

from ...envs.core.files import opened as opened_file
from ...envs.core.files import parsed
from ...envs.core.turn_state import AgentResponse, TurnState

Path_ = str | PathLike[str]
SECRETS = ("token", "api_key", "apikey", "authorization", "password", "secret")
"""Words in names that mark a secret. Names of players are allowed as keys (votes, roles)."""


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
            self._players |= set(_names(plain["turn_state"].get("game_state")))
        return msgspec.json.encode(_without_secrets(plain, self._players)) + b"\n"


class MatchLog:
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
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._most_bytes = most_bytes
        self._old_files = old_files
        self._in_match = False
        self._lines = Lines()
        kept = self.path.read_bytes() if append and self.path.exists() else b""
        self._open(kept.rfind(b"\n") + 1)

    def _open(self, size: int) -> None:
        """Open the file, with the first `size` bytes of what it holds."""
        self._file = self.path.open("ab", buffering=0)
        self._file.truncate(size)
        self._size = size

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line: TurnState types, structs, dicts, lists, text, numbers. Secrets by name are left out."""
        line = self._lines.line(kind, **fields)
        if self._most_bytes is not None and self._size >= self._most_bytes and (kind == "match" or not self._in_match):
            self._begin_file()
        self._in_match = kind == "match" or (self._in_match and kind != "end")
        self._size += len(line)
        while line:
            line = line[self._file.write(line) :]

    def _begin_file(self) -> None:
        """Keep the full file under another name, and begin a new one."""
        self._file.close()
        for number in range(self._old_files, 0, -1):
            newer = self.path if number == 1 else self._old(number - 1)
            if newer.exists():
                newer.replace(self._old(number))
        self._open(0)

    def _old(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.stem}.{number}{self.path.suffix}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


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
    if isinstance(path, bytes):
        yield from _entries("the log", BytesIO(path))
        return
    with opened_file(path) as file:
        yield from _entries(path, file)


def _entries(path: Path_, file: BinaryIO) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, 1):
        if number == 1:
            line = line.removeprefix(BOM_UTF8)
        if not line.endswith(b"\n"):
            return  # cut off by a crash
        if not line.strip():
            continue
        entry = parsed(line, f"{path}, line {number}", msgspec.json.decode)
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            raise ValueError(f"{path}, line {number} is not an object with a kind: {line[:80]!r}")
        yield entry


def turns(path: Path_) -> Iterator[tuple[TurnState, AgentResponse]]:
    """Return the TurnState and the answer of each turn of a live agent's log."""
    for entry in read(path):
        if entry["kind"] == "turn" and "turn_state" in entry:
            yield TurnState.from_dict(entry["turn_state"]), AgentResponse.from_dict(entry["response"])


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
