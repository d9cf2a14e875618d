"""`turncurve store`: what a store holds, and whether it is sound."""

from __future__ import annotations

import click

from turncurve.cli.outputs import write_text

_JSON = click.option("--json", "json_target", metavar="FILE|-", help="Write JSON instead of text.")


@click.group()
def store() -> None:
    """Look at a store that `turncurve import` made."""


@store.command()
@click.argument("folder", metavar="DIR")
@_JSON
def info(folder: str, json_target: str | None) -> None:
    """Say what the store DIR holds."""
    from turncurve.cli.store_words import info_json, info_text  # noqa: PLC0415 -- --help is light
    from turncurve.ingest.store_state import store_info  # noqa: PLC0415

    known = store_info(folder)
    write_text(json_target or "-", info_json(known) if json_target else info_text(known))


@store.command()
@click.argument("folder", metavar="DIR")
@_JSON
@click.pass_context
def verify(ctx: click.Context, folder: str, json_target: str | None) -> None:
    """Check that the store DIR is as it was written, and name trace files that have changed.

    Exit status: 0 the store is sound; 1 it is damaged; 2 it is no store.
    """
    from turncurve.cli.store_words import check_json, check_text  # noqa: PLC0415 -- --help is light
    from turncurve.ingest.store_state import check_store  # noqa: PLC0415

    check = check_store(folder)
    write_text(json_target or "-", check_json(check) if json_target else check_text(check))
    if check.damage:
        ctx.exit(1)
