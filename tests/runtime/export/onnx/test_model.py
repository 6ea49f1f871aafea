"""What exported models are like: names, flags, refusals, files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.export.onnx import library
from tests.runtime.export.onnx.models import run_model

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")


def _export(fn: Callable[..., Any], *specs: Any, **options: Any) -> Any:
    return tf.function(fn).get_concrete_function(*specs).export_onnx(**options)


def _failed(fn: Callable[..., Any], *inputs: Any) -> bool:
    specs = [tf.TensorSpec(np.shape(x), np.asarray(x).dtype) for x in inputs]
    return bool(run_model(_export(fn, *specs), inputs)["failed"])


# --- names and files ------------------------------------------------------------------


def test_inputs_and_results_have_the_names_of_the_program() -> None:
    def parts(x: Any, y: Any) -> Any:
        return {"sum": x + y, "both": (x, y)}, x * y

    vector = tf.TensorSpec([None], tf.float32)
    model = _export(parts, vector, tf.TensorSpec([2], tf.float32, name="other"))

    assert [info.name for info in model.graph.input] == ["x", "other"]
    dims = [info.type.tensor_type.shape.dim[0] for info in model.graph.input]
    assert [dim.dim_param or dim.dim_value for dim in dims] == ["x_0", 2]
    assert model.graph.name == "parts"
    results = run_model(model, [np.ones(2, "f"), np.ones(2, "f")])
    assert list(results) == [
        "output_0_both_0",
        "output_0_both_1",
        "output_0_sum",
        "output_1",
    ]


def test_a_list_is_its_rows_and_how_many() -> None:
    def halves(n: Any) -> Any:
        found = []
        while n > 0:
            n //= 2
            found.append(n)
        return found

    results = run_model(_export(halves, tf.TensorSpec([], tf.int32)), [np.int32(9)])
    assert [np.asarray(value).tolist() for value in results.values()] == [
        [4, 2, 1, 0],
        4,
    ]


def test_a_file_is_what_is_returned(tmp_path: Path) -> None:
    import onnx

    path = tmp_path / "double.onnx"
    model = _export(lambda x: x * 2.0, tf.TensorSpec([], tf.float32), path=path)
    assert onnx.load(path) == model


def test_variables_are_constants() -> None:
    v = tf.Variable([1.0, 2.0])
    model = _export(lambda x: x * v, tf.TensorSpec([2], tf.float32))
    v.assign([5.0, 5.0])
    assert run_model(model, [np.ones(2, "f")])["output"].tolist() == [1.0, 2.0]


# --- checks ---------------------------------------------------------------------------


def positive(x: Any) -> Any:
    assert x > 0.0, f"{x} is not positive"
    return tf.sqrt(x)


def item(xs: Any, i: Any) -> Any:
    return xs[i]


def divided(x: Any, y: Any) -> Any:
    return x // y


def factorial(n: Any) -> Any:
    product = 1
    while n > 0:
        product *= int(n)
        n -= 1
    return product


def first_above(xs: Any, limit: Any) -> Any:
    for x in xs:
        if x > limit:
            return x
    raise ValueError(f"none is above {limit}")


def taken(n: Any) -> Any:
    if n > 2:
        value = n * 2
    return value


_ROW = np.float32([1.0, 5.0])
#: Programs, inputs with which they raise, and others.
FAILING: list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]] = [
    (positive, (np.float32(-1.0),), (np.float32(4.0),)),
    (item, (_ROW, np.int32(2)), (_ROW, np.int32(-2))),
    (tf.gather, (_ROW, np.int32([-1])), (_ROW, np.int32([1]))),
    (divided, (np.int32([1]), np.int32([0])), (np.int32([-(2**31)]), np.int32([-1]))),
    (factorial, (np.int32(21),), (np.int32(12),)),
    (first_above, (_ROW, np.float32(7.0)), (_ROW, np.float32(2.0))),
    (taken, (np.int32(1),), (np.int32(3),)),
]


@pytest.mark.parametrize(
    ("program", "bad", "good"), FAILING, ids=[case[0].__name__ for case in FAILING]
)
def test_what_raises_here_raises_the_flag(
    program: Callable[..., Any], bad: tuple[Any, ...], good: tuple[Any, ...]
) -> None:
    with pytest.raises(Exception):  # noqa: PT011 (each its own)
        tf.function(program)(*map(tf.constant, bad))
    assert _failed(program, *bad)
    assert not _failed(program, *good)


def test_loops_end_at_a_failure() -> None:
    def endless(x: Any) -> Any:
        while x > 0.0:
            assert x < 3.0
            x += 1.0
        return x

    assert _failed(endless, np.float32(1.0))


def test_without_checks_there_is_no_flag() -> None:
    scalar = tf.TensorSpec([], tf.float32)
    results = run_model(_export(positive, scalar, checks=False), [np.float32(-1.0)])
    assert list(results) == ["output"]
    assert np.isnan(results["output"])


def test_what_cannot_fail_has_no_flag() -> None:
    model = _export(lambda x: x + 1.0, tf.TensorSpec([], tf.float32))
    assert [info.name for info in model.graph.output] == ["output"]


# --- refusals -------------------------------------------------------------------------


def test_texts_are_refused() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="string values, and 'x'"):
        _export(lambda x: x, tf.TensorSpec([], tf.string))
    with pytest.raises(tf.errors.UnimplementedError, match="AsString"):
        _export(
            lambda x: tf.strings.length(tf.strings.as_string(x)),
            tf.TensorSpec([], "int32"),
        )


def test_an_op_is_refused_with_its_line() -> None:
    def solve(x: Any) -> Any:
        return tf.linalg.cholesky(x)

    line = solve.__code__.co_firstlineno + 1
    with pytest.raises(tf.errors.UnimplementedError) as caught:
        _export(solve, tf.TensorSpec([2, 2], tf.float32))
    assert f"test_model.py:{line}: ONNX has no Cholesky" in str(caught.value)


def test_assignments_are_refused() -> None:
    v = tf.Variable(1.0, name="count")
    with pytest.raises(tf.errors.UnimplementedError, match="count:0 is assigned"):
        _export(lambda: v.assign_add(1.0))


def test_recursion_is_refused() -> None:
    @tf.function
    def down(n: Any) -> Any:
        if n > 0:
            return down(n - 1) + 1
        return 0

    with pytest.raises(tf.errors.UnimplementedError, match=r"down\(\) calls itself"):
        _export(lambda n: down(n), tf.TensorSpec([], tf.int32))


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    library.load.cache_clear()
    monkeypatch.setitem(sys.modules, "onnx.helper", None)
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"autograph-compiler\[onnx\]"
    ):
        _export(lambda x: x, tf.TensorSpec([], tf.float32))
