"""``raise``, ``assert``, ``try`` in all its forms and ``with``."""

from __future__ import annotations

import contextlib

from tests.corpus_loader import cases


class Recorder:
    """A context manager that notes what happens, and may swallow an exception."""

    def __init__(self, log, swallow=()):
        self.log = log
        self.swallow = swallow

    def __enter__(self):
        self.log.append("enter")
        return self

    def __exit__(self, kind, error, traceback):
        self.log.append(kind.__name__ if kind else "exit")
        return kind is not None and issubclass(kind, self.swallow)


@cases((5,), (-5,))
def raise_in_branch(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return x


@cases((5,), (0,), (500,))
def raise_in_every_branch(x):
    if x == 0:
        raise ZeroDivisionError("zero")
    elif x > 100:
        raise OverflowError("large", x)
    return 1 / x


@cases((5,), (-5,))
def assertion(x):
    assert x > 0, f"{x} is not positive"
    assert x
    return x


@cases((2,), (0,), ("a",))
def try_except(x):
    try:
        return 10 // x
    except ZeroDivisionError:
        return "division"
    except TypeError as error:
        return str(error)


@cases((2,), (0,))
def try_else_finally(x):
    log = []
    try:
        log.append("try")
        y = 10 // x
    except ZeroDivisionError:
        log.append("except")
        y = -1
    else:
        log.append("else")
        if y > 3:
            y = 3
    finally:
        log.append("finally")
    return y, log


@cases(([1, 0, 2],), ([],))
def try_in_loop(values):
    good = []
    for value in values:
        try:
            good.append(10 // value)
        except ZeroDivisionError:
            continue
    return good


@cases(([1, 0, 2],), ([1, 2],))
def break_in_try(values):
    done = []
    for value in values:
        try:
            if value == 0:
                break
            done.append(value)
        finally:
            done.append("finally")
    return done


@cases((5,), (-5,), (0,))
def return_in_try(x):
    log = []
    try:
        if x > 0:
            return "positive", log
        log.append(1 // x)
    except ZeroDivisionError:
        if not log:
            return "zero", log
    finally:
        log.append("finally")
    return "negative", log


@cases((5,), (-5,))
def half_finished_branch(x):
    a = b = 0
    try:
        if x > 0:
            a = 1
            b = x // 0
        else:
            a = 2
    except ZeroDivisionError:
        return a, b, "caught"
    return a, b


@cases((3,), (0,))
def half_finished_loop(n):
    last = None
    try:
        for i in range(n + 3):
            last = i
            if i == n:
                raise KeyError(i)
    except KeyError as error:
        return last, error.args
    return last


@cases((1,), (0,))
def reraise(x):
    log = []
    try:
        try:
            return 1 // x
        except ZeroDivisionError:
            log.append("inner")
            if x == 0:
                raise
    except ArithmeticError as error:
        return log, type(error).__name__


@cases((1,), (-1,))
def raise_from(x):
    try:
        if x < 0:
            raise KeyError("k")
    except KeyError as error:
        raise RuntimeError("wrapped") from error
    return "fine"


@cases((1,), (0,))
def handler_name_is_unbound(x):
    error = "before"
    try:
        1 // x
    except ZeroDivisionError as error:  # noqa: F841
        pass
    return error


@cases((5,), (-5,), (0,))
def with_statement(x):
    log = []
    with Recorder(log) as recorder:
        if x > 0:
            recorder.log.append(x)
        else:
            log.append(-x)
    return log


@cases((5,), (-5,), (0,))
def return_in_with(x):
    log = []
    with Recorder(log):
        if x > 0:
            return "positive", log
        log.append("inside")
    return "other", log


@cases((5,), (0,))
def swallowing_with(x):
    log = []
    y = "unset"
    with Recorder(log, ZeroDivisionError):
        y = 10 // x
        if y > 1:
            y = 1
    return y, log


@cases(([1, -2, 3],), ([],))
def with_in_loop(values):
    log = []
    for value in values:
        with Recorder(log), Recorder(log):
            if value < 0:
                continue
            if value == 3:
                break
            log.append(value)
    return log


@cases((0,), (1,), (2,))
def suppressed(x):
    result = []
    with contextlib.suppress(ZeroDivisionError, IndexError):
        result.append(1 // x)
        if x > 1:
            result.append([][x])
        result.append("end")
    return result


@cases((2,), (0,))
def exception_in_test(x):
    try:
        if 10 // x > 3:
            return "large"
        return "small"
    except ZeroDivisionError as error:
        return str(error)


@cases((2,), (0,), (-1,))
def finally_overrides(x):
    for i in range(3):
        try:
            if x > 0:
                return "try"
            if x < 0:
                1 // 0
        finally:
            if i == 1:
                break
    return "after", i


@cases(("12",), ("x",), ("-3",))
def parse_number(text):
    try:
        number = int(text)
    except ValueError:
        number = None
    if number is None or number < 0:
        return "invalid"
    return number


@cases((3,), (0,))
def retries(failures):
    attempts = 0
    while True:
        attempts += 1
        try:
            if attempts <= failures:
                raise OSError("busy")
            break
        except OSError:
            if attempts >= 3:
                return "gave up", attempts
    return "done", attempts


@cases((1,), (2,), (3,))
def nested_try(x):
    log = []
    try:
        try:
            if x == 1:
                raise ValueError("one")
            elif x == 2:
                raise KeyError("two")
            log.append("ok")
        except ValueError:
            log.append("value")
        finally:
            log.append("inner")
    except KeyError:
        log.append("key")
    return log
