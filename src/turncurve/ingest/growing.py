"""Arrays that grow: one allocation for many runs."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

S = TypeVar("S", bound=np.generic)


class GrowingArray(Generic[S]):
    """A one-dimensional array that doubles as it fills.

    Args:
        dtype: Type of its items.
        fill: What stands in places that nothing was written to.
    """

    def __init__(self, dtype: DTypeLike, fill: float = 0) -> None:
        self._items: NDArray[S] = np.full(1024, fill, dtype=dtype)
        self._fill = fill
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def extend(self, values: NDArray[S]) -> None:
        """Append values."""
        end = self._length + len(values)
        self.grow_to(end)
        self._items[end - len(values) : end] = values

    def grow_to(self, length: int) -> None:
        """Make it as long as this, with the fill value in the new places."""
        if length > len(self._items):
            larger = np.full(max(length, 2 * len(self._items)), self._fill, self._items.dtype)
            larger[: self._length] = self._items[: self._length]
            self._items = larger
        self._length = max(self._length, length)

    def array(self) -> NDArray[S]:
        """What has been written, without spare room."""
        return self._items[: self._length].copy()
