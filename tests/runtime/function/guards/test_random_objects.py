"""Random functions over a graph of objects, each of which is changed at random."""

import functools
import importlib.util
import random
import re
import sys
import types
import weakref

import pytest

import runtime as tf

pytestmark = pytest.mark.filterwarnings("ignore::runtime.core.errors.RetracingWarning")

X = tf.constant(1.0)
CLASSES = """
import functools

class Base:
    shared = 1.0
    def value(self): return self.a + self.shared
    @property
    def twice(self): return self.a * 2.0 + self.value()
    def __len__(self): return int(self.n)
    def __call__(self, v): return v + self.a
    def __getitem__(self, i): return self.items[i]
    def __iter__(self): return iter(self.items)

class Kid(Base):
    def value(self): return super().value() + self.extra()
    def extra(self): return 0.5

class Slot:
    __slots__ = ("a", "n", "__weakref__")
    shared = 4.0
    def value(self): return self.a * self.shared

scale = 1.0
table = {}
def scaled(o): return o.a + scale
def apply(f, v, k=1.0): return f(v) * k
def adder(box): return lambda v: v + box[0]
def times(box, v): return v * box[0]
"""
#: What is added to the result; `{o}` is one of several objects.
TERMS = """
r.{o}.a | r.{o}.value() | scaled(r.{o}) | getattr(r.{o}, 'a') | r.kid.twice | r.kid(1.0)
r.items[0].a | sum([o.a for o in r.items]) | len(r.items) | r.d['x'] | r.d['y'].a
sum(r.nums) | r.f(1.0) | apply(r.f, 2.0) | max(map(r.f, r.nums)) | r.part(1.0)
apply(r.part, 2.0) | r.make().a | getattr(r.kid, 'late', 7.0) | r.ref().a | scale
table['f'](1.0) | sum(f(1.0) for f in table.values()) | r.t[0] + r.t[1][0] | r.kid[0].a
sum(o.a for o in r.kid) | len(r.kid) | len(r.s) | r.nest[0][0][0] | r.nest[1]['q'][0].a
(1 if r.items[0] is r.one else 2) | (3 if r.box is r.box2 else 4) | type(r.kid).shared
(1 if isinstance(r.x, Kid) else 5) | (1 if r.flag else r.x.a)
functools.reduce(lambda p, q: p + q.a, r.items, 0.0)
"""
#: Statements before that.
STATEMENTS = """
t = t + (c := r.{o}).a
for o in r.items: t = t + o.a * o.shared
for name in ('a', 'n'): t = t + getattr(r.kid, name)
for k, v in r.d.items(): t = t + (v if k == 'x' else v.a)
p, q = r.pair; t = t + p.a - q.a
local = [r.kid, r.slot]; t = t + local[1].a
method = r.kid.value; t = t + method()
"""
OBJECTS = ("kid", "slot", "items[1]", "x")


def module_of(seed, folder, rng):
    """A module with a random function `f` of a number."""
    terms = [f"t = t + {term}" for term in re.split(r" \| |\n", TERMS.strip())]
    kinds = terms, STATEMENTS.strip().splitlines()
    lines = [rng.choice(kinds[rng.random() < 0.35]) for _ in range(rng.randint(1, 5))]
    body = "\n    ".join(line.format(o=rng.choice(OBJECTS)) for line in lines)
    path = folder / f"objects_{seed}.py"
    source = f"def f(x):\n    t = x * 1.0\n    {body}\n    return t\n"
    path.write_text(f"{CLASSES}\n{source}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Objects:
    """The objects that the functions read, and changes of them."""

    def __init__(self, module, rng):
        self.module, self.rng = module, rng
        new, r = self.new, types.SimpleNamespace()
        module.r = self.r = r
        r.kid, r.slot, r.x = new("Kid"), new("Slot"), new("Base")
        r.items, r.pair = [new("Base"), new("Kid")], (new("Base"), new("Base"))
        r.one, r.nums, r.box, r.s, r.flag = r.items[0], [1.0, 2.0], [1.0], {1, 2}, True
        r.box2, r.target = r.box, new("Base")
        r.ref, r.d = weakref.ref(r.target), {"x": 2.0, "y": new("Base")}
        r.t, r.nest = (1.0, [2.0]), [[[1.0]], {"q": [new("Base")]}]
        r.f, r.part = module.adder([1.0]), functools.partial(module.times, [2.0])
        r.make = functools.partial(lambda held: held[0], [new("Base")])
        module.table["f"] = module.adder([3.0])
        module.table["g"] = functools.partial(module.times, [3.0])

    def new(self, name):
        made = getattr(self.module, name)()
        made.a, made.n = float(self.rng.randint(0, 9)), float(self.rng.randint(0, 4))
        if name == "Kid":
            made.items = [self.new("Base")]
        return made

    def change(self):
        r, m, new, rng = self.r, self.module, self.new, self.rng
        v = float(rng.randint(10, 99))
        objects = [r.kid, r.slot, r.x, *r.items, *r.pair, r.d["y"], r.kid.items[0]]
        objects += [r.target, r.nest[1]["q"][0], r.make()]
        changes = [
            *([lambda: setattr(rng.choice(objects), "a", v)] * 8),
            lambda: r.items.__setitem__(rng.randrange(2), new("Base")),
            lambda: r.items.append(new("Kid")),
            lambda: r.d.update(x=v),
            lambda: r.d.update(y=new("Base")),
            lambda: r.d.update({f"z{v}": new("Base")}),
            lambda: r.nums.__setitem__(rng.randrange(2), v),
            lambda: r.f.__closure__[0].cell_contents.__setitem__(0, v),
            lambda: r.part.args[0].__setitem__(0, v),
            lambda: m.table["f"].__closure__[0].cell_contents.__setitem__(0, v),
            lambda: m.table["g"].args[0].__setitem__(0, v),
            lambda: setattr(m, "scale", v),
            lambda: setattr(m.Base, "shared", v),
            lambda: setattr(m.Kid, "extra", lambda self: v),
            lambda: setattr(r, "kid", new("Kid")),
            lambda: setattr(r.kid, "late", v),
            lambda: setattr(r, "t", rng.choice([(v, r.t[1]), (r.t[0], [v])])),
            lambda: r.nest[0][0].__setitem__(0, v),
            lambda: setattr(r.x, "__class__", rng.choice([m.Base, m.Kid])),
            lambda: setattr(r, "box", [1.0]),
            lambda: setattr(r, "one", new("Base")),
            lambda: setattr(r, "flag", not r.flag),
            lambda: r.s.add(v),
            lambda: setattr(m.apply, "__defaults__", (v,)),
            lambda: r.nest[1]["q"].__setitem__(0, new("Base")),
            lambda: r.make.args[0].__setitem__(0, new("Base")),
        ]
        rng.choice(changes)()


@pytest.mark.parametrize("seed", range(60))
def test_a_random_change_is_seen(seed, tmp_path, monkeypatch):
    rng = random.Random(seed)
    module = module_of(seed, tmp_path, rng)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    objects = Objects(module, rng)
    traced = tf.function(module.f, autograph=seed % 3 > 0)
    for _ in range(8):
        expected = pytest.approx(float(module.f(1.0)), rel=1e-3)
        assert float(traced(X)) == expected
        count = traced.experimental_get_tracing_count()
        assert float(traced(X)) == expected
        assert traced.experimental_get_tracing_count() == count
        objects.change()
