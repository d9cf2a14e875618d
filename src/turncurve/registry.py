"""Names for the things people add: readers and signals."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, NoReturn, TypeVar

from turncurve.errors import BrokenPluginError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """The built-in things of one kind, and those of installed plugins.

    A built-in is named by `module:attribute` and imported on first use. A plugin adds one with an
    entry point in the group `turncurve.<kind>s`; it too is imported on first use, and one that
    fails to import, gives something of another type or bears another name than its entry point,
    fails there, naming itself. Where a plugin takes the name of a built-in, the built-in stays and
    a warning names the plugin; a name that two packages claim is an error that names both.

    Args:
        kind: What the things are, in the singular: "reader", "signal".
        builtin: Name to `module:attribute`.
        type_: The type that each thing must have.
        name_of: The name that a thing bears itself.
    """

    def __init__(
        self, kind: str, builtin: Mapping[str, str], type_: type[T], name_of: Callable[[T], str]
    ) -> None:
        self.kind = kind
        self._builtin = builtin
        self._type = type_
        self._name_of = name_of
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

    def package(self, name: str) -> str | None:
        """The installed package that adds this name; None for a built-in.

        Raises:
            UnknownNameError: Nothing has this name.
            BrokenPluginError: Several packages claim it.
        """
        return None if name in self._builtin else _origin(self._point(name))

    def blame(self, name: str, problem: Exception) -> NoReturn:
        """Raise what went wrong in a thing, as its plugin's fault where a plugin adds it."""
        package = self.package(name)
        if package is None:
            raise problem
        raise self._broken(name, package, repr(problem)) from problem

    def _broken(self, name: str, package: str, reason: str) -> BrokenPluginError:
        return BrokenPluginError(self.kind, name, package, reason)

    def _point(self, name: str) -> EntryPoint:
        points = [point for point in self._entry_points() if point.name == name]
        if not points:
            raise UnknownNameError(self.kind, name, self.names())
        packages = sorted({_origin(point) for point in points})
        if len(packages) > 1:
            raise self._broken(name, " and ".join(packages), "both claim this name")
        return points[0]

    def _entry_points(self) -> tuple[EntryPoint, ...]:
        return _points(f"turncurve.{self.kind}s", tuple(sys.path))

    def _load(self, name: str) -> T:
        if name in self._builtin:
            module, _, attribute = self._builtin[name].partition(":")
            thing: T = getattr(import_module(module), attribute)
            return thing
        point = self._point(name)
        try:
            found: object = point.load()
        except Exception as problem:
            raise self._broken(name, _origin(point), repr(problem)) from problem
        if not isinstance(found, self._type):
            wanted, got = self._type.__name__, type(found).__name__
            raise self._broken(name, _origin(point), f"wanted a {wanted}, got {got}")
        if self._name_of(found) != name:
            reason = f"it calls itself {self._name_of(found)!r}"
            raise self._broken(name, _origin(point), reason)
        return found


@lru_cache(maxsize=16)
def _points(group: str, where: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """The entry points of a group among what is installed along a path; asked of the disk once."""
    del where
    return tuple(entry_points(group=group))


def _origin(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.value
