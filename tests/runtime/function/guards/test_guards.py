"""Guards: a trace is used for as long as what its code read of Python is as it was."""

from __future__ import annotations

import contextlib
import enum
import functools
import gc
import sys
import threading
import types
import weakref
from collections import namedtuple
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runtime as tf

pytestmark = pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")

X = tf.constant(10.0)


def traces(function: Any) -> int:
    return int(function.experimental_get_tracing_count())


def state_of(function: Any) -> list[str]:
    """What the guards of the traces of a function say that changed."""
    entries = [e for group in function._cache._entries.values() for e in group]
    return [str(c) for e in entries if e.guards for c in e.guards.changes()]


# --- globals --------------------------------------------------------------------------


def test_globals_without_a_name_are_seen() -> None:
    namespace: dict[str, Any] = {"tf": tf, "scale": 2.0}
    exec("@tf.function\ndef scaled(x):\n    return x * scale", namespace)
    assert float(namespace["scaled"](X)) == 20.0
    namespace["scale"] = 3.0
    assert float(namespace["scaled"](X)) == 30.0


scale: Any = 2.0
config: Any = {"lr": 0.5, "sizes": [1, 2]}
helper: Any = None
count = 0


@pytest.fixture(autouse=True)
def _same_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("scale", 2.0), ("helper", None), ("count", 0)):
        monkeypatch.setattr(sys.modules[__name__], name, value)
    monkeypatch.setitem(globals(), "config", {"lr": 0.5, "sizes": [1, 2]})


def test_a_changed_global_is_seen_and_a_known_state_found_again() -> None:
    global scale

    @tf.function
    def scaled(x: Any) -> Any:
        return x * scale

    results = []
    for scale in (2.0, 3.0, 2.0, 3.0, 2.0):
        results.append(float(scaled(X)))

    assert results == [20.0, 30.0, 20.0, 30.0, 20.0]
    assert traces(scaled) == 2


def test_a_change_is_told_with_its_name_and_line() -> None:
    global scale

    @tf.function
    def scaled(x: Any) -> Any:
        return x * scale

    scaled(X)
    scale = 3.0

    line = scaled.python_function.__code__.co_firstlineno + 2
    place = f"{scaled.python_function.__code__.co_filename}:{line}"
    expected = f"global `scale` changed from 2.0 to 3.0 (read at {place})"
    assert state_of(scaled) == [expected]


def test_numbers_are_told_apart_by_type_and_sign() -> None:
    global scale

    @tf.function
    def kind() -> Any:
        return repr(scale)

    nan = float("nan")
    states = (1, True, 1.0, -0.0, 0.0, nan, "1", None)
    for state in states:
        scale = state
        assert kind().numpy().decode() == repr(state)
    made = traces(kind)
    scale = float("nan")
    kind()
    assert traces(kind) == made == len(states)


def test_a_name_that_appears_later_is_seen() -> None:
    @tf.function
    def known() -> Any:
        try:
            return appearing
        except NameError:
            return -1

    assert int(known()) == -1
    globals()["appearing"] = 5
    try:
        assert int(known()) == 5
    finally:
        del globals()["appearing"]
    assert int(known()) == -1
    assert traces(known) == 2


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda: config.update(lr=2.0), 10.0 * 2 + 3),
        (lambda: config["sizes"].append(4), 10.0 * 0.5 + 7),
        (lambda: config["sizes"].__setitem__(0, 5), 10.0 * 0.5 + 7),
        (lambda: config.pop("lr"), 10.0 * 7 + 3),
    ],
)
def test_what_is_in_a_global_dict_is_seen(change: Any, expected: float) -> None:
    @tf.function
    def moved(x: Any) -> Any:
        return x * config.get("lr", 7.0) + sum(config["sizes"])

    assert float(moved(X)) == 8.0
    change()
    assert float(moved(X)) == expected
    assert float(moved(X)) == expected
    assert traces(moved) == 2


def lambda_of(amount: int) -> Any:
    return lambda x: x + amount


def test_a_helper_that_is_replaced_is_seen() -> None:
    global helper

    @tf.function
    def helped(x: Any) -> Any:
        return helper(x)

    helper = lambda_of(1)
    assert float(helped(X)) == 11.0
    helper = lambda_of(2)
    assert float(helped(X)) == 12.0


@pytest.mark.filterwarnings("ignore:AG324")
def test_long_lists_and_dicts() -> None:
    numbers = [float(n) for n in range(1000)]
    words = {str(n): n for n in range(1000)}

    @tf.function
    def total() -> Any:
        return sum(numbers) + sum(words.values())

    for change in (lambda: None, numbers.clear, lambda: words.update({"7": 0})):
        change()
        assert int(total()) == sum(numbers) + sum(words.values())
    numbers.extend(range(20_000))
    assert int(total()) == sum(numbers) + sum(words.values())
    assert traces(total) == 4


def test_handlers_in_a_global_dict_are_seen() -> None:
    config["handler"] = lambda_of(1)

    @tf.function
    def handled(x: Any) -> Any:
        return config["handler"](x)

    assert float(handled(X)) == 11.0
    config["handler"] = lambda_of(2)
    assert float(handled(X)) == 12.0


def test_constants_of_a_module_are_seen() -> None:
    global helper
    helper = types.ModuleType("settings_of_the_user")
    helper.RATE, helper.OTHER = 2.0, 1

    @tf.function
    def rated(x: Any) -> Any:
        return x * helper.RATE

    assert float(rated(X)) == 20.0
    helper.OTHER = 5
    assert float(rated(X)) == 20.0
    assert traces(rated) == 1
    helper.RATE = 3.0
    assert float(rated(X)) == 30.0


def test_what_code_does_not_read_may_change() -> None:
    global count

    @tf.function
    def scaled(x: Any) -> Any:
        return x * scale

    for count in range(3):
        scaled(X)
    assert traces(scaled) == 1


def counted_on(x: Any) -> Any:
    return x + count


def test_a_helper_that_did_not_run_may_read_what_changes() -> None:
    global count

    @tf.function
    def scaled(x: Any, verbose: bool = False) -> Any:
        return counted_on(x) if verbose else x

    for count in range(3):
        scaled(X)
    assert traces(scaled) == 1
    for count in range(3):
        assert float(scaled(X, True)) == 10.0 + count


class Trainer:
    def __init__(self) -> None:
        self.apply = 0

    @tf.function
    def train(self, layer: Any, x: Any) -> Any:
        return layer.apply(x)


def test_numbers_that_have_the_name_of_a_method_that_is_called() -> None:
    trainer, layer = Trainer(), Layer(2.0)
    for _ in range(3):
        trainer.apply += 1
        assert float(trainer.train(layer, X)) == 20.0
    assert traces(trainer.train) == 1


def test_guards_may_be_switched_off() -> None:
    global scale

    @tf.function(guards=False)
    def scaled(x: Any) -> Any:
        return x * scale

    assert float(scaled(X)) == 20.0
    scale = 3.0
    assert float(scaled(X)) == 20.0


def test_a_concrete_function_keeps_its_trace() -> None:
    global scale

    @tf.function
    def scaled(x: Any) -> Any:
        return x * scale

    concrete = scaled.get_concrete_function(X)
    scale = 3.0
    assert float(concrete(X)) == 20.0
    assert float(scaled(X)) == 30.0
    assert float(scaled.get_concrete_function(X)(X)) == 30.0


# --- captured variables and defaults --------------------------------------------------


def test_a_captured_variable_is_seen() -> None:
    rate = 1.0

    @tf.function
    def rated(x: Any) -> Any:
        return x * rate

    def set_rate(value: float) -> None:
        nonlocal rate
        rate = value

    results = []
    for value in (1.0, 2.0, 1.0):
        set_rate(value)
        results.append(float(rated(X)))
    assert results == [10.0, 20.0, 10.0]
    assert traces(rated) == 2


def test_defaults_of_helpers_are_seen() -> None:
    def by_default(x: Any, factor: Any = 2.0, *, shift: Any = [1.0]) -> Any:
        return x * factor + shift[0]

    @tf.function
    def shifted(x: Any) -> Any:
        return by_default(x)

    assert float(shifted(X)) == 21.0
    by_default.__kwdefaults__["shift"][0] = 2.0
    assert float(shifted(X)) == 22.0
    assert state_of(shifted)[0].startswith("the defaults of `test_defaults_of_he")


def test_replaced_defaults_of_helpers_are_used() -> None:
    def by_default(x: Any, factor: Any = 2.0, *, shift: Any = 1.0) -> Any:
        return x * factor + shift

    @tf.function
    def shifted(x: Any) -> Any:
        return by_default(x)

    assert float(shifted(X)) == 21.0
    by_default.__defaults__ = (3.0,)
    assert float(shifted(X)) == 31.0
    by_default.__kwdefaults__ = {"shift": 5.0}
    assert float(shifted(X)) == 35.0


def test_a_list_as_a_default_argument_is_seen() -> None:
    @tf.function
    def total(x: Any, terms: Any = [1.0]) -> Any:
        return x + sum(terms)

    assert float(total(X)) == 11.0
    total.python_function.__defaults__[0].append(2.0)
    assert float(total(X)) == 13.0


def test_closures_of_one_code_are_told_apart() -> None:
    def adding(amount: list[float]) -> Any:
        def add(x: Any) -> Any:
            return x + amount[0]

        return add

    amounts = [[1.0], [2.0]]
    adds = [adding(amount) for amount in amounts]

    @tf.function
    def added(x: Any) -> Any:
        for add in adds:
            x = add(x)
        return x

    assert float(added(X)) == 13.0
    amounts[1][0] = 5.0
    assert float(added(X)) == 16.0
    adds.append(adding([100.0]))
    assert float(added(X)) == 116.0


# --- attributes -----------------------------------------------------------------------


class Layer:
    rate = 1.0
    names: Any = ("a",)

    def __init__(self, rate: float | None = None) -> None:
        if rate is not None:
            self.rate = rate

    def apply(self, x: Any) -> Any:
        return x * self.rate

    @property
    def doubled(self) -> float:
        return self.hidden * 2  # type: ignore[attr-defined,no-any-return]

    def __call__(self, x: Any) -> Any:
        return self.apply(x)

    def __add__(self, x: Any) -> Any:
        return x + self.hidden  # type: ignore[attr-defined]


class Deep(Layer):
    pass


class Model(tf.Module):
    def __init__(self) -> None:
        self.layers = [Layer(2.0), Layer(3.0)]
        self.other = 0

    @tf.function
    def run(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x


def test_the_model_of_the_guide_gives_the_right_answer() -> None:
    @tf.function
    def evaluate(layer: Any, x: Any) -> Any:
        return layer.apply(x)

    layer = Layer(2.0)
    assert float(evaluate(layer, X)) == 20.0
    layer.rate += 3.0
    assert float(evaluate(layer, X)) == 50.0
    layer.unread = 1  # type: ignore[attr-defined]
    assert float(evaluate(layer, X)) == 50.0
    assert traces(evaluate) == 2
    assert state_of(evaluate)[0].startswith("`layer.rate` changed from 2.0 to 5.0 (rea")


def test_methods_see_their_own_instance_only() -> None:
    one, other = Model(), Model()
    assert float(one.run(X)) == float(other.run(X)) == 60.0
    one.layers[0].rate = 5.0
    assert float(one.run(X)) == 150.0
    assert float(other.run(X)) == 60.0
    assert (traces(one.run), traces(other.run)) == (2, 1)
    one.layers.append(Layer(2.0))
    assert float(one.run(X)) == 300.0
    one.other = 7
    assert float(one.run(X)) == 300.0
    assert traces(one.run) == 3


def test_attributes_of_classes_and_those_that_hide_them_are_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    layer = Deep()

    @tf.function
    def applied(x: Any) -> Any:
        return layer.apply(x)

    assert float(applied(X)) == 10.0
    monkeypatch.setattr(Layer, "rate", 2.0)
    assert float(applied(X)) == 20.0
    monkeypatch.setattr(Deep, "rate", 3.0, raising=False)
    assert float(applied(X)) == 30.0
    layer.rate = 4.0
    assert float(applied(X)) == 40.0
    del layer.rate
    assert float(applied(X)) == 30.0
    monkeypatch.setattr(Layer, "apply", lambda self, x: x)
    assert float(applied(X)) == 10.0


def test_what_properties_and_operators_read_is_seen() -> None:
    layer = Layer()
    layer.hidden = 2.0  # type: ignore[attr-defined]

    @tf.function
    def by_property(x: Any) -> Any:
        return x * layer.doubled

    @tf.function
    def by_operator(x: Any) -> Any:
        return layer + x

    assert (float(by_property(X)), float(by_operator(X))) == (40.0, 12.0)
    layer.hidden = 3.0  # type: ignore[attr-defined]
    assert (float(by_property(X)), float(by_operator(X))) == (60.0, 13.0)


def test_chains_through_local_names_are_seen() -> None:
    outer = types.SimpleNamespace(inner=types.SimpleNamespace(layer=Layer(2.0)))

    @tf.function
    def chained(x: Any) -> Any:
        inner = outer.inner
        m = inner.layer
        return x * m.rate

    assert float(chained(X)) == 20.0
    outer.inner.layer.rate = 3.0
    assert float(chained(X)) == 30.0
    outer.inner.layer = Layer(4.0)
    assert float(chained(X)) == 40.0
    outer.inner = types.SimpleNamespace(layer=Layer(5.0))
    assert float(chained(X)) == 50.0


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate: float) -> None:
        self.rate = rate

    @tf.function
    def apply(self, x: Any) -> Any:
        return x * self.rate


class Mode(enum.Enum):
    PLAIN = 1
    TWICE = 2


Point = namedtuple("Point", ["x", "y"])


@dataclass
class Options:
    factor: float = 1.0
    extra: Any = field(default=1.0, init=False)
    shared = [2.0]


def test_slots_enums_named_tuples_and_dataclasses() -> None:
    slotted = Slotted(2.0)
    state = types.SimpleNamespace(mode=Mode.PLAIN, point=Point(1.0, [2.0]))

    @tf.function
    def moved(x: Any) -> Any:
        if state.mode is Mode.TWICE:
            x = x * 2
        return x * slotted.rate + state.point.x + state.point.y[0]

    assert float(moved(X)) == 23.0
    assert float(slotted.apply(X)) == 20.0
    slotted.rate = 3.0
    assert float(slotted.apply(X)) == 30.0
    assert float(moved(X)) == 33.0
    state.mode = Mode.TWICE
    assert float(moved(X)) == 63.0
    state.point.y[0] = 3.0
    assert float(moved(X)) == 64.0
    state.point = Point(2.0, [3.0])
    assert float(moved(X)) == 65.0


def test_a_dataclass_argument_is_its_fields_and_its_class() -> None:
    @tf.function
    def scaled(options: Any, x: Any) -> Any:
        return x * options.factor * options.shared[0]

    assert float(scaled(Options(), X)) == 20.0
    assert float(scaled(Options(2.0), X)) == 40.0
    Options.shared[0] = 3.0
    try:
        assert float(scaled(Options(), X)) == 30.0
    finally:
        Options.shared[0] = 2.0
    assert traces(scaled) == 3


class Guarded:
    """Its attributes are computed, and count how often that was."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self.asked.append(name)
        return 2.0

    @property
    def failing(self) -> float:
        self.asked.append("failing")
        raise AttributeError("not yet")


def test_no_code_of_the_users_runs_to_look() -> None:
    guarded = Guarded()

    @tf.function
    def scaled(x: Any) -> Any:
        return x * guarded.rate

    for _ in range(3):
        assert float(scaled(X)) == 20.0
    assert guarded.asked == ["rate"]


class Proxy:
    """Stands for something that is not there."""

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__"):
            return object.__getattribute__(self, name)
        raise RuntimeError(f"no {name} yet")


def test_an_object_that_cannot_be_asked_for_anything() -> None:
    state = types.SimpleNamespace(proxy=Proxy())

    @tf.function
    def run(x: Any) -> Any:
        return x if state.proxy is None else x * 2

    assert [float(run(X)) for _ in range(2)] == [20.0, 20.0]
    assert traces(run) == 1
    state.proxy = None
    assert float(run(X)) == 10.0


def test_attributes_that_are_asked_for_by_text() -> None:
    layer = Layer()

    @tf.function
    def shifted(x: Any) -> Any:
        if hasattr(layer, "shift"):
            return x + layer.shift
        return x * getattr(layer, "factor", 1.0)

    assert float(shifted(X)) == 10.0
    layer.factor = 2.0  # type: ignore[attr-defined]
    assert float(shifted(X)) == 20.0
    layer.shift = 1.0  # type: ignore[attr-defined]
    assert float(shifted(X)) == 11.0
    del layer.shift  # type: ignore[attr-defined]
    assert float(shifted(X)) == 20.0
    assert traces(shifted) == 3


def test_variables_arrays_and_tensors_by_identity() -> None:
    state = types.SimpleNamespace(
        variable=tf.Variable(1.0), array=np.ones(2), tensor=tf.constant(1.0)
    )

    @tf.function
    def total() -> Any:
        parts = state.variable + tf.cast(state.array, tf.float32) + state.tensor
        return tf.reduce_sum(parts)

    assert float(total()) == 6.0
    state.variable.assign(2.0)
    assert (float(total()), traces(total)) == (8.0, 1)
    state.variable = tf.Variable(3.0)
    assert float(total()) == 10.0
    state.array[0] = 5.0
    assert float(total()) == 14.0
    state.array = np.zeros(2)
    assert float(total()) == 8.0
    state.tensor = tf.constant(2.0)
    assert float(total()) == 10.0
    assert traces(total) == 5


def test_methods_partials_and_cached_functions_as_values() -> None:
    layers = [Layer(2.0), Layer(3.0), Layer(4.0)]

    @functools.lru_cache
    def cached(number: int) -> float:
        return number * scale

    functions = {
        "method": layers[0].apply,
        "partial": functools.partial(Layer.apply, layers[1]),
        "object": layers[2],
    }

    @tf.function
    def run(x: Any) -> Any:
        for function in functions.values():
            x = function(x)
        return x * cached(1)

    assert float(run(X)) == 480.0
    for layer in layers:
        layer.rate *= 10
        result = 10.0 * 2 * np.prod([layer.rate for layer in layers])
        assert float(run(X)) == pytest.approx(result)


# --- what runs ------------------------------------------------------------------------


def test_nested_functions_read_for_the_outer_trace() -> None:
    layer = Layer(2.0)

    @tf.function
    def inner(x: Any) -> Any:
        return layer.apply(x)

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) + Model.run.python_function(model, x)

    model = Model()
    assert float(outer(X)) == 80.0
    layer.rate = 3.0
    assert float(outer(X)) == 90.0
    model.layers[0].rate = 1.0
    assert float(outer(X)) == 60.0


def test_nested_functions_of_all_kinds() -> None:
    layers = [Layer(2.0) for _ in range(4)]
    model = Model()
    inner = {
        "method": tf.function(layers[0].apply),
        "partial": tf.function(functools.partial(Layer.apply, layers[1])),
        "object": tf.function(layers[2]),
        "lambda": tf.function(lambda x: layers[3].apply(x)),
        "bound": model.run,
    }

    @tf.function
    def outer(x: Any) -> Any:
        for function in inner.values():
            x = function(x)
        return Model().run(x)

    changed: Any
    assert float(outer(X)) == float(outer(X)) == 5760.0
    assert traces(outer) == 1
    for changed in (*layers, model.layers[0]):
        changed.rate = 4.0
        assert float(outer(X)) == pytest.approx(float(outer.python_function(X)))
    assert traces(outer) == 6


def test_code_that_is_not_converted() -> None:
    global count
    layer = Layer(2.0)

    @tf.autograph.experimental.do_not_convert
    def marked(x: Any) -> Any:
        return inside(x)

    def inside(x: Any) -> Any:
        return layer.apply(x) + count

    @tf.function
    def converted(x: Any) -> Any:
        return marked(x)

    @tf.function(autograph=False)
    def plain(x: Any) -> Any:
        return inside(x)

    for function in (converted, plain):
        count, layer.rate = 0, 2.0
        assert float(function(X)) == 20.0
        layer.rate = 3.0
        assert float(function(X)) == 30.0
        count = 1
        assert float(function(X)) == 31.0
        assert traces(function) == 3


def test_functions_that_libraries_call() -> None:
    layer = Layer(2.0)

    @tf.function
    def mapped(xs: Any) -> Any:
        branch = tf.cond(xs[0] > 0, lambda: layer.apply(xs), lambda: xs)
        return tf.map_fn(layer.apply, branch)

    xs = tf.constant([1.0, 2.0])
    assert mapped(xs).numpy().tolist() == [4.0, 8.0]
    layer.rate = 3.0
    assert mapped(xs).numpy().tolist() == [9.0, 18.0]


def test_recursion_and_branches_of_tensors() -> None:
    layer = Layer(2.0)

    @tf.function
    def power(x: Any, n: Any) -> Any:
        if n > 0:
            return power(layer.apply(x), n - 1)
        return x

    assert float(power(X, tf.constant(2))) == 40.0
    layer.rate = 3.0
    assert float(power(X, tf.constant(2))) == 90.0


class Turned:
    """Python asks it for this and that."""

    __match_args__ = ("size",)

    def __init__(self) -> None:
        self.size = 2

    def __enter__(self) -> Any:
        return self.size

    def __exit__(self, *error: object) -> None:
        return None

    def __getitem__(self, index: int) -> Any:
        return self.size + index

    def __iter__(self) -> Any:
        return iter([self.size])

    def __eq__(self, other: object) -> bool:
        return self.size == other


class Computed:
    """A descriptor."""

    def __init__(self) -> None:
        self.factor = 1

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.factor * instance.size


class Described(Turned):
    __hash__ = None  # type: ignore[assignment]
    computed = Computed()


def matched(turned: Any) -> Any:
    match turned:
        case Turned(size):
            return size


def entered(turned: Any) -> Any:
    with turned as size:
        return size


def imported(turned: Any) -> Any:
    from state_of_the_user import state

    return state.size


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(turned: Any) -> Any:
        return function(turned)

    return wrapper


@functools.singledispatch
def dispatched(turned: Any) -> Any:
    return turned.size


LOOKS = {
    "match": matched,
    "with": entered,
    "import": imported,
    "decorator": decorated(entered),
    "single dispatch": dispatched,
    "item": lambda turned: turned[1],
    "iterator": lambda turned: sum(turned),
    "equality": lambda turned: 1 if turned == 2 else 0,
    "descriptor": lambda turned: turned.computed,
    "vars": lambda turned: sum(vars(turned).values()),
    "dict": lambda turned: turned.__dict__["size"],
}


@pytest.mark.parametrize("look", LOOKS)
def test_all_ways_to_look_at_an_object(
    look: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned = Described()
    module: Any = types.ModuleType("state_of_the_user")
    module.state = turned
    monkeypatch.setitem(sys.modules, "state_of_the_user", module)

    @tf.function
    def run(x: Any) -> Any:
        return x + LOOKS[look](turned)

    for size in (2, 5, 2):
        turned.size = size
        assert float(run(X)) == 10.0 + LOOKS[look](turned)
    assert traces(run) == 2


@dataclass
class Fresh:
    size: int = 0

    def __post_init__(self) -> None:
        self.size += count

    @property
    def scaled(self) -> Any:
        return self.size * scale

    def __add__(self, x: Any) -> Any:
        return x + self.size


def test_objects_that_the_trace_makes() -> None:
    global count, scale

    @tf.function
    def run(x: Any) -> Any:
        fresh = Fresh(1)
        return (fresh + x) * fresh.scaled

    for count, scale in ((0, 1.0), (2, 1.0), (2, 3.0), (0, 1.0)):
        assert float(run(X)) == (11.0 + count) * (1 + count) * scale
    assert traces(run) == 3


# --- what a trace changes -------------------------------------------------------------


def test_a_count_of_traces_is_exact() -> None:
    global count
    state = types.SimpleNamespace(count=0, log=[], seen={})

    def bump(x: Any) -> Any:
        state.count += 1
        state.log.append(len(state.log))
        state.seen[str(x.dtype)] = True
        return x

    @tf.function
    def counted(x: Any) -> Any:
        global count
        count += 1
        return bump(x) * scale

    inputs = [tf.constant(1.0), tf.constant([1.0]), tf.constant(1)]
    for _ in range(3):
        for x in inputs:
            counted(x)
    assert (count, state.count, len(state.log)) == (3, 3, 3)
    assert traces(counted) == 3


def test_what_each_trace_makes_anew_is_not_guarded() -> None:
    state = types.SimpleNamespace(layer=Layer(1.0), kept=None)

    @tf.function
    def renewing(x: Any) -> Any:
        state.layer = Layer(state.layer.rate)
        if state.kept is None:
            state.kept = tf.Variable(1.0)
        return x * state.layer.rate * state.kept

    for _ in range(3):
        renewing(X)
        gc.collect()
    # The first call creates a variable: it traces twice, and counts once.
    assert traces(renewing) == 1


def test_what_is_beside_an_item_that_a_trace_changes() -> None:
    state: Any = {"rate": 2.0, "calls": 0, "rows": [[1.0], [2.0]]}

    @tf.function
    def counting(x: Any) -> Any:
        state["calls"] += 1
        state["rows"][0][0] += 1.0
        return x * state["rate"] + state["rows"][1][0]

    assert [float(counting(X)), float(counting(X)), state["calls"]] == [22.0, 22.0, 1]
    state["rate"] = 3.0
    assert float(counting(X)) == 32.0
    state["rows"][1][0] = 5.0
    assert [float(counting(X)), float(counting(X)), state["calls"]] == [35.0, 35.0, 3]


def test_what_one_trace_in_ten_changes() -> None:
    state = types.SimpleNamespace(mode="fast", switched=0)

    @tf.function
    def switching(x: Any, slow: bool) -> Any:
        if slow:
            state.switched += 1
            return x
        return x * (2 if state.mode == "fast" else 3)

    assert float(switching(X, False)) == 20.0
    for _ in range(2):
        switching(X, True)
        assert float(switching(X, False)) == 20.0
    assert (traces(switching), state.switched) == (2, 1)
    state.mode = "other"
    assert float(switching(X, False)) == 30.0


def test_an_object_that_another_trace_replaces() -> None:
    state = types.SimpleNamespace(layer=Layer(1.0))

    @tf.function
    def renewing(x: Any, renews: bool) -> Any:
        if renews:
            state.layer = Layer(5.0)
        return x * state.layer.rate

    assert (float(renewing(X, False)), float(renewing(X, True))) == (10.0, 50.0)
    gc.collect()
    assert float(renewing(X, False)) == 50.0


# --- lifetimes and threads ------------------------------------------------------------


def test_guards_keep_no_object_alive() -> None:
    class Owner:
        def __init__(self) -> None:
            self.layer = Layer(2.0)
            self.act = lambda x: x * self.layer.rate
            self.step = self.layer.apply

    @tf.function
    def run(owner: Any, x: Any) -> Any:
        return owner.step(owner.act(owner.layer.apply(x)))

    owner = Owner()
    assert float(run(owner, X)) == 80.0
    references = [weakref.ref(owner), weakref.ref(owner.layer)]
    del owner
    gc.collect()
    assert [reference() for reference in references] == [None, None]
    assert run.pretty_printed_concrete_signatures() == ""


def test_traces_of_one_state_share_their_guards() -> None:
    model = Model()
    sizes = [tf.zeros([n]) for n in range(3)]
    for x in sizes:
        model.run(x)
    model.layers[0].rate = 7.0
    for x in sizes:
        model.run(x)

    groups = model.run.bound_function._cache._entries.values()
    assert len({id(e.guards) for group in groups for e in group}) == 2
    assert traces(model.run) == 6


def test_a_dead_object_is_no_other_that_is_none() -> None:
    state = types.SimpleNamespace(layer=Layer(2.0))

    @tf.function
    def run(x: Any) -> Any:
        return x if state.layer is None else x * 2

    assert float(run(X)) == 20.0
    state.layer = None
    gc.collect()
    assert float(run(X)) == 10.0


def test_threads_see_the_changes_of_others() -> None:
    layer = Layer(1.0)
    results: list[float] = []

    @tf.function
    def run(x: Any) -> Any:
        return layer.apply(x)

    run(X)

    def work() -> None:
        layer.rate = 2.0
        results.append(float(run(X)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20.0] * 4
    assert traces(run) == 2


def test_an_argument_whose_attributes_cannot_be_read() -> None:
    class Torn:
        __slots__ = ("later",)

    torn = Torn()

    @tf.function
    def run(x: Any) -> Any:
        try:
            return x * torn.later
        except AttributeError:
            return x

    assert float(run(X)) == 10.0
    assert float(run(X)) == 10.0
    assert traces(run) == 1


# --- programs at random ---------------------------------------------------------------

VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 1, True, (1.0, 2.0), [3.0], {"a": 1.0}])
CHANGES = st.lists(
    st.tuples(st.sampled_from(["global", "attribute", "item", "class", "cell"]), VALUES)
)


def number(value: Any) -> Any:
    if isinstance(value, dict):
        return sum(value.values()) + 0.5
    if isinstance(value, (list, tuple)):
        return sum(value) + 0.25
    return value if isinstance(value, float) else value * 10


@given(changes=CHANGES)
def test_a_function_gives_what_python_gives(changes: list[tuple[str, Any]]) -> None:
    global scale
    scale, cell = 1.0, 1.0
    cls = type("Changing", (), {"shared": 1.0})
    owner: Any = cls()
    owner.rate = 1.0
    items: list[Any] = [1.0, 1.0]

    def program(x: Any) -> Any:
        part = owner
        total = x + number(scale) + 2 * number(part.rate)
        for item in items:
            total = total + 4 * number(item)
        return total + 8 * number(part.shared) + 16 * number(cell)

    staged = tf.function(program)
    for place, value in changes:
        if place == "global":
            scale = value
        elif place == "attribute":
            owner.rate = value
        elif place == "item":
            items[len(repr(value)) % 2] = value
        elif place == "class":
            setattr(cls, "shared", value)
        else:
            cell = value
        assert float(staged(X)) == pytest.approx(float(program(10.0)))


# --- cached properties ----------------------------------------------------------------


class Cached:
    def __init__(self, rate: Any) -> None:
        self.source = [rate]

    @functools.cached_property
    def options(self) -> Any:
        return types.SimpleNamespace(rate=self.source[0])


def test_what_a_cached_property_keeps_is_seen() -> None:
    model: Any = Cached(2.0)

    @tf.function
    def rated(x: Any) -> Any:
        return x * model.options.rate

    assert [float(rated(X)), float(rated(X))] == [20.0, 20.0]
    model.source[0] = 3.0  # It is not asked again.
    assert float(rated(X)) == 20.0
    model.options.rate = 4.0
    assert float(rated(X)) == 40.0
    model.options = types.SimpleNamespace(rate=5.0)
    assert float(rated(X)) == 50.0
    del model.options
    assert float(rated(X)) == 30.0
    made = traces(rated)
    assert float(rated(X)) == 30.0
    assert traces(rated) == made


def test_a_property_that_is_replaced_is_seen() -> None:
    class Rated:
        def __init__(self) -> None:
            self.value = 2.0

        @property
        def rate(self) -> float:
            return self.value

    model = Rated()

    @tf.function
    def rated(x: Any) -> Any:
        return x * model.rate

    assert float(rated(X)) == 20.0
    Rated.rate = property(lambda self: self.value + 1)  # type: ignore[assignment]
    assert float(rated(X)) == 30.0
    (change,) = state_of(rated)
    assert "Rated.rate` changed from a property to another property" in change


def test_what_a_partial_was_given_is_seen() -> None:
    rates = [2.0]
    rate = functools.partial(lambda rates, x, *, plus: x * rates[0] + plus[0], rates)
    step = functools.partial(rate, plus=[1.0])

    @tf.function
    def rated(x: Any) -> Any:
        return step(x)

    assert float(rated(X)) == 21.0
    rates[0] = 3.0
    assert float(rated(X)) == 31.0
    step.keywords["plus"][0] = 2.0
    assert [float(rated(X)), float(rated(X)), traces(rated)] == [32.0, 32.0, 3]


# --- what Python calls in between -----------------------------------------------------

level = 2.0


@contextlib.contextmanager
def at_level() -> Any:
    yield level


def test_what_a_generator_of_a_context_manager_reads_is_seen() -> None:
    global level

    @tf.function
    def raised(x: Any) -> Any:
        with at_level() as found:
            return x * found

    assert float(raised(X)) == 20.0
    level = 3.0
    assert float(raised(X)) == 30.0


def test_methods_behind_super_are_seen() -> None:
    class Base:
        def scaled(self, x: Any) -> Any:
            return x * 2.0

    class Derived(Base):
        def scaled(self, x: Any) -> Any:
            return super().scaled(x) + 1.0

    model = Derived()
    step = tf.function(lambda x: model.scaled(x))
    assert float(step(X)) == 21.0
    Base.scaled = lambda self, x: x * 3.0  # type: ignore[method-assign]
    assert [float(step(X)), float(step(X)), traces(step)] == [31.0, 31.0, 2]


@pytest.mark.parametrize("kind", [list, dict])
def test_attributes_of_containers_are_seen(kind: Any) -> None:
    class Config(kind):  # type: ignore[misc]
        rate = 2.0

    config: Any = Config()
    step = tf.function(lambda x: x * config.rate + len(config))
    assert float(step(X)) == 20.0
    config.rate = 3.0
    assert float(step(X)) == 30.0
    config.append(1) if kind is list else config.update(a=1)
    assert float(step(X)) == 31.0
