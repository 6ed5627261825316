"""Hold'em: local best response."""

from functools import partial

from ..base import Measures
from .best_response import best_response
from .settings import SETTINGS

MEASURES = Measures(
    best_responses={
        f"local best response, {setting.name}": partial(best_response, setting=setting) for setting in SETTINGS
    }
)
