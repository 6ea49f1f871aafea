"""Dicts and sets of objects without a hash."""

from __future__ import annotations

from runtime.core.types.identity import IdentityMap, IdentitySet


def test_keys_are_told_apart_by_identity_and_keep_their_order() -> None:
    one, two, other = [1], [1], [2]
    found = IdentityMap([(one, "one"), (two, "two")])

    assert (found[one], found[two], found.get([1]), len(found)) == (
        "one",
        "two",
        None,
        2,
    )
    assert other not in found
    found.update(IdentityMap([(other, "other"), (one, "first")]))
    assert list(found.items()) == [(one, "first"), (two, "two"), (other, "other")]
    assert found.setdefault(two, "new") == "two"
    assert found.pop(two) == "two"
    del found[one]
    assert list(found) == [other]


def test_members_are_told_apart_by_identity_and_keep_their_order() -> None:
    one, two = [1], [1]
    found = IdentitySet([one])

    assert one in found
    assert two not in found
    found.update([two, one])
    assert [id(member) for member in found] == [id(one), id(two)]
    assert [id(member) for member in reversed(found)] == [id(two), id(one)]
    found.discard(one)
    found.discard([1])
    assert len(found) == 1
