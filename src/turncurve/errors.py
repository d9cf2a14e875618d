"""Every error that turncurve raises on purpose.

    TurncurveError
    ├── ReadError            a trace file, or one record of it, does not follow its format
    │   └── TextGoneError      the file behind a run of a store is gone or has changed
    ├── UnknownNameError     no reader, signal or command is registered under a name
    │   └── UnknownEventError  no run has an event of a kind
    ├── AmbiguousNameError   one of several names must be chosen
    ├── OffScaleError        a value that was asked for lies off a signal's scale
    ├── BrokenPluginError    an installed plugin is broken
    ├── MissingExtraError    an optional dependency is needed and not installed
    ├── NotEnoughDataError   an estimate is undefined for so few observations
    ├── FitError             a model has no optimum, or its optimum says nothing
    ├── NotComparableError   two sets of runs have too little in common
    ├── ConstructError       labels that were made knowing different things are not compared
    ├── InvariantError       a run, turn or table breaks a rule of the data model
    ├── RuleError            a rule file does not say what it should
    ├── RubricError          a rubric file does not say what it should
    ├── StudyError           a study file does not say what it should, or is not what it was
    └── GradeError           grades cannot be had at all: no single one that failed

A caller's mistake in an argument is `ValueError` or `TypeError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class TurncurveError(Exception):
    """Base class: `except TurncurveError` catches all that the package raises on purpose."""


class ReadError(TurncurveError):
    """A trace file, or one record of it, does not follow its format.

    Args:
        path: The file.
        reason: What was wanted and what came.
        record: Where in the file: a line number, a record's id, an archive member.
        fix: What would work, when that is known.
        kept: True when the record was read all the same, with the faulty part marked absent.
    """

    def __init__(
        self,
        path: object,
        reason: str,
        *,
        record: str | int | None = None,
        fix: str | None = None,
        kept: bool = False,
    ) -> None:
        self.path, self.reason, self.record, self.fix, self.kept = path, reason, record, fix, kept
        where = f"{path}" if record is None else f"{path}:{record}"
        super().__init__(f"{where}: {reason}" + (f" ({fix})" if fix else ""))


class TextGoneError(ReadError):
    """The file behind runs of a store is gone or has changed, so their text cannot be read."""

    def __init__(self, path: object, reason: str) -> None:
        fix = "its numbers are kept; import it again to have its text"
        super().__init__(path, reason, fix=fix, kept=True)


class UnknownNameError(TurncurveError, LookupError):
    """A reader or signal was asked for by a name that nothing is registered under."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(sorted(known))}")


class UnknownEventError(UnknownNameError):
    """A curve along an event was asked for, and no run has an event of that kind.

    Args:
        kind: The event's kind.
        seen: Each kind that there is, to the number of runs that have it.
    """

    def __init__(self, kind: str, seen: Mapping[str, int]) -> None:
        runs = ", ".join(
            f"{name} ({n:,} {'run' if n == 1 else 'runs'})" for name, n in seen.items()
        )
        TurncurveError.__init__(
            self,
            f"no run has an event {kind!r}; "
            + (f"events seen: {runs}" if runs else "no run has any event"),
        )


class AmbiguousNameError(TurncurveError, LookupError):
    """There are several of a kind, and it matters which one is meant."""

    def __init__(self, where: str, kind: str, known: Iterable[str], option: str) -> None:
        names = list(known)
        super().__init__(
            f"{where} holds {len(names)} {kind}s; name one with {option}: {', '.join(names)}"
        )


class OffScaleError(TurncurveError, ValueError):
    """A value that was asked for lies off a signal's scale, so no curve can reach it."""

    def __init__(self, what: str, value: float, signal: str, scale: tuple[float, float]) -> None:
        low, high = scale
        super().__init__(
            f"{what}: wanted {low:g} to {high:g}, the scale of {signal}, got {value:g}"
        )


class BrokenPluginError(TurncurveError):
    """An installed plugin does not load, or failed at what it is for."""

    def __init__(self, kind: str, name: str, origin: str, reason: str) -> None:
        super().__init__(
            f"the {kind} plugin {name!r} from {origin} failed: {reason}; "
            "mend it or uninstall its package"
        )


class MissingExtraError(TurncurveError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'turncurve[{extra}]'")


class NotEnoughDataError(TurncurveError):
    """The estimate is undefined for so few observations."""

    def __init__(self, what: str, *, need: int, got: int) -> None:
        self.need, self.got = need, got
        super().__init__(f"{what} needs at least {need}; got {got}")


class FitError(TurncurveError):
    """A model has no optimum, or its optimum says nothing.

    Args:
        reason: The cause.
        fix: What would work; empty where nothing would.
    """

    def __init__(self, reason: str, *, fix: str) -> None:
        self.reason, self.fix = reason, fix
        super().__init__(reason + (f" ({fix})" if fix else ""))


class NotComparableError(TurncurveError):
    """Two sets of runs have too little in common for a comparison.

    Args:
        reason: What was wanted of both and what came.
        fix: What would work.
    """

    def __init__(self, reason: str, fix: str) -> None:
        self.reason, self.fix = reason, fix
        super().__init__(f"{reason}; {fix}")


class ConstructError(TurncurveError):
    """Labels with hindsight and labels without it were to be mixed or compared."""

    def __init__(self, what: str, *, fix: str) -> None:
        self.fix = fix
        super().__init__(f"{what} ({fix})")


class InvariantError(TurncurveError, ValueError):
    """A run, turn or table breaks a rule of the data model."""


class RuleError(TurncurveError, ValueError):
    """A rule file does not say what it should."""


class RubricError(TurncurveError, ValueError):
    """A rubric file does not say what it should."""


class StudyError(TurncurveError, ValueError):
    """A study file does not say what it should, or what it names is no longer what was frozen."""


class GradeError(TurncurveError):
    """Grades cannot be had at all: the grader is dead, or what was asked for cannot be done.

    One grade that fails is no error: it is a missing grade with its reason.
    """
