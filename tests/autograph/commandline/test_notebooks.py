"""Notebooks: which of their text is Python's, and what `show` makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograph.commandline.main import main
from autograph.commandline.notebooks import Cell, cells_of
from autograph.errors import TargetError

Captured = pytest.CaptureFixture[str]

CLIP = "def clip(x):\n    if x > 1:\n        !echo {x}\n        x = 1\n    return x\n"


def notebook(*cells: str, **fields: Any) -> bytes:
    code = [{"cell_type": "code", "source": cell.splitlines(True)} for cell in cells]
    text = {"cell_type": "markdown", "source": "# A title"}
    return json.dumps({"cells": [text, *code], "metadata": {}, **fields}).encode()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("%matplotlib inline\n", "import __magic_0__\n"),
        ("x = !ls -l\ny = %time f(x)\n", "x = __magic_0__\ny = __magic_1__\n"),
        ("if x:\n    !ls\n", "if x:\n    import __magic_0__\n"),
        ("len?\n?len\nlen??\n", "".join(f"import __magic_{i}__\n" for i in range(3))),
        ("x = '''\n%no\n!no\n'''\n", None),
        ("x = (7\n%3)\n", None),
        ("x = 7 \\\n%3\n", None),
        ("x = a % b\ny = 'x?'\nz = a != b  # why?\n# what?\n", None),
        ("f(a='!')\nd['x'] = '%d' % 3\n", None),
        ("%%time\nx = 1\n", "import __magic_0__\nx = 1\n"),
    ],
)
def test_what_is_no_python(text: str, python: str | None) -> None:
    cell = Cell(1, text)

    assert cell.python == (python or text)
    assert cell.restored(cell.python) == text


def test_cells_of_other_languages() -> None:
    assert Cell(1, "%%bash\nls\n").is_foreign
    assert not Cell(1, "%%time\nx = 1\n").is_foreign
    assert not Cell(1, "%time x\n").is_foreign


def test_cells() -> None:
    old = {"cell_type": "code", "input": ["a = 1\n", "b = 2"]}
    third = json.dumps({"worksheets": [{"cells": [old]}]}).encode()

    assert [cell.text for cell in cells_of(third, "n.ipynb")] == ["a = 1\nb = 2\n"]
    assert [(cell.number, cell.text) for cell in cells_of(notebook("a", "b"), "n")] == [
        (1, "a\n"),
        (2, "b\n"),
    ]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "it is not the JSON of a notebook: Expecting property name"),
        (b"\xff", "it is not the JSON of a notebook: 'utf-8'"),
        (b"[]", "it has no cells as notebooks have"),
        (b'{"cells": [{"cell_type": "code"}]}', "it has no cells as notebooks have"),
        (notebook(metadata={"language_info": {"name": "R"}}), "its cells are r, not"),
        (notebook(metadata={"kernelspec": {"language": "julia"}}), "cells are julia"),
    ],
)
def test_broken_notebooks(data: bytes, why: str) -> None:
    with pytest.raises(TargetError) as raised:
        cells_of(data, "n.ipynb")

    assert raised.value.code == "AG401"
    assert why in str(raised.value)


def test_show(folder: Path, capsys: Captured) -> None:
    cells = ("a = 1", CLIP, "%%bash\nif", "def f(xs):\n    for x in xs: yield x\n")
    (folder / "n.ipynb").write_bytes(notebook(*cells))

    assert main(["show", "n.ipynb"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("# %% [1]\na = 1\n# %% [2]\nimport autograph.operators as ag")
    assert "        nonlocal x\n        !echo {x}\n        x = 1\n" in out
    assert "# %% [3]\n%%bash\nif\n# %% [4]\ndef f(xs):" in out
    assert err.startswith("n.ipynb[4]:2:")
    assert "AG106" in err


def test_show_a_function(folder: Path, capsys: Captured) -> None:
    (folder / "n.ipynb").write_bytes(notebook("x = (", CLIP))

    assert main(["show", "n.ipynb::clip"]) == 0
    assert capsys.readouterr().out.startswith("def clip(x):\n    def if_true():")
    assert main(["show", "n.ipynb::lost"]) == 2
    assert "AG403 there is no `lost` in n.ipynb" in capsys.readouterr().err
    assert main(["show", "n.ipynb", "-o", "n.py"]) == 2
    assert "the target is a notebook" in capsys.readouterr().err


def test_show_cells_that_are_no_python(folder: Path, capsys: Captured) -> None:
    (folder / "n.ipynb").write_bytes(notebook("!ls\nx = (", CLIP))

    assert main(["show", "n.ipynb"]) == 1
    out, err = capsys.readouterr()
    assert "# %% [1]\n!ls\nx = (\n# %% [2]\nimport autograph" in out
    assert err.startswith("n.ipynb[1]:2:5: AG100 the source is not valid Python\n")
    assert "   2 | x = (\n" in err
