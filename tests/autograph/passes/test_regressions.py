"""What random programs and real packages got wrong once, each made small."""

# Names are unbound and unused on purpose.
# ruff: noqa: F821, F823, F841

from __future__ import annotations

import contextlib
import inspect
from types import FunctionType

import pytest

import autograph
from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests.corpus_loader import cases
from tests.observe import observe, same_lines


@cases((0,), (1,))
def walrus_in_the_first_test_of_a_chain(x):
    if y := x:
        pass
    elif x == 0:
        y = 5
    return y


@cases((1,), (0,))
def walrus_in_the_default_of_a_function_in_a_branch(x):
    if x:
        show = lambda a=(y := x + 1): a  # noqa: E731
    else:
        y = 0

        def show(z, a=(y := x + 2)):
            return a

    return show(x), y


@cases((1,))
def unbound_in_a_lazy_operand(x):
    if x > 100:
        y = 1
    return x and y


@cases((1,))
def unbound_in_a_chain_of_comparisons(x):
    if x > 100:
        y = 1
    return 0 < abs(x) < y


@cases((1,), (0,))
def unbound_variable_of_a_nested_function_is_a_free_one(x):
    def show():
        return y

    if x:
        show()
    y = 1
    return show()


@cases((1,))
def unbound_variable_in_a_generator_that_a_loop_drives(x):
    def items():
        yield x
        yield y

    for item in items():
        if item > 100:
            y = 1
    return item


@cases((1,), (0,))
def body_catches_the_error_about_an_unbound_variable(x):
    log = []
    if x:
        try:
            log.append(y)
        except UnboundLocalError as error:
            log.append(str(error))
        with contextlib.suppress(UnboundLocalError):
            log.append(y)
    if x > 100:
        y = 1
    return log


@cases((1,))
def unbound_variable_as_the_context_of_another_error(x):
    if x:
        try:
            x = y
        finally:
            1 // 0
    y = 1
    return y


@cases((1,))
def context_of_an_undefined_name_stays(x):
    try:
        1 // 0
    except ZeroDivisionError:
        if x:
            undefined_name


@cases((1,), (0,))
def name_bound_in_another_body_only(x):
    if x:
        print(abs)
        while x:
            x = 0
            abs = 1
    return x


@cases((1,), (0,))
def returned_value_raises(x):
    for i in range(3):
        try:
            if x:
                return 1 // (i - 1)
            continue
        except ZeroDivisionError:
            x = 0
    return "end", x


@cases((1,), (0,))
def cleaning_up_fails_after_a_return(x):
    try:
        try:
            if x:
                return "inside"
        finally:
            1 // 0
    except ZeroDivisionError:
        pass
    return "outside"


@cases((1,), (0,))
def cleaning_up_fails_in_nested_contexts(x):
    @contextlib.contextmanager
    def failing():
        yield
        1 // 0

    for i in range(3):
        with contextlib.suppress(ZeroDivisionError):
            with failing():
                if x:
                    break
        x = 0
    return i, x


@cases((1,), (0,))
def jump_out_of_finally(x):
    log = []
    for i in range(3):
        if x:
            try:
                1 // (i - 1)
            finally:
                log.append(i)
                continue
        try:
            return log
        finally:
            if i == 1:
                break
    return i, log


@cases((1,), (0,))
def dead_code_makes_a_name_local(x):
    while x:
        x -= 1
        continue
        abs = 1
    return abs(x)


@cases((1,), (0,))
def dead_definition_with_nonlocal(x):
    y = 1
    if x:
        return y

        def inner():
            nonlocal y
            y = 2

    def other():
        nonlocal y
        y = 3

    other()
    return y


@cases((1,), (0,))
def returning_loops_within_a_branch(x):
    if x > 5:
        pass
    elif x:
        for i in range(2):
            for j in "ab":
                return i, j
    return "end"


@cases((1,), (0,))
def variable_of_a_raise_is_read(x):
    y = None
    while x:
        y = x + 1
        x -= 1
        if x == 0:
            raise ValueError(y)
            y = 0
    return y


@cases((1, 2), (0, 2))
def comprehension_hides_a_variable(x, c):
    if c:
        if x:
            c = x
        values = [x for x in range(3)], {x: x and c for x in [x]}
        return values, x
    return x


@cases((1, 2), (0, 2))
def comprehension_hides_a_variable_of_a_lambda(x, c):
    return list(c and [x for x in (x and [x, c])] for x in ([], [1]))


@cases((1,), (0,))
def value_of_a_dead_assignment(x):
    y = 1
    if x < 100:
        if x:
            y = 2
        print(x)
    return x


@cases((2,), (-2,))
def global_among_several_variables(x):
    global total
    total = x
    if x > 0:
        for total, y in [(x, 1), (x + 1, 2)]:
            x += y
    return x, total


@cases((3,), (-3,))
def qualified_names(x):
    if x > 0:

        class Inner:
            def method(self):
                pass

        def inner():
            return lambda: x

    else:
        Inner, inner = Exception, qualified_names
    return Inner.__qualname__, inner.__qualname__, repr(Inner)


def make_shadowed(len):
    @cases(("abc",))
    def builtin_hidden_by_a_closure_variable(x):
        return len(x), [len(y) for y in x]

    return builtin_hidden_by_a_closure_variable


builtin_hidden_by_a_closure_variable = make_shadowed(lambda x: f"length of {x}")


class Base:
    """A base class."""

    def value(self):
        return "base"


class Derived(Base):
    """Calls its base in lambdas of conversion."""

    def value(self, x):
        if x:
            return x and super().value()
        return "none" if x else super().value()


@cases((1,), (0,))
def super_in_a_lazy_operand(x):
    return Derived().value(x)


@cases((3,), (0,))
def finalizer_runs_when_the_exception_leaves(x):
    log = []

    def items():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    try:
        for item in items():
            if item == 2:
                1 // x
                raise KeyError
    except (KeyError, ZeroDivisionError):
        log.append("caught")
    return log


class Counting(type):
    def __call__(cls, *args):
        instance = super().__call__(*args)
        if args:
            instance.count = len(args)
        return instance


class Counted(metaclass=Counting):
    def __init__(self, first):
        self.first = first if first else -1


class CountedWithoutInit(metaclass=Counting):
    pass


@cases((0,), (3,))
def metaclass_of_a_converted_class(x):
    return vars(Counted(x)), vars(CountedWithoutInit())


FUNCTIONS = [value for value in globals().values() if hasattr(value, "cases")]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_function(function: FunctionType) -> None:
    for arguments in function.cases:
        original = observe(function, arguments)
        converted = observe(autograph.convert(function), arguments)

        assert converted.meaning == original.meaning
        assert same_lines(original, converted)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_module(function: FunctionType) -> None:
    module = inspect.getmodule(function)
    assert module is not None
    text = inspect.getsource(module)
    namespace = {"__name__": module.__name__, "__file__": __file__}
    exec(convert_module(Source(text, __file__)).code(), namespace)
    for arguments in function.cases:
        original = observe(function, arguments)
        converted = observe(namespace[function.__name__], arguments)

        assert converted.meaning == original.meaning


def test_recursion_by_a_global_name() -> None:
    text = "def f(n):\n    if n:\n        return n + f(n - 1)\n    return 0\n"
    namespace: dict[str, FunctionType] = {"__name__": "elsewhere"}
    exec(convert_module(Source(text, "elsewhere.py")).code(), namespace)

    assert namespace["f"](4) == 10
