"""`tf.experimental.numpy` gives what TensorFlow's gives, with NumPy's dtypes."""

from __future__ import annotations

import json
import subprocess
import sys
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import runtime as tf
from tests.runtime.names.numpy_expressions import (
    BEHAVIOR,
    FUNCTIONS,
    RESULTS,
    as_data,
    names,
)
from tests.runtime.names.test_expressions import same

tnp = tf.experimental.numpy
RECORDED = json.loads(RESULTS.read_text())
#: What gives tensors; others give numbers of Python, and dtypes, while tracing.
OF_TENSORS = [text for text in FUNCTIONS if isinstance(RECORDED[text], list)]


def computed(text: str, staged: bool) -> Any:
    given = names(tf)

    def compute() -> Any:
        return eval(text, given)

    return as_data(tf.function(compute)() if staged else compute())


def test_all_were_recorded() -> None:
    assert list(RECORDED) == FUNCTIONS + BEHAVIOR


@pytest.mark.parametrize("text", FUNCTIONS)
def test_results(text: str) -> None:
    assert same(computed(text, staged=False), RECORDED[text])


@pytest.mark.parametrize("text", OF_TENSORS)
def test_results_in_a_graph(text: str) -> None:
    assert same(computed(text, staged=True), RECORDED[text])


def in_a_process(code: str) -> str:
    """What a program prints, which turns the behavior of NumPy on."""
    start = (
        "import runtime as tf\n"
        "tf.experimental.numpy.experimental_enable_numpy_behavior()\n"
        "from tests.runtime.names.test_numpy_view import *\n"
    )
    done = subprocess.run([sys.executable, "-c", start + code], capture_output=True)
    assert not done.returncode, done.stderr.decode()
    return done.stdout.decode()


def test_behavior() -> None:
    found = json.loads(
        in_a_process(
            "skipped = ('Variable', '.tolist', '.size')\n"
            "print(json.dumps([\n"
            "    [text, staged, computed(text, staged)]\n"
            "    for text in BEHAVIOR for staged in (False, True)\n"
            "    if not (staged and any(part in text for part in skipped))\n"
            "]))"
        )
    )

    assert len(found) > 1.9 * len(BEHAVIOR)
    assert [row for row in found if not same(row[2], RECORDED[row[0]])] == []


def test_methods_of_arrays() -> None:
    code = """
x, array = tf.constant([[3.0, 1.0], [2.0, 4.0]]), np.array([[3, 1], [2, 4]], "float32")
for text in '''x.sum() x.sum(axis=0) x.prod() x.std() x.var() x.all() x.any() x.argmax()
x.argmin(axis=1) x.argsort() x.cumsum() x.cumprod(axis=0) x.dot(x) x.diagonal()
x.trace() x.repeat(2) x.round() x.swapaxes(0,1) x.squeeze() x.take([0,3]) x.T x.size
x.reshape(4,1) x.reshape(-1) x.transpose(1,0) x[0,0].item() x.conj() x.real x.imag
x.nonzero() x.clip(1,2) x.astype('int32')'''.split():
    found, wanted = eval(text), eval(text, {"x": array})
    assert np.allclose(found, wanted), (text, found, wanted)
    assert np.asarray(found).dtype.kind == np.asarray(wanted).dtype.kind, text
assert tf.constant(1, tf.uint8) < 300  # as exact as Python
@tf.function
def f(x):
    return x.reshape(-1).sum() + x.T[0, 1] * tf.constant(2)
print(float(f(x)), f(x).dtype.name)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = (x * tf.constant([1, 2])).sum()
print(tape.gradient(y, x).numpy().tolist(), y.dtype.name)
"""

    assert in_a_process(code).splitlines() == [
        "14.0 float64",
        "[[1.0, 2.0], [1.0, 2.0]] float64",
    ]


def test_what_numpy_does_not_promote_is_refused_still() -> None:
    code = """
for compute in (
    lambda: tf.constant("a") + tf.constant(1),
    lambda: tf.stack([tf.constant(1), tf.constant(1.0)]),
    lambda: tf.constant(1, tf.uint8) + 300,
):
    try:
        print(compute())
    except tf.errors.OpError as error:
        print(error.code, "numpy" in str(error))
    except tf.errors.ConversionError as error:
        print(str(error)[:5], "numpy" in str(error))
"""

    codes = ["AG311", "AG311", "AG312"]
    assert in_a_process(code).splitlines() == [f"{code} False" for code in codes]


def test_indices_and_functions_of_numpy_on_tensors() -> None:
    code = """
import numpy as np
x = tf.reshape(tf.range(12.0), [3, 4])
rows = tf.constant([2, 0])
f = tf.function(lambda x: x[:, (True, False, False, True)])
for found in x[[0, 2], [1, 1]], x[rows], x[np.array([2])], f(x), x[x > 9.0]:
    print(found.numpy().tolist())
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x[[0, 0, 1]]
print(tape.gradient(y, x).numpy()[:, 0].tolist(), np.sum(x), np.max(x, 0)[0].numpy())
try:
    np.sum(x, out=np.zeros([]))
except TypeError as error:
    print(error)
"""

    assert in_a_process(code).splitlines() == [
        "[1.0, 9.0]",
        "[[8.0, 9.0, 10.0, 11.0], [0.0, 1.0, 2.0, 3.0]]",
        "[[8.0, 9.0, 10.0, 11.0]]",
        "[[0.0, 3.0], [4.0, 7.0], [8.0, 11.0]]",
        "[10.0, 11.0]",
        "[2.0, 1.0, 0.0] tf.Tensor(66.0, shape=(), dtype=float32) 8.0",
        "tensors are not written to: leave out `out`",
    ]


def test_promotion_is_off_and_its_error_names_the_switch() -> None:
    for compute in (lambda x, y: x + y, tf.function(lambda x, y: x * y)):
        with pytest.raises(TypeError, match="experimental_enable_numpy_behavior"):
            compute(tf.constant(1), tf.constant(1.0))
    with pytest.raises(AttributeError, match=r"tf\.reshape"):
        tf.constant(1).reshape(1)


def test_other_rules_of_promotion_are_refused() -> None:
    enable = tnp.experimental_enable_numpy_behavior
    for options in ({"prefer_float32": True}, {"dtype_conversion_mode": "all"}):
        with pytest.raises(tf.errors.UnimplementedError, match="cast to float32"):
            enable(**options)
    with pytest.raises(ValueError, match="must be one of"):
        enable(dtype_conversion_mode="some")
    with pytest.raises(TypeError, match="different dtypes"):
        tf.constant(1) + tf.constant(1.0)


def test_random_numbers() -> None:
    draws = tnp.random
    shapes = {
        (): [draws.rand(), draws.randn(), draws.random(), draws.standard_normal()],
        (2,): [draws.uniform(-1, 1, 2), draws.random(2), draws.rand(2)],
        (2, 3): [draws.randn(2, 3), draws.standard_normal((2, 3))],
    }
    for shape, found in shapes.items():
        assert [(x.shape, x.dtype) for x in found] == [(shape, tf.float64)] * len(found)
    whole = draws.randint(3, 6, (100,))
    assert set(whole.numpy().tolist()) == {3, 4, 5}
    assert whole.dtype is tf.int64
    assert draws.randint(3, dtype=np.int32).dtype is tf.int32
    assert draws.poisson(3.0, 2).dtype is tf.int64
    draws.seed(3)
    first = draws.rand(4).numpy()
    draws.seed(3)
    assert first.tolist() == draws.rand(4).numpy().tolist()


def test_names() -> None:
    assert tnp.ndarray is tf.Tensor
    assert tnp.float64 is np.float64
    assert "maths" not in tnp.__all__
    assert {"sum", "array", "pi", "random", "ndarray"} <= set(tnp.__all__)
    assert all(hasattr(tnp, name) for name in tnp.__all__)
    assert tnp.sin.__name__ == "sin"
    assert [name for name in tnp.__all__ if not getattr(tnp, name).__doc__] == [
        "newaxis"
    ]


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("percentile", "tf.numpy_function calls in graphs"),
        ("random.choice", "tf.numpy_function calls in graphs"),
        ("unique", "tf.unique does"),
        ("linalg", "tf.linalg does"),
        ("reshap", "did you mean 'reshape'"),
    ],
)
def test_names_that_are_not_there(name: str, advice: str) -> None:
    with pytest.raises(AttributeError, match=advice):
        attrgetter(name)(tnp)


@pytest.mark.parametrize(
    ("compute", "error", "text"),
    [
        (lambda: tnp.swapaxes([[1]], 0, 2), IndexError, "range"),
        (lambda: tnp.moveaxis([[1]], 0, 2), ValueError, "axis 2 is out of bounds"),
        (lambda: tnp.take([1], [0], mode="raise"), ValueError, "'clip' or 'wrap'"),
        (lambda: tnp.reshape([1], 1, order="A"), ValueError, "'C' or 'F'"),
        (lambda: tnp.matmul(1, [1]), ValueError, "no dimensions"),
        (lambda: tnp.add(tf.constant(1, tf.uint8), 300), ValueError, "AG312"),
        (lambda: tnp.dot([True], [True]), TypeError, "bool"),
        (lambda: tnp.max([]), tf.errors.OpError, "zero-size"),
        (lambda: tnp.floor_divide([1], 0), tf.errors.InvalidArgumentError, "zero"),
    ],
)
def test_what_does_not_fit_is_refused(compute: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        compute()


def test_gradients_and_shapes_that_are_open() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x: Any) -> Any:
        rows = tnp.vstack([x, tnp.ones((1, 2), tf.float32)])
        return tnp.sum(tnp.triu(rows)) + tnp.sum(tnp.sinc(rows * 0)), tnp.size(x)

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total, size = f(x)
    assert (float(total), int(size)) == (13.0, 4)
    assert tape.gradient(total, x).numpy().tolist() == [[1.0, 1.0], [0.0, 1.0]]


def test_the_namespace_is_imported_when_it_is_asked_for() -> None:
    code = (
        "import sys, runtime as tf; tf.experimental.dtensor; "
        "assert 'runtime.names.numpy_view' not in sys.modules; "
        "import runtime.experimental.numpy as tnp; "
        "assert tnp is tf.experimental.numpy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_ranges_and_steps_as_in_numpy() -> None:
    for ends in ((0, 2.5), (0, 1, 0.5), (5, 2), (-3,), (5, 2, -1)):
        found = tnp.arange(*ends, dtype=int)
        assert found.numpy().tolist() == np.arange(*ends, dtype=int).tolist(), ends
    # NumPy would step by whole numbers: 0, 1, 2, 3.
    assert tnp.arange(0, 6, 1.5, dtype=int).numpy().tolist() == [0, 1, 3, 4]
    found = tnp.linspace(0, -1, 4, dtype=int).numpy().tolist()
    assert found == np.linspace(0, -1, 4, dtype=int).tolist()
    assert np.isnan(tnp.heaviside(float("nan"), 0.5))
