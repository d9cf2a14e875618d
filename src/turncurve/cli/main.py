"""The command `turncurve`: finds a command's module only when that command is asked for."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import click

from turncurve import __version__
from turncurve.cli.outputs import give_up_stdout
from turncurve.errors import TurncurveError

READER_WENT_AWAY = 128 + 13
"""Exit status after a closed pipe, as the shell reports SIGPIPE."""
INTERRUPTED = 128 + 2


class Command(NamedTuple):
    """A command that has not been imported: `--help` of the group needs no more than this."""

    target: str
    summary: str


COMMANDS = {
    "report": Command(
        "turncurve.cli.report:report", "Quality by turn, from trace files: the degradation report."
    ),
    "cliff": Command(
        "turncurve.cli.cliff:cliff", "Which drop is real, where, and what it is tied to."
    ),
    "first-error": Command(
        "turncurve.cli.first_error:first_error",
        "When runs first go wrong, and whether that gets likelier along a run.",
    ),
    "power": Command(
        "turncurve.cli.power:power", "How many runs are needed to see an effect, and their price."
    ),
    "compare": Command(
        "turncurve.cli.compare:compare", "What changed between two conditions, and at which turns."
    ),
    "battery": Command(
        "turncurve.cli.battery:battery",
        "What graded steps say of degradation, and which confounds it survives.",
    ),
    "residual": Command(
        "turncurve.cli.residual:residual",
        "Whether whole tasks do worse than their stages predict.",
    ),
    "reliability": Command(
        "turncurve.cli.reliability:reliability",
        "How often all of k trials succeed: pass^k and pass@k.",
    ),
    "horizon": Command(
        "turncurve.cli.horizon:horizon", "Up to which length of task an agent succeeds."
    ),
    "grade": Command(
        "turncurve.cli.grade:grade", "Each turn graded by a language model, resumably."
    ),
    "rubric": Command(
        "turncurve.cli.rubric:rubric", "What a grader is asked: make, show and check it."
    ),
    "label": Command(
        "turncurve.cli.label:label", "Steps labelled by a person, blind to the grader."
    ),
    "validate": Command(
        "turncurve.cli.validate:validate",
        "How far a grader can be trusted: grades against labels.",
    ),
    "import": Command(
        "turncurve.cli.import_command:import_", "Trace files into a store, so they are read once."
    ),
    "store": Command("turncurve.cli.store:store", "What a store holds, and whether it is sound."),
    "convert": Command(
        "turncurve.cli.convert:convert", "Traces and their signals into other tools' formats."
    ),
    "formats": Command(
        "turncurve.cli.formats:formats", "What can be read, and which reader a file gets."
    ),
}


class LazyGroup(click.Group):
    """Commands by name, imported on first use; every error on purpose ends in one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            ctx.fail(f"no command {cmd_name!r}; known: {', '.join(COMMANDS)}")
        module, _, attribute = COMMANDS[cmd_name].target.partition(":")
        command: object = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.summary) for name, command in COMMANDS.items()])

    def main(  # type: ignore[override]
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        *,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, standalone_mode=False, **extra)
        try:
            status = super().main(args, prog_name, standalone_mode=False, **extra)
        except click.UsageError as problem:
            status = _complain(problem.format_message(), problem.ctx)
        except (click.ClickException, TurncurveError) as problem:
            status = _complain(str(problem))
        except click.Abort:
            status = INTERRUPTED
        except SystemExit:
            # So click ends, whatever its mode, where a pipe that it writes to is closed.
            give_up_stdout()
            status = READER_WENT_AWAY
        except OSError as problem:
            give_up_stdout()
            about = f"{problem.filename}: " if problem.filename else ""
            status = _complain(f"{about}{problem.strerror or problem}")
        sys.exit(status if isinstance(status, int) else 0)


def _complain(message: str, ctx: click.Context | None = None) -> int:
    hint = f" (see: {ctx.command_path} --help)" if ctx is not None else ""
    with contextlib.suppress(OSError):
        click.echo(f"turncurve: {message}{hint}", err=True)
    return 2


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="turncurve")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Does an AI agent get worse the longer it runs, where, and how sure is that?

    Exit status: 0 done, 1 a gate that was asked for failed, 2 a usage error or nothing to read.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help(), err=True)
        ctx.exit(2)


def main() -> None:
    """Run the command line; warnings are for whoever asks for them with `python -W`."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore")
    cli(prog_name="turncurve")
