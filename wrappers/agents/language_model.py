"""A language model at any endpoint with OpenAI's chat completions API (the extra `llm`).

The key is read from the environment (``OPENAI_API_KEY``) and never written. The default address is also read from the
environment (``OPENAI_BASE_URL``).
"""

import asyncio
import contextlib
import json
import logging
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from ...envs.core.installed import install
from .prompt import Chat as Chat

if TYPE_CHECKING:
    from openai import AsyncOpenAI


logger = logging.getLogger(__name__)


Fault = Literal["illegal", "unparsable", "late", "refused", "failed"]
"""What is wrong with an answer: it is not legal; it is no JSON, or empty; there is none in time; the model refuses; the
endpoint fails."""


class ModelError(Exception):
    """The model gave no usable answer: it was not reached, was late, refused, or did not write JSON.

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
        text: the last text of the model.
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
        """Add the endpoint's token counts, if there are any."""
        if usage is not None:
            self.input_size = (self.input_size or 0) + (getattr(usage, "prompt_tokens", None) or 0)
            self.output_size = (self.output_size or 0) + (getattr(usage, "completion_tokens", None) or 0)


@dataclass
class ModelStatistics:
    """What the calls of a model for one seat came to.

    Attributes:
        decisions: number of calls: of turns that were asked for.
        replaced: number of turns without a usable answer.
        faults: number of answers by fault, the corrected ones included.
        input_size, output_size: tokens sent and received, as far as the endpoint counts them.
        seconds: of all calls together.
        cost: of all tokens, in the currency of the model's prices.
    """

    decisions: int = 0
    replaced: int = 0
    faults: Counter[Fault] = field(default_factory=Counter)
    input_size: int = 0
    output_size: int = 0
    seconds: float = 0.0
    cost: float = 0.0

    def count(self, call: ModelCall, prices: tuple[float, float] = (0.0, 0.0)) -> None:
        """Add a call; `prices`: of a million tokens sent and received."""
        self.decisions += 1
        self.replaced += call.problem is not None
        self.faults.update(call.faults)
        self.input_size += call.input_size or 0
        self.output_size += call.output_size or 0
        self.seconds += call.seconds
        self.cost += ((call.input_size or 0) * prices[0] + (call.output_size or 0) * prices[1]) / 1e6

    def illegal_here(self) -> None:
        """Count the latest answer, which looked legal, as one that the game refuses."""
        self.faults["illegal"] += 1
        self.replaced += 1

    def row(self) -> dict[str, float]:
        """Return the numbers by name, for tables and files."""
        faults = {name: self.faults[name] for name in get_args(Fault)}
        latency = round(self.seconds / max(self.decisions, 1), 3)
        sizes = {"tokens in": self.input_size, "tokens out": self.output_size}
        return {
            "decisions": self.decisions,
            "replaced": self.replaced,
            **faults,
            **sizes,
            "s/decision": latency,
            "cost": round(self.cost, 6),
        }


@dataclass(frozen=True, kw_only=True)
class Model:
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
    temperature: float = 0.7
    max_tokens: int = 400
    timeout: float = 20.0
    retries: int = 2
    attempts: int = 2
    prices: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: naming a value that is out of range.
        """
        if not self.name or self.max_tokens < 1 or not 0 < self.timeout < 2**30:
            given = f"name={self.name!r}, max_tokens={self.max_tokens}, timeout={self.timeout}"
            raise ValueError(f"{given}: need a name, at least 1 token, and a timeout above 0")
        if not 0 <= self.temperature <= 2 or self.retries < 0 or self.attempts < 1:
            raise ValueError(
                f"temperature={self.temperature}, retries={self.retries}, attempts={self.attempts}: need 0 to 2, 0 or "
                "more, 1 or more"
            )

    async def stream(self, chat: Chat, call: ModelCall | None = None) -> AsyncGenerator[str, None]:
        """Return the model's text, chunk by chunk.

        Args:
            chat: the conversation.
            call: the statistics, which are filled in.

        Raises:
            ModelError: if there is no text, or the stream breaks off.
        """
        said, call = False, call or ModelCall()
        call.prompt, call.tries = chat, 1
        async with _as_model_error(self, call):
            client = await self._client()
            # The timeout covers the wait for the model, not the time of the consumer.
            end = asyncio.get_running_loop().time() + self.timeout
            async with asyncio.timeout_at(end):
                answer = await _send(client, call, stream=True, **self._settings(chat))
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
                        if choice.delta.content:
                            said = said or bool(choice.delta.content.strip())
                            call.text += choice.delta.content
                            yield choice.delta.content
            if not said:
                raise ModelError(f"{self.name} gave an empty answer", "unparsable")

    async def choose(
        self, chat: Chat, schema: Mapping[str, Any], fits: Any = None, call: ModelCall | None = None
    ) -> Any:
        """Return an answer as parsed JSON.

        Args:
            chat: the conversation.
            schema: the JSON schema of the answer. The endpoint is asked to constrain the model to it; if it cannot, the
                schema is a part of the prompt.
            fits: called with the answer; raises ValueError if the answer is wrong. The model is then asked again.
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
                        text = await self._ask(client, call, schema, constrained)
                    except _Unconstrained:
                        constrained = False
                        text = await self._ask(client, call, schema, constrained)
                call.text = text
                fault: Fault = "unparsable"
                try:
                    answer = _json(text)
                    fault = "illegal"
                    if fits is not None:
                        fits(answer)
                    return answer
                except ValueError as error:
                    problem = str(error)
                    call.faults.append(fault)
                    again = f"That will not do: {problem[:300]}. Answer with nothing but the JSON object."
                    chat = [*chat, {"role": "assistant", "content": text[:500]}, {"role": "user", "content": again}]
            raise ModelError(f"{self.name} gave no answer that fits: {problem}", call.faults.pop())

    async def _ask(self, client: "AsyncOpenAI", call: ModelCall, schema: Mapping[str, Any], constrained: bool) -> str:
        settings = self._settings(call.prompt)
        if constrained:
            wanted = {"name": "answer", "schema": schema, "strict": True}
            settings["response_format"] = {"type": "json_schema", "json_schema": wanted}
        else:
            words = f"Answer with one JSON object and nothing else. Its JSON schema: {json.dumps(schema)}"
            settings["messages"] = [*settings["messages"], {"role": "user", "content": words}]
        try:
            reply = await _send(client, call, **settings)
        except library().BadRequestError:
            if constrained:
                raise _Unconstrained from None
            raise
        call.count(getattr(reply, "usage", None))
        choice = reply.choices[0].message if reply.choices else None
        if choice is not None and getattr(choice, "refusal", None):
            raise ModelError(f"{self.name} refuses: {str(choice.refusal)[:200]}", "refused")
        return (choice.content if choice is not None else None) or ""

    def _settings(self, chat: Chat) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": list(chat),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }

    async def _client(self) -> "AsyncOpenAI":
        """Return the event loop's client for this endpoint; it keeps its connections, and closes with the loop."""
        key = os.environ.get("OPENAI_API_KEY") or "none"  # local servers need no key
        loop = asyncio.get_running_loop()
        wanted = key, self.base_url, os.environ.get("OPENAI_BASE_URL"), self.retries, self.timeout
        clients = _clients.get(loop)
        if clients is None:
            for old in [old for old in _clients if old.is_closed()]:
                del _clients[old]
            clients = _clients[loop] = {}
        if wanted not in clients:
            client = library().AsyncOpenAI(
                api_key=key, base_url=self.base_url, max_retries=self.retries, timeout=self.timeout
            )
            held = _held(client)
            clients[wanted] = await anext(held), held
        return clients[wanted][0]


_clients: "dict[asyncio.AbstractEventLoop, dict[Any, tuple[AsyncOpenAI, AsyncGenerator[AsyncOpenAI, None]]]]" = {}


async def _held(client: "AsyncOpenAI") -> "AsyncGenerator[AsyncOpenAI, None]":
    """Keep a client open until the event loop ends: `asyncio.run` then closes this generator."""
    try:
        yield client
    finally:
        _clients.pop(asyncio.get_running_loop(), None)
        await client.close()


class _Unconstrained(Exception):
    """The endpoint does not take a schema."""


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


async def _send(client: "AsyncOpenAI", call: ModelCall, **settings: Any) -> Any:
    """Send a request, and count its retries. Streams are requested with their token counts."""
    create = client.chat.completions.with_raw_response.create
    if settings.get("stream"):
        try:
            raw = await create(**settings, stream_options={"include_usage": True})
        except library().BadRequestError:  # an endpoint that does not know the option
            raw = await create(**settings)
    else:
        raw = await create(**settings)
    call.retries += getattr(raw, "retries_taken", 0)
    return raw.parse()


@contextlib.asynccontextmanager
async def _as_model_error(model: Model, call: ModelCall) -> AsyncIterator[None]:
    """Convert errors of a model to `ModelError`, without the text of the request, which may contain a key.

    It writes the duration and the problem into `call`.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        async with _named(model):
            yield
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


@contextlib.asynccontextmanager
async def _named(model: Model) -> AsyncIterator[None]:
    """Convert errors of a model to `ModelError`."""
    try:
        yield
    except (ModelError, ImportError):
        raise
    except TimeoutError:
        raise ModelError(f"{model.name} gave no answer within {model.timeout:g} s", "late") from None
    except Exception as error:  # errors of the library, of its dependencies, or of an unusual endpoint
        status = getattr(error, "status_code", None)
        what = type(error).__name__ if status is None else f"HTTP {status}"
        where = f" at {model.base_url}" if model.base_url else ""
        late = isinstance(error, library().APITimeoutError)
        raise ModelError(f"{model.name}{where}: {what}", "late" if late else "failed") from None


def _json(text: str) -> Any:
    """Return the JSON object in a text: the whole text, or the part from the first brace to the last.

    Raises:
        ValueError: if there is none.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        return msgspec.json.decode(text[start : end + 1])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise ValueError("it is not a JSON object") from None
