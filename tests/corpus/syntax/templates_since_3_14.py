"""Template strings, handlers without parentheses, annotations that wait to be asked."""

from tests.corpus_loader import cases


@cases((3,), (-3,))
def template(x):
    width = 4
    text = t"a {x if x > 0 else -x!r:>{width}} b {{}} {x:{width:{width}}}" t"c"
    shown = [(field.conversion, field.format_spec) for field in text.interpolations]
    return text.strings, text.values, shown


@cases((3,), (0,))
def template_in_a_template(x):
    text = t"""{
        t'{x and 1}'
    }\n{f'{x or 2}'}
    """
    return text.strings, text.values[0].values, text.values[1]


@cases((3,))
def names_of_fields(x):
    text = t"{ x + 1 } {x=}"
    return [field.expression for field in text.interpolations], text.strings


@cases((1,), (0,), (2,))
def handler_without_parentheses(x):
    try:
        if x == 1:
            raise ValueError(x)
        return 1 // x
    except ValueError, ZeroDivisionError:
        return "caught"


@cases((1,), (0,))
def group_handler_without_parentheses(x):
    try:
        if x:
            raise ValueError(x)
        x = 2
    except* ValueError, KeyError:
        x = 3
    return x


@cases((1,), (0,))
def annotations_of_what_is_assigned_later(x):
    def inner(value: T, *rest: [y for y in (1, 2) if y > T]) -> (x and T):
        return value

    class Inner:
        field: T
        if x:
            other: U

        def method(self, value: T) -> T:
            return value

    if x:
        T, U = 3, 4
    else:
        T = U = 5
    return inner.__annotations__, Inner.__annotations__, Inner.method.__annotations__


@cases((1,), (0,))
def annotation_of_a_variable_that_is_assigned_again(x):
    T = 1

    def inner(value: T):
        return value

    if x:
        T = 2
    return inner.__annotations__


@cases((1,), (5,))
def annotation_of_a_loop_variable(x):
    def inner(value: T):
        return value

    for T in range(6):
        if T == x:
            break
    return inner.__annotations__


@cases((1,), (0,))
def annotation_of_no_variable(x):
    def inner(value: T):
        return value

    if x:
        T = 2
    try:
        return inner.__annotations__
    except NameError as error:
        return str(error)
