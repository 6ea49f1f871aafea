"""Native code needs llvmlite, an extra; tests of the code wait until it is there."""

import pytest

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def _no_background(monkeypatch):
    from runtime.native.background import Background

    monkeypatch.setattr(Background, "is_enabled", False)
