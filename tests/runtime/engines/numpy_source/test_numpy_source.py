"""The executor that runs generated source: errors, warnings, printing, clean-up."""

from __future__ import annotations

import gc
import linecache
import traceback
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.graph.labels import assigned_names
from runtime.engines.numpy_source import executable as numpy_source
from runtime.engines.numpy_source.executable import Executable, compile_graph
from runtime.engines.numpy_source.text import scalar_text
from runtime.ops.staged.flow import raise_error


def compiled(fn: Any, *values: Any) -> tuple[Executable, list[Any]]:
    args = [tf.constant(value) for value in values]
    concrete = tf.function(fn, autograph=False).get_concrete_function(*args)
    return compile_graph(concrete.graph), [arg._array for arg in args]


def test_the_source_is_in_tracebacks_as_long_as_it_is_used() -> None:
    executable, _ = compiled(lambda x: x // x, 1)
    filename = executable._function.__code__.co_filename

    assert "".join(linecache.getlines(filename)) == executable.source
    assert filename.startswith("<graph ")
    del executable
    gc.collect()
    compiled(lambda x: x + x, 1)  # the next one clears up
    assert linecache.getlines(filename) == []


def test_other_threads_clear_up_at_the_same_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Taken(list[str]):
        """A list whose last item another thread has just taken."""

        def __bool__(self) -> bool:
            return True

    monkeypatch.setattr(numpy_source, "_freed", Taken())
    executable, arrays = compiled(lambda x: x + x, 1)
    assert [*executable(arrays)] == [2]


def test_numpy_does_not_warn() -> None:
    for effects in (False, True):

        def f(x: Any, n: Any, effects: bool = effects) -> Any:
            if effects:
                tf.print(x, output_stream="file:///dev/null")
            return 1.0 / x, n * n

        executable, arrays = compiled(f, 0.0, 2**30)
        assert np.geterr()["divide"] == "warn"
        first, second = executable(arrays)
        assert np.isinf(first)
        assert second == 0


def test_errors_end_in_the_users_line() -> None:
    def f(x: Any, i: Any) -> Any:
        y = x * 2
        return tf.gather(y, i) + 1

    executable, arrays = compiled(f, [1, 2], 9)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        executable(arrays)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.filename == __file__
    assert last.line == "return tf.gather(y, i) + 1"


def test_the_first_failing_node_of_a_line_is_reported() -> None:
    def f(x: Any, i: Any) -> Any:
        return x[i] + tf.gather(x, i)

    executable, arrays = compiled(f, [1, 2], 9)
    with pytest.raises(tf.errors.InvalidArgumentError, match="StridedSlice"):
        executable(arrays)


def test_an_expression_that_is_not_taken_is_not_to_blame() -> None:
    def f(x: Any, i: Any) -> Any:
        return tf.cond(i < 2, lambda: tf.gather(x, i), lambda: 1 // (i - 9))

    executable, arrays = compiled(f, [1, 2], 9)
    assert " if i < 2 else " in executable.source
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="integer division by zero"
    ):
        executable(arrays)


def test_errors_of_effects_are_raised_once() -> None:
    calls: list[int] = []

    class Stream:
        def write(self, text: str) -> None:
            calls.append(1)
            raise OSError("disk full")

    def f(x: Any) -> Any:
        tf.print(x, output_stream=Stream())
        return x

    executable, arrays = compiled(f, 1)
    with pytest.raises(OSError, match="disk full"):
        executable(arrays)
    assert calls == [1]


def test_an_exception_is_raised_anew_each_time() -> None:
    def f(x: Any) -> Any:
        raise_error(ValueError("again"))
        return x

    executable, arrays = compiled(f, 1)
    depths = []
    for _ in range(3):
        with pytest.raises(ValueError, match=r"^again$") as caught:
            executable(arrays)
        depths.append(len(traceback.extract_tb(caught.value.__traceback__)))
    assert len(set(depths)) == 1


def test_names_that_clash_with_what_the_source_uses() -> None:
    def f(np: Any, held: Any, kernel: Any, range: Any) -> Any:
        tf = np + held
        return tf * kernel // range

    executable, arrays = compiled(f, 2, 3, 4, 5)
    assert executable(arrays)[0] == 4


def test_large_values_make_room_for_the_next() -> None:
    def power(x: Any) -> Any:
        for _ in range(4):
            x = tf.matmul(x, x)
        return x

    def square_sum(x: Any) -> Any:
        first, second = tf.matmul(x, x), tf.matmul(x, x, transpose_a=True)
        return first + second, tf.matmul(second, first)

    large = np.ones((128, 128), np.float32)
    executable, arrays = compiled(power, large)
    assert executable.source.count("matmul = ") == 3
    assert "matmul_1" not in executable.source
    np.testing.assert_array_equal(executable(arrays)[0], large * 128.0**15)
    executable, arrays = compiled(square_sum, large)
    found = executable(arrays)
    np.testing.assert_array_equal(found[0], large * 256)
    np.testing.assert_array_equal(found[1], large * 128**3)


def test_keywords_and_odd_names() -> None:
    function = tf.function(lambda **kwargs: kwargs["class"] + 1, autograph=False)
    concrete = function.get_concrete_function(**{"class": tf.constant(1)})

    assert int(concrete(**{"class": tf.constant(4)})) == 5
    assert "(_class):" in concrete.to_source()


@pytest.mark.parametrize(
    ("value", "code", "number"),
    [
        (np.int32(3), "np.int32(3)", "3"),
        (np.int8(-3), "np.int8(-3)", "-3"),
        (np.float32(0.1), "np.float32(0.1)", "0.1"),
        (np.float32(1e20), "np.float32(1e+20)", "1e+20"),
        (np.float64(2.0), "np.float64(2.0)", "2.0"),
        (np.float32("inf"), "np.float32('inf')", None),
        (np.float32("nan"), "np.float32('nan')", None),
        (np.True_, "np.True_", None),
    ],
)
def test_scalars(value: Any, code: str, number: str | None) -> None:
    text = scalar_text(np.asarray(value))

    assert text is not None
    assert (text.code, text.number) == (code, number)
    result = eval(code)
    assert result.dtype == value.dtype
    assert result == value or result != result


def test_other_constants_have_no_scalar_text() -> None:
    for value in (np.array([1]), np.array("a", dtype=object), np.array(1j)):
        assert scalar_text(value) is None


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("x = 1", ["x"]),
        ("    self.total += f(y)", ["total"]),
        ("a, b = b, a", ["a", "b"]),
        ("x: int = 3", ["x"]),
        ("x //= 2", ["x"]),
        ("x == 3", []),
        ("x <= 3", []),
        ("return x", []),
        ("f(x=3)", []),
        ("x[0] = 3", []),
        ("for i in range(3):", ["i"]),
        ("if x := y:", []),
        ("", []),
    ],
)
def test_names_of_assignments(line: str, names: list[str]) -> None:
    linecache.cache["line.py"] = len(line), None, [line], "line.py"

    assert assigned_names(("line.py", 1)) == names


@pytest.mark.parametrize("shape", [(0,), (0, 2), (2, 1, 0, 2)])
def test_constants_without_elements_keep_their_shape(shape: tuple[int, ...]) -> None:
    fn = tf.function(lambda x: tf.zeros(shape, tf.int32) + x)

    assert fn(tf.constant(1)).shape == shape
    assert tf.function(lambda: tf.zeros(shape))().shape == shape


def test_a_break_follows_its_test_and_not_what_came_after() -> None:
    def capped(x: Any) -> Any:
        total = x * 0.0
        for _ in tf.range(5):
            for j in tf.range(5):
                total = total + x * tf.cast(j, tf.float64)
                if total > 3:
                    break
                total = total + tf.sin(total)
            total = total * 0.5
        return total

    for x in (0.3, 0.84, 1.2):
        value = tf.constant(x, tf.float64)
        np.testing.assert_array_equal(tf.function(capped)(value), capped(value))
