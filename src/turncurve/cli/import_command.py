"""`turncurve import`: trace files into a store."""

from __future__ import annotations

from collections.abc import Sequence

import click

from turncurve.cli.options import Reading, WholeNumber, importing_options
from turncurve.cli.outputs import write_text


@click.command("import")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--store",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="The store's folder; made where there is none.",
)
@click.option(
    "-j",
    "--jobs",
    type=WholeNumber(min=1),
    default=1,
    show_default=True,
    help="Processes that read.",
)
@click.option(
    "--prune", is_flag=True, help="Take out files below PATH... that are no longer there."
)
@click.option("--json", "json_target", metavar="FILE|-", help="Write JSON instead of text.")
@importing_options
def import_(
    paths: Sequence[str],
    folder: str,
    jobs: int,
    prune: bool,  # noqa: FBT001 - a flag of the command line
    json_target: str | None,
    reading: Reading,
) -> None:
    """Read PATH... into a store, which every analysis takes in place of the files.

    Files that the store holds already, as they are now, are not read again, and an interrupted
    import goes on where it was. PATH is a trace file, a folder of them, or a pattern.

    Exit status: 0 done; 2 a usage error, the store cannot be written, or --strict and an unreadable
    record.
    """
    from turncurve.cli.reading import import_runs  # noqa: PLC0415 -- --help is light
    from turncurve.cli.store_words import import_json, import_text  # noqa: PLC0415
    from turncurve.ingest import Importing  # noqa: PLC0415

    done = import_runs(paths, folder, reading, Importing(jobs=jobs, prune=prune))
    if json_target is not None:
        write_text(json_target, import_json(done))
    elif not reading.quiet:
        write_text("-", import_text(done))
    if reading.strict and done.problems:
        click.get_current_context().exit(2)
