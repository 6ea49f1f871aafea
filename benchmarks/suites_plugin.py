"""The pytest plugin of `benchmarks.suites`: converts a package, notes the outcomes."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from pathlib import Path
from time import perf_counter

import autograph
from autograph.operators import staging

__all__: list[str] = []

_outcomes: dict[str, str] = {}
_started = 0.0
_package = os.environ.get("SUITE_PACKAGE")
if _package:
    autograph.install_import_hook([_package])
if os.environ.get("SUITE_STAGING") == "here":
    staging.begin()
elif os.environ.get("SUITE_STAGING") == "beside":
    # What another thread began is not over when that thread is.
    tracing = threading.Thread(target=staging.begin)
    tracing.start()
    tracing.join()


def pytest_configure() -> None:
    """The examples of Hypothesis are the same in all runs, and may take their time."""
    with contextlib.suppress(ImportError):
        import hypothesis

        slow = [hypothesis.HealthCheck.too_slow]
        hypothesis.settings.register_profile(
            "suites", derandomize=True, deadline=None, suppress_health_check=slow
        )
        hypothesis.settings.load_profile("suites")


def pytest_collection_finish() -> None:
    """The clock starts when the modules are imported: importing converts them."""
    global _started
    _started = perf_counter()


def pytest_runtest_logreport(report: object) -> None:
    """A test has passed if no phase of it did anything else."""
    nodeid: str = getattr(report, "nodeid")  # noqa: B009  (pytest is not imported)
    outcome: str = getattr(report, "outcome")  # noqa: B009
    if _outcomes.get(nodeid, "passed") == "passed":
        _outcomes[nodeid] = outcome


def pytest_sessionfinish() -> None:
    """Write the report."""
    found = {"seconds": perf_counter() - _started, "outcomes": _outcomes}
    Path(os.environ["SUITE_REPORT"]).write_text(json.dumps(found))
