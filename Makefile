# Needs Python 3.11 or newer and make; everything else is set up in .venv on first use.
PYTHON ?= python3
VENV ?= .venv
ENGINE ?= .engine
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-long test-sglang test-fast fuzz bench lint format docs clean

demo: $(READY)  ## the sample incident, end to end, in ./demo-case
	$(BIN)/forensics demo

test: $(READY)  ## all tests but the long ones and those that need an inference server
	$(BIN)/python -m pytest -m "not engine and not long" -n auto --dist loadfile

test-long: $(READY)  ## statistics over many logs, and samples made anew
	$(BIN)/python -m pytest -m long -n auto --dist loadfile

test-fast: $(READY)  ## the tests that take seconds
	$(BIN)/python -m pytest -m "not engine and not slow and not long" -n auto --dist loadfile

test-sglang: $(READY)  ## a real SGLang server on the CPU, made to leak (installs 3.4 GB into .engine on first use)
	$(BIN)/python tests/sglang/harness/install.py $(ENGINE)
	FORENSICS_ENGINE=$(ENGINE) $(BIN)/python -m pytest tests/sglang -m engine -n 0

fuzz: $(READY)  ## 100,000 mutations of the samples of every family of formats (long)
	FORENSICS_FUZZ=100000 $(BIN)/python -m pytest tests/ingest/test_fuzz.py

bench: $(READY)  ## throughput and accuracy on simulated incidents (minutes)
	$(BIN)/python bench/ingest.py --memory-megabytes 2000
	$(BIN)/python bench/throughput.py
	$(BIN)/python bench/accuracy.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(READY)  ## the pages that are made from the code
	$(BIN)/python -m forensics.cli.reference docs

clean:
	rm -rf $(VENV) demo-case build dist

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or newer is needed; name it: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $(READY)
