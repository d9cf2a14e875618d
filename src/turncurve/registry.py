"""Names for the things people add: readers and signals."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from turncurve.errors import BrokenPluginError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """The built-in things of one kind, and those of installed plugins.

    A built-in is named by `module:attribute` and imported on first use. A plugin adds one with an
    entry point in the group `turncurve.<kind>s`; it too is imported on first use, and one that
    fails to import, or gives something of another type, fails there, naming itself. Where a plugin
    takes the name of a built-in, the built-in stays and a warning names the plugin.

    Args:
        kind: What the things are, in the singular: "reader", "signal".
        builtin: Name to `module:attribute`.
        type_: The type that each thing must have.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str], type_: type[T]) -> None:
        self.kind = kind
        self._builtin = builtin
        self._type = type_
        self._loaded: dict[str, T] = {}

    def names(self) -> list[str]:
        """All known names, built-ins in their given order, then plugins; nothing is imported."""
        points = self._entry_points()
        for point in points:
            if point.name in self._builtin:
                words = f"the {self.kind} plugin {point.name!r} from {_origin(point)} is not used"
                warnings.warn(f"{words}: a built-in has that name; rename it", stacklevel=2)
        return [*self._builtin, *sorted({point.name for point in points} - set(self._builtin))]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _entry_points(self) -> tuple[EntryPoint, ...]:
        return _points(f"turncurve.{self.kind}s", tuple(sys.path))

    def _load(self, name: str) -> T:
        if name in self._builtin:
            module, _, attribute = self._builtin[name].partition(":")
            thing: object = getattr(import_module(module), attribute)
            origin = module
        else:
            point = next((p for p in self._entry_points() if p.name == name), None)
            if point is None:
                raise UnknownNameError(self.kind, name, self.names())
            origin = _origin(point)
            try:
                thing = point.load()
            except Exception as problem:
                raise BrokenPluginError(self.kind, name, origin, repr(problem)) from problem
        if not isinstance(thing, self._type):
            wanted = self._type.__name__
            raise BrokenPluginError(
                self.kind, name, origin, f"wanted a {wanted}, got {type(thing).__name__}"
            )
        return thing


@lru_cache(maxsize=16)
def _points(group: str, where: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group among what is installed along a path; asked of the disk once."""
    del where
    return tuple(entry_points(group=group))


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
