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


@construct("`text[i]`, `text[i:j]`", (1, 3), (-1, 2), (3, 0))
def parts_of_text(i, j):
    return "abc"[i], "abcdef"[i:j], str(int(j))[0]


@construct("digits: `for ch in str(int(n))`, `int(ch)`", (1234,), (0,))
def digit_sum(n):
    total = 0
    for ch in str(int(n)):
        total += int(ch)
    return total, [int(ch) for ch in str(int(n))], int(str(int(n))[::-1])


@construct("digits of another base", (255,), (0,))
def hexadecimal(n):
    text = ""
    n = int(n)
    while n:
        text = "0123456789abcdef"[n % 16] + text
        n //= 16
    return text


@construct('`"*" * n`', (3,), (0,))
def stars(n):
    return "*" * n + "-" * (n + 1)


@construct("`if i % 3 == 0: text += …`", (15,))
def fizzbuzz(n):
    said = []
    for i in range(1, n + 1):
        text = ""
        if i % 3 == 0:
            text += "Fizz"
        if i % 5 == 0:
            text += "Buzz"
        said.append(text or str(i))
    return said
