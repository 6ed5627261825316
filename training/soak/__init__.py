"""Soak tests: hosts and agents in processes of their own, for hours, with faults between them.

`faults` draws the faults, `proxy` applies them between the two ends, `processes` starts, kills and measures the ends,
`claims` collects what was measured and what was broken. A protocol is one module: it starts the two ends and tells which
frames open and close a turn.
"""
