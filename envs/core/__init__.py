"""What all games share: the parts of a `Game`, the TurnState types, and the environments made from a `Game`."""
