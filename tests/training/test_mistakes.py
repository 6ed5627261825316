"""Mistakes on the command line: one line on stderr says what was wrong, and nothing is written."""

import os
from pathlib import Path

import numpy as np
import pytest
from command_line import line
from parlour import zoo
from parlour.training import cli
from parlour.wrappers.policies.mlp import MlpPolicy

MATCH = "play bargaining --agents fair boulware"
TEAMS = "evaluate teams mafia --deals 10"
CROSS = "evaluate crossplay"
WORST = "evaluate exploit honest --game kuhn --deals 10"
ARENA = "host arena bargaining"
LOBBY = "table --lobby --port 0"
KUHN = str(zoo.weights("kuhn"))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("evluate", 'Did you mean "evaluate"?'),
        ("holdem", "did you mean `parlour play holdem`"),
        ("holdm", "did you mean `parlour play holdem`"),
        ("--completion tcsh", "name a shell: bash, zsh, fish"),
        ("check my_game.py", "for a game of your own write module:function, such as my_game:game"),
        # play
        ("play", " (for example: parlour play holdem)"),
        ("play holdem --agents conceder tight", "choose from human, llm, random, call, tight, maniac"),
        ("play holdem --agents human human", "two people"),
        ("play holdem --matchs 3", "unknown option: --matchs. Did you mean --matches?"),
        ("play holdme --agents call tight", "did you mean 'holdem'"),
        ("play kuhn --agents random broken.npz", "broken.npz is not a saved MlpPolicy: it is not an"),
        ("play kuhn --screen --out kuhn.html", "--screen or --out: choose one"),
        (f"{MATCH} --out match.avi", "write to a .html, .gif or .mp4"),
        (f"{MATCH} --out match.gif --view player_0", "there are 'all', 'fair', 'boulware'"),
        (f"{MATCH} --out match.gif --fps 0", "fps=0"),
        (f"{MATCH} --out match.html --matches 0", "for --matches. Must be > 0"),
        ("replay missing.jsonl", "there is no such file or folder: missing.jsonl"),
        ("replay folder", "this is a folder, not a file: folder"),
        ("replay empty.jsonl", "has no decision to show"),
        # train, solve
        ("train", "give a game, as in `parlour train holdem`"),
        ("train holdem --algorithm maskable_pop", "did you mean 'maskable_ppo'"),
        ("train holdem --config mine", "--config mine: need a TOML file"),
        ("train --config none.toml", "there is no config file none.toml"),
        ("train holdem --minutes soon", "invalid value for --minutes"),
        ("train holdem --options seets=2", "did you mean 'seats'"),
        ("train --for moltpokr", "no platform is called 'moltpokr'; did you mean 'moltpoker'"),
        ("train --for agent-colosseum", "agent-colosseum has auction and bargaining: name the game"),
        ("train auction --for moltpoker", "no game of moltpoker is called 'auction'"),
        ("solve auction", "does not list all that chance may deal"),
        ("solve kuhn --out kuhn.txt", "a policy file ends in .npz"),
        ("solve kuhn --method cfr+ --checkpoint state.npz", "checkpoint=state.npz: only methods from samples"),
        ("solve kuhn --method cfr+ --threads 2", "threads=2: only methods from samples"),
        # evaluate
        ("evaluate", "parameter RUN requires an argument"),
        ("evaluate zzqqxx", "); `parlour list bots runs` shows them"),
        ("evaluate first-tyr", "did you mean 'first-try'"),
        ("evaluate first-try", "config.toml"),  # a folder, but no run
        ("evaluate plain.npz", "name a game with --game"),
        ("evaluate loyal --seats 5 6", "6"),
        ("evaluate tight --deals 1.5", "invalid value for --deals"),
        ("evaluate tight --processes 0", "processes=0: need a whole number, at least 1"),
        ("evaluate call --against tihgt", "did you mean 'tight'"),
        ("evaluate call --against random --seed -1", "seed -1"),
        ("evaluate call --model qwen", "unknown option: --model"),
        ("evaluate call --options stack=3", "there is no option 'stack'; did you mean 'stacks'"),
        ("evaluate call --options stacks", "write name=value"),
        ("evaluate call --options seats=null", "seats=None: need a whole number"),
        ("evaluate shade --search", "shade plays auction; only holdem and tangram have a search"),
        ("evaluate tight --game holdem --seats 2 --deals 10 --against call+maniac", "2 policies for 1 other seats"),
        ("evaluate held-out tight --game holdem", "no held-out sets; tangram has some"),
        ("evaluate held-out greedy --deals 1", "games=1: an interval needs at least 2"),
        ("evaluate held-out greedily", "did you mean 'greedy'"),
        ("evaluate export kuhn --conversation --out data.jsonl", "by itself"),
        ("evaluate export kuhn --policy nobody --out data.jsonl", "no bot, run"),
        ("evaluate reference leduc", "name a run"),
        ("evaluate reference leduc caller", "no bot, run or policy file"),
        ("evaluate reference kuhn honest --model x", "honest: --model has no meaning beside it"),
        ("evaluate reference --out nowhere", "there is no folder nowhere with results: name a game and a player"),
        ("evaluate exploit-model holdem --model m", "tree cannot be walked"),
        ("evaluate exploit-model mafia --model m", "game of teams"),
        ("evaluate exploit-model tangram --model m", "share one reward"),
        ("evaluate exploit-model kuhn --model m --samples 0", "for --samples. Must be > 0"),
        (f"{WORST} --algorithm pppo", "choose from"),
        (f"{WORST} --learner foo=3", "foo"),
        (f"{WORST} --learner seed=3", "seed: a learned best response sets this itself"),
        (f"{WORST} --minutes -1", "minutes=-1"),
        ("evaluate exploit zoo:tangram", "nobody wins from another"),
        ("evaluate exploit tight --game holdem --seats 2 --deals 2 --decisions 0 --hands 0", "needs at least 4"),
        (f"{CROSS} random", "at least two"),
        (f"{CROSS} random random --game kuhn", "given twice"),
        (f"{CROSS} zoo:kuhn {KUHN} --game kuhn", "are the same: give each once"),
        (f"{CROSS} random cal --game holdem", "did you mean"),
        (f"{CROSS} random call --game holdem --mute", "has no action index that is a statement"),
        (f"{CROSS} mixed loyal --game mafia --mute --scramble", "choose one"),
        (f"{CROSS} honest maniac --game kuhn --ladder x.pdf", "ends in .html"),
        (f"{CROSS} greedy random --game tangram --ladder x.html", "nobody wins from another"),
        ("evaluate teams holdem --deals 10", "holdem-v0 has no teams"),
        ("evaluate teams mafia --deals 0", "matches=0: need at least 1"),
        (f"{TEAMS} mafai=mixed", "did you mean 'mafia'"),
        (f"{TEAMS} mixed", "write team=policy; the teams of mafia are town, mafia"),
        (f"{TEAMS} town=mixd", "did you mean 'mixed'"),
        (f"{TEAMS} town=loyal+random:x", "'random:x'"),
        (f"{TEAMS} --mute twon", "did you mean 'town'"),
        (f"{TEAMS} town=mixed+loyal:99", "99 seats; at 10 seats town has 7, of which 1 to 6 can be given"),
        (f"{TEAMS} town=mixed+loyal:0", "1 to 6 can be given"),
        (f"{TEAMS} town=mixed+loyal+social", "one policy, or two that share it"),
        (f"{TEAMS} town=mixed+", "a name is missing"),
        (f"{TEAMS} mafia=mixed+loyal --seats 5", "at 5 seats mafia has 1, of which two policies cannot share one"),
        # table
        ("table", "0 games for one table: name one, or give --lobby"),
        ("table kuhn leduc", "2 games for one table"),
        ("table kuhn --state lobby.sqlite", "--state and --empty-after are for --lobby"),
        ("table holdem --agents tight call --seats 2", "leave one to a person"),
        ("table holdem --options ante=1", "ante=1: poker tables take"),
        ("table bargaining --agents fair fair human", "3 players for 2 seats"),
        ("table auction --timeout 0", "for --timeout. Must be > 0"),
        ("table auction --agents llm", "llm needs --model NAME"),
        ("table auction --port -1", "for --port. Must be >= 0"),
        (f"{LOBBY} --llm-url http://h", "--lobby: --llm-url has no meaning beside it"),
        (f"{LOBBY} chess", "chess"),
        (f"{LOBBY} --agents nothing-like-this", "nothing-like-this"),
        (f"{LOBBY} kuhn --agents bare.npz", "is not a saved"),
        (f"{LOBBY} kuhn --agents zoo:leduc", "zoo:leduc plays leduc, which this lobby does not offer"),
        (f"{LOBBY} kuhn --empty-after 0", "for --empty-after. Must be > 0"),
        (f"{LOBBY} kuhn --timeout nan", "for --timeout. Must be "),
        (f"{LOBBY} kuhn --access-token ''", "the token on the command line is empty"),
        (f"{LOBBY} kuhn --state text", "cannot keep the lobby's results"),
        (f"{LOBBY} kuhn --seats 2", "--seats is for one table"),
        (f"{LOBBY} kuhn --options seats=2", "--options is for one table"),
        # host, deploy
        ("host poker --port 99999", "for --port. Must be <= 65535"),
        ("host poker --log-file-mb 0", "for --log-file-mb. Must be > 0"),
        ("host poker --hand-delay -1", "for --hand-delay. Must be >= 0"),
        ("host mafia --agents agressive", "did you mean 'aggressive'"),
        ("host mafia --players 4", "5 to 20"),
        ("host mafia --remote http://x", "ws://"),
        ("host mafia --log /dev/null", "/dev/null is no regular file"),
        ("host mafia --agents llm --model m --llm-url http://127.0.0.1:9/v1 --prompts none.toml", "none.toml"),
        ("host arena barganing", "did you mean 'bargaining'"),
        (f"{ARENA} --agents fiar fair", "did you mean 'fair'"),
        (f"{ARENA} --agents fair", "1 agent for 2 seats"),
        (f"{ARENA} --agents fair --remote http://x", "name=http"),
        (f"{ARENA} --agents fair fair --timeout 0", "timeout=0"),
        (f"{ARENA} --agents fair fair --max-actions -3", "actions=-3"),
        ("host arena kuhn,kuhn", "kuhn: named twice"),
        ("host arena kuhn,trust --wait 1", "names 2 games: --wait, --seats and --options need a single one"),
        ("host tangram --url http://localhost:5000", "no address"),
        ("deploy arena random", ": name the game with --game"),
        ("deploy tangram nobody", "nobody"),
        ("deploy tangram random --matches 0", "for --matches. Must be > 0"),
        ("deploy tangram random --deadline 0", "deadline=0"),
        ("deploy mafia social --model x", "social: --model has no meaning beside it"),
        ("deploy poker call", "--url"),
        ("deploy poker call --url ws://h --state held.json", "is writing to held.json"),  # another agent's seat
        ("deploy poker call --api ftp://127.0.0.1", "is no address"),
        ("deploy poker cal --url ws://127.0.0.1:1", "did you mean 'call'"),
        ("deploy poker tight --api http://h --model x", "tight: --model has no meaning beside it"),
    ],
)
def test_a_mistake_is_one_line_on_stderr_and_nothing_is_written(command, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("runs/first-try").mkdir(parents=True)
    Path("broken.npz").write_bytes(b"garbage")
    Path("text").write_text("no database, and long enough to look like one" * 100)
    Path("held.json.lock").write_text(str(os.getppid()))
    Path("empty.jsonl").write_text('{"kind": "joined"}\n')
    np.savez("bare.npz", weights=np.zeros(1))
    MlpPolicy([(np.zeros((2, 2)), np.zeros(2))], "Tanh").save("plain.npz")
    before = {file: file.is_file() and file.read_bytes() for file in tmp_path.rglob("*")}
    code, out, err = line(capsys, command)
    assert (code, out) == (cli.MISTAKE, "")
    assert words in err and "Errno" not in err
    assert err.startswith(f"parlour {command.split()[0]}: ") and err.count("\n") == 1
    assert {file: file.is_file() and file.read_bytes() for file in tmp_path.rglob("*")} == before
