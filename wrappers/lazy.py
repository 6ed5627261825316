"""The public names of a package, each loaded at its first use."""

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def lazy(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return the `__getattr__`, the `__dir__` and the `__all__` of a package.

    Args:
        package: its name.
        file: its source. Below ``if TYPE_CHECKING`` stands what it imports for type checkers: these names are public.
            An assignment there gives a name that is another one in its module.
    """
    block = next(node for node in ast.parse(Path(file).read_text("utf-8")).body if isinstance(node, ast.If))
    sources: dict[str, tuple[str, str]] = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            sources |= {one.asname or one.name: (f".{node.module}", one.name) for one in node.names}
        elif isinstance(node, ast.Assign):
            sources[ast.unparse(node.targets[0])] = sources.pop(ast.unparse(node.value))

    def load(name: str) -> Any:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, own = sources[name]
        return getattr(import_module(module, package), own)

    return load, lambda: sorted({*vars(import_module(package)), *sources}), list(sources)
