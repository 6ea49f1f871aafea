"""The rules of source are true: each is compared with the kernel of its op."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from runtime.core.graph import record
from runtime.core.graph.record import Fails, Op
from runtime.core.types import dtypes
from runtime.engines.numpy_source.rules import RULES
from runtime.ops.kernels.extremes import extreme
from runtime.ops.kernels.select import select
from runtime.ops.kernels.special import erf
from tests.runtime.ops.test_record import (
    assert_same,
    computed,
    named,
    of_numbers,
    operands,
)


def having(part: str) -> list[Op]:
    return [record.get(op) for op, rule in RULES.items() if getattr(rule, part)]


def test_rules_are_of_ops_that_can_have_them() -> None:
    for name, rule in RULES.items():
        op = record.get(name)
        assert op.family not in ("text", "python", "check", "state")
        if rule.unchecked:
            assert not rule.source
        if rule.large:
            assert rule.source
    assert RULES["PyFunc"].source == ""


@pytest.mark.parametrize(
    "op", [op for op in having("source") if RULES[op.name].steps], ids=named
)
def test_expressions_and_steps_compute_what_kernels_do_for_all_dtypes(op: Op) -> None:
    rule = RULES[op.name]
    (step,) = rule.steps
    assert isinstance(rule.source, str)
    for dtype in of_numbers(op):
        for arrays in operands(op, dtype):
            names = [f"x{i}" for i in range(len(arrays))]
            scope = {"np": np, **dict(zip(names, arrays))}
            expected = computed(op, arrays)
            for text in (rule.source, step.replace(", out={out}", "")):
                with np.errstate(all="ignore"):
                    assert_same(eval(text.format(*names), scope), expected)


@pytest.mark.parametrize("op", having("large"), ids=named)
def test_what_is_written_for_large_results_computes_what_kernels_do(
    op: Op, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.ops.kernels.extremes.FEW", 2)
    monkeypatch.setattr("runtime.ops.kernels.select.FEW", 2)
    large = RULES[op.name].large
    for dtype in of_numbers(op):
        for arrays in operands(op, dtype):
            pairs = [arrays]
            if len(arrays) == 2:  # an array and a number, in any order
                if not arrays[1].size:
                    continue
                number = arrays[1].reshape(-1)[:1].reshape(())
                pairs = [[arrays[0], number], [number, arrays[0]]]
            for given in pairs:
                names = [f"x{i}" for i in range(len(given))]
                scope = {"np": np, "extreme": extreme, "select": select}
                scope |= dict(zip(names, given))
                with np.errstate(all="ignore"):
                    found = eval(large.format(*names), scope)
                    scope["out"] = np.empty_like(found)
                    eval(f"{large[:-1]}, out=out)".format(*names), scope)
                assert_same(found, computed(op, given))
                assert_same(scope["out"], found)


@pytest.mark.parametrize("op", having("unchecked"), ids=named)
def test_what_is_written_unchecked_computes_what_kernels_do(op: Op) -> None:
    unchecked = RULES[op.name].unchecked
    for dtype in of_numbers(op):
        if dtype.kind not in ("iuf" if op.fails is Fails.DIVISOR else "iu"):
            continue
        for x, _ in operands(op, dtype):
            for number in (1, 2, 3, 7):
                y = np.array(number, dtype.np_dtype)
                with np.errstate(all="ignore"):
                    found = eval(unchecked.format("x", "number"))
                assert_same(found, computed(op, [x, y]))


@pytest.mark.parametrize("op", having("steps"), ids=named)
def test_steps_compute_what_kernels_do(op: Op) -> None:
    for dtype in of_numbers(op):
        if dtype.kind == "c" or (op.name == "Round" and dtype.kind != "f"):
            continue
        if op.fails in (Fails.DIVISOR, Fails.EXPONENT) and dtype.is_integer:
            continue  # Only divisors that are known are divided by in blocks.
        for arrays in operands(op, dtype):
            expected = computed(op, arrays)
            out = np.empty_like(expected)
            names = [f"x{i}" for i in range(len(arrays))]
            scope = {"np": np, "extreme": extreme, "select": select, "erf": erf}
            scope |= {"out": out, **dict(zip(names, arrays))}
            for step in RULES[op.name].steps:
                with np.errstate(all="ignore"):
                    exec(step.format(*names, out="out", alpha=0.2), scope)
            assert_same(out, expected)


# --- Python's own numbers -------------------------------------------------------------

INTS = [-9, -2, -1, 0, 1, 3, 8]


@pytest.mark.parametrize("op", having("python"), ids=named)
def test_python_computes_what_kernels_do(op: Op) -> None:
    python = RULES[op.name].python
    names, bools = ("x", "y"), op.takes == (dtypes.bool,)
    count = 2 if "{1}" in python else 1
    for numbers in itertools.product([True, False] if bools else INTS, repeat=count):
        if op.fails is Fails.DIVISOR and not numbers[1]:
            continue
        expected = computed(op, [np.array(number) for number in numbers])
        text = python.format(*names)
        assert eval(text, dict(zip(names, numbers))) == expected, (text, numbers)


@pytest.mark.parametrize("op", having("bounds"), ids=named)
def test_results_lie_within_bounds(op: Op) -> None:
    rule = RULES[op.name]
    assert rule.bounds is not None
    ranges = [(a, b) for a, b in itertools.product(INTS, INTS) if a <= b]
    count = 2 if "{1}" in rule.python else 1
    for given in itertools.product(ranges, repeat=count):
        found = rule.bounds(*given)
        if found is None:
            continue
        assert {type(bound) for bound in found} == {int}, given
        ends = itertools.product(*given)
        for numbers in ends:
            if op.fails is Fails.DIVISOR and not numbers[1]:
                continue
            result = int(computed(op, [np.array(number) for number in numbers]))
            assert found[0] <= result <= found[1], (given, numbers)
