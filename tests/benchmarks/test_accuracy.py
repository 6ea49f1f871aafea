"""The table of errors, and how errors are measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from benchmarks import accuracy
from benchmarks.accuracy import Library, apart, largest_error


def test_units_in_the_last_place() -> None:
    exact = np.array([1.0, 1.0, 0.75, 0.0, np.inf, np.nan, 2.0**128, 2.0**-149])
    found = np.array([1, 1 + 2**-22, 0.75 + 2**-24, 2**-149, np.inf, np.nan, 3e38, 0])
    errors = apart(found.astype(np.float32), exact)
    assert errors[:6].tolist() == [0, 2, 1, 1, 0, 0]
    assert errors[6] > 1e6
    assert errors[7] == 1


def test_infinity_is_behind_the_largest_number() -> None:
    largest = np.finfo(np.float32).max
    assert apart(np.array([np.inf, largest], np.float32), np.full(2, 1e300))[0] == 0
    assert apart(np.array([largest], np.float32), np.array([1e300]))[0] == 1


def test_nan_is_no_number() -> None:
    errors = apart(np.array([np.nan, 1], np.float32), np.array([1, np.nan]))
    assert errors.tolist() == [math.inf, math.inf]


@pytest.mark.parametrize("dtype", accuracy.DTYPES)
def test_the_largest_error_is_found(dtype: Any) -> None:
    x = np.linspace(0.5, 3, 100, dtype=dtype)
    wrong = np.exp(x)
    wrong[70] += 50 * np.spacing(wrong[70])
    found = largest_error("exp", Library(lambda _: wrong), (x,))
    assert found.ulps == pytest.approx(50, abs=2)
    assert found.at == (x[70],)


def test_table(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def few(name: str, dtype: Any, part: int) -> Iterator[tuple[Any, ...]]:
        assert part == 5
        yield (np.linspace(0, 1, 100, dtype=dtype),)

    monkeypatch.setattr(accuracy, "arguments", few)
    assert accuracy.main(["exp", "--part", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines[1:]] == [
        ["exp", "float32", "native"],
        ["exp", "float64", "native"],
    ]
    strict = replace(accuracy.FUNCTIONS["exp"], limit=0.1)
    monkeypatch.setitem(accuracy.FUNCTIONS, "exp", strict)
    assert accuracy.main(["exp", "--part", "5"]) == 1
    assert "ABOVE THE LIMIT" in capsys.readouterr().out
