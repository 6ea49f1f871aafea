"""Values that are None on one path: plain Python, eager and staged give the same."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import StagedStateError, SymbolicTensorError
from runtime.core.types import nest
from runtime.engines import interpreter


def results(fn: Any, *args: Any) -> dict[str, Any]:
    """What a function gives in each way to run it; of exceptions their type."""
    tensors = [tf.constant(arg) for arg in args]
    staged = tf.function(fn)
    concrete = staged.get_concrete_function(*tensors)
    arrays = [tensor.numpy() for tensor in tensors]

    def interpreted() -> Any:
        values = interpreter.run(concrete.graph, arrays)
        return concrete._trace.results.pack([tf.constant(value) for value in values])

    ways = {
        "plain": lambda: fn(*args),
        "eager": lambda: fn(*tensors),
        "converted": lambda: tf.autograph.to_graph(fn)(*args),
        "source": lambda: staged(*tensors),
        "interpreted": interpreted,
    }
    return {way: _outcome(run) for way, run in ways.items()}


def _outcome(run: Any) -> Any:
    try:
        return nest.map_structure(_value, run())
    except (TypeError, AttributeError, UnboundLocalError) as error:
        return type(error)


def _value(leaf: Any) -> Any:
    value = np.asarray(leaf).tolist() if leaf is not None else None
    return value.decode() if isinstance(value, bytes) else value


def check(fn: Any, *args: Any) -> Any:
    """The result, which is the same in all ways."""
    found = results(fn, *args)
    expected = found["plain"]
    assert all(repr(value) == repr(expected) for value in found.values()), found
    return expected


# --- branches -------------------------------------------------------------------------


def set_in_a_branch(x):
    y = None
    if x > 0:
        y = x * 2
    return y


def set_in_both_or_not(x):
    y = None
    if x > 5:
        y = x
    elif x > 0:
        y = x * 2
    return y is None, y is not None, y == 4, y != 4, y == None, None is y  # noqa: E711


def default_in_the_end(x):
    y = None
    if x > 0:
        y = x
    if y is None:
        y = -1
    return y + 1


def chosen(x):
    y = x if x > 0 else None
    return y + 1 if y is not None else None


def one_of_two(x):
    a = b = None
    if x > 0:
        a = x
    else:
        b = x
    return a, b, a or b, a and 1


def used_unchecked(x):
    y = None
    if x > 0:
        y = x
    return y + 1


def numbers(x):
    y = None
    if x > 3:
        y = 3
    elif x < -3:
        y = 4
    return y


def back_to_none(x):
    y = x
    if x > 0:
        y = None
    return y is None


def truth(x):
    y = None
    if x > 0:
        y = x - 1
    r = 1 if y else 0
    return r, y or 7, not y, bool(y), y is None and x < 0


def early(x):
    if x > 0:
        return x


def early_none(x):
    if x > 3:
        return None
    if x > 0:
        return x
    return -x


def calls(x):
    y = early(x)
    z = early(-x)
    if y is None and z is None:
        return 0
    return y if z is None else z


def is_none_type(x):
    y = early(x)
    return isinstance(y, type(None))


def same_text(x):
    mode = None
    if x > 0:
        mode = "fast"
    return 1 if mode == "fast" else 2


def both_optional(x):
    a = early(x)
    b = early(x - 1)
    return a == b, a != b, a is None and b is None


@pytest.mark.parametrize("x", [-7, 0, 1, 2, 7])
@pytest.mark.parametrize(
    "fn",
    [
        set_in_a_branch,
        set_in_both_or_not,
        default_in_the_end,
        chosen,
        one_of_two,
        used_unchecked,
        numbers,
        back_to_none,
        truth,
        early,
        early_none,
        calls,
        is_none_type,
        same_text,
        both_optional,
    ],
    ids=lambda fn: fn.__name__,
)
def test_branches(fn: Any, x: int) -> None:
    check(fn, x)


# --- items of lists -------------------------------------------------------------------


def optional_items(xs):
    found = []
    for x in xs:
        found.append(early(x))
    return found, len(found)


def none_or_items(xs):
    found = []
    for x in xs:
        if x > 1:
            found.append(x)
        else:
            found.append(None)
    count = 0
    for y in found:
        if y is None:
            count += 1
    return found, count, found[0] is None


def pairs_with_none(xs):
    found = []
    for x in xs:
        found.append((early(x), x))
    total = 0
    for y, x in found:
        total += x if y is None else y * 2
    return total, found


def begun_with_none(xs):
    found = [None, 1]
    for x in xs:
        if x > 1:
            found.append(x)
    return found


def list_or_none(xs):
    found = None
    for x in xs:
        if x > 1:
            if found is None:
                found = []
            found = [*found, x]
    return found


def list_or_none_that_grows(xs):
    found = None
    for x in xs:
        if x > 1:
            if found is None:
                found = []
            found.append(x)
    return found


def not_none(xs):
    ys = [early(x) for x in xs]
    return [y for y in ys if y is not None]


@pytest.mark.parametrize("xs", [[1, 3, 2], [-2, -2], [5, -1]], ids=str)
@pytest.mark.parametrize(
    "fn",
    [
        optional_items,
        none_or_items,
        pairs_with_none,
        begun_with_none,
        list_or_none,
        not_none,
    ],
    ids=lambda fn: fn.__name__,
)
def test_lists(fn: Any, xs: list[int]) -> None:
    check(fn, xs)


def test_a_list_that_is_new_on_one_path_cannot_grow() -> None:
    with pytest.raises(StagedStateError, match="AG210"):
        tf.function(list_or_none_that_grows)(tf.constant([1, 3]))


# --- patterns -------------------------------------------------------------------------


def case_none(x):
    match early(x):
        case None:
            return -1
        case 2:
            return 22
        case y:
            return y


def case_none_inside(x):
    pair = early(x), x
    match pair:
        case (None, _):
            return -1
        case (2, z):
            return z
        case (z, _):
            return z + 1


def case_a_pair(x):
    pair = (x, x * 2) if x > 0 else None
    match pair:
        case (a, b):
            return a + b
        case _:
            return -1


def case_none_or_zero(x):
    match early(x - 1):
        case None | 1:
            return -1
        case y:
            return y


@pytest.mark.parametrize("x", [-7, 1, 2, 7])
@pytest.mark.parametrize(
    "fn",
    [case_none, case_none_or_zero],
    ids=lambda fn: fn.__name__,
)
def test_patterns(fn: Any, x: int) -> None:
    check(fn, x)


@pytest.mark.parametrize("fn", [case_none_inside, case_a_pair])
def test_patterns_that_look_into_a_value_are_refused(fn: Any) -> None:
    with pytest.raises(StagedStateError, match=r"AG209.*matched by a pattern"):
        tf.function(fn)(tf.constant(1))


# --- texts ----------------------------------------------------------------------------


def shown(x):
    y = early(x)
    return f"y={y}"


def contained(x):
    y = early(x)
    return y in (1, 2), y in [None, 3], y not in (2, None)


@pytest.mark.parametrize("x", [-7, 1, 2, 7])
@pytest.mark.parametrize("fn", [shown, contained])
def test_texts_and_members(fn: Any, x: int) -> None:
    found = results(fn, x)

    assert found["source"] == found["interpreted"] == found["plain"]


# --- loops ----------------------------------------------------------------------------


def best_so_far(xs):
    best = None
    for x in xs:
        if best is None or x > best:
            best = x
    return best


def best_with_position(xs):
    best = None
    for i, x in enumerate(xs):
        if best is None or x > best[0]:
            best = (x, i)
    return best


def position_aside(xs):
    best, where = None, None
    for i, x in enumerate(xs):
        if not (best is not None and best >= x):
            best, where = x, i
    return {"best": best, "where": where}


def first_above(xs):
    for x in xs:
        if x > 2:
            return x


def first_or_none(xs):
    for x in xs:
        if x > 2:
            return x
        if x < 0:
            return None
    return 0


def better(best, x):
    if best is None or x > best:
        return x
    return best


def by_a_helper(xs):
    best = None
    for x in xs:
        best = better(best, x)
    return best


def previous(xs):
    last, changes = None, 0
    for x in xs:
        if last is not None and last != x:
            changes += 1
        last = x
    return changes, last


def count_down(xs):
    left = 5
    steps = 0
    while left is not None:
        left = left - 2 if left > 2 else None
        steps += 1
    return steps + len(xs)


def pair_of_optionals(xs):
    low, high = pair = (None, None)
    for x in xs:
        low = x if low is None or x < low else low
        high = x if high is None or x > high else high
        pair = low, high
    return pair


def maybe_unbound(xs):
    for x in xs:
        if x > 2:
            y = None
        elif x > 0:
            y = x
    return y is None


class Tracker:
    def __init__(self):
        self.best = None


def attribute(xs):
    tracker = Tracker()
    for x in xs:
        if tracker.best is None or x > tracker.best:
            tracker.best = x
    return tracker.best


def until_none(xs):
    total = 0
    item = None
    for x in xs:
        item = x if x > 0 else None
        if item is None:
            break
        total += item
    return total, item


@pytest.mark.parametrize("xs", [[1, 3, 2], [2, 2], [-1, 5], [0, 0, 1], [4]], ids=str)
@pytest.mark.parametrize(
    "fn",
    [
        best_so_far,
        best_with_position,
        position_aside,
        first_above,
        first_or_none,
        by_a_helper,
        previous,
        count_down,
        pair_of_optionals,
        maybe_unbound,
        attribute,
        until_none,
    ],
    ids=lambda fn: fn.__name__,
)
def test_loops(fn: Any, xs: list[int]) -> None:
    check(fn, xs)


@pytest.mark.parametrize(
    "fn", [best_so_far, best_with_position, first_above, by_a_helper, attribute]
)
def test_loops_over_nothing(fn: Any) -> None:
    empty = tf.constant([], tf.int32)

    assert tf.function(fn)(empty) is None


# --- structures -----------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: object
    y: object


def a_tuple(x):
    pair = None
    if x > 0:
        pair = (x, x * 2)
    if pair is not None:
        a, b = pair
        return a + b
    return -1


def an_item(x):
    pair = None
    if x > 0:
        pair = (x, x * 2)
    return pair[1]


def items(x):
    pair = None
    if x > 0:
        pair = [x, x * 2]
    a, b = pair
    return a - b, len(pair)


def an_attribute(x):
    point = None
    if x > 0:
        point = Point(x, 1)
    return point.x + point.y


def an_attribute_if_there(x):
    point = Point(x, 0) if x > 0 else None
    return point.x if point is not None else 0


def keys(x):
    found = None
    if x > 3:
        found = {"a": x, "b": 1}
    elif x > 0:
        found = {"a": 0, "b": x}
    return found["a"] if found else 100


def loop_over_it(x):
    numbers = None
    if x > 0:
        numbers = [x, 2, 3]
    total = 0
    if numbers:
        for n in numbers:
            if n > 6:
                break
            total += n
    return total


def optional_inside(x):
    pair = (x, None)
    if x > 0:
        pair = (x, x)
    return pair


def returned(x):
    return (x, {"y": x}) if x > 0 else None


@pytest.mark.parametrize("x", [-7, 2, 7])
@pytest.mark.parametrize(
    "fn",
    [
        a_tuple,
        an_item,
        items,
        an_attribute,
        an_attribute_if_there,
        keys,
        loop_over_it,
        optional_inside,
        returned,
    ],
    ids=lambda fn: fn.__name__,
)
def test_structures(fn: Any, x: int) -> None:
    check(fn, x)


def double(x):
    return x * 2 if x > 6 else x


def a_function(x):
    act = None
    if x > 5:
        act = double
    if act is not None:
        x = act(x)
    return x


@pytest.mark.parametrize("x", [2, 6, 7])
def test_a_function_or_none(x: int) -> None:
    check(a_function, x)


# --- messages -------------------------------------------------------------------------


def test_the_error_of_none_names_the_variable_and_the_line() -> None:
    @tf.function
    def f(x):
        best = None
        if x > 0:
            note = x
            best = x
        else:
            note = 0
        return best + note

    assert f(tf.constant(2)).numpy() == 4
    with pytest.raises(TypeError, match="unsupported operand: 'best' is None"):
        f(tf.constant(-2))


def test_what_nobody_reads_is_not_checked() -> None:
    @tf.function
    def f(x):
        best = None
        if x > 0:
            best = x
        kept = [best]
        return x + len(kept)

    assert f(tf.constant(-2)).numpy() == -1


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda pair: isinstance(pair, tuple), "asked for its type"),
        (lambda pair: pair.append(1), "changed"),
        (lambda pair: pair == [1], "compared"),
    ],
)
def test_uses_that_no_graph_can_carry_are_refused(use: Any, text: str) -> None:
    @tf.function
    def f(x):
        pair = None
        if x > 0:
            pair = [x, 1]
        return use(pair)

    with pytest.raises(StagedStateError, match=f"AG209: .*was {text}"):
        f(tf.constant(1))


def scaled(x, scale=None):
    if scale is None:
        scale = 10
    return x * scale


def test_an_optional_for_a_parameter_with_a_default_of_none_is_refused() -> None:
    @tf.function
    def f(x):
        scale = None
        if x > 0:
            scale = 2
        return scaled(x, scale)

    with pytest.raises(SymbolicTensorError, match=r"test_optional\.py:\d+: AG209"):
        f(tf.constant(1))


def test_none_in_a_branch_and_two_kinds_beside_it_is_refused() -> None:
    @tf.function
    def f(x):
        y = None
        if x > 0:
            y = (x, x)
        if x > 1:
            y = x
        return y

    with pytest.raises(StagedStateError, match="AG201"):
        f(tf.constant(1))


# --- signatures -----------------------------------------------------------------------


def test_structured_outputs() -> None:
    concrete = tf.function(returned).get_concrete_function(tf.constant(1))

    assert "None or" in repr(concrete.structured_outputs)
    assert "None" in str(concrete)
    assert len(concrete.graph.nodes) == len(concrete.graph.nodes)


def test_a_concrete_function_within_a_graph() -> None:
    concrete = tf.function(early).get_concrete_function(tf.constant(1))

    @tf.function
    def f(x):
        y = concrete(x)
        return -1 if y is None else y

    assert f(tf.constant(3)).numpy() == 3
    assert f(tf.constant(-3)).numpy() == -1


class Row:
    def __init__(self, items):
        self.items = items


@pytest.mark.parametrize("loops", [False, True])
def test_state_within_what_may_be_none_is_not_read_before_the_test(loops):
    def program(n):
        row, other = Row([4]), None
        if n < 1:
            other = row
        if loops:
            for _ in range(n + 1):
                if other is not None:
                    other.items[0] = 1
        elif other is not None:
            other.items[0] = 1
        return row.items[0]

    staged = tf.function(program)

    assert [int(staged(tf.constant(n))) for n in (0, 2)] == [1, 4]


def test_a_set_of_a_graph_that_may_be_none_is_not_changed():
    def program(n):
        seen, last = set(), None
        for _ in range(n):
            if last is not None:
                last.add(n + 1)
            seen.add(n)
            last = seen
        return sum(seen)

    with pytest.raises(StagedStateError, match="AG210: a list or dict that a tensor"):
        tf.function(program)(tf.constant(2))


def test_a_list_within_a_value_that_an_iteration_may_begin_with_is_not_changed():
    @dataclasses.dataclass
    class Point:
        items: list

    def program(n):
        point, last = Point([5]), None
        for _ in range(n):
            if last is not None:
                last.items.append(7)
            last = point
        return point.items

    with pytest.raises(StagedStateError, match="AG210"):
        tf.function(program)(tf.constant(2))
