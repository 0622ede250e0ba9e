# SPDX-License-Identifier: Apache-2.0
"""The command line: one group whose sub-commands are imported when they are called.

A sub-command is a click command or group called ``command`` in ``cli/<name>.py``, and has a line in the table of
``gossamer_setup``, which also prints the first page of help.
"""

from __future__ import annotations

import importlib
from typing import Any

import click

from gossamer_setup import COMMANDS, VERSION, help_text
from gossamer_setup._commands import unknown_command
from gossamer_setup._installed import spoken
from gossamer_setup._places import INSTALLED

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Help(click.HelpFormatter):
    """Help with the command as an installed package has it."""

    def getvalue(self) -> str:
        return spoken(super().getvalue())


if INSTALLED:
    click.Context.formatter_class = _Help


class _Main(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"gossamer.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: click.Context) -> str:
        return help_text().rstrip()


def _version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(f"gossamer {VERSION}")
        ctx.exit()


@click.group(cls=_Main, context_settings=CONTEXT, invoke_without_command=True)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version)
@click.pass_context
def main(ctx: click.Context, /, **_: Any) -> None:
    """Run programs made of many small parts."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


__all__ = ["main"]
