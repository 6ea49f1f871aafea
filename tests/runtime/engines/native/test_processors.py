"""Code for processors of several ages: all compute the same.

That for the processor at hand is what the other tests run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import llvmlite.binding as llvm
import numpy as np
import pytest

import runtime as tf
from runtime.engines.native import machine
from runtime.engines.native.library import load
from tests.runtime.engines.native.rules import test_products, test_windows
from tests.runtime.engines.native.sweep import compare
from tests.runtime.ops.comparison import Case
from tests.runtime.random_programs import MAKERS, SEEDS, Program, differences
from tests.turns import EVERYTHING

pytest.importorskip("jax")  # whose tests have the tables

from tests.runtime.engines.xla.rules import test_elementwise, test_reductions

load()
if not llvm.get_process_triple().startswith("x86_64"):
    pytest.skip("for processors of one kind", allow_module_level=True)

#: Each with the widest vectors that it has, and what these need.
PROCESSORS = {
    "x86-64": ("xmm", ()),
    "x86-64-v3": ("ymm", ("avx", "avx2", "fma", "bmi2")),
    "x86-64-v4": ("zmm", ("avx512f", "avx512bw", "avx512dq", "avx512vl")),
}
OLDER = [
    name
    for name, (_, needed) in PROCESSORS.items()
    if all(llvm.get_host_cpu_features().get(each) for each in needed)
]


@pytest.fixture(params=OLDER)
def processor(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    features = {**dict.fromkeys(PROCESSORS[name][1], True), "prefer-256-bit": False}
    made_for = machine.Processor(name, features)
    monkeypatch.setattr(machine, "processor", lambda: made_for)
    return name


def test_vectors_are_as_wide_as_they_may_be(processor: str) -> None:
    a = tf.constant(np.ones((64, 64), np.float32))
    function = tf.function(lambda x: tf.matmul(x, x) + x * x, executor="native")
    text = function.get_concrete_function(a).executable.code.asm
    widest = max(re.findall(r"%([xyz]mm)\d", text))

    assert widest == PROCESSORS[processor][0]


def cases() -> Iterator[Case]:
    """Some of all kinds; many of the elementwise ones."""
    every = 1 if EVERYTHING else 29
    for table in (
        test_elementwise.CASES,
        test_reductions.of_reductions(),
        test_reductions.of_scans(),
        test_products.of_sizes(),
        test_windows.of_convolutions(),
    ):
        yield from (case for number, case in enumerate(table) if number % every == 0)


def test_operations(processor: str) -> None:
    compare(cases(), lambda run, why: True)


@pytest.mark.parametrize("make", MAKERS)
def test_random_programs(processor: str, make: Callable[[int], Program]) -> None:
    found = {seed: list(differences(make(seed), "native")) for seed in SEEDS[::2]}
    assert not {seed: texts for seed, texts in found.items() if texts}
