"""Exceptions around what is staged: `try`, `finally`, `with`; who swallows them."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import StagedStateError, SymbolicTensorError
from runtime.core.types import nest
from runtime.engines import interpreter
from runtime.passes.optimize.verify import verify

# --- programs that mean the same everywhere -------------------------------------------

log: list[str] = []


@contextlib.contextmanager
def block(name):
    log.append("in " + name)
    try:
        yield name
    finally:
        log.append("out " + name)


@contextlib.contextmanager
def quiet(name):
    try:
        yield name
    finally:
        len(name)


def check(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2


def no_handler_fits(x):
    try:
        y = check(x)
    except KeyError:
        y = 1
    return y


def only_reraises(x):
    try:
        return check(x)
    except ValueError:
        raise


def in_the_handlers_own_body(x):
    """A clause does not catch what it raises itself."""
    try:
        int("no number")
    except ValueError:
        if x < 0:
            raise KeyError("negative") from None
    return x


def in_the_else(x):
    try:
        y = x + 1
    except ValueError:
        y = 0
    else:
        if x < 0:
            raise ValueError("negative")
    return y


def a_function_defined_inside_try(x):
    try:

        def raises():
            if x < 0:
                raise ValueError("negative")
            return x
    except ValueError:
        return 0
    return raises()


def caught_in_python(x):
    try:
        y = x + int("no number")
    except ValueError:
        y = x + 1
    return y


def finally_changes_a_variable(x):
    n = 0
    try:
        n = check(x)
    finally:
        n = n + 1
    return n


def with_around_a_branch(x):
    with block("a") as name:
        if x > 0:
            y = x
        else:
            y = -x
    return y if name == "a" else x


def break_through_finally(n):
    total = 0
    done = 0
    for i in range(n):
        try:
            if i == 3:
                break
            total += i
        finally:
            done += 1
    return total, done


def continue_through_finally(n):
    total = 0
    done = 0
    i = 0
    while i < n:
        i += 1
        try:
            if i % 2 == 0:
                continue
            total += i
        finally:
            done += 1
    return total, done


def return_through_finally(n):
    done = 0
    for i in range(n):
        try:
            if i == 2:
                return i * 10, done
        finally:
            done += 1
    return -1, done


def return_in_try(x):
    try:
        if x > 0:
            return 1
        y = 2
    finally:
        z = 3
    return y + z


def break_through_with(n):
    total = 0
    for i in range(n):
        with quiet("b"):
            if i == 3:
                break
            total += i
    return total


def return_through_with(n):
    for i in range(n):
        with quiet("b"):
            if i == 2:
                return i * 10
    return -1


def try_around_a_loop(n):
    total = 0
    try:
        for i in range(n):
            total += i
    except KeyError:
        total = -1
    else:
        total += 100
    finally:
        total += 1000
    return total


def try_in_a_loop(n):
    total = 0
    for i in range(n):
        try:
            total += i
        except TypeError:
            total = 0
        else:
            total += 1
    return total


def nested_try(x):
    n = 0
    try:
        try:
            if x > 0:
                n += 1
        finally:
            n += 10
    finally:
        n += 100
    return n


def loop_else_in_try(n):
    found = 0
    try:
        for i in range(n):
            if i == 2:
                found = 1
                break
        else:
            found = -1
    finally:
        found += 10
    return found


def raises_in_a_loop(n):
    total = 0
    for i in range(n):
        if i == 3:
            raise IndexError("three")
        total += i
    return total


PROGRAMS = [
    no_handler_fits,
    only_reraises,
    in_the_handlers_own_body,
    in_the_else,
    a_function_defined_inside_try,
    caught_in_python,
    finally_changes_a_variable,
    with_around_a_branch,
    break_through_finally,
    continue_through_finally,
    return_through_finally,
    return_in_try,
    break_through_with,
    return_through_with,
    try_around_a_loop,
    try_in_a_loop,
    nested_try,
    loop_else_in_try,
    raises_in_a_loop,
]


def outcome(run: Any) -> Any:
    try:
        leaves = nest.flatten(run())
    except Exception as error:
        return type(error).__name__, str(error)
    return [np.asarray(leaf).tolist() for leaf in leaves]


@pytest.mark.parametrize("value", [-1, 0, 2, 6, 12])
@pytest.mark.parametrize("function", PROGRAMS)
def test_programs_with_try_mean_the_same_everywhere(function: Any, value: int) -> None:
    plain = outcome(lambda: function(value))
    converted = tf.autograph.to_graph(function)
    assert outcome(lambda: converted(value)) == plain
    assert outcome(lambda: converted(tf.constant(value))) == plain
    staged = tf.function(function)
    assert outcome(lambda: staged(tf.constant(value))) == plain
    concrete = staged.get_concrete_function(tf.constant(value))
    verify(concrete.graph)
    array = np.array(value, np.int32)
    assert outcome(lambda: interpreter.run(concrete.graph, [array])) == plain


def test_with_runs_while_tracing() -> None:
    log.clear()
    staged = tf.function(with_around_a_branch)
    staged(tf.constant(1))
    staged(tf.constant(2))
    assert log == ["in a", "out a"]


def test_a_return_from_finally_is_refused_where_a_tensor_decides() -> None:
    @tf.function
    def f(x: Any) -> Any:
        try:
            y = 1
        finally:
            if x > 10:
                return 2
        return y

    with pytest.raises(
        SymbolicTensorError, match=r"test_staged_exceptions.py:\d+: AG301"
    ):
        f(tf.constant(1))


# --- AG208 ----------------------------------------------------------------------------


def caught_here(x):
    try:
        if x < 0:
            raise ValueError("negative")
        y = 1
    except ValueError:
        y = 2
    return y


def caught_in_the_caller(x):
    try:
        y = check(x)
    except (KeyError, ValueError) as error:
        y = len(str(error))
    return y


def caught_by_all(x):
    try:
        y = check(x)
    except:  # noqa: E722
        y = 2
    return y


def caught_by_exception(x):
    try:
        y = check(x)
    except Exception:
        y = 2
    return y


def caught_further_out(x):
    try:
        try:
            y = check(x)
        except KeyError:
            y = 1
    except ArithmeticError:
        y = 2
    except ValueError:
        y = 3
    return y


def suppressed(x):
    with contextlib.suppress(KeyError, ValueError):
        return check(x)
    return 0


def caught_in_an_unrolled_loop(x):
    total = 0
    for i in [1, 2, 3]:
        try:
            if x > i:
                raise ValueError
            total += i
        except ValueError:
            continue
    return total


def caught_in_a_staged_loop(n):
    total = 0
    for i in range(n):
        try:
            if i == 3:
                raise ValueError
            total += i
        except ValueError:
            break
    return total


def caught_in_a_loop_without_a_branch(n):
    total = 0
    try:
        while n > 0:
            n -= 1
            raise ValueError
    except ValueError:
        total = 1
    return total


def caught_assertion(x):
    try:
        assert x > 0
    except AssertionError:
        return 0
    return x


def caught_pop_from_a_growing_list(n):
    values = []
    for i in range(n):
        values.append(i)
    try:
        return values.pop()
    except IndexError:
        return 0


def caught_assignment_of_an_item(i):
    values = [1, 2]
    try:
        values[i] = 3
    except IndexError:
        return 0
    return values[0]


def caught_index_of_a_list(i):
    values = [1, 2]
    try:
        return values[i]
    except IndexError:
        return 0


def caught_check(x):
    try:
        tf.debugging.assert_positive(x)
    except tf.errors.InvalidArgumentError:
        return 0
    return 1


def caught_use_of_none(x):
    y = x if x > 1 else None
    try:
        return y + 1
    except (TypeError, AttributeError):
        return 0


def caught_use_of_none_in_a_staged_loop(x):
    y = x if x > 1 else None
    n = 0
    try:
        while n < 5:
            n = n + y
    except TypeError:
        return 0
    return n


def caught_use_of_none_in_a_helper(x):
    y = x if x > 1 else None

    def double():
        return y * 2

    with contextlib.suppress(TypeError):
        return double()
    return 0


def caught_use_of_an_unbound_variable(x):
    if x > 1:
        y = x
    try:
        return y + 1
    except NameError:
        return 0


@pytest.mark.parametrize(
    ("function", "raised", "clause"),
    [
        (caught_use_of_none, None, "except (TypeError, AttributeError):"),
        (caught_use_of_none_in_a_staged_loop, None, "except TypeError:"),
        (caught_use_of_none_in_a_helper, None, "with contextlib.suppress(TypeError):"),
        (caught_use_of_an_unbound_variable, None, "except NameError:"),
        (caught_here, "raise ValueError", "except ValueError:"),
        (caught_in_the_caller, None, "except (KeyError, ValueError) as error:"),
        (caught_by_all, None, "except:  # noqa: E722"),
        (caught_by_exception, None, "except Exception:"),
        (caught_further_out, None, "except ValueError:"),
        (suppressed, None, "with contextlib.suppress(KeyError, ValueError):"),
        (caught_in_an_unrolled_loop, "raise ValueError", "except ValueError:"),
        (caught_in_a_staged_loop, "raise ValueError", "except ValueError:"),
        (caught_in_a_loop_without_a_branch, "raise ValueError", "except ValueError:"),
        (caught_assertion, None, "except AssertionError:"),
        (caught_index_of_a_list, None, "except IndexError:"),
        (caught_pop_from_a_growing_list, None, "except IndexError:"),
        (caught_assignment_of_an_item, None, "except IndexError:"),
        (caught_check, None, "except tf.errors.InvalidArgumentError:"),
    ],
)
def test_a_clause_that_would_catch_is_refused(
    function: Any, raised: str | None, clause: str
) -> None:
    lines, first = inspect.getsourcelines(function)
    at = first + max(i for i, line in enumerate(lines) if line.strip() == clause)
    with pytest.raises(StagedStateError, match="AG208") as caught:
        tf.function(function)(tf.constant(1))
    text = str(caught.value)
    assert f"the `{clause}` at {__file__}:{at}" in text
    if raised is not None:
        raising = next(i for i, line in enumerate(lines) if raised in line)
        assert f"raised at {__file__}:{first + raising}" in text


def test_an_exception_that_has_every_attribute_is_staged() -> None:
    class ApiError(Exception):
        def __getattr__(self, name: str) -> int:
            if name.startswith("__"):
                raise AttributeError(name)
            return 5

    @tf.function
    def request(x: Any) -> Any:
        if x > 0:
            raise ApiError("refused")
        return x

    assert int(request(tf.constant(-1))) == -1
    with pytest.raises(ApiError, match="refused"):
        request(tf.constant(1))


def none_asked_for_before_it_is_used(x):
    y = x if x > 1 else None
    try:
        if y is not None:
            return y + 1
        return x - 1
    except TypeError:
        return 0


def none_handed_on(x):
    y = x if x > 1 else None
    try:
        z, rest = y, [y]
    except TypeError:
        return 0
    return 1 if z is None and rest[0] is None else 2


@pytest.mark.parametrize("value", [1, 2])
@pytest.mark.parametrize("function", [none_asked_for_before_it_is_used, none_handed_on])
def test_a_clause_that_cannot_catch_stands(function: Any, value: int) -> None:
    assert int(tf.function(function)(tf.constant(value))) == function(value)


def test_errors_of_operations_are_caught_around_the_call() -> None:
    @tf.function
    def divide(x: Any) -> Any:
        try:
            return 6 // x
        except Exception:
            return 0

    assert divide(tf.constant(2)).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        divide(tf.constant(0))


def test_effects_in_finally_after_a_staged_exception_are_refused() -> None:
    closed = tf.Variable(0)

    @tf.function
    def f(x: Any) -> Any:
        try:
            y = check(x)
        finally:
            closed.assign(1)
        return y

    with pytest.raises(StagedStateError, match="AG208: AssignVariableOp is part of"):
        f(tf.constant(1))

    @tf.function
    def g(x: Any) -> Any:
        try:
            y = x + 1
        finally:
            closed.assign(1)
        return y

    assert g(tf.constant(1)).numpy() == 2
    assert closed.numpy() == 1


def test_effects_at_the_end_of_with_after_a_staged_exception_are_refused() -> None:
    closed = tf.Variable(0)

    @contextlib.contextmanager
    def closing() -> Any:
        yield
        closed.assign_add(1)

    @tf.function
    def f(x: Any) -> Any:
        with closing():
            y = check(x)
        return y

    with pytest.raises(StagedStateError, match="is part of the 'with' at"):
        f(tf.constant(1))

    @tf.function
    def g(x: Any) -> Any:
        with closing():
            y = x + 1
        closed.assign_add(10)
        return y

    assert g(tf.constant(1)).numpy() == 2
    assert closed.numpy() == 11


# --- swallowed ------------------------------------------------------------------------


def broad(x):
    try:
        result = np.unique(x)[0]
    except Exception:
        result = 0
    return result


def bare(x):
    try:
        result = [1, 2][x.__index__()]
    except:  # noqa: E722
        result = 0
    return result


def returned_from_finally(x):
    try:
        print({1: 2}[x.__index__()])
    finally:
        return 0


def type_error(x):
    try:
        return x.__bool__()
    except TypeError:
        return 0


def suppress_all(x):
    y = 0
    with contextlib.suppress(Exception):
        y = x.__bool__()
    return y


def state(n):
    t = 0
    try:
        while n > 0:
            t = (t,)
            n -= 1
    except Exception:
        return 0
    return t


def in_a_branch(x):
    if x > 0:
        try:
            y = x.__bool__()
        except Exception:
            y = 1
    else:
        y = 2
    return y


def turned_into_another(x):
    if x > 0:
        try:
            x.__bool__()
        except Exception as error:
            raise ValueError("no") from error
    return x


@pytest.mark.parametrize(
    ("function", "code"),
    [
        (broad, "AG305"),
        (bare, "AG302"),
        (returned_from_finally, "AG302"),
        (type_error, "AG301"),
        (suppress_all, "AG301"),
        (state, "AG202"),
        (in_a_branch, "AG301"),
        (turned_into_another, "AG301"),
    ],
)
def test_a_swallowed_staging_error_ends_the_trace(function: Any, code: str) -> None:
    x = tf.constant([1, 2]) if function is broad else tf.constant(1)
    with pytest.raises((StagedStateError, SymbolicTensorError), match=code):
        tf.function(function)(x)


def test_an_error_of_the_compiler_cannot_be_swallowed() -> None:
    items = bytearray(b"a")

    @tf.function
    def f(x: Any) -> Any:
        try:
            if x > 0:
                items.append(2)
        except Exception:
            return 0
        return 1

    with pytest.raises(Exception, match=r"AG20[78]"):
        f(tf.constant(1))


def test_who_names_the_error_may_catch_it() -> None:
    @tf.function
    def f(x: Any) -> Any:
        try:
            return x.__bool__()
        except tf.errors.OperatorNotAllowedInGraphError:
            return -1

    assert f(tf.constant(1)).numpy() == -1


def test_libraries_may_ask() -> None:
    @tf.function
    def f(x: Any) -> Any:
        assert not np.iterable(x)
        assert np.ndim(x) == 0
        assert np.shape(x) == ()
        assert not hasattr(x, "numpy")
        return x

    assert f(tf.constant(1)).numpy() == 1


def test_a_trace_that_failed_leaves_nothing_behind() -> None:
    f = tf.function(broad)
    with pytest.raises(SymbolicTensorError):
        f(tf.constant([1]))
    assert tf.function(lambda x: x + 1)(tf.constant(1)).numpy() == 2


class TwoParts(Exception):
    def __init__(self, value: Any, reason: str) -> None:
        super().__init__(value)
        self.reason = reason


def test_each_raise_has_its_own_value() -> None:
    @tf.function
    def positive(x: Any) -> Any:
        if x <= 0:
            raise TwoParts(x, "low")
        return x

    for value in (-1, -2):
        with pytest.raises(TwoParts) as error:
            positive(tf.constant(value))
        assert (error.value.args, error.value.reason) == ((value,), "low")


def test_an_exception_may_lead_to_itself() -> None:
    @tf.function
    def positive(x: Any) -> Any:
        if x <= 0:
            error: Any = ValueError([x])
            error.itself = (error, x)
            raise error
        return x

    for value in (-1, -2):
        with pytest.raises(ValueError, match="-") as error:
            positive(tf.constant(value))
        assert error.value.args == ([value],)
        found, shown = error.value.itself  # type: ignore[attr-defined]
        assert (found is error.value, shown) == (True, value)
