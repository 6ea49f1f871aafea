"""Text: f-strings, formatting, printing, algorithms on characters."""

from __future__ import annotations

from tests.corpus_loader import cases


@cases((15,), (9,), (10,), (7,))
def fizzbuzz(n):
    if n % 15 == 0:
        return "FizzBuzz"
    if n % 3 == 0:
        return "Fizz"
    if n % 5 == 0:
        return "Buzz"
    return str(n)


@cases((3,), (-3,))
def fstring(x):
    kind = "positive" if x > 0 else "negative"
    return f"{x} is {kind}, {x if x > 0 else -x:>5}, {x!r}, {x > 0 and 'yes'}"


@cases(("Hello, World", 3), ("xyz", 23))
def caesar(text, shift):
    out = ""
    for c in text:
        if c.isupper():
            out += chr((ord(c) - 65 + shift) % 26 + 65)
        elif c.islower():
            out += chr((ord(c) - 97 + shift) % 26 + 97)
        else:
            out += c
    return out


@cases(("racecar",), ("hello",), ("",))
def is_palindrome(text):
    i, j = 0, len(text) - 1
    while i < j:
        if text[i] != text[j]:
            return False
        i += 1
        j -= 1
    return True


@cases(("aaabbc",), ("",), ("z",))
def run_length(text):
    if not text:
        return ""
    out = []
    previous, count = text[0], 0
    for c in text:
        if c == previous:
            count += 1
        else:
            out.append(previous + str(count))
            previous, count = c, 1
    out.append(f"{previous}{count}")
    return "".join(out)


@cases((3,), (0,))
def print_progress(n):
    for i in range(n):
        if i % 2 == 0:
            print("even", i)
        else:
            print("odd", i, sep="-", end="!\n")
    print("done")


@cases(("(())",), ("(()",), (")(",), ("",))
def balanced(text):
    depth = 0
    for c in text:
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0


@cases(("a1b22",), ("",))
def multiline_string(text):
    message = """start
    of the text
"""
    for c in text:
        if c.isdigit():
            message += f"""{c}
"""
    return message


@cases((0,), (5,), (255,))
def to_binary(n):
    if n == 0:
        return "0"
    digits = ""
    while n > 0:
        digits = ("1" if n % 2 else "0") + digits
        n //= 2
    return digits


@cases(([3, 1, 2], "total"), ([], "none"))
def report(numbers, title):
    lines = [f"{title.upper():<8}|"]
    for i, number in enumerate(numbers, 1):
        mark = "*" if number in (1, 3) else " "
        lines.append(f"{i:>3}{mark} {number:>{4}.1f} {number!r}")
    lines.append("%d of %s" % (sum(numbers), max(numbers, default="none")))
    return "\n".join(lines)


@cases((5,), (0,))
def evaluated_in_order(n):
    items = list(range(n))
    return f"{items} {len(items)} {items.append(n)} {items}"
