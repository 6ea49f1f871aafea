"""Where the operators say that the user's code is."""

from __future__ import annotations

import sys

from autograph.operators.location import user_location


def test_the_expression_that_runs_is_found() -> None:
    found = [0, user_location()][1]
    assert found is not None
    assert found.filename == __file__
    assert (
        found.lineno
        == test_the_expression_that_runs_is_found.__code__.co_firstlineno + 1
    )
    if sys.version_info >= (3, 11):
        assert (found.col, found.end_col) == (16, 31)
        assert found.end_lineno == found.lineno
    else:
        assert (found.col, found.end_col) == (0, None)
