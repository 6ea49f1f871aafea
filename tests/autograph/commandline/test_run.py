"""``autograph run``: programs as Python runs them, and converted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograph.commandline import run

ROOT = str(Path(run.__file__).parents[2])
PROGRAM = """\
import sys
import helper

def clip(x):
    if x > 10:
        raise ValueError(f"{x} is too much")
    return x

if __name__ == "__main__":
    print(sys.argv, __file__, clip(helper.double(2)))
    print(any(name.endswith("operators") for name in sys.modules) and "ag" in globals())
    sys.exit(clip(int(sys.argv[1])))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program beside a module that it imports, also as a package."""
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helper.py").write_text("def double(x):\n    return 2 * x\n")
    package = tmp_path / "tool"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        PROGRAM.replace("import helper", "from . import helper")
    )
    (package / "helper.py").write_text(
        "def double(x):\n    return 2 * x if x > 0 else x\n"
    )
    return tmp_path


def ran(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ROOT},
    )


def test_a_file_runs_as_python_runs_it(folder: Path) -> None:
    plain = ran(folder, "program.py", "3")
    found = ran(folder, "-m", "autograph", "run", "program.py", "3")

    assert plain.stdout.endswith("program.py 4\nFalse\n")
    assert found.stdout == plain.stdout.replace("False", "True")
    assert (found.returncode, found.stderr) == (3, "")


def test_options_behind_the_file_are_the_programs(folder: Path) -> None:
    (folder / "program.py").write_text("import sys\nprint(sys.argv[1:])\n")

    found = ran(folder, "-m", "autograph", "run", "program.py", "--help", "-m", "x")
    assert found.stdout == "['--help', '-m', 'x']\n"
    found = ran(folder, "-m", "autograph", "run", "--", "program.py", "--", "-::x")
    assert found.stdout == "['--', '-::x']\n"


def test_a_module_runs_with_its_package_converted(folder: Path) -> None:
    found = ran(folder, "-m", "autograph", "run", "-m", "tool", "5")

    assert found.stdout.splitlines()[0].endswith("__main__.py 4")
    assert found.stdout.splitlines()[1] == "True"
    assert (found.returncode, found.stderr) == (5, "")


def test_an_exception_has_the_traceback_of_the_program_alone(folder: Path) -> None:
    plain = ran(folder, "program.py", "30")
    found = ran(folder, "-m", "autograph", "run", "program.py", "30")

    assert found.returncode == plain.returncode == 1
    assert plain.stderr.splitlines()[-1] == "ValueError: 30 is too much"

    def without_carets(text: str) -> list[str]:
        lines = text.replace(f"{folder}{os.sep}", "").splitlines()
        return [line for line in lines if set(line) - set(" ^~")]

    assert without_carets(found.stderr) == without_carets(plain.stderr)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], "AG401"),
        (["missing.py"], "AG401"),
        (["broken.py"], "AG100"),
    ],
)
def test_programs_that_do_not_run(folder: Path, words: list[str], code: str) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    found = ran(folder, "-m", "autograph", "run", *words)

    assert found.returncode in (1, 2)
    assert code in found.stderr
    assert "Traceback" not in found.stderr


def test_a_module_that_is_not_there(folder: Path) -> None:
    found = ran(folder, "-m", "autograph", "run", "-m", "no_such_module")

    assert found.returncode == 1
    assert "No module named no_such_module" in found.stderr
