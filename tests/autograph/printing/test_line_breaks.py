"""How long lines are broken."""

from __future__ import annotations

from pathlib import Path

import gast

from autograph.printing import unparse
from tests import golden


@golden.parametrize(Path(__file__).parent / "golden" / "line_breaks.test")
def test_wrapping(case: golden.Case, update_golden: bool) -> None:
    tree = gast.parse(case.source)
    text = unparse(tree)

    assert gast.dump(gast.parse(text)) == gast.dump(tree)
    case.check(update_golden, out=text)


def test_the_width_may_be_chosen() -> None:
    tree = gast.parse("f(aaaa, bbbb, cccc)")

    assert unparse(tree, width=19) == "f(aaaa, bbbb, cccc)\n"
    assert unparse(tree, width=18) == "f(aaaa, bbbb,\n  cccc)\n"
    assert unparse(tree, width=10) == "f(aaaa,\n  bbbb,\n  cccc)\n"
