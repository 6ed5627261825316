"""Statements: the discussion's statements as acts, as payloads and as text.

An act is a kind of `parlour.envs.mafia.table` and the target's seat (−1: none). In payloads it has the types of
`GameAnalysis` in mafia-ai-benchmark. `sentence` returns a text for it; `read` finds it in any text:

==============  =======================================================================================================
act             a sentence of the text that states it (NAME: a player's name or id; case does not matter)
==============  =======================================================================================================
claim, result   "I am the sheriff" or "I investigated NAME" (checked, inspected), and a verdict on NAME
claim           "I am the sheriff" (doctor, villager, mafia; also "I'm just a …", "as the …", "my role is …")
accusation      the verdict "NAME is mafia" (guilty, lying, suspicious, …; not: innocent, …); "I accuse NAME" (suspect,
                vote for, do not trust), "let us vote out NAME" (eliminate, …)
defense         the verdict "NAME is innocent" (town, clear, …; not: mafia, …); "I defend NAME" (trust, believe, vouch
                for, do not suspect); of oneself "I am innocent", "I am not mafia", "I did nothing wrong"
general         none of these
==============  =======================================================================================================

One act is found in a text: a claim with a result before a claim without one, a claim before other acts, and the first
one among equals. Questions and reported speech ("they say I am mafia") state nothing.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.compiled import compiled
from .table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_MAFIA,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    DOCTOR,
    FOUND,
    GENERAL,
    MAFIA,
    SEATS,
    SHERIFF,
    VILLAGER,
)

KIND = SEATS
"""The factor of the kind in the code of an act: 1 + KIND · (kind − GENERAL) + the target's seat (0 without one)."""
ACCUSES, DEFENDS, CLEARS, FINDS = (1 + KIND * (kind - GENERAL) for kind in (ACCUSE, DEFEND, CLEARED, FOUND))
"""The codes of these kinds, of seat 0."""

READY = 1
"""The code of a general statement; in werewolf, of `ready_to_vote`."""

TYPES = ("accusation", "defense", "claim", "general")
CLAIMS = {"sheriff": CLAIM_SHERIFF, "doctor": CLAIM_DOCTOR, "villager": CLAIM_VILLAGER, "mafia": CLAIM_MAFIA}
CLAIMED = np.zeros(16, np.int64)
"""int64[16]: the claimed role, by kind of statement; 0: none."""
CLAIMED[[CLEARED, FOUND, CLAIM_SHERIFF]] = SHERIFF
CLAIMED[[CLAIM_DOCTOR, CLAIM_VILLAGER, CLAIM_MAFIA]] = DOCTOR, VILLAGER, MAFIA
Act = tuple[int, int]
"""Kind and target's seat."""


@compiled
def code_of(kind: int, target: int) -> int:
    """Return the code of an act for the record's `said`."""
    return 1 + KIND * (kind - GENERAL) + max(target, 0)


def act_of(code: int) -> Act:
    """Return the act of a code in the record's `said`."""
    kind = GENERAL + (code - 1) // KIND
    return kind, (code - 1) % KIND if kind in (ACCUSE, DEFEND, CLEARED, FOUND) else -1


def sentence(act: Act, speaker: int, names: Sequence[str]) -> str:
    """Return the standard sentence of `act`; `names` by seat. `read` returns the same act for it."""
    kind, target = act
    name = names[target] if target >= 0 else ""
    if kind == DEFEND and target == speaker:
        return "I am innocent."
    return {
        GENERAL: "I have nothing to report.",
        ACCUSE: f"I accuse {name}.",
        DEFEND: f"I defend {name}.",
        CLEARED: f"I am the sheriff, and {name} is not mafia.",
        FOUND: f"I am the sheriff, and {name} is mafia.",
        CLAIM_SHERIFF: "I am the sheriff.",
        CLAIM_DOCTOR: "I am the doctor.",
        CLAIM_VILLAGER: "I am a villager.",
        CLAIM_MAFIA: "I am mafia.",
    }[kind]


# Payloads.


def to_wire(act: Act, ids: Sequence[str]) -> dict[str, Any]:
    """Return `act` as ``{type, targetId, role, isMafia}``; None where the act has no value."""
    kind, target = act
    target_id = ids[target] if target >= 0 else None
    wire: dict[str, Any] = {"type": "claim", "targetId": target_id, "role": "sheriff", "isMafia": None}
    if kind in (GENERAL, ACCUSE, DEFEND):
        return wire | {"type": {GENERAL: "general", ACCUSE: "accusation", DEFEND: "defense"}[kind], "role": None}
    if kind in (CLEARED, FOUND):
        return wire | {"isMafia": kind == FOUND}
    return wire | {"role": next(role for role, claim in CLAIMS.items() if claim == kind)}


def from_wire(kind: str, target: int, role: str | None, is_mafia: bool | None) -> Act:
    """Return the act of a payload's fields; `target` −1: none.

    Raises:
        ValueError: if the fields are not an act; the error names the right fields.
    """
    if kind not in TYPES:
        raise ValueError(f"type {kind!r} is not one of {', '.join(TYPES)}")
    if kind in ("accusation", "defense"):
        if target < 0:
            raise ValueError(f"{'an' if kind == 'accusation' else 'a'} {kind} needs a targetId")
        if role is not None or is_mafia is not None:
            raise ValueError(f"role and isMafia belong to a claim, not to {kind}")
        return (ACCUSE if kind == "accusation" else DEFEND), target
    if kind == "general":
        if target >= 0 or role is not None or is_mafia is not None:
            raise ValueError("a general statement has no targetId, role or isMafia")
        return GENERAL, -1
    if role not in CLAIMS:
        raise ValueError(f"a claim needs a role: {', '.join(CLAIMS)}")
    if (target >= 0) != (is_mafia is not None) or (target >= 0 and role != "sheriff"):
        raise ValueError("the result of a claimed sheriff needs both targetId and isMafia; other claims have neither")
    if is_mafia is None:
        return CLAIMS[role], -1
    return (FOUND if is_mafia else CLEARED), target


# Text.

_BAD = "(?:mafia|mafioso|guilty|lying|liar|suspicious|sus|scum|evil|killer|murderer)"
_GOOD = "(?:innocent|town|townie|townsperson|clear|cleared|clean|trustworthy|honest|villager|good|safe)"
_FILL = (
    r"(?:\s+(?:a|an|the|one\s+of\s+the|part\s+of\s+the|with\s+the|in\s+the|on\s+the|our|your|just|only|really|very|so|"
    r"also|actually|honestly|simply|simple|plain|ordinary|regular|definitely|clearly|obviously|certainly|probably|"
    r"likely|most|pretty|extremely|highly|totally|completely|confirmed|real|member\s+of|side))*"
)
_NOT = r"(?P<not>\s+not|\s+never|n't|\s+anything\s+but)?"
_IS = r"(?:'s|\s+is|\s+was|\s+are|\s+were|\s+must\s+be|\s+has\s+to\s+be|\s+looks|\s+seems(?:\s+to\s+be)?|\s+sounds)"
_VERDICT = rf"{_IS}{_NOT}{_FILL}\s+(?:(?P<bad>{_BAD})|(?P<good>{_GOOD}))\b"
_I_AM = r"\bI(?:'m|\s+am)"
_ROLE = r"(?P<role>sheriff|doctor|villager|mafia)\b"
_DO_NOT = r"(?P<no>\s+(?:do\s+not|don't|cannot|can't|never|no\s+longer))?"
_REALLY = (
    r"(?:\s+(?:really|still|also|strongly|now|therefore|do|fully|will|would|have\s+to|want\s+to|am\s+going\s+to))*"
)

_CLAIM = re.compile(rf"(?:{_I_AM}{_FILL}|\bas{_FILL}|\bmy\s+role\s+is{_FILL})\s+{_ROLE}", re.IGNORECASE)
_SELF = re.compile(
    rf"{_I_AM}(?:(?:\s+not|\s+no|\s+never){_FILL}\s+{_BAD}|{_FILL}\s+(?:innocent|town|townie|clean|clear))\b"
    r"|\bI\s+(?:did|have\s+done)\s+nothing\s+wrong\b|\bI\s+(?:did\s+not|didn't)\s+do\s+(?:it|anything)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:says?|said|thinks?|claims?|claimed|believes?|that|if|whether|because|why|suggests?|insists?|pretends?)\s*$",
    re.IGNORECASE,
)
_DOUBT = re.compile(r"(?:\bdoubt|\b(?:do\s+not|don't|cannot|can't)\s+(?:think|believe))(?:\s+that)?\s*$", re.IGNORECASE)


@lru_cache(maxsize=64)
def _patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of verdicts, accusations, defences and investigations with these names, and of a name
    alone."""
    name = r"(?<!\w)(?P<name>" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")(?!\w)"
    accuses = r"accuse|suspect|distrust|vote(?:\s+(?:for|against|out))?|am\s+voting\s+(?:for|out)|nominate"
    defends = r"defend|trust|believe(?:\s+in)?|vouch\s+for|support"
    us = r"\b(?:let\s+us|let's|we\s+(?:should|must|need\s+to|have\s+to))"
    texts = (
        rf"{name}{_VERDICT}",
        rf"\bI{_DO_NOT}{_REALLY}\s+(?:{accuses})\s+{name}"
        rf"|{us}\s+(?:vote\s+(?:for|out)|eliminate|lynch|hang|remove)\s+{name}"
        rf"|\bI'm\s+voting\s+(?:for|out)\s+{name}|\bmy\s+vote\s+(?:is\s+(?:on|for)|goes\s+to)\s+{name}",
        rf"\bI{_DO_NOT}{_REALLY}\s+(?:{defends})\s+{name}",
        rf"\bI{_REALLY}(?:\s+have)?\s+(?:investigated|checked|inspected|looked\s+into)\s+{name}",
        name,
    )
    # A pattern may hold a name twice, but a group name only once.
    return tuple(re.compile(_numbered(text), re.IGNORECASE) for text in texts)


def _numbered(text: str) -> str:
    parts = text.split("(?P<name>")
    return parts[0] + "".join(f"(?P<name{i}>{part}" for i, part in enumerate(parts[1:]))


_PRONOUN = re.compile(rf"\b(?:he|she|they|it){_VERDICT}", re.IGNORECASE)


def read(text: str, speaker: int, seats: Mapping[str, int]) -> Act:
    """Return the act that `text` states; `GENERAL` if there is none.

    Args:
        text: any text.
        speaker: the speaker's seat.
        seats: the seat of every name and id.
    """
    marked, named = _names(tuple(seats.items()))
    for name in marked:
        text = re.sub(re.escape(name), lambda found: _whole(found[0]), text, flags=re.IGNORECASE)
    verdict, accuse, defend, investigated, anybody = _patterns(tuple(named))
    claim = None
    checked, verdicts, others = [], [], []  # each with its place in the text
    for number, part in enumerate(_sentences(text)):
        for match in _CLAIM.finditer(part):
            if claim is None and not _REPORTED.search(part, 0, match.start()):
                claim = CLAIMS[match["role"].lower()]
        if anybody.search(part):
            for match in investigated.finditer(part):
                checked.append((number, match.start(), _named(match, named)))
            for match in verdict.finditer(part):
                verdicts.append((number, match.start(), _judged(part, match), _named(match, named)))
            for pattern, kind, opposite in ((accuse, ACCUSE, DEFEND), (defend, DEFEND, ACCUSE)):
                for match in pattern.finditer(part):
                    others.append((number, match.start(), opposite if match["no"] else kind, _named(match, named)))
        if checked:
            for match in _PRONOUN.finditer(part):
                verdicts.append((number, match.start(), _judged(part, match), checked[-1][2]))
        for match in _SELF.finditer(part):
            if not _REPORTED.search(part, 0, match.start()):
                others.append((number, match.start(), DEFEND, speaker))
    if checked or claim == CLAIM_SHERIFF:
        for _, _, kind, target in sorted(verdicts):
            if target != speaker:
                return (FOUND if kind == ACCUSE else CLEARED), target
        claim = CLAIM_SHERIFF if checked else claim
    if claim is not None:
        return claim, -1
    for _, _, kind, target in sorted(verdicts + others):
        if kind == DEFEND or target != speaker:
            return kind, target
    return GENERAL, -1


@lru_cache(maxsize=64)
def _names(seats: tuple[tuple[str, int], ...]) -> tuple[list[str], Mapping[str, int]]:
    """Return the names with punctuation that would end a sentence, the longest first; and all names, normalised."""
    names = [name for name, _ in seats if name.strip()]
    marked = [name for name in sorted(names, key=len, reverse=True) if name != _whole(name)]
    return marked, {_whole(name).lower(): seat for name, seat in seats if name.strip()}


_BREAK = re.compile(r"((?<![.!?])[.!?]++(?=\s|$)|\n+)")  # possessive: linear time for long runs of punctuation


def _whole(name: str) -> str:
    return re.sub(r"[.!?\n]", "\ue000", name)


def _sentences(text: str) -> list[str]:
    """Return the sentences of a text, without questions."""
    parts = _BREAK.split(text.replace("’", "'"))
    ends = [*parts[1::2], ""]
    return [part for part, end in zip(parts[::2], ends, strict=True) if "?" not in end]


def _named(match: re.Match[str], named: Mapping[str, int]) -> int:
    """Return the seat of the name in a match."""
    written = next(name for key, name in match.groupdict().items() if key.startswith("name") and name)
    if written.lower() in named:
        return named[written.lower()]
    # Text that matches without case may differ in lower case: "ſ" and "s".
    return next(seat for name, seat in named.items() if re.fullmatch(re.escape(name), written, re.IGNORECASE))


def _judged(part: str, match: re.Match[str]) -> int:
    """Return `ACCUSE` or `DEFEND`, as the verdict states."""
    bad = (match["bad"] is not None) != (match["not"] is not None)
    return ACCUSE if bad != (_DOUBT.search(part, 0, match.start()) is not None) else DEFEND


@compiled
def row_of_round(table: Any) -> int:
    """Return the index at which this round begins in `night` and `votes`."""
    return (table.round_number - 1) * table.seats


@compiled
def choice_of_most(table: Any) -> int:
    """Return the target of more than half of the living mafia; −1 if there is none."""
    row = row_of_round(table)
    chosen = -1
    for seat in range(table.seats):
        target = table.night[row + seat]
        if table.role[seat] == MAFIA and target >= 0 and target != chosen:
            count = 0
            for other in range(table.seats):
                count += table.role[other] == MAFIA and table.night[row + other] == target
            if 2 * count > table.living_mafia:
                return target
            chosen = target
    return -1


@compiled
def choice_of_mafia(table: Any, n: int) -> int:
    """Return the target of the n-th living mafia."""
    seat = -1
    while n >= 0:
        seat += 1
        n -= table.role[seat] == MAFIA and table.alive[seat]
    return table.night[row_of_round(table) + seat]


@compiled
def most_votes(table: Any) -> tuple[int, int]:
    """Return the largest number of votes for a living player, at least 1, and how many players have it."""
    row = row_of_round(table)
    most = 1
    tied = 0
    for seat in range(table.seats):
        if table.alive[seat]:
            count = _votes_for(table, row, seat)
            if count > most:
                most = count
                tied = 1
            elif count == most:
                tied += 1
    return most, tied


@compiled
def tied_seat(table: Any, most: int, n: int) -> int:
    """Return the n-th living player with `most` votes."""
    row = row_of_round(table)
    seat = -1
    while n >= 0:
        seat += 1
        if table.alive[seat] and _votes_for(table, row, seat) == most:
            n -= 1
    return seat


@compiled
def _votes_for(table: Any, row: int, target: int) -> int:
    count = 0
    for seat in range(table.seats):
        count += table.votes[row + seat] == target
    return count
