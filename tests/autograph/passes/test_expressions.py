"""Expressions that a tensor may decide: printed, and exact on Python values."""

# ruff: noqa: F524, RUF021, UP031, UP032
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

import autograph
from autograph.pipeline import convert_module, convert_tree
from autograph.source.text import Source
from tests import golden
from tests.corpus_loader import cases
from tests.observe import observe, same_lines

HERE = Path(__file__).parent
TABLE = [10, 20, 30]


@golden.parametrize(HERE / "golden" / "expressions.test")
def test_printed(case: golden.Case, update_golden: bool) -> None:
    conversion = convert_module(Source(case.source + "\n", "f.py"))

    compile(conversion.text, "converted.py", "exec")
    assert conversion.diagnostics == ()
    case.check(update_golden, out=conversion.text)


def test_a_lambda_that_looks_at_its_frame_stands_as_it_is() -> None:
    show = lambda y: sorted(locals()) if y else []  # noqa: E731

    _, conversion = convert_tree(show)

    assert conversion.tree is conversion.original


def test_what_looks_at_its_frame_inside_a_function_stands_as_it_is() -> None:
    def looks(x: Any) -> Any:
        items = (sorted(locals()) if y else x for y in [x])
        return (lambda y: sorted(locals()) if y else x)(x), next(items)[-1:]

    assert autograph.convert(looks)(1) == looks(1) == (["x", "y"], ["y"])


class Said:
    """Says when it is formatted, compared or asked what it contains."""

    def __init__(self, name: str, log: list[str]) -> None:
        self.name = name
        self.log = log

    def __format__(self, spec: str) -> str:
        self.log.append(f"format {self.name} {spec!r}")
        if spec == "bad":
            raise ValueError("a bad spec")
        return f"<{self.name}{spec}>"

    def __eq__(self, other: object) -> bool:
        self.log.append(f"{self.name} ==")
        return isinstance(other, Said) and self.name == other.name

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, item: Any) -> Any:
        self.log.append(f"{item} in {self.name}")
        return item


class OldStyle:
    """A container that Python only iterates."""

    def __getitem__(self, index: int) -> int:
        if index > 3:
            raise IndexError
        return index * 2


def said(log: list[str], name: str) -> Said:
    log.append(f"evaluate {name}")
    return Said(name, log)


@cases(([],))
def order_of_fields(log):
    text = f"{said(log, 'a')} {said(log, 'b'):>{len(log)}} {log!r:>3} {{}}"
    return text, log


@cases(([],))
def error_between_fields(log):
    try:
        return f"{said(log, 'a'):bad} {said(log, 'b')}"
    except ValueError as error:
        return str(error), log


@cases(([1],), ([],))
def later_field_changes_an_earlier_one(items):
    return f"{items} {items.append(2)} {items} {items.pop()} {items}"


@cases((3.14159, 10, 2), (1.5, "x", 2), (1, 5, 1))
def nested_specs(value, width, digits):
    return f"{value:{width}.{digits}f}|{value!s:>{width}}|{value=}"


@cases(("a", 1), ("{}", 2))
def braces(name, n):
    return f"{{{name}}} {n:0>{3}} {{}}", "{{}} {}".format(name), "%s %%" % name


@cases((1, 2), ("a", None))
def templates(x, y):
    a = "{0} {1} {0!r:>5} {k[0]} {k.__class__.__name__}".format(x, y, k=[x])
    return a, "%s %r %5s" % (x, y, x), "%(a)s" % {"a": x}, format(x), repr(y), str(x)


@cases(("{} {}", 1), ("{", 2), (3, 4))
def failing_template(template, x):
    return "{} {}".format(x), template


@cases((3,), ("abc",), ([1, "b"],), (None,))
def joins(items):
    return ", ".join(items)


@cases(([1, 2],))
def joins_a_generator(items):
    return ", ".join(str(item) for item in items)


@cases((1, [1, 2]), ("a", "abc"), (1, {1: 2}), (1, 5), ([1], {1}), (None, [None]))
def searches(x, items):
    return x in items, x not in items


@cases((4,), (5,))
def searches_what_is_iterated(x):
    return x in OldStyle(), x in iter([1, 4]), x in {4: 1}.values()


@cases(([],))
def searches_objects(log):
    container = Said("c", log)
    items = [Said("a", log), Said("b", log)]
    results = [
        [] in container,
        3 not in container,
        Said("b", log) in items,
        items[1] in items,
        float("nan") in [float("nan")],
    ]
    return results, log


@cases((2, [1, 2, 3]), (0, [1, 2, 3]), (2, []))
def searches_in_chains(x, items):
    return 0 < x in items, x in items in [items], 0 < x not in items != 3


@cases((1,), (-1,), (5,), ("a",))
def indices(i):
    local = (1, 2, 3)
    return TABLE[i], local[i], local[i:], TABLE[:i:2]


@cases(([3, 1, 2],), ([],), ("ba",), ([1, "a"],))
def builtins_of_lists(items):
    ordered = sorted(items, key=lambda x: x, reverse=True)
    return ordered, max(items, default=0), tuple(items), list(items), set(items)


@cases((7, 2), (-7, 2), (7, 0), (2.5, 1))
def numbers(x, y):
    return divmod(x, y), round(x), round(x, y), pow(x, y), int(x), float(x), abs(x)


@cases((7,), (-7,), ("12",), ("x",), (float("nan"),))
def whole_numbers(x):
    return int(x), pow(3, 7, 5), round(2.5), round(-0.5), int("12", 16)


@cases((0,), (3,), (9,))
def binds_in_and(x):
    if x and (n := x * 2) > 8:
        return n
    return n if x else None


@cases((0,), (3,), (9,))
def binds_in_or(x):
    y = x > 5 or (m := x + 1) > 3
    return y, m


@cases((0,), (3,), (9,))
def binds_in_a_choice(x):
    y = (n := x) if x > 2 else (n := -x - 1)
    return y, n


@cases((0,), (3,), (9,))
def binds_in_a_loop(x):
    trace = []
    while x > 0 and (half := x // 2) >= 0:
        trace.append(half)
        x = half
    return trace, half


@cases((0,), (3,), (40,))
def binds_in_a_loop_and_in_its_test(x):
    total = 0
    while x > 0 and (half := x // 2) > 1:
        if half > 2 and (odd := half % 2) > 0:
            total += odd
        x = half
    return total, half


@cases((1,), (5,))
def binds_several(x):
    if x > 0 and (a := x + 1) > 2 and (b := a * 2) > 6 or (a := 9) > 10:
        return a + b
    return a


@cases((1,), (5,))
def binds_for_a_closure(x):
    def inner():
        return k

    if x > 3 and (k := x) > 4:
        return inner()
    try:
        return inner()
    except NameError as error:
        return str(error)


@cases(
    (3,),
)
def binds_in_a_comprehension(n):
    return [last for x in range(n) if (last := x * 2) > 1], last


COUNT = 0


@cases((1,), (5,))
def binds_a_global(x):
    global COUNT
    COUNT = 0
    found = x > 3 and (COUNT := x) > 4
    return found, COUNT


def _entries() -> Iterator[Any]:
    for name, function in list(globals().items()):
        if not isinstance(function, FunctionType):
            continue
        for number, arguments in enumerate(getattr(function, "cases", ())):
            yield pytest.param(function, arguments, id=f"{name}-{number}")


@pytest.mark.parametrize(("function", "arguments"), list(_entries()))
def test_exact_on_python_values(function: Any, arguments: tuple[Any, ...]) -> None:
    original = observe(function, arguments)
    converted = observe(autograph.convert(function), arguments)

    assert converted.meaning == original.meaning
    assert same_lines(original, converted)
