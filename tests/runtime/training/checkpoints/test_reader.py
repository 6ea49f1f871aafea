"""What is in a file: `list_variables`, `load_checkpoint`, `load_variable`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import runtime as tf

pytest.importorskip("safetensors")


def test_reader(tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(x=tf.Variable([[1.0]]), s=tf.Variable("a"))
    path = checkpoint.save(tmp_path / "ckpt")
    x, s = "x/.ATTRIBUTES/VARIABLE_VALUE", "s/.ATTRIBUTES/VARIABLE_VALUE"

    for where in (path, tmp_path, str(tmp_path)):
        reader = tf.train.load_checkpoint(where)
        assert reader.has_tensor(x)
        assert not reader.has_tensor("y")
        assert reader.get_variable_to_shape_map()[x] == [1, 1]
        assert reader.get_variable_to_dtype_map()[s] is tf.string
        assert reader.get_tensor(s) == b"a"
        assert tf.train.list_variables(where)[-1] == (x, [1, 1])
        assert np.array_equal(tf.train.load_variable(where, x), [[1.0]])


def test_what_is_missing(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(x=tf.Variable(1.0)).write(tmp_path / "ckpt")

    with pytest.raises(tf.errors.NotFoundError, match="no tensor 'y'"):
        tf.train.load_variable(path, "y")
    with pytest.raises(tf.errors.NotFoundError, match="has no checkpoints"):
        tf.train.load_checkpoint(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="no checkpoint"):
        tf.train.load_checkpoint(tmp_path / "other")
    assert tf.train.latest_checkpoint(tmp_path / "none") is None
    assert tf.train.get_checkpoint_state(tmp_path) is None
