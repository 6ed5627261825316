"""The board as text."""
from typing import Any
def render(table: Any, seat: int | None) -> str:
    """Return."""
    return ""
