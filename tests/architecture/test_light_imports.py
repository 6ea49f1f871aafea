"""What importing a package may bring along, and that nothing else comes with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def loaded_by(statement: str) -> set[str]:
    """The modules of a fresh interpreter after `statement`."""
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import autograph", {"numpy", "runtime", "gast", "astor", "ast", "inspect"}),
        ("import autograph.operators", {"numpy", "runtime", "gast", "astor", "ast"}),
        (
            "import autograph.loading.import_hook",
            {"numpy", "runtime", "gast", "astor", "ast"},
        ),
        ("import autograph.commandline.main", {"numpy", "runtime", "gast", "astor"}),
        ("import runtime, autograph", {"numpy.random", "gast", "astor"}),
        (
            "import runtime, autograph",
            {"PIL", "runtime.ops.pictures", "runtime.ops.signals"},
        ),
        ("import runtime as tf, autograph; tf.image.resize", {"PIL"}),
        ("import runtime as tf, autograph; tf.Variable(1.0)", {"runtime.data", "csv"}),
    ],
)
def test_stays_light(statement: str, absent: set[str]) -> None:
    loaded = loaded_by(statement)

    assert "autograph" in loaded
    assert loaded & absent == set()


def test_runtime_needs_no_compiler() -> None:
    """It is imported for the first graph that is built."""
    start = "import runtime as tf; tf.Variable(1.0).assign_add(2.0) * 3"

    assert "autograph" not in loaded_by(start)
    assert "autograph" in loaded_by(f"{start}; tf.function(len, autograph=False)([])")
    assert "autograph" in loaded_by(f"{start}; tf.Graph().as_default().__enter__()")


@pytest.mark.parametrize(
    "statement",
    [
        "import runtime, autograph",
        "import autograph, runtime",
        "import autograph.ownership, runtime",
    ],
)
def test_the_compiler_knows_the_runtime(statement: str) -> None:
    """Whichever of the two was imported first."""
    loaded = loaded_by(
        f"{statement}; assert autograph.ownership.is_library_module('runtime.ops');"
        "assert runtime.Variable.__autograph_backend__"
    )

    assert "runtime.staging.compiler.install" in loaded


def test_compiler_needs_no_tensor_library() -> None:
    """Converting and running a function works without NumPy being importable."""
    loaded = loaded_by(
        "sys.modules['numpy'] = None; import autograph, textwrap; "
        "assert autograph.convert(textwrap.dedent)('  a') == 'a'; "
        "del sys.modules['numpy']"
    )

    assert {"gast", "autograph.pipeline"} <= loaded
    assert {"numpy", "runtime"} & loaded == set()
