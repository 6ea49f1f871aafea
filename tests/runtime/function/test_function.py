"""`function`: when it traces, what it returns, how it fails."""

from __future__ import annotations

import dataclasses
import functools
import gc
import threading
import traceback
import weakref
from collections import namedtuple
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.engines import door as executors
from runtime.function.function import Function

#: For tests that trace again and again on purpose.
often = pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")


class Counter:
    """Decorates like `function` and counts the traces by the Python side effect."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.traced_with: list[Any] = []

    def __call__(self, fn: Any) -> Function:
        def counting(*args: Any, **kwargs: Any) -> Any:
            self.traced_with.append((args, kwargs))
            return fn(*args, **kwargs)

        counting.__name__ = fn.__name__
        return tf.function(counting, autograph=False, **self.options)

    @property
    def count(self) -> int:
        return len(self.traced_with)


def values(result: Any) -> Any:
    return tf.nest.map_structure(lambda t: None if t is None else t.numpy(), result)


# --- what it returns ------------------------------------------------------------------


def test_results_keep_their_structure() -> None:
    Pair = namedtuple("Pair", "left right")

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return {"b": (x, [x + 1]), "a": None, "pair": Pair(x, 2), "n": 1.5}

    result = f(tf.constant(1))

    assert values(result) == {
        "b": (1, [2]), "a": None, "pair": Pair(1, 2), "n": 1.5
    }  # fmt: skip
    assert isinstance(result["n"], tf.Tensor)
    assert list(result) == ["b", "a", "pair", "n"]


def test_a_function_may_return_nothing() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> None:
        x + 1

    assert f(tf.constant(1)) is None


def test_python_numbers_and_variables_come_back_as_tensors() -> None:
    variable = tf.Variable(3.0)

    @tf.function(autograph=False)
    def f() -> Any:
        return 1, True, "text", variable, np.float64(0.5)

    assert [t.dtype for t in f()] == [
        tf.int32, tf.bool, tf.string, tf.float32, tf.float64
    ]  # fmt: skip
    variable.assign(4.0)
    assert values(f()[3]) == 4.0


def test_other_objects_are_refused() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        return {"ok": x, "bad": [object()]}

    with pytest.raises(TypeError, match=r"'f' returned .* at result\['bad'\]\[0\]"):
        f(tf.constant(1))


# --- when it traces -------------------------------------------------------------------


@often
def test_tensors_by_dtype_and_shape() -> None:
    counter = Counter()
    f = counter(lambda x: x + x)
    for value in (1, 2, 1.5, 2.5, "a", "b", [1, 2], [3, 4], [1, 2, 3], [[1, 2]]):
        f(tf.constant(value))

    assert counter.count == f.experimental_get_tracing_count() == 6


@often
def test_python_values_by_type_and_value() -> None:
    counter = Counter()
    f = counter(lambda x: tf.constant(0))
    for value in (1, 1, True, 1.0, 1.0, "1", b"1", None, None, 2, False, 0, 0.0, -0.0):
        f(value)

    assert counter.count == 11


def test_nan_is_traced_once() -> None:
    counter = Counter()
    f = counter(lambda x: tf.constant(0))
    f(float("nan"))
    f(float("nan"))

    assert counter.count == 1


@often
def test_other_values() -> None:
    counter = Counter()
    f = counter(lambda x: tf.constant(0))
    for value in (range(3), range(3), range(4), slice(1), slice(1), slice(2)):
        f(value)
    for value in (np.dtype("i4"), np.dtype("i4"), 1j, 1j, ..., ...):
        f(value)

    assert counter.count == 7


def test_objects_by_identity() -> None:
    class Model:
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    counter = Counter()
    f = counter(lambda model: tf.constant(0))
    one, other = Model(), Model()
    for model in (one, other, one, other):
        f(model)

    assert counter.count == 2


def test_variables_by_identity() -> None:
    counter = Counter()
    f = counter(lambda v: v + 1)
    one, other = tf.Variable(1), tf.Variable(2)

    assert [int(f(v)) for v in (one, other, one)] == [2, 3, 2]
    one.assign(10)
    assert int(f(one)) == 11
    assert counter.count == 2


@often
def test_structures_by_type_and_leaves() -> None:
    @dataclasses.dataclass
    class Point:
        x: Any
        y: Any

    counter = Counter()
    f = counter(lambda s: tf.constant(0))
    one, two = tf.constant(1), tf.constant(2)
    same = [[one, 2], [two, 2]]
    for structure in same:
        f(structure)
    assert counter.count == 1
    for structure in ((one, 2), [one, 3], [one], [[one], 2], {"a": one}, {"b": one}):
        f(structure)
    assert counter.count == 7
    f(Point(one, 1))
    f(Point(two, 1))
    f(Point(two, 2))
    assert counter.count == 9


def test_arrays_are_tensors() -> None:
    counter = Counter()
    f = counter(lambda x: x * 2)

    assert f(np.array([1.0, 2.0])).dtype == tf.float64
    assert values(f(np.array([1.0, 3.0]))).tolist() == [2.0, 6.0]
    f(tf.constant([1.0, 2.0], tf.float64))
    f(np.float64(2.0))
    assert counter.count == 2


def test_arguments_may_be_written_in_any_way() -> None:
    @tf.function(autograph=False)
    def f(x: Any, y: Any = 2, *, z: Any = 3) -> Any:
        return x * y - z

    x = tf.constant(5)
    results = [f(x), f(x, 2), f(x=x), f(y=2, x=x), f(x, z=3, y=2)]

    assert [int(r) for r in results] == [7] * 5
    assert f.experimental_get_tracing_count() == 1


def test_keywords_in_another_order_reach_the_right_inputs() -> None:
    @tf.function(autograph=False)
    def f(a: Any, b: Any) -> Any:
        return a - b

    one, ten = tf.constant(1), tf.constant(10)
    for _ in range(2):
        assert int(f(b=one, a=ten)) == 9
        assert int(f(a=one, b=ten)) == -9
        assert int(f(one, b=ten)) == -9
        assert int(f(ten, ten)) == 0


def test_one_tensor_for_two_arguments_says_nothing_about_other_calls() -> None:
    @tf.function(autograph=False)
    def f(a: Any, b: Any) -> Any:
        return a - b

    one, ten = tf.constant(1), tf.constant(10)
    assert int(f(one, one)) == 0
    assert int(f(one, ten)) == -9
    assert int(f(b=one, a=one)) == 0
    assert int(f(b=one, a=ten)) == 9


def test_variable_arguments() -> None:
    @tf.function(autograph=False)
    def f(*args: Any, **kwargs: Any) -> Any:
        return sum(args, tf.constant(0)) * kwargs["scale"] + kwargs["shift"]

    two = tf.constant(2)
    for _ in range(2):
        assert int(f(two, two, shift=tf.constant(1), scale=two)) == 9
        assert int(f(scale=two, shift=1)) == 1


def test_a_tensor_as_default() -> None:
    @tf.function(autograph=False)
    def f(x: Any, y: Any = tf.constant(10)) -> Any:
        return x + y

    for _ in range(2):
        assert int(f(tf.constant(1))) == 11
        assert int(f(tf.constant(1), tf.constant(1))) == 2


def test_wrong_arguments_are_a_type_error() -> None:
    @tf.function(autograph=False)
    def f(x: Any, y: Any = 2) -> Any:
        return x

    with pytest.raises(TypeError, match=r"f\(\) missing a required argument: 'x'"):
        f()
    with pytest.raises(TypeError, match=r"f\(\) got an unexpected keyword argument"):
        f(1, w=2)


def test_functions_do_not_share_traces() -> None:
    counter = Counter()

    def fn(x: Any) -> Any:
        return x

    counter(fn)(tf.constant(1))
    counter(fn)(tf.constant(1))

    assert counter.count == 2


def test_relaxed_shapes() -> None:
    counter = Counter(reduce_retracing=True)
    f = counter(lambda x: x * 2)
    shapes = []
    for length in (1, 2, 3, 4, 1):
        f(tf.ones([length, 2]))
        shapes.append(counter.traced_with[-1][0][0].shape)
    assert counter.count == 2
    assert shapes[-1] == [None, 2]
    f(tf.ones([2]))
    assert counter.count == 3


def test_threads_trace_once() -> None:
    counter = Counter()
    f = counter(lambda x: x + 1)
    start = threading.Barrier(8)
    results = []

    def call() -> None:
        start.wait()
        results.append(int(f(tf.constant(1))))

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert results == [2] * 8
    assert counter.count == 1


# --- objects that go away -------------------------------------------------------------


def test_traces_do_not_keep_their_arguments_alive() -> None:
    class Model:
        pass

    counter = Counter()
    f = counter(lambda model: tf.constant(0))
    counter.traced_with = _Count()  # type: ignore[assignment]
    model = Model()
    gone = weakref.ref(model)
    f(model)
    f(model)
    assert f.pretty_printed_concrete_signatures() != ""
    del model
    gc.collect()

    assert gone() is None
    assert f.pretty_printed_concrete_signatures() == ""


class _Count(list[Any]):
    def append(self, item: Any) -> None:
        super().append(None)


@often
def test_a_new_object_at_the_same_address_is_new() -> None:
    class Model:
        def __init__(self, weight: int) -> None:
            self.weight = weight

    @tf.function(autograph=False)
    def f(model: Any, x: Any) -> Any:
        return model.weight * x

    for weight in range(50):
        assert int(f(Model(weight), tf.constant(1))) == weight


@often
def test_objects_without_weak_references_are_kept() -> None:
    class Slotted:
        __slots__ = ("weight",)

    @tf.function(autograph=False)
    def f(model: Any, x: Any) -> Any:
        return model.weight * x

    for weight in range(20):
        model = Slotted()
        model.weight = weight
        assert int(f(model, tf.constant(1))) == weight


# --- methods --------------------------------------------------------------------------


def test_methods_are_traced_for_each_instance() -> None:
    class Scale:
        def __init__(self, factor: int) -> None:
            self.factor = factor

        @tf.function(autograph=False)
        def apply(self, x: Any, plus: Any = 0) -> Any:
            """Scale x."""
            return x * self.factor + plus

    two, three = Scale(2), Scale(3)
    x = tf.constant(5)

    assert [int(s.apply(x)) for s in (two, three, two)] == [10, 15, 10]
    assert int(two.apply(x, plus=tf.constant(1))) == 11
    assert two.apply.experimental_get_tracing_count() == 2
    assert three.apply.experimental_get_tracing_count() == 1
    assert two.apply.pretty_printed_concrete_signatures().startswith("apply(x, plus=0)")
    assert int(three.apply.get_concrete_function(x)(x)) == 15
    assert int(Scale(7).apply(x)) == 35
    assert isinstance(Scale.apply, Function)
    assert Scale.apply.__doc__ == "Scale x."
    assert two.apply.__self__ is two
    assert repr(two.apply).startswith("<bound <tf.function apply> of ")


def test_instances_are_not_kept_alive() -> None:
    class Model:
        @tf.function(autograph=False)
        def __call__(self, x: Any) -> Any:
            return x + 1

    model = Model()
    gone = weakref.ref(model)
    assert int(model(tf.constant(1))) == 2
    del model
    gc.collect()

    assert gone() is None


def test_slotted_instances() -> None:
    class Model:
        __slots__ = ("bias",)

        @tf.function(autograph=False)
        def __call__(self, x: Any) -> Any:
            return x + self.bias

    models = [Model() for _ in range(3)]
    for bias, model in enumerate(models):
        model.bias = bias
    assert [int(model(tf.constant(1))) for model in models] == [1, 2, 3]


def test_class_and_static_methods() -> None:
    class Model:
        factor = 3

        @classmethod
        @tf.function(autograph=False)
        def scaled(cls, x: Any) -> Any:
            return x * cls.factor

        @staticmethod
        @tf.function(autograph=False)
        def doubled(x: Any) -> Any:
            return x * 2

    assert int(Model.scaled(tf.constant(2))) == 6
    assert int(Model().doubled(tf.constant(2))) == 4


# --- inside other functions -----------------------------------------------------------


def test_functions_are_inlined_while_tracing() -> None:
    inner_counter = Counter()
    inner = inner_counter(lambda x, k: x * k)

    @tf.function(autograph=False)
    def outer(x: Any) -> Any:
        return inner(x, 2) + inner(x, 3)

    assert int(outer(tf.constant(1))) == 5
    assert [node.op for node in outer.get_concrete_function(tf.constant(1)).graph.nodes
            ].count("Mul") == 2  # fmt: skip
    assert inner.experimental_get_tracing_count() == 0


def test_inlined_results_are_tensors() -> None:
    @tf.function(autograph=False)
    def one() -> Any:
        return 1

    @tf.function(autograph=False)
    def outer() -> Any:
        result = one()
        assert isinstance(result, tf.Tensor)
        return result

    assert int(outer()) == 1


def test_endless_recursion_is_explained() -> None:
    @tf.function(autograph=False)
    def recursive(n: Any, path: Any) -> Any:
        return tf.cond(n > 0, lambda: recursive(n - 1, (path,)), lambda: 1)

    with pytest.raises(RecursionError, match=r"AG211: tracing 'recursive' went"):
        recursive(tf.constant(5), ())
    # Nothing is left behind: a Python condition ends the recursion.
    assert tf.executing_eagerly()


def test_recursion_over_python_values() -> None:
    @tf.function(autograph=False)
    def factorial(n: int) -> Any:
        return n * factorial(n - 1) if n > 0 else 1

    assert int(factorial(5)) == 120


def test_init_scope_leaves_the_graph() -> None:
    total = tf.Variable(0)

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        with tf.init_scope():
            total.assign_add(1)
        return x

    f(tf.constant(1))
    f(tf.constant(1))
    assert int(total) == 1


# --- running eagerly ------------------------------------------------------------------


def test_functions_can_run_eagerly() -> None:
    counter = Counter()
    f = counter(lambda x: x + 1)
    tf.config.run_functions_eagerly(True)
    try:
        results = [int(f(tf.constant(1))) for _ in range(3)]
    finally:
        tf.config.run_functions_eagerly(False)

    assert results == [2, 2, 2]
    assert counter.count == 3
    assert f.experimental_get_tracing_count() == 0


# --- variables ------------------------------------------------------------------------


def test_a_variable_created_on_each_call_is_refused() -> None:
    @tf.function(autograph=False)
    def f() -> Any:
        return tf.Variable(1.0)

    match = r"test_function.py:\d+: 'f' creates the variable (.|\n)*\^{16}"
    with pytest.raises(ValueError, match=match):
        f()


def test_a_variable_created_once() -> None:
    class Count:
        def __init__(self) -> None:
            self.count: Any = None

        @tf.function(autograph=False)
        def __call__(self, step: Any) -> Any:
            if self.count is None:
                self.count = tf.Variable(0)
            return self.count.assign_add(step)

    count = Count()
    assert [int(count(tf.constant(1))) for _ in range(3)] == [1, 2, 3]
    assert int(count(2)) == 5


def test_a_variable_created_on_a_later_call_is_refused() -> None:
    made: list[Any] = []

    @tf.function(autograph=False)
    def f(x: Any, create: bool) -> Any:
        if create:
            made.append(tf.Variable(x.dtype.min))
        return x

    f(tf.constant(1), False)
    with pytest.raises(ValueError, match=r"singleton tf\.Variables created on"):
        f(tf.constant(1), True)


# --- leaks ----------------------------------------------------------------------------


def test_leaked_tensors() -> None:
    leaked: list[Any] = []

    @tf.function(autograph=False)
    def leaky(a: Any) -> Any:
        leaked.append(a + 1)
        return a + 2

    @tf.function(autograph=False)
    def uses(b: Any) -> Any:
        return b + leaked[0]

    assert int(leaky(tf.constant(1))) == 3
    with pytest.raises(
        AttributeError, match="'Tensor' object has no attribute 'numpy'"
    ):
        leaked[0].numpy()
    with pytest.raises(TypeError, match=r"test_function.py:\d+ while tracing 'leaky'"):
        uses(tf.constant(2))
    with pytest.raises(TypeError, match="out of scope: eager code"):
        leaked[0] + 1
    with pytest.raises(TypeError, match="out of scope: eager code"):
        uses(leaked[0])


def test_a_tensor_of_a_branch_does_not_leave_it() -> None:
    leaked: list[Any] = []

    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        def branch() -> Any:
            leaked.append(x * 2)
            return x

        tf.cond(x > 0, branch, lambda: x)
        return leaked[0]

    place = "while tracing a branch or a loop body of 'f', is out of scope"
    with pytest.raises(TypeError, match=place):
        f(tf.constant(1))


# --- errors ---------------------------------------------------------------------------


def test_run_time_errors_name_the_op_and_end_in_the_users_line() -> None:
    @tf.function(autograph=False)
    def f(x: Any, i: Any) -> Any:
        y = x + 1
        z = tf.gather(y, i)
        return z

    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.constant([1, 2]), tf.constant(7))

    line = f.python_function.__code__.co_firstlineno + 3
    assert "[Op:GatherV2]" in str(caught.value)
    assert f"test_function.py:{line}" in str(caught.value)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.name, last.lineno, last.line) == ("f", line, "z = tf.gather(y, i)")


def test_errors_while_tracing_are_the_users() -> None:
    @tf.function(autograph=False)
    def f(x: Any) -> Any:
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(tf.constant(1))
    assert f.experimental_get_tracing_count() == 0


def test_a_compiler_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "find_spec", lambda name: None)
    compiled = tf.function(lambda x: x + 1, jit_compile=True)
    with pytest.raises(
        tf.errors.UnimplementedError, match=r"\[native\]' or 'autograph-compiler\[xla\]"
    ):
        compiled(tf.constant(1))


# --- being a function -----------------------------------------------------------------


def test_it_looks_like_the_python_function() -> None:
    def original(x: Any) -> Any:
        """What it does."""
        return x

    f = tf.function(original, autograph=False)

    assert f.__name__ == "original"
    assert f.__doc__ == "What it does."
    assert f.__wrapped__ is f.python_function is original
    assert f.__module__ == __name__
    assert str(f.function_signature) == "(x: 'Any') -> 'Any'"
    assert repr(f) == "<tf.function original>"


def test_callables_that_are_no_functions() -> None:
    class Scale:
        def __call__(self, x: Any) -> Any:
            return x * 3

    scale = tf.function(Scale(), autograph=False)
    partial = tf.function(functools.partial(pow, exp=2), autograph=False)

    assert int(scale(tf.constant(2))) == 6
    assert int(partial(tf.constant(3))) == 9
    assert [repr(scale), repr(partial)] == ["<tf.function Scale>", "<tf.function pow>"]


def test_partials_are_known_by_their_function() -> None:
    def scaled(x: Any, by: Any, plus: Any = 0) -> Any:
        """Scale x."""
        return x * by + plus

    named = functools.partial(scaled, by=3)
    f = tf.function(functools.partial(named, plus=1), autograph=False)
    g = tf.function(functools.partial(scaled, tf.constant(5)), autograph=False)
    x = tf.constant(2)

    assert [int(f(x)), int(f(x, plus=2)), int(f(x, by=x))] == [7, 8, 5]
    assert [int(g(x)), int(g(by=x, plus=x))] == [10, 12]
    assert (f.__name__, f.__doc__) == ("scaled", "Scale x.")
    assert isinstance(f.__wrapped__, functools.partial)


def test_functions_of_functions() -> None:
    @tf.function(autograph=False)
    def inner(x: Any) -> Any:
        return x + 1

    again = tf.function(inner, autograph=False)
    partial = tf.function(functools.partial(inner, x=tf.constant(4)), autograph=False)

    assert [int(again(tf.constant(1))), int(partial())] == [2, 5]
    assert again.python_function is inner


def test_all_parameters_of_tensorflow_are_known() -> None:
    f = tf.function(
        func=lambda x: x,
        input_signature=None,
        autograph=False,
        jit_compile=False,
        reduce_retracing=False,
        experimental_implements="identity",
        experimental_autograph_options=None,
        experimental_attributes={"a": 1},
        experimental_relax_shapes=True,
        experimental_compile=False,
        experimental_follow_type_hints=False,
    )
    for length in (1, 2, 3):
        f(tf.ones([length]))

    assert f.experimental_get_tracing_count() == 2
    compiled = tf.function(lambda x: x, experimental_compile=True)
    concrete = compiled.get_concrete_function(tf.TensorSpec([]))
    assert concrete.graph.executor == "jit"


def test_decorator_with_arguments() -> None:
    @tf.function(reduce_retracing=True, autograph=False)
    def f(x: Any) -> Any:
        return x

    assert isinstance(f, Function)
    assert isinstance(tf.function()(lambda x: x), Function)
