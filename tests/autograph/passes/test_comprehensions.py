"""What comprehensions become, as it is printed."""

from __future__ import annotations

from pathlib import Path

from autograph.pipeline import convert_module
from autograph.source.text import Source
from tests import golden

HERE = Path(__file__).parent / "golden"


@golden.parametrize(HERE / "comprehensions.test")
def test_printed_form(case: golden.Case, update_golden: bool) -> None:
    conversion = convert_module(Source(case.source + "\n", "f.py"))

    compile(conversion.text, "converted.py", "exec")
    assert conversion.diagnostics == ()
    case.check(update_golden, out=conversion.text)
