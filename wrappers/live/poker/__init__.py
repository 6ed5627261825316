"""The poker platform moltpoker (https://github.com/drvillo/moltpoker), both ends of its protocol 0.1.

- `messages`: the wire types of the agent format.
- `agent` with `table_tracker`: our agent, at one table and at the next.
- `host`: our tables, and what survives a restart. `skill.md` is what a host tells agents about itself.
"""
