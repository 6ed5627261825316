"""How a language model plays at the information sets of a game tree, from its answers.

    survey = Survey(tree=flat_tree(game), model=model, prompting=Prompting(game=game), lettered=True)
    await survey.ask(AnswerFile(path), parallel=4)
    nash_conv(tree, tree.strategy(survey.chances(answers)))

A survey asks in one of two ways. *Lettered*: every legal action has a letter, and the log-probabilities of the first
token of the answer are the probabilities of the actions; one request for each set. *As in play*: the model answers as
an `LLMAgent` does, several times at each set. What is no legal action counts as the game's safe action, as in play.
"""

import asyncio
import math
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Self

import msgspec
import numpy as np

from ...envs.core.turn_state import ActionResult, TurnState
from ...wrappers.agents.language_model import MOST_TOKENS, Fault, Model, ModelCall, ModelError
from ...wrappers.agents.llm import LLMAgent
from ...wrappers.agents.prompt import Chat, Prompting, decisions_only
from ..evaluation.exact import Floats, Tree

SAMPLES = 20
"""Answers at each information set, where there are no log-probabilities."""
FAILURES = 5
"""Requests in a row that may fail beside those that are under way; then the endpoint is asked no more."""
LETTERS = ascii_uppercase[:MOST_TOKENS]
"""The letters of choices: as many as an endpoint gives log-probabilities for."""

Tick = Callable[[int], None]
"""Called with the number of requests just answered."""


class Answer(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=True):
    """An answer of a model, as a file keeps it.

    Attributes:
        question: the digest of the model, its settings and the conversation.
        likely: the probability of each action index; what is left to 1 is no legal action. Of a sampled answer it is 1
            for the action, or empty.
        certain: whether these are the model's probabilities; if not, the answer is one sample.
        rounded: whether the action lies between those of the tree and counts as the nearest one.
        faults: what was wrong with the answer, and with those before it that a further request corrected.
        input_size, output_size: numbers of tokens.
        seconds: from the request to the end of the answer.
    """

    question: str
    likely: dict[int, float] = {}
    certain: bool = False
    rounded: bool = False
    faults: list[Fault] = []
    input_size: int = 0
    output_size: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Raise ValueError if `likely` are no probabilities."""
        if not all(share >= 0 for share in self.likely.values()) or not sum(self.likely.values()) < 1 + 1e-6:
            raise ValueError(f"likely={self.likely}: need probabilities")


class AnswerFile:
    """The answers of models, kept in a file of JSON lines: each is written when it comes.

    Attributes:
        path: the file.
        unread: number of lines that are no answers, such as the last one after a crash.

    Raises:
        ValueError: if the file has lines, and none is an answer.
        OSError: if it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.unread = path, 0
        self._answers: dict[str, list[Answer]] = defaultdict(list)
        data = path.read_bytes() if path.exists() else b""
        for line in data.splitlines():
            try:
                self._keep(msgspec.json.decode(line, type=Answer))
            except (ValueError, RecursionError):
                self.unread += 1
        if self.unread and not self._answers:
            raise ValueError(f"{path} holds no answers of a model: name another file")
        self._file = path.open("ab")
        if data and not data.endswith(b"\n"):
            self._file.write(b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __getitem__(self, question: str) -> Sequence[Answer]:
        """Return all answers to a question."""
        return self._answers.get(question, [])

    def add(self, answer: Answer) -> None:
        """Keep an answer, and write it to the file."""
        self._keep(answer)
        self._file.write(msgspec.json.encode(answer) + b"\n")
        self._file.flush()

    def _keep(self, answer: Answer) -> None:
        self._answers[answer.question].append(answer)


@dataclass(frozen=True)
class Question:
    """What a model is asked at an information set.

    Attributes:
        id: the digest of the model, its settings and the conversation.
        state: the TurnState as it is shown to the model.
        chat: the conversation.
        past: the turns before it in the conversation, and their answers.
        texts: the answer that means each legal action index.
    """

    id: str
    state: TurnState
    chat: Chat
    past: Chat
    texts: Mapping[int, str]


@dataclass(frozen=True, kw_only=True)
class Survey:
    """A model is asked at the information sets of a tree.

    Attributes:
        tree: the game.
        model: the model.
        prompting: how it is asked.
        lettered: whether the legal actions have letters (see the module).
        samples: number of answers at each set without log-probabilities.
        most: number of sets that are asked, the earliest ones of the game; None: all.
    """

    tree: Tree
    model: Model
    prompting: Prompting
    lettered: bool
    samples: int = SAMPLES
    most: int | None = None

    @cached_property
    def questions(self) -> Sequence[Question]:
        """What is asked, by information set."""
        questions: list[Question] = []
        for number, parent in enumerate(self.tree.parent[: self.most].tolist()):
            past: Chat = ()
            if parent >= self.tree.game.seats:
                before = questions[int(np.searchsorted(self.tree.first, parent, side="right")) - 1]
                answer = {"role": "assistant", "content": before.texts[int(self.tree.action[parent])]}
                past = [*before.past, before.chat[-1], answer]
            questions.append(self._question(number, past))
        return questions

    def _question(self, number: int, past: Chat) -> Question:
        tree, skin = self.tree, self.prompting.disguise
        table, game = tree.tables[number], tree.game
        state = self.prompting.shown(decisions_only(game.turn_state(table, int(tree.seat[number]))))
        chat, legal = self._asking.chat(state, past), np.flatnonzero(tree.masks[number]).tolist()
        actions = [game.view.encode(table, index).action for index in legal]
        shown = actions if skin is None else [skin.disguised(action) for action in actions]
        texts = [msgspec.json.encode(action).decode() for action in shown]
        if self.lettered:
            choices = [f"{letter}: {text}" for letter, text in zip(LETTERS, texts, strict=False)]
            words = "\n".join([chat[-1]["content"], "Your choices:", *choices, self._asking.prompts.answer])
            chat, texts = [*chat[:-1], {"role": "user", "content": words}], list(LETTERS[: len(texts)])
        asked = [*self._settings, [dict(message) for message in chat]]
        digest = sha256(msgspec.json.encode(asked)).hexdigest()[:32]
        return Question(digest, state, chat, past, dict(zip(legal, texts, strict=True)))

    @cached_property
    def _asking(self) -> Prompting:
        prompts = self.prompting.prompts
        asked = msgspec.structs.replace(prompts, answer=prompts.letter) if self.lettered else prompts
        return replace(self.prompting, prompts=asked)

    @cached_property
    def _settings(self) -> Sequence[Any]:
        model = self.model
        where = model.base_url or os.environ.get("OPENAI_BASE_URL")
        more = ["letters"] if self.lettered else [model.max_tokens, model.attempts]
        return [model.name, where, model.temperature, *more]

    @cached_property
    def _agent(self) -> LLMAgent:
        return LLMAgent(self.model, None, prompting=self.prompting, talks=False)

    # Asking.

    async def ask(self, answers: AnswerFile, parallel: int = 1, progress: Tick = lambda count: None) -> None:
        """Ask what is missing, and keep each answer.

        Args:
            answers: the answers so far.
            parallel: number of requests at the same time.
            progress: called with the number of information sets just completed.

        Raises:
            ModelError: if the endpoint fails, or gives no answer in time, again and again.
        """
        asked = _Asked(self, answers, FAILURES + parallel, progress)
        while todo := self.missing(answers):
            asked.sets = iter(todo)
            await asyncio.gather(*(asked.work() for _ in range(parallel)))
            if asked.failures >= asked.most:
                raise ModelError(asked.problem)

    def missing(self, answers: AnswerFile) -> list[int]:
        """Return the information sets to ask next, each as often as it is to be asked."""
        todo = []
        for number in {question.id: number for number, question in enumerate(self.questions)}.values():
            given = self._given_at(number, answers)
            if not self.is_answered(number, answers):
                # Where log-probabilities may come, one answer can be all that is needed.
                todo += [number] * (1 if self.lettered and not given else self.samples - len(given))
        return todo

    def is_answered(self, number: int, answers: AnswerFile) -> bool:
        """Tell whether nothing is missing at an information set."""
        given = self._given_at(number, answers)
        return bool(given) and (given[0].certain or len(given) >= self.samples)

    async def answer(self, number: int) -> Answer:
        """Ask once at an information set.

        Raises:
            ModelError: if the endpoint fails, or gives no answer in time.
        """
        question, call = self.questions[number], ModelCall()
        likely: dict[int, float] = {}
        certain = rounded = False
        try:
            if self.lettered:
                text, tokens = await self.model.first_token(question.chat, call)
                certain = tokens is not None
                shares = {_letter(text): 1.0} if tokens is None else _shares(tokens, self.model.temperature)
                likely = {index: shares[text] for index, text in question.texts.items() if text in shares}
                if not certain and not likely:
                    call.faults.append("illegal" if text.strip() else "unparsable")
            else:
                likely, rounded = await self._played(number, question, call)
        except ModelError as error:
            if error.fault in ("failed", "late"):
                raise
        return Answer(
            question=question.id,
            likely=likely,
            certain=certain,
            rounded=rounded,
            faults=call.faults,
            input_size=call.input_size or 0,
            output_size=call.output_size or 0,
            seconds=call.seconds,
        )

    async def _played(self, number: int, question: Question, call: ModelCall) -> tuple[dict[int, float], bool]:
        """Return the action of an answer as in play, and whether it is the nearest one of the tree."""
        table, game = self.tree.tables[number], self.tree.game
        response = await self._agent.ask(question.state, question.chat, call)
        move = game.view.parse(table, response.action)
        index = -1 if isinstance(move, ActionResult) else game.view.nearest(table, move)
        if index not in question.texts:
            call.faults.append("illegal")
            return {}, False
        return {index: 1.0}, game.rules.decode(table, index) != move

    # Results.

    def given(self, answers: AnswerFile) -> list[Sequence[Answer]]:
        """Return the answers that count, by information set."""
        return [self._given_at(number, answers)[: self.samples] for number in range(len(self.questions))]

    def _given_at(self, number: int, answers: AnswerFile) -> Sequence[Answer]:
        """Return the answers at an information set: its probabilities, if a model gave them, else the samples.

        One with an action that is not legal, as in a damaged file, does not count.
        """
        mask = self.tree.masks[number]
        fitting = [
            each
            for each in answers[self.questions[number].id]
            if all(0 <= action < len(mask) and mask[action] for action in each.likely)
        ]
        return next(([each] for each in fitting if each.certain), fitting)

    def chances(self, answers: AnswerFile, half: int | None = None) -> Floats:
        """Return the model's probabilities: float64[I, A]. At sets that are not asked all legal actions are equal.

        Args:
            answers: its answers, at all sets that are asked.
            half: 0 or 1: by every second sample alone, from this one on; None: by all.
        """
        chances: Floats = self.tree.masks / self.tree.masks.sum(axis=1, keepdims=True)
        for number, given in enumerate(self.given(answers)):
            counted = given if half is None or len(given) == 1 else given[half::2]
            row = np.zeros(self.tree.masks.shape[1])
            for answer in counted:
                row[list(answer.likely)] += list(answer.likely.values())
            row /= len(counted)
            row[self.tree.game.view.safe(self.tree.tables[number])] += max(0.0, 1 - row.sum())
            chances[number] = row / row.sum()
        return chances


@dataclass
class _Asked:
    """Requests to be sent: the information sets, and the results of earlier requests."""

    survey: Survey
    answers: AnswerFile
    most: int
    progress: Tick
    sets: Iterator[int] = field(default_factory=lambda: iter(()))
    failures: int = 0
    problem: str = ""

    async def work(self) -> None:
        """Ask one question after the other, until the endpoint has failed too often."""
        for number in self.sets:
            if self.failures >= self.most:
                return
            try:
                self.answers.add(await self.survey.answer(number))
            except ModelError as error:
                self.failures, self.problem = self.failures + 1, str(error)
            else:
                self.failures = 0
                self.progress(self.survey.is_answered(number, self.answers))


async def begun(survey: Survey, samples: int | None, answers: AnswerFile) -> Survey:
    """Return a survey in the way that the endpoint allows, with `samples` answers at each set.

    None: lettered, where the endpoint gives log-probabilities; it is asked once, unless there are answers. Else
    `SAMPLES` answers as in play; one, if the temperature is 0.

    Raises:
        ModelError: if the endpoint fails.
    """
    usual = SAMPLES if survey.model.temperature else 1
    played = replace(survey, lettered=False, samples=samples or usual)
    lettered = replace(survey, lettered=True, samples=usual)
    fits = survey.tree.masks.sum(axis=1).max() <= len(LETTERS) and survey.prompting.legal
    if samples is not None or not fits:
        return played
    if any(given and given[0].certain and given[0].likely for given in lettered.given(answers)):
        return lettered
    if any(played.given(answers)):
        return played
    first = await lettered.answer(0)
    answers.add(first)
    return lettered if first.certain and first.likely else played  # a model that thinks first writes no letter


def _letter(token: str) -> str:
    return token.strip(" \t\r\n\"'`*().:")


def _shares(tokens: Sequence[tuple[str, float]], temperature: float) -> dict[str, float]:
    """Return the probability of each letter at a temperature, from log-probabilities at temperature 1.

    Tokens that are not listed count as one: below temperature 1 that is at most too likely.
    """
    rest = max(0.0, 1 - sum(math.exp(logarithm) for _, logarithm in tokens))
    listed = [*tokens, ("", math.log(rest) if rest > 1e-9 else -math.inf)]
    most = max(logarithm for _, logarithm in listed)
    if temperature == 0:
        return {_letter(next(token for token, logarithm in listed if logarithm == most)): 1.0}
    weights = [math.exp((logarithm - most) / temperature) for _, logarithm in listed]
    shares: dict[str, float] = defaultdict(float)
    for (token, _), weight in zip(listed, weights, strict=True):
        shares[_letter(token)] += weight / sum(weights)
    return dict(shares)
