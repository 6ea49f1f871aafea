"""Number theory: fractions, representations, residues and congruences."""

from math import gcd, isqrt


def egyptian_fraction(numerator, denominator):
    """Write a proper fraction as a sum of distinct unit fractions, greedily; return the denominators.

    >>> egyptian_fraction(4, 13)
    [4, 18, 468]
    >>> egyptian_fraction(2, 4)
    [2]
    >>> egyptian_fraction(0, 7)
    []
    >>> egyptian_fraction(5, 3)
    Traceback (most recent call last):
        ...
    ValueError: 5/3 is not between 0 and 1
    """
    if not 0 <= numerator < denominator:
        raise ValueError(f"{numerator}/{denominator} is not between 0 and 1")
    units = []
    while numerator:
        unit = -(-denominator // numerator)
        units.append(unit)
        numerator, denominator = numerator * unit - denominator, denominator * unit
        shared = gcd(numerator, denominator)
        numerator //= shared
        denominator //= shared
    return units


def zeckendorf(n):
    """Write a number as the unique sum of Fibonacci numbers of which no two are neighbours.

    >>> zeckendorf(100)
    [89, 8, 3]
    >>> zeckendorf(1)
    [1]
    >>> zeckendorf(0)
    []
    >>> zeckendorf(-4)
    Traceback (most recent call last):
        ...
    ValueError: n must not be negative
    """
    if n < 0:
        raise ValueError("n must not be negative")
    fibonacci = [1, 2]
    while fibonacci[-1] <= n:
        fibonacci.append(fibonacci[-2] + fibonacci[-1])
    parts = []
    for f in reversed(fibonacci):
        if f <= n:
            parts.append(f)
            n -= f
    return parts


def sqrt_continued_fraction(n):
    """Return the whole part and the repeating block of the continued fraction of the root of n.

    >>> sqrt_continued_fraction(7)
    (2, [1, 1, 1, 4])
    >>> sqrt_continued_fraction(23)
    (4, [1, 3, 1, 8])
    >>> sqrt_continued_fraction(2)
    (1, [2])
    >>> sqrt_continued_fraction(16)
    (4, [])
    """
    whole = isqrt(n)
    block = []
    if whole * whole == n:
        return whole, block
    m, d, a = 0, 1, whole
    while a != 2 * whole:
        m = d * a - m
        d = (n - m * m) // d
        a = (whole + m) // d
        block.append(a)
    return whole, block


def solve_congruences(residues, moduli):
    """Combine congruences, whose moduli may share factors, into one; None if they contradict.

    >>> solve_congruences([2, 3, 2], [3, 5, 7])
    (23, 105)
    >>> solve_congruences([1, 3], [4, 6])
    (9, 12)
    >>> solve_congruences([1, 2], [4, 6]) is None
    True
    >>> solve_congruences([], [])
    (0, 1)
    """
    assert len(residues) == len(moduli), "as many residues as moduli"
    x, step = 0, 1
    for residue, modulus in zip(residues, moduli):
        for _ in range(modulus):
            if (x - residue) % modulus == 0:
                break
            x += step
        else:
            return None
        step = step * modulus // gcd(step, modulus)
        x %= step
    return x, step


def farey_sequence(order):
    """List the reduced fractions from 0 to 1 with denominators up to the order, in ascending order.

    >>> farey_sequence(4)
    ['0/1', '1/4', '1/3', '1/2', '2/3', '3/4', '1/1']
    >>> farey_sequence(1)
    ['0/1', '1/1']
    >>> len(farey_sequence(9))
    29
    """
    a, b, c, d = 0, 1, 1, order
    terms = [f"{a}/{b}"]
    while c <= order:
        k = (order + b) // d
        a, b, c, d = c, d, k * c - a, k * d - b
        terms.append(f"{a}/{b}")
        if a == b:
            break
    return terms


def jacobi_symbol(a, n):
    """Compute the Jacobi symbol (a/n) for odd positive n by quadratic reciprocity.

    >>> jacobi_symbol(1001, 9907)
    -1
    >>> jacobi_symbol(2, 15)
    1
    >>> jacobi_symbol(6, 9)
    0
    >>> jacobi_symbol(3, 8)
    Traceback (most recent call last):
        ...
    ValueError: n must be odd and positive
    """
    if n <= 0 or n % 2 == 0:
        raise ValueError("n must be odd and positive")
    a %= n
    sign = 1
    while a != 0:
        while a & 1 == 0:
            a >>= 1
            if n & 7 in (3, 5):
                sign = -sign
        a, n = n, a
        if a % 4 == 3 and n % 4 == 3:
            sign = -sign
        a %= n
    return sign if n == 1 else 0
