"""What an error shows: the code, the line and expression, the reasons, a traceback."""

from __future__ import annotations

import collections
import linecache
import subprocess
import sys
import traceback
from array import array
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from runtime.core.location.user_code import SourcePosition, user_frames

COLUMNS = sys.version_info >= (3, 11)


def message(function: Any, *args: Any) -> str:
    """The text of what tracing raises, with line numbers from that of the function."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        tf.function(function)(*map(tf.constant, args))
    text = str(caught.value).replace(__file__, "FILE")
    first = function.__code__.co_firstlineno
    for line in range(first + 30, first - 1, -1):
        text = text.replace(f"FILE:{line}", f"FILE:+{line - first}")
        text = text.replace(f" {line} |", f" +{line - first} |")
    return text


def carets(text: str) -> str:
    """What is marked on the line that a message shows."""
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if line.rstrip().endswith("^"))
    shown, marks = (line.partition("| ")[2] for line in lines[at - 1 : at + 1])
    return shown[marks.index("^") : marks.rindex("^") + 1]


# --- staging --------------------------------------------------------------------------


def two_kinds(x):
    if x > 0:
        y = (1, 2)
    else:
        y = print
    return y


def test_a_variable_of_two_kinds() -> None:
    text = message(two_kinds, 1)
    assert text.startswith("FILE:+1: AG201: the value chosen here for 'y' is a tuple")
    assert (
        "\n  the value is that of FILE:+2 where the condition holds and that of "
        "FILE:+4 where it does not\n  it is staged because the condition is a tensor, "
        "bool[], made at FILE:+1"
    ) in text
    assert not COLUMNS or carets(text) == "x > 0"


def in_nested_branches(x):
    y = tf.constant(1)
    z = x
    if x > 0:
        z = x + 1
        if z > 2:
            z = z + 1
            y = tf.constant("a")
    return y, z


def test_the_innermost_statement_explains() -> None:
    text = message(in_nested_branches, 1)
    assert text.startswith("FILE:+5: AG206: 'y' has two dtypes: string and int32")
    assert "\n  'y' is assigned at FILE:+7 where the condition holds\n" in text
    assert text.count("it is staged because") == 1
    assert "made at FILE:+5" in text


def in_a_loop(n):
    t = print
    for i in range(n):
        t = str
    return t


def test_a_variable_of_a_loop() -> None:
    text = message(in_a_loop, 1)
    assert "AG202: 't' is" in text
    assert "\n  't' is assigned at FILE:+3 in the loop\n" in text
    assert "because the length of what it loops over is a tensor, int32[]" in text


def in_a_while(n):
    t = print
    while n > 0:
        n -= 1
        t = str
    return t


def test_a_variable_of_a_while() -> None:
    text = message(in_a_while, 1)
    assert "\n  't' is assigned at FILE:+4 in the loop\n" in text
    assert "because the condition of the loop is a tensor, bool[]" in text


class Model:
    """Something with attributes."""

    kind: Any = 1


def attribute(x):
    model = Model()
    model.kind = 1
    if x > 0:
        model.kind = print
    return model.kind


def test_an_attribute() -> None:
    text = message(attribute, 1)
    assert "\n  'model.kind' is assigned at FILE:+4 where the condition holds\n" in text


def chosen(x):
    return (
        print
        if x > 0
        else str
    )  # fmt: skip


def test_a_conditional_expression() -> None:
    text = message(chosen, 1)
    assert "AG201: the value chosen here" in text
    assert "that of FILE:+2 where the condition holds and that of FILE:+4" in text


def nonlocal_write(x):
    y = 1

    def change():
        nonlocal y
        y = print

    if x > 0:
        change()
    return y


def test_a_variable_that_a_helper_assigns_has_a_reason_all_the_same() -> None:
    assert "AG2" in message(nonlocal_write, 1)


# --- values and operations ------------------------------------------------------------


def used_as_a_number(x):
    values = [1, 2]
    return values, range(3).__getitem__(x.__index__())


def test_a_tensor_used_as_a_number() -> None:
    text = message(used_as_a_number, 1)
    assert text.startswith("FILE:+2: AG302: the tensor 'x' (int32[])")
    assert not COLUMNS or carets(text) == "x.__index__()"


def given_to_python(x):
    return array("d", [x])


def test_what_takes_python_numbers_is_named() -> None:
    text = message(given_to_python, 1)
    assert text.startswith("FILE:+1: AG302: the tensor 'x' (int32[]) was ")
    name = "given to `array`, which takes Python numbers"
    assert (name if COLUMNS else "used as a Python float") in text


def put_into_an_array(x):
    values = np.zeros(2)
    values[0] = x


def put_into_an_array_in_a_branch(x):
    values = np.zeros(2)
    if x > 0:
        values[0] = 1.0


def test_an_array_of_numpy_takes_no_tensor() -> None:
    text = message(put_into_an_array, 1)
    assert text.startswith("FILE:+2: AG302: the tensor 'x' (int32[]) was used as a Py")
    text = message(put_into_an_array_in_a_branch, 1)
    assert text.startswith("FILE:+2: AG302: a tensor (float64[]) was ")


def raised_from_it(x):
    try:
        return float.__call__(x)
    except TypeError as error:
        raise LookupError("the reason") from error


def test_what_a_program_raises_of_such_an_error_stays() -> None:
    with pytest.raises(LookupError, match="the reason"):
        tf.function(raised_from_it)(tf.constant(1))


def made_bytes(x):
    return bytes(x)


def test_what_python_does_not_take() -> None:
    text = message(made_bytes, 1)
    assert text.startswith("FILE:+1: AG302: Python does not take a tensor here, ")
    assert (
        "(cannot convert a tensor object to bytes): use an operation on tensors" in text
    )


def test_what_python_says_of_numbers_too_stays() -> None:
    with pytest.raises(TypeError, match="object is not callable") as caught:
        tf.function(lambda x: x(1))(tf.constant(1))
    assert type(caught.value) is TypeError


def compared(x):
    square, goal = (x, x + 1), (1, 2)
    return 1 if square == goal else 2


def test_tuples_are_compared_by_their_items() -> None:
    text = message(compared, 1)
    assert text.startswith("FILE:+2: AG301: a tensor (bool[]) was used as a ")
    assert "by a comparison of lists or tuples, which Python makes item by item" in text


def looked_up(x):
    return collections.ChainMap({1: 2})[x]


def test_what_a_library_does_is_told_of_the_line_that_calls_it() -> None:
    text = message(looked_up, 1)
    assert text.startswith("AG313: tensors are not hashable")
    assert "\n  AG313 at FILE:+1\n" in text


def unnamed_list(n):
    return [[None] * n for _ in range(n)]


def named_list(n):
    rows = []
    for _ in range(n):
        rows.append([1, 2])
        rows.append("a")
    return rows


def test_lists_have_the_names_of_the_program_or_none() -> None:
    text = message(unnamed_list, 2)
    assert "AG210: a list whose length a tensor decides cannot be an element" in text
    text = message(named_list, 2)
    assert "AG210: the list 'rows', whose length a tensor decides, has elements" in text
    assert "kinds: list(int64[], int64[]) and string[];" in text


def filtered(values):
    place = 1
    while place <= tf.reduce_max(values):
        values = [v for v in values if v % 2 == 0]
        place *= 10
    return values


def test_containers_of_a_graph_are_what_they_are_in_python() -> None:
    text = message(filtered, [1, 2])
    assert "and a list of an open length after it" in text


def different_dtypes(x):
    return x * tf.constant(0.5, tf.float64)


def test_the_cast_is_written_out() -> None:
    text = message(different_dtypes, 2)
    assert "; cast one of them, as by tf.cast(x, tf.float64); tf.experimental." in text
    assert ".experimental_enable_numpy_behavior() promotes them [Op:Mul]\n" in text


def fails_when_it_runs(n):
    total = [1, 2, 3]
    return tf.gather(total, n)


def test_an_operation_that_fails_has_no_internal_name() -> None:
    text = message(fails_when_it_runs, 5)
    assert "node" not in text
    assert "\n  AG310 at FILE:+2\n" in text


def grows(n):
    rows = []
    for i in range(n):
        rows.append(tf.range(i))
    return rows


def test_a_code_of_its_own_comes_first() -> None:
    text = message(grows, 3)
    assert text.startswith("AG210: an element of shape (1,) was put into a list whose ")
    assert "[Op:" not in text


SOURCELESS = """
def helper(x):
    if x > 0:
        return x
    return -x
"""


@pytest.mark.parametrize("through", [False, True])
def test_that_there_is_no_source_comes_first(through: bool) -> None:
    namespace: dict[str, Any] = {}
    exec(SOURCELESS, namespace)
    helper = namespace["helper"]

    def calls(x):
        return helper(x)

    with pytest.raises(tf.errors.SymbolicTensorError) as caught:
        tf.function(calls if through else helper)(tf.constant(1))
    text = str(caught.value)
    assert text.startswith("<string>:3: AG301: nothing of this function is staged, ")
    first = text.splitlines()[0]
    assert "source" in first
    assert "`helper`" in first
    assert "define it in a file" in first


def shapes_do_not_fit(x):
    a = tf.ones([2, 3])
    return a, tf.matmul(a, a) + x


def test_an_operation_that_does_not_fit() -> None:
    text = message(shapes_do_not_fit, 1.0)
    assert text.startswith("cannot compute MatMul: the shapes (2, 3) and (2, 3) do not")
    assert "[Op:MatMul]\n  AG310 at FILE:+2\n" in text
    assert not COLUMNS or carets(text) == "tf.matmul(a, a)"


def not_a_tensor(x):
    return x + tf.constant([[1], [1, 2]])


def test_a_value_that_is_no_tensor() -> None:
    text = message(not_a_tensor, 1)
    assert text.startswith("AG312: ")
    assert "\n  AG312 at FILE:+1\n" in text


def test_an_error_of_the_program_stays_as_it_is() -> None:
    def fails(x):
        raise ValueError("one", x.shape.rank)

    with pytest.raises(ValueError, match="one") as caught:
        tf.function(fails)(tf.constant(1))
    assert caught.value.args == ("one", 0)


# --- tracebacks -----------------------------------------------------------------------


def files(error: BaseException) -> set[str]:
    return {frame.filename for frame in traceback.extract_tb(error.__traceback__)}


only_since_3_11 = pytest.mark.skipif(
    not COLUMNS, reason="Python 3.10 keeps the frames of what is raised again"
)


def divides(x):
    return 6 // x


@only_since_3_11
@pytest.mark.parametrize("function", [two_kinds, shapes_do_not_fit, divides])
def test_tracebacks_have_the_users_frames_alone(
    function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AUTOGRAPH_DEBUG", raising=False)
    argument = 0.0 if function is shapes_do_not_fit else 0
    staged = tf.function(function)
    for _ in range(2):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            staged(tf.constant(argument))
        assert files(caught.value) == {__file__}
        assert caught.value.__context__ is None or caught.value.__suppress_context__


def test_all_frames_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_DEBUG", "1")
    with pytest.raises(StagedStateError) as caught:
        tf.function(two_kinds)(tf.constant(1))
    assert any(name.endswith("tracing/trace.py") for name in files(caught.value))
    assert user_frames(caught.value.__traceback__) is caught.value.__traceback__


@only_since_3_11
def test_the_printed_traceback(tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import runtime as tf\n"
        "@tf.function\n"
        "def f(x):\n"
        "    return 6 // x\n"
        "f(tf.constant(0))\n"
    )
    run = subprocess.run(
        [sys.executable, program],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(__import__("pathlib").Path(tf.__file__).parents[1])},
    )
    lines = [line for line in run.stderr.splitlines() if line.startswith("  File")]
    assert len(lines) == 2
    assert all("program.py" in line for line in lines)
    assert "During handling" not in run.stderr


# --- excerpts -------------------------------------------------------------------------


def test_excerpts_mark_characters_and_keep_tabs(monkeypatch: Any) -> None:
    lines = {"mem.py": (0, None, ["\tä = f(ö)\n", "x\n"], "mem.py")}
    monkeypatch.setattr(linecache, "cache", {**linecache.cache, **lines})
    start = len("\tä = ".encode())
    end = len("\tä = f(ö)".encode())
    assert SourcePosition("mem.py", 1, start, end).excerpt() == (
        "\n   1 | \tä = f(ö)\n     | \t    ^^^^"
    )
    assert (
        SourcePosition("mem.py", 1).excerpt()
        == "\n   1 | \tä = f(ö)\n     | \t^^^^^^^^"
    )
    assert SourcePosition("no such file", 1).excerpt() == ""
