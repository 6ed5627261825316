"""A scripted model for the adapters of trainers, which plays the same episode on a match of its own."""

import random

import msgspec
import numpy as np
from parlour.envs import Match


class Mirror:
    """Answers with random legal actions; every fifth decision is nonsense until the safe action is played for it.

    `returns` has the returns of all seats by the match, with no penalty; `early` the part of them that a seat gains
    before its first decision. Give it the retries of the table.
    """

    def __init__(self, game, seed, retries=1):
        self.game, self.match, self.retries = game, Match(game), retries
        self.random = random.Random(seed)
        self.match.reset(seed)
        self.returns = dict.fromkeys(game.agents, 0.0)
        self.early = dict(self.returns)
        self.decided = set()
        self.asked, self.decisions, self.replaced = 0, 0, 0

    @property
    def agent(self):
        return self.game.agents[self.match.turn]

    def __call__(self, agent):
        assert agent == self.agent
        self.decided.add(agent)
        match, view = self.match, self.game.view
        if self.decisions % 5 == 4:
            self.asked += 1
            if self.asked > self.retries:
                match.play(view.safe(match.table))
                self.replaced += 1
                self._played()
            return "I do not know."
        index = int(self.random.choice(np.flatnonzero(match.mask)))
        action = view.encode(match.table, index).action
        assert match.submit(agent, action).ok
        self._played()
        return msgspec.json.encode(action).decode()

    def _played(self):
        self.asked = 0
        self.decisions += 1
        for agent, gain in zip(self.game.agents, self.match.rewards, strict=True):
            self.returns[agent] += gain / self.game.payoffs.unit
            if agent not in self.decided:
                self.early[agent] += gain / self.game.payoffs.unit
