# SPDX-License-Identifier: Apache-2.0
"""``./gossamer setup``: installs groups, or packs them for a machine without a network."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from gossamer_setup import _env
from gossamer_setup._env import GROUPS, SetupError


class Parser(argparse.ArgumentParser):
    """Answers a wrong option with one line, like the rest of the command."""

    def error(self, message: str) -> NoReturn:
        raise SetupError(f"{message}; see {self.prog} --help")


def _groups_text() -> str:
    return "\n".join(f"  {name:<7} {what}, about {size} MB" for name, (what, size) in GROUPS.items())


def parser() -> argparse.ArgumentParser:
    """The options of ``setup``."""
    result = Parser(
        prog="./gossamer setup",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        description="Install groups of pinned packages into this checkout (core if none is named).\n\n"
        "Commands do this by themselves when they need a group; nothing is downloaded twice. Installed packages are\n"
        "compared with their digests, and damaged ones are installed again.\n\n"
        f"Groups:\n{_groups_text()}",
        epilog="Examples:\n"
        "  ./gossamer setup                              the core\n"
        "  ./gossamer setup all                          everything\n"
        "  ./gossamer setup --bundle gossamer.tar core test    pack two groups for another machine\n"
        "  ./gossamer setup --from-bundle gossamer.tar         install them there, without a network\n",
    )
    result.add_argument("groups", nargs="*", metavar="GROUP", help=f"{', '.join(GROUPS)} or all")
    result.add_argument(
        "--own-python",
        action="store_true",
        help="make an environment for the Python that runs this, and use it from now on; else another Python uses the "
        "environment that the checkout has",
    )
    either = result.add_mutually_exclusive_group()
    either.add_argument("--bundle", metavar="FILE", help="pack the groups' packages into FILE, a tar archive")
    either.add_argument("--from-bundle", metavar="FILE", help="install from FILE instead of the network")
    return result


def main(arguments: list[str]) -> int:
    """Runs ``setup``; returns the exit code."""
    try:
        options = parser().parse_args(arguments)
    except SystemExit as leave:  # --help
        return leave.code if isinstance(leave.code, int) else 2
    groups = _env.check_groups(options.groups)
    if options.from_bundle:
        from gossamer_setup._bundle import install_from

        done = install_from(options.from_bundle, groups)
        print(f"installed from {options.from_bundle}: {', '.join(done)}")
        return 0
    # Every installation includes the core: no other group works without it.
    groups = _env.check_groups(["core", *groups])
    if options.bundle:
        from gossamer_setup._bundle import pack

        size = pack(options.bundle, groups)
        print(f"packed {', '.join(groups)} into {options.bundle}: {size / 1e6:.1f} MB")
        return 0
    from gossamer_setup._install import ensure

    env = _env.env_dir()
    stamps = [_mark(env, group) for group in groups]
    ensure(groups, verify=True)
    if [_mark(env, group) for group in groups] == stamps:
        print(f"already there: {', '.join(groups)}")
    sys.stdout.flush()
    assert os.path.exists(_env.env_python(env))
    return 0


def _mark(env: str, group: str) -> int | None:
    """What changes when a group is installed or repaired."""
    try:
        return os.stat(_env.stamp_file(env, group)).st_mtime_ns
    except OSError:
        return None
