"""Programs of cells show what they show with TensorFlow."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import runtime
from runtime.core.finder import Finder
from tests.runtime.names.notebooks import runner

#: The libraries that programs need, beside those of all.
NEEDS = {
    "files_and_records": ["google.protobuf", "safetensors"],
    "numpy_and_devices": ["jax"],
    "pipelines": ["safetensors"],
}


@pytest.fixture(autouse=True)
def _import_tensorflow(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let ``import tensorflow`` mean this library, as `runtime.compat.install` does."""
    monkeypatch.setitem(sys.modules, "tensorflow", runtime)
    finder = Finder("tensorflow", lambda name: True)
    # Not another list: Keras, once it is imported, puts a finder of ours into this one.
    sys.meta_path.insert(0, finder)
    yield
    sys.meta_path.remove(finder)
    for name in [name for name in sys.modules if name.startswith("tensorflow.")]:
        del sys.modules[name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", runner.NAMES)
def test_cells_show_what_tensorflow_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for library in NEEDS.get(name, ()):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    recorded = json.loads((runner.FOLDER / f"{name}.json").read_text())

    shown = runner.run(name)

    assert len(shown) == len(recorded)
    for number, (found, expected) in enumerate(zip(shown, recorded), 1):
        assert runner.alike(found, expected), f"cell {number}: {found}\n{expected}"


def test_what_is_alike() -> None:
    assert runner.alike("[1. 2.5]", "[1.  2.50001]")
    assert runner.alike("[np.int64(3)]", "[3]")
    assert not runner.alike("[1. 2.5]", "[1. 2.51]")
    assert not runner.alike("shape=(2,)", "shape=(2, 1)")
    assert not runner.alike("a 1", "b 1")
    assert not runner.alike("nan", "1.0")
    assert not runner.alike("1.0", "nan")
