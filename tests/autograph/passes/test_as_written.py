"""What runs while nothing can be staged: the statements as they were written."""

from __future__ import annotations

import dis
import sys
import textwrap
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any

import gast
import pytest

import autograph
from autograph.operators import staging
from autograph.operators.state.frames import user_frames, variables_of
from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests.idle import idle
from tests.toybackend import toy


def executed(text: str) -> str:
    """What is compiled of a module, printed; the import of the operators left out."""
    conversion = convert_module(Source(text, "f.py"))
    return str(gast.unparse(conversion.executed)).strip().partition("\n\n")[2].strip()


def test_the_statements_come_first_as_they_were_written() -> None:
    """A branch is reached from the line of the ``if``: see `codegen.arcs`."""
    text = executed(
        'def f(x):\n    """Doubles."""\n    if x > 1:\n'
        "        x = 2 * x\n    return x\n"
    )

    assert text == (
        "def f(x):\n"
        '    """Doubles."""\n'
        "    if ag.staging.idle or ag.staging.thread.elsewhere:\n"
        "        if x > 1:\n"
        "            x = 2 * x\n"
        "        return x\n\n"
        "    def staged(x):\n"
        "        x = ag.cond(x > 1, lambda: 2 * x if None is None else None, "
        "lambda: x)\n"
        "        return x\n"
        "    return staged(x)"
    )


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("def f(a, /, b, *c, d, **e):\n    return a if b else d\n", "(a, b, c, d, e)"),
        ("def f(x):\n    yield x if x else 1\n", "return (yield from staged(x))"),
        ("def f(x):\n    y = yield\n    yield not y\n", "yield from staged(x)"),
        ("async def f(x):\n    return x if x else 1\n", "return await staged(x)"),
        ("async def f(x):\n    await (x or 1)\n", "return await staged(x)"),
    ],
)
def test_what_conversion_made_is_a_function_of_its_own(text: str, call: str) -> None:
    assert call in executed(text).splitlines()[-1]
    compile(executed(text), "f.py", "exec")


def test_a_lambda_has_both_forms_in_one_expression() -> None:
    text = executed("class C:\n    def f(self):\n        return lambda y: y or self\n")

    assert "elsewhere else ag.or_(y, lambda: self)" in text


def test_a_function_that_falls_off_its_end_returns() -> None:
    text = executed("def f(x):\n    if x:\n        print(x)\n")

    assert "        if x:\n            print(x)\n        return\n" in text


def test_what_has_nothing_to_convert_stands_alone() -> None:
    assert "staging" not in executed("def f(x):\n    return x + 1\n")


def test_a_function_that_enters_a_graph_by_hand_is_converted_only() -> None:
    text = "def f(g, x):\n    with g.as_default():\n        return x if x else 1\n"

    assert "staging" not in executed(text)
    # That of a function inside is its own.
    inner = textwrap.indent(text, "    ")
    text = executed(f"def h(x, y):\n{inner}    return f(x, y) if x else y\n")
    assert text.count("staging.idle") == 1


def test_an_asynchronous_generator_is_converted_only() -> None:
    """No statement hands on all that may be sent to one."""
    text = "async def f(x):\n    y = yield\n    yield not y\n"

    assert "staging" not in executed(text)


def service() -> Callable[[Any], Any]:
    async def answer(x: Any) -> Any:
        def magnitude(y: Any) -> Any:
            if y < 0:
                return 0 - y
            return y

        return magnitude(x)

    return answer


def test_a_coroutine_that_is_made_idle_is_staged_later() -> None:
    with idle():
        answer = autograph.convert(service)()
    parameter = toy.Parameter()

    with pytest.raises(StopIteration) as returned:
        answer(parameter).send(None)

    assert toy.evaluate(returned.value.value, {parameter: -3}) == 3


def test_declarations_stand_before_both_forms() -> None:
    namespace: dict[str, Any] = {"total": 1}
    text = (
        "def f(x):\n"
        "    if x > 1:\n"
        "        global total\n"
        "        total = x\n"
        "    return total\n"
    )
    conversion = convert_module(Source(text, "f.py"))
    exec(conversion.code(), namespace)

    with idle():
        assert namespace["f"](0) == 1
        assert namespace["f"](5) == 5
    assert namespace["f"](7) == namespace["total"] == 7


def clamped(limit: Any) -> Callable[[Any], Any]:
    def clamp(x: Any) -> Any:
        if x > limit:
            return limit
        return x

    return clamp


def chooser() -> Callable[[Any], Any]:
    return lambda x: "big" if x > 10 else "small"


class Meter:
    """A class whose methods define functions."""

    def __init__(self) -> None:
        self.readings: list[Any] = []

    def reader(self, scale: Any) -> Callable[[Any], Any]:
        class Reader:
            def read(reader, x: Any) -> Any:
                result = 0
                if x > scale:
                    result = x - scale
                return result

        return Reader().read


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: autograph.convert(clamped)(3), 3),
        (lambda: autograph.convert(chooser)(), "big"),
        (lambda: autograph.convert(Meter.reader)(Meter(), 3), 17),
    ],
)
def test_functions_that_are_made_idle_are_staged_later(
    made: Callable[[], Callable[[Any], Any]], expected: Any
) -> None:
    with idle():
        function = made()
        assert function(20) == expected

    parameter = toy.Parameter()
    staged = function(parameter)

    assert isinstance(staged, toy.Expr)
    assert toy.evaluate(staged, {parameter: 20}) == expected


def test_what_is_made_idle_has_the_names_that_it_has_unconverted() -> None:
    with idle():
        function = autograph.convert(clamped)(3)

    assert function.__qualname__ == "clamped.<locals>.clamp"
    assert function.__code__.co_freevars == ("limit",)


def depth(n: Any) -> int:
    if n == 0:
        frame, frames = sys._getframe(), 0
        while frame.f_code.co_name == "depth":
            frames += 1
            frame = frame.f_back
        return frames
    return depth(n - 1)


def test_idle_code_takes_the_frames_that_python_takes() -> None:
    with idle():
        assert autograph.convert(depth)(5) == depth(5) == 6


def test_a_converted_function_recurses_as_deep_as_the_original() -> None:
    def down(n: int) -> int:
        if n > 0:
            return down(n - 1) + 1
        return 0

    with idle():
        assert autograph.convert(down)(900) == 900


def unbound(x: Any) -> Any:
    if x:
        y = 1
    return y


def test_errors_are_pythons_own() -> None:
    with idle(), pytest.raises(UnboundLocalError) as caught:
        autograph.convert(unbound)(0)

    assert caught.value.__traceback__.tb_next.tb_next is None


def begins_with_a_loop(x: Any) -> Any:
    for i in range(
        3,
    ):
        if i == x:
            return i
    return None


def begins_with_a_try(x: Any) -> Any:
    try:
        if x:
            return x
    except ValueError:
        return None


def begins_with_a_display(x: Any) -> Any:
    values = {
        "a": 1,
        "b": 2 if x else 3,
    }
    return values


def lines_of(function: Callable[[Any], Any], argument: Any) -> set[int]:
    """The lines that a call runs, as coverage sees them."""
    lines: set[int] = set()

    def local(frame: Any, event: str, _: Any) -> Any:
        if event == "line":
            lines.add(frame.f_lineno)
        return local

    before = sys.gettrace()
    name = function.__name__
    sys.settrace(lambda frame, *_: local if frame.f_code.co_name == name else None)
    try:
        function(argument)
    finally:
        sys.settrace(before)
    return lines


@pytest.mark.parametrize(
    "function", [begins_with_a_loop, begins_with_a_try, begins_with_a_display]
)
@pytest.mark.parametrize("argument", [0, 2])
def test_the_lines_that_run_are_those_of_python(
    function: Callable[[Any], Any], argument: Any
) -> None:
    converted = autograph.convert(function)

    with idle():
        assert lines_of(converted, argument) == lines_of(function, argument)


def test_while_another_thread_stages_what_was_written_runs() -> None:
    """A frame less for each call tells it."""
    converted = autograph.convert(depth)
    begun, over = threading.Event(), threading.Event()

    def stage() -> None:
        staging.begin()
        begun.set()
        over.wait(20)
        staging.end()

    with idle():
        thread = threading.Thread(target=stage)
        thread.start()
        assert begun.wait(20)
        assert not staging.idle
        frames = converted(5)
        over.set()
        thread.join()

    assert frames == 6


def branches(x: Any, limit: Any) -> Any:
    total = 0
    while x < limit:
        if x % 2:
            total += x
        x += 1
    return total


def shares(x: Any) -> Callable[[], Any]:
    y = x if x else 1
    return lambda: y


@pytest.mark.parametrize("function", [branches, shares])
def test_the_written_form_has_the_variables_of_its_source(
    function: Callable[..., Any],
) -> None:
    code, converted = function.__code__, autograph.convert(function).__code__

    assert converted.co_cellvars == code.co_cellvars
    assert converted.co_freevars == code.co_freevars
    assert converted.co_varnames == (*code.co_varnames, "staged")


def test_a_function_asks_with_a_handful_of_instructions() -> None:
    names = [one.opname for one in dis.get_instructions(autograph.convert(branches))]

    assert next(at for at, name in enumerate(names) if "JUMP" in name) <= 6


def holders(items: list[int]) -> list[str]:
    """The functions that run and have these items in a variable of their own."""
    return [
        frame.f_code.co_name
        for frame in user_frames()
        if any(value is items for value in variables_of(frame).values())
        and frame.f_code.co_varnames[:1] == ("things",)
    ]


def hands_over(things: list[int]) -> list[str]:
    if things:
        return holders(things)
    return []


def test_a_function_that_handed_over_has_no_variables_any_more() -> None:
    in_lambda = autograph.convert(lambda things: holders(things) if things else [])

    # Of the written and the staged form only the latter goes on.
    assert autograph.convert(hands_over)([1]) == ["hands_over"]
    # A lambda has both forms in one expression, and its variables to its end.
    assert in_lambda([1]) == ["<lambda>"]


class AtAnyTime(toy.Toy):
    """The backend of a library that does not say when it stages."""

    tells = False


def test_libraries_that_do_not_tell_may_stage_at_any_time() -> None:
    with idle():
        type("Telling", (), {"__autograph_backend__": toy.Toy()})
        assert staging.idle
        type("Silent", (), {"__autograph_backend__": AtAnyTime()})
        assert not staging.idle
    staging.end(anywhere=True)  # what the class began


def test_a_class_that_only_keeps_a_backend_has_none() -> None:
    with idle():
        type("Keeper", (), {"backend": AtAnyTime()})
        assert staging.idle


def test_a_backend_that_lacks_a_method_says_so() -> None:
    class Half(autograph.operators.Backend):
        tells = True

        def stages(self, value: Any) -> bool:
            return True

    class Value:
        __autograph_backend__ = Half()

    with pytest.raises(NotImplementedError, match="Half has no method `not_`"):
        autograph.convert(lambda x: not x)(Value())


def test_registered_types_may_be_staged_until_they_are_taken_back() -> None:
    class Foreign:
        """A type of another library."""

    with idle():
        autograph.operators.register(Foreign, AtAnyTime())
        assert not staging.idle
        autograph.operators.unregister(Foreign)
        assert staging.idle


def codes(code: CodeType) -> int:
    return 1 + sum(codes(c) for c in code.co_consts if isinstance(c, CodeType))


def test_size_grows_with_the_depth_of_functions_and_not_with_two_to_its_power() -> None:
    def nested(depth: int) -> int:
        lines = [
            f"{'    ' * level}def f{level}(x):\n"
            f"{'    ' * level}    y = x[0] if x else {level}"
            for level in range(depth)
        ]
        text = "\n".join(lines) + "\n"
        return codes(convert_module(Source(text, "f.py")).code())

    assert nested(8) - nested(7) < 2 * (nested(4) - nested(3)) + 10


def items_or(x: Any, ys: list[Any]) -> list[Any]:
    items: list[Any] = []
    if ys:
        items = [*[lambda: x if x else [x for x in "n"] for x in ys], x]
    return items


def test_functions_in_comprehensions_know_the_variables_by_their_own_names() -> None:
    """In the converted form they may have others, lest they hide some of its own."""
    with idle():
        *functions, last = autograph.convert(items_or)(3, [1, 0, 2])

    assert ([function() for function in functions], last) == ([2, 2, 2], 3)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements")
def test_type_statements_stand_as_they_are() -> None:
    """No name may be bound in their values."""
    text = "def f(n):\n    type A = [i for i in n]\n    return A if n else 1\n"

    assert executed(text).count("    type A = [i for i in n]\n") == 2
    compile(executed(text), "f.py", "exec")
