# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: what is done on boards: discover, configure, load, exec."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from gossamer.cli import _cluster_common as common
from gossamer.cli import _cluster_keys
from gossamer.errors import AnswerNo, InputError


@click.command()
@common.PORT
@common.WAIT
@common.JSON
def discover(port: str | None, wait: float, as_json: bool) -> None:
    """List the boards that answer."""
    from gossamer.shell import mac_text

    with common.open_host(port, None) as host:
        boards = sorted(host.discover(wait), key=lambda board: board.mac)
        unreadable = host.unreadable()
    for mac, why in unreadable.items():
        if not boards:
            raise InputError(f"board {mac_text(mac)} {why}")
        click.echo(f"note: board {mac_text(mac)} {why}", err=True)
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
    common.print_rows(rows)


@contextlib.contextmanager
def _progress(what: str, macs: Sequence[int]) -> Iterator[Callable[[Mapping[int, float]], None]]:
    """Shows the share that is done of each board: the last line of a terminal, a line every 10 s elsewhere."""
    from gossamer import progress
    from gossamer.shell import mac_text

    terminal = sys.stderr.isatty()
    begun = last = time.monotonic()
    interval = 0.2 if terminal else progress.INTERVAL
    drawn = False

    def show(done: Mapping[int, float]) -> None:
        nonlocal last, drawn
        now = time.monotonic()
        if now - last < interval or progress.silent():
            return
        last = now
        # The last bytes of an address tell boards apart; with many boards the slowest ones matter.
        parts = sorted((done.get(mac, 0.0), mac) for mac in macs)
        text = ", ".join(f"{mac_text(mac)[9:]} {int(share * 100)}%" for share, mac in parts[:6])
        more = f", {len(parts) - 6} more" if len(parts) > 6 else ""
        whole = sum(share for share, _ in parts) / max(len(parts), 1)
        line = f"{what}: {int(whole * 100)}% ({text}{more}), {now - begun:.0f} s"
        sys.stderr.write(f"\r{line[:118]}\x1b[K" if terminal else f"{line}\n")
        sys.stderr.flush()
        drawn = terminal

    try:
        yield show
    finally:
        if drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


@click.command()
@click.argument("role", type=click.Path(dir_okay=False))
@common.PORT
@common.KEYS
@common.BOARDS
@common.WAIT
@common.STATE
@common.USER
@click.option("--type", "board_type", type=click.IntRange(0, (1 << 32) - 1), default=1, show_default=True,
              help="The type of board that the role is for.")  # fmt: skip
@_cluster_keys.TRUST
@click.option("--unicast", is_flag=True, help="Send the role to one board after the other, for comparison.")
@click.option(
    "--group",
    metavar="ADDRESS",
    help="Send the role to this group's Ethernet address in place of broadcast, which switches may limit.",
)
@click.option("--drop-after", type=common.Between(0.1, 600), default=3.0, show_default=True, metavar="SECONDS",
              help="Give a board up that does not answer for this time.")  # fmt: skip
@common.TAKE_OVER
def configure(
    role: str,
    port: str | None,
    key_file: str | None,
    boards: str | None,
    wait: float,
    state: str | None,
    user: str | None,
    board_type: int,
    trust: str | None,
    unicast: bool,
    group: str | None,
    drop_after: float,
    take_over: bool,
) -> None:
    """Load the file ROLE on boards, all at once.

    ROLE may be signed with ./gossamer cluster sign; then it names its type of board. A role for simulated boards is a
    C or C++ source that includes gossamer/role.h, or a shared object built from one. If a manager runs, and without
    --port, the manager does it when the boards' tasks have ended.
    """
    from gossamer.shell import BROADCAST, job, mac_text, parse_mac, signature
    from gossamer.shell.host import status_text

    to = BROADCAST if group is None else parse_mac(group)
    if not to >> 40 & 1:
        raise InputError(f"--group {group}: is the address of one station; a group's first byte is odd")
    if unicast and group is not None:
        raise InputError("--group and --unicast: give one of them")
    data, package = signature.accepted(role, job.role_bytes(Path(role)), Path(trust) if trust else None)
    if package is not None:
        board_type = package.board_type
    with common.working(port, key_file, boards, wait, state, user, take_over) as (work, about):
        for mac, one in about.items():
            if board_type != one["type"]:
                raise InputError(
                    f"{role}: is for boards of type {board_type}; board {mac_text(mac)} has type {one['type']}"
                )
            if len(data) > one["image_max"]:
                raise InputError(
                    f"{role}: {len(data):,} bytes; board {mac_text(mac)} takes at most {one['image_max']:,}"
                )
        with _progress(f"configuring {len(about)} board{'s' if len(about) > 1 else ''}", work.macs) as show:
            results = work.configure(data, board_type, unicast=unicast, group=to, drop_after=drop_after, progress=show)
    failed = {mac: status for mac, (status, _) in sorted(results.items()) if status != "ok"}
    for mac, (status, seconds) in sorted(results.items()):
        click.echo(
            f"{mac_text(mac)}  {status if len(status) < 20 and not status.isdecimal() else 'not done'}  {seconds:.2f} s"
        )
    for mac, status in failed.items():
        if status in ("config_failed", "bad_image") or status.isdecimal():
            raise InputError(f"{role}: board {mac_text(mac)}: {status_text(status)}")
        if status.startswith(("board ", "not done")):
            raise InputError(status)
    if failed:
        raise AnswerNo(f"{len(failed)} of {len(results)} boards have not loaded the role")


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--address", type=click.IntRange(0, (1 << 64) - 1), default=0, show_default=True,
              help="Where the bytes go in the memory of each board.")  # fmt: skip
@common.PORT
@common.KEYS
@common.BOARDS
@common.WAIT
@common.STATE
@common.USER
@common.TAKE_OVER
def load(
    file: str,
    address: int,
    port: str | None,
    key_file: str | None,
    boards: str | None,
    wait: float,
    state: str | None,
    user: str | None,
    take_over: bool,
) -> None:
    """Load the bytes of FILE into the memory of boards: the input of a kernel."""
    from gossamer.shell import mac_text

    try:
        data = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot read the input: {(error.strerror or str(error)).lower()}") from None
    with (
        common.working(port, key_file, boards, wait, state, user, take_over) as (work, _),
        _progress(f"loading {len(data):,} bytes", work.macs) as show,
    ):
        errors = work.load(address, data, show)
    _raise_first(errors)
    for mac in sorted(errors):
        click.echo(f"{mac_text(mac)}  {len(data)} bytes at {address}")


def _raise_first(errors: Mapping[int, str]) -> None:
    failed = [text for _, text in sorted(errors.items()) if text]
    if failed:
        # Each text names its board.
        raise InputError(failed[0] + (f" ({len(failed)} of {len(errors)} boards)" if len(errors) > 1 else ""))


def _registers(pairs: Sequence[str]) -> dict[int, int]:
    found = {}
    for pair in pairs:
        at, _, value = pair.partition("=")
        try:
            found[int(at, 0)] = int(value, 0)
        except ValueError:
            raise InputError(f"--register {pair}: must be ADDRESS=VALUE, such as 0x4=16") from None
        if int(at, 0) % 4 or not 0 <= int(at, 0) < 1 << 32 or not 0 <= int(value, 0) < 1 << 32:
            raise InputError(f"--register {pair}: an address is a multiple of 4, and both have 32 bits")
    return found


@click.command(name="exec")
@click.argument("kernel", type=click.IntRange(0, (1 << 32) - 1), default=0)
@click.option("--register", "registers", multiple=True, metavar="ADDRESS=VALUE",
              help="A register of the role to set before; may be repeated.")  # fmt: skip
@click.option("--timeout", type=common.Between(0.01, 1e6), default=60.0, show_default=True,
              metavar="SECONDS", help="Time that the kernel may take.")  # fmt: skip
@common.PORT
@common.KEYS
@common.BOARDS
@common.WAIT
@common.STATE
@common.USER
@common.TAKE_OVER
def execute(
    kernel: int,
    registers: tuple[str, ...],
    timeout: float,
    port: str | None,
    key_file: str | None,
    boards: str | None,
    wait: float,
    state: str | None,
    user: str | None,
    take_over: bool,
) -> None:
    """Run KERNEL of the loaded role on boards, started by one frame, and wait for its end.

    ./gossamer cluster results prints the results, which are kept until the board's next exec.
    """
    from gossamer.shell import mac_text
    from gossamer.shell._requests import Direct

    values = _registers(registers)
    with common.working(port, key_file, boards, wait, state, user, take_over) as (work, _):
        with _progress(f"kernel {kernel} runs", work.macs) as show:
            outcomes = work.execute(kernel, values, timeout, show)
        if isinstance(work, Direct):
            with common.opened(state) as store:
                for mac, one in outcomes.items():
                    store.ran(mac, kernel, one.cycles, one.result, one.error)
    for mac, one in sorted(outcomes.items()):
        if one.error is None:
            click.echo(f"{mac_text(mac)}  {one.cycles} cycles  {len(one.result or b'')} bytes of result")
    _raise_first({mac: one.error or "" for mac, one in outcomes.items()})


COMMANDS = (discover, configure, load, execute)

__all__ = ["COMMANDS"]
