"""The printed form of converted modules."""

from __future__ import annotations

from pathlib import Path

from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests import golden

HERE = Path(__file__).parent / "golden"


@golden.parametrize(HERE / "exits.test")
def test_exits(case: golden.Case, update_golden: bool) -> None:
    test_convert(case, update_golden)


@golden.parametrize(HERE / "convert.test")
def test_convert(case: golden.Case, update_golden: bool) -> None:
    conversion = convert_module(Source(case.source + "\n", "f.py"))

    compile(conversion.text, "converted.py", "exec")
    assert conversion.diagnostics == ()
    case.check(update_golden, out=conversion.text)
