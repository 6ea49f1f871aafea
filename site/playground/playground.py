"""What the playground shows of a program: converted code, marks, a graph, a result.

It runs in the browser (worker.js), and when the site is built: its command prints the
examples with their answers, which the page shows while the compiler loads.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import inspect
import io
import json
import linecache
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import autograph
from autograph.commandline.main import main

FILE = "program.py"
#: The characters of a result that are shown.
LONGEST = 20_000
HAS_NUMPY = importlib.util.find_spec("numpy") is not None
Answer = dict[str, Any]


def converted(text: str) -> Answer:
    r"""The converted code of a program, None if it has none, and marks at its lines.

    >>> converted("def f(x):\n    yield x\n")["marks"]
    []
    >>> converted("def f(x:\n")["marks"][0]["line"]
    1
    """
    output = io.StringIO()
    with _folder(text), contextlib.redirect_stdout(output):
        main(["show", "--json", FILE])
    shown = json.loads(output.getvalue())
    findings = [("error", one) for one in shown["diagnostics"]]
    findings += [("info", one) for one in shown["notes"]]
    return {"code": shown["text"], "marks": [_mark(*one) for one in findings]}


def called(text: str, call: str) -> Answer:
    """What a call of a program's function prints and gives, as a graph where NumPy is.

    >>> called("def f(x): return x + 1", "f(2)")["result"]
    '<tf.Tensor: shape=(), dtype=int32, numpy=3>'
    """
    answer: Answer = {"svg": "", "marks": []}
    output = io.StringIO()
    with (
        _folder(text) as path,
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        try:
            result = repr(_result(text, path, call, answer))
        except BaseException as error:  # the program's own, to be shown
            answer["marks"] = _marks_of(error, path)
            result = "".join(traceback.format_exception_only(error)).strip()
    shown = (output.getvalue() + result).replace(path, FILE)
    return answer | {"result": shown[:LONGEST]}


def _result(text: str, path: str, call: str, answer: Answer) -> Any:
    module = ModuleType("program")
    module.__file__ = path
    sys.modules["program"] = module
    exec(compile(text, path, "exec"), module.__dict__)
    name = re.match(r"\s*(\w+)", call)
    names = dict(module.__dict__)
    if name is None or (name[1] not in names and not hasattr(builtins, name[1])):
        raise NameError(f"write a call of your function above{_suggested(names)}")
    if name and callable(names.get(name[1])):
        names[name[1]] = _runner(names[name[1]], answer)
    return eval(call.strip(), names)


def _suggested(names: dict[str, Any]) -> str:
    """A call of the last function of a program: ``, such as total(prices, limit)``."""
    functions = [one for one in names.values() if isinstance(one, FunctionType)]
    if not functions:
        return ""
    parameters = ", ".join(inspect.signature(functions[-1]).parameters)
    return f", such as {functions[-1].__name__}({parameters})"


def _runner(function: Callable[..., Any], answer: Answer) -> Callable[..., Any]:
    """The function as a graph on tensors, which draws itself into `answer`."""
    if not HAS_NUMPY:
        return autograph.convert(function)
    import runtime as tf

    def tensor(value: Any) -> Any:
        numbers = isinstance(value, (int, float, complex, list))
        return tf.constant(value) if numbers else value

    def run(*args: Any, **kwargs: Any) -> Any:
        is_staged = hasattr(function, "get_concrete_function")
        staged: Any = function if is_staged else tf.function(function)
        args = tuple(map(tensor, args))
        kwargs = {name: tensor(value) for name, value in kwargs.items()}
        graph = staged.get_concrete_function(*args, **kwargs).graph
        answer["svg"] = graph.to_svg()
        return staged(*args, **kwargs)

    return run


@contextlib.contextmanager
def _folder(text: str) -> Any:
    """A folder with the program in it, which is the current one meanwhile."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            Path(FILE).write_text(text, encoding="utf-8")
            linecache.clearcache()
            yield os.path.join(folder, FILE)
        finally:
            os.chdir(before)


def _mark(severity: str, finding: dict[str, Any]) -> Answer:
    texts = [f"{finding['code']} {finding['title']}", finding["message"]]
    texts += [f"Fix: {finding['fix']}"] if finding["fix"] else []
    place = finding["location"] or {"line": 1, "column": 1}
    return {
        "severity": severity,
        "text": "\n".join(filter(None, texts)),
        "line": place["line"],
        "column": place["column"],
        "endLine": place.get("end_line"),
        "endColumn": place.get("end_column"),
    }


def _marks_of(error: BaseException, path: str) -> list[Answer]:
    """The diagnostics of an error, or the last line of the program on its way."""
    from autograph.commandline.output import as_finding

    found = [
        _mark("error", as_finding(one))
        for one in getattr(error, "diagnostics", ())
        if one.location and one.location.filename == path
    ]
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    if not found and lines:
        text = f"{type(error).__name__}: {error}".replace(path, FILE)
        place = {"line": lines[-1], "column": 1, "endLine": None, "endColumn": None}
        found = [{"severity": "error", "text": text, **place}]
    return found


def examples() -> list[Answer]:
    """The examples, each with its answers."""
    found = []
    for path in sorted(Path(__file__).with_name("examples").glob("*.py")):
        head, _, text = path.read_text(encoding="utf-8").partition("\n")
        title, _, call = head.removeprefix("# ").partition(" | ")
        one = {"name": path.stem[2:], "title": title, "text": text, "call": call}
        found.append(one | {"converted": converted(text), "called": called(text, call)})
    return found


if __name__ == "__main__":
    json.dump(examples(), sys.stdout, indent=1)
