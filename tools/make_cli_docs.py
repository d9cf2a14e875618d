"""Write the reference page of the command line from the commands' own help.

Run it after a command or an option has changed: `make docs`; a test fails when the page is stale.
"""

from __future__ import annotations

from pathlib import Path

import click

from turncurve.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/reference/cli.md"
WIDTH = 80

PREFACE = """# The command line

What `--help` says, by command.
This page is made by `tools/make_cli_docs.py`.

## Exit status

| status | meaning |
|---|---|
| 0 | Done. Unreadable records among good ones are listed on stderr and in the report. |
| 1 | A gate that was asked for failed. |
| 2 | A usage error, or no run could be read; with `--strict`, a record could not be read. |
| 130 | Interrupted. |
| 141 | Whoever read standard output went away before all of it was written, as `head` may. |

Results go to standard output or to the files named; problems, notes and progress go to stderr.
Where a file is written, the finding is printed on stderr too, unless `--quiet` is given.
Files are written under a temporary name and renamed, so a file is whole or not there.
There is no colour in the output, so `NO_COLOR` has nothing to switch off in it.
"""


def help_of(command: click.Command, name: str) -> str:
    """A command's help at a fixed width, whatever the terminal."""
    context = click.Context(
        command,
        info_name=name,
        terminal_width=WIDTH,
        max_content_width=WIDTH,
        help_option_names=["-h", "--help"],
    )
    return command.get_help(context).strip()


def page() -> str:
    """The whole page."""
    blocks = [PREFACE.strip(), f"## turncurve\n\n```text\n{help_of(cli, 'turncurve')}\n```"]
    group = click.Context(cli, info_name="turncurve")
    for name in COMMANDS:
        command = cli.get_command(group, name)
        assert command is not None
        title = f"turncurve {name}"
        blocks.append(f"## {title}\n\n```text\n{help_of(command, title)}\n```")
        if isinstance(command, click.Group):
            for inner in command.list_commands(group):
                part = command.get_command(group, inner)
                assert part is not None
                words = help_of(part, f"{title} {inner}")
                blocks.append(f"### {title} {inner}\n\n```text\n{words}\n```")
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
