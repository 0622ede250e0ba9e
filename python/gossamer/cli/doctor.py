# SPDX-License-Identifier: Apache-2.0
"""``./gossamer doctor``: that of a checkout is implemented in the launcher; this is that of an installed package, and
serves ``python -m gossamer``."""

from __future__ import annotations

import platform
import sys

import click

from gossamer import paths, prebuilt
from gossamer.errors import InputError
from gossamer_setup import VERSION, _doctor, _env, _installed, run_here


@click.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
    short_help="Check this installation.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Check this machine."""
    if not paths.INSTALLED or arguments:
        return run_here("doctor", list(arguments))
    report = _doctor.Report()
    click.echo(f"gossamer {VERSION} in {paths.PYTHON}")
    report.good("python", f"{platform.python_version()} at {sys.executable}")
    try:
        if prebuilt.library():
            report.good("library", f"compiled for {prebuilt.level()}, with the applications")
        else:
            report.hint("library", "this package has none compiled; compiled when first needed")
    except InputError as error:
        report.bad("library", str(error), f"unset {prebuilt.VARIABLE}, or {_installed.pip_line([])} --force-reinstall")
    _doctor.check_compiler(report, needed=not prebuilt.FOLDER.is_dir())
    for group in _installed.EXTRAS:
        what = _installed.spoken(_env.GROUPS[group][0])
        lacks = _installed.missing(group)
        if lacks:
            report.hint(f"extra {group}", f"without {', '.join(lacks)} ({what})", _installed.pip_line([group]))
        else:
            report.good(f"extra {group}", f"installed ({what})")
    for check in (_doctor.check_cpu, _doctor.check_memory, _doctor.check_build_cache):
        check(report)
    if paths.BUILD.is_dir():
        report.good("builds", str(paths.BUILD))
    else:
        report.hint("builds", f"{paths.BUILD} does not exist yet; made with the first build")
    click.echo(_doctor.verdict(report))
    return 0 if report.runs else 2
