"""README.md of the benchmarks says what there is, and the docstrings are right."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__, convert, peers, readability

ROOT = Path(__file__).parents[2]
README = (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
MODULES = sorted(
    path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem != "__init__"
)


@pytest.mark.parametrize("name", [*MODULES, "workloads"])
def test_docstrings(name: str) -> None:
    module = importlib.import_module(f"benchmarks.{name}")

    assert doctest.testmod(module).failed == 0


def test_every_command_is_explained() -> None:
    """What can be run is a heading, and what is a heading can be run."""
    commands = [name for name in MODULES if _is_command(name)]
    headings = re.findall(
        r"^## `python -m benchmarks(?:\.(\w+))?", README, re.MULTILINE
    )

    assert sorted(name or "__main__" for name in headings) == commands


def _is_command(name: str) -> bool:
    text = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
    return '__name__ == "__main__"' in text


@pytest.mark.parametrize("command", [__main__, convert, peers, readability])
def test_every_option_is_explained(
    command: object, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])  # type: ignore[attr-defined]
    options = set(re.findall(r"--\w[\w-]*", capsys.readouterr().out)) - {"--help"}
    name = command.__name__.removesuffix(".__main__")  # type: ignore[attr-defined]
    [heading] = re.findall(rf"^## `python -m {name} (.*)`$", README, re.M)

    assert options == set(re.findall(r"--\w[\w-]*", heading))


def test_a_command_runs_from_the_top_folder() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.imports", "json"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )

    assert "json.decoder" in done.stdout
