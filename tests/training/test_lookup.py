"""Which games have opponents: a fact of their payoffs."""

from dataclasses import replace

import nim
import pytest
from parlour import envs
from parlour.envs import Payoffs
from parlour.training.commands.lookup import require_opponents


def test_where_all_share_one_reward_nobody_wins_from_another():
    game = replace(nim.game(), payoffs=Payoffs(0, 1, shared=True))  # and it has no sets that are held out
    with pytest.raises(ValueError, match=r"in nim all seats share one reward.*: `parlour evaluate crossplay` measures"):
        require_opponents(game)
    with pytest.raises(ValueError, match=r"in tangram all seats share .*: `parlour evaluate held-out` measures"):
        require_opponents(envs.game("tangram"))


@pytest.mark.parametrize("name", ["nim", "holdem", "trust", "mafia"])
def test_all_other_games_have_opponents(name):
    require_opponents(nim.game() if name == "nim" else envs.game(name))
