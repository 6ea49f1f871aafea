"""What Python decides by truth, identity or class, where the value is a tensor."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import pytest

import runtime as tf
from autograph.pipeline import convert_module
from autograph.source.text import Source
from runtime.core.errors import InvalidArgumentError


def staged(program, *values) -> Any:
    found = tf.function(program)(*map(tf.constant, values))
    return found.numpy().item() if hasattr(found, "numpy") else found


# --- is True --------------------------------------------------------------------------


def is_true(b):
    return 1 if b is True else 2


def is_not_false(b):
    return 1 if b is not False else 2


def until_done(n):
    done, i = False, 0
    while True:
        i += 1
        if i >= n:
            done = True
        if done is True:
            return i


@pytest.mark.parametrize("program", [is_true, is_not_false])
@pytest.mark.parametrize("value", [True, False, 0, 1, 3])
def test_identity_with_a_bool_is_asked_in_the_graph(program, value) -> None:
    assert staged(program, value) == program(value)


def test_a_loop_ends_by_such_a_test() -> None:
    assert staged(until_done, 3) == until_done(3)


def test_a_vector_of_bools_is_no_bool() -> None:
    assert staged(is_true, [True, True]) == 2


@pytest.mark.parametrize("a", [True, False])
@pytest.mark.parametrize("b", [0, 1, 5])
def test_a_bool_or_an_int_compares_as_a_number(a, b) -> None:
    def both(a, b):
        return (a and b) == 0, (a or b) < 2, (a and b) + 1 != 1

    found = tf.function(both)(tf.constant(a), tf.constant(b))
    assert tuple(part.numpy().item() for part in found) == both(a, b)


# --- if xs ----------------------------------------------------------------------------


def has_items(xs):
    return "some" if xs else "none"


def has_no_items(xs):
    return not xs


def in_pairs(xs):
    pairs = 0
    while xs:
        pairs += 1
        xs = xs[2:]
    return pairs


def is_empty_grid(grid):
    if not grid or not grid[0]:
        return True
    return False


@pytest.mark.parametrize("program", [has_no_items, in_pairs])
@pytest.mark.parametrize("items", [[], [0, 0], [3, 1, 2, 4]])
def test_a_vector_of_numbers_is_true_unless_it_is_empty(program, items) -> None:
    vector = np.array(items, np.int32)
    assert staged(program, vector) == program(items)
    assert program(tf.constant(vector)) == program(items)


@pytest.mark.parametrize("start", [0, 2, 4])
def test_so_is_one_of_a_length_that_a_tensor_decides(start) -> None:
    def rest(xs, start):
        return 1 if xs[start:] else 0

    items = [0, 0, 0, 0]
    assert staged(rest, items, start) == rest(items, start)


def test_one_element_alone_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"len\(xs\) != 0.*reduce_any"):
        bool(tf.constant([0]))
    with pytest.raises(InvalidArgumentError, match=r"len\(xs\) != 0.*reduce_any"):
        staged(has_no_items, [7])
    with pytest.raises(InvalidArgumentError, match=r"len\(xs\) != 0.*reduce_any"):
        staged(lambda xs, i: not xs[i:], [7, 8], 1)


@pytest.mark.parametrize("grid", [[[1, 0], [0, 1]], [[0, 0, 0]]])
def test_a_tensor_of_more_dimensions_is_a_list_of_rows(grid) -> None:
    assert staged(is_empty_grid, grid) == is_empty_grid(grid) is False
    assert is_empty_grid(tf.constant(grid)) is False


def test_vectors_of_bools_stay_ambiguous() -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([True, False]))
    with pytest.raises(InvalidArgumentError, match="ambiguous"):
        staged(lambda xs: not (xs == xs), [1, 2])


@pytest.mark.parametrize("text", ["", "text"])
def test_a_string_is_true_unless_it_is_empty(text) -> None:
    assert staged(has_no_items, text) == (not text)


# --- isinstance -----------------------------------------------------------------------


def classes_of(value):
    kinds = (int, float, bool, complex, str, list, numbers.Integral, (int, float))
    return [1 if isinstance(value, kind) else 0 for kind in kinds]


def kind_of(value):
    match value:
        case bool():
            return 1
        case int(n) if n > 2:
            return 2
        case float():
            return 3
        case str():
            return 4
    return 5


@pytest.mark.parametrize("value", [True, 3, 1, 2.5, 1j, "text"])
def test_a_scalar_is_an_instance_of_what_it_stands_for(value) -> None:
    found = tf.function(classes_of)(tf.constant(value))
    assert [int(answer) for answer in found] == classes_of(value)
    assert staged(kind_of, value) == kind_of(value)


def test_a_tensor_stays_one() -> None:
    @tf.function
    def asked(x):
        return tf.is_tensor(x), isinstance(x + 1, tf.Tensor)

    assert all(asked(tf.constant(1)))


def test_who_tells_tensors_from_numbers_gets_no_numbers() -> None:
    def by_is_tensor(x):
        if tf.is_tensor(x):
            return 1
        return 2 if isinstance(x, int) else 3

    def by_class(x):
        if isinstance(x, int):
            return 2
        return 1 if isinstance(x, (tf.Tensor, list)) else 3

    assert staged(by_is_tensor, 5) == staged(by_class, 5) == 1
    assert by_is_tensor(5) == by_class(5) == 2


def test_what_asks_for_tensors_is_known_by_what_it_is() -> None:
    ask, kinds = tf.is_tensor, tf.Tensor  # the library's, under other names

    def by_function(x):
        if isinstance(x, int):
            return 2
        return 1 if ask(x) else 3

    def by_class(x):
        if isinstance(x, int):
            return 2
        return 1 if isinstance(x, kinds) else 3

    assert staged(by_function, 5) == staged(by_class, 5) == 1
    assert by_function(5) == by_class(5) == 2


def test_who_asks_nothing_of_a_library_gets_numbers() -> None:
    class FancyTensor:
        """None of the library's."""

    def is_tensor(x):
        return hasattr(x, "entries")

    def by_function(x):
        if is_tensor(x):
            return 1
        return 2 if isinstance(x, int) else 3

    def by_class(x):
        if isinstance(x, FancyTensor):
            return 1
        return 2 if isinstance(x, int) else 3

    assert staged(by_function, 5) == staged(by_class, 5) == 2
    assert by_function(5) == by_class(5) == 2


ASKING = """
from runtime import is_tensor as ask
try:
    import missing
except ImportError:
    pass

def is_tensor(x):
    return False

def ours(x):
    if isinstance(x, int):
        return 2
    return 1 if ask(x) else 3

def theirs(x):
    if isinstance(x, int):
        return 2
    return 1 if is_tensor(x) or missing.is_tensor(x) else 3
"""


def test_a_converted_module_asks_by_what_it_imports() -> None:
    names: dict[str, Any] = {}
    exec(convert_module(Source(ASKING, "asking.py")).text, names)

    assert staged(names["ours"], 5) == 1
    assert staged(names["theirs"], 5) == 2


def test_a_vector_is_no_number() -> None:
    assert staged(lambda xs: 1 if isinstance(xs, int) else 2, [1, 2]) == 2


# --- list + tensor --------------------------------------------------------------------


@pytest.mark.parametrize("run", [lambda f: f, tf.function])
@pytest.mark.parametrize("items", [[], [1]])
def test_a_list_is_not_broadcast_over_a_vector(run, items) -> None:
    for join in (lambda xs: items + xs, lambda xs: xs + items):
        with pytest.raises(InvalidArgumentError, match=r"list\(tensor\).*tf.concat"):
            run(join)(tf.constant([1, 2]))


def test_a_list_and_a_vector_of_one_length_are_added() -> None:
    total = tf.function(lambda xs: [1, 2] + xs)(tf.constant([3, 4]))
    assert total.numpy().tolist() == [4, 6]


def test_a_length_that_a_tensor_decides_is_checked() -> None:
    rest = tf.function(lambda xs, i: [1, 2] + xs[i:])

    assert rest(tf.constant([1, 2, 3]), tf.constant(1)).numpy().tolist() == [3, 5]
    with pytest.raises(InvalidArgumentError, match="shape"):
        rest(tf.constant([1, 2, 3]), tf.constant(2))


def test_a_list_that_a_tensor_fills_is_joined_explicitly() -> None:
    @tf.function
    def program(xs):
        found = []
        for x in xs:
            if x > 1:
                found.append(x)
        return found + xs

    with pytest.raises(InvalidArgumentError, match=r"list\(tensor\)"):
        program(tf.constant([1, 2]))


# --- text -----------------------------------------------------------------------------


def text_of(program, *values) -> Any:
    found = tf.function(program)(*map(tf.constant, values))
    return found.numpy().decode()


def shown(x):
    return f"{x}|{x!r}|{x:>6}|" + format(x) + str([x]) + "%s" % x  # noqa: UP031


@pytest.mark.parametrize("value", [42, 0.1, True, "cat"])
def test_a_scalar_is_shown_as_what_it_stands_for(value) -> None:
    assert text_of(shown, value) == shown(value)


def test_the_digits_of_a_number() -> None:
    def is_palindrome(n):
        return str(n) == str(n)[::-1]

    def digit_sum(n):
        return sum(int(d) for d in str(n))

    for number in (121, 123):
        assert staged(is_palindrome, number) == is_palindrome(number)
        assert staged(digit_sum, number) == digit_sum(number)


JOINED = [
    lambda n: "".join(str(i) for i in range(n)),
    lambda n: ",".join(str(i) for i in range(n) if i % 2 == 0),
    lambda n: "-".join(map(str, range(n))),
]


@pytest.mark.parametrize("program", JOINED)
@pytest.mark.parametrize("count", [0, 5])
def test_a_generator_is_joined(program, count) -> None:
    assert text_of(program, count) == program(count)


TEXTS = [
    lambda s: s.upper() + s.strip()[::-1],
    lambda s: "".join(sorted(s)),
    lambda s: "".join(reversed(s)),
    lambda s: "-".join(s),
    lambda s: s * 2,
]
ASKED = [
    lambda s: s.startswith("b"),
    lambda s: s.count("a"),
    lambda s: len(s),
    lambda s: "an" in s,
    lambda s: sum(1 for c in s if c in "aeiou"),
    lambda s: s == s[::-1],
]


@pytest.mark.parametrize("text", ["banana", "", "äbä"])
@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_scalar_string_has_the_methods_of_a_text(number, text) -> None:
    assert text_of(TEXTS[number], text) == TEXTS[number](text)


@pytest.mark.parametrize("text", ["banana", "äbä"])
@pytest.mark.parametrize("number", range(len(ASKED)))
def test_a_scalar_string_is_asked_as_a_text(number, text) -> None:
    assert staged(ASKED[number], text) == ASKED[number](text)


def test_what_a_text_cannot_do_names_the_operations() -> None:
    with pytest.raises(AttributeError, match=r"tf\.strings\.split"):
        staged(lambda s: s.split(), "a b")


def test_printing_a_tensor_shows_the_trace(capsys) -> None:
    tf.function(lambda s: print(s))(tf.constant("cat"))

    assert 'Tensor("s' in capsys.readouterr().out
