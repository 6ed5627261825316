"""A search for settings: Optuna proposes them, and each proposal is trained with two seeds.

pip install 'parlour[train]' optuna
python examples/sweep.py --trials 20
"""

import argparse
from pathlib import Path
from statistics import mean

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from parlour.envs import game
from parlour.training import flat_tree, load_config, nash_conv, train
from parlour.wrappers import make_policy


def main(args=None):
    """Search, print the best settings and return the study. The same command again goes on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--total-timesteps", type=int, default=200_000, help="decisions of each run")
    parser.add_argument("--folder", type=Path, default=Path("runs/sweep"), help="the folder of the runs")
    given = parser.parse_args(args)
    kuhn = game("kuhn")
    tree = flat_tree(kuhn)
    given.folder.mkdir(parents=True, exist_ok=True)

    def objective(trial):
        settings = {
            "learning_rate": trial.suggest_float("learning_rate", 1e-4, 1e-2, log=True),
            "n_epochs": trial.suggest_int("n_epochs", 1, 8),
            "ent_coef": trial.suggest_categorical("ent_coef", [0.0, 0.02, 0.1]),
            "update": "ppo",
        }
        values = []
        for seed in (0, 1):
            run = given.folder.absolute() / f"{trial.number}-{seed}"
            config = load_config(
                "kuhn", algorithm="selfplay", total_timesteps=given.total_timesteps, seed=seed, run=run, **settings
            )
            train(config, reraise=True)
            values.append(nash_conv(tree, tree.strategy_of(make_policy(str(run), kuhn))))
        return mean(values)

    study = optuna.create_study(
        study_name="kuhn",
        storage=JournalStorage(JournalFileBackend(str(given.folder / "study.log"))),
        sampler=optuna.samplers.TPESampler(seed=0),
        load_if_exists=True,
    )
    study.optimize(objective, n_trials=given.trials)
    print(f"NashConv {study.best_value:.4f} with {study.best_params}")
    return study


if __name__ == "__main__":
    main()
