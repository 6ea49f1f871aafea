"""The examples of README.md and docs/ run, and say what the pages say.

In a page, top to bottom, in an empty folder of its own:

- ``pycon`` blocks are doctests, and share their names with the ``python`` blocks;
- ``python title="name.py"`` blocks become files; other ``python`` blocks are run;
- ``console`` blocks are commands (``$ autograph …``, ``$ python …``, ``$ echo $?``) and
  their output.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograph.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    monkeypatch.syspath_prepend(str(tmp_path))
    names: dict[str, object] = {"__name__": "__main__"}
    modules = set(sys.modules)
    text = page.read_text(encoding="utf-8")
    try:
        for block in FENCE.finditer(text):
            language, info, body = block.groups()
            line = text.count("\n", 0, block.start()) + 1
            run_block(language, info, body, names, f"{page.name}:{line}")
    finally:
        # The page's own files must not be found by the next one.
        for name in set(sys.modules) - modules:
            if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]


def run_block(
    language: str, info: str, body: str, names: dict[str, object], where: str
) -> None:
    title = re.search(r'title="([^"]+)"', info)
    if title:
        path = Path(title[1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body, encoding="utf-8")
    elif language == "pycon":
        run_doctest(body, names, where)
    elif language == "python":
        path = Path(f"block_{len(list(Path().iterdir()))}.py").resolve()
        path.write_text(body, encoding="utf-8")
        exec(compile(body, str(path), "exec"), names)
    elif language == "console":
        for command, expected in commands(body):
            check_output(command, expected, where)


def run_doctest(body: str, names: dict[str, object], where: str) -> None:
    test = doctest.DocTestParser().get_doctest(body, names, where, where, 0)
    report = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    runner.run(test, out=report.write, clear_globs=False)
    names.update(test.globs)

    assert runner.failures == 0, report.getvalue()


def commands(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


last_status = 0


def check_output(command: str, expected: str, where: str) -> None:
    global last_status
    program, *arguments = shlex.split(command)
    if program == "autograph":
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            last_status = main(arguments)
        got = output.getvalue()
    elif program == "python":
        done = subprocess.run(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        last_status, got = done.returncode, done.stdout
    elif command == "echo $?":
        got = f"{last_status}\n"
    else:
        return  # such as `make demo`, `pip install …`
    checker = doctest.OutputChecker()

    assert checker.check_output(expected, got, doctest.ELLIPSIS), (
        f"{where}: $ {command}\n{got}"
    )


def test_every_code_is_explained() -> None:
    """Each AGnnn that the packages can report is explained in docs/errors.md."""
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    used = {
        code
        for package in ("autograph", "runtime")
        for path in (ROOT / package).rglob("*.py")
        for code in re.findall(r"[\"'](AG\d{3})", path.read_text(encoding="utf-8"))
    }

    assert sorted(used - set(re.findall(r"\bAG\d{3}\b", page))) == []
