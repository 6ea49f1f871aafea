"""Programs that are saved give the same in another process, without the compiler."""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import UnsavableError
from runtime.files.saved_model.encode import ProgramWriter
from runtime.files.saved_model.results import results
from tests.corpus_loader import files, load
from tests.modes import as_tensors
from tests.runtime.engines.numpy_source.programs import PROGRAMS
from tests.runtime.engines.numpy_source.test_random_programs import Writer
from tests.runtime.files.saved_model.running import outcome
from tests.tensor_programs import random_tensor_program
from tests.turns import by_turns

pytest.importorskip("safetensors")
HERE = Path(__file__).parent
ROOT = HERE.parents[3]

#: Programs of the corpus that are refused, and why.
REFUSED = {
    "assertions.message_is_unbound": "is no data",
    "comprehensions.consumers": "a text that shows an object",
    "strings.evaluated_in_order": "a text that shows an object",
    "strings.report": "a text that shows an object",
}

#: Programs that never end on tensors: in single precision the bounds stay further
#: apart than what the loop waits for.
ENDLESS = {"numeric.bisection"}

Arguments = tuple[Any, ...]
Program = tuple[str, Any, list[Arguments]]


def check(programs: list[Program], folder: Path) -> dict[str, str]:
    """Save the functions and call them elsewhere; gives those that are refused."""
    refused: dict[str, str] = {}
    model, calls, expected = tf.Module(), [], []
    for number, (name, function, runs) in enumerate(programs):
        with contextlib.redirect_stdout(io.StringIO()):
            found = [outcome(function, arguments) for arguments in runs]
        try:
            writer = ProgramWriter()
            for concrete in function.current_traces():
                writer.graph(concrete.graph)
                results(concrete._trace.results, name, writer)
        except UnsavableError as error:
            refused[name] = str(error)
            continue
        setattr(model, f"f{number}", function)
        expected += zip([name] * len(runs), found)
        calls += [(f"f{number}", _arrays(arguments)) for arguments in runs]
    tf.saved_model.save(model, folder / "model", signatures={})
    (folder / "model" / "calls.pickle").write_bytes(pickle.dumps(calls))

    done = subprocess.run(
        [sys.executable, str(HERE / "running.py"), str(folder / "model")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
    )

    assert done.returncode == 0, done.stderr
    gotten = pickle.loads((folder / "model" / "results.pickle").read_bytes())
    for (name, one), other, call in zip(expected, gotten, calls, strict=True):
        assert one == other, (name, call)
    return refused


def _arrays(arguments: Arguments) -> Arguments:
    def array(leaf: Any) -> Any:
        return np.asarray(leaf.numpy()) if isinstance(leaf, tf.Tensor) else leaf

    found: Arguments = tf.nest.map_structure(array, arguments)
    return found


def staged(
    function: Callable[..., Any], runs: list[Arguments], **options: Any
) -> tuple[Any, list[Arguments]] | None:
    """A function that is traced for these arguments; None if it cannot be."""
    made = tf.function(function, **options)
    known = []
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for arguments in runs:
            try:
                pickle.dumps(_arrays(arguments))
                made.get_concrete_function(*arguments)
            except Exception:
                continue
            known.append(arguments)
    return (made, known) if known else None


def of_corpus(part: int) -> Iterator[Program]:
    """Every sixteenth function of the corpus that can be staged."""
    functions = [
        (f"{path.stem}.{name}", function)
        for path in files()
        for name, function in list(vars(load(path)).items())
        if getattr(function, "cases", None)
        and getattr(function, "__name__", None) == name
    ]
    for name, function in functions[part::16]:
        if name in ENDLESS:
            continue
        runs = []
        for arguments in function.cases:
            with contextlib.suppress(Exception):
                runs.append(tuple(map(as_tensors, copy.deepcopy(arguments))))
        found = staged(function, runs)
        if found is not None:
            yield name, *found


def compiled(text: str, filename: str) -> Callable[..., Any]:
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    namespace: dict[str, Any] = {"tf": tf}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]  # type: ignore[no-any-return]


def test_programs_of_the_runtime(tmp_path: Path) -> None:
    programs = []
    for program in PROGRAMS:
        runs = [tuple(map(tf.constant, run)) for run in program.runs]
        found = staged(program.fn, runs, autograph=False)
        assert found is not None
        programs.append((program.fn.__name__, *found))

    assert check(programs, tmp_path) == {}


@pytest.mark.parametrize("part", by_turns(range(16)))
def test_programs_of_the_corpus(tmp_path: Path, part: int) -> None:
    programs = list(of_corpus(part))
    assert len(programs) > 12

    for name, why in check(programs, tmp_path).items():
        assert REFUSED.get(name, "nothing") in why, (name, why)


@pytest.mark.parametrize("first", by_turns(range(0, 40, 5)))
def test_random_programs_of_ops(tmp_path: Path, first: int) -> None:
    programs = []
    for seed in range(first, first + 5):
        function = compiled(Writer(seed).function(), f"<saved ops {seed}>")
        runs = [(1, 2, 3, 4), (-3, 0, 9, 2), (0, 5, -1, 7)]
        tensors = [tuple(map(tf.constant, run)) for run in runs]
        found = staged(function, tensors, autograph=False)
        assert found is not None
        programs.append((f"seed {seed}", *found))

    assert check(programs, tmp_path) == {}


@pytest.mark.slow
@pytest.mark.parametrize("first", by_turns(range(0, 40, 5)))
def test_random_programs_of_python(tmp_path: Path, first: int) -> None:
    programs = []
    for seed in range(first, first + 5):
        function = compiled(random_tensor_program(seed), f"<saved program {seed}>")
        runs = [
            (3, 2, 0.5, [2, 0, 5]),
            (-3, 4, 0.0, [1, 1, 3]),
            (0, 1, -1.5, [0, 0, 0]),
        ]
        found = staged(function, [tuple(map(as_tensors, run)) for run in runs])
        if found is not None:
            programs.append((f"seed {seed}", *found))
    # A few are refused with a code; most are not.
    assert len(programs) >= 3

    assert check(programs, tmp_path) == {}
