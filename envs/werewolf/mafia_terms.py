"""The words of werewolf for those of mafia: roles, teams, phases, statements."""

import re
from typing import Any

ROLES = {"mafia": "werewolf", "sheriff": "seer", "villager": "villager", "unknown": "unknown"}
"""The roles by their names in mafia."""
OF_MAFIA = {word: role for role, word in ROLES.items()}
TEAMS = ("village", "werewolves")
"""The teams: town and mafia."""

NIGHT_OF_WOLVES, NIGHT_OF_SEER, DISCUSSION, VOTE = "night_werewolf", "night_seer", "day_discuss", "day_vote"
PHASES = {NIGHT_OF_WOLVES: "NIGHT_ACTIONS", NIGHT_OF_SEER: "NIGHT_ACTIONS", VOTE: "DAY_VOTING"}
"""Mafia's phases by those of werewolf; all others are its discussion, in which `day_announce` gives no choice."""

_WOLF = re.compile(r"\b(?:an?\s+|the\s+)?(?:were)?wol(?:f|ves)\b", re.IGNORECASE)
_SEER = re.compile(r"\bseer\b", re.IGNORECASE)


def in_werewolf(text: str) -> str:
    """Return a text about mafia as one about werewolf."""
    text = re.sub(r"\b[Tt]he mafia\b", "the werewolves", text)
    text = re.sub(r"\b[Tt]he town\b", "the village", text)
    return re.sub(r"\bmafia\b", "a werewolf", re.sub(r"\bsheriff\b", "seer", text))


def labelled(text: str) -> str:
    """Return the labels of mafia's picture or text in the words of werewolf: its roles and teams, without articles."""
    text = re.sub(r"\bmafia (?=\d)", "werewolves ", re.sub(r"\bmafia wins\b", "werewolves win", text))
    text = re.sub(r"\b([Tt])he mafia\b", r"\1he werewolves", text)
    text = re.sub(r"\btown\b", "village", re.sub(r"\bsheriff\b", "seer", text))
    return re.sub(r"\bmafia\b", "werewolf", text)


def in_mafia(text: str) -> str:
    """Return a text about werewolf as one about mafia, whose statements can be read."""
    return _SEER.sub("sheriff", _WOLF.sub("mafia", text))


def role_of(word: Any) -> str:
    """Return mafia's name of a role.

    Raises:
        ValueError: if werewolf has no such role.
    """
    if word not in OF_MAFIA:
        raise ValueError(f"role {word!r:.40} is not one of {', '.join(OF_MAFIA)}")
    return OF_MAFIA[word]
