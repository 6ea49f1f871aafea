"""``breakpoint()`` in a function that is being traced."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import runtime as tf

ROOT = Path(__file__).resolve().parents[4]

PROGRAM = """\
import runtime as tf

def helper(m):
    k = m * 2
    breakpoint()
    return k

@tf.function
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            breakpoint()
        else:
            n = 3 * n + 1
        steps += 1
    total = helper(steps)
    return total

print(collatz(tf.constant(6)))
breakpoint()
print("end")
"""


def session(tmp_path: Path, *commands: str) -> list[str]:
    """What a debugger shows for each of these commands, and before them."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONBREAKPOINT"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, str(program)],
        input="\n".join([*commands, ""]),
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    shown = done.stdout.replace(f"{tmp_path}{os.sep}", "").split("(Pdb) ")
    return [part.strip() for part in shown]


def test_the_debugger_shows_the_program(tmp_path: Path) -> None:
    shown = session(
        tmp_path,
        *["p type(n).__name__, steps.dtype.name", "w", "u", "d"],
        *["n", "n", "p type(n).__name__, steps.dtype.name"],
        *["c", "p m.dtype.name, k.dtype.name", "w", "u", "p m", "p steps.dtype.name"],
        *["s", "s", "c", "w", "c"],
    )
    start = shown[0].splitlines()[0]
    # Python 3.13 stops at the call itself, others at what follows.
    assert start.startswith("> program.py(")
    assert start.endswith(")collatz()")
    assert shown[1] == "('SymbolicTensor', 'int64')"
    names = [line.partition(")")[2] for line in shown[2].splitlines()[::2]]
    assert names == ["<module>()", "collatz()"]
    assert shown[3].startswith("> program.py(21)<module>()")
    assert shown[4].splitlines()[0].endswith("collatz()")
    steps = [part.splitlines()[0] for part in shown[5:7]]
    assert all(s.startswith("> program.py(") for s in steps)
    assert all(s.endswith("collatz()") for s in steps)
    assert shown[7] == "('SymbolicTensor', 'int64')"

    assert "helper()" in shown[8]
    assert shown[9] == "('int64', 'int64')"
    names = [line.partition(")")[2] for line in shown[10].splitlines()[::2]]
    assert names == ["<module>()", "collatz()", "helper()"]
    assert shown[11].startswith("> program.py(18)collatz()")
    assert "NameError" in shown[12]
    assert shown[13] == "'int64'"
    assert "helper()" in shown[14]

    # Outside of traces it is Python's own.
    assert shown[16].startswith("tf.Tensor(16")
    assert shown[17].splitlines()[-2].endswith("program.py(23)<module>()") or (
        "program.py(22)<module>()" in shown[17]
    )
    assert shown[18].startswith("end")


def test_the_hook_is_there_while_tracing_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "breakpointhook", sys.__breakpointhook__)
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    hooks = []

    @tf.function
    def inner(x):
        hooks.append(sys.breakpointhook)
        return x

    @tf.function
    def outer(x):
        hooks.append(sys.breakpointhook)
        y = inner.get_concrete_function(tf.TensorSpec([]))(x)
        hooks.append(sys.breakpointhook)
        return y

    outer(tf.constant(1.0))
    assert hooks[0] is hooks[1] is hooks[2] is not sys.__breakpointhook__
    assert sys.breakpointhook is sys.__breakpointhook__


@pytest.mark.parametrize("by", ["hook", "variable"])
def test_a_debugger_that_the_user_chose_stays(
    by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = []

    def hook() -> None:
        called.append(1)

    chosen = hook if by == "hook" else sys.__breakpointhook__
    monkeypatch.setattr(sys, "breakpointhook", chosen)
    monkeypatch.setenv("PYTHONBREAKPOINT", "" if by == "hook" else "0")

    @tf.function
    def traced(x):
        called.append(sys.breakpointhook)
        breakpoint()
        return x

    traced(tf.constant(1.0))
    assert called == ([chosen, 1] if by == "hook" else [chosen])
