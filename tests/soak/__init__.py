"""Soak tests: a host and agents in processes of their own, for hours, with faults between them.

`faults` draws the faults, `proxy` applies them between the two ends, `processes` starts, kills and measures the ends,
`claims` collects what was measured and what was broken, and `soak` runs it all. `poker` is the two ends of the poker
protocol, and `poker_watch` knows the frames that open and close a turn.
"""
