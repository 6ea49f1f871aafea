"""Native code needs llvmlite, an extra; tests of the code wait until it is there."""

import pytest

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def _no_background(monkeypatch):
    from runtime.engines.native.background import Background

    monkeypatch.setattr(Background, "is_enabled", False)


@pytest.fixture
def native_alone(monkeypatch):
    """No program is left to NumPy."""
    from runtime.engines.native import compilation

    monkeypatch.delattr(compilation, "refusals_of")
