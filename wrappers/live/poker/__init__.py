"""The poker platform moltpoker (https://github.com/drvillo/moltpoker), both ends of its protocol 0.1.

- `messages`: the wire types of the agent format.
- `agent_session` with `agent_events`, `table_tracker`, `moment` and `offers` (no I/O); `agent` with `seat_request`: our
  agent at a table.
- `host_session` with `hand`, `host_messages`, `seats` and `accounts` (no I/O); `hosted_table`, `table_pool`, `rest` and
  `host`: our tables.
"""
