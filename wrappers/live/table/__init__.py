"""A table in the browser, at every game: people beside policies, bots and each other.

- `messages`: the wire types between page and table; `page/`: the page itself.
- `host_session` (no I/O) and `host`: a table of any TurnState game.
- `poker`: hold'em over the poker platform's protocol, with the same page.
"""
