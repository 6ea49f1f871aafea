"""Eigenvalues and functions of matrices in all executors, and their gradients.

`tests/runtime/names` compares results with those of TensorFlow.
"""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.autodiff.checks import check_grads, sample
from tests.runtime.ops.linalg.executors import EXECUTORS, check

L = tf.linalg
X = sample(2, 3, 3)
COMPLEX = tf.complex(X, tf.reverse(X, [-1]))
POSITIVE = X @ L.adjoint(X) + 2 * tf.eye(3, dtype=tf.float64)
FUNCTIONS: dict[str, Any] = {
    "eigvals": (L.eigvals, X),
    "eig": (lambda x: tf.abs(L.eig(x)[1]), COMPLEX),
    "expm": (L.expm, 3 * X),
    "sqrtm": (L.sqrtm, POSITIVE),
    "sqrtm, complex": (L.sqrtm, COMPLEX),
    "logm": (L.logm, COMPLEX),
}
#: What SciPy computes.
BY_SCIPY = [name for name in FUNCTIONS if name.startswith(("sqrtm", "logm"))]


def of(name: str) -> Any:
    if name in BY_SCIPY:
        pytest.importorskip("scipy")
    return FUNCTIONS[name]


#: XLA compiles it for seconds.
LONG = [pytest.param("expm", "xla", marks=pytest.mark.slow)]
PAIRS = [pair for pair in product(FUNCTIONS, EXECUTORS) if pair != ("expm", "xla")]


@pytest.mark.parametrize(("name", "executor"), PAIRS + LONG)
def test_executors_compute_the_same(name: str, executor: str) -> None:
    f, x = of(name)
    check(f, [x], executor)


# SciPy says that an error of 1000 units in the last place is large.
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("name", BY_SCIPY)
def test_gradients_are_those_of_small_steps(name: str) -> None:
    f, x = of(name)
    check_grads(f, [x])


def test_eigenvalues_and_eigenvectors() -> None:
    for x in (X, COMPLEX, tf.cast(X, tf.float32)):
        values, vectors = L.eig(x)
        wide = x.dtype is not tf.float32
        assert values.dtype is vectors.dtype
        assert values.dtype is (tf.complex128 if wide else tf.complex64)
        product = vectors * values[:, None] @ L.inv(vectors)
        np.testing.assert_allclose(product, x, 1e-4, 1e-4)
        np.testing.assert_array_equal(L.eigvals(x), values)


@pytest.mark.parametrize("function", [L.eigvals, L.eigvalsh])
def test_equal_eigenvalues_have_a_gradient(function: Any) -> None:
    x = tf.eye(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        values = function(x)
    np.testing.assert_array_equal(tape.gradient(values, x), np.eye(3))


def test_exponentials_of_all_sizes() -> None:
    sizes = tf.constant([1e-300, 1e-3, 1.0, 30.0, -700.0, -1e6])
    found = L.expm(tf.cast(sizes, tf.float64)[:, None, None])
    np.testing.assert_allclose(found[:, 0, 0], tf.exp(tf.cast(sizes, tf.float64)))
    # What a batch has beside a matrix does not change the result.
    np.testing.assert_array_equal(L.expm(tf.stack([X[0], 90 * X[1]]))[0], L.expm(X)[0])
    assert np.isnan(L.expm([[np.inf]]))


def test_roots_and_logarithms() -> None:
    pytest.importorskip("scipy")
    root = L.sqrtm(COMPLEX)
    np.testing.assert_allclose(root @ root, COMPLEX, 1e-10, 1e-10)
    np.testing.assert_allclose(L.expm(L.logm(COMPLEX)), COMPLEX, 1e-10, 1e-10)
    # As TensorFlow 2.21 gives them, also where there is one eigenvector only.
    shear = tf.constant([[1.0, 1.0], [0.0, 1.0]])
    assert L.sqrtm(shear).numpy().tolist() == [[1.0, 0.5], [0.0, 1.0]]
    found = L.logm(tf.cast(shear, tf.complex64)).numpy()
    np.testing.assert_allclose(found, [[0, 1], [0, 0]], 1e-6, 1e-6)
    assert np.isnan(L.sqrtm([[-4.0]]))
    assert L.sqrtm([[4.0]]).numpy() == [[2.0]]
    negative = tf.constant([[-4.0]], tf.complex64)
    np.testing.assert_allclose(L.sqrtm(negative), [[2j]], 1e-6)
    np.testing.assert_allclose(L.logm(negative), [[np.log(4) + np.pi * 1j]], 1e-6)
    for given in (tf.zeros([0, 2, 2]), tf.zeros([2, 0, 0])):
        assert L.sqrtm(given).shape == given.shape
        assert L.logm(tf.cast(given, tf.complex64)).shape == given.shape
    assert np.isnan(L.logm(tf.cast([[np.nan]], tf.complex64)))


#: What TensorFlow 2.21 gives for the gradient of the first row of the result.
GRADIENTS = {
    "expm": [
        [14.856858047560397, 17.75101020975967],
        [7.975137256907402, 9.06855372316181],
    ],
    "sqrtm": [
        [0.32477321669134657, 0.30588418704992576],
        [-0.030710409131232297, -0.027176584055427614],
    ],
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_tensorflow(name: str) -> None:
    f, _ = of(name)
    x = tf.constant([[2.0, 1.0], [0.5, 3.0]], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        row = f(x)[0]
    np.testing.assert_allclose(tape.gradient(row, x), GRADIENTS[name], 1e-9)


@pytest.mark.parametrize("function", ["sqrtm", "logm"])
def test_a_missing_scipy_is_named(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(tf.errors.UnimplementedError, match=r"compiler\[linalg\]"):
        getattr(L, function)(COMPLEX)
