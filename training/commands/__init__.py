"""The commands of `parlour`. Each is a module here, loaded when it is called; host and deploy are packages.

A module has the function `command`, whose parameters tyro parses. If the parameters depend on the arguments, the module
has `command_for(args)`, which returns that function. `FIRST` names the options that `--help` describes first, where a
command has many. Arguments that several commands share are in `arguments`.
"""

COMMANDS = {
    "demo": "train, evaluate and play at a live table, in a few minutes",
    "train": "train a policy by self-play against its past checkpoints and bots",
    "evaluate": "measure a policy against others, with confidence intervals; also on held-out sets, or by teams",
    "exploit": "find the worst known opponent: who wins most from a policy",
    "crossplay": "let several policies play with each other: matrix, self-play and cross-play, ratings",
    "reference": "rate a policy or a language model against frozen opponents; a leaderboard of such results",
    "export": "write a data set for language models: conversations with the values of all legal actions",
    "solve": "solve a small game exactly and write the policy",
    "play": "watch a match in the terminal, or play in it; write it as a film or a page",
    "table": "play in the browser, alone or with others, beside policies and bots; also a lobby with many tables",
    "replay": "turn a match log into a page to step through, or a film",
    "host": "host a platform's protocol: poker, ACPC, an arena, mafia, tangram",
    "deploy": "let a policy play on a live platform",
    "check": "check that your own game obeys the laws of all games",
    "list": "show games, bots, the trained policies that come with Parlour (the zoo), presets and runs",
}
"""The commands, by the name of the module or package, with their summaries."""

MERGED = {
    "watch": "parlour play GAME --screen",
    "record": "parlour play GAME --out FILE",
    "lobby": "parlour table --lobby",
    "figures": "parlour evaluate RUN --held-out",
    "teams": "parlour evaluate --game GAME --teams TEAM=POLICY …",
    "ladder": "parlour crossplay RUN RUN … --ladder FILE",
    "plot": "examples/compare.py in a checkout",
    "compare": "examples/compare.py in a checkout",
    "sweep": "examples/sweep.py in a checkout",
    "study": "examples/study.py in a checkout",
    "zoo": "parlour list zoo, or parlour list zoo:NAME for a card; to replace a policy, .ci/zoo.py in a checkout",
    "soak": "make soak (in a checkout)",
    "bench": "make bench (in a checkout)",
}
"""Commands of version 0.2, and what does the same now."""
