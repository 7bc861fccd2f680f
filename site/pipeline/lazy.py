"""A mapping whose values are made when they are asked for, and kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, MutableMapping
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Lazy(Mapping[K, V]):
    """`make(key)` for every key of `keys`; `kept` holds what was made, for others to reuse."""

    def __init__(
        self,
        keys: Collection[K],
        make: Callable[[K], V],
        kept: MutableMapping[K, V] | None = None,
    ) -> None:
        self.keys_, self.make = keys, make
        self.kept: MutableMapping[K, V] = {} if kept is None else kept

    def __getitem__(self, key: K) -> V:
        if key not in self.keys_:
            raise KeyError(key)
        if key not in self.kept:
            self.kept[key] = self.make(key)
        return self.kept[key]

    def __contains__(self, key: object) -> bool:
        return key in self.keys_

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys_)

    def __len__(self) -> int:
        return len(self.keys_)
