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
        ("import autograph.import_hook", {"numpy", "runtime", "gast", "astor", "ast"}),
        ("import autograph.cli", {"numpy", "runtime", "gast", "astor"}),
        ("import runtime", {"numpy.random", "gast", "astor"}),
    ],
)
def test_stays_light(statement: str, absent: set[str]) -> None:
    loaded = loaded_by(statement)

    assert "autograph" in loaded
    assert loaded & absent == set()


def test_compiler_needs_no_tensor_library() -> None:
    """Converting and running a function works without NumPy being importable."""
    loaded = loaded_by(
        "sys.modules['numpy'] = None; import autograph, textwrap; "
        "assert autograph.convert(textwrap.dedent)('  a') == 'a'; "
        "del sys.modules['numpy']"
    )

    assert {"gast", "autograph.pipeline"} <= loaded
    assert {"numpy", "runtime"} & loaded == set()
