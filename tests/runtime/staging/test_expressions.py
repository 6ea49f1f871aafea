"""Expressions that tensors decide, show or choose mean what Python's mean.

Each program gives the same for Python values, for eager tensors, and traced: by the
interpreter and by the NumPy source.
"""

# ruff: noqa: F632, F841, RUF010, RUF021, RUF059, RUF060, UP031
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph
import runtime as tf
from runtime.core.errors import (
    DTypeMismatchError,
    StagedStateError,
    SymbolicTensorError,
)
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify

Program = Callable[..., Any]
TABLE = [10, 20, 30, 40]
NAMES = {1: "one", 2: "two", 7: "seven"}
#: How a program is run.
PLAIN, CONVERTED, EAGER, SOURCE, INTERPRETED = range(5)


def value_of(leaf: Any) -> Any:
    if tf.is_tensor(leaf):
        leaf = leaf.numpy()
        if isinstance(leaf, bytes):
            return leaf.decode()
        leaf = leaf.tolist()
    # Of floats, what float32 can hold.
    return float(f"{leaf:.5g}") if isinstance(leaf, float) else leaf


def outcome(function: Program, *args: Any) -> Any:
    """What a call gives, or the exception that it raises."""
    try:
        return tf.nest.map_structure(value_of, function(*args))
    except Exception as error:
        return type(error), str(error)


def run(how: int, function: Program, *args: Any) -> Any:
    """A call of the program on the arguments, in one of the ways."""
    if how == PLAIN:
        return outcome(function, *args)
    if how == CONVERTED:
        return outcome(autograph.convert(function), *args)
    tensors = [tf.constant(arg) for arg in args]
    if how == EAGER:
        return outcome(function, *tensors)
    traced = tf.function(function)
    if how == SOURCE:
        return outcome(traced, *tensors)

    def interpreted(*values: Any) -> Any:
        concrete = traced.get_concrete_function(*values)
        verify(concrete.graph)
        found = interpreter.run(concrete.graph, [value.numpy() for value in values])
        return concrete._trace.results.pack(list(map(tf.constant, found)))

    return outcome(interpreted, *tensors)


# --- membership -----------------------------------------------------------------------


def in_displays(x):
    return x in (1, 2), x in [x + 1, 7], x not in [], x in [1, 2, 3, 4, 5, 6, 7]


def in_ranges(x):
    up, down = range(3, 20, 4), range(20, -3, -3)
    return x in up, x in down, x not in range(0), x in range(2**40)


def in_ranges_of_tensors(x):
    return 5 in range(x), x in range(2 * x, 0, -x), 7 in range(1, x, 3), 0 in range(x)


def in_tensors(x):
    xs = tf.stack([x, x + 1, 4])
    return 3 in xs, x in xs, 99 not in xs, xs[1] in [x + 1, 0]


def in_lists_of_tensors(x):
    return 3 in [x, x + 1], 7 in [x, 7], [x] is None, x in [None, 7]


def in_tests(x):
    if x in (1, 2):
        return 10
    elif x not in range(5):
        return 20
    return 30


def in_chains(x):
    return 0 < x in (1, 2, 7), x in (2, 7) and x != 7, not x in (7,)  # noqa: E713


def in_loops(x):
    total = 0
    for i in range(x):
        if i in (2, 3, 5):
            total += i
    return total


def in_texts(x):
    name = "abc" if x > 3 else "xyz"
    return "b" in name, name in ("abc", "d"), name not in "0xyz0", name in {"xyz": 1}


class Evens:
    def __contains__(self, item):
        if item > 100:
            return False
        return item % 2 == 0


def in_objects(x):
    return x in Evens(), x not in Evens()


# --- text -----------------------------------------------------------------------------


def fields(x):
    width = 5
    return f"step {x}: {x * 2:>5} {x / 4:.2f} {{}} {x:>{width}}|{'a':>{x}}|"


def numbers_of_python(x):
    count = 0
    ratio = 0.1 if x > 3 else 1.5
    for i in range(x):
        count += i
    return f"{count} {i!r} {str(count)} {ratio} {ratio:.3f}"


def flags(x):
    found = False
    for i in range(x):
        if i == 2:
            found = True
    return f"{found} {x > 3}", str(found), repr(found)


def names(x):
    if x > 3:
        name = "big"
    else:
        name = "small"
    return f"{name}!" + name, "<" + name, len(name), name == "big", name != "small"


def grown(x):
    text = ""
    i = 0
    while len(text) < x:
        text = text + str(i)
        i += 1
    return text


def percent(x):
    return "%d of %s and %05.1f" % (x, 3, x), "%s" % f"{x}", "%(a)d" % {"a": x}


def templates(x):
    return "{0} {0:>4} {a} {1!r}".format(x, "q", a=x), format(x, "03d"), format(x)


def joined(x):
    parts = [f"n{i}" for i in range(x) if i != 1]
    return ", ".join(["a", f"{x}", "c"]), "-".join(parts), "".join(str(i) for i in (1,))


def shown_lists(x):
    items = [i for i in range(x) if i != 1]
    pairs = [(i, i * 0.5) for i in items]
    return f"{items} {len(items)}", str(items), f"{pairs!r}"


def maybe_none(x):
    value = name = None
    if x > 3:
        value, name = x, "big"
    return f"{value} {name!r}"


def snapshots(x):
    items = [1]
    return f"{items} {items.append(2)} {items} {x}"


def compared(x):
    if f"{x}" == "7":
        return 1
    return int(f"1{x}") + len(f"{x}abc") + int(float(f"{x}.5") * 2)


class Meter:
    def __init__(self, value):
        self.value = value

    def __str__(self):
        if self.value > 3:
            return f"high {self.value}"
        return f"low {self.value}"

    def __repr__(self):
        return f"Meter({self.value})"


class Gauge(Meter):
    def __format__(self, spec):
        return f"{self.value:{spec}}|"


def objects(x):
    meter, gauge = Meter(x), Gauge(x)
    if x == 7:
        raise ValueError(f"{meter}, {gauge:03d}")
    return f"{meter} {meter!r} {gauge:>4} {gauge!s} {Meter(3)}", str(meter), repr(gauge)


def methods(x):
    name = "Ab" if x > 3 else "cD"
    found = f"a{x} ".strip().replace("a", "b"), f"{x}".zfill(4), name.lower() + "!"
    asked = name.isupper(), f"ab{x}".find("b"), f"{x}{x}".count("7") + 1
    return found, asked, name.swapcase() in ("aB",), f"{x}".rindex(f"{x}")


def not_found(x):
    return f"{x}".rindex("q")


def truths(x):
    text = ""
    for i in range(x - 1):
        if text:
            text += ","
        text += str(i)
    if not text:
        return "none"
    return text if text else "never"


def characters(x):
    total = 0
    text = "ä" if x > 3 else "bc"
    for i, character in enumerate(f"{x}{text}"):
        total += i + int(character in ("ä", "c"))
    return total, "".join([c + "!" for c in text]), max(f"{x}1", key=int)


def raised_beside_a_text(x):
    if x > 3:
        raise ValueError("no text")
    return "a" if x > 1 else "b"


def raised(x):
    if x > 3:
        raise ValueError(f"bad {x}, {x / 2:.1f}")
    if x == 1:
        raise KeyError(f"{x > 5}")
    return x


def wrong_spec(x):
    return f"{x:q}"


# --- builtins -------------------------------------------------------------------------


def integers(x):
    return int(x), int(x * 1.7), int(-x * 1.7), float(x) / 2, bool(x), abs(-x)


def not_integers(x):
    return int(float("nan") * x)


def infinite(x):
    return int(float("inf") * x)


def rounded(x):
    return round(x), round(float(x) / 4), round(float(x) / 2), round(x, -1)


def powers(x):
    return pow(x, 2), pow(x, 2, 5), x**3, divmod(x, 3), divmod(-x, 3)


def extremes(x):
    return max(x, 3, x - 1), min(x, 3), max([x, 4]), min((x, 1, 9)), max([x])


def extremes_by_key(x):
    return max([x, 4, -9], key=lambda v: v * v), min(x, -1, key=abs)


def of_ranges(x):
    numbers = range(1, x + 1)
    return sum(numbers), max(numbers), min(numbers), any(numbers), all(numbers)


def of_mapped_ranges(x):
    return sum(map(lambda i: i * i, range(x))), list(filter(lambda i: i % 2, range(x)))


def of_lists(x):
    return sorted([x, 4, 1]), sorted([x, 4, 1], reverse=True), sum([x, 1]), len([x])


def any_of_lists(x):
    return any([x > 3, x < 0]), all([x > 3, True]), any([True, x]), all([])


def of_vectors(x):
    xs = tf.stack([x, 3, 5])
    first, *rest = xs
    ordered = sorted(xs, key=lambda v: -v)
    return (
        list(xs),
        tuple(xs),
        first,
        rest,
        [*ordered],
        sum(xs),
        max(xs),
        min(xs, key=abs),
    )


def iterators(x):
    it = iter(tf.stack([x, 3]))
    return next(it), next(it), next(it, 99)


def zipped(x):
    xs = tf.stack([x, 3])
    pairs = list(zip(xs, [1, 2]))
    return pairs, list(enumerate(xs, start=2)), list(reversed(xs)), dict(zip("ab", xs))


def unequal(x):
    total = 0
    for a, b in zip(tf.stack([x, 1, 2]), [1, 2], strict=True):
        total += a * b
    return total


def no_step(x):
    total = 0
    for i in range(1, 5, x - x):
        total += i
    return total


def unpacked_wrongly(x):
    a, b = tf.stack([x, 1, 2])
    return a + b


# --- items ----------------------------------------------------------------------------


def of_tables(x):
    return TABLE[x - 5], TABLE[-x], range(5, 50, 3)[x], (1.5, 2.5, 3.5)[x % 3]


def of_local_lists(x):
    items = [x, x * 2, x + 100]
    pairs = ((1, "a"), (3, "b"))
    total = 0
    for i in range(3):
        total += items[i]
    return total + items[x % 3], pairs[x % 2]


def slices_of_lists(x):
    items = [1, 2, 3, 4, 5]
    return items[x:], items[:x], items[x - 5 : x - 1], items[::2]


def of_dicts(x):
    table = {1: x, 2: 20, 7: 30}
    return table[x] if x in table else -1


# --- operands that bind ---------------------------------------------------------------


def binding(x):
    n = -1
    if x > 1 and (n := x * 2) > 8:
        return n, False, 0
    z = x > 3 or (m := x) < -3
    return n - 100, z, (k := x + 1) * k


def binding_choice(x):
    y = (n := x + 1) if x > 2 else (n := 5)
    return y + n


def binding_loop(x):
    m = 0
    while x > 0 and (m := x) > 2:
        x = m - 1
    return x, m


def binding_several(x):
    if x > 0 and (a := x + 1) > 2 and (b := a * 2) > 6 or (a := 9) > 10:
        return a + b
    return a


def binding_unbound(x):
    if x > 3 and (k := x) > 5:
        pass
    return k


PROGRAMS = [
    *(in_displays, in_ranges, in_ranges_of_tensors, in_lists_of_tensors, in_tests),
    *(in_chains, in_loops, in_texts, in_objects),
    *(fields, numbers_of_python, flags, names, grown, percent, templates, joined),
    *(shown_lists, maybe_none, snapshots, compared, raised, raised_beside_a_text),
    *(methods, not_found, objects, truths, characters),
    *(integers, not_integers, infinite, powers, extremes, extremes_by_key, of_ranges),
    *(of_mapped_ranges, of_lists, any_of_lists),
    *(of_tables, of_local_lists, slices_of_lists),
    *(binding, binding_choice, binding_loop, binding_several, binding_unbound),
]
#: What plain Python cannot run, or gives numbers of another type for.
OF_TENSORS = [in_tensors, rounded, of_vectors, iterators, zipped, unequal, no_step]
OF_TENSORS += [unpacked_wrongly, wrong_spec]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("x", [7, 2, 1])
def test_as_in_python(program: Program, x: int) -> None:
    expected = run(PLAIN, program, x)

    # Keys of dicts are looked up by hash, which eager tensors do not have.
    modes = [CONVERTED, EAGER, SOURCE, INTERPRETED]
    if program is in_texts:
        modes.remove(EAGER)
    for how in modes:
        assert run(how, program, x) == expected, how


@pytest.mark.parametrize("program", OF_TENSORS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("x", [7, 2])
def test_as_with_eager_tensors(program: Program, x: int) -> None:
    expected = run(EAGER, program, x)

    assert run(SOURCE, program, x) == expected
    assert run(INTERPRETED, program, x) == expected


@pytest.mark.parametrize("program", [of_dicts, lambda x: NAMES[x]])
@pytest.mark.parametrize("x", [7, 1, 3])
def test_keys_that_are_tensors(program: Program, x: int) -> None:
    """As plain Python does; eager tensors have no hash."""
    expected = run(PLAIN, program, x)

    assert run(SOURCE, program, x) == expected
    assert run(INTERPRETED, program, x) == expected


@pytest.mark.parametrize(
    "values", [[float("nan"), 1.0], [1.0, float("nan"), 2.0], [2.0, 1.0]]
)
def test_the_first_nan_of_extremes(values: list[float]) -> None:
    def both(xs):
        return str(max(xs)), str(min(xs)), str(max(xs[0], xs[1])), max(xs) >= 1.0

    expected = tuple(map(str, outcome(lambda: (max(values), min(values)))))
    found = tf.function(both)(tf.constant(values))

    assert [
        str(t.numpy().item())
        for t in tf.function(lambda xs: (max(xs), min(xs)))(tf.constant(values))
    ] == list(expected)
    assert str(max(values[0], values[1])) in found[2].numpy().decode()


# --- when the graph runs --------------------------------------------------------------


def show(x):
    for i in range(x):
        if i % 2:
            print(f"{i} is odd", end="; ")
    print(f"done {x}", [1, i], None, sep="|")


def test_printed_texts_appear_when_the_graph_runs(capsys):
    show(5)
    expected = capsys.readouterr().out
    traced = tf.function(show)
    concrete = traced.get_concrete_function(tf.constant(5))

    assert capsys.readouterr().out == ""
    for _ in range(2):
        concrete(tf.constant(5))
        assert capsys.readouterr().out == expected
    interpreter.run(concrete.graph, [tf.constant(5).numpy()])
    assert capsys.readouterr().out == expected


def test_prints_without_texts_show_the_tracing(capsys):
    @tf.function
    def traced(x):
        print("tracing", x.dtype)
        return x

    for _ in range(2):
        traced(tf.constant(1))

    assert capsys.readouterr().out == "tracing <dtype: 'int32'>\n"


def test_a_string_tensor_is_shown_as_a_text():
    def both(s):
        text = "a" if s == "b" else "c"
        return f"{s} {text}"

    assert tf.function(both)(tf.constant("b")).numpy() == both("b").encode()


def test_a_variable_is_shown_as_it_is_then():
    v = tf.Variable(1, name="v")

    @tf.function
    def shown():
        v.assign_add(1)
        before = f"{v} {v:03d}"
        v.assign_add(1)
        return before

    expected = "<tf.Variable 'v:0' shape=() dtype=int32, numpy=2> 002"
    assert shown().numpy().decode() == expected


def test_an_int_that_does_not_fit_is_an_error_when_the_graph_runs():
    concrete = tf.function(lambda x: int(x)).get_concrete_function(
        tf.TensorSpec([], tf.float32)
    )

    assert concrete(tf.constant(2.9)).numpy() == 2
    with pytest.raises(tf.errors.IntegerRangeError, match=r"10000000000 .* int32"):
        concrete(tf.constant(1e10))
    with pytest.raises(tf.errors.IntegerRangeError, match="64 bits"):
        concrete(tf.constant(1e20))
    with pytest.raises(OverflowError, match="infinity"):
        concrete(tf.constant(float("inf")))


def test_unknown_lengths():
    spec = tf.TensorSpec([None], tf.int32)

    def searched(xs):
        return (
            3 in xs,
            max(xs, default=-1),
            sum(xs),
            list(xs),
            max(xs, key=lambda v: -v),
        )

    concrete = tf.function(searched).get_concrete_function(spec)
    for values in ([3, 1, 2], [5]):
        assert outcome(concrete, tf.constant(values)) == outcome(searched, values)

    empty = tf.function(lambda xs: max(xs, default=-1)).get_concrete_function(spec)
    assert empty(tf.constant([], tf.int32)).numpy() == -1


# --- refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "error", "message"),
    [
        (lambda x: x in ["a"], DTypeMismatchError, "do not go together"),
        (lambda x: [abs, len][x](3), StagedStateError, "AG210"),
        (lambda x: int(tf.stack([x])), TypeError, "only a scalar tensor"),
        (lambda x: tuple(range(x)), StagedStateError, "AG210"),
        (lambda x: f"{x}".split(), AttributeError, "no attribute 'split'"),
    ],
)
def test_refused(program: Program, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tf.function(program)(tf.constant(2))


def test_a_tensor_of_unknown_length_is_not_unpacked():
    def parts(xs):
        a, b = xs
        return a

    with pytest.raises(SymbolicTensorError, match=r"test_expressions\.py:\d+: AG303"):
        tf.function(parts).get_concrete_function(tf.TensorSpec([None], tf.int32))


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "staged"])
def test_tensors_take_no_assignment_to_items(wrap):
    def assign(x):
        x[0] = 1
        return x

    with pytest.raises(TypeError, match=r"does not support item assignment.*scatter"):
        wrap(assign)(tf.constant([1, 2]))
