"""Strings: codes, ciphers, factorizations and layout."""

import string


def lyndon_factorization(text):
    """Split a string into its non-increasing Lyndon words with Duval's algorithm.

    >>> lyndon_factorization("banana")
    ['b', 'an', 'an', 'a']
    >>> lyndon_factorization("abcd")
    ['abcd']
    >>> lyndon_factorization("aaa")
    ['a', 'a', 'a']
    >>> lyndon_factorization("")
    []
    """
    factors = []
    start = 0
    while start < len(text):
        ahead, back = start + 1, start
        while ahead < len(text) and text[back] <= text[ahead]:
            back = start if text[back] < text[ahead] else back + 1
            ahead += 1
        period = ahead - back
        while start <= back:
            factors.append(text[start:start + period])
            start += period
    return factors


def soundex(name, length=4):
    """Return the American Soundex code of a name, padded or cut to the given length.

    >>> soundex("Robert"), soundex("Rupert")
    ('R163', 'R163')
    >>> soundex("Ashcraft")
    'A261'
    >>> soundex("Lee", 6)
    'L00000'
    >>> soundex("42")
    Traceback (most recent call last):
        ...
    ValueError: name has no letters
    """
    groups = {"BFPV": "1", "CGJKQSXZ": "2", "DT": "3", "L": "4", "MN": "5", "R": "6"}
    digit_of = {letter: digit for letters, digit in groups.items() for letter in letters}
    letters = [c for c in name.upper() if c in string.ascii_uppercase]
    if not letters:
        raise ValueError("name has no letters")
    code = letters[0]
    previous = digit_of.get(letters[0])
    for letter in letters[1:]:
        if letter in "HW":
            continue
        digit = digit_of.get(letter)
        if digit is not None and digit != previous:
            code += digit
        previous = digit
    return code[:length].ljust(length, "0")


def justify_text(words, width):
    """Set words in lines of exactly the given width, the last line flush left.

    >>> justify_text(["the", "quick", "brown", "fox", "jumps"], 11)
    ['the   quick', 'brown   fox', 'jumps      ']
    >>> justify_text(["a", "b", "c", "word"], 6)
    ['a  b c', 'word  ']
    >>> justify_text([], 5)
    []
    >>> justify_text(["elephant"], 5)
    Traceback (most recent call last):
        ...
    ValueError: 'elephant' does not fit in 5 columns
    """
    lines, line = [], []
    for word in words:
        if len(word) > width:
            raise ValueError(f"{word!r} does not fit in {width} columns")
        if line and sum(map(len, line)) + len(line) + len(word) > width:
            spaces = width - sum(map(len, line))
            for i in range(spaces):
                line[i % max(1, len(line) - 1)] += " "
            lines.append("".join(line))
            line = []
        line.append(word)
    if line:
        lines.append(" ".join(line).ljust(width))
    return lines


def rail_fence(message, rails, decode=False):
    """Encode or decode a message with the zigzag transposition over the given number of rails.

    >>> rail_fence("WEAREDISCOVERED", 3)
    'WECRERDSOEEAIVD'
    >>> rail_fence("WECRERDSOEEAIVD", 3, True)
    'WEAREDISCOVERED'
    >>> rail_fence("abc", 1)
    'abc'
    >>> rail_fence("abc", 0)
    Traceback (most recent call last):
        ...
    ValueError: need at least one rail
    """
    if rails < 1:
        raise ValueError("need at least one rail")
    cycle = max(1, 2 * rails - 2)

    def rail_of(position):
        offset = position % cycle
        return min(offset, cycle - offset)

    order = sorted(range(len(message)), key=rail_of)
    if not decode:
        return "".join(message[i] for i in order)
    plain = [""] * len(message)
    for char, place in zip(message, order):
        plain[place] = char
    return "".join(plain)


def inverse_burrows_wheeler(last_column, row):
    """Recover the text from the last column of its sorted rotations and the row it stands in.

    >>> inverse_burrows_wheeler("nnbaaa", 3)
    'banana'
    >>> inverse_burrows_wheeler("x", 0)
    'x'
    >>> inverse_burrows_wheeler("", 0)
    ''
    >>> inverse_burrows_wheeler("ab", 2)
    Traceback (most recent call last):
        ...
    ValueError: no row 2 in a table of 2
    """
    n = len(last_column)
    if n == 0:
        return ""
    if not 0 <= row < n:
        raise ValueError(f"no row {row} in a table of {n}")
    follow = [index for _, index in sorted(zip(last_column, range(n)))]
    text = []
    for _ in range(n):
        row = follow[row]
        text.append(last_column[row])
    return "".join(text)


def spreadsheet_column(reference):
    """Convert a column number to its letters, or letters to the number (A is 1, AA is 27).

    >>> [spreadsheet_column(n) for n in [1, 26, 27, 702, 703]]
    ['A', 'Z', 'AA', 'ZZ', 'AAA']
    >>> spreadsheet_column("xfd")
    16384
    >>> spreadsheet_column(0)
    Traceback (most recent call last):
        ...
    ValueError: columns are numbered from 1
    """
    if isinstance(reference, str):
        number = 0
        for letter in reference.upper():
            number = number * 26 + string.ascii_uppercase.index(letter) + 1
        return number
    if reference < 1:
        raise ValueError("columns are numbered from 1")
    letters = ""
    while reference > 0:
        reference, place = divmod(reference - 1, 26)
        letters = string.ascii_uppercase[place] + letters
    return letters
