"""Dicts and objects of the user's that a tensor chooses among several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, cast

from runtime.staging.lists.items import getitem
from runtime.staging.objects.choice import Choice
from runtime.staging.objects.kinds import (
    all_equal,
    behaves_as,
    identical,
    is_mutable,
    unlike,
)
from runtime.tensor import Tensor
from runtime.types import nest
from runtime.types.classes import derived
from runtime.where.user_code import state_error

__all__ = ["DictChoice", "choice_of_dicts", "choice_of_objects"]

_KEYS = (
    "AG210",
    "a tensor chooses among dicts of different keys, of which a graph cannot tell one "
    "as a Python dict",
    "have the same keys in all of them",
)


class DictChoice(Choice):
    """A dict among several dicts of the same keys, whose values can be changed."""

    __slots__ = ()

    stands_for = dict

    def __autograph_alone__(self) -> dict[Any, Any]:
        """A dict of the items."""
        return dict(self.items())

    def keys(self) -> list[Any]:
        """The keys."""
        first, *others = self._rows
        keys = list(first.keys())
        # Dicts may have them in different orders, which a loop over them would show.
        if any(list(row.keys()) != keys for row in others):
            raise state_error(*_KEYS)
        return keys

    def values(self) -> list[Any]:
        """The values."""
        return [self[key] for key in self.keys()]

    def items(self) -> list[tuple[Any, Any]]:
        """The keys and values."""
        return [(key, self[key]) for key in self.keys()]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: Any) -> bool:
        return key in self.keys()

    def __getitem__(self, key: Any) -> Any:
        """The value of a key."""
        if isinstance(key, Tensor):
            return getitem(self.__autograph_alone__(), key)
        if key not in self.keys():
            if any(isinstance(row, Counter) for row in self._rows):
                return 0
            if any(getattr(row, "default_factory", None) for row in self._rows):
                self._refuse()  # it would add the key
            raise KeyError(key)
        return self._chosen(lambda row: row[key])

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self[key] if key in self.keys() else default

    def copy(self) -> dict[Any, Any]:
        """A dict of the same values."""
        return self.__autograph_alone__()

    def __or__(self, other: Any) -> Any:
        return self.__autograph_alone__() | dict(other)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, (dict, DictChoice)):
            return NotImplemented
        keys = self.keys()
        same = set(keys) == set(other.keys())
        return same and all_equal((self[key], other[key]) for key in keys)

    def __ne__(self, other: object) -> Any:
        return unlike(self.__eq__(other))

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, Tensor) or key not in self.keys():
            self._refuse()
        self._change(
            lambda row: row[key], lambda row, new: row.__setitem__(key, new), value
        )

    def update(self, *others: Any, **named: Any) -> None:
        """Set the values of keys that there are; a Counter would add to them."""
        if any(isinstance(row, Counter) for row in self._rows):
            self._refuse()
        for key, value in dict(*others, **named).items():
            self[key] = value

    clear = pop = popitem = setdefault = __delitem__ = __ior__ = Choice._refuse

    __hash__ = None  # type: ignore[assignment]


class _ObjectChoice(Choice):
    """An object of a class of the user's among several; each class has its own kind."""

    __slots__ = ()

    def __autograph_alone__(self) -> Any:
        """An object of its own with the same attributes."""
        cls: Any = type(self).stands_for
        made = cls.__new__(cls)
        for name in _attributes(self._rows):
            object.__setattr__(made, name, getattr(self, name))
        return made

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self).stands_for  # for the ``__eq__`` of dataclasses

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name in _OWN:
            return object.__getattribute__(self, name)
        if name in _attributes(self._rows):
            return self._chosen(lambda row: getattr(row, name))
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or isinstance(getattr(type(self), name, None), property):
            object.__setattr__(self, name, value)
            return
        if name not in _attributes(self._rows):
            self._refuse()
        self._change(
            lambda row: getattr(row, name),
            lambda row, new: setattr(row, name, new),
            value,
        )

    def __delattr__(self, name: str) -> None:
        self._refuse()


_OWN = frozenset(vars(Choice)) | frozenset(Choice.__slots__)


def _attributes(rows: Sequence[Any]) -> list[str]:
    """The names of the attributes that all of the objects have."""
    fields = nest.field_names(type(rows[0])) or []
    own = getattr(rows[0], "__dict__", {})
    return list(dict.fromkeys((*fields, *own)))


@derived
def _kind_of(cls: type) -> type:
    own: dict[str, Any] = {"stands_for": cls}
    if cls.__eq__ is cast(Any, object.__eq__):
        own.update(__eq__=identical, __ne__=_not_identical, __hash__=_refuse_hash)
    return type(cls.__name__, (_ObjectChoice, cls), own)


def _not_identical(one: Any, other: Any) -> Any:
    return unlike(identical(one, other))


def _refuse_hash(choice: Any) -> NoReturn:
    raise state_error(
        "AG210",
        f"a {type(choice).stands_for.__name__} that a tensor chose among several is a "
        "key of a dict or in a set, where a graph cannot look for it",
        "give the objects numbers, and have those for keys",
    )


def choice_of_dicts(values: Sequence[Any]) -> Any:
    """What chooses among dicts; None for other values."""
    plain = all(type(v) is DictChoice or behaves_as(v, dict) for v in values)
    return DictChoice if plain else None


def choice_of_objects(values: Sequence[Any]) -> Any:
    """What chooses among objects of one class; None for other values."""
    kinds = {_class_of(value) for value in values}
    cls = kinds.pop()
    if kinds:
        return None
    return _kind_of(cls) if is_mutable(cls) else None


def _class_of(value: Any) -> type:
    cls: type = getattr(type(value), "stands_for", type(value))
    return cls
