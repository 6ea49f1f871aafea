"""Numerical programs: what people stage."""

from __future__ import annotations

import math

from tests.corpus_loader import cases


@cases((2.0,), (100.0,), (0.0,))
def newton_sqrt(a):
    if a == 0.0:
        return a
    x = a
    for _ in range(50):
        better = 0.5 * (x + a / x)
        if abs(better - x) < 1e-12:
            return better
        x = better
    return x


@cases((0.0, 2.0), (1.0, 1.5), (3.0, 4.0))
def bisection(low, high):
    def f(x):
        return x * x - 2.0

    if f(low) * f(high) > 0:
        return None
    while high - low > 1e-9:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@cases((0.0, 0.0), (1.0, 1.0), (-0.5, 0.5))
def mandelbrot(x, y):
    a, b = 0.0, 0.0
    count = 0
    while count < 50:
        a, b = a * a - b * b + x, 2 * a * b + y
        if a * a + b * b > 4.0:
            break
        count += 1
    return count


@cases((3, 5), (2, 0), (5, 3))
def fast_power(base, exponent):
    result = 1
    while exponent > 0:
        if exponent % 2 == 1:
            result *= base
        base *= base
        exponent //= 2
    return result


@cases((1.0, 4), (0.5, 0))
def exponential_series(x, terms):
    total = term = 1.0
    for n in range(1, terms + 1):
        term *= x / n
        total += term
    return total


@cases(([1.0, 2.0], 2.0), ([2.0, 0.0, 1.0], 3.0), ([], 1.0))
def horner(coefficients, x):
    result = 0.0
    for coefficient in coefficients:
        result = result * x + coefficient
    return result


@cases((1.0, -3.0, 2.0), (1.0, 0.0, 1.0), (0.0, 2.0, 4.0), (1.0, 2.0, 1.0))
def quadratic(a, b, c):
    if a == 0:
        return (-c / b,)
    d = b * b - 4 * a * c
    if d < 0:
        return ()
    if d == 0:
        return (-b / (2 * a),)
    root = math.sqrt(d)
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@cases((-2.0,), (0.5,), (2.0,))
def huber(x):
    if -1.0 <= x <= 1.0:
        return 0.5 * x * x
    return abs(x) - 0.5


@cases((-2.0,), (0.0,), (3.0,))
def leaky_relu(x, slope=0.1):
    return x if x > 0 else slope * x


@cases((10, 3), (3, 10), (5, 5))
def subtract_until_equal(a, b):
    steps = 0
    while a != b:
        if a > b:
            a -= b
        else:
            b -= a
        steps += 1
        if steps > 20:
            return -1
    return a


@cases(([1.0, 2.0, 3.0], 0.1), ([], 0.1))
def gradient_descent(targets, rate):
    w = 0.0
    for epoch in range(3):
        for target in targets:
            gradient = 2 * (w - target)
            if gradient > 1.0:
                gradient = 1.0
            elif gradient < -1.0:
                gradient = -1.0
            w -= rate * gradient
        if epoch == 1 and w < 0:
            break
    return w


@cases((10,), (1,))
def pi_series(n):
    total = 0.0
    sign = 1.0
    for k in range(n):
        total += sign / (2 * k + 1)
        sign = -sign
    return 4 * total


@cases((48, 36), (7, 0))
def extended_gcd(a, b):
    x, last_x, y, last_y = 0, 1, 1, 0
    while b != 0:
        quotient = a // b
        a, b = b, a % b
        x, last_x = last_x - quotient * x, x
        y, last_y = last_y - quotient * y, y
    return a, last_x, last_y


@cases((2000,), (1900,), (2024,), (2023,))
def is_leap_year(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@cases((1,), (9,), (10,))
def happy_number(n):
    seen = set()
    while n != 1 and n not in seen:
        seen.add(n)
        total = 0
        while n > 0:
            digit = n % 10
            total += digit * digit
            n //= 10
        n = total
    return n == 1


@cases((1.5, 0.25, 3), (0.0, 1.0, 0))
def simulate(position, velocity, steps):
    log = []
    for step in range(steps):
        velocity -= 0.5
        position += velocity
        if position < 0.0:
            position = -position
            velocity = -velocity * 0.5
            if velocity < 0.1:
                break
        log.append((step, position))
    return position, velocity, log
