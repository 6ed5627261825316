"""Endpoints that speak OpenAI's chat completions: one that misbehaves as told, and a real small model on loopback."""

import asyncio
import json
from contextlib import asynccontextmanager, contextmanager

from aiohttp import web
from live.event_loops import in_a_thread
from live.small_server import served


def said(text, finish="stop", **message):
    message = {"role": "assistant", "content": text, **message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }


def part(text, **delta):
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": None}
    piece = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "stub", "choices": [choice]}
    return f"data: {json.dumps(piece)}\n\n".encode()


USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@asynccontextmanager
async def endpoint(answer):
    """Serve `answer(request, body)`; yields the base URL and the bodies that came, each with its headers."""
    asked = []

    async def complete(request):
        body = await request.json()
        asked.append((body, dict(request.headers)))
        return await answer(request, body)

    async with served(web.post("/v1/chat/completions", complete)) as address:
        yield f"http://{address}/v1", asked


async def stream(request, *parts):
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for piece in parts:
        await response.write(piece)
    return response


def talking(text="Hm. I suspect Bob.", choice='{"targetId": "p2"}'):
    """An endpoint that works: streams a text word by word, or answers with a choice."""

    async def answer(request, body):
        if body.get("stream"):
            last = json.dumps({**said(""), "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
            words = (part(f"{word} ") for word in text.split())
            return await stream(request, *words, f"data: {last}\n\n".encode(), b"data: [DONE]\n\n")
        return web.json_response({**said(choice), "usage": USAGE})

    return answer


def saying(*texts, **message):
    """An endpoint that answers with these texts, one after another, and then the last one again and again."""
    bodies = [json.dumps({**said(text, **message), "usage": USAGE}) for text in texts]

    async def answer(request, body):
        return web.Response(text=bodies.pop(0) if bodies[1:] else bodies[0], content_type="application/json")

    return answer


def gives(reply, *parts, status=200, headers=None, wait=0, cut=False):
    """An endpoint that answers with `parts` where a stream is asked for and there are some, else with `reply`.

    Args:
        wait: seconds before the reply, or after the parts.
        cut: whether the connection ends after the parts.
    """

    async def answer(request, body):
        if parts and (body.get("stream") or reply is None):
            response = await stream(request, *parts)
            if cut:
                request.transport.abort()
            await asyncio.sleep(wait)
            return response
        await asyncio.sleep(wait)
        return web.json_response(reply, status=status, headers=headers)

    return answer


async def rubbish(request, body):
    return web.Response(body=b"\x00\xff" * 50, content_type="application/json")


async def unauthorized(request, body):
    key = request.headers["Authorization"]
    return web.json_response({"error": {"message": f"wrong key {key}"}}, status=401)


slow = gives(said("{}"), wait=30)
no_json = gives(said("I would rather talk about the weather."), b"data: {nonsense\n\n")
NO = "I cannot take part in a murder."
refuses = gives(said(None, refusal=NO), part(None, refusal=NO), b"data: [DONE]\n\n")
says_nothing = gives({**said(""), "choices": []}, b"data: [DONE]\n\n")
MISBEHAVIOURS = {
    "slow": slow,
    "slow in the middle": gives(None, part("I "), wait=30),
    "cut off": gives(said('{"targetId": "p', finish="length"), part("I suspect "), cut=True),
    "not JSON": no_json,
    "rubbish": rubbish,
    "refuses": refuses,
    "says nothing": says_nothing,
    "429": gives({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "0.01"}),
    "500": gives({"error": {"message": "oops"}}, status=500),
    "307": gives({}, status=307, headers={"Location": "http://localhost:1/v1?key=sk-very-private"}),
    "401": unauthorized,
}


@contextmanager
def answering(answer):
    """Serve an endpoint from a thread; yield its address."""
    with in_a_thread(endpoint(answer)) as (url, _):
        yield url
