"""Each program gives what NumPy gives, staged and eager, on small inputs."""

from __future__ import annotations

import importlib
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import runtime as tf
from benchmarks.contest import different
from benchmarks.libraries import LIBRARIES, OURS
from benchmarks.session import has_program, load, results
from benchmarks.workloads import WORKLOADS, chosen
from tests.turns import by_turns

FOLDER = Path(importlib.import_module("benchmarks.workloads").__file__).parent
CALLED = [work for work in WORKLOADS if work.measure in ("call", "first")]


@pytest.mark.parametrize("workload", by_turns(CALLED), ids=lambda work: work.name)
def test_results(workload) -> None:
    if workload.name == "keras_fit":
        pytest.importorskip("keras")
    _compare(workload.programs(), workload)


def test_the_example_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    [source] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "example_workload.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)

    _compare(importlib.import_module("example_workload"), WORKLOADS[0])


def _compare(module, workload) -> None:
    expected = _result("numpy", np, "plain", module)

    for way in LIBRARIES[OURS].ways:
        if not has_program(OURS, way, module):
            continue
        needed = {"xla": "jax", "native": "llvmlite"}.get(way, "runtime")
        if find_spec(needed) is None:
            continue
        assert different(expected, _result(OURS, tf, way, module), workload) == ""


def _result(name, library, way, module) -> list[np.ndarray]:
    call, arguments = load(name, library, way, module, "tiny")
    return results(call, arguments, module)


def test_a_wrong_gradient_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what is trained more than one call is compared."""
    workload = chosen(["linear_step"])[0]
    module = workload.programs()
    expected = _result("numpy", np, "plain", module)
    assert len(expected) == 3
    monkeypatch.setattr(tf.Variable, "assign_sub", lambda *_: None)
    found = _result(OURS, tf, "eager", module)
    assert different(expected[:1], found[:1], workload) == ""
    assert different(expected, found, workload)


def test_what_compiles_itself_has_no_eager_form() -> None:
    module = chosen(["keras_fit"])[0].programs()
    assert has_program(OURS, "staged", module)
    assert not has_program(OURS, "eager", module)
    assert not has_program("torch", "eager", module)


def test_every_file_is_in_the_list() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    named = {
        work.module for work in WORKLOADS if work.measure not in ("import", "size")
    }

    assert named == files
    assert len({work.name for work in WORKLOADS}) == len(WORKLOADS)


def test_inputs_are_the_same_each_time() -> None:
    for workload in CALLED:
        module = workload.programs()
        first, again = (load("numpy", np, "plain", module, "tiny")[1] for _ in range(2))
        assert all(map(np.array_equal, first, again))


def test_chosen() -> None:
    assert chosen([]) == WORKLOADS
    assert [work.name for work in chosen(["gelu", "rnn"])] == ["rnn", "gelu"]
    with pytest.raises(ValueError, match="'geloo'; --list"):
        chosen(["geloo", "rnn"])


def test_a_program_is_read_on_one_screen() -> None:
    for path in FOLDER.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        for program in re.split(r"\n\n\ndef ", text):
            assert path.stem == "__init__" or program.count("\n") <= 25, path
