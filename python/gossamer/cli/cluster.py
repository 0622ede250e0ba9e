# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: boards on Ethernet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.errors import AnswerNo, InputError

if TYPE_CHECKING:
    from gossamer.shell import BoardInfo, Host

_PORT = click.option("--port", metavar="PORT", help="A network interface; otherwise the simulated cluster.")
_KEYS = click.option("--keys", "key_file", metavar="FILE", help="The boards' keys.")
_BOARDS = click.option("--boards", metavar="ADDRESSES", help="Addresses, separated by commas; otherwise all boards.")
_WAIT = click.option("--wait", type=click.FloatRange(0.05, 600), default=0.5, show_default=True, metavar="SECONDS",
                     help="Time for boards to answer.")  # fmt: skip


@click.group()
def command() -> None:
    """Discover and configure boards on Ethernet, real or simulated.

    \b
    Examples:
      ./gossamer cluster sim up 4
      ./gossamer cluster discover
      ./gossamer cluster configure role.so
      ./gossamer cluster sim down
      ./gossamer cluster discover --port eth0
    """


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
@click.option("--rate", type=click.FloatRange(0, 1e12), default=0.0, metavar="BYTES/S", help="Line rate of each port.")
@click.option("--mtu", type=click.IntRange(1500, 9000), default=1500, show_default=True, help="Bytes of a frame.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Of losses and the like.")
def up(boards: int, loss: str, duplicate: str, damage: str, reorder: str, rate: float, mtu: int, seed: int) -> None:
    """Start BOARDS boards; they run until ``down``."""
    from gossamer.shell import simulation

    options = ["--mtu", str(mtu), "--seed", str(seed)]
    for name, text in (("loss", loss), ("duplicate", duplicate), ("damage", damage), ("reorder", reorder)):
        if value := _chance(text):
            options += [f"--{name}", repr(value)]
    if rate:
        options += ["--rate", repr(rate)]
    found = simulation.up(boards, options)
    click.echo(f"{boards} board{'s' if boards > 1 else ''} at {found.socket}; keys: {found.keys}")


@sim.command()
def down() -> None:
    """End the simulated boards."""
    from gossamer.shell import simulation

    ended = simulation.down()
    click.echo(f"{ended} board{'s' if ended > 1 else ''} ended")


def _host(port: str | None, key_file: str | None) -> Host:
    from gossamer.shell import Host, keys, simulation

    if port is None:
        found = simulation.running()
        if found is None:
            raise InputError(
                "no simulated cluster runs; start one with ./gossamer cluster sim up 4, or give --port INTERFACE"
            )
        port, key_file = found.socket, key_file or found.keys
    return Host(port, keys.read(Path(key_file)) if key_file else {})


def _chosen(host: Host, boards: str | None, wait: float) -> list[BoardInfo]:
    """The boards of --boards, or all. Raises InputError if one does not answer, or if none does."""
    from gossamer.shell import mac_text, parse_mac

    found = {board.mac: board for board in host.discover(wait)}
    if boards is None:
        if not found:
            raise InputError("no board has answered; check cables and the port")
        return [found[mac] for mac in sorted(found)]
    wanted = [parse_mac(text.strip()) for text in boards.split(",")]
    for mac in wanted:
        if mac not in found:
            raise InputError(
                f"board {mac_text(mac)} has not answered; ./gossamer cluster discover lists those that have"
            )
    return [found[mac] for mac in dict.fromkeys(wanted)]


@command.command()
@_PORT
@_WAIT
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def discover(port: str | None, wait: float, as_json: bool) -> None:
    """List the boards that answer."""
    from gossamer.shell import mac_text

    with _host(port, None) as host:
        boards = sorted(host.discover(wait), key=lambda board: board.mac)
    if as_json:
        fields = [
            vars(board) | {"mac": mac_text(board.mac), "owner": mac_text(board.owner) if board.owner else None}
            for board in boards
        ]
        click.echo(json.dumps(fields, indent=2))
        return
    if not boards:
        raise AnswerNo("no board has answered")
    rows: list[Sequence[str]] = [("ADDRESS", "STATE", "ROLE", "TYPE", "SERIAL", "MTU", "MEMORY", "OWNER")]
    rows += [
        (mac_text(board.mac), board.state, board.role[:8] or "-", str(board.board_type), str(board.serial),
         str(board.mtu), f"{board.memory_bytes >> 20} MiB", mac_text(board.owner) if board.owner else "-")
        for board in boards
    ]  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())


@command.command()
@click.argument("role", type=click.Path(dir_okay=False))
@_PORT
@_KEYS
@_BOARDS
@_WAIT
@click.option("--type", "board_type", type=click.IntRange(0, (1 << 32) - 1), default=1, show_default=True,
              help="The type of board that the role is for.")  # fmt: skip
@click.option("--unicast", is_flag=True, help="Send the role to one board after the other, for comparison.")
@click.option("--drop-after", type=click.FloatRange(0.1, 600), default=3.0, show_default=True, metavar="SECONDS",
              help="Give a board up that does not answer for this time.")  # fmt: skip
@click.option("--take-over", is_flag=True, help="End the sessions of other hosts.")
def configure(
    role: str,
    port: str | None,
    key_file: str | None,
    boards: str | None,
    wait: float,
    board_type: int,
    unicast: bool,
    drop_after: float,
    take_over: bool,
) -> None:
    """Load the file ROLE on boards, all at once.

    A role for simulated boards is a C or C++ source that includes gossamer/role.h, or a shared object built from one.
    """
    from gossamer import progress
    from gossamer.shell import BoardError, _build, mac_text

    path = Path(role)
    try:
        data = (_build.role(path.resolve()) if path.suffix in (".c", ".cc", ".cpp") else path).read_bytes()
    except OSError as error:
        raise InputError(f"{role}: cannot read the role: {(error.strerror or str(error)).lower()}") from None
    if not data:
        raise InputError(f"{role}: is empty")
    with _host(port, key_file) as host:
        chosen = _chosen(host, boards, wait)
        for board in chosen:
            if len(data) > board.image_max:
                raise InputError(
                    f"{role}: {len(data):,} bytes; board {mac_text(board.mac)} takes at most {board.image_max:,}"
                )
            try:
                host.open(board.mac, take_over=take_over)
            except BoardError as error:
                raise InputError(str(error)) from None
        done = 0
        with progress.steps(f"configuring {len(chosen)} boards", None) as bar:

            def update(sent: int, total: int, _: int) -> None:
                nonlocal done
                bar.update(sent - done)
                done = sent

            results = host.configure(
                [board.mac for board in chosen],
                data,
                board_type,
                unicast=unicast,
                drop_after=drop_after,
                progress=update,
            )
        for board in chosen:
            host.close(board.mac)
    failed = 0
    for mac, (status, seconds) in results.items():
        click.echo(f"{mac_text(mac)}  {status}  {seconds:.2f} s")
        failed += status != "ok"
    if failed:
        raise AnswerNo(f"{failed} of {len(results)} boards have not loaded the role")


@command.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("addresses", nargs=-1, required=True)
@click.option("--rotate", is_flag=True, help="New keys also for addresses that have one.")
def key(file: str, addresses: tuple[str, ...], rotate: bool) -> None:
    """Write random keys for boards with ADDRESSES to FILE, which only its owner may read."""
    from gossamer.shell import keys, parse_mac

    path = Path(file)
    macs = [parse_mac(address) for address in addresses]
    known = keys.read(path) if path.exists() else {}
    made = keys.make(macs, known, rotate=rotate)
    keys.write(path, made)
    new = sum(made[mac] != known.get(mac) for mac in dict.fromkeys(macs))
    click.echo(f"{path}: {new} new key{'' if new == 1 else 's'}, {len(made)} in all")


__all__ = ["command"]
