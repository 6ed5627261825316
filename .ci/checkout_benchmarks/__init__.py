"""Measurements of `parlour bench` in a checkout alone: other libraries, live play, replays, several processes.

`MEASURES` has the module and the function of each by its name.
"""

MEASURES = {
    "peers": ("peers", "peers"),
    "solve": ("solvers", "solvers"),
    "search": ("search", "search"),
    "sibling": ("sibling", "sibling"),
    "actors": ("actors", "actors"),
    "godot": ("godot", "godot"),
    "arena": ("arena", "arena"),
    "mafia-host": ("mafia", "mafia_host"),
    "replay": ("replay", "replay"),
}
