"""The corpus on tensors: staged means what eager means, or is refused with a code."""

from __future__ import annotations

import re

import pytest

from tests import modes
from tests.corpus_loader import Entry, entries

CODE = re.compile(r"AG\d\d\d")
#: What cannot be compared, and why.
OTHERWISE = {
    "data_structures.merge": "list += tensor adds elements when eager, as TensorFlow's",
    "generators.coroutine": "gives a coroutine, which no graph can",
    "numeric.bisection": "does not end in single precision",
}
#: Where eager tensors differ from the numbers and lists that they stand for (their
#: texts, methods of lists), and staged ones do not.
AS_PYTHON = {
    "calls.method_calls",
    "comprehensions.consumers",
    "strings.evaluated_in_order",
    "strings.report",
}
COMPARED = [entry for entry in entries() if entry.name not in OTHERWISE]


@pytest.mark.parametrize("entry", COMPARED, ids=lambda entry: str(entry.name))
def test_staged_is_eager(entry: Entry) -> None:
    arguments = entry.cases[0]
    reference = "plain" if entry.name in AS_PYTHON else "eager"
    eager = modes.run(entry.function, arguments, reference)
    for mode in ("staged", "interpreted"):
        found = modes.run(entry.function, arguments, mode)
        if found.code is not None or eager.code is not None:
            assert CODE.fullmatch(found.code or eager.code or "")
            continue
        assert _kind(found) == _kind(eager), (mode, found, eager)
        assert modes.same(found.value, eager.value), (mode, found, eager)


def _kind(result: modes.Result) -> str | None:
    """The type of the error; which names are free differs between the Pythons."""
    return "NameError" if result.error == "UnboundLocalError" else result.error


def test_what_is_not_compared_is_there() -> None:
    assert OTHERWISE.keys() | AS_PYTHON <= {entry.name for entry in entries()}
