"""What all games share: TurnState, the game's contract, and the environments over it."""
