"""Common parts of all live protocols.

- `player`: a turn of our agent, the agent in its thread, and what plays at a port.
- `match_session`: a hosted match, without I/O.
- `server`, `limits`, `database`: an HTTP and WebSocket server, and who may do what.
- `client`: connecting to a server, with retries and pings.
- `clock`: deadlines, and the room of what a host waits for.
- `activity`, `health`: what a program that runs for weeks tells about itself.
"""
