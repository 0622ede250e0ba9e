# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster key`` and ``sign``: keys of boards, keys that sign roles, signed roles."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli import _cluster_common as common
from gossamer.errors import AnswerNo, InputError

if TYPE_CHECKING:
    from gossamer.shell import Host

TRUST = click.option("--trust", envvar="GOSSAMER_TRUST", metavar="FILE",
                     help="Accept only roles signed with a public key of FILE [also: GOSSAMER_TRUST].")  # fmt: skip


class _Keys(click.Group):
    """A group whose first argument may be a file instead of a command: then it makes keys."""

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if words and words[0] not in self.commands:
            words = ["make", *words]
        return super().resolve_command(context, words)

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        # Options of `make` may come first.
        if words and words[0] in ("--signing", "--rotate"):
            words = ["make", *words]
        return super().parse_args(context, words)


@click.group(cls=_Keys, subcommand_metavar="FILE ADDRESS... | --signing FILE | rotate FILE")
def key() -> None:
    """Make and renew keys, in files that only their owner may read.

    \b
    Examples:
      ./gossamer cluster key keys.json 02:00:00:00:00:01    a random key for a board
      ./gossamer cluster key --signing release              release and release.pub: a key that signs roles
      ./gossamer cluster key rotate keys.json --port eth0   renew the keys of all boards that answer
    """


@key.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("addresses", nargs=-1)
@click.option("--rotate", is_flag=True, help="New keys also for addresses that have one; boards are not told.")
@click.option("--signing", is_flag=True, help="Make a key that signs roles, and its public key FILE.pub.")
def make(file: str, addresses: tuple[str, ...], rotate: bool, signing: bool) -> None:
    """Write random keys for boards with ADDRESSES to FILE."""
    from gossamer.shell import keys, parse_mac, signature

    path = Path(file)
    if signing:
        if addresses or rotate:
            raise InputError("--signing makes a key that signs roles; it has no addresses")
        click.echo(f"{path}: signing key; {signature.make_key(path)}: its public key")
        return
    if not addresses:
        raise InputError(f"name the addresses of boards: ./gossamer cluster key {file} 02:00:00:00:00:01")
    macs = [parse_mac(address) for address in addresses]
    for mac, address in zip(macs, addresses, strict=True):
        if mac == 0 or mac >> 40 & 1:
            raise InputError(f"{address}: no board has this address; a board's first byte is even, and not all are 0")
    known = keys.read(path) if path.exists() else {}
    made = keys.make(macs, known, rotate=rotate)
    keys.write(path, made)
    new = sum(made[mac] != known.get(mac) for mac in dict.fromkeys(macs))
    click.echo(f"{path}: {new} new key{'' if new == 1 else 's'}, {len(made)} in all")


@key.command()
@click.argument("file", type=click.Path(dir_okay=False))
@common.PORT
@common.BOARDS
@common.WAIT
@click.option("--take-over", is_flag=True, help="End the sessions of other hosts.")
def rotate(file: str, port: str | None, boards: str | None, wait: float, take_over: bool) -> None:
    """Renew the keys of boards and their FILE.

    FILE has the old key of a board until the board has used the new one. A rotation that was interrupted is continued
    by the next.
    """
    from gossamer import progress
    from gossamer.shell import keys, mac_text

    path = Path(file)
    with common.open_host(port, file) as host:
        chosen = _with_keys(host, boards, wait)
        with progress.steps(f"renewing the keys of {len(chosen)} boards", len(chosen)) as bar:
            ends = keys.rotate(path, host, chosen, take_over=take_over, told=lambda _: bar.update(1))
    for mac, why in ends.items():
        click.echo(why or f"{mac_text(mac)}  renewed")
    if failed := sum(bool(why) for why in ends.values()):
        raise AnswerNo(f"{failed} of {len(ends)} boards keep their keys")


def _with_keys(host: Host, boards: str | None, wait: float) -> list[int]:
    found = [board.mac for board in common.chosen(host, boards, wait)]
    chosen = found if boards is not None else [mac for mac in found if mac in host.keys]
    if not chosen:
        raise InputError("none of the boards that answer has a key in the file")
    return chosen


@click.command()
@click.argument("role", type=click.Path(dir_okay=False))
@click.option("--key", "key_file", required=True, metavar="FILE", help="The signing key.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The signed role, ROLE.gsr.")
@click.option("--name", metavar="NAME", help="Name of the role; otherwise that of its file.")
@click.option("--version", default="1", show_default=True, metavar="TEXT", help="Version of the role.")
@click.option("--type", "board_type", type=click.IntRange(0, (1 << 32) - 1), default=1, show_default=True,
              help="The type of board that the role is for.")  # fmt: skip
def sign(role: str, key_file: str, output: str, name: str | None, version: str, board_type: int) -> None:
    """Sign the file ROLE: its contents, name, version and type of board.

    Boards of other types, and managers that do not trust the key, reject it.
    """
    from gossamer.files import check_writable, write_whole
    from gossamer.shell import job, signature

    target = Path(output)
    check_writable(target)
    private = signature.read_key(Path(key_file))
    chosen = name or Path(role).stem
    for what, text in (("--name", chosen), ("--version", version)):
        if not re.fullmatch(r"[\x20-\x7e]{1,200}", text):
            raise InputError(f"{what} {text!r}: must be 1 to 200 printable characters")
    body = job.role_bytes(Path(role))
    if signature.is_package(body):
        raise InputError(f"{role}: is signed already")
    made = signature.sign(body, private, name=chosen, version=version, board_type=board_type)
    write_whole(target, made)
    click.echo(f"{target}: {chosen} {version} for boards of type {board_type}, {len(body):,} bytes")


COMMANDS = (key, sign)
__all__ = ["COMMANDS", "TRUST"]
