"""Functions as the command line names them: ``clip.py::clip(int32[])``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import runtime as tf
from runtime.files.saved_model.show import main
from runtime.function.show import arguments_of, traced

CODE = """
import runtime as tf

def clip(x, limit=3.0):
    if x > limit:
        x = limit
    return x

class Scale:
    @staticmethod
    @tf.function
    def by(xs, *, rate):
        return [x * rate for x in xs]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "shown_clip.py"
    path.write_text(CODE)
    return path


def test_graph_and_source(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "shown_clip.py::clip(float32[])"]) == 0
    graph = capsys.readouterr().out
    assert graph.startswith("graph clip(%0: float32[] 'x'):")
    assert "If(" in graph

    assert main(["show", "shown_clip.py::clip(float32[], 5.0)", "--source"]) == 0
    source = capsys.readouterr().out
    assert "def clip(x):" in source
    assert "5.0" in source
    assert "3.0" not in source


def test_native_code(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("llvmlite")
    code = CODE + "\n\ndef told(x):\n    tf.print(x)\n"
    module.write_text(code)
    expected = {
        "--loops": ("clip(x: float32[], out: float32[]):\n    out = 3.0 if x >",),
        "--llvm": ("define ", "; shown_clip.py:5:     if x > limit:"),
        "--asm": ("run:", "# shown_clip.py:5:     if x > limit:"),
        "--explain": ("clip() runs as native code.",),
    }
    for view, texts in expected.items():
        assert main(["show", "shown_clip.py::clip(float32[])", view]) == 0
        found = capsys.readouterr().out
        assert all(text in found for text in texts), found

    assert main(["show", "shown_clip.py::told(float32[])", "--explain"]) == 0
    assert "PrintV2 has no native code" in capsys.readouterr().out
    for view in ("--loops", "--llvm"):
        assert main(["show", "shown_clip.py::told(float32[])", view]) == 1
        assert "nothing of told() is native code" in capsys.readouterr().err
    assert tf.config.get_executor() == "numpy"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a shell of POSIX")
def test_a_reader_that_stops(module: Path) -> None:
    command = f"{sys.executable} -m runtime show 'shown_clip.py::clip(float32[])'"
    path = os.pathsep.join([os.getcwd(), *sys.path])
    done = subprocess.run(
        ["sh", "-c", f"{command} | true"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )

    assert done.stderr == ""


def test_modules_and_members(module: Path) -> None:
    concrete = traced("shown_clip:Scale.by([int32[], int32[?]], rate=int32[])")

    assert [tensor.shape.dims for tensor in concrete.outputs] == [[], [None]]


def test_arguments() -> None:
    args, kwargs = arguments_of(
        "float32[2, ?], int64[...], 'int', (bool[], None), n=-1"
    )

    assert args == [
        tf.TensorSpec([2, None], tf.float32),
        tf.TensorSpec(None, tf.int64),
        "int",
        (tf.TensorSpec([], tf.bool), None),
    ]
    assert kwargs == {"n": -1}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("shown_clip.py::clop(1)", "shown_clip.py has no 'clop'"),
        ("shown_clip.py::clip(", "names no function with its arguments"),
        ("none.py::f(1)", "there is no Python file 'none.py'"),
        ("no_such_module:f(1)", "No module named 'no_such_module'"),
        ("shown_clip:clip(int31[])", "neither a tensor such as int32[]"),
        ("shown_clip:clip(x)", "neither a tensor such as int32[]"),
    ],
)
def test_what_is_not_there(
    module: Path, target: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", target]) == 1
    assert message in capsys.readouterr().err
