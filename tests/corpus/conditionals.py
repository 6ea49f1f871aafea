"""``if``, ``elif``, ``else`` and conditional expressions."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases((5,), (-5,), (0,))
def absolute(x):
    if x < 0:
        x = -x
    return x


@cases((3,), (30,), (10,))
def clip(x):
    if x > 10:
        x = 10
    return x


@cases((1,), (-1,), (0,))
def sign(x):
    if x > 0:
        result = 1
    elif x < 0:
        result = -1
    else:
        result = 0
    return result


@cases((95,), (85,), (72,), (61,), (12,))
def grade(score):
    if score >= 90:
        letter = "A"
    elif score >= 80:
        letter = "B"
    elif score >= 70:
        letter = "C"
    elif score >= 60:
        letter = "D"
    else:
        letter = "F"
    return letter


@cases((4,), (7,), (0,))
def parity_steps(n):
    # Half of an even number, or the next odd step.
    if n % 2 == 0:
        n = n // 2
    else:
        n = 3 * n + 1
    return n


@cases((5,), (-5,))
def set_in_one_branch(x):
    if x > 0:
        y = x * 2
    return y


@cases((5,), (-5,))
def none_then_set(x):
    y = None
    if x > 0:
        y = x + 1
    return y


@cases((5,), (-5,))
def int_or_float(x):
    if x > 0:
        y = 1
    else:
        y = 0.5
    return y


@cases((5,), (-5,))
def string_state(x):
    label = "small"
    if x > 3:
        label = "large"
    return label


@cases((5,), (-5,))
def function_state(x):
    if x > 0:
        scale = abs
    else:
        scale = str
    return scale(x)


@cases((2, 3), (3, 2), (2, 2))
def swap_if_greater(a, b):
    if a > b:
        a, b = b, a
    return a, b


@cases((1, 2, 3), (3, 2, 1), (2, 3, 1), (2, 2, 2))
def largest_of_three(a, b, c):
    if a >= b:
        if a >= c:
            best = a
        else:
            best = c
    else:
        if b >= c:
            best = b
        else:
            best = c
    return best


@cases((0,), (1,), (12,), (13,), (19,), (20,), (64,), (65,))
def ticket_price(age):
    price = 10
    if age < 13:
        price = price // 2
        if age < 1:
            price = 0
    elif age < 20:
        price -= 2
    elif age >= 65:
        price -= 4
    return price


@cases((5,), (15,), (-5,))
def ternary(x):
    return x if x > 10 else 10


@cases((5,), (15,), (-5,))
def nested_ternary(x):
    return "big" if x > 10 else "small" if x > 0 else "negative"


@cases((1,), (50,), (150,))
def ternary_in_expression(x):
    price = x * (1 if x < 10 else 2) + (5 if x < 100 else 0)
    return price


@cases((2,), (-2,))
def ternary_arguments(x):
    return max(x if x > 0 else -x, 1 if x > 0 else 3)


@cases((0,), (1,), (-1,))
def truthiness(x):
    if x:
        return "something"
    return "nothing"


@cases(([],), ([1],), ("",), ("a",), (None,), ({},))
def truth_of_containers(items):
    if not items:
        result = "empty"
    else:
        result = "full"
    return result


@cases((5, False), (5, True), (-5, True))
def flag_argument(x, verbose):
    if verbose:
        print("x is", x)
    if x > 0:
        x = x - 1
        if verbose:
            print("reduced to", x)
    return x


@cases((None,), (3,))
def default_for_none(x):
    if x is None:
        x = 42
    return x + 1


@cases((3,), ("a",), (2.5,))
def by_type(value):
    if isinstance(value, str):
        return value.upper()
    elif isinstance(value, int):
        return value + 1
    return value


@cases((1,), (2,), (3,), (4,))
def branches_that_do_nothing(x):
    if x == 1:
        pass
    elif x == 2:
        x = 20
    else:
        if x == 3:
            pass
    return x


@cases((1,), (-1,))
def annotated_in_branch(x: int) -> int:
    if x > 0:
        y: int = x * 2
    else:
        y: int = 0
    z: int
    z = y
    return z


@cases((5,), (-5,))
def several_variables(x):
    a = b = c = 0
    if x > 0:
        a = x
        b = a + 1
        c = b * a
    else:
        b -= 1
    return a, b, c


@cases((3,), (-3,))
def condition_with_effects(x):
    seen = []

    def check(value):
        seen.append(value)
        return value > 0

    if check(x):
        seen.append("positive")
    elif check(-x):
        seen.append("negative")
    return seen


@cases((2,), (-2,))
def temporary_in_branch(x):
    if x > 0:
        t = x + 1
        x = t * t
    else:
        t = x - 1
        x = t * 3
    return x


@cases((5,), (50,), (500,))
def test_is_an_expression(x):
    if (x + 1) * 2 > 100 and not x % 5:
        return "multiple"
    return "other"


@cases((1,), (0,))
def comments_and_blanks(x):
    # Before anything.
    y = 0  # start

    if x:  # the test
        # Inside the branch.
        y = 1

        y += 1  # and once more

    # After it.
    return y


@cases((0,), (5,), (-5,))
def conditional_docstring(x):
    """Return a pair.

    The docstring stays the first statement.
    """
    if x > 0:
        return x, "positive"
    if x < 0:
        return -x, "negative"
    return 0, "zero"
