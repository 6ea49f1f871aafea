"""`tf.saved_model.save` and `load`: what comes back, and what is refused."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
from collections import namedtuple
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import runtime as tf
from runtime.core.errors import UnsavableError
from runtime.files.saved_model.functions import LoadedFunction
from runtime.files.saved_model.load import open_model
from runtime.files.saving.tensor_file import TensorFile, write_tensor_file

pytest.importorskip("safetensors")

Pair = namedtuple("Pair", "one two")


def again(model: Any, folder: Path, **options: Any) -> Any:
    tf.saved_model.save(model, folder, **options)
    return tf.saved_model.load(folder)


def holder(**attributes: Any) -> tf.Module:
    module = tf.Module()
    for name, value in attributes.items():
        setattr(module, name, value)
    return module


# --- objects --------------------------------------------------------------------------


def test_attributes(tmp_path: Path) -> None:
    v = tf.Variable([1.0, 2.0], name="v", trainable=False)
    model = holder(
        v=v,
        items=[v, {"a": tf.Variable("é"), "b": 4}, (tf.Variable(1),), "text", None],
        sub=holder(w=tf.Variable(1, shape=[])),
        rate=0.5,
        name_of=b"x",
        table=tf.constant([[1, 2]]),
        open=tf.Variable([1], shape=[None], dtype=tf.int8),
    )
    model.sub.back = model
    loaded = again(model, tmp_path)

    assert loaded.items[0] is loaded.v
    assert loaded.v.numpy().tolist() == [1.0, 2.0]
    assert loaded.v.name == "v:0"
    assert not loaded.v.trainable
    assert loaded.items[1]["a"].numpy() == "é".encode()
    assert loaded.items[1]["b"] == 4
    assert isinstance(loaded.items[2], tuple)
    assert loaded.items[3:] == ["text", None]
    assert loaded.sub.back is loaded
    assert (loaded.rate, loaded.name_of) == (0.5, b"x")
    assert loaded.table.numpy().tolist() == [[1, 2]]
    assert loaded.open.shape == [None]
    assert loaded.name == model.name
    assert isinstance(loaded, tf.Module)
    assert {v.name for v in loaded.variables} == {v.name for v in model.variables}
    assert len(loaded.variables) == len(model.variables)


def test_objects_of_other_classes(tmp_path: Path) -> None:
    class Plain:
        def __init__(self) -> None:
            self.v = tf.Variable(1.0)
            self.lock = object()

    loaded = again(Plain(), tmp_path)

    assert loaded.v.numpy() == 1.0
    assert not hasattr(loaded, "lock")


def test_generators_go_on(tmp_path: Path) -> None:
    generator = tf.random.Generator.from_seed(5)
    generator.normal([3])
    model = holder(g=generator, draw=tf.function(lambda: generator.normal([2])))
    model.draw.get_concrete_function()
    loaded = again(model, tmp_path)

    assert loaded.draw().numpy().tolist() == model.draw().numpy().tolist()
    assert (
        loaded.g.normal([2]).numpy().tolist() == generator.normal([2]).numpy().tolist()
    )


def test_seeded_streams(tmp_path: Path) -> None:
    def draw() -> Any:
        return tf.random.uniform([3], seed=1), tf.random.uniform([3], seed=2)

    model = holder(draw=tf.function(draw))
    model.draw.get_concrete_function()
    loaded = again(model, tmp_path)

    for _ in range(2):
        one, other = model.draw(), loaded.draw()
        assert [x.numpy().tolist() for x in one] == [x.numpy().tolist() for x in other]


def test_assets(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("one\n")
    asset = tf.saved_model.Asset(words)
    model = holder(words=asset)
    model.path = tf.function(lambda: tf.strings.join([asset.asset_path, "!"]))
    model.path.get_concrete_function()
    folder = tmp_path / "model"
    loaded = again(model, folder)
    words.unlink()

    path = Path(loaded.path().numpy()[:-1].decode())
    assert path.read_text() == "one\n"
    assert path.name == "words.txt"
    assert folder in path.parents
    assert loaded.words.asset_path.numpy().decode() == str(path)
    # A second model takes the place of the first one, and of its assets.
    words.write_text("two\n")
    again(model, folder)
    assert len(list((folder / "assets").iterdir())) == 1
    next((folder / "assets").glob("*/words.txt")).write_text("three")
    with pytest.raises(tf.errors.DataLossError, match="not what was saved"):
        tf.saved_model.load(folder)


def test_missing_asset(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match="is no file"):
        again(holder(a=tf.saved_model.Asset(tmp_path / "none")), tmp_path / "model")


# --- functions ------------------------------------------------------------------------


class Model(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = tf.Variable(3.0)

    @tf.function
    def __call__(self, x: Any, training: bool = False, *, scale: Any = None) -> Any:
        if training:
            self.w.assign_add(1.0)
        y = x * self.w
        return y if scale is None else y * scale

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, "xs")])
    def total(self, xs: Any) -> Any:
        return {"sum": tf.reduce_sum(xs), "all": [xs, xs + 1.0]}

    def helper(self) -> None: ...


def test_polymorphic_functions(tmp_path: Path) -> None:
    model = Model()
    model(tf.constant(1.0))
    model(tf.constant(1.0), True)
    model(tf.constant([1.0, 2.0]), scale=tf.constant(2.0))
    loaded = again(model, tmp_path)
    start = float(loaded.w)

    assert callable(loaded)
    assert isinstance(vars(loaded)["__call__"], LoadedFunction)
    assert loaded(2.0).numpy() == 2.0 * start
    assert loaded(2.0, training=True).numpy() == 2.0 * (start + 1.0)
    assert loaded.w.numpy() == start + 1.0
    assert loaded(tf.constant([1.0, 2.0]), scale=2.0).shape == [2]
    with pytest.raises(
        ValueError, match=r"'__call__' was saved without a trace .*\[3\]"
    ):
        loaded(tf.ones([3]))
    with pytest.raises(TypeError, match="unexpected keyword argument 'rate'"):
        loaded(1.0, rate=2)
    assert model.w.numpy() == start


def test_a_python_value_is_preferred_to_a_tensor(tmp_path: Path) -> None:
    model = holder(f=tf.function(lambda n: tf.fill([2], n)))
    model.f(tf.constant(1))
    model.f(5)
    loaded = again(model, tmp_path)

    assert loaded.f.get_concrete_function(5).structured_input_signature == ((5,), {})
    assert loaded.f(5).numpy().tolist() == [5, 5]
    assert loaded.f(6).numpy().tolist() == [6, 6]
    spec = tf.TensorSpec([], tf.int32)
    assert len(loaded.f.get_concrete_function(spec).inputs) == 1


def test_loaded_functions_in_traces(tmp_path: Path) -> None:
    model = Model()
    model(tf.constant(1.0))
    loaded = again(model, tmp_path)

    @tf.function
    def twice(x: Any) -> Any:
        if x > 0:
            return loaded(loaded(x))
        return x

    assert twice(tf.constant(2.0)).numpy() == 18.0
    assert twice(tf.constant(-2.0)).numpy() == -2.0


def test_concrete_functions(tmp_path: Path) -> None:
    f = tf.function(lambda x, n: [x] * n)
    concrete = f.get_concrete_function(tf.TensorSpec([None]), 2)
    loaded = again(holder(c=concrete), tmp_path)

    assert [x.numpy().tolist() for x in loaded.c(tf.ones([1]))] == [[1.0], [1.0]]
    assert loaded.c.structured_input_signature[0][1] == 2


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda x: {"b": x, "a": (None, [x, Pair(x + 1, None)])}, (tf.constant(1),)),
        (lambda x: None, (tf.constant(1),)),
        (lambda x: (), (tf.constant(1),)),
        (lambda p: p.one + p.two["k"][0], (Pair(tf.constant(1), {"k": [2]}),)),
        (lambda x: 3, (tf.constant(1),)),
        (lambda s: s + "é", (tf.constant("a"),)),
    ],
)
def test_structures(tmp_path: Path, function: Any, arguments: Any) -> None:
    model = holder(f=tf.function(function))
    expected = model.f(*arguments)
    found = again(model, tmp_path).f(*arguments)

    assert repr(found) == repr(expected)


def test_results_that_tensors_decide(tmp_path: Path) -> None:
    @tf.function
    def maybe(n: Any) -> Any:
        best, found, seen = None, [], {}
        for i in range(n):
            if i % 2 == 0:
                best = i
                found.append((i, i * i))
            seen[i] = i + 1
        return best, found, seen

    model = holder(f=maybe)
    expected = [model.f(tf.constant(n)) for n in (0, 5)]
    loaded = again(model, tmp_path)

    assert repr([loaded.f(tf.constant(n)) for n in (0, 5)]) == repr(expected)


def test_tensor_arrays(tmp_path: Path) -> None:
    @tf.function
    def squares(n: Any) -> Any:
        array = tf.TensorArray(tf.int32, n)
        for i in tf.range(n):
            array = array.write(i, i * i)
        return array

    model = holder(f=squares)
    model.f(tf.constant(3))

    found = again(model, tmp_path).f(tf.constant(3))
    assert found.stack().numpy().tolist() == [0, 1, 4]


def test_only_the_present_state_is_saved(tmp_path: Path) -> None:
    """A trace that guards would not let run any more is left out."""
    model = holder(rate=2.0)
    model.f = tf.function(lambda x: x * model.rate)
    model.f(tf.constant(1.0))
    model.rate = 3.0
    model.f(tf.constant(1.0))
    loaded = again(model, tmp_path)

    assert loaded.f(tf.constant(1.0)).numpy() == 3.0
    assert len(loaded.f.current_traces()) == 1


def test_arguments_that_are_objects(tmp_path: Path) -> None:
    model = holder(f=tf.function(lambda x, other: x * 2))
    model.f(tf.constant(1), object())
    loaded = again(model, tmp_path)

    with pytest.raises(ValueError, match="know an argument by its identity: 1 more"):
        loaded.f(tf.constant(1), object())


def test_saving_again(tmp_path: Path) -> None:
    model = Model()
    model(tf.constant(1.0))
    once = again(model, tmp_path / "one")
    twice = again(once, tmp_path / "two", signatures=once.signatures)

    assert twice(tf.constant(2.0)).numpy() == 6.0
    assert list(twice.signatures) == ["serving_default"]


def test_variables_that_only_functions_use(tmp_path: Path) -> None:
    hidden = tf.Variable(1.0)
    model = holder(f=tf.function(lambda: hidden.assign_add(1.0)))
    model.f.get_concrete_function()
    loaded = again(model, tmp_path)

    assert [float(loaded.f()) for _ in range(2)] == [2.0, 3.0]
    assert hidden.numpy() == 1.0


# --- signatures -----------------------------------------------------------------------


def test_default_signature(tmp_path: Path) -> None:
    loaded = again(Model(), tmp_path)
    serving = loaded.signatures["serving_default"]

    assert serving.structured_input_signature == (
        (),
        {"xs": tf.TensorSpec([None], tf.float32, "xs")},
    )
    found = serving(xs=tf.constant([1.0, 2.0]))
    assert sorted(found) == ["output_0", "output_1", "output_2"]
    assert serving(tf.constant([1.0])).keys() == found.keys()
    with pytest.raises(TypeError):
        serving(ys=tf.constant([1.0]))


def test_names_of_nested_results(tmp_path: Path) -> None:
    model = tf.Module()
    model.f = tf.function(
        lambda x: {"a": (x, x + 1.0), "b": ()}, input_signature=[tf.TensorSpec([])]
    )
    loaded = again(model, tmp_path, signatures=model.f)
    found = loaded.signatures["serving_default"](tf.constant(1.0))
    assert {name: float(x) for name, x in found.items()} == {
        "output_0": 1.0,
        "output_1": 2.0,
    }


def test_given_signatures(tmp_path: Path) -> None:
    model = Model()
    one = model.__call__.get_concrete_function(tf.TensorSpec([None], tf.float32))
    names = tf.function(
        lambda b, a: {"z": b, "y": a},
        input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([], tf.float32)],
    )
    loaded = again(model, tmp_path, signatures={"one": one, "names": names})

    assert loaded.signatures["one"](x=[1.0])["output_0"].numpy().tolist() == [3.0]
    found = loaded.signatures["names"](b=1, a=2.0)
    assert {key: value.numpy() for key, value in found.items()} == {"z": 1, "y": 2.0}
    assert list(again(model, tmp_path, signatures={}).signatures) == []


def test_many_outputs_keep_their_order(tmp_path: Path) -> None:
    f = tf.function(
        lambda x: [x + i for i in range(12)],
        input_signature=[tf.TensorSpec([], tf.int32)],
    )
    found = again(holder(f=f), tmp_path).signatures["serving_default"](x=0)

    assert {key: int(value) for key, value in found.items()} == {
        f"output_{i}": i for i in range(12)
    }


@pytest.mark.parametrize(
    "signatures", [tf.function(lambda x: x), len, {"a": 3}, {1: tf.function(len)}]
)
def test_wrong_signatures(tmp_path: Path, signatures: Any) -> None:
    with pytest.raises(ValueError, match="signature"):
        tf.saved_model.save(Model(), tmp_path, signatures=signatures)


def test_signature_that_gives_none(tmp_path: Path) -> None:
    f = tf.function(lambda x: (x, None)).get_concrete_function(1)

    with pytest.raises(UnsavableError, match=r"AG340.*gives None"):
        tf.saved_model.save(holder(), tmp_path, signatures=f)


def test_a_function_that_gives_nothing_is_no_default_signature(tmp_path: Path) -> None:
    v = tf.Variable(1.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def mutate(value: Any) -> None:
        v.assign(value)

    loaded = again(holder(v=v, mutate=mutate), tmp_path)
    loaded.mutate(3.0)

    assert (len(loaded.signatures), loaded.v.numpy()) == (0, 3.0)


def test_a_function_without_arguments_is_traced(tmp_path: Path) -> None:
    v = tf.Variable(1.0)
    loaded = again(holder(v=v, double=tf.function(lambda: v * 2.0)), tmp_path)

    loaded.v.assign(4.0)

    assert loaded.double().numpy() == 8.0


# --- results of classes ---------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Point:
    x: Any
    y: Any = 0

    def norm(self) -> Any:
        return tf.sqrt(self.x**2 + self.y**2)


@dataclasses.dataclass
class Counted:
    x: Any
    count: int = dataclasses.field(init=False, default=0)


def nearest(x: Any) -> Any:
    best = Point(x, x)
    if best.norm() > 2:
        best = Point(x / 2)
    return {"best": best, "all": [Point(x, Pair(best, x))]}


def test_a_dataclass_is_loaded_as_one_of_its_fields(tmp_path: Path) -> None:
    model = holder(f=tf.function(nearest, input_signature=[tf.TensorSpec([])]))
    tf.saved_model.save(model, tmp_path)
    loaded = tf.saved_model.load(tmp_path)

    for x in (1.0, 3.0):
        found = loaded.f(x)
        assert repr(found) == repr(model.f(x))
        assert type(found["best"]) is type(found["all"][0]) is not Point
        assert not hasattr(found["best"], "norm")


def test_an_object_that_is_more_than_its_fields_is_refused(tmp_path: Path) -> None:
    model = holder(f=tf.function(Counted, input_signature=[tf.TensorSpec([])]))

    with pytest.raises(UnsavableError, match=r"AG340: .* a Counted, a class that"):
        tf.saved_model.save(model, tmp_path)


# --- what is refused ------------------------------------------------------------------


def py_function(x: Any) -> Any:
    return tf.py_function(lambda y: y, [x], tf.float32)


def numpy_function(x: Any) -> Any:
    if x > 0:
        return tf.numpy_function(np.sin, [x], tf.float32)
    return x


class Own(ValueError):
    pass


Group: Any = getattr(builtins, "ExceptionGroup", ValueError)


def with_attributes(x: Any, y: Any) -> ValueError:
    error: Any = ValueError("a")
    error.parts = [{"y": y}]
    error.inner = TypeError(x)
    return error  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "make",
    [
        lambda x, y: AssertionError(ValueError(x)),
        lambda x, y: KeyError(((x, y), x + y, y)),
        lambda x, y: ValueError([x, {"a": (y, "b")}, []], x),
        lambda x, y: Group("group", [ValueError(x), Group("of", [TypeError(y)])]),
        with_attributes,
    ],
)
def test_values_within_exceptions(tmp_path: Path, make: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        if x > 0:
            raise make(x, y)
        return x

    spec = tf.TensorSpec([], tf.int32)
    model = holder(f=tf.function(function, input_signature=[spec, spec]))
    expected = make(3, 4)
    for found in (model, again(model, tmp_path)):
        with pytest.raises(type(expected)) as error:
            found.f(tf.constant(3), tf.constant(4))
        assert repr(error.value) == repr(expected)
        assert repr(vars(error.value)) == repr(vars(expected))
        if Group is not ValueError and isinstance(expected, Group):
            assert repr(error.value.exceptions) == repr(expected.exceptions)
        assert int(found.f(tf.constant(-1), tf.constant(4))) == -1


def own_exception(x: Any) -> Any:
    if x > 0:
        raise Own("positive")
    return x


def cyclic_exception(x: Any) -> Any:
    if x > 0:
        error: Any = ValueError(x)
        error.itself = [error]
        raise error
    return x


@pytest.mark.parametrize(
    "function", [py_function, numpy_function, own_exception, cyclic_exception]
)
def test_what_is_no_data(tmp_path: Path, function: Any) -> None:
    model = holder(f=tf.function(function))
    model.f.get_concrete_function(tf.TensorSpec([]))

    with pytest.raises(UnsavableError, match=r"test_save_load.py:\d+: AG340") as error:
        tf.saved_model.save(model, tmp_path)
    assert error.value.code == "AG340"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [3, tf.constant(1), [tf.Variable(1)], len])
def test_what_is_no_object(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ValueError, match="cannot be saved"):
        tf.saved_model.save(value, tmp_path)


def test_saving_while_tracing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="while a function is traced"):
        tf.function(lambda: tf.saved_model.save(holder(), tmp_path))()


def test_missing_model(tmp_path: Path) -> None:
    assert not tf.saved_model.contains_saved_model(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="no saved model"):
        tf.saved_model.load(tmp_path)
    tf.saved_model.save(holder(), tmp_path)
    assert tf.saved_model.contains_saved_model(tmp_path)


# --- other files ----------------------------------------------------------------------


def rewrite(folder: Path, change: Any) -> None:
    """Change the record of a model, with the right checksums."""
    path = folder / "saved_model.safetensors"
    file = TensorFile(path, "runtime.saved_model")
    arrays = {name: file.array(name) for name in file.names}
    record = change(file.record)
    write_tensor_file(path, "runtime.saved_model", arrays, record)


def test_a_later_version(tmp_path: Path) -> None:
    tf.saved_model.save(Model(), tmp_path)
    rewrite(tmp_path, lambda record: {**record, "version": 2})

    with pytest.raises(tf.errors.UnimplementedError, match=r"version 2 .* later"):
        tf.saved_model.load(tmp_path)


def test_an_unknown_op(tmp_path: Path) -> None:
    tf.saved_model.save(Model(), tmp_path)

    def change(record: Any) -> Any:
        record["graphs"][0]["nodes"][0]["op"] = "FromTheFuture"
        return record

    rewrite(tmp_path, change)
    with pytest.raises(tf.errors.UnimplementedError, match="'FromTheFuture'"):
        tf.saved_model.load(tmp_path)


def test_a_python_function_is_never_called(tmp_path: Path) -> None:
    tf.saved_model.save(Model(), tmp_path)

    def change(record: Any) -> Any:
        record["graphs"][0]["nodes"][0]["op"] = "EagerPyFunc"
        return record

    rewrite(tmp_path, change)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.saved_model.load(tmp_path)


def test_nonsense_is_refused(tmp_path: Path) -> None:
    """Changed records with right checksums: errors of ours, or a model."""
    model = Model()
    model(tf.constant(1.0))
    model(tf.constant(1.0), True)
    tf.saved_model.save(model, tmp_path)
    path = tmp_path / "saved_model.safetensors"
    whole = path.read_bytes()
    refused = 0
    for seed in range(300):
        random = Random(seed)
        path.write_bytes(whole)
        rewrite(tmp_path, lambda record, random=random: _changed(record, random))
        try:
            open_model(tmp_path)
        except (tf.errors.DataLossError, tf.errors.UnimplementedError):
            refused += 1
    assert refused > 150


def _changed(record: Any, random: Random) -> Any:
    """The record with something else in one place."""
    places = []

    def walk(value: Any) -> None:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in list(pairs):
            places.append((value, key))
            if isinstance(inner, (dict, list)):
                walk(inner)

    walk(record)
    container, key = random.choice(places)
    if random.random() < 0.3:
        del container[key]
    else:
        container[key] = random.choice(
            [None, -1, 10**9, 0.5, "x", "__class__", [], {}, [[]], {"graph": 0}, True]
        )
    return record


def test_labels_are_names(tmp_path: Path) -> None:
    """What becomes a name in generated code cannot be code."""
    tf.saved_model.save(Model(), tmp_path)
    code = "x = __import__('os').abort()"

    def change(record: Any) -> Any:
        for graph in record["graphs"]:
            graph["labels"] = [[0, code], [1, code], [0, "class"]]
            graph["name"] = code
            for node in graph["nodes"]:
                node["name"] = f"{code} #{node['name']}"
            for entry in graph["inputs"]:
                entry["name"] = code
        return record

    rewrite(tmp_path, change)
    with contextlib.suppress(tf.errors.DataLossError):
        loaded = tf.saved_model.load(tmp_path)
        source = loaded.total.current_traces()[0].to_source()
        assert "__import__(" not in source


def test_checksum_of_the_record(tmp_path: Path) -> None:
    tf.saved_model.save(Model(), tmp_path)
    path = tmp_path / "saved_model.safetensors"
    path.write_bytes(path.read_bytes().replace(b"float32", b"float64"))

    with pytest.raises(tf.errors.DataLossError, match="checksum"):
        tf.saved_model.load(tmp_path)
