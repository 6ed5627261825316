"""Games as multi-turn text episodes, for training language models (with verifiers, TRL, OpenRLHF and the like)::

    game = TextGame("kuhn")
    turn = game.reset(seed=1)
    while not turn.done:
        turn = game.step(model(turn.prompt))  # the text of a model's answer
    turn.returns  # of every seat

A training library brings the model and its update. This module brings the prompt, the legal answers, the parser, and
the rewards of every seat. One model can play all seats, or a model one seat and another one the others.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from ..envs import Action, Game, Match, TurnState
from ..envs.core.registry import as_game
from ..envs.core.rng import streams
from .agents.model_calls import Fault
from .agents.policy import PolicyAgent
from .agents.prompt import Chat, Prompting
from .policies.loading import make_policy


@dataclass(frozen=True)
class TextTurn:
    """What a model is asked next, and what the last answer brought.

    Attributes:
        agent: the agent that has the turn; after the end, the agent that acted last.
        prompt: the conversation to answer: a list of ``{"role": …, "content": …}``. Empty after the end.
        answers: the text of every legal action that has an action index; other payloads may be legal too.
        rewards: the rewards of the last answer by agent, in `Payoffs.unit`, with the penalties of refused answers.
        returns: the sums of these rewards in the episode by agent.
        done: whether the episode is over.
        refused: why the last answer was refused; None: it was played.
        info: ``{"turn_state": TurnState of `agent`, "replaced": whether the safe action was played in its place}``.
    """

    agent: str
    prompt: Chat
    answers: tuple[str, ...]
    rewards: Mapping[str, float]
    returns: Mapping[str, float]
    done: bool
    refused: str | None
    info: Mapping[str, Any]


def parse(text: str) -> Action:
    """Return the action in a model's answer.

    It is the last JSON object in the text that has an ``action_type``, so a model may think aloud before it. A text
    that is one word is an action type without a payload.

    Raises:
        ValueError: if there is no action in the text.
    """
    decoder, answer = json.JSONDecoder(), None
    start = text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict) and isinstance(value.get("action_type"), str):
            answer = value
        start = text.find("{", end)
    words = text.split()
    if answer is None and len(words) == 1 and words[0].isidentifier():
        answer = {"action_type": words[0]}
    if answer is None:
        raise ValueError("there is no JSON object with an action_type in the answer")
    payload = answer.get("payload") or {}
    if not isinstance(payload, dict):
        raise ValueError("payload is not a JSON object")
    return Action(answer["action_type"], payload)


class TextGame:
    """One table for language models: `reset` and `step` return a `TextTurn`.

    A refused answer (no action in it, or an illegal one) costs its agent the penalty. The agent is asked again with the
    reason, `retries` times in a turn; then the game's safe action is played for it.

    Args:
        game: the game with its options, or its name.
        retries: number of further requests to an agent in a turn.
        penalty: the reward of a refused answer, in `Payoffs.unit`.
        prompting: how a model is asked: rules, prompts, the form of the state. None: with the rules in words.
        opponents: who plays the seats that no model plays, by agent: a bot, a run, a policy file, or ``zoo:…``. They
            are seeded with the episode. The rewards of their actions are in the next turn that is returned.
        options: the game's, where it is named.

    Attributes:
        match: the `Match`.
        faults: the refused answers of every agent by fault, ``"unparsable"`` or ``"illegal"``, over all episodes.

    Raises:
        UnexpectedOption: for an unknown option. It is a TypeError and a ValueError.
        ValueError: for an unknown game or opponent, no seat for a model, or negative retries.
    """

    def __init__(
        self,
        game: str | Game,
        *,
        retries: int = 1,
        penalty: float = -0.1,
        prompting: Prompting | None = None,
        opponents: Mapping[str, str] = MappingProxyType({}),
        **options: Any,
    ) -> None:
        if retries < 0:
            raise ValueError(f"retries={retries}: it must be 0 or more")
        self.game = as_game(game, options)
        self.match = Match(self.game)
        self.retries, self.penalty = retries, penalty
        self.prompting = prompting or Prompting(game=self.game)
        if not set(opponents) < set(self.game.agents):
            raise ValueError(f"opponents={dict(opponents)}: name some of {', '.join(self.game.agents)}, not all")
        self.faults: dict[str, Counter[Fault]] = {agent: Counter() for agent in self.game.agents}
        self._opponents = dict(opponents)
        self._players = self._seated(None)
        self._past: dict[str, list[Mapping[str, str]]] = {}  # the turns of every agent in the episode, and its answers
        self._asked: Mapping[str, str] = {}
        self._returns = dict.fromkeys(self.game.agents, 0.0)
        self._refusals: list[tuple[str, str]] = []  # of the current turn: the answer, and why it was refused

    def reset(self, seed: int | None = None) -> TextTurn:
        """Begin an episode; see `Match.reset`."""
        self.match.reset(seed)
        self._players = self._seated(seed)
        self._past = {agent: [] for agent in self.game.agents}
        self._returns = dict.fromkeys(self.game.agents, 0.0)
        self._refusals = []
        agent, rewards = self._acting(), dict.fromkeys(self.game.agents, 0.0)
        self._play_opponents(rewards)
        return self._turn(agent if self.match.done else self._acting(), rewards, None, replaced=False)

    def _seated(self, seed: int | None) -> dict[str, PolicyAgent]:
        """Return the opponents, each with a random stream of its own."""
        seeds = [None] * len(self._opponents) if seed is None else streams(seed, len(self._opponents)).tolist()
        return {
            agent: PolicyAgent(self.game, make_policy(spec, self.game, seed=one))
            for (agent, spec), one in zip(self._opponents.items(), seeds, strict=True)
        }

    def _play_opponents(self, rewards: dict[str, float]) -> None:
        """Play until a model has the turn, or to the end; add what all seats gain to the rewards and the returns."""
        match = self.match
        while not match.done and self._acting() in self._players:
            agent = self._acting()
            result = match.submit(agent, self._players[agent].respond(match.turn_state(agent)))
            if not result.ok:
                raise RuntimeError(f"{self._opponents[agent]} plays an illegal action: {result.error_detail}")
            self._gain(rewards)
        for name, gain in rewards.items():
            self._returns[name] += gain

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
        agent, before, refused = self._acting(), match.decisions, None
        fault: Fault = "unparsable"
        rewards = dict.fromkeys(self.game.agents, 0.0)
        try:
            action = parse(text)
            fault = "illegal"
            result = match.submit(agent, self.prompting.action(action))
            refused = None if result.ok else f"{result.error}: {result.error_detail}"
        except ValueError as error:
            refused = str(error)
        replaced = False
        if refused is not None:
            rewards[agent] += self.penalty
            self.faults[agent][fault] += 1
            self._refusals.append((text, refused))
            replaced = len(self._refusals) > self.retries
            if replaced:
                match.play(self.game.view.safe(match.table))
        if match.decisions != before:
            self._past[agent] += [self._asked, {"role": "assistant", "content": text}]
            self._refusals = []
            self._gain(rewards)
        self._play_opponents(rewards)
        return self._turn(agent if match.done else self._acting(), rewards, refused, replaced=replaced)

    def _acting(self) -> str:
        return self.game.agents[self.match.turn]

    def _turn(self, agent: str, rewards: Mapping[str, float], refused: str | None, *, replaced: bool) -> TextTurn:
        match, done = self.match, bool(self.match.done)
        state = match.turn_state(agent)
        prompt: list[Mapping[str, str]] = []
        if not done:
            prompt += self.prompting.chat(self.prompting.shown(state), self._past[agent])
            self._asked = prompt[-1]
        for text, why in self._refusals:
            prompt += self.prompting.again(text, why)
        answers = () if done else self._answers()
        info = {"turn_state": state, "replaced": replaced}
        return TextTurn(agent, prompt, answers, rewards, dict(self._returns), done, refused, info)

    def _answers(self) -> tuple[str, ...]:
        match, encode = self.match, self.game.view.encode
        actions = [encode(match.table, int(index)).action for index in np.flatnonzero(match.batch.masks[0])]
        if (skin := self.prompting.disguise) is not None:
            actions = [skin.disguised(action) for action in actions]
        return tuple(dict.fromkeys(msgspec.json.encode(action).decode() for action in actions))


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
        total: the seat's return, also if it was never asked.
    """

    agent: str
    exchanges: list[Exchange] = field(default_factory=list)
    total: float = 0.0


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
    seats = {agent: Transcript(agent) for agent in agents}
    playing = dict(zip(agents, each, strict=True))
    turn = game.reset(seed)
    for agent, gain in turn.rewards.items():
        seats[agent].total += gain
    while not turn.done:
        answer = playing[turn.agent](turn)
        seats[turn.agent].exchanges.append(Exchange(turn.prompt, answer, 0.0, turn.info["turn_state"]))
        turn = game.step(answer)
        for agent, gain in turn.rewards.items():
            seats[agent].total += gain
            if seats[agent].exchanges:
                seats[agent].exchanges[-1].reward += gain
    return seats
