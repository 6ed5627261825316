"""TurnState ──► record: with what a player may know. It reads the states of strategic-agent-games, too."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..core.record import Tables
from ..core.turn_state import Message, TurnState, or_else
from ..mafia import load_state as mafia
from ..mafia.statements import READY, code_of, from_wire, read
from ..mafia.view import Investigation, Knowledge, MafiaState, NightResult, Player, VotingRound
from .view import PHASES, SPOKE, TEAMS, Statement, WerewolfState, in_mafia, role_of

Seats = Mapping[str, int]


def load(blank: Tables, state: TurnState) -> tuple[Tables, int]:
    """Rebuild the record with what the seat of `state` may know; the rest is blank.

    Agents may have any names: ``agent_ids`` gives the seats. If the host does not send ``statements``, they are read
    from the public messages, in order, as many a day as the game has. A state without fields, as the platform sends it
    after the end, is read as the end of the first day.

    Args:
        blank: a table with the options that TurnState does not have.
        state: the match's TurnState.

    Returns:
        The record (recarray of shape (1,)) and the seat in it.

    Raises:
        KeyError, TypeError, ValueError: if `game_state` lacks a field, or holds what cannot be.
    """
    if state.game_over:
        state = msgspec.structs.replace(state, game_state={**_bare(int(blank[0].seats), state), **state.game_state})
    game = WerewolfState.of(state)
    seats = {agent: seat for seat, agent in enumerate(game.agent_ids)}

    def write_rest(row: Any) -> None:
        row["opener"] = 0
        for voter, target in or_else(game.votes_so_far, {}).items():
            row["votes"][(game.day - 1) * int(row["seats"]) + seats[voter]] = seats[target]
        rounds, said = int(row["discussion_rounds"]), game.statements
        statements = _heard(game, state.messages, seats, rounds) if said is None else _codes(said, seats)
        mafia.write_statements(row, statements, row["alive"].tolist(), rounds - 1)

    seen, fields = as_mafia(state, game)
    return mafia.load_state(blank, seen, msgspec.structs.replace(state, **fields), write_rest)


def _bare(seats: int, state: TurnState) -> dict[str, Any]:
    """Return the fields of a state that lacks them."""
    ids = [row["agent_id"] for row in (state.outcome or {}).get("payoffs", ())] or [f"p{k + 1}" for k in range(seats)]
    ids = ids if state.agent_id in ids else [state.agent_id, *ids[1:]]
    roles = (state.outcome or {}).get("roles", {})
    return {"agent_ids": ids, "day": 1, "my_role": roles.get(state.agent_id, "villager"), "event_log": []}


def as_mafia(state: TurnState, game: WerewolfState) -> tuple[MafiaState, dict[str, Any]]:
    """Return the same content as mafia has it: its `game_state`, and ``phase`` and ``outcome`` of its TurnState.

    Args:
        state: the TurnState of werewolf.
        game: its `game_state`.
    """
    dead = {row.agent_id: row for row in game.event_log if row.agent_id and row.role}
    roles = _roles(state, game, dead)
    players = [
        Player(
            id=agent,
            name=agent,
            role=roles.get(agent, "unknown"),
            alive=agent not in dead,
            eliminated_round=dead[agent].day if agent in dead else None,
        )
        for agent in game.agent_ids
    ]
    by_id = {player.id: player for player in players}
    phase = "END" if state.game_over else PHASES.get(state.phase, "DAY_DISCUSSION")
    wolves = sum(row.role == "werewolf" for row in dead.values())
    outcome = dict(state.outcome or {})
    winner = outcome.get("winner") or str(outcome.get("reason")).removesuffix("_win")  # an observer gets the reason
    if winner in TEAMS:
        outcome["winner"] = ("town", "mafia")[TEAMS.index(winner)]
    seen = MafiaState(
        phase=phase,
        day_number=game.day - (phase == "NIGHT_ACTIONS"),
        round_number=game.day,
        players=players,
        own=by_id.get(state.agent_id),
        mafia_count=2 - wolves,
        town_count=len(players) - len(dead) - 2 + wolves,
        winner=outcome.get("winner"),
        last_night_result=None if game.last_killed is None else NightResult(killed=game.last_killed.agent_id),
        voting_history=_votings(game),
        private_knowledge=Knowledge(
            mafia_teammates=[by_id[agent] for agent in or_else(game.fellow_werewolves, [])],
            investigation_results=[
                Investigation(target=by_id[row.target], is_mafia=row.is_werewolf, round=row.day)
                for row in or_else(game.my_inspections, [])
            ],
        ),
        night_actions=game.werewolf_nominations,
        statements=[],
        own_vote=None,
    )
    return seen, {"phase": phase, "outcome": outcome or None}


def _roles(state: TurnState, game: WerewolfState, dead: Mapping[str, Any]) -> dict[str, str]:
    """Return the roles that the state tells, in the words of mafia."""
    roles = {agent: row.role for agent, row in dead.items()}
    found = [row.target for row in or_else(game.my_inspections, []) if row.is_werewolf]
    roles |= dict.fromkeys([*or_else(game.fellow_werewolves, []), *found], "werewolf")
    roles |= (state.outcome or {}).get("roles", {})
    if state.agent_id:
        roles[state.agent_id] = or_else(game.my_role, "")
    return {agent: role_of(role) for agent, role in roles.items()}


def _votings(game: WerewolfState) -> list[VotingRound]:
    """Return the votes of past days; the platform tells only how many each player got."""
    history = game.voting_history
    over = [row for row in game.event_log if row.type in ("lynched", "no_lynch")]
    return [
        VotingRound(
            round=row.day,
            eliminated=or_else(row.agent_id, None),
            votes={**history[place]} if place < len(history) else {},
        )
        for place, row in enumerate(over)
    ]


def _codes(statements: Sequence[Statement], seats: Seats) -> list[tuple[int, int, int]]:
    """Return the speaker, day and code of each statement of the field ``statements``."""
    return [(seats[statement.agent_id], statement.day, _code(statement, seats)) for statement in statements]


def _code(statement: Statement, seats: Seats) -> int:
    if statement.action in ("ready_to_vote", "general"):
        return READY if statement.action == "ready_to_vote" else SPOKE
    target = -1 if statement.target is None else seats[statement.target]
    role = role_of(statement.role) if statement.role in ("werewolf", "seer", "villager") else statement.role
    return int(code_of(*from_wire(statement.action, target, role, statement.is_werewolf)))


def _heard(game: WerewolfState, messages: Sequence[Message], seats: Seats, rounds: int) -> list[tuple[int, int, int]]:
    """Return the same from public messages, which do not tell the day, and from who is ready."""
    spoken, heard = dict.fromkeys(seats, 0), []
    for message in messages:
        if message.sender_id in seats and not message.to_agent_ids:
            day = 1 + spoken[message.sender_id] // rounds
            spoken[message.sender_id] += 1
            act = read(in_mafia(message.content), seats[message.sender_id], seats)
            code = int(code_of(*act))
            heard.append((seats[message.sender_id], min(day, game.day), SPOKE if code == READY else code))
    ready = [agent for agent in or_else(game.players_ready_to_vote, []) if agent in seats]
    return heard + [(seats[agent], game.day, READY) for agent in ready]
