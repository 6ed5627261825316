"""Results of hosted matches of mafia: one line a match, and a summary of all."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...envs.core.counted import counted
from ...wrappers.agents.model_calls import ModelCall
from ...wrappers.live.mafia.agent_policy import AgentPolicy
from ...wrappers.live.mafia.host_session import MafiaResult
from ...wrappers.live.mafia.llm_agent import MafiaLLMAgent


@dataclass
class ModelUsage:
    """Calls, tokens and time of a language model, over all calls of its agents."""

    calls: int = 0
    replaced: int = 0
    retries: int = 0
    input_size: int = 0
    output_size: int = 0
    seconds: list[float] = field(default_factory=list)

    def add(self, call: ModelCall) -> None:
        """Count a call."""
        self.calls += 1
        self.retries += call.retries
        self.input_size += call.input_size or 0
        self.output_size += call.output_size or 0
        self.seconds.append(call.seconds)

    def __str__(self) -> str:
        middle = sorted(self.seconds)[len(self.seconds) // 2] if self.seconds else 0.0
        return (
            f"{self.calls} calls, {self.replaced} answers replaced, {self.input_size} tokens in, "
            f"{self.output_size} out, {self.retries} retries, median {middle:.2f} s"
        )


class MatchSummary:
    """Counts results, faults, and the statistics of language models."""

    def __init__(self) -> None:
        self._wins: Counter[str | None] = Counter()
        self._faults: Counter[tuple[str, str]] = Counter()
        self._usage: dict[str, ModelUsage] = {}

    @property
    def faults(self) -> int:
        """Number of answers that were late, failed, or could not be used."""
        return self._faults.total()

    def watch(self, agents: Iterable[AgentPolicy]) -> None:
        """Count the calls of language models among the players of a match, from now on."""
        for agent in agents:
            if isinstance(agent, MafiaLLMAgent):
                usage = self._usage.setdefault(f"{agent.model.name} ({agent.id})", ModelUsage())
                agent.on_call = usage.add

    def add(self, result: MafiaResult, agents: Sequence[AgentPolicy]) -> str:
        """Count a match that is over; return its line."""
        self._wins[result.winner] += 1
        for fault in result.faults:
            self._faults[fault.agent_id, fault.instead or "the answer is left out or asked for again"] += 1
        for agent in agents:
            if isinstance(agent, MafiaLLMAgent):
                self._usage[f"{agent.model.name} ({agent.id})"].replaced += agent.replaced
        won = f"{result.winner} wins" if result.winner else "nobody wins"
        roles = ", ".join(f"{agent} {role}" for agent, role in result.roles.items() if role != "villager")
        rounds, faults = counted(result.rounds, "rounds"), counted(len(result.faults), "faults")
        return f"{result.game_id}: {won} after {rounds} ({roles}); {faults}"

    def lines(self) -> Iterator[str]:
        """Return the summary: number of wins, faults by agent, and the statistics of each language model."""
        wins, matches = self._wins, self._wins.total()
        if matches > 1:
            yield f"{counted(matches, 'matches')}: town {wins['town']}, mafia {wins['mafia']}, nobody {wins[None]}"
        for (agent_id, instead), count in sorted(self._faults.items()):
            yield f"{agent_id}: {count} times in place of its answer: {instead}"
        for name, usage in sorted(self._usage.items()):
            yield f"{name}: {usage}"
