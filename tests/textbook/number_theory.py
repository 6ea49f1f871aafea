"""Primes, factorisation, modular arithmetic, sequences and digits."""

import math
from functools import reduce


def is_prime(n):
    """Decide whether a number is prime by trial division.

    >>> is_prime(97)
    True
    >>> is_prime(91)
    False
    >>> is_prime(1)
    False
    >>> is_prime(-7)
    False
    """
    if n < 4:
        return n in (2, 3)
    if n % 2 == 0 or n % 3 == 0:
        return False
    divisor = 5
    while divisor * divisor <= n:
        if n % divisor == 0 or n % (divisor + 2) == 0:
            return False
        divisor += 6
    return True


def sieve_of_eratosthenes(limit):
    """List the primes up to and including a limit.

    >>> sieve_of_eratosthenes(30)
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29]
    >>> sieve_of_eratosthenes(2)
    [2]
    >>> sieve_of_eratosthenes(1)
    []
    """
    if limit < 2:
        return []
    prime = [False, False] + [True] * (limit - 1)
    for p in range(2, math.isqrt(limit) + 1):
        if not prime[p]:
            continue
        for multiple in range(p * p, limit + 1, p):
            prime[multiple] = False
    return [n for n, flag in enumerate(prime) if flag]


def prime_factors(n):
    """List the prime factors of a positive number in ascending order.

    >>> prime_factors(360)
    [2, 2, 2, 3, 3, 5]
    >>> prime_factors(97)
    [97]
    >>> prime_factors(1)
    []
    >>> prime_factors(0)
    Traceback (most recent call last):
        ...
    ValueError: expected a positive number, got 0
    """
    if n <= 0:
        raise ValueError(f"expected a positive number, got {n}")
    factors = []
    p = 2
    while p * p <= n:
        if n % p:
            p += 1
        else:
            factors.append(p)
            n //= p
    if n > 1:
        factors.append(n)
    return factors


def divisors(n):
    """List the divisors of a positive number in ascending order.

    >>> divisors(28)
    [1, 2, 4, 7, 14, 28]
    >>> divisors(36)
    [1, 2, 3, 4, 6, 9, 12, 18, 36]
    >>> divisors(1)
    [1]
    """
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    large = [n // d for d in reversed(small) if d * d != n]
    return small + large


def greatest_common_divisor(a, b):
    """Compute the greatest common divisor by Euclid's algorithm.

    >>> greatest_common_divisor(48, 18)
    6
    >>> greatest_common_divisor(-12, 9)
    3
    >>> greatest_common_divisor(0, 0)
    0
    """
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


def least_common_multiple(numbers):
    """Compute the least common multiple of a list of positive numbers.

    >>> least_common_multiple([4, 6, 10])
    60
    >>> least_common_multiple([7])
    7
    >>> least_common_multiple([])
    1
    """
    for number in numbers:
        assert number > 0, "numbers must be positive"
    return reduce(lambda a, b: a // math.gcd(a, b) * b, numbers, 1)


def extended_gcd(a, b):
    """Return (g, x, y) with g = gcd(a, b) = a*x + b*y.

    >>> extended_gcd(240, 46)
    (2, -9, 47)
    >>> extended_gcd(5, 0)
    (5, 1, 0)
    >>> extended_gcd(0, 4)
    (4, 0, 1)
    """
    if b == 0:
        return a, 1, 0
    quotient, remainder = divmod(a, b)
    g, x, y = extended_gcd(b, remainder)
    return g, y, x - quotient * y


def power_modulo(base, exponent, modulus):
    """Raise a base to a non-negative power modulo a number by repeated squaring.

    >>> power_modulo(2, 100, 1000)
    376
    >>> power_modulo(-3, 3, 10)
    3
    >>> power_modulo(5, 0, 1)
    0
    >>> power_modulo(2, -1, 7)
    Traceback (most recent call last):
        ...
    ValueError: the exponent must not be negative
    """
    if exponent < 0:
        raise ValueError("the exponent must not be negative")
    result = 1 % modulus
    base %= modulus
    while exponent:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


def modular_inverse(a, modulus):
    """Return the inverse of a number modulo another one.

    >>> modular_inverse(3, 11)
    4
    >>> modular_inverse(-1, 7)
    6
    >>> modular_inverse(4, 6)
    Traceback (most recent call last):
        ...
    ValueError: 4 is not invertible modulo 6
    """
    old_remainder, remainder = a % modulus, modulus
    old_factor, factor = 1, 0
    while remainder != 0:
        quotient = old_remainder // remainder
        old_remainder, remainder = remainder, old_remainder - quotient * remainder
        old_factor, factor = factor, old_factor - quotient * factor
    if old_remainder != 1:
        raise ValueError(f"{a} is not invertible modulo {modulus}")
    return old_factor % modulus


def chinese_remainder(remainders, moduli):
    """Find the smallest non-negative number with given remainders for coprime moduli.

    >>> chinese_remainder([2, 3, 2], [3, 5, 7])
    23
    >>> chinese_remainder([], [])
    0
    >>> chinese_remainder([1, 2], [4, 6])
    Traceback (most recent call last):
        ...
    ValueError: the moduli are not coprime
    """
    solution, product = 0, 1
    for remainder, modulus in zip(remainders, moduli):
        if math.gcd(product, modulus) > 1:
            raise ValueError("the moduli are not coprime")
        while solution % modulus != remainder % modulus:
            solution += product
        product *= modulus
    return solution


def euler_totient(n):
    """Count the numbers from 1 to n that are coprime to n.

    >>> euler_totient(36)
    12
    >>> euler_totient(13)
    12
    >>> euler_totient(1)
    1
    """
    result = n
    p = 2
    while p * p <= n:
        if n % p == 0:
            while n % p == 0:
                n //= p
            result -= result // p
        p += 1
    if n > 1:
        result -= result // n
    return result


def moebius(n):
    """Compute the Moebius function of a positive number.

    >>> moebius(30)
    -1
    >>> moebius(35)
    1
    >>> moebius(12)
    0
    >>> moebius(1)
    1
    """
    sign = 1
    for p in range(2, n + 1):
        if p * p > n:
            break
        if n % p == 0:
            n //= p
            if n % p == 0:
                return 0
            sign = -sign
    return -sign if n > 1 else sign


def miller_rabin(n, witnesses=(2, 3, 5, 7)):
    """Test a number for primality with Miller and Rabin's test for fixed witnesses.

    >>> miller_rabin(561)
    False
    >>> miller_rabin(104729)
    True
    >>> miller_rabin(2047, (2,))
    True
    >>> miller_rabin(2047)
    False
    """
    if n < 2 or n % 2 == 0:
        return n == 2
    exponent, odd = 0, n - 1
    while odd % 2 == 0:
        exponent += 1
        odd //= 2
    for witness in witnesses:
        if witness % n == 0:
            continue
        x = pow(witness, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(exponent - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def pollard_rho(n, constant=1):
    """Find a proper factor of a composite number with Pollard's rho method, or None.

    >>> pollard_rho(8051)
    97
    >>> pollard_rho(10)
    2
    >>> pollard_rho(13) is None
    True
    >>> pollard_rho(1)
    Traceback (most recent call last):
        ...
    ValueError: expected a number greater than 1
    """
    if n < 2:
        raise ValueError("expected a number greater than 1")
    if n % 2 == 0 and n > 2:
        return 2

    def step(x):
        return (x * x + constant) % n

    tortoise = hare = 2
    factor = 1
    while factor == 1:
        tortoise = step(tortoise)
        hare = step(step(hare))
        factor = math.gcd(abs(tortoise - hare), n)
    return factor if factor != n else None


def classify_number(n):
    """Call a positive number deficient, perfect or abundant by the sum of its divisors.

    >>> classify_number(28)
    'perfect'
    >>> classify_number(12)
    'abundant'
    >>> classify_number(1)
    'deficient'
    >>> classify_number(-6)
    Traceback (most recent call last):
        ...
    ValueError: only positive numbers can be classified
    """
    if n < 1:
        raise ValueError("only positive numbers can be classified")
    total = sum(d for d in range(1, n // 2 + 1) if n % d == 0)
    if total < n:
        return "deficient"
    elif total == n:
        return "perfect"
    else:
        return "abundant"


def fibonacci(n, memo=None):
    """Return the n-th Fibonacci number by recursion with a memo dictionary.

    >>> fibonacci(10)
    55
    >>> fibonacci(0)
    0
    >>> fibonacci(40)
    102334155
    """
    if memo is None:
        memo = {0: 0, 1: 1}
    if n not in memo:
        memo[n] = fibonacci(n - 1, memo) + fibonacci(n - 2, memo)
    return memo[n]


def zeckendorf(n):
    """Write a non-negative number as a sum of non-consecutive Fibonacci numbers.

    >>> zeckendorf(100)
    [89, 8, 3]
    >>> zeckendorf(1)
    [1]
    >>> zeckendorf(0)
    []
    """
    sequence = [1, 2]
    while sequence[-1] <= n:
        sequence.append(sequence[-2] + sequence[-1])
    summands = []
    for number in reversed(sequence):
        if number <= n:
            summands.append(number)
            n -= number
    return summands


def collatz_sequence(n):
    """Return the Collatz sequence from a positive number down to one.

    >>> collatz_sequence(6)
    [6, 3, 10, 5, 16, 8, 4, 2, 1]
    >>> collatz_sequence(1)
    [1]
    >>> collatz_sequence(0)
    Traceback (most recent call last):
        ...
    ValueError: start must be a positive integer
    """
    if not isinstance(n, int) or n < 1:
        raise ValueError("start must be a positive integer")
    sequence = [n]
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        sequence.append(n)
    return sequence


def pascal_rows(count_of_rows):
    """Return the first rows of Pascal's triangle.

    >>> pascal_rows(4)
    [[1], [1, 1], [1, 2, 1], [1, 3, 3, 1]]
    >>> pascal_rows(1)
    [[1]]
    >>> pascal_rows(0)
    []
    """
    rows = []
    row = [1]
    for _ in range(count_of_rows):
        rows.append(row)
        row = [a + b for a, b in zip([0] + row, row + [0])]
    return rows


def digital_root(n, base=10):
    """Add the digits of a non-negative number again and again until one is left.

    >>> digital_root(9875)
    2
    >>> digital_root(255, 2)
    1
    >>> digital_root(0)
    0
    """
    while n >= base:
        total = 0
        while n > 0:
            n, digit = divmod(n, base)
            total += digit
        n = total
    return n


def is_armstrong(n):
    """Decide whether a number is the sum of its digits raised to their count.

    >>> is_armstrong(153)
    True
    >>> is_armstrong(154)
    False
    >>> is_armstrong(0)
    True
    >>> is_armstrong(-153)
    False
    """
    if n < 0:
        return False
    digits = [int(digit) for digit in str(n)]
    return sum(digit ** len(digits) for digit in digits) == n


def is_happy(n):
    """Decide whether repeatedly adding the squares of the digits leads to one.

    >>> is_happy(19)
    True
    >>> is_happy(2)
    False
    >>> is_happy(1)
    True
    """
    seen = set()
    while n != 1 and n not in seen:
        seen.add(n)
        n = sum(map(lambda digit: int(digit) ** 2, str(n)))
    return n == 1


def to_base(n, base):
    """Write an integer in a base between 2 and 36.

    >>> to_base(255, 16)
    'ff'
    >>> to_base(-10, 2)
    '-1010'
    >>> to_base(0, 7)
    '0'
    >>> to_base(5, 1)
    Traceback (most recent call last):
        ...
    ValueError: base must be between 2 and 36, not 1
    """
    if not 2 <= base <= 36:
        raise ValueError(f"base must be between 2 and 36, not {base}")
    if n < 0:
        return "-" + to_base(-n, base)
    digit = "0123456789abcdefghijklmnopqrstuvwxyz"[n % base]
    return digit if n < base else to_base(n // base, base) + digit


def goldbach_pair(n):
    """Split an even number greater than two into two primes with the smallest first.

    >>> goldbach_pair(28)
    (5, 23)
    >>> goldbach_pair(4)
    (2, 2)
    >>> goldbach_pair(7)
    Traceback (most recent call last):
        ...
    ValueError: 7 is not an even number greater than 2
    """
    if n <= 2 or n % 2:
        raise ValueError(f"{n} is not an even number greater than 2")

    def prime(k):
        return k > 1 and all(k % d for d in range(2, math.isqrt(k) + 1))

    return next((p, n - p) for p in range(2, n) if prime(p) and prime(n - p))
