# make report   the main job on the shipped example: makes .venv, installs, writes reports/example.html
# make test     the tests, but for the long simulations, which make nightly runs
# make check    format, lint, types, import floors, tests: what CI runs
# make nightly  the long tests: 10,000 spoilt inputs a reader from a new seed, and the simulations
# make oldest-inspect the tests of the Inspect extension against the oldest Inspect that is claimed
# make local-model    a real model of 270 million weights grades, on this machine: half a minute
# make bench    the benchmarks, as ratios
# make calibrate measure how often cliff and compare err, and write docs/methods/*calibration.md: minutes
# make docs     regenerate the generated pages of docs/
# make lock     pin the development dependencies anew

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n auto --maxprocesses 4
OLDEST := .venv-oldest-inspect
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.PHONY: help report test check format lint types floors bench nightly oldest-inspect local-model local-model-packages calibrate docs lock clean

help:
	@sed -n 's/^# //p' Makefile

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "turncurve needs Python 3.11 or newer; name one with: make PYTHON=python3.11 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.use: $(VENV)/pyvenv.cfg pyproject.toml requirements-dev.lock
	$(PIP) install -c requirements-dev.lock -e '.[inspect]'
	@touch $@

$(VENV)/.dev: $(VENV)/pyvenv.cfg pyproject.toml requirements-dev.lock
	$(PIP) install -c requirements-dev.lock -e '.[dev]'
	@touch $@ $(VENV)/.use

$(VENV)/.bench: $(VENV)/.dev
	$(PIP) install -c requirements-dev.lock -e '.[bench]'
	@touch $@

$(VENV)/.local-model: $(VENV)/.dev
	$(PIP) install -c requirements-dev.lock -e '.[local-model]'
	@touch $@

## Without the pins of the lock file, which the oldest Inspect does not go with.
$(OLDEST)/.dev: pyproject.toml
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip --disable-pip-version-check --quiet install -e '.[dev]' \
	  "$$(sed -n 's/^inspect = \["inspect-ai>=\(.*\)"\]/inspect-ai==\1/p' pyproject.toml)"
	@touch $@

report: $(VENV)/.use
	@mkdir -p reports
	$(BIN)/turncurve report examples/long-agent -o reports/example.html -o reports/example.json
	@echo "The report is in $(CURDIR)/reports/example.html"

test: $(VENV)/.dev
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

check: format lint types floors
	@$(MAKE) --no-print-directory test

format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

floors: $(VENV)/.dev
	$(BIN)/lint-imports

bench: $(VENV)/.bench
	@for bench in benchmarks/bench_*.py; do echo "== $$bench"; $(BIN)/python $$bench || exit 1; done

oldest-inspect: $(OLDEST)/.dev
	$(OLDEST)/bin/python -m pytest $(PYTEST_ARGS) tests/inspect_ext tests/grading/test_inspect_model.py \
	  $(addprefix tests/readers/test_inspect_,faults.py live.py log.py quality.py usage.py)

local-model-packages: $(VENV)/.local-model

local-model: local-model-packages
	TURNCURVE_LOCAL_MODEL=1 $(BIN)/python -m pytest -m local_model -rs tests/inspect_ext

nightly: $(VENV)/.dev oldest-inspect local-model
	TURNCURVE_FUZZ=10000 TURNCURVE_FUZZ_SEED=$$(date +%Y%m%d) $(BIN)/python -m pytest $(PYTEST_ARGS) tests/readers/test_fuzz.py
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m slow

calibrate: $(VENV)/.dev
	$(BIN)/python tools/make_calibration.py
	$(BIN)/python tools/make_compare_calibration.py

docs: $(VENV)/.dev
	@for tool in tools/make_*_docs.py; do $(BIN)/python $$tool; done

lock: $(VENV)/.bench
	$(BIN)/python -m pip freeze --exclude-editable | grep -v '@ file' > requirements-dev.lock

clean:
	rm -rf $(VENV) $(OLDEST) reports build dist
