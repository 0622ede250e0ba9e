# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: boards on Ethernet."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.errors import AnswerNo, InputError

if TYPE_CHECKING:
    from gossamer.shell import BoardInfo, Host
    from gossamer.shell.store import Store

_NO_CLUSTER = "no simulated cluster runs; start one with ./gossamer cluster sim up 4, or give --port INTERFACE"
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
      ./gossamer cluster submit job.json; ./gossamer cluster manager
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
            raise InputError(_NO_CLUSTER)
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
    _print_rows(rows)


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
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
    from gossamer.shell import BoardError, job, mac_text

    data = job.role_bytes(Path(role))
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


_STATE = click.option("--state", metavar="FILE", help="The manager's state; otherwise that of this checkout.")


def _state(state: str | None) -> Path:
    from gossamer.paths import ROOT

    if state is not None:
        return Path(state)
    folder = ROOT / ".gossamer" / "cluster"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "state.sqlite"


@contextlib.contextmanager
def _store(state: str | None) -> Iterator[Store]:
    """The state of a manager, which another process may be using."""
    from gossamer.shell.store import Store

    store = Store(_state(state))
    try:
        yield store
    finally:
        store.close()


@command.command()
@_PORT
@_KEYS
@_STATE
def manager(port: str | None, key_file: str | None, state: str | None) -> None:
    """Manage a cluster until Ctrl-C.

    Opens sessions with boards that appear, loads the roles of jobs, and runs the tasks of boards that vanish elsewhere.
    Jobs are submitted with ./gossamer cluster submit, before or while it runs. If it is ended, or killed, the next one
    continues with the same state.
    """
    import signal
    import threading

    from gossamer.shell import keys, simulation
    from gossamer.shell.manager import Manager

    if port is None:
        found = simulation.running()
        if found is None:
            raise InputError(_NO_CLUSTER)
        port, key_file = found.socket, key_file or found.keys
    if key_file is None:
        raise InputError("boards need keys: give --keys FILE, which ./gossamer cluster key FILE ADDRESS... makes")
    made = Manager(port, keys.read(Path(key_file)), _state(state))
    ended = threading.Event()

    def end(_number: int, _frame: object) -> None:
        ended.set()
        made.stop()

    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, end)
    click.echo(f"managing the boards at {port}; Ctrl-C ends it", err=True)
    made.run()
    if ended.is_set():
        raise KeyboardInterrupt


@command.command()
@click.argument("file", type=click.Path(dir_okay=False))
@_STATE
@click.option("--owner", help="Name of the job's owner; otherwise the user.")
def submit(file: str, state: str | None, owner: str | None) -> None:
    """Submit the job that FILE describes, and print its number."""
    import getpass

    from gossamer.shell import job, root_of

    one = job.read(Path(file))
    with _store(state) as store:
        number = store.submit(
            owner or getpass.getuser(), one.role, root_of(one.role).hex(), one.board_type, one.kernel, one.timeout,
            one.tasks,
        )  # fmt: skip
    click.echo(number)


@command.command()
@_STATE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def jobs(state: str | None, as_json: bool) -> None:
    """List the jobs, newest first."""
    with _store(state) as store:
        found = store.jobs()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    rows: list[Sequence[str]] = [("JOB", "OWNER", "STATE", "DONE", "FAILED", "TASKS")]
    for one in found:
        tasks = one["tasks"]
        counts = (str(tasks.get("done", 0)), str(tasks.get("failed", 0)), str(sum(tasks.values())))
        rows.append((str(one["id"]), one["owner"], one["state"], *counts))
    _print_rows(rows)


def _known(store: Store, number: int) -> dict[str, Any]:
    for one in store.jobs():
        if one["id"] == number:
            return one
    raise InputError(f"no job {number}; ./gossamer cluster jobs lists them")


@command.command()
@click.argument("number", type=int, metavar="JOB")
@_STATE
@click.option("--wait", is_flag=True, help="Wait for the end of the job.")
@click.option("--to", "folder", type=click.Path(file_okay=False), help="Write a file TASK.bin for each result to DIR.")
def results(number: int, state: str | None, wait: bool, folder: str | None) -> None:
    """Print the tasks of a job with their results, as hexadecimal digits, or write them to files."""
    import time

    with _store(state) as store:
        while _known(store, number)["state"] in ("waiting", "running") and wait:
            time.sleep(0.1)
        found, ended = store.results(number), _known(store, number)["state"]
    if folder is not None:
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
            for one in found:
                if one["state"] == "done":
                    (target / f"{one['number']}.bin").write_bytes(one["result"])
        except OSError as error:
            raise InputError(f"{folder}: cannot write the results: {(error.strerror or str(error)).lower()}") from None
    else:
        rows: list[Sequence[str]] = [("TASK", "STATE", "CYCLES", "RESULT")]
        for one in found:
            text = one["result"].hex() if one["result"] is not None else one["error"] or "-"
            rows.append((str(one["number"]), one["state"], str(one["cycles"] or "-"), text))
        _print_rows(rows)
    if ended in ("failed", "cancelled"):
        raise AnswerNo(f"job {number} has {ended}" if ended == "failed" else f"job {number} was cancelled")


@command.command()
@click.argument("number", type=int, metavar="JOB")
@_STATE
def cancel(number: int, state: str | None) -> None:
    """Cancel a job: its tasks that wait are not run."""
    with _store(state) as store:
        _known(store, number)
        if not store.cancel(number):
            raise InputError(f"job {number} has ended already")


@command.command(name="list")
@_STATE
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_boards(state: str | None, as_json: bool) -> None:
    """List the boards of the running manager."""
    import time

    with _store(state) as store:
        found = store.published()
    if found is None or time.time() - found["time"] > 5:
        raise InputError("no manager runs; start one with ./gossamer cluster manager")
    if as_json:
        click.echo(json.dumps(found["boards"], indent=2))
        return
    rows: list[Sequence[str]] = [("ADDRESS", "STATE", "ROLE", "TASK", "DONE", "LOADED")]
    for one in found["boards"]:
        counts = (str(one["tasks"]), str(one["configured"]))
        rows.append((one["mac"], one["state"], one["role"] or "-", one["task"] or "-", *counts))
    _print_rows(rows)


@command.command()
@_STATE
@click.option("--lines", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Number of lines.")
def log(state: str | None, lines: int) -> None:
    """Print the last lines of the manager's log."""
    import time

    with _store(state) as store:
        for line in store.log(lines):
            when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line["time"]))
            click.echo(f"{when} {line['level']:<7} {line['text']}")


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
