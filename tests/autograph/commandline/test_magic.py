"""``%%autograph``, in a real IPython."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("IPython")

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

CELL = """\
@tf.function
def f(x):
    if x > 3:
        x = x - 1
    return x
f(tf.constant(5))
"""


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    main = sys.modules["__main__"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        made = InteractiveShell.instance()
        made.history_manager.enabled = False
        made.run_cell("%load_ext autograph\nimport runtime as tf")
        yield made
        InteractiveShell.clear_instance()
    sys.modules["__main__"] = main  # of which the shell has one of its own


def run(shell: Any, cell: str) -> Any:
    with capture_output() as captured:
        shell.run_cell(cell)
    return captured


def test_the_converted_code_of_a_cell(shell: Any) -> None:
    captured = run(shell, f"%%autograph\n{CELL}")

    assert "    x = ag.cond(x > 3, lambda: x - 1, lambda: x)\n" in captured.stdout
    assert int(shell.user_ns["f"](9)) == 8


def test_concrete_functions_show_their_graph(shell: Any) -> None:
    run(shell, CELL)
    concrete = "f.get_concrete_function(tf.TensorSpec([]))"
    captured = run(shell, f"from IPython.display import display\ndisplay({concrete})")

    (shown,) = captured.outputs
    assert "<svg" in shown._repr_html_()


def test_functions_of_ordinary_cells_convert(shell: Any) -> None:
    run(shell, "def g(x):\n    while x > 0:\n        x = x - 2\n    return x")
    assert run(shell, "print(int(tf.function(g)(tf.constant(5))))").stdout == "-1\n"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%%autograph --graph f\n1", "AG404 invalid option"),
        ("%%autograph\n1 / 0", "ZeroDivisionError"),
    ],
)
def test_what_is_wrong_is_told(shell: Any, cell: str, expected: str) -> None:
    assert expected in run(shell, cell).stdout
