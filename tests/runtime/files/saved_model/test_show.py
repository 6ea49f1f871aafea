"""``python -m runtime show DIR``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import runtime as tf
from runtime.files.saved_model.show import main

pytest.importorskip("safetensors")
ROOT = Path(__file__).parents[4]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    class Scale(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.rate = tf.Variable(2.0, name="rate", trainable=False)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def scaled(self, x: tf.Tensor) -> tf.Tensor:
            total = x * self.rate
            while tf.reduce_sum(total) < 100.0:
                total = total * 2.0
            return total

    model = tf.Module()
    model.layers = [Scale()]
    signatures = model.layers[0].scaled
    tf.saved_model.save(model, tmp_path, signatures=signatures)
    return str(tmp_path)


def test_text(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", folder]) == 0

    text = capsys.readouterr().out
    assert "signature serving_default(x: float32[?]) -> {output_0: float32[?]}" in text
    assert "  rate:0: float32[]  (not trainable)" in text
    assert "function layers[0].scaled: scaled(x: float32[?]) -> float32[?]" in text
    # The source is that of the function, in the names of its author.
    assert "while " in text
    assert "total = total * 2.0" in text


def test_json(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", folder, "--json"]) == 0

    found = json.loads(capsys.readouterr().out)
    assert found["signatures"] == {
        "serving_default": {
            "inputs": {"x": "float32[?]"},
            "outputs": {"output_0": "float32[?]"},
        }
    }
    assert found["variables"][0]["name"] == "rate:0"
    (trace,) = found["functions"]["layers[0].scaled"]
    assert trace["gives"] == ["float32[?]"]


def test_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 1
    assert "error: there is no saved model" in capsys.readouterr().err


def test_command(folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runtime", "show", folder],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=True,
    )

    assert done.stdout.startswith("saved model, version 1")
