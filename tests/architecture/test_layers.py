"""Every module stands on a floor of pyproject.toml.

`make lint` checks the imports themselves; this one fails at once for a module that was
added and not placed.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

if sys.version_info < (3, 11):
    pytest.skip("tomllib is there from Python 3.11 on", allow_module_level=True)

import tomllib

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "tool"
]["importlinter"]["contracts"]


@pytest.mark.parametrize("package", ["autograph", "runtime"])
def test_every_module_has_a_floor(package: str) -> None:
    contract = next(c for c in CONTRACTS if c.get("containers") == [package])
    listed = [n for layer in contract["layers"] for n in re.findall(r"\w+", layer)]
    present = {
        path.stem if path.suffix == ".py" else path.name
        for path in (ROOT / package).iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }

    assert sorted(present - {"__init__"} - set(listed)) == []
    assert len(listed) == len(set(listed))
