"""Hold'em: local best response, all-in pots at equity, live tables, and tables of the poker host in the browser."""

from functools import partial
from typing import Any

from ..base import Specifics
from .all_in import AllInEquity, without_luck
from .best_response import best_response
from .live_table import differences
from .settings import SETTINGS


def _table(*args: Any, **options: Any) -> Any:
    from .table import poker_table  # imported here: it needs an HTTP server

    return poker_table(*args, **options)


SPECIFICS = Specifics(
    differences=differences,
    best_responses={
        f"local best response, {setting.name}": partial(best_response, setting=setting) for setting in SETTINGS
    },
    expected_rewards=AllInEquity,
    table=_table,
    without_luck=without_luck,
)
