# The two commands: `make demo` renders the raid, `make test` runs all tests. Each sets itself up.

PYTHON ?= python3
VENV   ?= .venv
DATA   ?= ../shared/data
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test bounds lint perf perf-once bench peers clean

demo: $(READY)
	$(BIN)/ecs-audio run raid -o out/raid.wav $(DEMO)

test: $(READY)
	$(BIN)/python -m pytest -n 2 $(TESTS)

bounds: $(READY)  # all tests with kernels that refuse to reach beyond their arrays
	NUMBA_BOUNDSCHECK=1 XDG_CACHE_HOME=$(CURDIR)/out/bounds $(BIN)/python -m pytest -n 2 $(TESTS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

perf: $(READY)
	$(BIN)/python -m pytest perf --benchmark-only --benchmark-json=out/perf.json

perf-once: $(READY)  # every benchmark a single time, to see that it runs
	$(BIN)/python -m pytest perf --benchmark-disable

bench: $(READY)  # the same beside targets and history, with a page: out/bench/index.html
	$(BIN)/ecs-audio bench $(BENCH)

peers: $(READY)  # what the benchmarks compare with
	$(BIN)/python -m pip install --quiet --group peers

clean:
	rm -rf $(VENV) out build dist

# Real worlds and recordings, where they are at hand; the raid has a town and sounds of its own otherwise.
DEMO := $(if $(wildcard $(DATA)/worlds/mca_1.21.1_r.0.0.mca),--world $(DATA)/worlds/mca_1.21.1_r.0.0.mca)
DEMO += $(if $(wildcard $(DATA)/audio),--set sounds=$(DATA)/audio)

$(READY): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ecs_audio needs Python 3.11 or newer, not " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@
