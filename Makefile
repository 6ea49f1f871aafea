# make demo    one function through all its stages
# make test    lint, types, floors and tests, on every supported Python found here
# make check   the same on the default Python only (quick)
# make lint    lint, types and floors alone
# make wasm    the compiler's tests on Python 3.14 as WebAssembly (with Node and npm)
# make fuzz    the random tests for as long as they last
# make keras   Keras's own tests on our backend (FOLDERS="losses metrics" for a part)
#
# Needs Python and pip, nothing else: each target makes its own environment.

SUPPORTED := 3.10 3.11 3.12 3.13

# The Python of .venv: the version of `python3` if it is a supported one, else the newest.
SHOW_VERSION := -c 'import sys; print("%d.%d" % sys.version_info[:2])'
ifndef PYTHON
USUAL := $(filter $(SUPPORTED),$(shell python3 $(SHOW_VERSION) 2>/dev/null))
PYTHON := $(shell .ci/find-python $(USUAL) 3.13 3.12 3.11 3.10)
endif
VERSION := $(if $(PYTHON),$(shell $(PYTHON) $(SHOW_VERSION)))
OTHERS := $(filter-out $(VERSION),$(SUPPORTED))
BIN := .venv/bin
PYTEST_ARGS ?= -q
# The numbers of the programs that `make fuzz` compares in every mode: others each time.
FUZZ_FIRST ?= $(shell date +%s)
FUZZ_COUNT ?= 50000

.PHONY: demo test check lint tests wasm fuzz keras pythons clean

demo: .venv/.ready
	$(BIN)/python -m examples.demo

test: lint pythons

check: lint tests

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tests: .venv/.ready
	$(BIN)/python -m pytest $(PYTEST_ARGS)

wasm: .venv/.ready
	.ci/wasm $(PYTEST_ARGS) tests/autograph

fuzz: .venv/.ready
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest $(PYTEST_ARGS) tests -k "fuzz or random"
	$(BIN)/python -m tests.modes_fuzz $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.number_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.edge_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.effect_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.native_programs $(FUZZ_FIRST) $(FUZZ_COUNT)

keras: .venv/.ready
	$(BIN)/python -m tests.keras_suite $(FOLDERS)

# Every supported Python is tested where it is installed, two at a time. In two parts, the
# longer ones first, since one processor would wait for the last Python's whole suite.
PARTS := tests/runtime --ignore=tests/runtime
RUNS := $(foreach part,$(PARTS),$(foreach version,$(VERSION) $(OTHERS),$(part) $(version)))
pythons: .venv/.ready
	@printf '%s %s\n' $(RUNS) | xargs -n 2 -P 2 .ci/test-python $(PYTEST_ARGS)

.venv/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python of $(SUPPORTED) found"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[test,dev,extras]'
	@touch $@

.venv-%/.ready: pyproject.toml
	@test -x .venv-$*/bin/python || $(PYTHON_OTHER) -m venv .venv-$*
	.venv-$*/bin/python -m pip install -q -e '.[test]'
	@touch $@

clean:
	rm -rf .venv .venv-3.* .wasm build dist *.egg-info .hypothesis \
		.mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
