"""The commands of `parlour`. Each is a module here with a function `command`, loaded when it is called.

cyclopts makes the function's parameters options; those of a dataclass are options one by one (see `arguments`).
"""

COMMANDS = {
    "demo": "train, evaluate and play at a live table, in a few minutes",
    "train": "train a policy by self-play against its past checkpoints and bots",
    "evaluate": "measure a policy against others, with confidence intervals; further measures are commands below it",
    "solve": "solve a small game exactly and write the policy",
    "play": "watch a match in the terminal, or play in it; write it as a film or a page",
    "table": "play in the browser, alone or with others, beside policies and bots; also a lobby with many tables",
    "replay": "turn a match log into a page to step through, or a film",
    "host": "host a platform's protocol: poker, an arena, mafia, tangram",
    "deploy": "let a policy play on a live platform",
    "check": "check that your own game obeys the laws of all games",
    "list": "show games, bots, the trained policies that come with Parlour (the zoo), presets and runs",
}
"""The commands by name, with their summaries."""

_HOSTS = {
    "arena": ("host:host_arena", "a TurnState arena: round robins and sessions"),
    "mafia": ("host:host_mafia", "mafia matches"),
    "poker": ("host:host_poker", "poker tables"),
    "tangram": ("host:host_tangram", "the game of tangram, which connects to an agent"),
}
_DEPLOYS = {
    "arena": ("deploy:deploy_arena", "on a TurnState arena"),
    "mafia": ("deploy:deploy_mafia", "for mafia hosts"),
    "poker": ("deploy:deploy_poker", "at poker tables"),
    "tangram": ("deploy:deploy_tangram", "for tangram games"),
}
_MEASURES = {
    "exploit": ("measures:exploit", "find the worst known opponent: who wins most from a policy"),
    "exploit-model": ("reference:exploit_model", "the exact exploitability of a language model in a small game"),
    "crossplay": ("measures:crossplay", "let policies play with each other: matrix, self-play, cross-play, ladder"),
    "teams": ("measures:evaluate_teams", "how often each team of a game wins, and how it plays"),
    "held-out": ("measures:evaluate_held_out", "measure a policy on the held-out sets of its game"),
    "model": ("reference:evaluate_model", "measure a language model against others, and count its wrong answers"),
    "reference": ("reference:command", "rate a policy or a language model against frozen opponents; a leaderboard"),
    "export": ("reference:export", "write a data set for language models, with the values of all legal actions"),
}
SUBCOMMANDS = {"evaluate": _MEASURES, "host": _HOSTS, "deploy": _DEPLOYS}
"""The commands below a command: their functions and summaries. `evaluate` is a command too."""

MERGED = {
    "watch": "parlour play GAME --screen",
    "record": "parlour play GAME --out FILE",
    "lobby": "parlour table --lobby",
    "figures": "parlour evaluate held-out RUN",
    "teams": "parlour evaluate teams GAME TEAM=POLICY …",
    "ladder": "parlour evaluate crossplay RUN RUN … --ladder FILE",
    "exploit": "parlour evaluate exploit RUN",
    "crossplay": "parlour evaluate crossplay RUN RUN …",
    "reference": "parlour evaluate reference GAME RUN",
    "export": "parlour evaluate export GAME",
    "zoo": "parlour list zoo, or parlour list zoo:NAME for a card; to replace a policy, .ci/zoo.py in a checkout",
    "plot": "examples/compare.py in a checkout",
    "compare": "examples/compare.py in a checkout",
    "sweep": "examples/sweep.py in a checkout",
    "study": "examples/study.py in a checkout",
    "soak": "make soak (in a checkout)",
    "bench": "make bench (in a checkout)",
}
"""Commands of version 0.2, and what does the same now."""
