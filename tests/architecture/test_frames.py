"""One module of each package asks Python which functions are running."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
ASKING = {"autograph/frames.py", "runtime/core/location/frames.py"}


def test_frames_are_asked_for_in_one_module_of_each_package() -> None:
    asks = re.compile(r"_getframe|currentframe\(|inspect\.stack\(")
    asking = {
        path.relative_to(ROOT).as_posix()
        for package in ("autograph", "runtime")
        for path in (ROOT / package).rglob("*.py")
        if asks.search(path.read_text(encoding="utf-8"))
    }

    assert asking == ASKING
