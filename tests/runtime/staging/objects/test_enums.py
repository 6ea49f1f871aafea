"""Members of an `Enum` that a tensor chooses: the same objects as in Python."""

from __future__ import annotations

import enum

import pytest

import runtime as tf
from runtime.core.errors import StagedStateError
from tests import modes


class Light(enum.Enum):
    RED = 1
    GREEN = 2
    AMBER = 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 5


class Mode(str, enum.Enum):
    SLOW = "slow"
    FAST = "fast"


class Robot:
    def __init__(self):
        self.light = Light.RED

    def turn(self):
        self.light = Light.GREEN if self.light is Light.RED else Light.RED


def in_a_branch(n):
    light = Light.RED
    if n > 1:
        light = Light.GREEN
    return light is Light.RED, light == Light.GREEN, light.name, light


def same_in_both_branches(n):
    if n > 1:
        light = Light.RED
    else:
        light = Light.RED
    return light is Light.RED, light.value


def in_a_loop(n):
    light, waits = Light.RED, 0
    for _ in range(n):
        if light is Light.RED:
            light = Light.GREEN
        elif light == Light.GREEN:
            light = Light.AMBER
        else:
            light = Light.RED
        if light in (Light.RED, Light.AMBER):
            waits += 1
        if light is not Light.RED:
            waits += 10
    return waits, light, light.value


def until_it_is(n):
    light = Light.RED
    while light is not Light.AMBER:
        light = Light.AMBER if n > 3 else Light.GREEN
        n += 1
    return n


def by_number(n):
    return Light(n), Light(n).name, Light(n) is Light.GREEN


def in_an_attribute(n):
    robot = Robot()
    for _ in range(n):
        robot.turn()
    return robot.light.name


def matched(n):
    light = Light.AMBER if n > 3 else Light.RED
    match light:
        case Light.RED:
            return 1
        case Light.AMBER:
            return 2
    return 3


def none_at_first(n):
    light = None
    while n > 0:
        light = Light.RED if light is None else Light.AMBER
        n -= 1
    return light is Light.AMBER, light is None


def class_of(n):
    light = Light.RED if n > 1 else Light.AMBER
    return isinstance(light, Light), type(light) is Light, not light


def numbers_too(n):
    level = Level.LOW
    if n > 1:
        level = Level.HIGH
    asked = level is Level.HIGH, level == 5, level < Level.HIGH, level.name
    return asked, level + 1, 2 * level, sum([level, 1])


def number_in_a_loop(n):
    level = Level.LOW
    while n > 0:
        level = level + 1
        n -= 1
    return level


def texts_too(n):
    mode = Mode.SLOW
    while n > 0:
        mode = Mode.FAST if mode is Mode.SLOW else Mode.SLOW
        n -= 1
    return mode is Mode.FAST, mode == "fast", mode.value


PROGRAMS = [
    *(in_a_branch, same_in_both_branches, in_a_loop, until_it_is, by_number),
    *(in_an_attribute, matched, none_at_first, class_of),
    *(numbers_too, number_in_a_loop, texts_too),
]


@pytest.mark.parametrize("mode", modes.MODES[1:])
@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python(program, mode):
    for n in (1, 4):
        expected = modes.run(program, (n,), "plain")
        found = modes.run(program, (n,), mode)

        assert found.error == expected.error
        # Python shows an eager tensor as a tensor.
        assert mode == "eager" or found.message == expected.message
        assert modes.same(found.value, expected.value)


def shown(n):
    return f"{Light(n)}"


def a_key(n):
    return {Light.RED: 1, Light.GREEN: 2}[Light(n)]


def in_a_list(n):
    items = []
    for i in range(n):
        items.append(Light.RED if i > 1 else Light.GREEN)
    return items


@pytest.mark.parametrize(
    ("program", "code"), [(shown, "AG301"), (a_key, "AG301"), (in_a_list, "AG210")]
)
def test_refused(program, code):
    with pytest.raises(StagedStateError, match=rf"test_enums\.py:\d+: {code}"):
        tf.function(program)(tf.constant(2))


class Rule(enum.Enum):
    """An enumeration without members, whose methods others have."""

    @classmethod
    def _missing_(cls, value):
        return next(iter(cls))

    def __eq__(self, other):
        return isinstance(other, Rule) and self.value % 2 == other.value % 2

    __hash__ = enum.Enum.__hash__


class Side(Rule):
    LEFT = 1
    RIGHT = 2
    TOP = 3


class Score(enum.IntEnum):
    LOW = 1
    HIGH = 5

    def __add__(self, other):
        return 100

    def __lt__(self, other):
        return True


class Access(enum.Flag):
    READ = 1
    WRITE = 2


def test_members_of_other_enumerations_are_not_equal():
    def compared(n):
        level = Level.HIGH if n > 1 else Level.LOW
        return level == Light.RED, level != Light.RED, level == Level.LOW, level == 1

    for n in (0, 2):
        found = tf.function(compared)(tf.constant(n))
        assert [bool(part) for part in found] == list(compared(n))


@pytest.mark.parametrize(
    "function",
    [
        lambda n: (Side.LEFT if n > 1 else Side.RIGHT) == Side.TOP,
        lambda n: (Score.LOW if n > 1 else Score.HIGH) + 1,
        lambda n: (Score.LOW if n > 1 else Score.HIGH) < 0,
        lambda n: Side(n),
        lambda n: Access(n),
    ],
)
def test_methods_of_an_enumeration_are_not_left_out(function):
    with pytest.raises(Exception, match="AG3") as error:
        tf.function(function)(tf.constant(3))
    assert getattr(error.value, "code", "").startswith("AG3")
