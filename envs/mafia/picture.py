"""The village as a picture: the players in a ring by night or by day, their roles as far as known, who spoke.

Arrows show the choices of tonight, the accusations and defences of today, and the last votes.
"""

from bisect import bisect
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate, pairwise
from math import cos, dist, hypot, pi, sin
from typing import Any

from ..core.turn_state import TurnState
from ..render.svg import (
    COLOURS,
    FAINT,
    INK,
    LINE,
    TURN,
    box,
    disc,
    document,
    group,
    latest,
    line,
    remembered,
    short,
    text,
    wrapped,
)

Row = Mapping[str, Any]

CENTRE = 320.0, 206.0
ACROSS, DOWN = 250.0, 138.0
LARGE, SMALL = 25.0, 16.0
"""The radius of a player's disc; small if there are many players."""
STEPS = 5040
"""Of the ring; every number of players up to 10 divides it."""
SKY = {"NIGHT_ACTIONS": "#1f2a44", "END": "#e9e6dc"}
DAY = "#dcebf5"
ROLE_INKS = {"mafia": "#b3362b", "doctor": "#26785a", "sheriff": "#3b76b5", "villager": "#82661b"}
RED, GREEN, GREY, PALE = "#c23b4e", "#2f8f6b", "#50606f", "#aeb9c6"
CHOICES = {"mafia": RED, "doctor": GREEN, "sheriff": "#3b76b5"}
PHASE_WORDS = {"NIGHT_ACTIONS": "night", "DAY_DISCUSSION": "discussion", "DAY_VOTING": "vote", "END": "the end"}


def picture(states: Sequence[TurnState]) -> str:
    """Draw the match from `states` (see `Renderer.picture`)."""
    first = states[0]
    game = first.game_state
    players: list[Row] = game["players"]
    night = game["phase"] == "NIGHT_ACTIONS"
    roles = _roles(states)
    size = LARGE if len(players) <= 12 else SMALL
    places = {player["id"]: _place(i, len(players)) for i, player in enumerate(players)}
    acting = _acting(states)
    own = first.agent_id if len(states) == 1 else ""
    paint = "#eef0f4" if night else INK
    things = [
        box(0, 0, 640, 404, SKY.get(game["phase"], DAY)),
        _light(night),
        text(16, 26, _title(game), 16, fill=paint, bold=True),
        text(624, 26, f"mafia {game['mafiaCount']} · town {game['townCount']}", 14, fill=paint, anchor="end"),
        group(
            *(
                _arrow(places[who], places[whom], size, colour, dashes)
                for who, whom, colour, dashes in _arrows(states, roles)
                if who in places and whom in places
            )
        ),
    ]
    voted_out = _voted_out(game)
    spoke = _spoke(game)
    for i, player in enumerate(players):
        who, colour, end = player["id"], COLOURS[i % len(COLOURS)], _end(player, voted_out, size)
        things += [
            _mark(places[who], size, turn=who == acting, spoke=who == spoke),
            _token(who, player["name"] or who, roles.get(who), places[who], size, colour, end, night),
        ]
    legend = _legend(states, game)
    things += [
        _speech(states, players),
        text(16, 422, _news(first), 14, bold=True),
        group(*(text(x, 422, words, 12, fill=colour, anchor="end", bold=True) for x, words, colour in legend)),
        *_messages(states),
        text(624, 466, f"you are {own}, {roles.get(own, '')}" if own else "", 12, anchor="end", fill=FAINT),
    ]
    return document(f"Mafia: {_title(game)}; {_news(first)}", things)


def _title(game: Row) -> str:
    words = PHASE_WORDS.get(game["phase"], str(game["phase"]).lower())
    if game["phase"] == "END":
        return {"town": "The town has won", "mafia": "The mafia have won"}.get(game["winner"], "Nobody has won")
    return f"{words.capitalize()} {game['roundNumber']}"


def _news(state: TurnState) -> str:
    game = state.game_state
    votings = game["votingHistory"]
    result = game["lastNightResult"]
    if game["phase"] == "END":
        return f"Over in round {game['roundNumber']}"
    if game["phase"] == "NIGHT_ACTIONS":
        if not votings:
            return "The village sleeps"
        gone = votings[-1]["eliminated"]
        return f"{short(gone, 20)} was voted out" if gone else "Nobody was voted out"
    if result and result["killed"]:
        return f"{short(result['killed'], 20)} was killed in the night"
    return "Nobody was killed in the night"


def _acting(states: Sequence[TurnState]) -> str | None:
    return next((state.current_turn_agent_id for state in states if state.current_turn_agent_id), None)


def _voted_out(game: Row) -> set[str]:
    return {row["eliminated"] for row in game["votingHistory"]}


def _today(game: Row) -> list[Row]:
    return [entry for entry in game["statements"] if entry["round"] == game["roundNumber"]]


def _roles(states: Sequence[TurnState]) -> dict[str, str]:
    """Return every role that is known in one of `states`."""
    return {
        player["id"]: player["role"]
        for state in states
        for player in (*state.game_state["players"], *filter(None, [state.game_state.get("self")]))
        if player.get("role") not in (None, "unknown")
    }


@remembered
def _place(i: int, count: int) -> tuple[float, float]:
    """Return the place of a player: equally far from its neighbours along the ring, the first at the top."""
    angle = _angles()[i * STEPS // count]
    return CENTRE[0] + ACROSS * cos(angle), CENTRE[1] + 6 + DOWN * sin(angle)


@remembered
def _angles() -> list[float]:
    """Return the angles of `STEPS` equally spaced points on the ring, clockwise from the top."""
    fine = [-pi / 2 + 2 * pi * k / 20_000 for k in range(20_001)]
    points = [(ACROSS * cos(angle), DOWN * sin(angle)) for angle in fine]
    gone = [0.0, *accumulate(dist(*pair) for pair in pairwise(points))]
    return [fine[bisect(gone, gone[-1] * k / STEPS)] for k in range(STEPS)]


@remembered
def _light(night: bool) -> str:
    if night:
        stars = [(60, 70), (120, 46), (560, 84), (590, 330), (40, 300), (200, 60), (480, 52), (88, 360), (540, 372)]
        moon = '<path d="M592 46a26 26 0 1 0 18 44 21 21 0 1 1-18-44z" fill="#f2e6b8"/>'
        return group(moon, *(disc(x, y, 1.5, "#cfd6e6") for x, y in stars))
    return disc(588, 66, 20, "#f7d774")


@remembered
def _deep(colour: str) -> str:
    """Return a darker colour, on which white words can be read (a contrast of 4.5 with all colours of seats)."""
    return "#" + "".join(f"{int(0.82 * int(colour[i : i + 2], 16)):02x}" for i in (1, 3, 5))


@remembered
def _token(
    agent: str, name: str, role: str | None, place: tuple[float, float], size: float, colour: str, end: str, night: bool
) -> str:
    """Return a player: a disc with its name, its role below. Eliminated ones are grey, with a cross and the `end`."""
    large = size == LARGE
    who, words = short(name, 8 if large else 6), role or "?"
    fitting = round(min(0.52, 3 / max(1, len(who))) * size, 1)
    width = 14 + 6.2 * len(words) if large else 8 + 5.6 * len(words)
    half = size * 0.62
    cross = [((-half, half), (half, -half)), ((-half, -half), (half, half))] if end else []
    return group(
        disc(0, 0, size, "#6c6c67" if end else _deep(colour), stroke="#fff", thick=2),
        *(line(stroke, "#5c5c58", 2.5) for stroke in cross),
        text(0, 4.5, who, fitting, fill="#fff", anchor="middle", bold=True),
        box(-width / 2, size - 3, width, 15, ROLE_INKS.get(role or "", "#e7e3d6"), round=7),
        text(0, size + 8, words, 11 if large else 10, fill="#fff" if role else INK, anchor="middle", bold=bool(role)),
        text(0, size + (24 if large else 20), end, 10 if large else 9, fill="#c9cfdb" if night else FAINT,
             anchor="middle"),
        at=place,
        opacity=0.75 if end else 1,
        agent=agent,
    )  # fmt: skip


def _end(player: Row, voted_out: Collection[str], size: float) -> str:
    """Return the way and the round of a player's elimination; "" for the living."""
    if player["alive"]:
        return ""
    end = "voted out" if player["id"] in voted_out else "killed"
    if not player.get("eliminatedRound"):
        return end
    return f"{end} in {player['eliminatedRound']}" if size == LARGE else f"{end} {player['eliminatedRound']}"


@remembered
def _mark(place: tuple[float, float], size: float, *, turn: bool, spoke: bool) -> str:
    """Return a ring around the acting player, and a bubble beside the last speaker."""
    x, y = place
    ring = f'<circle cx="{x:.5g}" cy="{y:.5g}" r="{size + 4:g}" fill="none" stroke="{TURN}" stroke-width="4"/>'
    left, top = x + size * 0.55, y - size * 1.25
    bubble = (
        f'<path d="M{left:.5g} {top:.5g}h16a4 4 0 0 1 4 4v6a4 4 0 0 1-4 4h-9l-6 6v-6h-1a4 4 0 0 1-4-4v-6'
        f'a4 4 0 0 1 4-4z" fill="#fff" stroke="{GREY}"/>'
    )
    return group(ring if turn else "", bubble if spoke else "")


def _spoke(game: Row) -> str:
    said = _today(game)
    return said[-1]["playerId"] if said and game["phase"] == "DAY_DISCUSSION" else ""


def _speech(states: Sequence[TurnState], players: Sequence[Row]) -> str:
    """Return the last public words in the middle of the village."""
    game = states[0].game_state
    speaker = _spoke(game)
    if not speaker:
        return ""
    said = [entry for entry in game["statements"] if entry["playerId"] == speaker][-1]["content"]
    words = [
        message.content for message in latest(states) if message.sender_id == speaker and message.scope == "public"
    ]
    names = {player["id"]: player["name"] or player["id"] for player in players}
    lines = wrapped(words[-1] if words else said, 40, 5)
    who = short(names.get(speaker, speaker), 20)
    width = 28 + 7 * max(map(len, [who, *lines]))
    tall = 18 * len(lines) + 30
    top = CENTRE[1] - tall / 2
    return group(
        box(320 - width / 2, top, width, tall, "#fff", round=10, stroke=LINE),
        text(320, top + 19, who, 13, anchor="middle", bold=True),
        *(text(320, top + 19 + 18 * (i + 1), row, 13, anchor="middle") for i, row in enumerate(lines)),
    )


def _arrows(states: Sequence[TurnState], roles: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """Return the arrows: from, to, colour and dashes of each."""
    game = states[0].game_state
    if game["phase"] == "NIGHT_ACTIONS":
        chosen = {who: target for state in states for who, target in state.game_state.get("nightActions", {}).items()}
        if chosen:
            return [(who, target, CHOICES.get(roles.get(who, ""), GREY), "") for who, target in chosen.items()]
    if game["phase"] == "DAY_DISCUSSION":
        against = [
            (entry, entry["type"] == "accusation" or (entry["type"] == "claim" and bool(entry["isMafia"])))
            for entry in _today(game)
            if entry["targetId"] not in (None, "", entry["playerId"])
        ]
        return [(entry["playerId"], entry["targetId"], RED if bad else GREEN, "5 4") for entry, bad in against]
    votes = {}
    if game["phase"] == "DAY_VOTING":
        votes = {state.agent_id: state.game_state.get("ownVote") for state in states if state.agent_id}
    elif game["votingHistory"]:
        votes = game["votingHistory"][-1]["votes"]
    colour = PALE if game["phase"] == "NIGHT_ACTIONS" else GREY
    return [(who, target, colour, "") for who, target in votes.items() if target]


@remembered
def _arrow(start: tuple[float, float], end: tuple[float, float], size: float, colour: str, dashes: str) -> str:
    (x, y), (to_x, to_y) = start, end
    far = hypot(to_x - x, to_y - y)
    if far < 1:  # oneself
        return f'<circle cx="{x:.5g}" cy="{y - size - 6:.5g}" r="9" fill="none" stroke="{colour}" stroke-width="2.5"/>'
    across, down = (to_x - x) / far, (to_y - y) / far
    base = x + across * (size + 3), y + down * (size + 3)
    tip = to_x - across * (size + 4), to_y - down * (size + 4)
    wings = [(tip[0] - 11 * across + side * 5 * down, tip[1] - 11 * down - side * 5 * across) for side in (1, -1)]
    head = " ".join(f"{px:.5g},{py:.5g}" for px, py in (tip, *wings))
    return line([base, tip], colour, 2.2, dashes=dashes) + f'<polygon points="{head}" fill="{colour}"/>'


def _legend(states: Sequence[TurnState], game: Row) -> list[tuple[float, str, str]]:
    """Return the legend of the arrows: position, text, colour."""
    if game["phase"] == "NIGHT_ACTIONS" and any(state.game_state.get("nightActions") for state in states):
        return [(496, "kill", RED), (566, "protect", GREEN), (624, "check", CHOICES["sheriff"])]
    if game["phase"] == "DAY_DISCUSSION":
        return [(566, "accuse", RED), (624, "defend", GREEN)]
    if game["phase"] == "DAY_VOTING":
        return [(624, "votes are sealed" if len(states) == 1 else "votes so far", GREY)]
    return [(624, "the last vote", GREY)] if game["votingHistory"] else []


def _messages(states: Sequence[TurnState]) -> list[str]:
    said = latest(states)[-2:]
    rows = [
        text(16, 446 + 18 * i, short(f"{message.sender_id}: {message.content}", 82), 12, fill=FAINT)
        for i, message in enumerate(said)
    ]
    return [line([(16, 430), (624, 430)], LINE), *rows, *[""] * (2 - len(rows))]


def render(max_days: int, states: Sequence[TurnState]) -> str:
    """Return a few lines of text (see `Renderer.text`). `max_days`: how many days there are at most."""
    game, roles, acting = states[0].game_state, _roles(states), _acting(states)
    players: list[Row] = game["players"]
    lines = [f"{game['phase']} · round {game['roundNumber']} · day {game['dayNumber']} of {max_days}"]
    lines.append(_last_night(game))
    ids, voted_out = [player["id"] for player in players], _voted_out(game)
    today = _today(game) if game["phase"] in ("DAY_DISCUSSION", "DAY_VOTING") else []
    seen, night = {state.agent_id: state.game_state for state in states}, game["phase"] == "NIGHT_ACTIONS"
    voted = ids[: ids.index(acting)] if game["phase"] == "DAY_VOTING" and acting in ids else []
    for player in players:
        who = player["id"]
        marks = [" ".join(f'"{entry["content"]}"' for entry in today if entry["playerId"] == who)]
        if night and (chosen := seen.get(who, {}).get("nightActions", {}).get(who)):
            marks.append(f"chose {chosen}")
        if who in seen and who in voted:
            marks.append(f"voted for {seen[who]['ownVote']}" if seen[who]["ownVote"] else "abstained")
        if not player["alive"]:
            marks = [f"{'voted out' if who in voted_out else 'killed'} in round {player['eliminatedRound']}"]
        turn, role = ">" if who == acting else " ", roles.get(who, "unknown")
        lines.append(f"{turn} {who:<4}{role:<9} {'  '.join(filter(None, marks))}".rstrip())
    if game["votingHistory"]:
        cast = ", ".join(f"{voter} {target}" for voter, target in game["votingHistory"][-1]["votes"].items())
        lines.append(f"latest vote: {cast or 'all abstained'}")
    if game["phase"] == "END":
        lines.append(f"over: {game['winner']} wins" if game["winner"] else "over: no winner")
    return "\n".join(lines)


def _last_night(game: Row) -> str:
    if not game["dayNumber"]:
        return "the first night"
    killed = (game["lastNightResult"] or {}).get("killed")
    return f"last night {killed} was killed" if killed else "last night nobody died"
