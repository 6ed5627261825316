"""Match logs: JSON Lines, one object per event, and replay.

Every line has a ``kind``. `Recorder` writes the log of a match in an environment (``match``, then ``turn`` by
``turn``, then ``end``), which `replay` plays again to the same bytes; so does our arena, with ``message`` for what was
sent out of turn. Live bridges write what they see with `MatchLog`: ``joined``, ``turn`` (TurnState and AgentResponse),
``hand``, ``ended``. No log holds a token or a key.
"""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np

from .. import envs
from ..envs.core.turn_state import Action, ActionResult, AgentResponse, TurnState

Path_ = str | PathLike[str]
SECRETS = ("token", "api_key", "apikey", "authorization", "password", "secret")
"""What no name in a log may contain, but for the names of players where a table goes by them (votes, roles)."""


class MatchLog:
    """An open log; a context manager. Every line is on the disk when `write` returns.

    Args:
        path: the file; its folder is made, and what it held before is kept unless `append` is false (but for a last
            line that a crash cut off).
    """

    def __init__(self, path: Path_, *, append: bool = True) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        kept = self.path.read_bytes() if append and self.path.exists() else b""
        self._file = self.path.open("ab", buffering=0)
        self._file.truncate(kept.rfind(b"\n") + 1)
        self._players: set[str] = set()  # of the match that is being written

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line: TurnState types, structs, dicts, lists, text, numbers. Secrets by name are left out."""
        plain = msgspec.to_builtins({"kind": kind, **fields}, enc_hook=_plain, str_keys=True)
        if kind == "match":
            self._players = set(_names(plain))
        elif isinstance(plain.get("turn_state"), dict):
            self._players |= set(_names(plain["turn_state"].get("game_state")))
        line = msgspec.json.encode(_without_secrets(plain, self._players)) + b"\n"
        while line:
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def opened(path: Path_ | None) -> AbstractContextManager[MatchLog | None]:
    """Open a log, as a context manager; None where no path is given."""
    return nullcontext() if path is None else MatchLog(path)


class Recorder:
    """Plays an environment and writes its log.

    >>> import tempfile
    >>> env, path = envs.make("holdem", seats=2), tempfile.mkdtemp() + "/match.jsonl"
    >>> with MatchLog(path) as log:
    ...     recorder = Recorder(log, env, seed=7)
    ...     while env.agents and not env.table.done:
    ...         result = recorder.submit(env.agent_selection, Action("fold"))
    >>> replay(path).state().tobytes() == env.state().tobytes()
    True

    Args:
        log: where to write.
        env: a registered game; it is reset with `seed`.
        seed: of the match.
        agent_ids: who plays, seat by seat, as replays call them; None: by the seats' names.
    """

    def __init__(self, log: MatchLog, env: envs.GameEnv, seed: int, agent_ids: Sequence[str] | None = None) -> None:
        self.log = log
        self.env = env
        env.reset(seed=seed)
        names = {} if agent_ids is None else {"agent_ids": list(agent_ids)}
        log.write("match", game=env.game.id, options=env.game.options, seed=seed, match_id=env.match_id, **names)

    def submit(
        self,
        agent: str,
        response: AgentResponse | Action | Mapping[str, Any],
        thoughts: Mapping[str, Any] | None = None,
    ) -> ActionResult:
        """Do what `GameEnv.submit` does; an accepted answer is written, and the outcome once there is one.

        `thoughts` are what the agent tells of its answer (see `parlour.wrappers.agent.thoughts`), written beside it.
        """
        result = self.env.submit(agent, response)
        if result.ok:
            self.log.write("turn", agent=agent, response=response, **(thoughts or {}))
            if self.env.table.done:
                self.log.write("end", outcome=self.env.turn_state(agent).outcome)
        return result

    def play(self, number: int) -> ActionResult:
        """Play the selected agent's legal action number, written as the payload it stands for."""
        return self.submit(self.env.agent_selection, self.env.game.view.encode(self.env.table, number))


def read(path: Path_) -> Iterator[dict[str, Any]]:
    """Return the lines of a log in order; a last line cut off by a crash is left out, and so are blank lines and the
    mark that some editors put at the beginning (UTF-8's BOM).

    Raises:
        ValueError: naming the line, if another one is not an object with a `kind`.
    """
    *lines, _ = Path(path).read_bytes().removeprefix(BOM_UTF8).split(b"\n")  # after a whole line nothing is left over
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise ValueError(f"{path}, line {number} is not JSON: {error}") from error
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            raise ValueError(f"{path}, line {number} is no object with a kind: {line[:80]!r}")
        yield entry


def turns(path: Path_) -> Iterator[tuple[TurnState, AgentResponse]]:
    """Return what a live agent saw and answered, turn by turn."""
    for entry in read(path):
        if entry["kind"] == "turn" and "turn_state" in entry:
            yield TurnState.from_dict(entry["turn_state"]), AgentResponse.from_dict(entry["response"])


def replay(path: Path_) -> envs.GameEnv:
    """Play a `Recorder`'s log again, and return the environment as it then is (the last match, if there are several).

    Raises:
        ValueError: if the log has no match, a line lacks a field, or an answer in it is refused: it is another
            version's, or was edited.
    """
    env: envs.GameEnv | None = None
    for entry in read(path):
        try:
            env = _again(entry, env)
        except KeyError as error:
            raise ValueError(f"{path} does not replay: a {entry['kind']!r} line lacks {error}") from None
        except ValueError as error:
            raise ValueError(f"{path} does not replay: {error}") from None
    if env is None:
        raise ValueError(f"{path} holds no match")
    return env


def _again(entry: Mapping[str, Any], env: envs.GameEnv | None) -> envs.GameEnv | None:
    """Do what one line of a log tells; return the environment in which it was done."""
    if entry["kind"] == "match":
        env = envs.make(entry["game"], **entry["options"])
        env.reset(seed=entry["seed"])
    elif entry["kind"] in ("turn", "message"):
        if env is None:
            raise ValueError("it begins in the middle of a match (a live log can be read, not replayed)")
        if entry["kind"] == "turn":
            result = env.submit(entry["agent"], entry["response"])
        else:
            result = env.send(entry["agent"], entry["intent"])
        if not result.ok:
            raise ValueError(f"{entry['agent']} {result.error}: {result.error_detail}")
    return env


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {value!r} cannot be logged; give plain data")


def _names(value: Any) -> Iterator[str]:
    """Return what the players of a match, or of a game's state, are called: ids and names."""
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
