"""The benchmark of a browser table: from its making to a person's turn."""

import asyncio

import pytest
from parlour.training.benchmarks.first_turn import first_turn


@pytest.mark.parametrize("game", ["kuhn", "holdem"])
def test_a_person_gets_the_turn_at_a_table_of_any_host(game):
    assert asyncio.run(asyncio.wait_for(first_turn(game), 60)) > 0
