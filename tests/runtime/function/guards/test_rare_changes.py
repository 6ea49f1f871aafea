"""Changes that are no assignment of a variable or an attribute that code names."""

from __future__ import annotations

import functools
import gc
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import TracingWarning

X = tf.constant(2.0)


def check(f: Callable[[Any], Any], change: Callable[[], Any], *results: float) -> None:
    """Before and after the change, the traced function gives what Python gives."""
    traced = tf.function(f)
    found = [float(traced(X))]
    change()
    found.append(float(traced(X)))

    assert found == list(results)
    assert float(f(X)) == results[-1]


# --- texts of objects -----------------------------------------------------------------


class Shown:
    def __init__(self) -> None:
        self.k = 1

    def __str__(self) -> str:
        return str(self.k)

    __repr__ = __str__


def test_the_text_of_an_object() -> None:
    texts: list[Callable[[Any], str]] = [
        lambda o: f"{o}",
        lambda o: "%s" % o,  # noqa: UP031
        lambda o: "%r" % (o,),  # noqa: UP031
        lambda o: "{!r}".format(o),  # noqa: UP032
        lambda o: str(o),
        lambda o: str([o])[1:-1],
    ]
    for text in texts:
        o = Shown()
        check(lambda x: x * float(text(o)), lambda: setattr(o, "k", 5), 2.0, 10.0)


def test_an_attribute_by_its_text() -> None:
    class Getting:
        def __init__(self) -> None:
            self.k = 1

        def get(self) -> Any:
            return super().__getattribute__("k")

    o = Getting()
    check(lambda x: x * o.get(), lambda: setattr(o, "k", 5), 2.0, 10.0)


# --- the form of an array -------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")
@pytest.mark.parametrize("size", [1, 100])
def test_the_shape_of_an_array(size: int) -> None:
    array = np.zeros((2, 3 * size))

    def change() -> None:
        array.shape = (3, 2 * size)

    check(lambda x: x * array.shape[0], change, 4.0, 6.0)


@pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")
def test_the_dtype_of_an_array() -> None:
    array = np.ones(2, np.int32)
    f = lambda x: x * (1.0 if array.dtype == np.int32 else 5.0)  # noqa: E731
    traced = tf.function(f)
    assert float(traced(X)) == 2.0
    array.dtype = np.float32
    assert float(traced(X)) == 10.0
    (change,) = traced.explain_retrace().changes
    assert "float32 of shape (2,)" in change.new


# --- classes --------------------------------------------------------------------------


class Meta(type):
    size = 1
    table = {"a": 1}

    @property
    def half(cls) -> float:
        return cls.size / 2

    def get(cls) -> float:
        return 1.0

    def __getitem__(cls, key: str) -> int:
        return cls.table[key]


@pytest.fixture
def made() -> Iterator[Any]:
    before = dict(vars(Meta))
    yield Meta("Made", (), {})
    for name in ("size", "get"):
        setattr(Meta, name, before[name])
    Meta.table["a"] = 1


def test_what_a_metaclass_has(made: Any) -> None:
    def size(value: int) -> Callable[[], None]:
        return lambda: setattr(Meta, "size", value)

    check(lambda x: x * made.size, size(5), 2.0, 10.0)
    check(lambda x: x * made.half, size(4), 5.0, 4.0)
    check(lambda x: x * made["a"], lambda: Meta.table.update(a=5), 2.0, 10.0)
    five = lambda cls: 5.0  # noqa: E731
    check(lambda x: x * made.get(), lambda: setattr(Meta, "get", five), 2.0, 10.0)


class First:
    def __len__(self) -> int:
        return 1

    @property
    def k(self) -> int:
        return 1


class Second:
    def __len__(self) -> int:
        return 5

    @property
    def k(self) -> int:
        return 5


@pytest.mark.parametrize(
    "ask",
    [
        len,
        lambda o: o.k,
        lambda o: 1 if isinstance(o, First) else 5,
        lambda o: 1 if type(o) is First else 5,
    ],
)
def test_an_object_gets_another_class(ask: Callable[[Any], int]) -> None:
    o = First()
    check(lambda x: x * ask(o), lambda: setattr(o, "__class__", Second), 2.0, 10.0)
    p = First()
    f = tf.function(lambda x, o: x * ask(o))
    assert float(f(X, p)) == 2.0
    p.__class__ = Second  # type: ignore[assignment]
    assert float(f(X, p)) == 10.0


# --- which object it is ---------------------------------------------------------------

one: Any = None
other: Any = None


@pytest.mark.parametrize("make", [lambda: [1, 2], lambda: {"a": [1]}, lambda: (1, [2])])
def test_a_global_is_replaced_by_an_equal_one(make: Callable[[], Any]) -> None:
    global one, other
    one = other = make()

    def change() -> None:
        global other
        other = make()

    check(lambda x: x * (1.0 if one is other else 5.0), change, 2.0, 10.0)


def test_an_item_is_replaced_by_an_equal_one() -> None:
    rows = [[1], [1]]
    first = rows[0]
    f = lambda x: x * sum(1.0 if row is first else 2.0 for row in rows)  # noqa: E731
    check(f, lambda: rows.__setitem__(0, [1]), 6.0, 8.0)


def test_an_attribute_that_is_missing_where_objects_are_compared() -> None:
    global one
    one = [1]

    class Empty:
        pass

    o = Empty()
    f = lambda x: x * (1.0 if getattr(o, "rows", None) is one else 5.0)  # noqa: E731
    check(f, lambda: setattr(o, "rows", [1]), 10.0, 10.0)


def test_equal_is_enough_where_nobody_asks() -> None:
    global one
    one = [1, 2]
    f = tf.function(lambda x: x * one[0])
    f(X)
    one = [1, 2]
    f(X)

    assert f.experimental_get_tracing_count() == 1


# --- the function's own defaults ------------------------------------------------------


@pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")
def test_the_defaults_of_the_function() -> None:
    def f(x: Any, k: Any = 1.0, *, m: Any = 1.0) -> Any:
        return x * k * m

    traced = tf.function(f)
    assert float(traced(X)) == 2.0
    f.__defaults__ = (5.0,)
    assert float(traced(X)) == 10.0
    f.__kwdefaults__ = {"m": 2.0}
    assert float(traced(X)) == 20.0
    f.__kwdefaults__["m"] = 3.0
    assert float(traced(X)) == 30.0
    assert float(traced(X, 1.0, m=1.0)) == 2.0
    f.__defaults__ = None
    with pytest.raises(TypeError, match="missing a required argument: 'k'"):
        traced(X)


def test_the_defaults_of_a_method() -> None:
    class Model:
        @tf.function
        def call(self, x: Any, k: Any = 1.0) -> Any:
            return x * k

    model = Model()
    assert float(model.call(X)) == 2.0
    Model.call.python_function.__defaults__ = (5.0,)
    assert float(model.call(X)) == 10.0


def test_defaults_that_the_code_asks_for() -> None:
    def f(x: Any, k: Any = 1.0) -> Any:
        return x * f.__defaults__[0]  # type: ignore[index]

    check(f, lambda: setattr(f, "__defaults__", (5.0,)), 2.0, 10.0)


@pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")
def test_the_defaults_of_what_is_called_through_an_object() -> None:
    class Model:
        def __call__(self, x: Any, k: Any = 1.0) -> Any:
            return x * k

    def f(x: Any, k: Any = 1.0, m: Any = 1.0) -> Any:
        return x * k * m

    fixed = functools.partial(f, m=3.0)
    model, partial = tf.function(Model()), tf.function(fixed)
    assert (float(model(X)), float(partial(X))) == (2.0, 6.0)
    Model.__call__.__defaults__ = (5.0,)
    f.__defaults__ = (5.0, 1.0)
    assert (float(model(X)), float(partial(X))) == (10.0, 30.0)
    fixed.keywords["m"] = 4.0
    assert float(partial(X)) == 40.0


def test_the_defaults_of_a_decorated_function() -> None:
    def f(x: Any, k: Any = 2.0) -> Any:
        return x * k

    @functools.wraps(f)
    def others(x: Any, k: Any = 10.0) -> Any:
        return f(x, k)

    @functools.wraps(f)
    def same(*args: Any, **kwargs: Any) -> Any:
        return f(*args, **kwargs)

    class Model:
        method = tf.function(others)

        def __mul__(self, k: Any) -> Any:
            return k

    assert float(tf.function(others)(X)) == float(others(X)) == 20.0
    assert Model().method() == 10.0
    assert float(tf.function(same)(X)) == float(same(X)) == 4.0


RANGE = range(0, 10, 3)


def test_the_end_of_a_range_with_the_same_numbers() -> None:
    def f(x: Any, numbers: Any = None) -> Any:
        return x * (RANGE if numbers is None else numbers).stop

    check(f, lambda: globals().update(RANGE=range(0, 12, 3)), 20.0, 24.0)
    traced = tf.function(f)
    for numbers in (range(0), range(5, -3)):
        assert float(traced(X, numbers)) == float(f(X, numbers))


# --- what is reached through library objects ------------------------------------------


def test_what_a_partial_was_given_that_is_only_called() -> None:
    rates = [1.0]
    model = Shown()
    model.step = functools.partial(lambda rates, x: x * rates[0], rates)  # type: ignore[attr-defined]
    change = lambda: rates.__setitem__(0, 5.0)  # noqa: E731
    check(lambda x: model.step(x), change, 2.0, 10.0)  # type: ignore[attr-defined]


def test_an_object_that_is_referred_to_weakly_goes_away() -> None:
    shown = [Shown()]
    reference = weakref.ref(shown[0])

    def change() -> None:
        shown.clear()
        gc.collect()

    check(lambda x: x if reference() is None else x * 5.0, change, 10.0, 2.0)


def test_a_graph_that_calls_python_reads_its_arguments_and_classes() -> None:
    items, o = deque([1.0]), First()

    @tf.function
    def f(x: Any, items: Any) -> Any:
        tf.py_function(lambda v: None, [x], [])
        return x * items[0] * o.k

    assert float(f(X, items)) == 2.0
    items[0] = 5.0
    assert float(f(X, items)) == 10.0
    o.__class__ = Second  # type: ignore[assignment]
    assert float(f(X, items)) == 50.0


def test_an_attribute_that_is_missing_where_a_graph_calls_python() -> None:
    o, log = First(), []  # type: ignore[var-annotated]

    def f(x: Any) -> Any:
        tf.py_function(log.append, [x], [])
        return x * getattr(o, "rate", 2.0)

    check(f, lambda: setattr(o, "rate", 5.0), 4.0, 10.0)


def test_what_a_graph_puts_into_an_argument_is_no_change() -> None:
    log: Any = deque()

    @tf.function
    def f(x: Any, log: Any) -> Any:
        tf.py_function(lambda v: log.append(float(v)), [x], [])
        return x

    for _ in range(3):
        f(X, log)
    assert (len(log), f.experimental_get_tracing_count()) == (3, 1)


# --- more than is compared ------------------------------------------------------------

MANY: list[list[int]] = []
SCALE = Shown()


def test_more_than_is_compared_is_warned_of_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(globals(), "MANY", [[i] for i in range(10_001)])
    f = tf.function(lambda x: x * MANY[3][0] * SCALE.k)
    with pytest.warns(TracingWarning, match="AG324.*`MANY`") as found:
        assert float(f(X)) == 6.0
    assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(SCALE, "k", 2)
        assert float(f(X)) == 12.0


@pytest.mark.filterwarnings("ignore::runtime.core.errors.TracingWarning")
@pytest.mark.parametrize("names", [("a", "z"), ("z", "a")])
def test_which_are_compared_depends_on_their_order_alone(
    names: tuple[str, str],
) -> None:
    first, second = names
    source = f"f = lambda x: x * ({first}[0][0] + {second}[0][0])"
    rows = [[[1] for _ in range(6_000)] for _ in range(2)]
    variables: dict[str, Any] = dict(zip(names, rows))
    exec(source, variables)
    f = tf.function(variables["f"], autograph=False)
    f(X)
    rows[0][0][0] = 5

    assert float(f(X)) == 12.0
