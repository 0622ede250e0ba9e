# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: boards on Ethernet."""

from __future__ import annotations

import click

from gossamer.cli import _cluster_boards, _cluster_jobs, _cluster_keys, _cluster_manager, _cluster_top
from gossamer.cli import _cluster_common as common
from gossamer.errors import InputError


@click.group()
def command() -> None:
    """Boards on Ethernet, real or simulated: discover and configure them, and run jobs on them.

    \b
    Examples:
      ./gossamer cluster sim up 4
      ./gossamer cluster discover
      ./gossamer cluster configure role.so
      ./gossamer cluster manager                (in another terminal)
      ./gossamer cluster run job.json --to results
      ./gossamer cluster top
      ./gossamer cluster sim down
      ./gossamer cluster discover --port eth0
    """


for _part in (_cluster_boards, _cluster_jobs, _cluster_keys, _cluster_manager, _cluster_top):
    for _one in _part.COMMANDS:
        command.add_command(_one)


def _chance(text: str) -> float:
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise InputError(f"{text}: must be a share from 0 to 1, or a percentage")
    return value


@command.group()
def sim() -> None:
    """Simulated boards on a simulated switch, without root."""


@sim.command()
@click.argument("boards", type=click.IntRange(1, 250))
@click.option("--loss", default="0", metavar="P", help="Share of frames lost at each port, as 0.01 or 1%.")
@click.option("--duplicate", default="0", metavar="P", help="Share of frames delivered twice.")
@click.option("--damage", default="0", metavar="P", help="Share of frames with a wrong byte.")
@click.option("--reorder", default="0", metavar="P", help="Share of frames that overtake others.")
@click.option("--rate", type=common.Between(0, 1e12), default=0.0, metavar="BYTES/S", help="Line rate of each port.")
@click.option("--mtu", type=click.IntRange(1500, 9000), default=1500, show_default=True, help="Bytes of a frame.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of losses and the like.")
@click.option(
    "--rtl", type=click.IntRange(min=0), default=0, metavar="N",
    help="Simulate N of the boards in RTL: the shell's hardware with its firmware.",
)  # fmt: skip
def up(
    boards: int, loss: str, duplicate: str, damage: str, reorder: str, rate: float, mtu: int, seed: int, rtl: int
) -> None:
    """Start BOARDS boards; they run until ``down``."""
    import gossamer_setup
    from gossamer.shell import simulation

    if rtl > boards:
        raise InputError(f"--rtl {rtl}: there are {boards} boards; give at most as many")
    if rtl:
        gossamer_setup.require("core", "rtl")

    options = ["--mtu", str(mtu), "--seed", str(seed)]
    for name, text in (("loss", loss), ("duplicate", duplicate), ("damage", damage), ("reorder", reorder)):
        if value := _chance(text):
            options += [f"--{name}", repr(value)]
    if rate:
        options += ["--rate", repr(rate)]
    found = simulation.up(boards, options, rtl=rtl)
    click.echo(f"{boards} board{'s' if boards > 1 else ''} at {found.socket}; keys: {found.keys}")


@sim.command()
def down() -> None:
    """End the simulated boards."""
    from gossamer.shell import simulation

    ended = simulation.down()
    click.echo(f"{ended} board{'s' if ended > 1 else ''} ended")


__all__ = ["command"]
