"""Negotiators of NegMAS (https://negmas.readthedocs.io) as agents here, to copy.

    agent = NegotiatorAgent(negmas.sao.NiceNegotiator)  # answers TurnStates of multi_issue_bargaining

NegMAS's own negotiators may draw from Python's and NumPy's global random states.

pip install parlour negmas
python examples/negmas_bargaining.py
"""

from collections.abc import Callable, Mapping
from typing import Any

import negmas.sao
from negmas import LinearAdditiveUtilityFunction, SAOMechanism, make_issue
from negmas.preferences.value_fun import TableFun
from negmas.sao import ResponseType, SAOCallNegotiator, SAOResponse
from parlour.envs import Action, AgentResponse, Match, TurnState, game
from parlour.wrappers import PolicyAgent

GAME = "multi_issue_bargaining"
OFFER, ACCEPT, WALK_AWAY, PASS = "submit_offer", "accept", "walk_away", "pass"


class NegotiatorAgent:
    """A negotiator of NegMAS as an agent of `multi_issue_bargaining`, for `Match`, arenas and evaluation.

    In every match it negotiates in a mechanism of NegMAS, in which the other agents make the moves of the match.

    Args:
        make: ``make() -> negotiator``: a new negotiator without a utility function, such as the class
            ``negmas.sao.AspirationNegotiator``. It gets the preferences that the match shows.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._match: _Match | None = None

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn; a negotiator that neither offers nor accepts passes."""
        if self._match is None or self._match.key != (state.match_id, state.agent_id) or not self._match.fits(state):
            self._match = _Match(self._make(), state)
        return AgentResponse(self._match.respond(state))


class _Other(SAOCallNegotiator):
    """Stands for another agent of the match, whose moves are given to the mechanism."""

    def __call__(self, state: Any, dest: str | None = None) -> SAOResponse:
        """Never called, because each of its responses is given."""
        raise AssertionError("the response of another agent was not given")


class _Match:
    """The mechanism of one match."""

    def __init__(self, negotiator: Any, state: TurnState) -> None:
        game = state.game_state
        self.key = (state.match_id, state.agent_id)
        self._agents: list[str] = list(game["agent_ids"])
        self._counts: Mapping[str, int] = game["issues"]
        issues = [make_issue(count, name) for name, count in self._counts.items()]
        self._mechanism = SAOMechanism(
            issues=issues,
            n_steps=int(game["max_rounds"]) * len(self._agents),
            one_offer_per_step=True,  # one turn of the match
            end_on_no_response=False,
            sync_calls=True,
        )
        ufun = LinearAdditiveUtilityFunction(
            {name: TableFun(dict(enumerate(worth))) for name, worth in game["my_preferences"].items()},
            issues=issues,
            reserved_value=game["my_reservation_value"],
        )
        self._negotiators = [negotiator if agent == state.agent_id else _Other() for agent in self._agents]
        for agent, participant in zip(self._agents, self._negotiators, strict=True):
            self._mechanism.add(participant, **({"ufun": ufun} if agent == state.agent_id else {}))
        self._played = 0

    def fits(self, state: TurnState) -> bool:
        """Return whether the mechanism has got no further than the match."""
        return self._played <= len(state.game_state["action_history"])

    def respond(self, state: TurnState) -> Action:
        """Make the moves of the match up to this turn, and return the negotiator's."""
        for row in state.game_state["action_history"][self._played :]:
            mover = self._negotiators[self._agents.index(row["agent_id"])]
            self._mechanism.step({mover.id: self._response(row)})
        me = self._negotiators[self._agents.index(state.agent_id)]
        before = self._mechanism.state
        own, accepted = before.current_proposer == me.id, before.n_acceptances
        self._mechanism.step()
        self._played = len(state.game_state["action_history"]) + 1
        now = self._mechanism.state
        if now.new_offers and now.new_offers[-1][0] == me.id and now.new_offers[-1][1] is not None:
            return Action(OFFER, dict(zip(self._counts, map(int, now.new_offers[-1][1]), strict=True)))
        if now.agreement is not None or now.n_acceptances > accepted:
            return Action(PASS if own else ACCEPT)  # before any answer, NegMAS asks about the agent's own offer
        return Action(WALK_AWAY if now.broken or now.left_negotiators else PASS)

    def _response(self, row: Mapping[str, Any]) -> SAOResponse:
        if row["action"] == OFFER:
            return SAOResponse(ResponseType.REJECT_OFFER, tuple(row["offer"][name] for name in self._counts))
        if row["action"] == ACCEPT:
            return SAOResponse(ResponseType.ACCEPT_OFFER, self._mechanism.state.current_offer)
        return SAOResponse(ResponseType.NO_RESPONSE, None)


def main():
    """Let a negotiator of NegMAS negotiate with a bot of Parlour, and return the outcome."""
    table = game(GAME)
    match = Match(table)
    match.reset(seed=1)
    agents = (
        NegotiatorAgent(negmas.sao.AspirationNegotiator),
        PolicyAgent(table, table.bots["aspiration-linear"](table)),
    )
    while not match.table.done:
        agent = table.agents[match.turn]
        match.submit(agent, agents[match.turn].respond(match.turn_state(agent)).action)
    outcome = match.turn_state(table.agents[0]).outcome
    print(outcome)
    return outcome


if __name__ == "__main__":
    main()
