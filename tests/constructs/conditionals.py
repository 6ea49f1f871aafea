"""``if`` in its forms, decided by a tensor."""

from __future__ import annotations

from tests.support import construct


@construct("`if`", (5,), (-5,))
def absolute(x):
    if x < 0:
        x = -x
    return x


@construct("`if … else`", (5,), (-5,))
def sign_of(x):
    if x > 0:
        y = 1
    else:
        y = -1
    return y


@construct("`elif` chain", (30,), (10,), (9,), (7,))
def fizz_buzz(n):
    if n % 15 == 0:
        word = "FizzBuzz"
    elif n % 5 == 0:
        word = "Buzz"
    elif n % 3 == 0:
        word = "Fizz"
    else:
        word = "number"
    return word


@construct("`if` within `if`", (12,), (4,), (-4,), (-30,))
def nested(x):
    y = 0
    if x > 0:
        if x > 10:
            y = 1
        else:
            y = 2
    elif x < -10:
        y = 3
    return y


@construct("variable set in one branch only", (5,), (-5,))
def set_in_one_branch(x):
    if x > 0:
        y = 1
    if x > 0:
        return y
    return 0


@construct("variable set in one branch only, read where it is not", (5,), (-5,))
def unbound_after_branch(x):
    if x > 0:
        y = x
    return y


@construct("`None` in one branch", (5,), (-5,))
def none_in_one_branch(x):
    y = None
    if x > 0:
        y = x
    if y is None:
        return -1
    return y


@construct("`None` in one branch", (5,), (-5,))
def none_as_result(x):
    if x > 0:
        return x * 2
    return None


@construct("`int` in one branch, `float` in the other", (5,), (-5,))
def int_or_float(x):
    if x > 0:
        y = 1
    else:
        y = 0.5
    return y


@construct("`int` in one branch, `float` in the other", (5,), (-5,))
def int_tensor_or_float(x):
    y = x
    if x > 0:
        y = x * 0.5
    return y


@construct("strings as state", (5,), (-5,))
def string_state(x):
    kind = "small"
    if x > 0:
        kind = "large"
    return kind + "!"


@construct("functions as state", (5,), (-5,))
def function_state(x):
    def double(v):
        return v * 2

    def negative(v):
        return -v

    if x > 0:
        result = double(x)
    else:
        result = negative(x)
    return result


@construct("functions chosen by a tensor", (5,), (-5,))
def chosen_function(x):
    f = abs
    if x > 0:
        f = float
    return f(x)


@construct("`chosen is a`: which object a tensor chose", (5,), (-5,))
def which_object(x):
    a, b = [1], [1]
    chosen = a if x > 0 else b
    if chosen is a:
        return 1
    return 2 if chosen is not b else 3


@construct("conditional expression", (5,), (-5,))
def ternary(x):
    return x if x > 0 else -x


@construct("conditional expression within another", (5,), (50,), (-5,))
def nested_ternary(x):
    return 0 if x < 0 else 1 if x < 10 else 2


@construct("conditional expression that guards", (5,), (0,))
def guarded(x):
    return 100 // x if x != 0 else 0


@construct("condition with an effect in its branch", (5,), (-5,))
def pass_in_branch(x):
    if x > 0:
        pass
    else:
        x = 0
    return x


@construct("`return` in a branch", (5,), (-5,))
def early_return(x):
    if x < 0:
        return 0
    x = x + 1
    return x * 2


@construct("`return` in a branch", (5,), (15,), (-5,))
def several_returns(x):
    if x < 0:
        return -1
    if x > 10:
        return 1
    return 0


@construct("`return` without a value", (5,), (-5,))
def bare_return(x):
    if x < 0:
        return
    return x


@construct("results of different structures", (5,), (-5,))
def different_structures(x):
    if x > 0:
        return x, x
    return x


@construct("truth of a number", (5,), (0,))
def truth_of_number(x):
    if x:
        return 1
    return 0


@construct("truth of a number", (5,), (0,))
def not_a_number(x):
    return 1 if not x else 2
