# SPDX-License-Identifier: Apache-2.0
"""What the sub-commands of ``./gossamer cluster`` share: options, ports, the manager's state, tables."""

from __future__ import annotations

import contextlib
import getpass
import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.shell import BoardInfo, Host
    from gossamer.shell._requests import Boards
    from gossamer.shell.store import Store

NO_CLUSTER = "no simulated cluster runs; start one with ./gossamer cluster sim up 4, or give --port INTERFACE"
NO_MANAGER = "no manager runs; start one with ./gossamer cluster manager"
PORT = click.option("--port", metavar="PORT", help="A network interface; otherwise the simulated cluster.")
KEYS = click.option("--keys", "key_file", metavar="FILE", help="The boards' keys.")
BOARDS = click.option("--boards", metavar="ADDRESSES", help="Addresses, separated by commas; otherwise all boards.")


class Between(click.FloatRange):
    """A number of a range. `click.FloatRange` also accepts nan, which is neither below nor above a bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value} is not a number.", param, ctx)
        return found


WAIT = click.option("--wait", type=Between(0.05, 600), default=0.5, show_default=True, metavar="SECONDS",
                    help="Time for boards to answer.")  # fmt: skip
TAKE_OVER = click.option("--take-over", is_flag=True, help="End the sessions of other hosts.")
STATE = click.option("--state", metavar="FILE", help="The manager's state; otherwise that of this checkout.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
USER = click.option("--user", metavar="NAME", help="The user whose leases count; otherwise yourself.")


def state_path(state: str | None) -> Path:
    """The manager's state file."""
    from gossamer.shell.client import default_state

    return Path(state) if state is not None else default_state()


@contextlib.contextmanager
def opened(state: str | None) -> Iterator[Store]:
    """The state of a manager, which another process may be using."""
    from gossamer.shell.store import Store

    path = state_path(state)
    store = Store(path)
    try:
        yield store
    except sqlite3.Error as error:
        raise InputError(f"{path}: the manager's state is damaged or not writable ({error})") from None
    finally:
        store.close()


def user_name(user: str | None) -> str:
    """The given user, or who runs the command. Raises InputError if the name cannot be shown in one line."""
    name = user or getpass.getuser()
    if not name.isprintable():
        raise InputError(f"{name!r}: is no name of a user; it must be printable")
    return name


def published(store: Store) -> dict[str, Any]:
    """What the running manager shows. Raises InputError if none runs."""
    from gossamer.shell.locks import manager_runs
    from gossamer.shell.manager import FRESH

    until = time.monotonic() + FRESH
    while True:
        found = store.published()
        # A configuration of many boards, or an old board that no longer answers, holds up the manager for a moment.
        if found is not None and time.time() - found["time"] < FRESH:
            return found
        if not manager_runs(store.path) or time.monotonic() > until:
            raise InputError(NO_MANAGER)
        time.sleep(0.1)


def port_and_keys(port: str | None, key_file: str | None) -> tuple[str, str | None]:
    """The given port, or that of the simulated cluster. Raises InputError if there is none."""
    from gossamer.shell import simulation

    if port is not None:
        return port, key_file
    found = simulation.running()
    if found is None:
        raise InputError(NO_CLUSTER)
    return found.socket, key_file or found.keys


def open_host(port: str | None, key_file: str | None) -> Host:
    """A host at a port with the keys of a file. Raises InputError."""
    from gossamer.shell import Host, keys

    port, key_file = port_and_keys(port, key_file)
    return Host(port, keys.read(Path(key_file)) if key_file else {})


def addresses(boards: str) -> list[int]:
    """The addresses of an option such as --boards, each once."""
    from gossamer.shell import parse_mac

    return list(dict.fromkeys(parse_mac(text.strip()) for text in boards.split(",")))


def chosen(host: Host, boards: str | None, wait: float) -> list[BoardInfo]:
    """The boards of --boards, or all. Raises InputError if one does not answer readably, or if none does."""
    from gossamer.shell import mac_text

    found = {board.mac: board for board in host.discover(wait)}
    unreadable = host.unreadable()
    if boards is None:
        for mac, why in unreadable.items():
            if not found:
                raise InputError(f"board {mac_text(mac)} {why}")
            click.echo(f"note: board {mac_text(mac)} {why}", err=True)
        if not found:
            raise InputError("no board has answered; check cables and the port")
        return [found[mac] for mac in sorted(found)]
    wanted = addresses(boards)
    for mac in wanted:
        if mac in unreadable:
            raise InputError(f"board {mac_text(mac)} {unreadable[mac]}")
        if mac not in found:
            raise InputError(
                f"board {mac_text(mac)} has not answered; ./gossamer cluster discover lists those that have"
            )
    return [found[mac] for mac in wanted]


@contextlib.contextmanager
def working(
    port: str | None, key_file: str | None, boards: str | None, wait: float, state: str | None, user: str | None,
    take_over: bool,
) -> Iterator[tuple[Boards, dict[int, dict[str, int]]]]:  # fmt: skip
    """Boards to work with, and by address their ``type`` and ``image_max``.

    Without --port these are the boards of the manager that runs, which has their sessions; otherwise those at a port.
    """
    from gossamer.shell import _requests, mac_text, parse_mac
    from gossamer.shell.locks import InterfaceLock, manager_runs

    path = state_path(state)
    if port is None and manager_runs(path):
        with opened(state) as store:
            managed = {parse_mac(one["mac"]): one for one in published(store)["boards"] if one["managed"]}
            macs = addresses(boards) if boards is not None else sorted(managed)
            for mac in macs:
                if mac not in managed:
                    raise InputError(
                        f"board {mac_text(mac)} is not managed; ./gossamer cluster list has the boards that are"
                    )
            if not macs:
                raise InputError("the manager has no boards yet; ./gossamer cluster list shows them")
            about = {mac: {"type": managed[mac]["type"], "image_max": managed[mac]["image_max"]} for mac in macs}
            yield _requests.Managed(store, macs, user_name(user), lambda: manager_runs(path)), about
        return
    with contextlib.ExitStack() as stack:
        if port is not None:
            stack.callback(InterfaceLock(port).release)
        host = stack.enter_context(open_host(port, key_file))
        found = chosen(host, boards, wait)
        direct = _requests.Direct(host, [board.mac for board in found])
        direct.open(take_over=take_over)
        stack.callback(direct.close)
        yield direct, {board.mac: {"type": board.board_type, "image_max": board.image_max} for board in found}


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Prints a table whose first row is its head."""
    for line in table(rows):
        click.echo(line)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def duration(seconds: float) -> str:
    """A time such as 45 s, 12 min, 3.5 h, rounded."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


__all__ = [
    "BOARDS",
    "JSON",
    "KEYS",
    "NO_MANAGER",
    "PORT",
    "STATE",
    "TAKE_OVER",
    "USER",
    "WAIT",
    "Between",
    "addresses",
    "chosen",
    "duration",
    "open_host",
    "opened",
    "port_and_keys",
    "print_rows",
    "published",
    "state_path",
    "table",
    "user_name",
    "working",
]
