"""A table in the browser: people beside policies, bots and each other, at every game."""
