"""Games as multi-turn text episodes, for training language models (with verifiers, TRL, OpenRLHF and the like)::

    game = TextGame("kuhn")
    turn = game.reset(seed=1)
    while not turn.done:
        turn = game.step(model(turn.prompt))  # the text of a model's answer
    turn.returns  # of every seat

A training library brings the model and its update. This module brings the prompt, the legal answers, the parser, and
the rewards of every seat and decision. Models play some or all seats; bots, policies and other models play the rest.
The adapters `parlour.wrappers.openenv` and `parlour.wrappers.verifiers` stand on it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from ..envs import AllowedAction, Game, Match, TurnState
from ..envs.core.options import number, whole
from ..envs.core.registry import as_game
from ..envs.core.rng import streams
from .agents.answers import MOST_READ, parse, spoken
from .agents.base import Agent
from .agents.language_model import Fault, LLMAgent, ModelError
from .agents.policy import PolicyAgent
from .agents.prompt import Chat, Prompting, decisions_only
from .policies.base import LearnedPolicy, Policy
from .policies.loading import make_policy

Opponent: TypeAlias = str | Policy | Agent
"""Who plays a seat: the name of a bot, a run, a policy file or ``zoo:…``; a policy; an agent, such as an `LLMAgent`;
or ``"self"``: a model, by the answers that `TextGame.step` takes."""
MOST_REPEATED = 2_000
"""The number of characters at the end of a refused answer that the next prompt repeats."""


@dataclass(frozen=True)
class TextTurn:
    """What a model is asked next, and what the last answer brought.

    Attributes:
        agent: the agent that has the turn; after the end, the agent that acted last.
        role: the role that the game gives this agent in the episode; None: the game has no roles.
        prompt: the conversation to answer: a list of ``{"role": …, "content": …}``. Empty after the end.
        answers: the text of every legal action that has an action index; other payloads may be legal too.
        rewards: the rewards of the last answer by agent, in `Payoffs.unit`, with the penalties of refused answers.
        returns: the sums of these rewards in the episode by agent.
        done: whether the episode is over.
        refused: why the last answer was refused; None: it was played.
        info: ``{"turn_state": TurnState of `agent`, "replaced": whether the safe action was played in its place}``.
    """

    agent: str
    role: str | None
    prompt: Chat
    answers: tuple[str, ...]
    rewards: Mapping[str, float]
    returns: Mapping[str, float]
    done: bool
    refused: str | None
    info: Mapping[str, Any]


@dataclass
class Exchange:
    """One answer of a seat: `reward` is all that the seat gains from it until it is asked again, or to the end."""

    prompt: Chat
    answer: str
    reward: float
    state: TurnState


@dataclass
class Transcript:
    """The episode of one seat, as a trainer takes it.

    Attributes:
        agent: the seat's agent.
        exchanges: its prompts, answers and rewards in order; empty if it was never asked.
        total: the seat's return, also if it was never asked. What it gains before its first decision is here alone.
    """

    agent: str
    exchanges: list[Exchange] = field(default_factory=list)
    total: float = 0.0


def seated(game: Game, opponents: Opponent | Mapping[str, Opponent], seat: str | None = None) -> dict[str, Opponent]:
    """Return who plays the seats that no model plays, by agent.

    Args:
        game: the game.
        opponents: who plays every seat but `seat`, or who plays which seat. Seats of ``"self"``, and those that a
            mapping leaves out, are a model's.
        seat: the agent that a model plays; None: the first one, unless `opponents` names it.

    Raises:
        ValueError: for an unknown agent, or if no seat is left for a model.
    """
    if seat is not None and seat not in game.agents:
        raise ValueError(f"seat={seat!r}: the agents are {', '.join(game.agents)}")
    if not isinstance(opponents, Mapping):
        opponents = {agent: opponents for agent in game.agents if agent != (seat or game.agents[0])}
    others = {agent: one for agent, one in opponents.items() if not (isinstance(one, str) and one == "self")}
    if not set(others) < set(game.agents):
        raise ValueError(f"opponents={opponents!r}: name some of {', '.join(game.agents)}, not all")
    if seat in others:
        raise ValueError(f"opponents={opponents!r}: {seat} is the model's seat")
    return others


def role_of(state: TurnState) -> str | None:
    """Return the role that a state tells its agent; None: the game has no roles."""
    seen = state.game_state
    players = [one for one in seen.get("players") or () if isinstance(one, Mapping) and one.get("id") == state.agent_id]
    role = seen.get("my_role") or next((one.get("role") for one in players), None)
    return role if isinstance(role, str) else None


class TextGame:
    """One table for language models: `reset` and `step` return a `TextTurn`.

    Of an answer, thoughts (``<think>…</think>``) are cut off, and the last action counts (see `parse`). A refused one
    (no action in it, or an illegal one) costs its agent the penalty. The agent is asked again with the reason,
    `retries` times in a turn; then the game's safe action is played for it. Answers send no messages.

    Args:
        game: the game with its options, or its name.
        retries: number of further requests to an agent in a turn.
        penalty: the reward of a refused answer, in `Payoffs.unit`.
        prompting: how a model is asked: rules, prompts, the form of the state. None: with the rules in words.
        opponents: who plays the seats that no model plays; see `seated`. Policies by name are seeded with the episode.
            The rewards of their actions are in the next turn that is returned. For an agent that fails, or answers
            what is illegal, the safe action is played.
        seat: see `seated`.
        options: the game's, where it is named.

    Attributes:
        match: the `Match`.
        opponents: who plays the seats that no model plays, by agent.
        transcripts: the prompts, answers and rewards of every agent in the episode, by agent.
        faults: the refused answers of every agent by fault, such as ``"unparsable"``, over all episodes.

    Raises:
        UnexpectedOption: for an unknown option. It is a TypeError and a ValueError.
        ValueError: for an unknown game or opponent, no seat for a model, or retries or a penalty that cannot be.
    """

    def __init__(
        self,
        game: str | Game,
        *,
        retries: int = 1,
        penalty: float = -0.1,
        prompting: Prompting | None = None,
        opponents: Opponent | Mapping[str, Opponent] = "self",
        seat: str | None = None,
        **options: Any,
    ) -> None:
        whole("retries", retries, 0)
        number("penalty", penalty, -(2**30), 2**30)
        self.game = as_game(game, options)
        self.match = Match(self.game)
        self.retries, self.penalty = retries, penalty
        self.prompting = prompting or Prompting(game=self.game)
        self.faults: dict[str, Counter[Fault]] = {agent: Counter() for agent in self.game.agents}
        self.opponents = seated(self.game, opponents, seat)
        self.transcripts: dict[str, Transcript] = {}
        self._players: dict[str, Agent] = {}
        self._players = self._opponents_at(None)
        self._past: dict[str, list[Mapping[str, str]]] = {}  # the turns of every agent in the episode, and its answers
        self._prompt: Chat = ()
        self._state: TurnState  # of the latest turn
        self._offers: Sequence[AllowedAction] = ()
        self._asked: Mapping[str, str] = {}
        self._refusals: list[tuple[str, str]] = []  # of the current turn: the answer, and why it was refused

    def reset(self, seed: int | None = None) -> TextTurn:
        """Begin an episode; see `Match.reset`."""
        self.match.reset(seed)
        self._players = self._opponents_at(seed)
        self._past = {agent: [] for agent in self.game.agents}
        self.transcripts = {agent: Transcript(agent) for agent in self.game.agents}
        self._refusals = []
        return self._turn(self._acting(), dict.fromkeys(self.game.agents, 0.0), None, replaced=False)

    def _opponents_at(self, seed: int | None) -> dict[str, Agent]:
        """Return the opponents, each policy by name with a random stream of its own."""
        for rival in self.opponents.values():
            if isinstance(rival, LLMAgent):
                rival.begin()
        seeds = [None] * len(self.opponents) if seed is None else streams(seed, len(self.opponents)).tolist()
        return {
            agent: rival if isinstance(rival, Agent) else PolicyAgent(self.game, self._policy(agent, rival, stream))
            for (agent, rival), stream in zip(self.opponents.items(), seeds, strict=True)
        }

    def _policy(self, agent: str, rival: str | Policy, seed: int | None) -> Policy:
        """Return an opponent's policy with this seed. A learned one is read once, not in every episode."""
        policy = getattr(self._players.get(agent), "policy", None)
        if not isinstance(rival, str) or not isinstance(policy, LearnedPolicy):
            return make_policy(rival, self.game, seed=seed)
        policy.stream = int(streams(seed, 1)[0])
        return policy

    def _play_opponents(self, rewards: dict[str, float]) -> None:
        """Play until a model has the turn, or to the end; add what all seats gain to the rewards."""
        match = self.match
        while not match.done and (agent := self._acting()) in self._players:
            fault: Fault | None = "illegal"
            before = match.decisions
            try:
                if match.submit(agent, self._players[agent].respond(match.turn_state(agent))).ok:
                    fault = None
            except ModelError as error:
                fault = error.fault
            if fault is not None:
                self.faults[agent][fault] += 1
                match.play(self.game.view.safe(match.table))
            if match.decisions != before:
                self._gain(rewards)

    def _gain(self, rewards: dict[str, float]) -> None:
        for name, gain in zip(self.game.agents, self.match.rewards, strict=True):
            rewards[name] += gain / self.game.payoffs.unit

    def step(self, text: str) -> TextTurn:
        """Play a model's answer for the agent that has the turn.

        Raises:
            ValueError: if no episode runs: call `reset`.
        """
        match = self.match
        if match.done is not False:
            raise ValueError("no episode runs: call reset() first")
        text = text[-MOST_READ:].encode(errors="replace").decode()  # JSON cannot hold lone surrogates
        agent, before, refused = self._acting(), match.decisions, None
        said = spoken(text)
        fault: Fault = "unparsable"
        rewards = dict.fromkeys(self.game.agents, 0.0)
        try:
            action = self.prompting.action(parse(said, self._offers))
            fault = "illegal"
            if action.action_type == "message_only":
                raise ValueError("message_only is not offered: an answer is an action, without messages")
            result = match.submit(agent, action)
            refused = None if result.ok else f"{result.error}: {result.error_detail}"
        except ValueError as error:
            refused = str(error)
            if text.strip() and not said.strip():
                fault, refused = "unfinished", "the answer has only a thought"
        replaced = False
        self.transcripts[agent].exchanges.append(Exchange(self._prompt, text, 0.0, self._state))
        if refused is not None:
            rewards[agent] += self.penalty
            self.faults[agent][fault] += 1
            self._refusals.append((said[-MOST_REPEATED:], refused))
            if replaced := len(self._refusals) > self.retries:
                match.play(self.game.view.safe(match.table))
        if match.decisions != before:
            self._past[agent] += [self._asked, {"role": "assistant", "content": said}]
            self._refusals = []
            self._gain(rewards)
        return self._turn(agent, rewards, refused, replaced=replaced)

    def _acting(self) -> str:
        return self.game.agents[self.match.turn]

    def _turn(self, agent: str, rewards: dict[str, float], refused: str | None, *, replaced: bool) -> TextTurn:
        """Play opponents, credit the rewards, and return the next turn; `agent` acted last."""
        match = self.match
        self._play_opponents(rewards)
        for name, gain in rewards.items():
            seat = self.transcripts[name]
            seat.total += gain
            if seat.exchanges:
                seat.exchanges[-1].reward += gain
        done = bool(match.done)
        agent = agent if done else self._acting()
        self._state = state = match.turn_state(agent)
        prompt: list[Mapping[str, str]] = []
        if not done:
            shown = self.prompting.prepared(decisions_only(state))
            self._offers = shown.allowed_actions
            prompt += self.prompting.chat(shown, self._past[agent])
            self._asked = prompt[-1]
        for text, why in self._refusals:
            prompt += self.prompting.again(text, why)
        self._prompt = prompt
        answers = () if done else self._answers()
        returns = {name: seat.total for name, seat in self.transcripts.items()}
        info = {"turn_state": state, "replaced": replaced}
        return TextTurn(agent, role_of(state), prompt, answers, rewards, returns, done, refused, info)

    def _answers(self) -> tuple[str, ...]:
        match, encode = self.match, self.game.view.encode
        actions = (encode(match.table, int(index)).action for index in np.flatnonzero(match.mask))
        return tuple(dict.fromkeys(self.prompting.written(actions)))


def play_text(
    game: TextGame, models: Callable[[TextTurn], str] | Sequence[Callable[[TextTurn], str]], seed: int | None = None
) -> dict[str, Transcript]:
    """Play one episode and return the transcript of every agent.

    Args:
        game: the table.
        models: called with a turn, they return the text of an answer; one for all seats, or one per seat.
        seed: see `TextGame.reset`.

    Raises:
        ValueError: if the number of models does not fit the game.
    """
    agents = game.game.agents
    each = [models] * len(agents) if callable(models) else list(models)
    if len(each) != len(agents):
        raise ValueError(f"there are {len(each)} models; give one, or {len(agents)}: one per seat")
    playing = dict(zip(agents, each, strict=True))
    return play_texts([game], lambda turns: [playing[turn.agent](turn) for turn in turns], [seed])[0]


def play_texts(
    tables: Sequence[TextGame], model: Callable[[Sequence[TextTurn]], Sequence[str]], seeds: Iterable[int | None]
) -> list[dict[str, Transcript]]:
    """Play an episode of every seed, as many at the same time as there are tables.

    Args:
        tables: the tables; they may be of different games.
        model: called with one turn of every running episode, of whatever seat has it; returns an answer to each.
        seeds: of the episodes; see `TextGame.reset`.

    Returns:
        The transcripts of all agents of every episode, in the order of the seeds.

    Raises:
        ValueError: if there is no table, or one twice, or the model returns another number of answers.
    """
    if not tables or len({id(table) for table in tables}) < len(tables):
        raise ValueError(f"{len(tables)} tables: need at least one, and none twice")
    waiting, free = iter(seeds), list(tables)
    episodes: list[dict[str, Transcript]] = []
    running: list[tuple[TextGame, TextTurn]] = []
    while True:
        begun = [(free.pop(), seed) for seed in islice(waiting, len(free))]
        turns = [(table, table.reset(seed)) for table, seed in begun]
        episodes += [table.transcripts for table, _ in turns]
        if running:
            answers = model([turn for _, turn in running])
            turns += [(table, table.step(text)) for (table, _), text in zip(running, answers, strict=True)]
        if not turns:
            return episodes
        free += [table for table, turn in turns if turn.done]
        running = [(table, turn) for table, turn in turns if not turn.done]
