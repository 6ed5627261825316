"""A lobby: a page with the open tables of all games, where people open tables, invite others and see results."""
