"""Hold'em: local best response, all-in pots at equity, and tables of the poker host in the browser."""

from typing import Any

from ..base import Specifics
from .all_in import AllInEquity
from .best_response import best_response


def _table(*args: Any, **options: Any) -> Any:
    from .table import poker_table  # imported here: it needs an HTTP server

    return poker_table(*args, **options)


SPECIFICS = Specifics(best_response=best_response, expected_rewards=AllInEquity, table=_table)
