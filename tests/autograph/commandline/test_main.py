"""The command line, on files that were not written for these tests."""

from __future__ import annotations

import ast
import io
import json
import os
import runpy
import statistics
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pytest

import autograph.pipeline
from autograph._version import __version__
from autograph.commandline import main as cli
from autograph.commandline.main import main
from autograph.diagnostics import Diagnostic, Location

STATISTICS = str(statistics.__file__)
TEXTWRAP = str(textwrap.__file__)

ROOT = Path(cli.__file__).parents[2]

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def clip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small file in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "clip.py"
    path.write_text(
        "raise SystemExit('this file was executed')\n\n\n"
        "def clip(x):\n    if x > 10:  # too much\n        x = 10\n    return x\n"
    )
    return path


# --- targets --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "start"),
    [
        (f"{STATISTICS}::median", "def median(data):"),
        (f"{STATISTICS}::NormalDist.cdf", "def cdf(self, x):"),
        ("statistics:median", "def median(data):"),
        ("json.decoder:JSONDecoder.raw_decode", "def raw_decode(self, s"),
        ("textwrap", '"""Text wrapping and filling.'),
    ],
)
def test_show_prints_converted_code(target: str, start: str, capsys: Captured) -> None:
    status = main(["show", target])
    captured = capsys.readouterr()

    assert status in (0, 1)
    assert captured.out.startswith(start)
    told = [line for line in captured.err.splitlines() if ": AG106 " not in line]
    assert (told == []) == (status == 0)
    assert "ag." in captured.out
    ast.parse(captured.out)


def test_show_does_not_execute(clip: Path, capsys: Captured) -> None:
    assert main(["show", "clip.py::clip"]) == 0
    assert capsys.readouterr().out.startswith("def clip(x):\n")
    assert main(["show", "clip:clip"]) == 0
    assert "clip" not in sys.modules


def test_show_of_standard_input(
    clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(clip.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)

    assert main(["show", "-"]) == 0
    piped = capsys.readouterr().out
    assert main(["show", "clip.py"]) == 0
    assert capsys.readouterr().out == piped


def test_show_of_a_part_of_standard_input(
    clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    stdin = SimpleNamespace(buffer=io.BytesIO(clip.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stdin)

    assert main(["show", "-::clip", "--diff"]) == 0
    assert "def clip(x)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "missing.py"], "AG401 cannot read `missing.py`"),
        (["show", "no_such_module"], "AG402 there is no module"),
        (["show", "clip.py::clop"], "did you mean `clip`?"),
        (["show", "statistics:medain"], "did you mean `median`?"),
        (["show", "clip.py", "-o", "clip.py"], "it is the source itself"),
        (["show", "clip.py", "-o", "no/such/folder.py"], "AG404 cannot write"),
        (["show", "clip.py::clip", "-o", "out.py"], "leave `clip` out"),
        (["show"], "usage: autograph show"),
        ([], "usage: autograph"),
        (["shwo", "x"], "usage: autograph"),
        (["show", "clip.py", "--diff", "--json"], "not allowed with"),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, clip: Path, capsys: Captured
) -> None:
    before = clip.read_text()
    status = main(arguments)
    captured = capsys.readouterr()

    assert status == 2
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""
    assert clip.read_text() == before


def test_syntax_error_is_located(clip: Path, capsys: Captured) -> None:
    clip.write_text("def clip(x):\n    if x > 10\n        x = 10\n")

    assert main(["show", "clip.py"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(
        "clip.py:2:14: AG100 the source is not valid Python\n"
        "   2 |     if x > 10\n"
        "     |              ^\n"
    )


# --- views ----------------------------------------------------------------------------


def test_diff(clip: Path, capsys: Captured) -> None:
    assert main(["show", "--diff", "clip.py::clip"]) == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[:2] == ["--- clip.py", "+++ clip.py (converted)"]
    assert "-    if x > 10:  # too much" in lines
    assert "     return x" in lines


def test_side_by_side_fits_the_terminal(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in (60, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        main(["show", "--side-by-side", TEXTWRAP])
        lines = capsys.readouterr().out.splitlines()
        longest = max(map(len, lines))

        assert columns - 20 < longest <= columns


def test_color(clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    main(["show", "--diff", "clip.py"])
    assert "\x1b" not in capsys.readouterr().out
    main(["show", "--diff", "--color", "always", "clip.py"])
    assert "\x1b[31m-" in capsys.readouterr().out


def test_patterns_of_modules(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "middle.py"
    file.write_text(
        "import colorsys\ndef f(x):\n    return colorsys.rgb_to_hsv(x, 0, 0)\n"
    )
    written = tmp_path / "written.py"
    arguments = ["show", str(file), "--include", "colorsys", "--exclude", "a.*"]

    assert main(["show", f"{file}::f"]) == 0
    assert "ag.call" not in capsys.readouterr().out
    assert main([*arguments, "--output", str(written)]) == 0
    namespace = runpy.run_path(str(written))
    assert namespace["f"](0.5) == (0.0, 1.0, 0.5)
    assert namespace["ag"] is autograph.operators.scoped("colorsys", "a.*")


def test_json(clip: Path, capsys: Captured) -> None:
    assert main(["show", "--json", "clip.py::clip"]) == 0
    record = json.loads(capsys.readouterr().out)

    assert record["target"] == "clip.py::clip"
    assert record["filename"] == "clip.py"
    assert record["text"].startswith("def clip(x):")
    assert record["diagnostics"] == []


def test_json_of_an_error(clip: Path, capsys: Captured) -> None:
    assert main(["show", "--json", "missing.py"]) == 2
    captured = capsys.readouterr()

    assert json.loads(captured.out)["diagnostics"][0]["code"] == "AG401"
    assert json.loads(captured.out)["text"] is None
    assert captured.err == ""


# --- output ---------------------------------------------------------------------------


def test_written_module_runs_without_the_compiler(tmp_path: Path) -> None:
    """It needs `autograph.operators`, and with it neither gast nor astor nor NumPy."""
    out = tmp_path / "converted_textwrap.py"
    main(["show", TEXTWRAP, "-o", str(out)])
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); "
        "import converted_textwrap as t, textwrap; text = sys.argv[2]; "
        "assert t.fill(text, 30) == textwrap.fill(text, 30) != text; "
        "print(sorted({'gast', 'astor', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), textwrap.__doc__ * 9],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_output_and_a_view(clip: Path, capsys: Captured) -> None:
    assert main(["show", "clip.py", "-o", "out.py"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["show", "clip.py"]) == 0
    assert capsys.readouterr().out == Path("out.py").read_text()
    assert main(["show", "clip.py", "--diff", "-o", "again.py"]) == 0
    assert capsys.readouterr().out.startswith("---")
    assert Path("again.py").read_text() == Path("out.py").read_text()


def test_output_to_standard_output(clip: Path, capsys: Captured) -> None:
    assert main(["show", str(clip)]) == 0
    shown = capsys.readouterr().out

    assert main(["show", str(clip), "-o", "-"]) == 0

    assert capsys.readouterr().out == shown
    assert not Path("-").exists()


def test_output_into_a_folder_that_is_not_there(clip: Path, capsys: Captured) -> None:
    assert main(["show", "clip.py", "-o", "none/out.py"]) == 2
    assert capsys.readouterr().err == (
        "AG404 cannot write `none/out.py`\n  why: No such file or directory\n"
    )


def test_a_printed_module_has_the_encoding_that_it_declares(clip: Path) -> None:
    """So that `autograph show latin.py > new.py` writes a module that is right."""
    text = "# -*- coding: latin-1 -*-\nNAME = 'Zo\xeb'\n"
    clip.with_name("latin.py").write_text(text, encoding="latin-1")
    command = [
        sys.executable,
        "-m",
        "autograph",
        "show",
        str(clip.with_name("latin.py")),
    ]
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT)

    assert done.stdout.decode("latin-1").replace(os.linesep, "\n") == text


ENDS = [b"\n", b"\r\n", b"\r"]


@pytest.mark.parametrize("end", ENDS)
def test_line_ends_stay(clip: Path, end: bytes) -> None:
    clip.write_bytes(clip.read_bytes().replace(b"\n", end))
    command = [sys.executable, "-m", "autograph", "show", str(clip)]
    shown = subprocess.run(command, capture_output=True, check=True, cwd=ROOT).stdout
    assert main(["show", "clip.py", "-o", "out.py"]) == 0

    assert Path("out.py").read_bytes() == shown
    assert shown.count(end) == len(shown.splitlines()) > 5
    assert not {b"\n"[0], b"\r"[0]} & set(shown.replace(end, b""))


# --- several targets ------------------------------------------------------------------


@pytest.fixture
def folder(clip: Path) -> Path:
    """A folder with two modules, one of which is not valid Python, beside `clip.py`."""
    inner = clip.parent / "lib" / "inner"
    inner.mkdir(parents=True)
    (inner.parent / "broken.py").write_text("def f(x):\n    if x\n")
    (inner / "first.py").write_text("def first(xs):\n    return xs[0] if xs else None")
    (inner / "__init__.py").write_text("")
    return inner.parent


def test_several_targets(folder: Path, capsys: Captured) -> None:
    assert main(["show", "clip.py::clip", "lib/inner/first.py", "none.py"]) == 2
    captured = capsys.readouterr()

    assert captured.out == (
        "# --- clip.py\n"
        "def clip(x):\n"
        "    x = ag.cond(x > 10, 10, lambda: x)  # too much\n"
        "    return x\n"
        "# --- lib/inner/first.py\n"
        "import autograph.operators as ag\n\n\n"
        "def first(xs):\n"
        "    return ag.cond(xs, lambda: xs[0], None)\n"
    ).replace("lib/inner/first.py", os.path.join("lib", "inner", "first.py"))
    assert "AG401 cannot read `none.py`" in captured.err


def test_a_folder(folder: Path, capsys: Captured) -> None:
    """What is wrong in one file does not keep others from being shown."""
    assert main(["show", "lib", "--json"]) == 1
    records = json.loads(capsys.readouterr().out)

    assert [Path(record["target"]).name for record in records] == [
        "broken.py",
        "__init__.py",
        "first.py",
    ]
    assert [record["text"] is None for record in records] == [True, False, False]
    assert records[0]["diagnostics"][0]["code"] == "AG100"


def test_several_targets_into_a_folder(folder: Path, capsys: Captured) -> None:
    assert main(["show", "lib", "clip.py", "-o", "out"]) == 1
    assert capsys.readouterr().out == ""

    written = [p.relative_to("out").as_posix() for p in Path("out").rglob("*.py")]
    assert sorted(written) == [
        "clip.py",
        "lib/inner/__init__.py",
        "lib/inner/first.py",
    ]
    assert "ag.cond" in Path("out/lib/inner/first.py").read_text()
    assert main(["show", "lib", "-o", "alone"]) == 1
    assert Path("alone/inner/first.py").exists()


def test_two_targets_of_one_name(folder: Path, capsys: Captured) -> None:
    (folder / "clip.py").write_text("x = 1\n")
    assert main(["show", "clip.py", "lib/clip.py", "-o", "out"]) == 2

    assert "another target was written there" in capsys.readouterr().err
    assert "def clip" in Path("out/clip.py").read_text()


def test_a_folder_is_not_written_over_itself(folder: Path, capsys: Captured) -> None:
    assert main(["show", "lib/inner", "-o", "lib/inner"]) == 2

    assert capsys.readouterr().err.count("it is the source itself") == 2
    assert "ag." not in (folder / "inner" / "first.py").read_text()


@pytest.mark.parametrize(
    ("target", "fix"),
    [
        ("clip.py:clip", "it is a file: write `clip.py::clip`"),
        ("./clip.py:clip", "two colons: write `./clip.py::clip`"),
        ("heapq::nlargest", "one colon: write `heapq:nlargest`"),
        ("json.decoder::JSONDecoder.decode", "`json.decoder:JSONDecoder.decode`"),
    ],
)
def test_the_wrong_number_of_colons(
    clip: Path, capsys: Captured, target: str, fix: str
) -> None:
    assert main(["show", target]) == 2
    assert fix in capsys.readouterr().err


# --- what is left unconverted ----------------------------------------------------


def test_what_stays_is_told(clip: Path, capsys: Captured) -> None:
    staying = "\n\ndef items(xs):\n    for x in xs:\n        yield x\n"
    clip.write_text(clip.read_text() + staying)

    assert main(["show", "clip.py"]) == 0
    captured = capsys.readouterr()
    [line] = captured.err.splitlines()
    assert "def items(xs):\n    for x in xs:" in captured.out
    assert line.startswith("clip.py:")
    assert "AG106 left unconverted" in line
    assert line.endswith("the statement has a `yield` in it")
    assert main(["show", "clip.py::clip"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["show", "--json", "clip.py::items"]) == 0
    captured = capsys.readouterr()
    [note] = json.loads(captured.out)["notes"]
    assert (note["code"], captured.err) == ("AG106", "")


# --- findings and faults --------------------------------------------------------------


def refuse(monkeypatch: pytest.MonkeyPatch, *lines: int) -> None:
    """Let the converter refuse something at these lines."""
    convert = autograph.pipeline.convert_module

    def refusing(source: object, *rest: object) -> object:
        conversion = convert(source, *rest)
        diagnostics = tuple(
            Diagnostic("AG199", "refused", location=Location("clip.py", line))
            for line in lines
        )
        return SimpleNamespace(
            text=conversion.text, diagnostics=diagnostics, notes=conversion.notes
        )

    monkeypatch.setattr(autograph.pipeline, "convert_module", refusing)


def test_refusals_are_findings(
    clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, 1, 6)

    assert main(["show", "clip.py"]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("AG199 refused") == 2
    assert "def clip(x):" in captured.out
    assert main(["show", "clip.py::clip"]) == 1
    assert capsys.readouterr().err.count("AG199 refused") == 1
    assert main(["show", "--json", "clip.py::clip"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert [d["location"]["line"] for d in record["diagnostics"]] == [6]


def test_refusals_elsewhere_are_no_findings(
    clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, 1)

    assert main(["show", "clip.py::clip"]) == 0
    assert capsys.readouterr().err == ""


def failing(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object) -> None:
        raise error

    monkeypatch.setattr(autograph.pipeline, "convert_module", fail)


def test_our_own_faults_are_admitted(
    clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(AssertionError("a pass went wrong"), monkeypatch)
    monkeypatch.delenv("AUTOGRAPH_DEBUG", raising=False)

    assert main(["show", "clip.py"]) == 1
    quiet = capsys.readouterr().err
    assert quiet.startswith("AG400 internal error: this is a fault of autograph")
    assert "AssertionError: a pass went wrong" in quiet
    assert "Traceback" not in quiet
    monkeypatch.setenv("AUTOGRAPH_DEBUG", "1")
    main(["show", "clip.py"])
    assert "Traceback" in capsys.readouterr().err


def test_interrupt(
    clip: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing(KeyboardInterrupt(), monkeypatch)

    assert main(["show", "clip.py"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_version_and_help(capsys: Captured) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"autograph {__version__}\n"
    assert main(["show", "--help"]) == 0
    assert "file.py::Class.method" in capsys.readouterr().out


# --- processes of their own: slow, few ------------------------------------------------


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autograph", *arguments]
    return subprocess.run(command, text=True, check=False, cwd=ROOT, **options)


def test_closed_pipe_is_quiet() -> None:
    """As in `autograph show statistics | head -1`, where the reader leaves early."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        done = run("show", "statistics", stdout=pipe, stderr=subprocess.PIPE)

    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full disk to write to")
def test_full_disk_is_said() -> None:
    with open("/dev/full", "w") as full:
        done = run("show", "statistics", stdout=full, stderr=subprocess.PIPE)

    assert done.returncode == 1
    assert (
        done.stderr == "autograph: cannot write the output: No space left on device\n"
    )


def test_module_and_standard_input() -> None:
    done = run(
        "show", "-", input="def f(x):\n    return 1 if x else 2\n", capture_output=True
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "ag.cond(" in done.stdout


def test_main_is_installed_as_the_command() -> None:
    metadata = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert 'autograph = "autograph.commandline.main:main"' in metadata
