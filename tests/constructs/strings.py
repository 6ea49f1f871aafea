"""Text with tensors in it."""

from __future__ import annotations

from tests.support import construct


@construct("f-string", (5,), (-5,))
def f_string(x):
    return f"x = {x}"


@construct("f-string with a format", (2.5,))
def f_string_with_format(x):
    return f"{x:.3f} and {x:>8.1f}"


@construct("f-string in a branch", (5,), (-5,))
def f_string_in_branch(x):
    text = "none"
    if x > 0:
        text = f"{x}!"
    return text


@construct("`%` and `str.format`", (5,))
def old_formats(x):
    return "%d|" % x + "{}".format(x)


@construct("f-string, compared", (5,), (6,))
def compared(x):
    return 1 if f"{x}" == "5" else 0


@construct("string chosen by a tensor", (5,), (-5,))
def chosen(x):
    return "big" if x > 3 else "small"
