"""``autograph build``: packages that run by themselves, made anew where they change."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from autograph.commandline import build
from autograph.commandline.main import main
from autograph.diagnostics import Diagnostic
from autograph.loading.build import write_atomically
from autograph.loading.source_map import source_map

ROOT = Path(build.__file__).parents[2]
TILL = """\
def total(prices, discount):
    result = 0
    for price in prices:
        if price > discount:
            price = price - discount  # dear
        result += price
    return result
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with data, in the current folder."""
    monkeypatch.chdir(tmp_path)
    package = tmp_path / "shop"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_bytes("NAME = 'café'\r\n".encode())
    (package / "till.py").write_text(TILL)
    (package / "data" / "prices.txt").write_text("5 20\n")
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "till.pyc").touch()
    return package


def made(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["build", "shop", "-o", "out", *arguments])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def test_a_built_package_needs_the_operators_alone(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made(capsys) == (0, "3 written, 0 kept, 0 removed\n")
    assert not Path("out/shop/__pycache__").exists()

    program = (
        "import sys; sys.modules.update(gast=None, astor=None)\n"
        "from shop import till, NAME\n"
        "print(till.total([5, 20], 10), NAME, 'ag' in vars(till))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd="out",
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"},
    )
    assert (done.stdout, done.stderr) == ("15 café True\n", "")
    assert (
        Path("out/shop/__init__.py").read_bytes() == (shop / "__init__.py").read_bytes()
    )
    assert Path("out/shop/data/prices.txt").read_text() == "5 20\n"


def test_only_what_changed_is_made_again(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys)
    assert made(capsys) == (0, "0 written, 3 kept, 0 removed\n")
    (shop / "till.py").write_text(TILL.replace("dear", "very dear"))
    (shop / "data" / "prices.txt").unlink()
    Path("out/shop/__init__.py").write_text("tampered = True\n")

    assert made(capsys) == (0, "2 written, 0 kept, 1 removed\n")
    assert "very dear" in Path("out/shop/till.py").read_text()
    assert not Path("out/shop/data/prices.txt").exists()
    assert made(capsys, "--exclude", "x") == (0, "2 written, 0 kept, 0 removed\n")


def test_a_check_writes_nothing(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = made(capsys, "--check")
    assert (status, len(text.splitlines())) == (1, 3)
    assert not Path("out").exists()
    made(capsys)

    assert made(capsys, "--check") == (0, "")
    (shop / "till.py").write_text(TILL + "\n")
    (shop / "data" / "prices.txt").unlink()
    assert made(capsys, "--check") == (
        1,
        "out of date: shop/till.py\nsource is gone: shop/data/prices.txt\n",
    )


def test_lines_are_found_both_ways(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys)
    found = source_map("out/shop/till.py")
    built = Path("out/shop/till.py").read_text().splitlines()

    assert found.source == os.path.join("shop", "till.py")
    for line, text in enumerate(TILL.splitlines(), 1):
        for there in found.built_lines(line):
            assert found.source_line(there) == line
        if text in built:
            assert found.source_line(built.index(text) + 1) == line
    condition = next(
        n for n, text in enumerate(built, 1) if "discount:" in text or "ag.cond" in text
    )
    assert found.source_line(condition) == 4
    with pytest.raises(FileNotFoundError):
        source_map("shop/till.py")
    Path("out/shop/till.py.map").write_text("{}")
    with pytest.raises(ValueError, match="no map of lines"):
        source_map("out/shop/till.py")


def test_what_cannot_be_built_is_told_each_time(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "broken.py").write_text("def f(:\n")
    for again in (False, True):
        status, text = made(capsys)
        assert status == 1
        assert "shop/broken.py:1:7: AG100" in text
        assert ("3 kept" in text) == again
    assert not Path("out/shop/broken.py").exists()


def test_nothing_stays_of_a_file_that_is_broken_by_now(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys)
    (shop / "till.py").write_text("def f(:\n")

    assert made(capsys)[0] == 1
    assert not Path("out/shop/till.py").exists()
    assert not Path("out/shop/till.py.map").exists()
    assert made(capsys, "--check") == (1, "out of date: shop/till.py\n")


def test_a_file_with_findings_is_removed_with_its_source(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: str, options: object) -> object:
        return b"", [], (Diagnostic("AG199", "the compiler failed"),)

    with monkeypatch.context() as context:
        context.setattr(build, "_converted", refused)
        assert made(capsys)[0] == 1
    assert Path("out/shop/till.py").exists()
    (shop / "till.py").unlink()

    assert made(capsys)[0] == 0
    assert not Path("out/shop/till.py").exists()


@pytest.mark.parametrize(
    "record", ["[]", '{"files": {"../mine.txt": {}}}', '{"files": {"shop/a.py": {}}}']
)
def test_a_record_that_no_build_has_written_is_not_trusted(
    shop: Path, capsys: pytest.CaptureFixture[str], record: str
) -> None:
    made(capsys)
    Path("mine.txt").touch()
    Path("out", build.RECORD).write_text(record)

    assert made(capsys)[0] == 2
    assert Path("mine.txt").exists()


def test_the_build_of_another_package_is_not_replaced(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made(capsys)
    Path("other").mkdir()
    Path("other/m.py").touch()

    assert main(["build", "other", "-o", "out"]) == 2
    assert "it has a build of `shop`" in capsys.readouterr().err
    assert Path("out/shop/till.py").exists()


def test_folders_of_others_are_not_written_to(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("out").mkdir()
    Path("out/mine.txt").touch()
    assert main(["build", "shop", "-o", "out"]) == 2
    assert "no build has made it" in capsys.readouterr().err
    assert main(["build", "shop", "-o", "."]) == 2
    assert "it contains the source" in capsys.readouterr().err
    assert main(["build", "missing", "-o", "new"]) == 2
    Path("out/mine.txt").unlink()
    Path("out", build.RECORD).write_text("[]")
    assert main(["build", "shop", "-o", "out"]) == 2
    assert "not the record of a build" in capsys.readouterr().err


def test_an_output_within_the_source_is_no_source(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for expected in ("3 written, 0 kept", "0 written, 3 kept"):
        assert main(["build", "shop", "-o", "shop/out"]) == 0
        assert capsys.readouterr().err.startswith(expected)


def test_a_build_that_is_interrupted_leaves_whole_files(
    shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(path: str, data: bytes) -> None:
        if path.endswith("till.py"):
            os.kill(os.getpid(), signal.SIGINT)
        write_atomically(path, data)

    monkeypatch.setattr(build, "write_atomically", interrupted)
    assert main(["build", "shop", "-o", "out"]) == 128 + signal.SIGINT
    assert not Path("out/shop/till.py").exists()
    assert Path("out/shop/__init__.py").read_text() == "NAME = 'café'\n"
    monkeypatch.undo()
    monkeypatch.chdir(shop.parent)
    capsys.readouterr()

    status, text = made(capsys)
    assert (status, text.partition(",")[0]) == (0, "2 written")


def test_a_folder_that_cannot_be_written(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    assert main(["build", "shop", "-o", "file/out"]) == 2
    assert "cannot write" in capsys.readouterr().err
