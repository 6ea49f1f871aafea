"""Choosing by bits: what `np.where` gives, to the last bit."""

import numpy as np
import pytest

import runtime as tf
from runtime.ops.kernels import select as module
from runtime.ops.kernels.select import select

DTYPES = ["?", "i1", "u1", "i2", "f2", "i4", "f4", "u8", "f8"]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(module, "FEW", 1)
    monkeypatch.setattr(module, "BLOCK", 32)


def any_bits(shape, dtype, seed):
    """Elements of which all bits are random: all kinds of NaN among them."""
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return rng.random(shape) < 0.5
    size = np.dtype(dtype).itemsize
    return np.frombuffer(rng.bytes(int(np.prod(shape)) * size), dtype).reshape(shape)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(1,), (33,), (7, 13)])
def test_all_bits(dtype, shape):
    c = any_bits(shape, "?", 0)
    x, y = any_bits(shape, dtype, 1), any_bits(shape, dtype, 2)
    for one, other in ((x, y), (x.flat[0], y), (x, y.reshape(-1)[:1].reshape(()))):
        expected = np.where(c, one, other).tobytes()
        assert select(c, one, other).tobytes() == expected
        for out in (np.empty_like(x), x.copy(), y.copy()):
            assert select(c, one, other, out=out) is out
            assert out.tobytes() == expected
    for target in ("x", "y"):
        values = {"x": x.copy(), "y": y.copy()}
        found = select(c, **values, out=values[target])
        assert found.tobytes() == np.where(c, x, y).tobytes()


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zeros(zero):
    c, x = any_bits((7, 13), "?", 0), any_bits((7, 13), "f4", 1)
    y = np.float32(zero)
    assert select(c, x, y).tobytes() == np.where(c, x, y).tobytes()


@pytest.mark.parametrize("given", [(13,), (7, 1), (5, 1, 1), (1,), (5, 1, 13)])
def test_repeated_elements(given, monkeypatch):
    c, few = any_bits((5, 7, 13), "?", 0), any_bits(given, "f4", 1)
    x = np.broadcast_to(few, c.shape)
    expected = np.where(c, x, np.float32(0))
    monkeypatch.setattr(module, "_one_by_one", None)  # it is slow
    assert select(c, x, np.float32(0)).tobytes() == expected.tobytes()


def test_what_is_left_to_numpy():
    c = np.array([[True], [False]])
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(select(c, x, 0), np.where(c, x, 0))
    np.testing.assert_array_equal(select(x > 2, x[0], 0.5), np.where(x > 2, x[0], 0.5))
    np.testing.assert_array_equal(select(x.T > 2, x.T, -x.T), np.where(x > 2, x, -x).T)
    out = np.empty((2, 3), x.dtype)
    np.testing.assert_array_equal(select(c, x, x[0], out=out), np.where(c, x, x[0]))
    texts = np.array(["a", "b"], object)
    assert select(c[:, 0], texts, "c").tolist() == ["a", "c"]


def test_eager_choices():
    x = any_bits((100,), "f4", 3)
    found = tf.where(x > 0, x, 0.0).numpy()
    assert found.tobytes() == np.where(x > 0, x, np.float32(0)).tobytes()
