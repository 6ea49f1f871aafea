"""The examples of README.md and docs/ run, and say what the pages say.

In a page, top to bottom, in an empty folder of its own:

- ``pycon`` blocks are doctests, and share their names with the ``python`` blocks;
- ``python title="name.py"`` blocks become files; other ``python`` blocks are run;
- ``console`` blocks are commands (``$ autograph …``, ``$ python …``, ``$ echo $?``) and
  their output, which ``--update-golden`` writes anew.

``<!-- needs: package -->`` skips a page where an extra is not installed, and
``<!-- block needs: package -->`` the block that it stands before.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import linecache
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograph.commandline.main import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Those that train models take long.
PARAMETERS = [
    pytest.param(
        path,
        id=str(path.relative_to(ROOT)),
        marks=[pytest.mark.slow] if path.parent.name == "examples" else [],
    )
    for path in PAGES
]
FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("path", PARAMETERS)
def test_page(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    text = path.read_text(encoding="utf-8")
    for package in re.findall(r"<!-- needs: (\w+) -->", text):
        # Not importorskip: Keras is to be imported by tf.keras alone.
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # for the commands
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = set(sys.modules)
    page = Page(text, path.name, check=not update_golden)
    try:
        new = FENCE.sub(page.run_block, text)
    finally:
        # The page's own files must not be found by the next one.
        for name in set(sys.modules) - modules:
            if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
    if update_golden and new != text:
        path.write_text(new, encoding="utf-8")


class Page:
    """A page whose blocks are run in order, in the current folder."""

    def __init__(self, text: str, name: str, check: bool) -> None:
        self.text = text
        self.name = name
        self.check = check
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.status = 0

    def run_block(self, block: re.Match[str]) -> str:
        """Run a block; return it with the output that its commands have now."""
        needs = re.search(
            r"<!-- block needs: (\w+) -->\s*\Z", self.text[: block.start()]
        )
        if needs is not None and importlib.util.find_spec(needs[1]) is None:
            return block[0]
        language, info, body = block.groups()
        where = f"{self.name}:{self.text.count(chr(10), 0, block.start()) + 1}"
        title = re.search(r'title="([^"]+)"', info)
        if title:
            path = Path(title[1])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
        elif language == "pycon":
            self.run_doctest(body, where)
        elif language == "python":
            path = Path(f"block_{len(list(Path().iterdir()))}.py").resolve()
            path.write_text(body, encoding="utf-8")
            exec(compile(body, str(path), "exec"), self.names)
        elif language == "console":
            body = "".join(self.run_commands(body, where))
        return f"```{language}{info}\n{body}```"

    def run_doctest(self, body: str, where: str) -> None:
        test = doctest.DocTestParser().get_doctest(body, self.names, where, where, 0)
        report = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        runner.run(test, out=report.write, clear_globs=False)
        self.names.update(test.globs)
        for number, example in enumerate(test.examples):
            # Later blocks may convert what this one defined.
            filename = f"<doctest {where}[{number}]>"
            lines = example.source.splitlines(keepends=True)
            linecache.cache[filename] = (len(example.source), None, lines, filename)

        assert runner.failures == 0, report.getvalue()

    def run_commands(self, body: str, where: str) -> Iterator[str]:
        """Each command of a console block with its output."""
        for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            got = self.output_of(command)
            same = got is None or doctest.OutputChecker().check_output(
                expected, got, doctest.ELLIPSIS
            )

            assert same or not self.check, f"{where}: $ {command}\n{got}"
            # A fault of ours is not to be written down.
            assert not re.search("AG400|Traceback", got or ""), got
            yield f"$ {command}\n{expected if same else got}"

    def output_of(self, command: str) -> str | None:
        """What a command prints; None for those not to be run (`pip install …`)."""
        program, *arguments = shlex.split(command)
        if command == "echo $?":
            return f"{self.status}\n"
        if program == "autograph":
            output = io.StringIO()
            with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
                self.status = main(arguments)
            return output.getvalue()
        if program == "python":
            done = subprocess.run(
                [sys.executable, *arguments],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            self.status = done.returncode
            return done.stdout
        return None


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


@pytest.mark.parametrize("page", ["docs/internals.md", "CONTRIBUTING.md"])
def test_every_module_that_is_named_exists(page: str) -> None:
    """A path such as `ops/apply.py` is one of this checkout, from some folder on."""
    text = (ROOT / page).read_text(encoding="utf-8")
    present = {
        str(path.relative_to(folder)).replace("\\", "/")
        for top in ("autograph", "runtime", "tests", "benchmarks")
        for path in (ROOT / top).rglob("*.py")
        for folder in path.parents
        if folder.is_relative_to(ROOT)
    }

    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert sorted(named - present) == []


def test_the_example_of_an_op_is_the_code() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    family = ROOT / "runtime" / "ops" / "elementwise" / "functions.py"

    (example,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)

    assert example in family.read_text(encoding="utf-8")
