"""``autograph verify``: targets with specs, random arguments, and what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograph.commandline.main import main
from autograph.verification.drawing import sampled
from autograph.verification.library import libraries

pytest.importorskip("runtime", exc_type=ImportError)  # WebAssembly has no NumPy

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file with functions, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "verified_prices.py").write_text(
        "def largest(prices, limit, factor=1):\n"
        "    best = 0\n"
        "    for price in prices:\n"
        "        if best < price < limit:\n"
        "            best = price\n"
        "    return best * factor\n\n\n"
        "def wraps(n):\n"
        "    if n > 60:\n"
        "        n = n * 40_000_000\n"
        "    return n\n"
    )


def test_a_function_that_agrees(capsys: Captured) -> None:
    assert (
        main(["verify", "verified_prices.py::largest(int32[?], int32[], factor=2)"])
        == 0
    )

    captured = capsys.readouterr()
    assert captured.out.count("  same       converted; eager; staged, numpy") == 3
    assert captured.err == ""


def test_a_call_without_tensors_is_compared_once(capsys: Captured) -> None:
    assert main(["verify", "verified_prices:largest([2, 5], 4)"]) == 0
    assert capsys.readouterr().out.startswith("largest([2, 5], 4) gives 2\n  same ")


def test_random_arguments_are_made_small(capsys: Captured) -> None:
    assert (
        main(["verify", "verified_prices.py::wraps(int32[])", "--random", "200"]) == 1
    )

    text = capsys.readouterr().out
    assert text.startswith("verified_prices.py:11:9: AG410 wraps does not behave")
    assert "  why: wraps(61) gives 2440000000\n" in text
    assert "first at verified_prices.py:11: `n` is -1854967296, not 2440000000" in text


def test_random_arguments_that_agree(capsys: Captured) -> None:
    assert (
        main(["verify", "verified_prices.py::wraps(float32[])", "--random", "20"]) == 0
    )
    expected = "wraps behaves the same in every way for 20 random arguments\n"
    assert capsys.readouterr().out == expected


def test_for_programs(capsys: Captured) -> None:
    targets = ["verified_prices.py::wraps(int32[])", "verified_prices.py::wraps(100)"]
    assert main(["verify", *targets, "--json"]) == 0

    first, second = json.loads(capsys.readouterr().out)
    assert [call["agrees"] for call in first["calls"]] == [True] * 3
    # Without a spec the number stays one of Python, and no way wraps it around.
    assert [way["verdict"] for way in second["calls"][0]["ways"]][:2] == [
        "same",
        "same",
    ]


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("verified_prices.py::largest", "AG403"),
        ("verified_prices.py::largest(int33[])", "AG403"),
        ("verified_prices.py::smallest(int32[])", "AG403"),
        ("missing.py::f(1)", "AG402"),
        ("no_such_module:f(1)", "AG402"),
        ("verified_prices.py::largest(1)", "AG403"),
        ("verified_prices.py::__name__(1)", "AG403"),
        ("math:sqrt(2.0)", "AG403"),
    ],
)
def test_targets_that_are_not_there(target: str, code: str, capsys: Captured) -> None:
    assert main(["verify", target]) == 2
    assert code in capsys.readouterr().err


def test_a_wrong_number(capsys: Captured) -> None:
    assert main(["verify", "verified_prices.py::wraps(1)", "--random", "0"]) == 2
    assert "must be positive" in capsys.readouterr().err


def test_samples_are_the_same_each_time() -> None:
    library = libraries()["runtime"]
    specs = library.specs("float32[?,2], bool[], string[3], complex64[], uint8[1], 7")

    first, again = (sampled(specs, library, 5) for _ in range(2))
    assert repr(first.args) == repr(again.args)
    assert repr(first.args) != repr(sampled(specs, library, 6).args)
    rows, flag, texts, number, small, seven = first.args
    assert (rows.dtype, rows.shape[1]) == ("float32", 2)
    assert (type(flag), len(texts), type(number), seven) == (bool, 3, complex, 7)
    assert small.dtype == "uint8"


def test_the_first_sample_is_positive() -> None:
    library = libraries()["runtime"]
    specs = library.specs("float32[50], int32[50]")

    assert all(min(numbers) > 0 for numbers in sampled(specs, library, 0).args)
    assert any(min(numbers) < 0 for numbers in sampled(specs, library, 1).args)


def test_the_nearest_name_is_told(capsys: Captured) -> None:
    assert main(["verify", "verified_prices.py::largets(1)"]) == 2
    assert "did you mean `largest`?" in capsys.readouterr().err


def test_a_program_that_exits_is_not_verified(capsys: Captured) -> None:
    Path("verified_exits.py").write_text("def f(n):\n    raise SystemExit(n)\n")
    assert main(["verify", "verified_exits.py::f(0)"]) == 0
    assert capsys.readouterr().out.startswith("f(0) gives SystemExit: 0\n  same ")
    Path("verified_ends.py").write_text("def f(n):\n    return n\n\n\nexit(0)\n")
    assert main(["verify", "verified_ends.py::f(0)"]) == 2
    assert "SystemExit" in capsys.readouterr().err


def test_arrays_of_any_shape_and_of_dtypes_that_numpy_lacks(capsys: Captured) -> None:
    Path("verified_sums.py").write_text("def f(xs):\n    return xs + xs\n")

    assert main(["verify", "verified_sums.py::f(float32[...])"]) == 0
    assert main(["verify", "verified_sums.py::f(bfloat16[2])"]) == 2
    assert "AG403" in capsys.readouterr().err
