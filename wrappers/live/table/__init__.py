"""A table in the browser, for every game: people play with policies, bots and each other.

- `messages`: the wire types between page and table; `page/`: the page.
- `host_session` (no I/O) and `host`: a table of any TurnState game. `results`: what stays of its matches.
- `poker`: hold'em, where people come, sit out and leave between hands.
"""
