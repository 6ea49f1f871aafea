"""Calls: helpers, arguments, decorators, partials, recursion, builtins."""

from __future__ import annotations

import functools
import math
import operator

from tests.corpus_loader import cases


def double(x):
    return x * 2


def step_towards_zero(x, *, size=1):
    if x > 0:
        return x - size
    return x + size


@cases((5,), (0,), (-2,))
def call_helper(x):
    return double(x) + 1


@cases((5,), (-5,))
def call_helper_with_branch(x):
    x = step_towards_zero(x)
    return step_towards_zero(x, size=2)


@cases((5,), (0,))
def recursion(n):
    if n <= 0:
        return 0
    return n + recursion(n - 1)


@cases((6,), (7,))
def is_even(n):
    if n == 0:
        return True
    return is_odd(n - 1)


def is_odd(n):
    if n == 0:
        return False
    return is_even(n - 1)


@cases((2, 2), (1, 3))
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@cases((1,), (1, 2), (1, 2, 3, 4))
def star_parameters(first, *rest):
    total = first
    for value in rest:
        if value > 2:
            total += value
    return total, rest


@cases((3,), (-3,))
def keyword_only(x):
    def scaled(value, *, factor=2, **options):
        if value > 0:
            value *= factor
        return value, sorted(options)

    return scaled(x), scaled(x, factor=5), scaled(x, other=1)


@cases((3, 4), (0, 0))
def unpacked_arguments(a, b):
    def report(x, y, z=0):
        return x * 100 + y * 10 + z

    args = [a, b]
    options = {"z": 5}
    return report(*args), report(*args, **options), report(a, **{"y": b})


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("calling", function.__name__)
        result = function(*args, **kwargs)
        if result is None:
            print("nothing")
        return result

    return wrapper


@logged
def decorated_helper(x):
    if x > 0:
        return x * 3


@cases((2,), (-2,))
def call_decorated(x):
    return decorated_helper(x)


@functools.lru_cache(maxsize=None)  # noqa: UP033
def cached_fibonacci(n):
    if n < 2:
        return n
    return cached_fibonacci(n - 1) + cached_fibonacci(n - 2)


@cases((10,), (1,))
def call_cached(n):
    return cached_fibonacci(n)


@cases((5,), (-5,))
def call_partial(x):
    add = functools.partial(operator.add, 10)
    shrink = functools.partial(step_towards_zero, size=3)
    return add(x), shrink(x)


@cases((2.0,), (0.5,), (-1.0,))
def call_library(x):
    if x > 0:
        return math.sqrt(x) + math.floor(x)
    return math.copysign(1, x)


@cases((3,), (-3,))
def call_result_of_call(x):
    def chooser(positive):
        if positive:
            return lambda v: v + 1
        return lambda v: v - 1

    return chooser(x > 0)(x)


@cases(([3, 1, 2],), ([],))
def method_calls(values):
    copy = values.copy()
    copy.sort()
    copy.append(10)
    text = ", ".join(map(str, copy))
    return text.upper().strip(), copy.index(10)


@cases((3,), (-3,))
def lambda_with_condition(x):
    choose = lambda v: "plus" if v > 0 else "minus"  # noqa: E731
    return choose(x)


@cases(([3, -1, 2],), ([],))
def functions_as_arguments(values):
    ordered = sorted(values, key=lambda v: -v if v > 0 else v)
    positive = list(filter(lambda v: v > 0, values))
    return ordered, positive, list(map(double, values))


@cases((1, 2), (5, 2))
def argument_order(a, b):
    order = []

    def note(value):
        order.append(value)
        return value

    def collect(*args, **kwargs):
        return args, kwargs

    result = collect(note(a), note(b) if a < b else note(-b), key=note(a + b))
    return result, order


@cases((3,), (1,))
def default_arguments(x):
    def remember(value, seen=[]):
        if value > 0:
            seen.append(value)
        return list(seen)

    return remember(x), remember(-x), remember(x + 1)


@cases((4,), (-4,))
def builtins_on_numbers(x):
    return abs(x), int(x), float(x), bool(x), round(x / 3, 2), pow(x, 2), divmod(x, 3)


@cases(([3, 1, 2],), ([5],))
def builtins_on_lists(values):
    return (
        len(values),
        sum(values),
        min(values),
        max(values),
        sorted(values),
        list(reversed(values)),
        any(v > 2 for v in values),
        all(v > 0 for v in values),
    )


@cases((3,), (0,))
def builtins_make_iterators(n):
    pairs = list(zip(range(n), range(n, 2 * n)))
    numbered = list(enumerate(range(n), 1))
    return pairs, numbered, next(iter(range(n)), "empty")


@cases((3,), (-3,))
def type_checks(x):
    return isinstance(x, int), type(x) is int, callable(x), hasattr(x, "real")


@cases((3,), (0,))
def shadowed_builtins(n):
    len = lambda x: "mine"  # noqa: E731
    range = [1, 2]
    total = 0
    for i in range:
        total += i
    return len(n), total


@functools.singledispatch
def described(value):
    return "positive" if value > 0 else "other"


@described.register
def _(value: str):
    return value or "empty"


@described.register(list)
def _(value):
    return [described(item) for item in value] if value else None


@cases((3,), (-3,))
def single_dispatch(x):
    return described(x), described(""), described("a"), described([x, "b"]), described([])


def limited(limit):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            result = function(*args, **kwargs)
            if result > limit:
                result = limit
            return result

        return wrapper

    return decorate


@limited(10)
@limited(limit=5)
def twice_limited(x, *, factor=1):
    return x * factor if x > 0 else 0


@cases((3,), (30,), (-1,))
def decorators_with_arguments(x):
    @limited(7)
    def inner(value):
        return value * 2

    return twice_limited(x), twice_limited(x, factor=2), inner(x), inner.__name__


@cases(([3, -1, 2],), ([5],))
def callbacks_of_libraries(values):
    largest = functools.reduce(lambda a, b: a if a > b else b, values)
    ordered = sorted(values, key=functools.cmp_to_key(lambda a, b: -1 if a < b else 1))
    return largest, ordered, list(map(twice_limited, values))


@cases((3,), (-3,))
def several_lambdas_on_a_line(x):
    first, second = (lambda v: v if v > 0 else 0), (lambda v: -v if v > 0 else v)
    return first(x), second(x), (lambda v, *rest, k=2: v if v > k else rest)(x, 1)


@cases((3,), (-3,), (0,))
def computed_default_values(x):
    def inner(a=x if x > 0 else -x, *, b=x or 7, c=(1 < x < 5)):
        return a, b, c

    return inner(), inner(1, b=2), (lambda v=x and 1: v)()


@cases((3,), (0,))
def bound_and_unbound_methods(n):
    text = "a-b-c"
    split, join = text.split, str.join
    parts = split("-", n) if n else split("-")
    return parts, join("+", parts), list(map(str.upper, parts))


@cases((3,), (-3,))
def calls_of_calls(x):
    def adder(n):
        if n > 0:
            return lambda v: v + n
        return lambda v: v - n

    return adder(x)(1), [f(2) for f in (adder(1), adder(-1))], (lambda: adder)()(x)(0)
