"""What users see of native code."""

from __future__ import annotations

import pytest

import runtime as tf
from runtime.engines.native import library


def lines(x):
    y = x * x
    z = tf.sqrt(y) + 1.0
    return z / tf.reduce_sum(z)


def printed(x):
    y = tf.exp(x) * x
    tf.print("computed")
    return y + tf.sin(y)


SPEC = tf.TensorSpec([10000])


def concrete(function, executor="native", spec=SPEC):
    return tf.function(function, executor=executor).get_concrete_function(spec)


@pytest.mark.parametrize("executor", ["native", "numpy"])
def test_the_module_has_the_lines_of_the_program(executor):
    made = concrete(lines, executor)
    first = lines.__code__.co_firstlineno
    for optimized in (False, True):
        text = made.llvm_ir(optimized)
        assert f"; test_show.py:{first + 1}:     y = x * x\n" in text
        assert f"; test_show.py:{first + 2}:     z = tf.sqrt(y) + 1.0\n" in text
        assert "!dbg" not in text
    assert " x float>" in made.llvm_ir()
    assert " x float>" not in made.llvm_ir(optimized=False)


def test_instructions_of_the_machine_have_the_lines():
    text = concrete(lines).asm()
    first = lines.__code__.co_firstlineno
    assert f"# test_show.py:{first + 1}:     y = x * x\n" in text
    assert "run:" in text
    assert ".debug" not in text
    assert ".loc" not in text


def test_native_parts_are_functions_of_the_module():
    text = concrete(printed).llvm_ir()
    assert "@native_1(" in text


def test_the_source_of_native_code_is_the_module():
    assert "define i32" in concrete(lines).to_source()
    assert "native_1(" in concrete(printed).to_source()


def test_explain():
    text = concrete(lines).explain()
    assert text.startswith("lines() runs as native code.\nIt has")
    assert "vectors (" in text
    text = concrete(printed).explain()
    assert "NumPy source that calls native functions, which have 4 of 5 oper" in text
    line = printed.__code__.co_firstlineno + 2
    assert f"test_show.py:{line}: PrintV2 has no native code" in text
    assert 'tf.print("computed")' in text
    assert "executor is 'numpy'" in concrete(printed, "numpy").explain()


def test_explain_where_nothing_is_native():
    def text(x):
        return tf.strings.as_string(x)

    made = concrete(text, spec=tf.TensorSpec([3]))
    assert "text() runs as NumPy source." in made.explain()
    for view in (made.llvm_ir, made.loops):
        with pytest.raises(ValueError, match="nothing of text"):
            view()


def test_a_function_too_small_for_a_call_says_so():
    def small(n):
        tf.print("n")
        return n + 1

    made = concrete(small, spec=tf.TensorSpec([], tf.int32))
    assert "PrintV2 has no native code" in made.explain()


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    made = concrete(lines, "numpy")
    library.load.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "llvmlite", None)
    try:
        for view in (made.llvm_ir, made.loops):
            with pytest.raises(
                tf.errors.UnimplementedError, match=r"compiler\[native\]"
            ):
                view()
        with pytest.raises(tf.errors.UnimplementedError, match=r"compiler\[native\]"):
            concrete(lines).explain()
    finally:
        library.load.cache_clear()
