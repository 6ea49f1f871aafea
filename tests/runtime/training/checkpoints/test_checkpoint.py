"""`tf.train.Checkpoint`: what is saved, under which names, and what comes back."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections import OrderedDict, defaultdict, deque, namedtuple
from pathlib import Path

import numpy as np
import pytest

import runtime as tf
from runtime.core.types.dtypes import ALL

pytest.importorskip("safetensors")

VALUE = ".ATTRIBUTES/VARIABLE_VALUE"


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def names(path: str) -> list[str]:
    return [name.removesuffix("/" + VALUE) for name, _ in tf.train.list_variables(path)]


class Plain:
    def __init__(self, value: float) -> None:
        self.v = tf.Variable(value)


class Slots:
    __slots__ = ("v",)

    def __init__(self, value: float) -> None:
        self.v = tf.Variable(value)


def test_guide() -> None:
    """The program of the guide about eager execution."""
    x = tf.Variable(10.0)
    checkpoint = tf.train.Checkpoint(x=x)
    x.assign(2.0)
    assert checkpoint.save("./ckpt/") == "./ckpt/-1"
    x.assign(11.0)

    checkpoint.restore(tf.train.latest_checkpoint("./ckpt/"))

    assert x.numpy() == 2.0
    assert tf.train.latest_checkpoint("./ckpt/") == "./ckpt/-1"


def test_save_counts_and_write_does_not() -> None:
    checkpoint = tf.train.Checkpoint(x=tf.Variable(1.0))

    assert [checkpoint.save("a/b"), checkpoint.save("a/b")] == ["a/b-1", "a/b-2"]
    assert checkpoint.save_counter.numpy() == 2
    assert tf.train.latest_checkpoint("a") == "a/b-2"
    assert checkpoint.write(Path("c/d")) == "c/d"
    assert tf.train.latest_checkpoint("c") is None
    assert names("c/d") == ["save_counter", "x"]


def test_counter_goes_on_after_restoring() -> None:
    path = tf.train.Checkpoint(x=tf.Variable(1.0)).save("a/b")
    checkpoint = tf.train.Checkpoint(x=tf.Variable(2.0))

    checkpoint.restore(path).assert_consumed()

    assert checkpoint.save("a/b") == "a/b-2"


def test_names() -> None:
    module = tf.Module()
    module.w = tf.Variable(1.0)
    module.plain = Plain(2.0)
    module.slots = Slots(3.0)
    module.number = 3
    pair = namedtuple("pair", "a b")(tf.Variable(1), 0)
    checkpoint = tf.train.Checkpoint(
        m=module,
        items=[tf.Variable(1), {"a": tf.Variable(2), "b/c.d": tf.Variable(3)}],
        pair=pair,
        numbers={3: tf.Variable(4)},
        queue=deque([tf.Variable(1)]),
        ordered=OrderedDict(z=tf.Variable(1)),
        default=defaultdict(list, k=[tf.Variable(1)]),
    )

    assert names(checkpoint.write("c")) == [
        "default/k/0",
        "items/0",
        "items/1/a",
        "items/1/b.Sc..d",
        "m/plain/v",
        "m/slots/v",
        "m/w",
        "numbers/3",
        "ordered/z",
        "pair/0",
        "queue/0",
    ]
    assert checkpoint.read("c").assert_consumed()


def test_root_lends_its_attributes() -> None:
    module = tf.Module()
    module.v = tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(module, z=tf.Variable(2.0))

    assert names(checkpoint.write("c")) == ["v", "z"]
    with pytest.raises(ValueError, match="'v' that is another object"):
        tf.train.Checkpoint(module, v=tf.Variable(1.0))


def test_shared_variable_is_saved_once_and_stays_shared() -> None:
    shared = tf.Variable(1.0)
    first = tf.train.Checkpoint(a=shared, b=[shared])
    path = first.write("c")
    assert names(path) == ["a"]
    shared.assign(2.0)
    first.read(path)
    assert shared.numpy() == 1.0

    two = tf.train.Checkpoint(a=tf.Variable(5.0), b=[tf.Variable(5.0)])
    with pytest.raises(ValueError, match=r"one object .*'a/.* the program has two"):
        two.read(path)


def test_one_object_for_two_is_refused() -> None:
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write("c")
    one = tf.Variable(0.0)

    with pytest.raises(ValueError, match="one object where the checkpoint has two"):
        tf.train.Checkpoint(a=one, b=one).read(path)
    assert one.numpy() == 0.0


def test_cycles() -> None:
    one, other = tf.Module(), tf.Module()
    one.other, other.one, one.v = other, one, tf.Variable(1.0)
    checkpoint = tf.train.Checkpoint(m=one)

    path = checkpoint.write("c")
    one.v.assign(2.0)
    checkpoint.read(path).assert_consumed()

    assert one.v.numpy() == 1.0


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (2, 1)], ids=str)
def test_every_dtype(dtype: tf.DType, shape: tuple[int, ...]) -> None:
    one, zero = ("é", "") if dtype is tf.string else (True, False)
    value = tf.fill(shape, tf.constant(one, dtype))
    variable = tf.Variable(value)
    path = tf.train.Checkpoint(v=variable).write("c")
    again = tf.Variable(tf.fill(shape, tf.constant(zero, dtype)))

    tf.train.Checkpoint(v=again).read(path).assert_consumed()

    assert bool(tf.reduce_all(again == value))
    assert again.dtype is dtype
    assert again.shape == shape


def test_generators_go_on_where_they_were() -> None:
    generator = tf.random.Generator.from_seed(1)
    generator.normal([3])
    checkpoint = tf.train.Checkpoint(g=generator)
    path = checkpoint.write("c")
    expected = generator.normal([5]).numpy().tolist()

    checkpoint.read(path).assert_consumed()

    assert generator.normal([5]).numpy().tolist() == expected


@pytest.mark.parametrize("seed", [None, 3])
def test_iterators_go_on_where_they_were(seed: int | None) -> None:
    def numbers() -> tf.data.Dataset:
        return tf.data.Dataset.range(20).shuffle(7, seed=seed).batch(2)

    iterator = iter(numbers())
    next(iterator), next(iterator)
    path = tf.train.Checkpoint(i=iterator, x=tf.Variable(1)).write("c")
    expected = [batch.numpy().tolist() for batch in iterator]
    again = iter(numbers())

    tf.train.Checkpoint(i=again, x=tf.Variable(2)).read(path).assert_consumed()

    assert [batch.numpy().tolist() for batch in again] == expected
    assert len(expected) == 8


def test_objects_with_state_of_their_own() -> None:
    class Counter:
        def __init__(self, value: int) -> None:
            self.value = value

        def _serialize_to_tensors(self) -> dict[str, object]:
            return {"value": tf.constant(self.value), "name": "x"}

        def _restore_from_tensors(self, tensors: dict[str, tf.Tensor]) -> None:
            self.value = int(tensors["value"])

    path = tf.train.Checkpoint(c=Counter(7)).write("c")
    counter = Counter(0)

    tf.train.Checkpoint(c=counter).read(path).assert_consumed()

    assert counter.value == 7


def test_objects_that_say_where_they_lead() -> None:
    class Layer:
        def __init__(self) -> None:
            self._hidden = tf.Variable(1.0)
            self._other = tf.Variable(2.0)

        def _trackable_children(self) -> dict[str, object]:
            return {"kernel": self._hidden}

    assert names(tf.train.Checkpoint(layer=Layer()).write("c")) == ["layer/kernel"]


@pytest.mark.parametrize("value", [3, "text", tf.constant(1), len, None], ids=repr)
def test_what_holds_no_state_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"tf\.Variable"):
        tf.train.Checkpoint(n=value)


def test_keys_that_meet_are_refused() -> None:
    checkpoint = tf.train.Checkpoint(d={1: tf.Variable(1), "1": tf.Variable(2)})

    with pytest.raises(ValueError, match="two keys of a dict are called '1'"):
        checkpoint.write("c")


def test_odd_keys_are_refused() -> None:
    checkpoint = tf.train.Checkpoint(d={(1, 2): [tf.Variable(1)], (3,): 4})

    with pytest.raises(ValueError, match=r"the key \(1, 2\) holds variables"):
        checkpoint.write("c")


def test_traced_functions_are_not_looked_into() -> None:
    v = tf.Variable(1.0)

    class Model(tf.Module):
        @tf.function
        def call(self, x: tf.Tensor) -> tf.Tensor:
            return x * v

    model = Model()
    model.f = model.call
    model.f(tf.constant(1.0))

    assert names(tf.train.Checkpoint(m=model).write("c")) == []


def test_saving_while_tracing_is_refused() -> None:
    checkpoint = tf.train.Checkpoint(x=tf.Variable(1.0))

    @tf.function
    def step() -> None:
        checkpoint.write("c")

    with pytest.raises(RuntimeError, match="while a function is traced"):
        step()


@pytest.mark.parametrize(
    ("variable", "error", "message"),
    [
        ([1.0, 2.0], ValueError, r"shape \(\) in 'x/.*shape \(2,\)"),
        (1, tf.errors.InvalidArgumentError, "float32 values in 'x/.*int32"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    variable: object, error: type[Exception], message: str
) -> None:
    path = tf.train.Checkpoint(a=tf.Variable(1.0), x=tf.Variable(1.0)).write("c")
    first, other = tf.Variable(5.0), tf.Variable(variable)

    with pytest.raises(error, match=message):
        tf.train.Checkpoint(a=first, x=other).read(path)

    assert first.numpy() == 5.0


def test_open_shapes() -> None:
    path = tf.train.Checkpoint(x=tf.Variable([1.0, 2.0])).write("c")
    x = tf.Variable([0.0], shape=[None])

    tf.train.Checkpoint(x=x).read(path)

    assert x.numpy().tolist() == [1.0, 2.0]


def test_missing_checkpoints() -> None:
    checkpoint = tf.train.Checkpoint(x=tf.Variable(1.0))
    checkpoint.save("a/b")

    with pytest.raises(tf.errors.NotFoundError, match="no checkpoint 'a/b-2'"):
        checkpoint.restore("a/b-2")
    with pytest.raises(tf.errors.NotFoundError, match="it is a folder"):
        checkpoint.restore("a")
    assert checkpoint.restore("a/b-1.safetensors").assert_consumed()


def test_checkpoints_of_tensorflow_are_named(tmp_path: Path) -> None:
    for name in ("ckpt-1.index", "ckpt-1.data-00000-of-00001"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(tf.errors.UnimplementedError, match="'ckpt-1' is a check"):
            tf.train.Checkpoint().restore(name if "data" in name else "ckpt-1")
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "ckpt-1"\n')
    for read in (
        tf.train.latest_checkpoint,
        tf.train.load_checkpoint,
        lambda folder: tf.train.CheckpointManager(tf.train.Checkpoint(), folder, 2),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match="of TensorFlow, whose"):
            read(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="model of TensorFlow"):
        tf.saved_model.load(tmp_path)


def test_files_of_other_programs_are_named(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"w": np.ones(2)}, tmp_path / "weights.safetensors")
    with pytest.raises(tf.errors.DataLossError, match=r"safetensors\.numpy\.load_file"):
        tf.train.Checkpoint().restore("weights")
    tf.saved_model.save(tf.Module(), tmp_path / "model")
    with pytest.raises(tf.errors.DataLossError, match=r"'runtime\.saved_model', not"):
        tf.train.Checkpoint().restore(tmp_path / "model" / "saved_model")


def test_status() -> None:
    path = tf.train.Checkpoint(x=tf.Variable(1.0), y=tf.Variable(2.0)).save("a/b")

    x = tf.train.Checkpoint(x=tf.Variable(0.0))
    status = x.restore(path).expect_partial()
    with pytest.raises(AssertionError, match=r"1 values .* no object .*: y/"):
        status.assert_consumed()
    assert status.assert_existing_objects_matched() is status
    assert status.assert_nontrivial_match() is status

    z = tf.train.Checkpoint(z=tf.Variable(0.0))
    status = z.restore(path).expect_partial()
    with pytest.raises(AssertionError, match=r"1 objects .* no value .*: z: <tf.Var"):
        status.assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="other names"):
        status.assert_nontrivial_match()


def test_nothing_to_restore() -> None:
    checkpoint = tf.train.Checkpoint(x=tf.Variable(1.0))
    status = checkpoint.restore(None)

    assert status.expect_partial() is status
    for name in ("consumed", "existing_objects_matched", "nontrivial_match"):
        with pytest.raises(AssertionError, match="no checkpoint was given"):
            getattr(status, f"assert_{name}")()


def test_values_left_over_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    path = tf.train.Checkpoint(x=tf.Variable(1.0), y=tf.Variable(2.0)).save("a/b")

    with caplog.at_level(logging.WARNING):
        tf.train.Checkpoint(x=tf.Variable(0.0), items=[]).restore(path).expect_partial()
        assert caplog.messages == []
        # An object that can be given no class of its own cannot wait for anything.
        tf.train.Checkpoint(x=tf.Variable(0.0)).restore(path)
        import gc

        gc.collect()
    assert "1 values of the checkpoint" in caplog.text
    assert "y/.ATTRIBUTES" in caplog.text


def test_another_process_restores() -> None:
    prefix = tf.train.Checkpoint(x=tf.Variable([1.5]), s=tf.Variable("é")).save("a/b")
    code = (
        "import runtime as tf; x = tf.Variable([0.0]); s = tf.Variable('');"
        f"tf.train.Checkpoint(x=x, s=s).restore({prefix!r}).assert_consumed();"
        "print(x.numpy(), s.numpy())"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
    )

    assert done.stdout == "[1.5] b'\\xc3\\xa9'\n"
