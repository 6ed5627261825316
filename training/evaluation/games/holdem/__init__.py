"""Hold'em: sizes off the menu, local best response."""

from functools import partial

from ..base import Measures
from .best_response import best_response
from .off_menu import SIZES, off_menu
from .settings import SETTINGS

MEASURES = Measures(
    best_responses={
        f"{sizes} off the menu, {bot}": partial(off_menu, bot=bot, sizes=sizes)
        for sizes in SIZES
        for bot in ("tight", "maniac")
    }
    | {f"local best response, {setting.name}": partial(best_response, setting=setting) for setting in SETTINGS}
)
