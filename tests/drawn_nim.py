"""Nim with a picture that names both players and marks the one who is to move. An option is the word for the rest."""

from dataclasses import replace

import nim
from parlour.envs import Renderer


def game(left="left"):
    def picture(states):
        heap, acting = states[0].game_state["heap"], states[0].current_turn_agent_id
        rows = [f"{name}{' moves' if acting == name else ''}" for name in ("first", "second")]
        texts = "".join(
            f'<text x="20" y="{40 + 30 * i}">{row}</text>' for i, row in enumerate([*rows, f"{heap} {left}"])
        )
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 280 180" role="img" class="first">{texts}</svg>'

    return replace(nim.game(), name="drawn_nim", renderer=Renderer(picture=picture))
