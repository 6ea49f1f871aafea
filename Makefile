# make demo    what it does, in ten steps: seconds, also on a fresh clone
# make test    lint, types, floors and tests on the default Python
# make matrix  the slow tests, the other supported Pythons found here, 3.14, the wheel
# make lint    lint, types and floors alone
# make torch   the tests of the backend for PyTorch, which it installs
# make wasm    the compiler's tests on Python 3.14 as WebAssembly (with Node and npm)
# make wheel   the packages that are published, built and installed on their own
# make docs    the site in build/site, with the playground; `make site` serves it
# make browser the tests of the site in Chromium, which it installs where it can
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

# Without these files every process that a test starts compiles both packages anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test matrix lint tests slow torch wasm wheel docs site browser fuzz keras clean

# The demonstration needs what the packages need, and no tools.
NEEDED := 'gast>=0.7' 'astor>=0.8.1' 'numpy>=2'
DEMO := $(if $(wildcard .venv/.ready),.venv,.venv-demo)
demo: $(DEMO)/.ready
	$(DEMO)/bin/python -m examples.demo

.venv-demo/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python of $(SUPPORTED) found"; exit 1; }
	@test -x .venv-demo/bin/python || $(PYTHON) -m venv .venv-demo
	.venv-demo/bin/python -m pip install -q --no-compile \
		--disable-pip-version-check $(NEEDED)
	@touch $@

test: lint tests

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# What does not depend on the Python: kernels, engines and libraries.
SAME_ON_ALL := $(addprefix tests/runtime/,autodiff core/missing core/types data engines export \
	files names ops passes training test_op_programs.py)
# What looks at the tree and not at what it does; measurements.
ONCE := $(SAME_ON_ALL) tests/benchmarks $(addprefix tests/architecture/test_,frames.py \
	import_circles.py layers.py light_imports.py limitations.py module_size.py)
PYTEST := $(BIN)/python -m pytest $(PYTEST_ARGS) -n auto --dist worksteal
# In processes of their own, since they fill the heap.
tests: .venv/.ready
	$(PYTEST) -m "not slow" $(SAME_ON_ALL)
	$(PYTEST) -m "not slow" $(SAME_ON_ALL:%=--ignore=%)

# Its parts run two at a time, the longest first; the output of each comes in one piece.
MATRIX := slow $(OTHERS:%=python-%) torch wheel wasm
matrix: .venv/.ready
	$(MAKE) --no-print-directory --keep-going --output-sync=target --jobs=2 $(MATRIX)

# The cases that the other Pythons take where they run: see tests/turns.py.
slow: .venv/.ready
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m slow $(SAME_ON_ALL:%=--ignore=%)
	TURNS=others $(BIN)/python -m pytest $(PYTEST_ARGS) -m slow $(SAME_ON_ALL)

python-%: .venv/.ready
	@python=$$(.ci/find-python $*) || { echo "== NOT TESTED, no Python found: $*"; exit 0; }; \
	$(MAKE) --no-print-directory .venv-$*/.ready PYTHON_OTHER="$$python" && \
	.venv-$*/bin/python -m pytest $(PYTEST_ARGS) -m "not slow" $(ONCE:%=--ignore=%)

torch: .venv/.ready
	.ci/torch $(PYTHON) $(PYTEST_ARGS)

wasm: .venv/.ready
	.ci/wasm $(PYTEST_ARGS) -m "not slow" tests/autograph

wheel: .venv/.ready
	.ci/wheel $(SUPPORTED)

docs: .venv-docs/.ready
	.ci/playground
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --strict -f site/mkdocs.yml

site: docs
	.venv-docs/bin/python -m http.server --bind 127.0.0.1 -d build/site

browser: docs
	.ci/browser $(PYTEST_ARGS)

fuzz: .venv/.ready
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest $(PYTEST_ARGS) tests -k "fuzz or random"
	$(BIN)/python -m tests.modes_fuzz $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.names_fuzz $(FUZZ_FIRST) 100000
	$(BIN)/python -m tests.number_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.edge_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.effect_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.native_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.gradient_programs $(FUZZ_FIRST) $(FUZZ_COUNT)
	$(BIN)/python -m tests.op_fuzz $(FUZZ_FIRST) $(FUZZ_COUNT)

keras: .venv/.ready
	$(BIN)/python -m tests.keras_suite $(FOLDERS)

.venv/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python of $(SUPPORTED) found"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install -q -e '.[test,dev,extras]'
	@touch $@

.venv-docs/.ready: pyproject.toml
	@test -n "$(PYTHON)" || { echo "no Python of $(SUPPORTED) found"; exit 1; }
	@test -x .venv-docs/bin/python || $(PYTHON) -m venv .venv-docs
	.venv-docs/bin/python -m pip install -q -e '.[docs]'
	@touch $@

.venv-%/.ready: pyproject.toml
	@test -x .venv-$*/bin/python || $(PYTHON_OTHER) -m venv .venv-$*
	.venv-$*/bin/python -m pip install -q -e '.[test]'
	@touch $@

clean:
	rm -rf .venv .venv-* .wasm site/playground/node_modules build dist *.egg-info .hypothesis \
		.mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
