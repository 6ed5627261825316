"""Measurements of `parlour bench` in a checkout alone: other libraries, live play, replays, several processes.

`MEASURES` has the module and the function of each by its name.
"""

MEASURES = {
    "openspiel": ("peers", "openspiel"),
    "openspiel-auction": ("peers", "openspiel_auction"),
    "pettingzoo": ("peers", "pettingzoo"),
    "sibling": ("sibling", "sibling"),
    "actors": ("actors", "actors"),
    "godot": ("godot", "godot"),
    "arena": ("arena", "arena"),
    "mafia-host": ("mafia", "mafia_host"),
    "replay": ("replay", "replay"),
}
