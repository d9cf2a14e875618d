"""`turncurve formats`: what can be read, and which reader a file gets."""

from __future__ import annotations

import click

from turncurve.cli.outputs import write_text


@click.command()
@click.option(
    "--explain",
    "paths",
    multiple=True,
    metavar="PATH",
    help="Say which reader takes this file, or each file of this folder, and why.",
)
@click.option("--json", "json_target", metavar="FILE|-", help="Write JSON instead of text.")
def formats(paths: tuple[str, ...], json_target: str | None) -> None:
    """List the formats that can be read, or explain which reader a file gets.

    The content of a file decides, not its name; files packed with gzip or zstd are read through.
    """
    from turncurve.cli.explain import explained, known_formats  # noqa: PLC0415 -- --help is light

    listing = explained(paths) if paths else known_formats()
    if json_target is None:
        write_text("-", listing.text)
    else:
        write_text(json_target, listing.json)
