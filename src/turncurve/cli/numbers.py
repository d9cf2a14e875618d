"""Kinds of numbers that options of sizing share."""

from __future__ import annotations

import click

from turncurve.cli.options import finite

CHANCE = click.FloatRange(0, 1, min_open=True, max_open=True)


def all_finite(
    ctx: click.Context, param: click.Parameter, values: tuple[float, ...]
) -> tuple[float, ...]:
    """The numbers as they are.

    Raises:
        click.BadParameter: One is NaN or infinite.
    """
    for value in values:
        finite(ctx, param, value)
    return values
