"""Options and profiles of the whole test suite."""

from __future__ import annotations

import asyncio
import builtins
import gc
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, NoReturn

import hypothesis
import pytest
from _pytest.doctest import DoctestItem

from autograph.operators import staging
from tests.idle import idle

# `ci` repeats exactly; `fuzz` searches (HYPOTHESIS_PROFILE=fuzz).
hypothesis.settings.register_profile(
    "ci", deadline=None, derandomize=True, max_examples=60, print_blob=True
)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=2000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Before NumPy is imported. Test workers share the cores, and threads of OpenBLAS that
# spin while they wait for each other make a small product a hundred times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The compiler itself is to be tested, not what it once gave.
os.environ["AUTOGRAPH_NO_CACHE"] = "1"

# And its trees, between passes; read when the passes are first imported.
os.environ["AUTOGRAPH_VERIFY"] = "1"

#: Where converted code runs as it does in programs: as written until something traces.
#: Elsewhere what conversion made of it is tested, on Python values too.
AS_IN_PROGRAMS = ("runtime", "guides", "integration", "examples")

#: The packages, extras, that docstring examples need: of a folder or a method.
NEEDS = {
    "runtime/training/checkpoints": "safetensors",
    "ConcreteFunction.loops": "llvmlite",
}


def _no_processes(*args: Any, **kwargs: Any) -> NoReturn:
    pytest.skip("no processes and threads in WebAssembly")


def _run(main: Coroutine[None, None, Any]) -> Any:
    """Run a coroutine that waits for nothing, without an event loop."""
    while True:
        try:
            main.send(None)
        except StopIteration as stop:
            return stop.value


if sys.platform == "emscripten":  # `make wasm`
    asyncio.run = _run
    subprocess.Popen = _no_processes
    threading.Thread.start = _no_processes


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the docstring examples of extras that are not installed."""
    for place, package in NEEDS.items():
        if importlib.util.find_spec(package) is None:
            for item in items:
                if place in item.nodeid and isinstance(item, DoctestItem):
                    item.add_marker(pytest.mark.skip(reason=f"needs {package}"))


def pytest_collection_finish() -> None:
    """Set how often the garbage collector runs, and spare it the tests themselves."""
    _spare_the_collector()
    gc.set_threshold(20_000, 20, 20)


def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Spare it what a file of tests imported, which lives until the end."""
    if nextitem is None or nextitem.path != item.path:
        _spare_the_collector()


def _spare_the_collector() -> None:
    """Take all objects that live now out of the collector's sight.

    Going through modules and tests again and again took a third of the tests' time.
    """
    if sys.version_info < (3, 14):  # there Hypothesis asks what refers to an object
        gc.collect()
        gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the present output into the golden files instead of comparing",
    )


@pytest.fixture(autouse=True)
def _staging(request: pytest.FixtureRequest) -> Iterator[None]:
    """Have converted code ask each statement, as while a library stages."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    if folder in AS_IN_PROGRAMS:
        with idle():  # whatever classes of other tests may stage
            yield
        return
    staging.begin()
    yield
    staging.end()


@pytest.fixture(autouse=True)
def _plain_builtins() -> None:
    """Doctests leave the last value they showed in the builtins, as consoles do."""
    vars(builtins).pop("_", None)


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten."""
    return bool(request.config.getoption("--update-golden"))
