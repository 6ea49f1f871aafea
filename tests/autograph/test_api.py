"""convert and to_code: what they take, and what is kept of it."""

from __future__ import annotations

import functools
import inspect
import math
import statistics
import types

import pytest

import autograph
from autograph import ConversionError, SourceError


def clip(x, limit=10, *, log=None):
    """Not above the limit."""
    if x > limit:
        if log is not None:
            log.append(x)
        x = limit
    return x


clip.note = "kept"


class Account:
    """Methods of all kinds."""

    rate = 2

    def __init__(self, balance):
        self.__balance = balance

    def withdraw(self, amount):
        if amount > self.__balance:
            raise ValueError("not enough")
        self.__balance -= amount
        return self.__balance

    @classmethod
    def scaled(cls, x):
        return x * cls.rate if x > 0 else 0

    @staticmethod
    def positive(x):
        if x < 0:
            x = -x
        return x

    @property
    def is_empty(self):
        return not self.__balance

    def __call__(self, x):
        return x if x > self.__balance else self.__balance


class Savings(Account):
    def withdraw(self, amount):
        if amount:
            rest = super().withdraw(amount)
            rest += 0
        else:
            rest = -1
        return rest


def test_a_function_keeps_its_face():
    new = autograph.convert(clip)

    assert new is not clip
    assert new.__wrapped__ is clip
    assert new.__name__, new.__qualname__ == ("clip", "clip")
    assert new.__doc__ == clip.__doc__
    assert new.__module__ == clip.__module__
    assert new.__globals__ is clip.__globals__
    assert new.note == "kept"
    assert inspect.signature(new) == inspect.signature(clip)
    assert (new(3), new(30), new(30, 7)) == (3, 10, 7)


def test_converting_twice_gives_the_same():
    new = autograph.convert(clip)

    assert autograph.convert(clip) is new
    assert autograph.convert(new) is new


def test_free_variables_are_the_very_cells():
    total = 0

    def add(x):
        nonlocal total
        if x > 0:
            total += x
        return total

    new = autograph.convert(add)
    new(3)
    add(4)

    assert total == 7
    assert new(-1) == 7


def test_as_a_decorator_with_options():
    def helper(x):
        return 1 if x else 0

    @autograph.convert(recursive=False)
    def f(x):
        return helper(x)

    assert f(5) == 1
    assert "ag.call" not in autograph.to_code(f.__wrapped__, recursive=False)
    assert "ag.call" in autograph.to_code(f)


def test_lambdas_on_one_line():
    first, second = lambda x: 1 if x else 2, lambda x: 3 if x else 4

    assert autograph.convert(first)(0) == 2
    assert autograph.convert(second)(0) == 4


def test_methods():
    account = Account(10)

    assert autograph.convert(account.withdraw)(3) == 7
    assert autograph.convert(Account.scaled)(4) == 8
    assert autograph.convert(Account.positive)(-4) == 4
    assert autograph.convert(account)(3) == 7
    with pytest.raises(ValueError, match="not enough"):
        autograph.convert(account.withdraw)(30)


def test_super_without_arguments_in_a_branch():
    savings = Savings(10)

    assert autograph.convert(savings.withdraw)(3) == 7
    assert autograph.convert(savings.withdraw)(0) == -1


def test_a_class_is_converted_in_place():
    class Counter:
        def __init__(self, n):
            self.n = n

        def down(self):
            while self.n > 0:
                self.n -= 1
            return self.n

        @property
        def done(self):
            return True if self.n == 0 else False

        @autograph.do_not_convert
        def plain(self):
            return 1 if self.n else 2

    plain = Counter.plain

    assert autograph.convert(Counter) is Counter
    assert Counter(3).down() == 0
    assert Counter(0).done
    assert hasattr(Counter.down, "__wrapped__")
    assert Counter.plain is plain


def test_partials():
    new = autograph.convert(functools.partial(clip, limit=5))

    assert new(30) == 5


def test_a_module_is_a_converted_copy():
    new = autograph.convert(statistics)

    assert isinstance(new, types.ModuleType)
    assert new is not statistics
    assert new.median([3, 1, 2]) == 2
    assert "ag." in autograph.to_code(statistics)


def test_one_class_as_text():
    text = autograph.to_code(Savings)

    assert text.startswith("class Savings(Account):")
    assert "super(__class__, self).withdraw" in text
    assert "class Account" not in text


class Box:
    def __init__(self, side):
        self.side = side

    @property
    def area(self):
        return self.side**2 if self.side > 0 else 0

    @functools.cached_property
    def volume(self):
        return self.side**3 if self.side > 0 else 0


def test_properties():
    area = autograph.convert(Box.__dict__["area"])

    assert area.fget(Box(3)) == 9
    assert "ag.cond" in autograph.to_code(area)
    assert autograph.convert(area.fget) is area.fget  # it is converted already


def test_cached_properties_of_a_converted_class():
    plain = Box.volume.func
    autograph.convert(Box)

    assert Box(2).volume == 8
    assert Box.volume.func.__wrapped__ is plain


def test_a_cached_function_is_converted_below_its_cache():
    @functools.lru_cache
    def sign(x):
        return -1 if x < 0 else 1

    with pytest.raises(ConversionError, match="though the function `sign` in it is"):
        autograph.convert(sign)
    assert "ag.cond(x < 0" in autograph.to_code(sign)
    below = functools.lru_cache(autograph.convert(sign.__wrapped__))
    assert below(-3) == -1


def test_a_class_that_is_not_written_in_python():
    with pytest.raises(ConversionError, match="class `dict` is not written"):
        autograph.convert(dict)


@pytest.mark.parametrize("obj", [math.sqrt, 3, "text", len])
def test_nothing_to_convert(obj):
    with pytest.raises(ConversionError, match="AG101"):
        autograph.convert(obj)
    with pytest.raises(ConversionError, match="AG101"):
        autograph.to_code(obj)


def test_no_source():
    namespace = {}
    exec("def f(x):\n    return x if x else 1", namespace)

    with pytest.raises(SourceError, match="AG102"):
        autograph.convert(namespace["f"])


def test_a_callee_without_source_is_called_as_it_is():
    namespace = {}
    exec("def helper(x):\n    return x if x else 1", namespace)
    helper = namespace["helper"]

    def f(x):
        return helper(x) + 1

    assert autograph.convert(f)(0) == 2


def test_callees_are_converted_by_function_not_by_code():
    """Two closures of one code call different things: both are looked at."""

    def make(inner):
        def outer(x):
            return inner(x)

        return outer

    def user(x):
        return x if x > 0 else -x

    library, own = make(math.fabs), make(user)

    assert autograph.convert(library)(-2) == 2
    assert autograph.convert(own)(-2) == 2
    assert "__autograph_converted__" in user.__dict__


def test_wrappers_of_converted_functions_are_converted_themselves():
    """functools.wraps copies attributes; the wrapper is not taken for converted."""
    new = autograph.convert(clip)

    @functools.wraps(new)
    def wrapper(x):
        return -new(x) if x > 0 else 0

    assert autograph.convert(wrapper) is not wrapper
    assert autograph.convert(wrapper)(30) == -10


def test_dir_names_what_is_public():
    assert dir(autograph) == sorted(autograph.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        autograph.nothing


def test_to_code_shows_the_function_in_an_object_that_wraps_it():
    class Traced:
        def __init__(self, function):
            functools.update_wrapper(self, function)

        def __call__(self, *args):
            return self.__wrapped__(*args)

    assert autograph.to_code(Traced(clip)) == autograph.to_code(clip)
