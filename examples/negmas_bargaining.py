"""Negotiations with NegMAS (https://negmas.readthedocs.io): domains, and negotiators of both sides.

    options = read_domain("folder")                        # Genius, GeniusWeb or NegMAS files
    mechanism.add(PolicyNegotiator(game, policy), ufun=u)  # a policy of Parlour in NegMAS
    agent = NegotiatorAgent(negmas.sao.NiceNegotiator)     # a negotiator of NegMAS as an agent here

NegMAS's own negotiators may draw from Python's and NumPy's global random states.

pip install parlour negmas
python examples/negmas_bargaining.py
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from os import PathLike
from typing import Any

import negmas.sao
from negmas import LinearAdditiveUtilityFunction, SAOMechanism, make_issue
from negmas.inout import Scenario
from negmas.preferences.value_fun import TableFun
from negmas.sao import ResponseType, SAOCallNegotiator, SAOResponse
from parlour.envs import Action, AgentResponse, AllowedAction, Game, Match, Policy, TurnState, game
from parlour.wrappers import PolicyAgent

GAME = "multi_issue_bargaining"
OFFER, ACCEPT, WALK_AWAY, PASS = "submit_offer", "accept", "walk_away", "pass"

Worth = list[list[float]]
"""What every value of every issue is worth to an agent, from 0 to 1."""


def read_domain(folder: str | PathLike[str], rounds: int = 20) -> dict[str, Any]:
    """Return the options of `multi_issue_bargaining` for a domain in Genius's, GeniusWeb's or NegMAS's files.

    Args:
        folder: the folder with the domain and one profile per agent.
        rounds: the game's option.

    Raises:
        ValueError: if there is no domain, or `domain_options` refuses it.
    """
    scenario = Scenario.load(folder)
    if scenario is None:
        raise ValueError(f"{folder} holds no domain of Genius, GeniusWeb or NegMAS")
    return domain_options(scenario.issues, scenario.ufuns, rounds)


def domain_options(issues: Sequence[Any], ufuns: Iterable[Any], rounds: int = 20) -> dict[str, Any]:
    """Return the options of `multi_issue_bargaining` for issues and utility functions of NegMAS.

    The utilities are shifted and scaled so that the best outcome is worth 1 to each agent, and the worst value of each
    issue 0.

    Raises:
        ValueError: if an issue is not discrete or a utility function is not linear and additive.
    """
    scaled = [_scaled(issues, ufun) for ufun in ufuns]
    return {
        "seats": len(scaled),
        "issues": {issue.name: len(values) for issue, values in zip(issues, _values(issues), strict=True)},
        "rounds": rounds,
        "preferences": [worth for worth, _ in scaled],
        "reservations": [[least, least] for _, least in scaled],
    }


def _values(issues: Iterable[Any]) -> list[list[Any]]:
    """Return the values of each issue, in NegMAS's order."""
    values = []
    for issue in issues:
        if not issue.is_discrete():
            raise ValueError(
                f"the issue {issue.name} is continuous: make it discrete first (negmas.outcomes.discretize…)"
            )
        values.append(list(issue.all))
    return values


def _scaled(issues: Sequence[Any], ufun: Any) -> tuple[Worth, float]:
    """Return what each value is worth, and the reservation value; both scaled, the latter to 0 to 1."""
    if not isinstance(ufun, LinearAdditiveUtilityFunction):
        raise ValueError(f"{type(ufun).__name__} is not a linear additive utility function")
    worth = [
        [weight * float(value_of(value)) for value in values]
        for weight, value_of, values in zip(ufun.weights, ufun.values, _values(issues), strict=True)
    ]
    least = [min(values) for values in worth]
    width = sum(map(max, worth)) - sum(least)
    if width <= 0:
        raise ValueError("a utility function gives all outcomes the same utility")
    reserved = float(ufun.reserved_value)
    shift = sum(least) + float(getattr(ufun, "bias", 0.0) or 0.0)
    scaled = [[(value - low) / width for value in values] for values, low in zip(worth, least, strict=True)]
    return scaled, min(max((reserved - shift) / width, 0.0), 1.0) if isfinite(reserved) else 0.0


class PolicyNegotiator(SAOCallNegotiator):
    """A policy of Parlour as a negotiator of NegMAS. Its utility function needs to be linear and additive.

    The policy's rounds are matched with the share of the negotiation that has passed. It does not pass: NegMAS takes a
    missing offer for the end.

    Args:
        game: `multi_issue_bargaining` as the policy was trained on it: with as many agents, and as many values of each
            issue. The names of issues and values may differ.
        policy: the policy.
        others: arguments of NegMAS's negotiators, such as ``name``.

    Raises:
        ValueError: when the negotiation begins, if its domain does not fit the game.
    """

    def __init__(self, game: Game, policy: Policy, **others: Any) -> None:
        super().__init__(**others)
        if game.name != GAME:
            raise ValueError(f"{game.id} is not {GAME}")
        self._game, self._agent = game, PolicyAgent(game, policy)
        self._begun: str | None = None

    def _begin(self) -> None:
        """Read the domain. NegMAS hides errors in ``on_negotiation_start``, so the first turn does it."""
        issues = self.nmi.issues
        table = self._game.rules.blank[0]
        counts = [int(count) for count in table.values[: int(table.issues)]]
        self._values = _values(issues)
        own_counts = list(map(len, self._values))
        if own_counts != counts or self.nmi.n_negotiators != self._game.seats:
            raise ValueError(
                f"{self.nmi.n_negotiators} agents with {own_counts} values of the issues: the policy was trained with "
                f"{self._game.seats} agents and {counts} values"
            )
        self._names = list(self._game.view.action_spaces[OFFER])
        self._worth, self._least = _scaled(issues, self.ufun)
        self._begun = self.nmi.id

    def __call__(self, state: Any, dest: str | None = None) -> SAOResponse:
        """Answer the current offer with the policy's action."""
        if self._begun != self.nmi.id:
            self._begin()
        answer = self._agent.respond(self._turn_state(state)).action
        if answer.action_type == ACCEPT:
            return SAOResponse(ResponseType.ACCEPT_OFFER, state.current_offer)
        if answer.action_type == WALK_AWAY:
            return SAOResponse(ResponseType.END_NEGOTIATION, None)
        outcome = tuple(values[answer.payload[name]] for name, values in zip(self._names, self._values, strict=True))
        return SAOResponse(ResponseType.REJECT_OFFER, outcome)

    def _turn_state(self, state: Any) -> TurnState:
        ids, current = list(self.nmi.negotiator_ids), state.current_offer
        rows = self._rows(ids)
        return TurnState(
            match_id=str(self.nmi.id),
            game_id=self._game.id,
            agent_id=self.id,
            phase="negotiation",
            is_my_turn=True,
            current_turn_agent_id=self.id,
            game_state={
                "agent_ids": ids,
                "current_offer": None if current is None else self._offer(current),
                "last_offer_by": None if current is None else state.current_proposer,
                "acceptances": {} if current is None else dict.fromkeys(self._accepted(ids, state), True),
                "action_history": rows,
                "my_preferences": dict(zip(self._names, self._worth, strict=True)),
                "my_reservation_value": self._least,
            },
            allowed_actions=[
                AllowedAction(OFFER, "", {}),
                *([] if current is None else [AllowedAction(ACCEPT, "", {})]),
                AllowedAction(WALK_AWAY, "", {}),
            ],
        )

    def _offer(self, outcome: Sequence[Any]) -> dict[str, int]:
        return {
            name: values.index(value) for name, values, value in zip(self._names, self._values, outcome, strict=True)
        }

    def _accepted(self, ids: Sequence[str], state: Any) -> list[str]:
        """Return who has accepted the current offer: all between its proposer and this negotiator."""
        proposer, me = ids.index(state.current_proposer), ids.index(self.id)
        return [ids[(proposer + k) % len(ids)] for k in range(1, (me - proposer) % len(ids))]

    def _rows(self, ids: Sequence[str]) -> list[dict[str, Any]]:
        """Return the offers as a history whose length is that of the policy's game after the same share of the time."""
        rows: list[dict[str, Any]] = []
        for _, agent, outcome in self.nmi.extended_trace:
            while ids[len(rows) % len(ids)] != agent:  # who made no offer accepted
                rows.append({"agent_id": ids[len(rows) % len(ids)], "action": PASS})
            if outcome is not None:
                rows.append({"agent_id": agent, "action": OFFER, "offer": self._offer(outcome)})
        while ids[len(rows) % len(ids)] != self.id:
            rows.append({"agent_id": ids[len(rows) % len(ids)], "action": PASS})
        rounds = int(self._game.options["rounds"])
        now = min(int(self.nmi.state.relative_time * rounds), rounds - 1)
        before = now - len(rows) // len(ids)
        silent = [{"agent_id": agent, "action": PASS} for agent in ids] * max(before, 0)
        return [*silent, *rows[max(-before, 0) * len(ids) :]]


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
