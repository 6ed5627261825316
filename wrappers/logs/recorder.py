"""Recorder: plays an environment and writes the match log. `replay` plays a log again."""

from collections.abc import Mapping, Sequence
from typing import Any

from ... import envs
from ...envs.core.files import no_files
from ...envs.core.turn_state import Action, ActionResult, AgentResponse
from .match_log import MatchLog, Path_, read


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
        self.log = log
        self.env = env
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


def replay(path: Path_) -> envs.GameEnv:
    """Play a `Recorder`'s log again, and return the environment after the last match.

    Raises:
        ValueError: if the log has no match, a line lacks a field, or an answer is refused. The log is then of another
            version, or was edited.
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
    """Replay one line of a log, and return its environment."""
    if entry["kind"] == "match":
        with no_files():
            env = envs.make(entry["game"], **entry["options"])
        env.reset(seed=entry["seed"], options=entry.get("setup"))
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
