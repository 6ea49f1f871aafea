"""Files of tensors: every dtype and shape comes back, and damage is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import runtime as tf
from runtime.core.types.dtypes import ALL
from runtime.files.saving import tensor_file
from runtime.files.saving.tensor_file import TensorFile, write_tensor_file
from tests.turns import by_turns

pytest.importorskip("safetensors")
HERE = Path(__file__).parent
ROOT = HERE.parents[3]


def arrays() -> dict[str, np.ndarray]:
    found = {}
    for dtype in ALL:
        for shape in [(), (0,), (2, 3), (2, 0, 4)]:
            size = int(np.prod(shape))
            if dtype is tf.string:
                items = [[b"", b"\xff\x00", "é".encode()][i % 3] for i in range(size)]
                array = np.empty(size, object)
                array[:] = items
            else:
                array = (np.arange(size) * 1.5).astype(dtype.np_dtype)
                if dtype.is_complex:
                    array = array * (1 - 2j)
            found[f"{dtype.name}{shape}"] = array.astype(dtype.np_dtype).reshape(shape)
    return found


def test_every_dtype_and_shape_comes_back(tmp_path: Path) -> None:
    written = arrays()
    write_tensor_file(tmp_path / "f", "test", written, {"a": [1, None]})

    file = TensorFile(tmp_path / "f", "test")

    assert file.record == {"a": [1, None]}
    assert file.names == sorted(written)
    for name, array in written.items():
        found = file.array(name)
        assert found.dtype == array.dtype
        assert found.shape == array.shape == tuple(file.shape(name))
        assert found.tolist() == array.tolist()


@pytest.mark.parametrize("value", [np.nan, -0.0, np.inf])
def test_bits_come_back(tmp_path: Path, value: float) -> None:
    array = np.array([value, 1e-45], np.float32)
    write_tensor_file(tmp_path / "f", "test", {"x": array}, None)

    assert TensorFile(tmp_path / "f", "test").array("x").tobytes() == array.tobytes()


def test_strided_and_foreign_arrays_come_back(tmp_path: Path) -> None:
    array = np.arange(12).reshape(3, 4).T[::2]
    write_tensor_file(tmp_path / "f", "test", {"x": array}, None)

    assert TensorFile(tmp_path / "f", "test").array("x").tolist() == array.tolist()


@given(st.lists(st.binary()))
def test_strings_come_back(strings: list[bytes]) -> None:
    array = np.empty(len(strings), object)
    array[:] = strings
    stored = tensor_file._stored("x", array)

    text, ends = stored["x"], stored["x/ends"]

    assert len(text) == sum(map(len, strings))
    assert [
        text.tobytes()[a:b] for a, b in zip([0, *ends.tolist()], ends.tolist())
    ] == (strings)


def test_names_that_meet_are_refused(tmp_path: Path) -> None:
    arrays = {"x": np.array(b"a", object), "x/ends": np.zeros(1)}

    with pytest.raises(ValueError, match="cannot both be called"):
        write_tensor_file(tmp_path / "f", "test", arrays, None)


def test_another_format_is_refused(tmp_path: Path) -> None:
    write_tensor_file(tmp_path / "f", "other", {}, None)

    with pytest.raises(tf.errors.DataLossError, match="format 'test'"):
        TensorFile(tmp_path / "f", "test")


def test_a_later_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tensor_file, "VERSION", 2)
    write_tensor_file(tmp_path / "f", "test", {}, None)
    monkeypatch.undo()

    with pytest.raises(tf.errors.DataLossError, match="later release"):
        TensorFile(tmp_path / "f", "test")


@pytest.mark.parametrize("content", [b"", b"x", b"\xff" * 100, b"{}" * 50])
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)

    with pytest.raises(tf.errors.DataLossError, match="damaged"):
        TensorFile(tmp_path / "f", "test")


def test_missing_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors", None)

    with pytest.raises(ModuleNotFoundError, match=r"pip install .*\[saving\]"):
        write_tensor_file(tmp_path / "f", "test", {}, None)


@pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does")
@pytest.mark.parametrize("seed", by_turns(range(20)))
def test_damage_is_noticed(tmp_path: Path, seed: int) -> None:
    """10,000 damaged files in all: errors or the same values; see `corruption.py`."""
    objects = {
        name.translate({ord(c): "_" for c in "(), "}): tf.Variable(array)
        for name, array in arrays().items()
    }
    prefix = tf.train.Checkpoint(**objects).write(tmp_path / "ckpt")

    done = subprocess.run(
        [sys.executable, str(HERE / "corruption.py"), prefix, str(seed), "500"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 400
