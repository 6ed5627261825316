"""Mafia: the length of matches, and statistics of the teams' play."""

import numpy as np

from ...envs.core.record import Tables
from ...envs.mafia.habits import habits
from .base import Specifics, TeamFacts


def _match(tables: Tables) -> dict[str, float]:
    return {"days": float(tables.round_number.astype(np.int64).mean())}


SPECIFICS = Specifics(team_facts=TeamFacts(match=_match, habits=lambda tables, team: habits(tables, team == "mafia")))
