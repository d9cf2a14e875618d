"""A group of commands one of which needs no name."""

from __future__ import annotations

from typing import Any

import click


class DefaultGroup(click.Group):
    """A group that hands what is none of its commands to one of them.

    Without any argument, and with `--help` alone, it is a group like any other.

    Args:
        default: Name of the command that needs no name.
    """

    def __init__(self, *args: Any, default: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.default = default

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        first = args[0] if args else None
        if first is not None and first not in self.commands and first not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)
