"""Language models at any endpoint with OpenAI's chat completions API (the extra `llm`), and what their calls cost.

The key is read from the environment (``OPENAI_API_KEY``) and never written. The default address is also read from the
environment (``OPENAI_BASE_URL``). `LLMAgent` is a language model as an agent, and `AgentsAsPolicy` has agents as one
policy, for evaluations.
"""

import asyncio
import contextlib
import json
import logging
import math
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs import Action, AgentResponse, AllowedAction, Game, TurnState
from ...envs.core import turn_state as ts
from ...envs.core.installed import install
from ...envs.core.options import AT_LEAST_0, AT_LEAST_1, Checked, Seconds, number
from .answers import Spoken, last_action, spoken
from .base import Agent
from .prompt import Chat, Prompting, decisions_only
from .schemas import violation

Fault = Literal["illegal", "unparsable", "unfinished", "late", "refused", "failed"]
"""What is wrong with an answer: it is not legal; there is no choice in it; it ended at the most tokens, or has only a
thought; there is none in time; the model refuses; the endpoint fails."""

COLUMNS = {
    "decisions": "turns for which the model was asked",
    "replaced": "turns without a usable answer; the game's safe action was played",
    "illegal": "answers that are no legal action, those that were corrected included",
    "unparsable": "answers with no choice in them, or empty, those that were corrected included",
    "unfinished": "answers that ended at --max-tokens, or have only a thought, those that were corrected included",
    "late": "answers that came after the time for one (20 s without a clock, or --llm-timeout)",
    "refused": "answers in which the model declines",
    "failed": "requests that the endpoint refused, as with HTTP 401 or 500, or did not answer",
    "retries": "requests that were sent again after an error or a lost connection, not for a usable answer",
    "tokens in": "tokens sent, as the endpoint counts them",
    "tokens out": "tokens received",
    "s/decision": "mean seconds for a turn",
    "cost": "of all tokens, in the currency of the given prices",
}
"""What the columns of `columns` mean."""


class ModelError(Exception):
    """The model gave no usable answer: it was not reached, was late, refused, or wrote no choice.

    Attributes:
        fault: which of these it was.
    """

    def __init__(self, text: str, fault: Fault = "failed") -> None:
        super().__init__(text)
        self.fault: Fault = fault


@dataclass
class ModelCall:
    """Statistics of one answer of a model, for logs.

    Attributes:
        prompt: the last conversation sent.
        text: the last text of the model, its thoughts included.
        seconds: the time from the request to the end of the answer.
        tries: number of answers requested.
        retries: number of requests sent again after an error or a lost connection.
        input_size, output_size: numbers of tokens, as the endpoint counts them; None if it does not. (Match logs leave
            out fields with "token" in their names.)
        problem: why the answer cannot be used; None if it can be used.
        faults: what was wrong with answers, each with its fault, the corrected ones included.
    """

    prompt: Chat = ()
    text: str = ""
    seconds: float = 0.0
    tries: int = 0
    retries: int = 0
    input_size: int | None = None
    output_size: int | None = None
    problem: str | None = None
    faults: list[Fault] = field(default_factory=list)

    def count(self, usage: Any) -> None:
        """Add the endpoint's token counts, if there are any; what is no count is ignored."""
        for name, sent in (("input_size", "prompt_tokens"), ("output_size", "completion_tokens")):
            size = getattr(usage, sent, None)
            if isinstance(size, int | float) and 0 <= size < 2**53:
                setattr(self, name, (getattr(self, name) or 0) + int(size))


@dataclass
class ModelStatistics:
    """What the calls of a model for one seat came to.

    Attributes:
        decisions: number of calls: of turns that were asked for.
        replaced: number of turns without a usable answer.
        faults: number of answers by fault, the corrected ones included.
        retries: number of requests sent again after an error or a lost connection.
        input_size, output_size: tokens sent and received, as far as the endpoint counts them.
        seconds: of all calls together.
        cost: of all tokens, in the currency of the model's prices.
    """

    decisions: int = 0
    replaced: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    retries: int = 0
    input_size: int = 0
    output_size: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def count(self, call: ModelCall, prices: tuple[float, float] = (0.0, 0.0)) -> None:
        """Add a call; `prices`: of a million tokens sent and received."""
        self.decisions += 1
        self.replaced += call.problem is not None
        self.faults.update(call.faults)
        self.retries += call.retries
        self.input_size += call.input_size or 0
        self.output_size += call.output_size or 0
        self.seconds += call.seconds
        self.cost += ((call.input_size or 0) * prices[0] + (call.output_size or 0) * prices[1]) / 1e6

    @classmethod
    def of(cls, row: Mapping[str, float]) -> Self:
        """Return the numbers that `row` returned."""
        faults = Counter[Fault]({name: int(row.get(name, 0)) for name in get_args(Fault)})
        whole = {name: int(row[name]) for name in ("decisions", "replaced", "retries")}
        sizes = {"input_size": int(row["tokens in"]), "output_size": int(row["tokens out"])}
        return cls(**whole, **sizes, faults=faults, seconds=row["s/decision"] * row["decisions"], cost=row["cost"])

    def line(self) -> str:
        """Return the numbers that are not 0 in one line, such as ``40 decisions, 2 illegal, 0.8 s/decision``."""
        return ", ".join(f"{number:,.10g} {name}" for name, number in self.row().items() if number) or "0 decisions"

    def row(self) -> dict[str, float]:
        """Return the numbers by name, for tables and files."""
        faults = (self.faults[name] for name in get_args(Fault))
        sizes = self.retries, self.input_size, self.output_size
        means = round(self.seconds / max(self.decisions, 1), 3), round(self.cost, 6)
        return dict(zip(COLUMNS, (self.decisions, self.replaced, *faults, *sizes, *means), strict=True))


def object_schema(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """Return the JSON schema of an object with these properties alone."""
    parts = {"properties": properties, "required": list(required), "additionalProperties": False}
    return {"type": "object", **parts}


def columns(rows: Mapping[str, Mapping[str, float]]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows of a table of language models, from the rows of their statistics by seat or name."""
    heads = list(next(iter(rows.values()), {}))
    return ["answers of", *heads], [[name, *(f"{row[head]:,.10g}" for head in heads)] for name, row in rows.items()]


if TYPE_CHECKING:
    from openai import AsyncOpenAI


logger = logging.getLogger(__name__)


OPENAI = "https://api.openai.com/v1"
"""The endpoint of the library `openai` where none is named."""
MOST_TOKENS = 20
"""Most tokens whose log-probabilities an endpoint gives."""
MOST_BYTES = 2**22
"""Most bytes of a reply, and most characters of a stream; thoughts of a model are among them."""
MOST_STREAMED = 2**24
"""Most bytes of a stream: of a token it has some hundreds."""
REFUSED = "refused by the endpoint"


@dataclass(frozen=True, kw_only=True)
class Model(Checked):
    """A model at an endpoint.

    Attributes:
        name: the model's name at the endpoint.
        base_url: the endpoint's URL, such as ``http://127.0.0.1:8080/v1``; None: the environment's, else OpenAI's.
        temperature: the sampling temperature, 0 to 2.
        max_tokens: the most tokens of one answer.
        timeout: seconds for one answer, retries included.
        retries: number of retries after 408, 409, 429, 5xx or a lost connection, with growing pauses.
        attempts: number of requests until an answer is JSON that fits its schema.
        prices: of a million tokens sent, and of a million received, in any currency.
    """

    name: str
    base_url: str | None = None
    temperature: Annotated[float, partial(number, low=0, high=2)] = 0.7
    max_tokens: Annotated[int, AT_LEAST_1] = 400
    timeout: Seconds = 20.0
    retries: Annotated[int, AT_LEAST_0] = 2
    attempts: Annotated[int, AT_LEAST_1] = 2
    prices: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: naming a value that is out of range.
        """
        super().__post_init__()
        if not self.name:
            raise ValueError("name is empty: give the model's name at the endpoint")
        if not all(0 <= price < math.inf for price in self.prices):
            raise ValueError(f"prices={self.prices}: need numbers from 0 up")
        url = self.base_url or os.environ.get("OPENAI_BASE_URL")
        if url and not re.fullmatch(r"(?i)https?://[^/?\s][^?\s]*", url):
            safe_url = without_secrets(f"://{url}")[3:]  # it may have no scheme
            raise ValueError(f"--llm-url {safe_url}: give http://… or https://…, without a query")

    @property
    def where(self) -> str:
        """The endpoint's URL, without a password."""
        return without_secrets(self.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)

    async def stream(
        self, chat: Chat, call: ModelCall | None = None, *, held: bool = False
    ) -> AsyncGenerator[str, None]:
        """Return the model's text without its thoughts, chunk by chunk.

        Args:
            chat: the conversation.
            call: the statistics, which are filled in.
            held: whether nothing is returned before the end, as a thought may have no beginning (see `Spoken`).

        Raises:
            ModelError: if there is no text, or the stream breaks off.
        """
        said, call = False, call or ModelCall()
        call.prompt, call.tries = chat, 1
        reader, cut, thought = Spoken(), False, False
        async with _as_model_error(self, call):
            client = await self._client()
            # The timeout covers the wait for the model, not the time of the consumer.
            end = asyncio.get_running_loop().time() + self.timeout
            async with asyncio.timeout_at(end):
                answer = await _stream(client, call, **self._settings(chat))
            async with answer:
                while True:
                    async with asyncio.timeout_at(end):
                        part = await anext(answer, None)
                    if part is None:
                        break
                    call.count(getattr(part, "usage", None))
                    for choice in part.choices[:1]:
                        if getattr(choice.delta, "refusal", None):
                            raise ModelError(f"{self.name} refuses: {choice.delta.refusal[:200]}", "refused")
                        cut = cut or choice.finish_reason == "length"
                        thought = thought or _thinks(choice.delta)
                        if choice.delta.content:
                            call.text += choice.delta.content
                            if len(call.text) > MOST_BYTES:
                                raise ModelError(f"{self.name} writes over {MOST_BYTES:,} characters", "unparsable")
                            new = reader.take(choice.delta.content)
                            said = said or bool(new.strip())
                            if new and not held:
                                yield new
            new = reader.take("", last=True)
            said = bool(reader.text.strip()) and not (held and cut)
            if cut and said:
                call.faults.append("unfinished")
                logger.warning("%s: %s", self.name, self._ended())
            elif cut or (not said and (thought or call.text.strip())):
                raise ModelError(f"{self.name}: {self._ended() if cut else self._only_thought()}", "unfinished")
            if not said:
                raise ModelError(f"{self.name} gave an empty answer", "unparsable")
            if held or new:
                yield reader.text if held else new

    def _ended(self) -> str:
        return f"its answer ended at {self.max_tokens} tokens: allow more (--max-tokens)"

    def _only_thought(self) -> str:
        return f"its answer has only a thought: allow more than {self.max_tokens} tokens (--max-tokens)"

    async def choose(
        self,
        chat: Chat,
        schema: Mapping[str, Any],
        read: Callable[[str], Mapping[str, Any]],
        fits: Callable[[Any], None] = lambda answer: None,
        call: ModelCall | None = None,
    ) -> Any:
        """Return the result of `read` for an answer.

        Args:
            chat: the conversation.
            schema: the JSON schema of the answer. The endpoint is asked to constrain the model to it; if it cannot, the
                schema is a part of the prompt.
            read: returns the choice in an answer without thoughts; raises ValueError if there is none.
            fits: called with the choice; raises ValueError if it is wrong. The model is then asked again.
            call: the statistics, which are filled in.

        Raises:
            ModelError: if no answer fits.
        """
        problem, constrained, call = "", True, call or ModelCall()
        end = asyncio.get_running_loop().time() + self.timeout
        async with _as_model_error(self, call):
            client = await self._client()
            for _ in range(self.attempts):
                call.prompt, call.tries = chat, call.tries + 1
                async with asyncio.timeout_at(end):
                    try:
                        reply = await _send(client, call, **self._settings(chat, schema, constrained))
                    except library().BadRequestError:  # an endpoint that takes no schema
                        if not constrained:
                            raise
                        constrained = False
                        reply = await _send(client, call, **self._settings(chat, schema, constrained))
                text = self._text(reply, call)
                fault: Fault = "unfinished"
                try:
                    choice, said = reply.choices[0], spoken(text)
                    if getattr(choice, "finish_reason", None) == "length":
                        raise ValueError(self._ended())
                    if not said.strip() and (text.strip() or _thinks(choice.message)):
                        raise ValueError(self._only_thought())
                    fault = "unparsable"
                    answer = read(said)
                    fault = "illegal"
                    fits(answer)
                    return answer
                except ValueError as error:
                    problem = str(error)
                    call.faults.append(fault)
                    again = f"That will not do: {problem[:300]}. Answer with nothing but the JSON object."
                    quoted = {"role": "assistant", "content": said[:500] or "…"}
                    chat = [*chat, quoted, {"role": "user", "content": again}]
            raise ModelError(f"{self.name} gave no answer that fits: {problem}", call.faults.pop())

    async def first_token(self, chat: Chat, call: ModelCall) -> tuple[str, list[tuple[str, float]] | None]:
        """Return the first token of an answer, and the likeliest first tokens with their log-probabilities.

        They are None if the endpoint gives none, or no logarithms of probabilities. `call` is filled in.

        Raises:
            ModelError: if there is no answer.
        """
        call.prompt, call.tries = chat, 1
        settings = self._settings(chat) | {"max_tokens": 1}
        async with _as_model_error(self, call), asyncio.timeout(self.timeout):
            client = await self._client()
            try:
                reply = await _send(client, call, logprobs=True, top_logprobs=MOST_TOKENS, **settings)
            except library().BadRequestError:
                reply = await _send(client, call, **settings)
            text = self._text(reply, call)
        try:
            tokens = reply.choices[0].logprobs.content[0].top_logprobs
            likely = [(str(one.token), float(one.logprob)) for one in tokens]
            total = sum(math.exp(logarithm) for _, logarithm in likely)
        except (AttributeError, LookupError, TypeError, ValueError, OverflowError):
            return text, None
        return text, likely if 0 < total < 1.001 else None

    def _text(self, reply: Any, call: ModelCall) -> str:
        call.count(getattr(reply, "usage", None))
        if not reply.choices:
            raise ModelError(f"{self.name}: its answer has no choices", "unparsable")
        choice = reply.choices[0].message
        if getattr(choice, "refusal", None):
            raise ModelError(f"{self.name} refuses: {str(choice.refusal)[:200]}", "refused")
        content = choice.content
        if not isinstance(content, str | None):
            raise ModelError(f"{self.name} answers with a {type(content).__name__} in place of text", "unparsable")
        call.text = content or ""
        return call.text

    def _settings(
        self, chat: Chat, schema: Mapping[str, Any] | None = None, constrained: bool = True
    ) -> dict[str, Any]:
        """Return the settings of a request; with a schema, which the endpoint ensures if `constrained`."""
        settings: dict[str, Any] = {"model": self.name, "temperature": self.temperature, "max_tokens": self.max_tokens}
        if schema is not None and constrained:
            wanted = {"name": "answer", "schema": schema, "strict": True}
            settings["response_format"] = {"type": "json_schema", "json_schema": wanted}
        elif schema is not None:
            words = f"Answer with one JSON object and nothing else. Its JSON schema: {json.dumps(schema)}"
            chat = [*chat, {"role": "user", "content": words}]
        return {**settings, "messages": list(chat)}

    async def _client(self) -> "AsyncOpenAI":
        """Return the event loop's client for this endpoint; it keeps its connections, and closes with the loop."""
        key = os.environ.get("OPENAI_API_KEY") or "none"  # local servers need no key
        loop = asyncio.get_running_loop()
        wanted = key, self.base_url, os.environ.get("OPENAI_BASE_URL"), self.retries, self.timeout
        if (clients := _clients.get(loop)) is None:
            for old in [old for old in _clients if old.is_closed()]:
                del _clients[old]
            clients = _clients[loop] = {}
        if wanted not in clients:
            http = library().DefaultAsyncHttpxClient(follow_redirects=False, event_hooks={"response": [_limit]})
            client = library().AsyncOpenAI(
                api_key=key, base_url=self.base_url, max_retries=self.retries, timeout=self.timeout, http_client=http
            )
            held = _held(client)
            clients[wanted] = await anext(held), held
        return clients[wanted][0]


_clients: "dict[asyncio.AbstractEventLoop, dict[Any, tuple[AsyncOpenAI, AsyncGenerator[AsyncOpenAI, None]]]]" = {}


_status: ContextVar[int | None] = ContextVar("status", default=None)
"""The latest error status of this call, which the library may be waiting to ask after again."""


async def _limit(response: Any) -> None:
    """Limit what the library reads, and keeps, of a reply; close one that is an error: its status says enough."""
    _status.set(None if response.is_success else response.status_code)
    if not response.is_success:
        await response.aclose()
        return
    streams = "event-stream" in response.headers.get("Content-Type", "")
    most, read, size = MOST_STREAMED if streams else MOST_BYTES, response.aiter_bytes, 0

    async def aiter_bytes(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        nonlocal size
        async with contextlib.aclosing(read(chunk_size)) as parts:
            async for part in parts:
                size += len(part)
                if size > most:
                    raise ModelError(f"the reply has more than {most:,} bytes", "unparsable")
                yield part

    response.aiter_bytes = aiter_bytes


async def _held(client: "AsyncOpenAI") -> "AsyncGenerator[AsyncOpenAI, None]":
    """Keep a client open until the event loop ends: `asyncio.run` then closes this generator."""
    try:
        yield client
    finally:
        _clients.pop(asyncio.get_running_loop(), None)
        await client.close()


def _thinks(message: Any) -> bool:
    return any(getattr(message, name, None) for name in ("reasoning_content", "reasoning"))


def library() -> Any:
    """Return the module `openai`.

    Raises:
        ImportError: if it is not installed, with the command to install it.
    """
    try:
        import openai
    except ImportError as error:
        raise ImportError(f"language models need openai: {install('llm')}", name="openai") from error
    return openai


async def _stream(client: "AsyncOpenAI", call: ModelCall, **settings: Any) -> Any:
    """Request a stream with its token counts, and count the retries."""
    create = client.chat.completions.with_raw_response.create
    try:
        raw = await create(**settings, stream=True, stream_options={"include_usage": True})
    except library().BadRequestError:  # an endpoint that does not know the option
        raw = await create(**settings, stream=True)
    call.retries += getattr(raw, "retries_taken", 0)
    return raw.parse()


async def _send(client: "AsyncOpenAI", call: ModelCall, **settings: Any) -> Any:
    """Send a request, count its retries, and return the reply."""
    async with client.chat.completions.with_streaming_response.create(**settings) as raw:
        call.retries += getattr(raw, "retries_taken", 0)
        body = await raw.read()
    return library().types.chat.ChatCompletion.construct(**msgspec.json.decode(body, type=dict[str, Any]))


@contextlib.asynccontextmanager
async def _as_model_error(model: Model, call: ModelCall) -> AsyncIterator[None]:
    """Convert errors of a model to `ModelError`, without the text of the request, which may contain a key.

    It writes the duration and the problem into `call`.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    _status.set(None)
    try:
        try:
            yield
        except (ModelError, ImportError):
            raise
        except TimeoutError:
            if (status := _status.get()) is not None:
                raise ModelError(f"{model.name} at {model.where}: {REFUSED}: HTTP {status}", "failed") from None
            limit = f"{float(f'{model.timeout:.2g}'):g} s (--llm-timeout)"
            raise ModelError(f"{model.name} gave no answer within {limit}", "late") from None
        except Exception as error:  # errors of the library, of its dependencies, or of an unusual endpoint
            kinds = {
                library().APIConnectionError: "it cannot be reached: start its server, or give its URL (--llm-url)",
                library().APIError: "it answers with an error",
                ValueError: "it answers with no JSON object",
                (AttributeError, LookupError, TypeError): "its answer has no choices",
            }
            words = next((words for kind, words in kinds.items() if isinstance(error, kind)), "the connection failed")
            if (status := getattr(error, "status_code", None)) is not None:
                words = f"{REFUSED}: HTTP {status}"
            if (elsewhere := getattr(getattr(error, "response", None), "next_request", None)) is not None:
                words = f"it sends us to {without_secrets(str(elsewhere.url))[:200]}: give that as its URL (--llm-url)"
            fault: Fault = "late" if isinstance(error, library().APITimeoutError) else "failed"
            raise ModelError(f"{model.name} at {model.where}: {words}", fault) from None
    except ModelError as error:
        call.problem = str(error)
        call.faults.append(error.fault)
        raise
    except asyncio.CancelledError:
        call.problem = "given up"
        call.faults.append("late")
        raise
    finally:
        call.seconds = round(clock() - began, 3)


def without_secrets(text: str) -> str:
    """Return a text; of a URL, neither the password nor the query."""
    return re.sub(r"\?.*", "?…", re.sub(r"//[^/@]+@", "//…@", text)) if "://" in text else text


WAIT_SHARE = 0.9
"""The share of the time for an answer after which the model is waited for no longer."""

Finished = TypeVar("Finished")


def finished(coroutine: Coroutine[Any, Any, Finished]) -> Finished:
    """Run a coroutine to its end; in another thread if this one has a running event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def statistics_of(agents: Mapping[str, Any]) -> dict[str, ModelStatistics]:
    """Return the statistics of the language models among `agents`, by name."""
    return {name: one.statistics for name, one in agents.items() if isinstance(one, LLMAgent)}


class LLMAgent:
    """A language model that answers TurnStates of any game.

    Args:
        model: the language model.
        fallback: the agent that answers if the model fails, such as a bot's `PolicyAgent`; None: the error is raised.
        prompting: how it is asked: rules in words, prompts, the form of the state.
        talks: whether the model may send a message with its action. Set it to False in games that have actions for
            messages.

    Attributes:
        replaced: number of turns that `fallback` answered.
        statistics: illegal, unparsable, late and refused answers, tokens, time and cost.
        on_turn: called with every state before it is answered; None: no call.
        on_call: called with the statistics of every answer; None: no call.

    Raises:
        ImportError: if the extra `llm` is not installed.
    """

    def __init__(
        self, model: Model, fallback: Agent | None, *, prompting: Prompting | None = None, talks: bool = True
    ) -> None:
        library()
        self.model = model
        self.fallback = fallback
        self.replaced = 0
        self.statistics = ModelStatistics()
        self.prompting = prompting or Prompting()
        self.on_turn: Callable[[TurnState], None] | None = None
        self.on_call: Callable[[ModelCall], None] | None = None
        self._talks = talks
        self._seconds: float | None = None
        self._match = ""
        self._past: list[Mapping[str, str]] = []  # the turns of this match, and the answers

    def begin(self) -> None:
        """Forget the turns of the match before. A TurnState of another match does the same."""
        self._past = []

    @property
    def game(self) -> Game | None:
        """The game whose rules the model is told; None: none."""
        return self.prompting.game

    def set_seconds_left(self, seconds: float | None) -> None:
        """Wait for the next answer at most `WAIT_SHARE` of the seconds left; None: only the model's timeout counts."""
        self._seconds = None if seconds is None else max(WAIT_SHARE * seconds, 0.001)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn. It blocks until the model has answered, also inside a running event loop (of a notebook).

        A connection is used for one call; `answer` keeps connections while its event loop runs.

        Raises:
            ModelError: if the model fails, and there is no fallback.
        """
        try:
            return finished(self.answer(state))
        except ModelError as error:
            if self.fallback is None:
                raise
            self.replaced += 1
            logger.warning("match %s: the fallback answers: %s", state.match_id, error)
            return self.fallback.respond(state)

    async def answer(self, state: TurnState) -> AgentResponse:
        """Answer a turn.

        Raises:
            ModelError: if the model fails.
        """
        if self.on_turn is not None:
            self.on_turn(state)
        state = self.prompting.prepared(state)
        if state.match_id != self._match:
            self._match = state.match_id
            self.begin()
        chat, call = self.prompting.chat(state, self._past), ModelCall()
        try:
            response = await self.ask(state, chat, call)
        finally:
            self.statistics.count(call, self.model.prices)
            if self.on_call is not None:
                self.on_call(call)
        if self.prompting.conversation:
            self._past += [chat[-1], {"role": "assistant", "content": spoken(call.text)}]
            del self._past[: -2 * self.prompting.turns]
        return response

    async def ask(self, state: TurnState, chat: Chat, call: ModelCall) -> AgentResponse:
        """Answer a conversation about a turn, and keep nothing of it.

        Args:
            state: the TurnState, as the model is shown it.
            chat: the conversation.
            call: the statistics, which are filled in.

        Raises:
            ModelError: if the model fails.
        """
        offers = {offer.action_type: offer for offer in state.allowed_actions}
        if not offers:
            raise ModelError(f"{state.agent_id} has no legal action")

        def fits(answer: Any) -> None:
            if answer["action_type"] not in offers:
                listed = f"one of {', '.join(offers)}" if self.prompting.legal else "legal now"
                raise ValueError(f"action_type must be {listed}")
            if problem := violation(answer["payload"], offers[answer["action_type"]].payload_schema):
                raise ValueError(problem if self.prompting.legal else "the payload is not legal now")

        seconds = self.model.timeout if self._seconds is None else min(self.model.timeout, self._seconds)
        schema, read = self._schema(state.allowed_actions), partial(last_action, offers=state.allowed_actions)
        answer = await replace(self.model, timeout=seconds).choose(chat, schema, read, fits, call)
        said, messages = answer.get("say"), list[ts.MessageIntent]()
        if self._talks and isinstance(said, str) and said.strip():
            messages = [ts.MessageIntent(ts.MessageScope.PUBLIC, said[:300])]
        action = self.prompting.action(Action(answer["action_type"], answer["payload"]))
        return AgentResponse(action, messages)

    def _schema(self, offers: Sequence[AllowedAction]) -> dict[str, Any]:
        """Return the JSON schema of an answer. It does not tell the legal actions where the prompt does not."""
        words = {"say": {"type": "string", "maxLength": 300}} if self._talks else {}
        kinds: list[tuple[dict[str, Any], dict[str, Any]]] = [({"type": "string"}, {"type": "object"})]
        if self.prompting.legal:
            kinds = [({"type": "string", "enum": [one.action_type]}, one.payload_schema) for one in offers]
        variants = [{"action_type": name, "payload": payload, **words} for name, payload in kinds]
        return {"anyOf": [object_schema(variant, "action_type", "payload") for variant in variants]}


FAILURES = 5
"""Requests in a row that may fail beside those that are under way; then the endpoint is asked no more."""


class AgentsAsPolicy:
    """Agents that play records: every table and seat has an agent of its own, language models at the same time.

    An action between those that have an index counts as the nearest one. In place of an answer that is not legal, or of
    none, the game's safe action is played, as at a table. Nobody talks beside its actions.

    Args:
        game: the game.
        make: makes an agent.
        parallel: number of requests to language models at the same time.

    Attributes:
        calls: the seat and the statistics of every answer of a language model since `begin`, by row of the tables.
        faulty: the rows of the tables at which the safe action was played since `begin`.
        unplayed: the rows at which nobody was asked any more: the time was over, or there is a `problem`.
        failing: the requests in a row that failed.
        problem: why the endpoint is asked no more; None: it is.
    """

    def __init__(self, game: Game, make: Callable[[], Agent], parallel: int = 1) -> None:
        self.game, self.parallel = game, parallel
        self._make, self.failing = make, 0
        self.problem: str | None = None
        self.begin()

    def begin(self, until: float = math.inf) -> None:
        """Begin new matches at all tables; nobody is asked after the time `until` of `time.monotonic`."""
        self.faulty, self.unplayed = set[int](), set[int]()
        self.calls = defaultdict[int, list[tuple[int, ModelCall]]](list)
        self._until = until
        self._agents: dict[tuple[int, int], Agent] = {}

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Raise ValueError: agents play on records alone (see `act_on`)."""
        raise ValueError("agents play on records: call act_on")

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return a legal action index for the acting seat at each of the tables `rows`: int64[M].

        Args:
            tables: the records.
            rows: int64[M], indices of tables.
            observations: not used.
            masks: int8[M, A], the action masks there.
        """
        turns = asyncio.Semaphore(self.parallel)

        async def index(row: int, mask: NDArray[np.int8]) -> int:
            seat = int(tables[row].turn)
            state = decisions_only(self.game.turn_state(tables[row], seat, match_id=f"{row}"))
            async with turns:
                over = self.problem is not None or time.monotonic() >= self._until
                response = None if over else await self._answer(row, seat, state)
            if over:
                self.unplayed.add(row)
            return self._index(tables[row], row, response, mask)

        async def indices() -> list[int]:
            return await asyncio.gather(*(index(row, mask) for row, mask in zip(rows.tolist(), masks, strict=True)))

        return np.array(finished(indices()), np.int64)

    async def _answer(self, row: int, seat: int, state: TurnState) -> AgentResponse | None:
        """Return an agent's answer; None: there is none."""
        if (row, seat) not in self._agents:
            agent = self._agents[row, seat] = self._make()
            if isinstance(agent, LLMAgent):
                agent.on_call = lambda call: self.calls[row].append((seat, call))
        agent = self._agents[row, seat]
        if not isinstance(agent, LLMAgent):
            return agent.respond(state)
        try:
            async with asyncio.timeout_at(None if self._until == math.inf else self._until):
                response = await agent.answer(state)
        except TimeoutError:
            self.unplayed.add(row)
            return None
        except ModelError as error:
            self.failing = self.failing + 1 if error.fault in ("failed", "late") else 0
            if self.failing >= FAILURES + self.parallel:
                self.problem = str(error)
            return None
        self.failing = 0
        return response

    def _index(self, table: Any, row: int, response: AgentResponse | None, mask: NDArray[np.int8]) -> int:
        view = self.game.view
        if response is not None:
            move = view.parse(table, response.action)
            index = -1 if isinstance(move, ts.ActionResult) else int(view.nearest(table, move))
            if index >= 0 and mask[index]:
                return index
            if self.calls[row]:
                call = self.calls[row][-1][1]
                call.problem = "the game refuses the action"
                call.faults.append("illegal")
        self.faulty.add(row)
        return int(view.safe(table))
