"""A language model at any endpoint that speaks OpenAI's chat completions (``pip install 'parlour[llm]'``).

The key comes from the environment (``OPENAI_API_KEY``) and is never written anywhere. So does the address, where none
is given (``OPENAI_BASE_URL``).
"""

import asyncio
import contextlib
import json
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from openai import AsyncOpenAI


logger = logging.getLogger(__name__)

Chat = Sequence[Mapping[str, str]]
"""Messages of a conversation: ``{"role": "system" | "user" | "assistant", "content": …}``."""


class ModelError(Exception):
    """The model gave no answer that can be used: it could not be reached, was late, refused, or wrote no JSON."""


@dataclass
class ModelCall:
    """What one answer of a model took, for logs.

    Attributes:
        prompt: the conversation as it was sent last.
        text: what the model wrote last.
        seconds: from the request to the end of the answer.
        tries: answers asked for, until one could be used.
        retries: requests that were sent again after an error or a lost connection.
        input_size, output_size: tokens, as the endpoint counts them; None where it does not. (A log leaves out what is
            called a token, because it might be a secret.)
        problem: why the answer could not be used; None if it could.
    """

    prompt: Chat = ()
    text: str = ""
    seconds: float = 0.0
    tries: int = 0
    retries: int = 0
    input_size: int | None = None
    output_size: int | None = None
    problem: str | None = None

    def count(self, usage: Any) -> None:
        """Add the tokens that the endpoint counted, if it did."""
        if usage is not None:
            self.input_size = (self.input_size or 0) + (getattr(usage, "prompt_tokens", None) or 0)
            self.output_size = (self.output_size or 0) + (getattr(usage, "completion_tokens", None) or 0)


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model at an endpoint.

    Attributes:
        name: as the endpoint calls it.
        base_url: of the endpoint, such as ``http://127.0.0.1:8080/v1``; None: the environment's, else OpenAI's.
        temperature: of the draws.
        max_tokens: of one answer.
        timeout: seconds for one answer, retries included.
        retries: further tries after 408, 409, 429, 5xx or a lost connection, with growing pauses, as the endpoint asks.
        attempts: answers asked for until one is JSON that fits its schema.
    """

    name: str
    base_url: str | None = None
    temperature: float = 0.7
    max_tokens: int = 400
    timeout: float = 20.0
    retries: int = 2
    attempts: int = 2

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ValueError: naming one that is out of its range.
        """
        if not self.name or self.max_tokens < 1 or not 0 < self.timeout < 2**30:
            given = f"name={self.name!r}, max_tokens={self.max_tokens}, timeout={self.timeout}"
            raise ValueError(f"{given}: need a name, at least 1 token, and some seconds")
        if not 0 <= self.temperature <= 2 or self.retries < 0 or self.attempts < 1:
            raise ValueError(
                f"temperature={self.temperature}, retries={self.retries}, attempts={self.attempts}: need 0 to 2, 0 or "
                "more, 1 or more"
            )

    async def stream(self, chat: Chat, call: ModelCall | None = None) -> AsyncGenerator[str, None]:
        """Return the model's text, chunk by chunk.

        Args:
            chat: the conversation.
            call: is filled in.

        Raises:
            ModelError: if no text came, or it broke off.
        """
        said, call = False, call or ModelCall()
        call.prompt, call.tries = chat, 1
        async with _told(self, call):
            client = await self._client()
            # The time runs while we wait for the model, not while its chunks are passed on.
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
                            raise ModelError(f"{self.name} refuses: {choice.delta.refusal[:200]}")
                        if choice.delta.content:
                            said = said or bool(choice.delta.content.strip())
                            call.text += choice.delta.content
                            yield choice.delta.content
            if not said:
                raise ModelError(f"{self.name} said nothing")

    async def choose(
        self, chat: Chat, schema: Mapping[str, Any], fits: Any = None, call: ModelCall | None = None
    ) -> Any:
        """Return an answer as parsed JSON.

        Args:
            chat: the conversation.
            schema: what the answer has to be. The endpoint is asked to constrain the model to it; one that does not
                know how is asked in words.
            fits: called with the answer; raises ValueError where it will not do. Such an answer is asked for again.
            call: is filled in.

        Raises:
            ModelError: if no answer fitted.
        """
        problem, constrained, call = "", True, call or ModelCall()
        end = asyncio.get_running_loop().time() + self.timeout
        async with _told(self, call):
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
                try:
                    answer = _json(text)
                    if fits is not None:
                        fits(answer)
                    return answer
                except ValueError as error:
                    problem = str(error)
                    again = f"That will not do: {problem[:300]}. Answer with nothing but the JSON object."
                    chat = [*chat, {"role": "assistant", "content": text[:500]}, {"role": "user", "content": again}]
            raise ModelError(f"{self.name} gave no answer that fits: {problem}")

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
            raise ModelError(f"{self.name} refuses: {str(choice.refusal)[:200]}")
        return (choice.content if choice is not None else None) or ""

    def _settings(self, chat: Chat) -> dict[str, Any]:
        return {
            "model": self.name,
            "messages": list(chat),
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
        }

    async def _client(self) -> "AsyncOpenAI":
        """Return the event loop's client for this endpoint: it keeps its connections, and is closed with the loop."""
        key = os.environ.get("OPENAI_API_KEY") or "none"  # a server of one's own asks for none
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
    """Hold a client until the event loop ends: `asyncio.run` then closes the generators that are left."""
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
        ImportError: if it is not installed, saying how to.
    """
    try:
        import openai
    except ImportError as error:
        raise ImportError("language models need openai: pip install 'parlour[llm]'", name="openai") from error
    return openai


async def _send(client: "AsyncOpenAI", call: ModelCall, **settings: Any) -> Any:
    """Send a request, and count the tries that it took. Streams are asked to tell their tokens."""
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
async def _told(model: Model, call: ModelCall) -> AsyncIterator[None]:
    """Tell what goes wrong with a model as `ModelError`, without the text of a request, which may hold a key.

    The call gets the time that it took, and the problem.
    """
    clock = asyncio.get_running_loop().time
    began = clock()
    try:
        async with _named(model):
            yield
    except ModelError as error:
        call.problem = str(error)
        raise
    except asyncio.CancelledError:
        call.problem = "given up"
        raise
    finally:
        call.seconds = round(clock() - began, 3)


@contextlib.asynccontextmanager
async def _named(model: Model) -> AsyncIterator[None]:
    """Raise whatever goes wrong with a model as `ModelError`."""
    try:
        yield
    except (ModelError, ImportError):
        raise
    except TimeoutError:
        raise ModelError(f"{model.name} gave no answer within {model.timeout:g} s") from None
    except Exception as error:  # of the library, of those below it, of an endpoint's own kind of answer
        status = getattr(error, "status_code", None)
        what = type(error).__name__ if status is None else f"HTTP {status}"
        where = f" at {model.base_url}" if model.base_url else ""
        raise ModelError(f"{model.name}{where}: {what}") from None


def _json(text: str) -> Any:
    """Return the JSON object in a text: all of it, or what stands between the first brace and the last.

    Raises:
        ValueError: if there is none.
    """
    start, end = text.find("{"), text.rfind("}")
    try:
        return msgspec.json.decode(text[start : end + 1])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        raise ValueError("it is no JSON object") from None
