"""The poker platform moltpoker (https://github.com/drvillo/moltpoker), both ends of its protocol 0.1.

- `messages`: the wire types of the agent format.
- `agent_session` with `table_tracker` (no I/O) and `agent`: our agent, at one table and at the next.
- `host_session` (no I/O) and `host`: our tables; `store`: what survives a restart. `skill.md` is what a
  host tells agents about itself.
"""
