"""Applications below a path of a server, which come and go while it runs."""

from collections.abc import Iterator
from typing import Any, NoReturn

from aiohttp import web


class Mounts(web.AbstractResource):
    """Applications by name: ``/tables/NAME/…`` is served by the application NAME.

    aiohttp's own sub-applications cannot be added to a server that has started. Register this resource at a router
    before the start; applications may change at any time.

    Args:
        path: the path above the names, such as ``/tables``.

    Attributes:
        applications: by name. The routes of an application begin with the path and its name.
    """

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self.applications: dict[str, web.Application] = {}

    def below(self, name: str) -> str:
        """Return the path of an application."""
        return f"{self._path}/{name}"

    async def resolve(self, request: web.Request) -> tuple[Any, set[str]]:
        """See aiohttp's `AbstractResource`."""
        name, *_ = request.rel_url.path_safe.removeprefix(f"{self._path}/").split("/", 1)
        app = self.applications.get(name)
        if app is None:
            return None, set()
        match = await app.router.resolve(request)
        match.add_app(app)
        return match, set()

    @property
    def canonical(self) -> str:
        """The path above the names."""
        return self._path

    def raw_match(self, path: str) -> bool:
        """Return whether a path is the one above the names."""
        return path == self._path

    def get_info(self) -> Any:
        """See aiohttp's `AbstractResource`."""
        return {"path": self._path}

    def add_prefix(self, prefix: str) -> NoReturn:
        """See aiohttp's `AbstractResource`."""
        raise NotImplementedError("mounts are at the top of a server")

    def url_for(self, **_: str) -> NoReturn:
        """See aiohttp's `AbstractResource`."""
        raise NotImplementedError("mounts have no address of their own")

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[Any]:
        return iter(())
