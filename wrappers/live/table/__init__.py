"""A table in the browser, for every game: people play with policies, bots and each other.

- `messages`: the wire types between page and table; `page/`: the page.
- `host`: a table of any TurnState game, its session without I/O, and what stays of its matches.
- `poker`: hold'em, where people come, sit out and leave between hands.
"""
