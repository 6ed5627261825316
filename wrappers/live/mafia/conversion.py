"""TurnState of our game ◄─► `GameState`, `PrivateInfo` and `PublicInfo` of the AgentPolicy document.

`ContextWriter` is for hosts: the game's view decides what an agent sees, and the writer converts it to the document's
types. `turn_state` is the inverse, for agents. The document's own host writes every player's role into the context; it
leaves out what the agent may not know: only its own role, the dead, its teammates and its results are kept.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

from msgspec import UNSET, convert, to_builtins
from msgspec.structs import asdict, replace

from ....envs import Game
from ....envs import game as make_game
from ....envs.core.turn_state import TurnState, or_else
from ....envs.mafia.table import DAYS, SPEECHES
from ....envs.mafia.view import Knowledge, MafiaState, NightResult, VotingRound
from ....envs.mafia.view import Player as PlayerState
from . import messages as wire


class ContextWriter:
    """Writes the TurnStates of one match in the document's types.

    Args:
        agents: the game's names of the players, seat by seat.
        ids, names: the players' ids and names in the match.
    """

    def __init__(self, agents: Sequence[str], ids: Sequence[str], names: Sequence[str]) -> None:
        self._ids: dict[str | None, Any] = {None: None, **dict(zip(agents, ids, strict=True))}
        self._names: dict[str | None, Any] = {None: None, **dict(zip(agents, names, strict=True))}
        self._players: dict[tuple[Any, ...], wire.Player] = {}
        self._votings: list[VotingRound] = []  # these only grow: every entry is written once
        self._statements: list[wire.Statement] = []

    def private(self, turn_state: TurnState) -> tuple[wire.GameState, wire.PrivateInfo]:
        """Return the context of a call, and the private information of its agent."""
        state = MafiaState.of(turn_state)
        players = [self._player(player) for player in state.players]
        context = wire.GameState(
            **self._about(turn_state, state),
            players=players,
            alive_players=[player for player in players if player.alive],
            dead_players=[player for player in players if not player.alive],
            mafia_count=state.mafia_count,
            town_count=state.town_count,
            winner=cast(Any, state.winner),
            last_night_result=self._last_night(state),
            statements=self._said(state, turn_state),
        )
        own = self._player(cast(PlayerState, state.own))
        return context, wire.PrivateInfo(self=own, game_state=context, private_knowledge=self._knowledge(state))

    def public(self, turn_state: TurnState) -> wire.PublicInfo:
        """Return the public information of a public TurnState."""
        state = MafiaState.of(turn_state)
        last = state.last_night_result
        return wire.PublicInfo(
            **self._about(turn_state, state),
            alive_players=[self._renamed(player) for player in state.alive_players],
            dead_players=[self._renamed(player) for player in state.dead_players],
            last_night_result=last and NightResult(killed=self._names[last.killed], prevented=last.prevented),
        )

    def _about(self, turn_state: TurnState, state: MafiaState) -> dict[str, Any]:
        numbers = {"day_number": state.day_number, "round_number": state.round_number}
        votings = self._voting_history(state)
        return {"game_id": turn_state.match_id, "phase": state.phase, "voting_history": votings, **numbers}

    def _renamed(self, player: Any) -> Any:
        return replace(player, id=self._ids[player.id], name=self._names[player.id])

    def _player(self, player: PlayerState) -> wire.Player:
        key = player.id, player.role, player.eliminated_round
        written = self._players.get(key)
        if written is None:
            name, role, gone = key
            written = self._players[key] = wire.Player(
                id=self._ids[name], name=self._names[name], role=role, alive=player.alive, eliminated_round=gone
            )
        return written

    def _last_night(self, state: MafiaState) -> wire.LastNight | None:
        last, by_id = state.last_night_result, {player.id: self._player(player) for player in state.players}
        if last is None:
            return None
        killed, protected = by_id.get(last.killed or ""), by_id.get(last.protected or "")
        return wire.LastNight(killed=killed, protected=protected, prevented=last.prevented)

    def _voting_history(self, state: MafiaState) -> list[VotingRound]:
        for voting in state.voting_history[len(self._votings) :]:
            votes = {self._names[voter]: self._names[target] for voter, target in voting.votes.items()}
            self._votings.append(replace(voting, eliminated=self._names[voting.eliminated], votes=votes))
        return self._votings.copy()

    def _said(self, state: MafiaState, turn_state: TurnState) -> list[wire.Statement]:
        """Return the statements, with their texts from the messages."""
        written = self._statements
        for i in range(len(written), len(state.statements)):
            said = state.statements[i]
            ids = {"player_id": self._ids[said.player_id], "target_id": self._ids[said.target_id]}
            written.append(wire.Statement(**{**asdict(said), **ids, "content": turn_state.messages[i].content}))
        return written.copy()

    def _knowledge(self, state: MafiaState) -> wire.PrivateKnowledge:
        own = or_else(state.private_knowledge, Knowledge())
        knowledge = wire.PrivateKnowledge(
            investigation_results=[
                wire.Investigation(target=self._player(result.target), is_mafia=result.is_mafia, round=result.round)
                for result in own.investigation_results
            ]
        )
        if own.mafia_teammates is not UNSET:
            knowledge.mafia_teammates = [self._player(mate) for mate in own.mafia_teammates or ()]
            if state.phase == "NIGHT_ACTIONS":
                tonight = or_else(state.night_actions, {}).items()
                knowledge.night_actions = {self._ids[actor]: self._ids[target] for actor, target in tonight}
        if own.last_protected is not UNSET:
            knowledge.last_protected = self._ids[own.last_protected]
        return knowledge


DECISIONS = {"SETUP": "NIGHT_ACTIONS", "MORNING_REVEAL": "DAY_DISCUSSION", "RESOLUTION": "DAY_VOTING"}
"""The phase of our game in which agents decide, by phase of the document, where it has another name."""


@cache
def game_of(seats: int, speeches: int = 1, days: int = 20, mafia: int | None = None) -> Game:
    """Return a game with this number of players, discussion rounds a day, days and mafia (None: the default number).

    Raises:
        ValueError: if a number is out of the game's range.
    """
    return make_game("mafia", seats=seats, discussion_rounds=speeches, max_days=days, mafia=mafia)


def of_context(context: wire.GameState, seats: int | None = None) -> Game:
    """Return a game that can load a context, with one seat per player, or with `seats`.

    A context does not contain the game's options. The number of discussion rounds follows from the statements, and that
    of the mafia from the dead and the number of the living. The limit of days is the default, unless the match has
    passed it. There is one doctor and one sheriff.

    Raises:
        ValueError: if a number is out of the game's range.
    """
    seats = seats or len(context.players)
    mafia = context.mafia_count + sum(not player.alive and player.role == "mafia" for player in context.players)
    days = 20 if context.round_number <= 20 else DAYS
    speeches = min(speeches_a_day(context), 8, SPEECHES // days)
    return game_of(seats, speeches, days, mafia if 1 <= mafia <= (seats - 1) // 2 else None)


def speeches_a_day(context: wire.GameState) -> int:
    """Return the most statements of a player on one day; at least 1."""
    said = [(statement.round, statement.player_id) for statement in context.statements or ()]
    return 1 if len(set(said)) == len(said) else max(Counter(said).values())


def known_roles(agent_id: str, context: wire.GameState, private: wire.PrivateInfo | None) -> dict[str, str]:
    """Return the roles that an agent may know, by player id.

    Args:
        agent_id: the agent's id.
        context: the context of its call, which may contain roles that it may not know.
        private: its private information; None: not received. Then the mafia of the context are its teammates.
    """
    over = context.phase == "END"
    roles = {}
    for player in context.players:
        if player.role not in (None, wire.UNKNOWN) and (over or not player.alive or player.id == agent_id):
            roles[player.id] = str(player.role)
    if private is None:
        if roles.get(agent_id) == "mafia":
            roles |= {player.id: "mafia" for player in context.players if player.role == "mafia"}
        return roles
    if private.self.role not in (None, wire.UNKNOWN):
        roles[agent_id] = str(private.self.role)
    if roles.get(agent_id) == "mafia":
        roles |= {mate.id: "mafia" for mate in private.private_knowledge.mafia_teammates or ()}
    elif roles.get(agent_id) == "sheriff":
        results = private.private_knowledge.investigation_results
        roles |= {result.target.id: "mafia" for result in results if result.is_mafia}
    return roles


def turn_state(agent_id: str, context: wire.GameState, private: wire.PrivateInfo | None) -> TurnState:
    """Return the TurnState of an agent that has the turn, as our game's view writes it.

    Args:
        agent_id: the agent's id.
        context: the context of the call.
        private: its latest private information; None: not received.

    Raises:
        ValueError: if it is none of the players.
    """
    roles, phase = known_roles(agent_id, context, private), DECISIONS.get(context.phase, context.phase)
    players = [replace(player, role=roles.get(player.id, wire.UNKNOWN)) for player in context.players]
    own = next((player for player in players if player.id == agent_id), None)
    if own is None:
        raise ValueError(f"{agent_id!r} is none of the players {', '.join(player.id for player in context.players)}")
    knowledge = wire.PrivateKnowledge() if private is None else private.private_knowledge
    last = context.last_night_result
    known = replace(
        context,
        game_id="mafia-v0",
        players=players,
        alive_players=[player for player in players if player.alive],
        dead_players=[player for player in players if not player.alive],
        last_night_result=None,
        statements=or_else(context.statements, []),
    )
    state = convert(known, MafiaState, from_attributes=True)
    state.phase, state.own, state.own_vote = phase, own, None
    state.private_knowledge = convert(to_builtins(knowledge), Knowledge)
    state.night_actions = or_else(knowledge.night_actions, {}) if phase == "NIGHT_ACTIONS" else {}
    if last is not None:
        killed = None if last.killed is None else last.killed.id
        protected = last.protected.id if last.protected and own.role == "doctor" else None
        state.last_night_result = NightResult(killed=killed, protected=protected, prevented=last.prevented)
    return TurnState(
        match_id=context.game_id,
        game_id="mafia-v0",
        agent_id=agent_id,
        phase=phase,
        is_my_turn=True,
        current_turn_agent_id=agent_id,
        game_state=state.to_dict(),
    )
