"""The commands of `parlour`. Each is a module here, loaded when it is called; host and deploy are packages.

A module has the function `command`, whose parameters tyro parses. If the parameters depend on the arguments, the module
has `command_for(args)`, which returns that function. Arguments that several commands share are in `arguments`.
"""

COMMANDS = {
    "demo": "train, evaluate and play at a live table, in a few minutes",
    "train": "train a policy by self-play against its past checkpoints and bots",
    "evaluate": "measure a policy against others, with confidence intervals",
    "exploit": "find the worst known opponent: who wins most from a policy",
    "plot": "draw learning curves of runs, pooled over seeds",
    "compare": "compare runs by a metric, pooled over seeds, with intervals",
    "sweep": "train with many settings and seeds, and show the best",
    "crossplay": "let several policies play with each other: matrix, self-play and cross-play",
    "ladder": "rate several policies, and write a page with ratings, matrix and sample games",
    "teams": "measure how often each team wins, with one policy per team",
    "solve": "solve a small game exactly and write the policy",
    "figures": "measure a policy on held-out sets, such as tangram's figures",
    "play": "watch a match in the terminal, or play in it",
    "table": "play in the browser, alone or with others, beside policies and bots",
    "lobby": "a page where people open tables of many games, invite others and see ratings",
    "watch": "watch a match in the terminal, on one screen",
    "record": "record a match as a film or a page: .gif, .mp4, .html",
    "replay": "turn a match log into a page to step through, or a film",
    "host": "host a platform's protocol: poker, an arena, mafia, tangram",
    "deploy": "let a policy play on a live platform",
    "check": "check that your own game obeys the laws of all games",
    "zoo": "show the trained policies that come with Parlour, or replace one",
    "list": "show games, bots, presets and runs",
    "bench": "measure speed and memory, also of other libraries",
}
"""The commands, by the name of the module or package, with their summaries."""
