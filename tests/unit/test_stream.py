"""Texts as they come."""

from collections.abc import Iterator
from itertools import chain, count, islice

import pytest

from dragoman.stream import in_windows, with_prefixes


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9])
def test_windows_are_full_but_for_the_last(size: int) -> None:
    """They are the items in order, none is empty, and all but the last have the size."""
    found = list(in_windows(range(8), size))

    assert [item for window in found for item in window] == list(range(8))
    assert [len(window) for window in found[:-1]] == [size] * (len(found) - 1)
    assert 0 < len(found[-1]) <= size
    assert list(in_windows([], size)) == []


def numbered(name: str, read: list[str]) -> Iterator[str]:
    """Yield items without end, and note each that is read."""
    for number in count():
        read.append(f"{name} {number}")
        yield read[-1]


def test_no_item_is_read_before_it_is_needed() -> None:
    """After a window is full the next item waits until it is asked for."""
    read: list[str] = []
    found = in_windows(numbered("text", read), 2)

    assert not read
    assert next(found) == read == ["text 0", "text 1"]
    assert next(found) == read[2:] == ["text 2", "text 3"]


@pytest.mark.parametrize("size", [1, 2, 9])
def test_what_came_before_an_error_comes_first(size: int) -> None:
    """Whatever the size, the items before an error are handed over, then it is raised."""

    def items() -> Iterator[str]:
        yield from "abc"
        raise OSError("the source was lost")

    found: list[str] = []
    with pytest.raises(OSError, match="the source was lost"):
        found.extend(chain.from_iterable(in_windows(items(), size)))

    assert found == list("abc")


def test_a_prefix_is_read_after_its_text() -> None:
    """Neither of the two is read ahead, and both may be endless."""
    read: list[str] = []
    found = list(islice(with_prefixes(numbered("text", read), numbered("prefix", read)), 2))

    assert found == [("text 0", "prefix 0"), ("text 1", "prefix 1")]
    assert read == ["text 0", "prefix 0", "text 1", "prefix 1"]
