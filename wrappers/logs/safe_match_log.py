"""What live agents and hosts write of their matches: a log that costs no match, whatever cannot be written."""

import logging
from collections.abc import Callable
from typing import Any

import msgspec

from ...envs.core.turn_state import TurnState
from .log_text import describe_error
from .match_log import MatchLog

logger = logging.getLogger(__name__)


class SafeMatchLog:
    """A match log of a live agent or a host; false where there is none. Write from the event loop only.

    Args:
        log: where to write; None: nowhere.
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
    """Return an agent's thoughts; none where it cannot tell them: it has answered, and that counts."""
    try:
        return thoughts()
    except Exception as error:  # whatever it is, the match goes on
        logger.warning("the agent cannot tell its thoughts: %s", describe_error(error))
        return {}


def without_images(state: TurnState) -> TurnState:
    """Return what a log holds of a state: pictures of every turn would fill a disk overnight."""
    fields = {name: value for name, value in state.game_state.items() if name not in ("board_img", "drawer_img")}
    return msgspec.structs.replace(state, game_state=fields)
