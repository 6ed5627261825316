"""Results of hosted matches of mafia: one line a match, and a summary of all."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ...envs.core.counted import counted
from ...wrappers.agents.model_calls import ModelStatistics
from ...wrappers.live.mafia.agent_policy import AgentPolicy
from ...wrappers.live.mafia.host_session import MafiaResult
from ...wrappers.live.mafia.llm_agent import MafiaLLMAgent


class MatchSummary:
    """Counts results, faults, and the statistics of language models.

    Attributes:
        models: what the answers of the language models came to, by name.
    """

    def __init__(self) -> None:
        self._wins: Counter[str | None] = Counter()
        self._faults: Counter[tuple[str, str]] = Counter()
        self.models: dict[str, ModelStatistics] = {}

    @property
    def faults(self) -> int:
        """Number of answers that were late, failed, or could not be used."""
        return self._faults.total()

    def watch(self, agents: Iterable[AgentPolicy]) -> None:
        """Count the calls of language models among the players of a match, from now on."""
        for agent in agents:
            if isinstance(agent, MafiaLLMAgent):
                agent.statistics = self.models.setdefault(f"{agent.name} ({agent.model.name})", agent.statistics)

    def add(self, result: MafiaResult) -> str:
        """Count a match that is over; return its line."""
        self._wins[result.winner] += 1
        for fault in result.faults:
            instead = fault.instead or "the answer is left out or asked for again"
            self._faults[result.names[fault.agent_id], instead] += 1
        won = f"{result.winner} wins" if result.winner else "nobody wins"
        roles = ", ".join(f"{result.names[agent]} {role}" for agent, role in result.roles.items() if role != "villager")
        rounds, faults = counted(result.rounds, "rounds"), counted(len(result.faults), "faults")
        return f"{result.game_id}: {won} after {rounds} ({roles}); {faults}"

    def lines(self) -> Iterator[str]:
        """Return the summary: number of wins, and faults by agent."""
        wins, matches = self._wins, self._wins.total()
        if matches > 1:
            yield f"{counted(matches, 'matches')}: town {wins['town']}, mafia {wins['mafia']}, nobody {wins[None]}"
        for (name, instead), count in sorted(self._faults.items()):
            yield f"{name}: {count} times in place of its answer: {instead}"
