"""The types that both packages ship, in a program that is checked strictly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_strict_program_has_no_error(tmp_path: Path) -> None:
    client, wrong = tmp_path / "client.py", tmp_path / "wrong.py"
    client.write_text((ROOT / "tests" / "typed_client.py").read_text())
    wrong.write_text("import client\n\nwrong: str = client.clip(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", client.name, wrong.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )
    # Of installed packages mypy shows no errors; of these it does.
    of_client = [
        line.partition(": ")[2]
        for line in done.stdout.splitlines()
        if line.startswith(("client.py", "wrong.py"))
    ]
    assert of_client == [
        'error: Incompatible types in assignment (expression has type "int", '
        'variable has type "str")  [assignment]'
    ]
