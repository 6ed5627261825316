"""What talk is worth: muted policies, and policies whose statements are replaced."""

import numpy as np
import pytest
from parlour.envs import game
from parlour.envs.core.rollout import play_until_done, tables_with_seed
from parlour.wrappers.policies.elsewhere import MutedPolicy, ScrambledPolicy, statements_of
from parlour.wrappers.policies.loading import make_policy

TALKING = [("mafia", {"seats": 6}), ("auction", {"seats": 3, "talk": True}), ("bargaining", {"talk": True})]


def said(made, policy, seed=3):
    """The statements in 40 episodes, and how often each action index is played."""
    actions = []
    tables = tables_with_seed(made, 40, seed)
    play_until_done(made, [policy], tables, on_decisions=lambda seen: actions.extend(seen.actions.tolist()))
    of = statements_of(made)
    return [action for action in actions if action in of], actions


@pytest.mark.parametrize(("name", "options"), TALKING)
def test_a_muted_policy_says_nothing_and_plays_on(name, options):
    made = game(name, **options)
    loud, _ = said(made, make_policy("random", made, seed=1))
    silent, played = said(made, MutedPolicy(make_policy("random", made, seed=1), made))
    assert loud and played and not silent


@pytest.mark.parametrize(("name", "options"), TALKING)
def test_a_seat_can_always_be_silent(name, options):
    made = game(name, **options)

    class Checked:
        def __init__(self):
            self.inner = make_policy("random", made, seed=2)

        def act(self, observations, masks):
            outside = masks.copy()
            outside[:, statements_of(made)] = 0
            assert outside.any(axis=1).all()
            return self.inner.act(observations, masks)

    said(made, Checked())


def test_a_scrambled_policy_talks_as_often_but_at_random():
    made = game("mafia", seats=6)
    first = statements_of(made).start

    class Accuser:
        """Always makes the first statement that it may make."""

        def act(self, observations, masks):
            return np.where(masks[:, first:].any(axis=1), first + masks[:, first:].argmax(axis=1), masks.argmax(axis=1))

    scrambled, played = said(made, ScrambledPolicy(Accuser(), made, seed=1))
    assert len(set(scrambled)) > 15
    steady, all_played = said(made, Accuser())
    assert len(set(steady)) < 6
    assert len(scrambled) / len(played) == pytest.approx(len(steady) / len(all_played), rel=0.2)
