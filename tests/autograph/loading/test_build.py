"""Converted modules are written whole or not at all, in their own encoding."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograph.loading.build import write_atomically, write_module


def test_writes_the_text(tmp_path: Path) -> None:
    write_module("x = 'é'\n", tmp_path / "m.py")

    assert (tmp_path / "m.py").read_bytes() == b"x = '\xc3\xa9'\n"
    assert os.listdir(tmp_path) == ["m.py"]


@pytest.mark.parametrize("above", ["", "#!/usr/bin/env python\n"])
def test_honours_the_coding_declaration(tmp_path: Path, above: str) -> None:
    text = above + "# -*- coding: latin-1 -*-\nx = 'é'\n"
    write_module(text, tmp_path / "m.py")

    assert (tmp_path / "m.py").read_bytes() == text.encode("latin-1")


def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.py"
    path.write_text("old")

    def fail(*args: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_atomically(str(path), b"new")

    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["m.py"]


def test_keeps_mode_and_links(tmp_path: Path) -> None:
    real, link = tmp_path / "real.py", tmp_path / "link.py"
    real.write_text("old")
    real.chmod(0o750)
    link.symlink_to(real)

    write_module("new\n", link)

    assert link.is_symlink()
    assert real.read_text() == "new\n"
    assert real.stat().st_mode & 0o777 == 0o750


def test_new_files_have_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write_module("new\n", tmp_path / "m.py")

    assert (tmp_path / "m.py").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_devices_are_written_to() -> None:
    write_module("x\n", os.devnull)

    assert not os.path.isfile(os.devnull)
