"""The commands of `parlour`. Each is a module here, loaded when it is called; host and deploy have one per platform.

A module has the function `command`, whose parameters tyro parses; or `command_for(args)`, which returns it, where the
parameters depend on the arguments. Arguments that several commands have stand in `arguments`.
"""

COMMANDS = {
    "demo": "train, evaluate and play at a live table, in a few minutes",
    "train": "train a policy by self-play against its past checkpoints and bots",
    "evaluate": "tell how strong a policy is, with confidence intervals",
    "teams": "tell what each team of a game wins, one policy in each team",
    "solve": "solve a small game exactly, and write the policy",
    "figures": "tell how a policy does on held-out sets, such as tangram's figures",
    "play": "watch a match in the terminal, or play in it",
    "table": "play in the browser, alone or with others, beside policies and bots",
    "watch": "watch a match in the terminal, on one screen",
    "record": "play a match into a film or a page: .gif, .mp4, .html",
    "replay": "make a match log a page to step through, or a film",
    "host": "serve a platform's protocol: poker, an arena, mafia, tangram",
    "deploy": "let a policy play on a live platform",
    "check": "try the laws of all games on a game of your own",
    "list": "show games, bots, presets and runs",
    "bench": "measure speed and size beside the peers",
}
"""Every command with what it does: the name of its module or package."""
