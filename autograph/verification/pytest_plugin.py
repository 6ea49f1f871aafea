"""For pytest: ``--autograph=PACKAGES`` runs a suite on converted packages, and the
fixture ``autograph_verify`` runs a function in every way.

    pytest -p autograph.verification.pytest_plugin --autograph=shop,till

    def test_total(autograph_verify):
        autograph_verify(total, [5, 20], 10)

It is asked for by ``-p``, and is no entry point: pytest would rewrite the assertions of
both packages, whenever they are imported in tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("autograph").addoption(
        "--autograph",
        metavar="PACKAGES",
        default="",
        help="import these packages as converted code (with commas between)",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the import hook before any conftest imports the packages."""
    given = early_config.known_args_namespace.autograph
    packages = [name.strip() for name in given.split(",") if name.strip()]
    if packages:
        from ..loading.import_hook import install_import_hook

        try:
            hook = install_import_hook(packages)
        except ValueError as error:
            raise pytest.UsageError(f"--autograph: {error}") from error
        early_config.add_cleanup(hook.uninstall)


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say that the suite runs converted."""
    given = config.getoption("--autograph")
    return f"autograph: {given} imported as converted code" if given else None


@pytest.fixture
def autograph_verify() -> Callable[..., Any]:
    """`autograph.verify`: a way in which a function differs fails the test."""
    from .verifier import verify

    return verify
