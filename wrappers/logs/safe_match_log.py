"""SafeMatchLog: the match log of a live agent or a host. Its errors are warnings, so that they do not end a match."""

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from ...envs.core.turn_state import TurnState
from .log_text import describe_error
from .match_log import MatchLog

logger = logging.getLogger(__name__)


class SafeMatchLog:
    """The match log of a live agent or a host. It is false without a log. Write from the event loop only.

    Args:
        log: the log to write; None: no log.
    """

    def __init__(self, log: MatchLog | None) -> None:
        self._log = log

    def __bool__(self) -> bool:
        return self._log is not None

    def write(self, kind: str, **fields: Any) -> None:
        """Write a line, if there is a log. A line that cannot be written is left out; a full disk ends the log."""
        if self._log is None:
            return
        try:
            self._log.write(kind, **fields)
        except OSError as error:
            logger.warning("the match log ends here: %s", error)
            self._log = None
        except (ValueError, TypeError, RecursionError) as error:
            logger.warning("a %s is left out of the match log: %s", kind, describe_error(error))


def safe_thoughts(thoughts: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return an agent's notes on its answer; {} with a warning if the agent raises an error."""
    try:
        return thoughts()
    except Exception as error:  # any error: the match continues
        logger.warning("the agent's thoughts are left out of the match log: %s", describe_error(error))
        return {}


def without_images(state: TurnState) -> TurnState:
    """Return a state without its pictures, which would fill the disk."""
    fields = {name: value for name, value in state.game_state.items() if name not in ("board_img", "drawer_img")}
    return msgspec.structs.replace(state, game_state=fields)
