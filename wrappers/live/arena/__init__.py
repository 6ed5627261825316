"""TurnState arenas: our agents on them, and a host of our own for every game."""
