"""``autograph check``: findings, their forms, and what takes them off."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograph.commandline import check
from autograph.commandline.main import main
from autograph.commandline.progress import progress

Captured = pytest.CaptureFixture[str]

GENERATOR = """\
def positive(numbers):
    for number in numbers:
        if number > 0:
            yield number
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file that is fine, and one with a finding."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fine.py").write_text("def f(x):\n    return x if x > 0 else -x\n")
    (tmp_path / "stays.py").write_text(GENERATOR)
    return tmp_path


def found_by(*arguments: str, capsys: Captured) -> list[tuple[str, str, int]]:
    """The code, file and line of each finding."""
    main(["check", *arguments, "--json"])
    record = json.loads(capsys.readouterr().out)
    return [
        (
            one["code"],
            one["location"]["filename"],
            one["location"]["line"],
        )
        for one in record["findings"]
    ]


def test_a_finding_has_a_place_and_a_way_out(project: Path, capsys: Captured) -> None:
    assert main(["check", "stays.py"]) == 1
    text = capsys.readouterr().out

    assert text.startswith("stays.py:2:19: AG106 left unconverted\n   2 |")
    assert "^^^^^^^" in text
    assert "  fix: to let a tensor decide it: " in text
    assert "1 finding in 1 of 1 file;" in text


def test_a_folder_without_findings(project: Path, capsys: Captured) -> None:
    (project / "stays.py").unlink()

    assert main(["check"]) == 0
    assert capsys.readouterr().out.startswith("No findings in 1 file.\n")


def test_nothing_is_executed_or_written(project: Path, capsys: Captured) -> None:
    (project / "fine.py").write_text("raise SystemExit('executed')\n")
    before = sorted(os.listdir(project))

    assert main(["check"]) == 1
    assert sorted(os.listdir(project)) == before


@pytest.mark.skipif(sys.platform == "emscripten", reason="its stack is small")
def test_what_is_wrong_does_not_hide_the_rest(project: Path, capsys: Captured) -> None:
    (project / "broken.py").write_text("def f(:\n")
    (project / "latin.py").write_bytes(b"# caf\xe9\n")
    (project / "deep.py").write_text(
        f"def f(x):\n    return {'+'.join('x' * 30_000)}\n"
    )
    (project / "book.ipynb").write_text("{")
    targets = [".", "missing.py"]

    assert main(["check", *targets, "--json"]) == 2
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [one["code"] for one in findings] == [
        "AG401",
        "AG100",
        "AG105",
        "AG100",
        "AG106",
        "AG401",
    ]


def test_cells_of_a_notebook(project: Path, capsys: Captured) -> None:
    cells = ["%time 1", GENERATOR, "%%bash\nls", "def f(:"]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    (project / "book.ipynb").write_text(json.dumps(notebook))

    assert found_by("book.ipynb", capsys=capsys) == [
        ("AG106", "book.ipynb[2]", 2),
        ("AG100", "book.ipynb[4]", 1),
    ]


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# autograph: ignore[AG106]", []),
        ("# autograph: ignore[ag105, AG106] because", []),
        ("# autograph: ignore", []),
        ("# autograph: ignore[AG105]", ["AG106"]),
        ("# autograph: ignore[AG998]", ["AG106", "AG407"]),
    ],
)
def test_comments_take_findings_off_a_line(
    project: Path, capsys: Captured, comment: str, codes: list[str]
) -> None:
    lines = GENERATOR.splitlines()
    lines[1] += f"  {comment}"
    (project / "stays.py").write_text("\n".join(lines) + "\n")

    found = found_by("stays.py", capsys=capsys)
    assert sorted(code for code, _, _ in found) == codes


def test_a_comment_in_a_text_takes_nothing_off(project: Path, capsys: Captured) -> None:
    text = GENERATOR.replace("> 0", "> len('# autograph: ignore')")
    (project / "stays.py").write_text(text)

    assert len(found_by("stays.py", capsys=capsys)) == 1


def test_codes_are_selected_and_ignored(project: Path, capsys: Captured) -> None:
    (project / "broken.py").write_text("def f(:\n")

    assert len(found_by(capsys=capsys)) == 2
    assert [f[0] for f in found_by("--select", "AG106", capsys=capsys)] == ["AG106"]
    assert [f[0] for f in found_by("--ignore", "ag106", capsys=capsys)] == ["AG100"]
    assert found_by("--select", "AG1", "--ignore", "AG100,AG106", capsys=capsys) == []
    assert main(["check", "--select", "AG9"]) == 2
    assert "AG407" in capsys.readouterr().err


def test_the_nearest_configuration_decides(project: Path, capsys: Captured) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "stays.py").write_text(GENERATOR)
    (project / "pyproject.toml").write_text('[tool.autograph]\nignore = ["AG106"]\n')

    assert found_by(capsys=capsys) == []
    (inner / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert [path for _, path, _ in found_by(capsys=capsys)] == ["inner/stays.py"]


def test_skipped_files_are_checked_if_they_are_named(
    project: Path, capsys: Captured
) -> None:
    inner = project / "data" / "more"
    inner.mkdir(parents=True)
    (inner / "stays.py").write_text(GENERATOR)
    (project / "pyproject.toml").write_text(
        '[tool.autograph]\nskip = ["data", "s*.py"]\n'
    )

    assert found_by(capsys=capsys) == []
    assert len(found_by("stays.py", capsys=capsys)) == 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[tool.autograph]\nselct = []\n", "`selct` is not known"),
        ("[tool.autograph]\nskip = 'a'\n", "`skip` in [tool.autograph] is no list"),
        ("[tool]\nautograph = 1\n", "`tool.autograph` is no table"),
        ("[tool.autograph\n", "line 1"),
        ("[tool.autograph]\nignore = ['AG9']\n", "there is no error code `AG9`"),
    ],
)
def test_a_wrong_configuration_is_named(
    project: Path, capsys: Captured, text: str, why: str
) -> None:
    if sys.version_info < (3, 11):
        pytest.importorskip("tomli")
    (project / "pyproject.toml").write_text(text)

    assert main(["check"]) == 2
    assert why in capsys.readouterr().err


def test_statistics(project: Path, capsys: Captured) -> None:
    (project / "more.py").write_text(GENERATOR)

    assert main(["check", "--statistics"]) == 1
    assert capsys.readouterr().out == "     2  AG106  left unconverted\n"


def test_github(project: Path, capsys: Captured) -> None:
    (project / "a,b.py").write_text(GENERATOR)
    main(["check", "a,b.py", "--format", "github"])

    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(
        "::notice title=AG106 left unconverted,file=a%2Cb.py,"
        "line=2,endLine=2,col=19,endColumn=26::the statement has a `yield` in it%0A"
    )


def test_sarif_is_what_its_schema_says(project: Path, capsys: Captured) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(__file__).with_name("sarif-2.1.0.json").read_text("utf-8"))
    (project / "broken.py").write_text("def f(:\n")
    (project / "é.py").write_text(GENERATOR.replace("numbers", "é"))
    main(["check", ".", "missing.py", "--format", "sarif"])

    log = json.loads(capsys.readouterr().out)
    jsonschema.validate(log, schema)
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == [
        "AG100",
        "AG106",
        "AG401",
    ]
    accented = run["results"][-2]["locations"][0]["physicalLocation"]
    assert accented["artifactLocation"]["uri"] == "%C3%A9.py"
    assert accented["region"] == {
        "startLine": 2,
        "startColumn": 19,
        "endLine": 2,
        "endColumn": 20,
    }
    assert "locations" not in run["results"][-1]


@pytest.mark.skipif(sys.platform == "emscripten", reason="it has no processes")
def test_many_files_are_checked_by_several_processes(
    project: Path, capsys: Captured
) -> None:
    for number in range(40):
        (project / f"module_{number:02}.py").write_text(GENERATOR)
    expected = found_by("--jobs", "1", capsys=capsys)

    assert len(expected) == 41
    assert found_by("--jobs", "2", capsys=capsys) == expected


def test_a_wrong_number_of_processes(project: Path, capsys: Captured) -> None:
    assert main(["check", "--jobs", "0"]) == 2
    assert "must be positive" in capsys.readouterr().err


def test_virtual_environments_are_left_out(project: Path, capsys: Captured) -> None:
    (project / "env").mkdir()
    (project / "env" / "pyvenv.cfg").touch()
    (project / "env" / "stays.py").write_text(GENERATOR)

    assert [path for _, path, _ in found_by(capsys=capsys)] == ["stays.py"]


def test_a_pipe_that_closes(project: Path) -> None:
    (project / "many.py").write_text(GENERATOR * 5000)
    command = f"{sys.executable} -m autograph check many.py | head -1"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(check.__file__).parents[2])},
    )

    assert done.stdout.startswith("many.py:2:19: AG106")
    assert done.stderr == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    times = iter(range(10))
    monkeypatch.setattr(
        "autograph.commandline.progress.time.monotonic", lambda: next(times)
    )
    with progress("checking", 2, terminal) as advance:
        advance()
        advance()

    assert terminal.getvalue() == (
        f"\rchecking [{'#' * 15:30}] 1/2\rchecking [{'#' * 30}] 2/2\r\x1b[K"
    )


def test_progress_is_not_shown_in_files() -> None:
    file = io.StringIO()
    with progress("checking", 1, file) as advance:
        advance()

    assert file.getvalue() == ""


def test_a_package_is_all_of_its_modules(project: Path, capsys: Captured) -> None:
    (project / "shop").mkdir()
    (project / "shop" / "__init__.py").touch()
    (project / "shop" / "till.py").write_text(GENERATOR)

    assert [line for _, _, line in found_by("shop", capsys=capsys)] == [2]


def test_a_module_of_a_package_by_its_name(capsys: Captured) -> None:
    main(["check", "json", "--json"])
    assert json.loads(capsys.readouterr().out)["files"] > 3


def test_a_part_of_a_file(project: Path, capsys: Captured) -> None:
    two = GENERATOR + GENERATOR.replace("positive", "again")
    (project / "stays.py").write_text(two)

    assert [f[2] for f in found_by("stays.py::again", capsys=capsys)] == [6]
    assert main(["check", "stays.py::missing"]) == 2
    assert "AG403" in capsys.readouterr().out
