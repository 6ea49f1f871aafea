"""``ag.call``: what stands in for what is called, and objects that decide."""

from __future__ import annotations

import functools
import linecache
import operator
from collections.abc import Callable
from typing import Any

import pytest

import autograph
from autograph import operators as ag
from autograph.loading.replace_code import Repair, _functions
from autograph.ownership import Rule
from tests.toybackend.toy import Expr, Parameter, evaluate


def clipped(x):
    if x > 9:
        x = 9
    return x


class Clip:
    def __init__(self, x):
        self.x = clipped(x)

    def __call__(self, y):
        return y if y > self.x else self.x

    def method(self, y):
        return self(y)


AS_THEY_ARE = [
    len,
    dict,
    int,
    str.upper,
    "a".upper,
    operator.add,
    operator.itemgetter(1),
    functools.partial(max, 1),
    functools.wraps,
    3,
    None,
    autograph.unconverted(clipped),
]


@pytest.mark.parametrize(
    "function", AS_THEY_ARE, ids=lambda f: repr(f).partition(" at 0x")[0]
)
def test_what_is_not_the_users_is_itself(function: Any) -> None:
    target = ag.call(function)

    assert target is function or target == function


def test_functions_and_methods_are_converted() -> None:
    clip = Clip(3)

    assert ag.call(clipped) is autograph.convert(clipped)
    assert ag.call(clip.method).__self__ is clip
    assert ag.call(clip.method).__func__ is autograph.convert(Clip.method)
    assert ag.call(clip).__func__ is autograph.convert(Clip.__call__)
    assert ag.call(Clip)(30).x == 9
    partial = ag.call(functools.partial(clipped, 12))
    assert (partial.func, partial()) == (autograph.convert(clipped), 9)


def test_defaults_that_are_replaced_after_conversion_are_used() -> None:
    def add(x: int, y: int = 1, *, z: int = 1) -> int:
        return x + y + z

    assert ag.call(add)(1) == 3
    add.__defaults__ = (10,)
    assert ag.call(add)(1) == 12
    add.__kwdefaults__ = {"z": 100}
    assert ag.call(add)(1) == 111
    add.__defaults__ = None
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        ag.call(add)(1)


def test_type_call_makes_an_instance() -> None:
    assert ag.call(Clip.__init__.__class__) is type(clipped)
    assert ag.call(type.__call__.__get__(Clip))(30).x == 9
    assert ag.call(clipped.__call__) == clipped.__call__


def test_scopes_share_everything_but_call() -> None:
    scope = ag.scoped(include="statistics, a.*")

    assert scope is ag.scoped(include="a.*, statistics")
    assert scope.cond is ag.cond
    assert scope.call is not ag.call
    assert ag.scoped() is ag


def test_a_scope_converts_by_its_patterns() -> None:
    import statistics

    converting = ag.scoped(include="statistics", exclude=__name__)
    target = converting.call(statistics.mean)

    assert target.__wrapped__ is statistics.mean
    assert target([1, 3]) == 2
    assert converting.call(clipped) is clipped
    assert converting.call(target) is target
    # What it calls is converted by the same patterns.
    callees = {callee.name: callee for callee in target.converted_callees()}
    assert callees["_sum"].rule is Rule.INCLUDED


# --- objects that decide --------------------------------------------------------------


class Truth:
    def __init__(self, x):
        self.x = x

    def __bool__(self):
        return bool(self.x)


class Length:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return self.x


def decide(thing):
    if thing:
        result = "yes"
    else:
        result = "no"
    count = 0
    while thing and count < 1:
        count += 1
    return result, count, not thing, bool(thing), "a" if thing else "b"


@pytest.mark.parametrize(
    "thing",
    [Truth(1), Truth([]), Length(0), Length(2), Length(-1), Length("a"), object()],
)
def test_objects_decide_as_in_python(thing: Any) -> None:
    def outcome(function: Callable[..., Any]) -> Any:
        try:
            return function(thing)
        except Exception as error:
            return type(error), str(error)

    assert outcome(autograph.convert(decide)) == outcome(decide)
    assert outcome(ag.len) == outcome(len)
    assert outcome(ag.int) == outcome(int)


class Bad:
    def __bool__(self):
        return 1

    def __float__(self):
        return 1


def test_results_that_python_refuses_are_refused() -> None:
    with pytest.raises(TypeError, match="__bool__ should return bool, returned int"):
        ag.bool(Bad())
    with pytest.raises(TypeError, match="returned non-float"):
        ag.float(Bad())
    with pytest.raises(TypeError):
        ag.len(Bad())


# --- other libraries ------------------------------------------------------------------


class Money:
    def __init__(self, amount):
        self.amount = amount

    @property
    def owed(self):
        return self.amount if self.amount > 0 else 0


def staged(function: Callable[..., Any]) -> tuple[Callable[..., Any], list[Repair]]:
    """A tool of another library, which stages again where conversion helped."""
    parameter, repairs = Parameter(), []
    while True:
        try:
            result = autograph.convert(function)(parameter)
            return lambda value: evaluate(result, {parameter: value}), repairs
        except TypeError as error:
            repairs.append(autograph.convert_raising(error))
            if not repairs[-1]:
                raise


def test_another_library_converts_what_python_calls() -> None:
    run, repairs = staged(lambda amount: Money(amount).owed)

    assert [run(3), run(-3)] == [3, 0]
    assert [repair.converted for repair in repairs] == [(Money.owed.fget,)]
    assert Money(-3).owed == 0


def limited() -> Callable[[Any], Any]:
    """A function that no other one makes again."""
    code = "lambda amount: amount if amount < 10 else 10"
    filename = f"<limited {len(linecache.cache)}>"
    linecache.cache[filename] = len(code), None, [code], filename
    return eval(compile(code, filename, "eval"))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("hold", "get"),
    [
        (lambda function: function, lambda held: held),
        (lambda function: {"limited": function}, lambda held: held["limited"]),
        (lambda function: [(function,)], lambda held: held[0][0]),
        (functools.partial, lambda held: held),
        (functools.lru_cache, lambda held: held),
        (property, lambda held: held.fget),
        (lambda function: lambda amount: function(amount), lambda held: held),
        (lambda function: type("Rule", (), {"call": function}), lambda cls: cls.call),
    ],
)
def test_variables_lead_to_what_python_calls(
    hold: Callable[[Any], Any], get: Callable[[Any], Any]
) -> None:
    function = limited()
    code, held = function.__code__, hold(function)
    del function
    with pytest.raises(TypeError, match="no truth value yet") as caught:
        get(held)(Parameter())

    assert [found.__code__ for found in _functions([code], caught.value)[code]] == [
        code
    ]


def test_a_function_that_no_variable_leads_to_is_named() -> None:
    class Multiplier:
        def __init__(self, functions: Any) -> None:
            self.functions = functions

        def __mul__(self, amount: Any) -> Any:
            return next(self.functions)(amount)

    multiplier = Multiplier(iter([limited()]))
    with pytest.raises(TypeError, match="no truth value yet") as caught:
        autograph.convert(lambda amount: multiplier * amount)(Parameter())
    repair = autograph.convert_raising(caught.value)

    assert Multiplier.__mul__ in repair.converted
    assert repair.obstacle is not None
    assert repair.obstacle.rule is Rule.UNNAMED


def test_another_library_is_told_what_is_in_the_way() -> None:
    @autograph.do_not_convert
    def marked(amount: Expr) -> Any:
        return 1 if amount > 0 else 2

    with pytest.raises(TypeError, match="no truth value yet") as caught:
        autograph.convert(lambda amount: marked(amount))(Parameter())
    repair = autograph.convert_raising(caught.value)

    assert not repair
    assert repair.obstacle is not None
    assert repair.obstacle.rule is Rule.MARKED
    assert "marked" in str(repair.obstacle)


def test_errors_of_converted_code_have_no_obstacle() -> None:
    with pytest.raises(TypeError) as caught:
        autograph.convert(lambda amount: hash([amount]))(Parameter())
    repair = autograph.convert_raising(caught.value)

    assert not repair
    assert repair.obstacle is None
