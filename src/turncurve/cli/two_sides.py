"""Two conditions from one or two paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import click
import numpy as np

from turncurve.analysis.own_runs import own_runs, root_of
from turncurve.cli.options import Reading
from turncurve.cli.results import SHOWN_NAMES, read_table_of
from turncurve.report.layout import visible
from turncurve.table import TurnTable

By: TypeAlias = Literal["condition", "model", "agent"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSides:
    """The runs of two conditions, what they are called, and how many problems they had."""

    a: TurnTable
    b: TurnTable
    names: tuple[str, str]
    n_problems: int


def read_two_sides(
    paths: Sequence[str], reading: Reading, by: By, chosen: tuple[str | None, str | None]
) -> TwoSides:
    """Read A and B: two paths, or two values of a field in one path.

    Raises:
        click.UsageError: There are more paths than two, or it is not said which runs are meant.
    """
    if len(paths) > 2:
        raise click.UsageError(
            f"wanted one path or two, got {len(paths)}; put the files of each side in a folder, "
            "or quote a pattern"
        )
    if len(paths) == 2 and paths[0] == paths[1] == "-":
        raise click.UsageError("only one side can come from standard input")
    read = [read_table_of([path], reading) for path in paths]
    tables = [table for table, _ in read]
    if len(paths) == 1:
        chosen = _both(tables[0], by, chosen)
        tables = tables * 2
    sides = [
        _side(table, by, value, letter)
        for table, value, letter in zip(tables, chosen, "ab", strict=True)
    ]
    found = [_values(side, by) for side in sides]
    if len(found[0]) == len(found[1]) == 1 and found[0] != found[1]:
        names = (found[0][0], found[1][0])
    else:
        names = _told_apart(paths[0], paths[-1])
    return TwoSides(a=sides[0], b=sides[1], names=names, n_problems=sum(n for _, n in read))


def _told_apart(a: str, b: str) -> tuple[str, str]:
    """The ends of two paths, from the first part on in which they differ."""
    parts = Path(a).parts, Path(b).parts
    for n in range(1, max(map(len, parts)) + 1):
        ends = [str(Path(*part[-n:])) for part in parts]
        if ends[0] != ends[1]:
            return ends[0], ends[1]
    return "a", "b"


def _both(
    table: TurnTable, by: By, chosen: tuple[str | None, str | None]
) -> tuple[str | None, str | None]:
    """The two values that are meant within one path."""
    if None not in chosen:
        return chosen
    known = _values(table, by)
    if chosen == (None, None) and len(known) == 2:
        return known[0], known[1]
    rest = [name for name in known if name not in chosen]
    if chosen != (None, None) and len(known) == 2 and len(rest) == 1:
        return (chosen[0] or rest[0], chosen[1] or rest[0])
    if not known:
        raise click.UsageError(
            f"the runs name no {by}: give two paths, or --condition-from folder, or another --by"
        )
    raise click.UsageError(
        f"one path has {len(known):,} values of {by}, so name both sides: --a NAME --b NAME, or "
        f"give two paths; there are: {_listed(known)}"
    )


def _side(table: TurnTable, by: By, value: str | None, letter: str) -> TurnTable:
    known = _values(table, by)
    if value is None:
        if by == "condition" and len(known) > 1:
            raise click.UsageError(
                f"{letter.upper()} holds {len(known):,} conditions; name one with --{letter}: "
                f"{_listed(known)}"
            )
        return table
    if value not in known:
        raise click.UsageError(
            f"--{letter}: no run with the {by} {visible(value)!r}; there are: {_listed(known)}"
        )
    field = getattr(table.runs, by)[root_of(table)]
    return table.select(np.array([one == value for one in field], dtype=np.bool_))


def _values(table: TurnTable, by: By) -> list[str]:
    """What the agents' own runs have there, in the order of the runs."""
    field = getattr(table.runs, by)[own_runs(table)]
    return [str(one) for one in dict.fromkeys(field.tolist()) if one is not None]


def _listed(known: Sequence[str]) -> str:
    return ", ".join(visible(name) for name in known[:SHOWN_NAMES]) or "none"
