"""Every op and every kind of attribute comes back from JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import UnsavableError
from runtime.core.graph import Graph
from runtime.files.saved_model.decode import ProgramReader
from runtime.files.saved_model.encode import ProgramWriter
from runtime.ops.operands import Operand, Slice
from tests import golden
from tests.runtime.export import programs

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "tests" / "runtime" / "export" / "golden"


def read(writer: ProgramWriter) -> ProgramReader:
    """A reader of what was written, by way of a text."""
    names = "graphs", "variables", "generators", "tables", "streams", "callers"
    tables = {name: getattr(writer, name) for name in names}
    content = json.loads(json.dumps(tables, allow_nan=False))
    return ProgramReader(content, writer.arrays.__getitem__, [])


def copied(graph: Graph) -> Graph:
    writer = ProgramWriter()
    number = writer.graph(graph)
    return read(writer).graphs[number]


def _text(graph: Graph) -> str:
    """The text of a graph without its lines."""
    lines = str(graph).splitlines()
    return "\n".join(line.partition("  # ")[0] for line in lines)


@golden.parametrize(FOLDER / "graph_def.test")
def test_graphs_of_golden_files(case: golden.Case) -> None:
    """All tests of ops run what was saved, too: see `agreement.ways`."""
    graph = programs.graph_of(case)
    if "PyFunc" in str(graph):
        with pytest.raises(UnsavableError, match=r"AG340: .* a Python function"):
            copied(graph)
        return

    assert _text(copied(graph)) == _text(graph)


#: Ops that no graph of a model has: `ReplicaRun`, which is refused, holds the graphs
#: with those of replicas; a `Layout` is no data; executors alone make native ones.
NOT_IN_MODELS = {"AllReduce", "Native", "NativeWithEffects", "Relayout", "ReplicaId"}


def test_a_process_that_loads_knows_all_ops() -> None:
    code = (
        "import contextlib, importlib, pkgutil, runtime\n"
        "from runtime.core.graph import record\n"
        "from runtime.files.saved_model.decode import known_ops\n"
        "before = known_ops()\n"
        "for module in pkgutil.walk_packages(runtime.__path__, 'runtime.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        with contextlib.suppress(ImportError):\n"  # JAX, llvmlite: extras.
        "            importlib.import_module(module.name)\n"
        "later = set(record.names()) - before\n"
        # What calls Python is refused when it is saved.
        "print(*[name for name in later if not record.get(name).calls_python])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT
    )

    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= NOT_IN_MODELS


def test_what_calls_python_is_refused_without_attributes() -> None:
    graph = Graph("f")
    graph.add("EagerPyFunc", [], {}, [])
    with pytest.raises(UnsavableError, match=r"AG340: .* a Python function"):
        ProgramWriter().graph(graph)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -5,
        2**70,
        0.1,
        float("inf"),
        float("-inf"),
        -0.0,
        "é\udc80",
        b"\x00\xff",
        1 - 2j,
        (),
        (1, (2, "a")),
        [1, [2]],
        {"a": 1, 2: [None]},
        {"list": 1},
        tf.int8,
        tf.TensorShape(None),
        tf.TensorShape([None, 3]),
        tf.TensorSpec([2, None], tf.string, "x"),
        tf.TensorSpec([], tf.float32).with_weak(True),
        Operand(3),
        (Slice(None, Operand(1), 2), Ellipsis, None, 4),
    ],
    ids=repr,
)
def test_values(value: Any) -> None:
    writer = ProgramWriter()
    written = json.loads(json.dumps(writer.value(value), allow_nan=False))
    found = read(writer).value(written)

    assert found == value
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize("size", [0, 3, 100])
@pytest.mark.parametrize("dtype", tf.dtypes.ALL, ids=str)
def test_arrays(dtype: tf.DType, size: int) -> None:
    array = np.arange(size).astype(dtype.np_dtype)
    if dtype is tf.string:
        array = np.array([b"\xff%d" % i for i in range(size)], object)
    writer = ProgramWriter()
    written = json.loads(json.dumps(writer.value(array)))
    found = read(writer).value(written)

    assert ("tensor" in written) is (size == 100)
    assert found.dtype == array.dtype
    assert found.tolist() == array.tolist()


def test_bits_of_small_arrays() -> None:
    bits = np.array([0x7FC00001, 0x80000000, 1], np.uint32)
    writer = ProgramWriter()
    found = read(writer).value(writer.value(bits.view(np.float32)))

    assert found.view(np.uint32).tolist() == bits.tolist()


@pytest.mark.parametrize(
    "error",
    [
        ValueError("a", 1),
        KeyError("k"),
        OSError(2, "no"),
        StopIteration(3),
        UnboundLocalError("x"),
        tf.errors.InvalidArgumentError("bad"),
        tf.errors.NotFoundError(None, "Op", "gone"),
        AssertionError(ValueError("inner")),
        ValueError([1, {"a": (2, None)}]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_exceptions(error: Exception) -> None:
    writer = ProgramWriter()
    written = json.loads(json.dumps(writer.value(error)))
    found = read(writer).value(written)

    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)


class Own(ValueError):
    pass


def caused() -> ValueError:
    error = ValueError("a")
    error.__cause__ = KeyError("b")
    return error


@pytest.mark.parametrize(
    "value", [len, object(), Own("a"), caused(), {1, 2}, (1, range(3))], ids=type
)
def test_what_is_no_data_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        ProgramWriter().value(value)


def test_a_gradient_of_its_own_is_saved(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    module = tf.Module()
    module.rate = tf.Variable(3.0)

    @tf.custom_gradient
    def double(x: Any, y: Any) -> Any:
        def gradient(upstream: Any, variables: Any = None) -> Any:
            slope = tf.cond(x > 2, lambda: x, lambda: -x)
            return (upstream * slope * 5, None), [upstream * y * 7]

        return x * y * 2 * module.rate, gradient

    spec = tf.TensorSpec([], tf.float32)
    module.f = tf.function(double, input_signature=[spec, spec])
    tf.saved_model.save(module, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    for of in (module, loaded):
        x, y = tf.constant(3.0), tf.constant(4.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch([x, y])
                z = of.f(x, y)
            found = tape.gradient(z, [x, y, of.rate])
        assert (float(z), float(found[0]), found[1], float(found[2])) == (
            72.0,
            15.0,
            None,
            28.0,
        )
        assert float(outer.gradient(found[0], x)) == 5.0


def test_a_gradient_of_its_own_that_is_no_data_stays(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")

    @tf.custom_gradient
    def double(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            return tf.py_function(lambda value: value * 5, [upstream], tf.float32)

        return x * 2, gradient

    module = tf.Module()
    module.f = tf.function(double, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(module, tmp_path / "model")
    loaded = tf.saved_model.load(tmp_path / "model")
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.f(x)
    assert y.numpy() == 6
    with pytest.raises(tf.errors.GradientError, match="of its own, which a saved"):
        tape.gradient(y, x)
