"""Reading an agent's answer, which may be an `AgentResponse`, an `Action`, or either as a dict."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from ....envs.core.turn_state import Action, AgentResponse, AllowedAction
from ...agents.offers import fitted


def read_response(response: Any, offers: Sequence[AllowedAction] = ()) -> AgentResponse:
    """Return an answer as an `AgentResponse` of plain data. An `Action` becomes a response without messages.

    Args:
        response: the answer.
        offers: what is open; the answer's numbers are moved into the bounds that these give (see `fitted`).

    Raises:
        ValueError: if the answer is not a response; the error names the wrong part.
    """
    try:
        if isinstance(response, Action) or (isinstance(response, dict) and "action_type" in response):
            response = AgentResponse(msgspec.convert(response, Action, from_attributes=True))
        answer = msgspec.convert(response, AgentResponse, from_attributes=True)
        # The fields of our own structs have not been checked yet.
        return fitted(msgspec.convert(msgspec.to_builtins(answer, enc_hook=_builtin), AgentResponse), offers)
    except (msgspec.ValidationError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"this is not an AgentResponse: {error}") from None


def _builtin(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):  # computed from an observation
        return value.tolist()
    raise TypeError(f"{type(value).__name__} {str(value)[:80]!r} is no JSON")
