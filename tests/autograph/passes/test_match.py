"""``match`` and ``assert``, on Python values and printed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import autograph
from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests import golden
from tests.corpus_loader import cases
from tests.observe import observe, same_lines

HERE = Path(__file__).parent
#: What patterns did, in order.
LOG: list[Any] = []


@golden.parametrize(HERE / "golden" / "match.test")
def test_printed(case: golden.Case, update_golden: bool) -> None:
    conversion = convert_module(Source(case.source + "\n", "f.py"))

    compile(conversion.text, "converted.py", "exec")
    assert conversion.diagnostics == ()
    case.check(update_golden, out=conversion.text)


class Noted:
    """Compares like a number, and notes it."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __eq__(self, other: object) -> Any:
        LOG.append(("==", other))
        return Truth(self.value == other)

    __hash__ = None  # type: ignore[assignment]

    def __gt__(self, other: int) -> Any:
        LOG.append((">", other))
        return self.value > other


class Truth:
    """A result of a comparison that notes when it is asked."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __bool__(self) -> bool:
        # `x == 1 or x == 2` may be asked once or twice, as in Python's own versions.
        if LOG[-1:] != ["bool"]:
            LOG.append("bool")
        return self.value


class Point:
    """Has properties that note when they are read."""

    __match_args__ = ("x", "y")

    def __init__(self, x: Any, y: Any) -> None:
        self._x, self._y = x, y

    @property
    def x(self) -> Any:
        LOG.append("x")
        return self._x

    @property
    def y(self) -> Any:
        LOG.append("y")
        return self._y


class Wrong:
    """Names attributes that it does not have."""

    __match_args__ = ("a", 1)
    a = 5


class Constants:
    """Values with a name."""

    ONE = 1
    PAIR = (1, 2)


@cases((0,), (1,), (2,), (7,))
def values_are_asked_once(x):
    match Noted(x):
        case 0:
            result = "zero"
        case 1 | Constants.ONE | 2:
            result = "few"
        case n if n > 5:
            result = "many"
    return result


@cases((0, 1), (1, 0), (1, 5), (2, 2), (3, None))
def structures_in_order(x, y):
    match Point(Noted(x), Noted(y)):
        case Point(0, 1) | Point(y=0, x=1):
            result = 1
        case Point(1, y=n) if n > 3:
            result = n.value
        case Point(x=2, y=Noted() as n):
            result = n.value
        case Point(a, b):
            result = a.value, b.value
    return result, list(LOG)


@cases(([1, 2, 3],), ([1, 5, 3],), ((9, 8),), ([],), ("ab",), ({"a": 1, "b": 2},))
def captures_stay_where_the_guard_fails(x):
    first = second = "unset"
    match x:
        case [first, second, *_] if second > first + 1:
            pass
        case [1, second, 4]:
            pass
        case [_, *second] if not second:
            pass
        case {"a": first, **second} if second:
            pass
    return first, second


@cases((1,), (0,))
def unbound_where_nothing_matched(x):
    match x:
        case 1 as n:
            pass
    return n


@cases((1,), (2,))
def unbound_subject(x):
    if x > 1:
        subject_ = x
    match subject_:
        case 2:
            return "two"


@cases((Wrong(),), (5,), ([Wrong()],))
def wrong_patterns_raise(x):
    match x:
        case 5:
            return 5
        case [Wrong(a=5, b=1)] | Wrong(5, _):
            return 6


@cases(({"k": [1, 2]},), ({"k": [1]},), ({"k": 3, "l": 4},), ({},))
def nested_structures(x):
    match x:
        case {"k": [1, 2 | 3 as n]}:
            return n
        case {"k": [n]}:
            return -n
        case {"k": 3, **rest}:
            return rest
        case {}:
            return "empty"


@cases((3, 4), (4, 3), (0, 0))
def subject_that_the_guard_changes(x, y):
    def change():
        nonlocal x
        x += 1
        return x > 4

    match x:
        case 3 if change():
            return "three"
        case 4 if change():
            return "four", x
        case x if x > y:
            return x
    return x, y


@cases((1,), (2,), (3,), (4,), ("x",))
def walrus_in_guards(x):
    match x:
        case int(n) if (m := n * 2) > 6:
            return n, m
        case 1 if not (m := 0):
            return m
        case k if (j := k) == 2:
            return j, m
    return m


@cases((0, 1), (1, 0), (2, 2), (5, 1))
def written_out_subject(x, y):
    match x, Noted(y):
        case 0, 1:
            return "a"
        case 1, _:
            return "b"
        case n, m if n > 4:
            return n, m.value
        case (p, q) as pair:
            return p, q.value, len(pair), list(LOG)


@cases((5, 0), (5, 1), ([], 1))
def part_named_as_its_capture(x, c):
    match measure(x), 3:
        case [z, (3 as y)] if c:
            match z:
                case 10 as y if c:
                    return y
            x = y
        case z:
            x = len(z)
    return z, x


def measure(x):
    return x * 2


@cases(((1, 2),), ((1, 3),), (1,))
def named_values(x):
    match x:
        case Constants.PAIR:
            return "pair"
        case Constants.ONE:
            return "one"
        case [Constants.ONE, n]:
            return n


@cases(([3, 0, 5, "end", 7],), ([3, 1],), ([],))
def jumps_in_cases(xs):
    total = 0
    for x in xs:
        match x:
            case 0:
                continue
            case "end":
                break
            case 1:
                return total
            case n if n > 4:
                total += 10 * n
            case n:
                total += n
    else:
        total = -total
    return total, n


@cases((True,), (1,), (None,), (2,), (1.0,))
def singletons(x):
    match x:
        case True:
            return "True"
        case 1:
            return "one"
        case None | 2:
            return "none"
        case float(y):
            return y


FUNCTIONS = [
    value
    for value in globals().values()
    if isinstance(value, FunctionType) and hasattr(value, "cases")
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_python_values(function: FunctionType) -> None:
    for arguments in function.cases:
        LOG.clear()
        original, log = observe(function, arguments), LOG.copy()
        LOG.clear()
        converted = observe(autograph.convert(function), arguments)

        assert converted.meaning == original.meaning
        assert LOG == log
        assert same_lines(original, converted)


def shadowed_class(int: Any) -> Callable[[Any], Any]:
    def kind(x):
        match x:
            case int(n):
                return n
            case 2:
                return "two"

    return kind


@pytest.mark.parametrize("x", [1, 2, "text"])
def test_a_class_that_hides_a_builtin(x: Any) -> None:
    for cls in (str, float, Point):
        function = shadowed_class(cls)
        assert observe(function, (x,)).meaning == (
            observe(autograph.convert(function), (x,)).meaning
        )


def test_assertions_are_left_out_by_optimization() -> None:
    program = (
        "import autograph\n"
        "from autograph.source.text import Source\n"
        "from autograph.pipeline import convert_module\n"
        "text = 'def f(x):\\n    assert x.missing > 0, x.absent\\n    return 1\\n'\n"
        "names = {}\n"
        "exec(convert_module(Source(text, 'f.py')).code(), names)\n"
        "print(names['f'](0))\n"
    )
    run = subprocess.run(
        [sys.executable, "-O", "-c", program], capture_output=True, text=True
    )

    assert run.stdout == "1\n", run.stderr


def test_a_test_hides_the_frame_of_the_operator() -> None:
    def check(x):
        assert x > 0, x.bit_length()

    with pytest.raises(AssertionError) as caught:
        autograph.convert(check)(-1)

    shown = [entry for entry in caught.traceback if not entry.ishidden(caught)]
    assert Path(shown[-1].path) == Path(__file__)
