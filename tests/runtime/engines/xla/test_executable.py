"""Functions on XLA: results, variables, errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.tensor.device import DeviceTensor

jax = pytest.importorskip("jax")


def test_loops_and_branches() -> None:
    @tf.function(executor="xla")
    def steps(n: Any) -> Any:
        count = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            count += 1
        return count

    assert steps(tf.constant(27)).numpy() == 111


def test_results_stay_where_they_are() -> None:
    @tf.function(executor="xla")
    def double(x: Any) -> Any:
        return x * 2.0

    once = double(tf.constant([1.0, 2.0]))
    twice = double(once)
    again = double(once)

    assert type(once) is type(twice) is DeviceTensor
    assert isinstance(once, tf.Tensor)
    assert again.numpy().tolist() == twice.numpy().tolist() == [4.0, 8.0]
    assert (once + 1.0).numpy().tolist() == [3.0, 5.0]


def test_two_arguments_of_one_tensor_share_no_place() -> None:
    @tf.function(executor="xla")
    def minus(x: Any, y: Any) -> Any:
        return x - y

    x, y = minus(tf.constant(5.0), tf.constant(2.0)), tf.constant(1.0)
    y = minus(y, y)
    assert [minus(x, x).numpy() for _ in range(2)] == [0.0, 0.0]
    assert [minus(x, y).numpy() for _ in range(2)] == [3.0, 3.0]


def test_numpy_functions_take_tensors_of_a_device() -> None:
    made = tf.function(lambda x: x + 1.0, executor="xla")(tf.constant([1.0]))
    plain = tf.function(lambda x: x * 3.0)

    results = [plain(made) for _ in range(3)]
    assert [result.numpy().tolist() for result in results] == [[6.0]] * 3
    assert all(type(result._array) is np.ndarray for result in results)


def test_a_failed_check_is_the_error_of_the_program() -> None:
    limit = tf.Variable(1.0)

    @tf.function(executor="xla")
    def raise_limit(x: Any) -> Any:
        assert x < 5.0, "too much"
        limit.assign_add(x)
        return limit * 2.0

    assert raise_limit(tf.constant(2.0)).numpy() == 6.0
    for _ in range(2):
        with pytest.raises(AssertionError, match="too much"):
            raise_limit(tf.constant(7.0))
    assert limit.numpy() == 3.0
    limit.assign(10.0)
    assert raise_limit(tf.constant(1.0)).numpy() == 22.0


def test_the_executor_of_all() -> None:
    tf.config.set_executor("xla")
    try:
        result = tf.function(lambda x: x + 1.0)(tf.constant(1.0))
        numpy = tf.function(lambda x: x + 1.0, jit_compile=False)(tf.constant(1.0))
    finally:
        tf.config.set_executor("numpy")
    assert type(result) is DeviceTensor
    assert type(numpy) is not DeviceTensor
    with pytest.raises(ValueError, match="there is no executor 'tpu'"):
        tf.config.set_executor("tpu")


def test_gradients_run_where_the_function_runs() -> None:
    weight = tf.Variable(3.0)

    @tf.function(executor="xla")
    def loss(x: Any) -> Any:
        return weight * x * x

    with tf.GradientTape() as tape:
        x = tf.constant(2.0)
        tape.watch(x)
        value = loss(x)
    by_x, by_weight = tape.gradient(value, [x, weight])
    assert (by_x.numpy(), by_weight.numpy()) == (12.0, 4.0)


def test_what_a_device_holds_is_differentiated_where_it_is() -> None:
    x = tf.function(lambda x: x + 1.0, executor="xla")(tf.constant(2.0))
    assert type(x) is DeviceTensor
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * 3.0 + tf.reduce_sum(tf.fill([2], x))
        y += tf.TensorArray(tf.float32, 1).write(0, x).stack()[0]
    assert type(x) is DeviceTensor
    assert tape.gradient(y, x).numpy() == 21.0


def test_what_fails_always_fails_where_the_program_comes_to_it() -> None:
    total = tf.Variable(0.0)

    @tf.function(executor="xla")
    def inverse(x: Any, y: Any) -> Any:
        total.assign_add(1.0)
        if x[0] > 0.0:
            return x / y
        while x[0] > -3.0:
            y = y * tf.cast(1 // tf.constant(0), tf.float32)
        return y

    two = tf.constant([2.0, 1.0])
    assert inverse(two, two).numpy().tolist() == [1.0, 1.0]
    assert inverse(-2.0 * two, two).numpy().tolist() == [2.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        inverse(-two, two)
    assert total.numpy() == 3.0

    @tf.function(executor="xla", input_signature=[tf.TensorSpec([None])] * 2)
    def either(x: Any, y: Any) -> Any:
        return tf.reduce_sum(x + y) if x[0] > 0.0 else x[0]

    assert either(-two, tf.zeros([3])).numpy() == -2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcast"):
        either(two, tf.zeros([3]))


def test_open_shapes_are_compiled_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    @tf.function(
        executor="xla", input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([])]
    )
    def f(x: Any, y: Any) -> Any:
        rows = tf.shape(x)[0]
        return tf.reshape(x, [2, rows]) * y, tf.nn.softmax(x), tf.range(rows)

    for rows in (1, 3, 1):
        x = tf.constant(np.arange(2.0 * rows).reshape(rows, 2), tf.float32)
        moved, _, counted = f(x, tf.constant(2.0))
        assert moved.numpy().ravel().tolist() == [2.0 * i for i in range(2 * rows)]
        assert counted.numpy().tolist() == list(range(rows))
    assert f.experimental_get_tracing_count() == 1
    concrete = f.get_concrete_function()
    with pytest.raises(ValueError, match=r"'x' in f\(\) is \(None, 2\)"):
        concrete.stablehlo()
    monkeypatch.setattr("runtime.engines.xla.compilation.MANY_SHAPES", 3)
    with pytest.raises(tf.errors.RetracingWarning, match=r"AG321: XLA has compiled f"):
        f(tf.zeros([4, 2]), tf.constant(1.0))


def test_what_xla_is_given() -> None:
    weight = tf.Variable([1.0, 2.0])

    def f(x: Any) -> Any:
        weight.assign_add(x)
        return x * 3.0

    spec = tf.TensorSpec([2])
    by_numpy = tf.function(f).get_concrete_function(spec)
    by_xla = tf.function(f, executor="xla").get_concrete_function(spec)
    assert (by_numpy.executor, by_xla.executor) == ("numpy", "xla")
    for concrete in (by_numpy, by_xla):
        assert "stablehlo.multiply" in concrete.stablehlo()
        assert "tensor<2xf32>" in concrete.stablehlo()
    assert "np" in by_numpy.to_source()
    assert "mul" in by_xla.to_source()
    assert weight.numpy().tolist() == [1.0, 2.0]


def test_too_little_memory_is_an_error_of_ours() -> None:
    # XLA on the CPU may end the process; so this stands for what a GPU would say.
    error = jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory on GPU 0.")

    class Failed:
        shape, dtype = (), np.dtype("float32")

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise error

    def fail(*arrays: Any) -> Any:
        raise error

    f = tf.function(lambda x: x + 1.0, executor="xla")
    f.get_concrete_function(tf.constant(1.0)).executable._jitted = fail
    expected = (
        r"the memory for this: Out of memory on GPU 0\. Smaller[^$]*get_memory_info"
    )
    with pytest.raises(tf.errors.ResourceExhaustedError, match=expected):
        f(tf.constant(1.0))
    with pytest.raises(tf.errors.ResourceExhaustedError, match=expected):
        DeviceTensor(Failed()).numpy()


def test_texts_are_refused_by_name() -> None:
    text, name = tf.constant("a"), tf.Variable("b", name="label")

    @tf.function(executor="xla")
    def upper(s: Any) -> Any:
        return tf.strings.upper(s)

    @tf.function(executor="xla")
    def relabel() -> None:
        name.assign("c")

    with pytest.raises(tf.errors.UnimplementedError, match="argument 's' is a text"):
        upper(text)
    with pytest.raises(tf.errors.UnimplementedError, match="'label:0' is a text"):
        relabel()
    assert name.numpy() == b"b"


def test_an_executor_is_kept_from_the_first_run() -> None:
    item = tf.function(lambda x, i: x[i])
    concrete = item.get_concrete_function(
        tf.TensorSpec([1]), tf.TensorSpec([], "int32")
    )
    item(tf.constant([1.0]), tf.constant(0))
    try:
        tf.config.set_executor("xla")
        made = tf.function(lambda x: x * 2.0)(tf.constant([1.0]))
        assert type(made) is DeviceTensor
        assert concrete.executor == "numpy"
        for _ in range(3):
            # An array of JAX, given to NumPy's code, would take the last element.
            with pytest.raises(tf.errors.InvalidArgumentError):
                item(made, tf.constant(3))
    finally:
        tf.config.set_executor("numpy")


LOOP_AFTER_A_CHECK = """
import runtime as tf

@tf.function(executor="xla")
def steps(x):
    if x > 0:
        step = x
    total = 0
    if x < 10:
        while total < 5:
            total += step
    return total

assert steps(tf.constant(3)).numpy() == 6
try:
    steps(tf.constant(-3))
except UnboundLocalError:
    print("raised")
"""


def test_a_loop_after_a_failed_check_ends(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(LOOP_AFTER_A_CHECK)
    command = [sys.executable, str(file)]
    root = Path(__file__).parents[4]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    # In a process, which can be ended if it does not end.
    found = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=100
    )
    assert found.stdout == "raised\n", found.stderr


def test_branches_too_deep_for_jax_say_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @tf.function(executor="xla")
    def deep(x: Any) -> Any:
        return x + 1

    def fail(*arguments: Any) -> Any:
        raise RecursionError("maximum recursion depth exceeded")

    program = deep.get_concrete_function(tf.constant(1)).executable
    monkeypatch.setattr(program, "_jitted", fail)
    with pytest.raises(RecursionError, match="setrecursionlimit"):
        deep(tf.constant(1))


def test_an_axis_that_a_value_decides_is_refused_in_plain_words() -> None:
    @tf.function(executor="xla")
    def joined(x: Any, axis: Any) -> Any:
        return tf.concat([x, x], axis)

    with pytest.raises(
        tf.errors.UnimplementedError, match="XLA needs to know"
    ) as caught:
        joined(tf.constant([1]), tf.constant(0))
    assert "racer" not in str(caught.value)
