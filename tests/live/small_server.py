"""A small HTTP server for the doubles of the platforms, on a free port of this machine."""

from contextlib import asynccontextmanager

from aiohttp import web


@asynccontextmanager
async def served(*routes, ssl_context=None):
    """Serve routes of `web.get` and `web.post`; yield ``127.0.0.1:port``."""
    app = web.Application()
    app.add_routes(routes)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl_context).start()
    try:
        yield f"127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def socket_served(handler, path="/"):
    """Serve WebSockets, each by `handler(socket)`; yield the URL."""

    async def connect(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await handler(socket)
        return socket

    async with served(web.get(path, connect)) as address:
        yield f"ws://{address}{path.rstrip('/')}"
