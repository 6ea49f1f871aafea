"""Programs exported as StableHLO run in plain JAX, and say what they refuse."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf

jax = pytest.importorskip("jax")
pytest.importorskip("flatbuffers")

#: All that the environment of the reader has.
PACKAGES = ["jax", "jaxlib", "numpy", "scipy", "ml_dtypes", "opt_einsum", "flatbuffers"]

READER = """
import importlib.util, json, sys
assert all(importlib.util.find_spec(name) is None for name in ("runtime", "autograph"))
import jax, numpy as np
jax.config.update("jax_enable_x64", True)
results = {}
for name, inputs in json.load(open("inputs.json")).items():
    data = bytearray(open(f"{name}.jax", "rb").read())
    exported = jax.export.deserialize(data)
    arrays = [np.array(value, dtype) for value, dtype in inputs]
    values = exported.call(*arrays)
    results[name] = jax.tree.map(lambda x: np.asarray(x).tolist(), values)
    jax.jit(exported.call)(*arrays)
print(json.dumps(results))
"""

_WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4) / 7


def _concrete(fn: Callable[..., Any], *specs: Any) -> Any:
    return tf.function(fn).get_concrete_function(*specs)


def _plain_jax(folder: Path) -> Path:
    """A Python that has JAX and what that needs, and nothing else."""
    home = folder / "plain"
    venv.create(home, symlinks=True, with_pip=False)
    site = next((home / "lib").glob("python*/site-packages"))
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        assert found is not None
        assert found.submodule_search_locations is not None
        source = Path(found.submodule_search_locations[0])
        for part in (source, source.with_name(f"{name}.libs")):
            if part.exists():
                (site / part.name).symlink_to(part)
    return home / "bin" / "python"


def collatz(n: Any) -> Any:
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def network(x: Any) -> Any:
    y = tf.nn.softmax(tf.nn.relu(x @ _WEIGHTS))
    return {"classes": tf.argmax(y, 1), "probabilities": y}


def first_above(xs: Any, limit: Any) -> Any:
    for x in xs:
        if x > limit:
            return x
    raise ValueError(f"none is above {limit}")


def test_plain_jax_runs_the_files(tmp_path: Path) -> None:
    vector, number = tf.TensorSpec([None], tf.float64), tf.TensorSpec([], tf.float64)
    row = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 1.0]], np.float32)
    programs: dict[str, tuple[Any, list[Any]]] = {
        "collatz": (_concrete(collatz, tf.TensorSpec([], tf.int32)), [np.int32(27)]),
        "network": (_concrete(network, tf.TensorSpec([None, 3], tf.float32)), [row]),
        "found": (_concrete(first_above, vector, number), [[1.0, 4.0, 5.0], 3.0]),
        "failed": (_concrete(first_above, vector, number), [[1.0], 3.0]),
    }
    inputs = {}
    for name, (concrete, values) in programs.items():
        concrete.export_stablehlo(tmp_path / f"{name}.jax")
        arrays = [np.asarray(value) for value in values]
        inputs[name] = [(array.tolist(), array.dtype.name) for array in arrays]
    (tmp_path / "inputs.json").write_text(json.dumps(inputs), encoding="utf-8")

    python = _plain_jax(tmp_path)
    done = subprocess.run(
        [python, "-I", "-c", READER],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["collatz"] == [111, False]
    assert results["found"] == [4.0, False]
    assert results["failed"][1] is True
    expected = network(tf.constant(row))
    assert results["network"]["classes"] == expected["classes"].numpy().tolist()
    np.testing.assert_allclose(
        results["network"]["probabilities"], expected["probabilities"], rtol=1e-6
    )


# --- shapes and platforms -------------------------------------------------------------


def _shape(exported: Any) -> list[str]:
    return [str(n) for n in exported.out_avals[0].shape]


def test_unknown_lengths_are_symbols() -> None:
    image = tf.TensorSpec([None, 2, 3], tf.float32, name="image")
    programs: dict[str, Callable[[Any], Any]] = {
        "image_0, 6": lambda x: tf.reshape(x, [tf.shape(x)[0], -1]),
        "2*image_0, 2, 3": lambda x: tf.tile(x, [2, 1, 1]),
        "image_0, 4": lambda x: x[:, 0] @ _WEIGHTS + tf.ones([tf.shape(x)[0], 4]),
        "2, 3": lambda x: tf.reduce_mean(x, 0),
        "": lambda x: tf.cast(tf.shape(x)[0] * 2 + tf.size(x), tf.float32),
    }
    rows = np.arange(30, dtype=np.float32).reshape(5, 2, 3)
    for shape, program in programs.items():
        exported = _concrete(program, image).export_stablehlo()
        assert ", ".join(_shape(exported)) == shape
        np.testing.assert_allclose(exported.call(rows), program(tf.constant(rows)))


def test_shapes_may_be_named() -> None:
    vector = tf.TensorSpec([None], tf.float32)
    added = _concrete(lambda x, y: x + y, vector, vector)
    with pytest.raises(tf.errors.UnimplementedError, match=r"x_0.*y_0"):
        added.export_stablehlo()
    exported = added.export_stablehlo(shapes={"x": "batch", "y": "batch"})
    assert _shape(exported) == ["batch"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="no input 'z'"):
        added.export_stablehlo(shapes={"z": "batch"})


def test_platforms_are_those_that_are_asked_for() -> None:
    concrete = _concrete(collatz, tf.TensorSpec([], tf.int32))
    exported = concrete.export_stablehlo(platforms=["cpu", "cuda", "tpu"])
    assert exported.platforms == ("cpu", "cuda", "tpu")
    assert "stablehlo.while" in exported.mlir_module()
    assert exported.fun_name == "collatz"


# --- variables ------------------------------------------------------------------------


def test_variables_are_constants_or_arguments() -> None:
    v = tf.Variable([1.0, 2.0], name="weights")
    scaled = _concrete(lambda x: x * v, tf.TensorSpec([2], tf.float32))
    frozen, free = scaled.export_stablehlo(), scaled.export_stablehlo(freeze=False)
    v.assign([5.0, 5.0])

    ones = np.ones(2, np.float32)
    assert frozen.call(ones).tolist() == [1.0, 2.0]
    assert free.call({"weights": ones * 3}, ones).tolist() == [3.0, 3.0]


def test_assigned_variables_are_results() -> None:
    v = tf.Variable(1.0, name="total")
    adding = _concrete(lambda x: v.assign_add(x) * 2.0, tf.TensorSpec([], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="freeze=False"):
        adding.export_stablehlo()
    exported = adding.export_stablehlo(freeze=False)
    result, left = exported.call({"total": np.float32(4.0)}, np.float32(3.0))
    assert (float(result), float(left["total"]), float(v)) == (14.0, 7.0, 1.0)


# --- checks ---------------------------------------------------------------------------


def positive(x: Any) -> Any:
    assert x > 0, f"{x} is not positive"
    return x


def test_a_failure_raises_the_flag() -> None:
    concrete = _concrete(positive, tf.TensorSpec([], tf.int32))
    exported = concrete.export_stablehlo()
    assert [bool(exported.call(np.int32(n))[1]) for n in (2, -2)] == [False, True]
    assert concrete.export_stablehlo(checks=False).call(np.int32(2)).tolist() == 2


def test_too_many_rows_raise_the_flag() -> None:
    def last(n: Any) -> Any:
        found = [0]
        while n > 0:
            found.append(n)
            n -= 1
        return found[-2]

    concrete = _concrete(last, tf.TensorSpec([], tf.int32))
    exported = concrete.export_stablehlo(room=8)
    assert [np.asarray(part).item() for part in exported.call(np.int32(7))] == [2, 0]
    assert exported.call(np.int32(20))[1]
    with pytest.raises(tf.errors.UnimplementedError, match="room for 8 rows"):
        concrete.export_stablehlo(room=8, checks=False)


# --- refusals -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "spec", "reason"),
    [
        (lambda x: x, tf.TensorSpec([], tf.string), "arrays of numbers"),
        (lambda x: x, tf.TensorSpec(None, tf.float32), "a known number of axes"),
        (lambda x: x + tf.random.normal([2]), tf.TensorSpec([2]), "stateless_uniform"),
        (lambda n: tf.range(n), tf.TensorSpec([], tf.int32), "the shape of a result"),
        (lambda n: tf.strings.as_string(n), tf.TensorSpec([], tf.int32), "a text"),
    ],
    ids=["text", "rank", "random", "length", "made_text"],
)
def test_refusals_say_why(program: Callable[..., Any], spec: Any, reason: str) -> None:
    with pytest.raises(tf.errors.UnimplementedError, match=reason):
        _concrete(program, spec).export_stablehlo()


def test_the_reader_has_nothing_of_ours(tmp_path: Path) -> None:
    script = "import importlib.util as u; print(u.find_spec('runtime'))"
    done = subprocess.run(
        [_plain_jax(tmp_path), "-I", "-c", script], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "None\n")
    assert sys.modules["runtime"] is tf
