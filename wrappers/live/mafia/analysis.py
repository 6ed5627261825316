"""`GameAnalysis` of the AgentPolicy document: what follows from a context and an agent's private information."""

from collections.abc import Mapping

from msgspec import Struct

from ....envs.mafia.suspicion import suspicions
from .conversion import known_roles, of_context, turn_state
from .messages import GameState, PrivateInfo, StatementType


class PastVote(Struct, rename="camel", omit_defaults=True):
    """A vote of one player: the round, the target's id, and the target's role if it is known."""

    round: int
    voted_for: str
    target_role: str | None = None


class PastStatement(Struct, rename="camel", omit_defaults=True):
    """A statement of one player; ``target`` is an id or None."""

    round: int
    type: StatementType
    content: str
    target: str | None = None


class GameAnalysis:
    """The five methods of the document for one agent at one moment.

    Args:
        agent_id: the agent's id.
        context: the context of the agent's call.
        private: the agent's private information; None: public information and its own role only.
    """

    def __init__(self, agent_id: str, context: GameState, private: PrivateInfo | None = None) -> None:
        self._agent_id = agent_id
        self._context = context
        self._private = private
        self._roles = known_roles(agent_id, context, private)
        self._ids = {player.name: player.id for player in context.players}
        self._ids |= {player.id: player.id for player in context.players}

    def get_voting_history(self, player_id: str) -> list[PastVote]:
        """Return a player's votes, round by round, without abstentions; [] for an unknown player."""
        past = []
        for voting in self._context.voting_history:
            for voter, target in voting.votes.items():
                if self._ids.get(voter) == player_id and target in self._ids:
                    voted_for = self._ids[target]
                    past.append(PastVote(voting.round, voted_for, self._roles.get(voted_for)))
        return past

    def get_suspicious_players(self, threshold: float) -> list[str]:
        """Return the living others whose suspicion is at least `threshold` (0 to 100), the most suspicious first.

        Suspicion is that of the scripted players (`parlour.envs.mafia.encoders.v0.suspicion`).
        """
        points = self.suspicion()
        living = {player.id for player in self._context.players if player.alive} - {self._agent_id}
        suspects = [player for player in points if player in living and points[player] >= threshold]
        return sorted(suspects, key=lambda player: -points[player])

    def suspicion(self) -> dict[str, float]:
        """Return the agent's suspicion of every player, by id, 0 to 100."""
        players = self._context.players
        tables, seat = of_context(self._context).view.load(
            turn_state(self._agent_id, self._context, self._private, my_turn=False)
        )
        points = suspicions(tables[0], seat)
        return {player.id: float(points[i]) for i, player in enumerate(players)}

    def get_player_statements(self, player_id: str) -> list[PastStatement]:
        """Return a player's statements, in order; [] if the host does not send statements."""
        return [
            PastStatement(said.round, said.type, said.content, said.target_id)
            for said in self._context.statements or ()
            if said.player_id == player_id
        ]

    def is_confirmed_town(self, player_id: str) -> bool:
        """Return whether a player is surely not mafia: by a revealed role, an own result, or team knowledge."""
        role = self._roles.get(player_id)
        if role is not None:
            return role != "mafia"
        if self._roles.get(self._agent_id) == "mafia" and self._private is not None:
            return any(player.id == player_id for player in self._context.players)
        return self._results().get(player_id) is False

    def is_confirmed_mafia(self, player_id: str) -> bool:
        """Return whether a player is surely mafia, in the same ways."""
        return self._roles.get(player_id) == "mafia"

    def _results(self) -> Mapping[str, bool]:
        if self._private is None or self._roles.get(self._agent_id) != "sheriff":
            return {}
        return {result.target.id: result.is_mafia for result in self._private.private_knowledge.investigation_results}
