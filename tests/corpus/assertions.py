"""``assert`` statements."""

from __future__ import annotations

from tests.corpus_loader import cases


class Truth:
    """Says how often it was asked."""

    def __init__(self, value):
        self.value = value
        self.asked = 0

    def __bool__(self):
        self.asked += 1
        return self.value


@cases((3,), (-1,))
def assertion(x):
    assert x > 0
    return x


@cases((3,), (-1,), (20,))
def assertion_with_a_message(x):
    assert x > 0, f"{x} is not positive"
    assert x < 10, "too large"
    return x


@cases((3,), (-1,), (0,))
def message_is_any_object(x):
    assert x > -1, ("negative", x)
    assert x, ValueError(x)
    return x


@cases((True,), (False,))
def truth_is_asked_once(x):
    truth, other = Truth(True), Truth(x)
    try:
        assert truth
        assert other, "no"
    except AssertionError as error:
        return truth.asked, other.asked, error
    return truth.asked, other.asked


@cases((1,), (-1,))
def message_fails(x):
    assert x > 0, 1 // (x + 1)
    return x


@cases((1,), (-1,), (9,))
def message_is_unbound(x):
    if x > 5:
        y = x
    assert x > 0, y
    assert x < 9, [y]
    return x


@cases((3,), (1,))
def assertion_that_binds(x):
    assert (y := x - 1) > 0, y
    return y


@cases((3,), (-1,))
def assertion_in_a_branch(x):
    if x < 5:
        try:
            assert x > 0, "negative"
        except AssertionError as error:
            return str(error)
        finally:
            x += 1
    return x


@cases((3,), (1,))
def assertion_in_a_generator(x):
    for y in range(x):
        assert y < 2, f"{y} of {x}"
        yield y
