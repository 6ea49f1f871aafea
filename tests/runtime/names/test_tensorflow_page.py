"""docs/tensorflow.md says which names of TensorFlow are here."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.runtime.names.tensorflow_names import page

PAGE = Path(__file__).parents[3] / "docs" / "tensorflow.md"
TITLE = "## The names of TensorFlow\n"


def test_page(update_golden: bool) -> None:
    # Not importorskip: Keras is to be imported by tf.keras alone.
    if importlib.util.find_spec("keras") is None:
        pytest.skip("Keras is not installed")
    written, _, names = PAGE.read_text(encoding="utf-8").partition(TITLE)
    found = page()
    if update_golden:
        PAGE.write_text(written + TITLE + found, encoding="utf-8")
        names = found

    assert names == found
    assert "—" not in found, "names without advice: see runtime/core/missing/advice.py"
