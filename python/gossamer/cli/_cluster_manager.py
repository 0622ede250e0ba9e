# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: the manager, what it manages, leases."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import click

from gossamer.cli import _cluster_common as common
from gossamer.cli import _cluster_keys
from gossamer.errors import AnswerNo, InputError

_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_HTTP = click.option("--http", default="127.0.0.1:8747", show_default=True, metavar="[ADDRESS:]PORT",
                     help="Where the page and the metrics are served; off for neither.")  # fmt: skip
_TOKEN = click.option("--token-file", metavar="FILE", help="The page's token; otherwise a new one beside the state.")
_SENSORS = click.option("--hwmon", "hwmon", multiple=True, metavar="BOARD=FOLDER",
                        help="A board's sensors as a folder of Linux' hwmon; may be repeated.")  # fmt: skip


def _http(text: str) -> tuple[str, int] | None:
    if text == "off":
        return None
    bind, _, number = text.rpartition(":")
    bracketed = re.fullmatch(r"\[([0-9A-Fa-f:.]+)\]", bind)
    wrong = not bracketed and re.search(r"[\[\]:]", bind)
    if wrong or not re.fullmatch(r"[0-9]{1,5}", number) or int(number) > 65535:
        raise InputError(
            f"--http {text}: must be off, a port, or an address and a port such as 127.0.0.1:8747 or [::1]:8747"
        )
    return bracketed[1] if bracketed else bind or "127.0.0.1", int(number)


def _sensors(hwmon: Sequence[str]) -> dict[int, Path]:
    from gossamer.shell import parse_mac

    found = {}
    for one in hwmon:
        address, sign, folder = one.partition("=")
        if not sign or not folder:
            raise InputError(f"--hwmon {one}: must be BOARD=FOLDER, such as 02:00:00:00:00:01=/sys/class/hwmon/hwmon0")
        found[parse_mac(address)] = Path(folder)
    return found


@click.command()
@common.PORT
@common.KEYS
@common.STATE
@_HTTP
@_TOKEN
@_SENSORS
@_cluster_keys.TRUST
@common.TAKE_OVER
def manager(
    port: str | None,
    key_file: str | None,
    state: str | None,
    http: str,
    token_file: str | None,
    hwmon: tuple[str, ...],
    trust: str | None,
    take_over: bool,
) -> None:
    """Manage a cluster until Ctrl-C.

    Opens sessions with boards that appear, loads the roles of jobs, and runs the tasks of boards that vanish elsewhere.
    Jobs are submitted with ./gossamer cluster submit, before or while it runs. If it is ended, or killed, the next one
    continues with the same state.
    """
    import threading

    import gossamer_setup
    from gossamer.shell.manager import Manager
    from gossamer.shell.sensors import HwmonSensors

    where, sensors = _http(http), HwmonSensors(_sensors(hwmon)) if hwmon else None
    port, key_file = common.port_and_keys(port, key_file)
    if key_file is None:
        raise InputError("boards need keys: give --keys FILE, which ./gossamer cluster key FILE ADDRESS... makes")
    path = common.state_path(state)
    if where is not None:
        gossamer_setup.require("core", "cluster")
    made = Manager(port, Path(key_file), path, Path(trust) if trust else None, sensors=sensors, take_over=take_over)
    ended = threading.Event()

    def end(_number: int, _frame: object) -> None:
        ended.set()
        made.stop()

    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, end)
    server = None
    try:
        made.check_owners()
        file = Path(token_file) if token_file else path.with_name(f"{path.name}.token")
        if where is not None:
            from gossamer.shell import web

            server = web.Server(made.snapshot, path, web.token(file), *where)
        click.echo(f"managing the boards at {port}; Ctrl-C ends it", err=True)
        if server is not None:
            click.echo(f"page: {server.address}; the token in {file} permits changes", err=True)
    except BaseException:
        made.free()
        raise
    try:
        made.run()
    finally:
        if server is not None:
            server.close()
    if ended.is_set():
        raise KeyboardInterrupt


@click.command(name="list")
@common.STATE
@common.JSON
def list_boards(state: str | None, as_json: bool) -> None:
    """List the boards of the running manager."""
    with common.opened(state) as store:
        found = common.published(store)
    if as_json:
        click.echo(json.dumps(found["boards"], indent=2))
        return
    rows: list[Sequence[str]] = [("ADDRESS", "STATE", "ROLE", "TASK", "DONE", "LOADED", "LEASE")]
    for one in found["boards"]:
        counts = (str(one["tasks"]), str(one["configured"]))
        state = one["state"] + (f" {common.duration(one['quarantine'])}" if one["quarantine"] else "")
        rows.append((one["mac"], state, one["role"] or "-", one["task"] or "-", *counts, one["lease"] or "-"))
    common.print_rows(rows)
    for mac, why in found["unreadable"].items():
        click.echo(f"board {mac} {why}")


@click.command()
@common.STATE
@click.option("--lines", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Number of lines.")
@click.option("--follow", is_flag=True, help="Print new lines until Ctrl-C.")
def log(state: str | None, lines: int, follow: bool) -> None:
    """Print the last lines of the manager's log."""
    with common.opened(state) as store:
        last = 0
        while True:
            for line in store.log(lines):
                if line["id"] > last:
                    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(line["time"]))
                    click.echo(f"{when} {line['level']:<7} {line['text']}")
                    last = line["id"]
            if not follow:
                return
            time.sleep(0.2)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(s|min|h|d)", text)
    if found is None or not 0 < float(found[1]) * _UNITS[found[2]] <= 366 * 86400:
        raise InputError(f"--for {text}: must be a time such as 30min, 2h or 1d")
    return float(found[1]) * _UNITS[found[2]]


@click.command()
@click.argument("count", type=click.IntRange(1, 4096), metavar="BOARDS")
@click.option("--for", "time_text", default="1h", show_default=True, metavar="TIME", help="As 30min, 2h or 1d.")
@click.option("--boards", metavar="ADDRESSES", help="Choose among these; otherwise among all.")
@common.STATE
@common.USER
def lease(count: int, time_text: str, boards: str | None, state: str | None, user: str | None) -> None:
    """Take BOARDS boards for a time: no tasks of other users are started on them.

    Your tasks run on your boards and on those that nobody has leased.
    """
    from gossamer.shell import mac_text, parse_mac

    seconds, name = _seconds(time_text), common.user_name(user)
    among = None if boards is None else common.addresses(boards)
    with common.opened(state) as store:
        found = [one for one in common.published(store)["boards"] if one["managed"]]
        # Idle boards first: on the others, the lease begins when their task has ended.
        order = [parse_mac(one["mac"]) for one in sorted(found, key=lambda one: bool(one["task"]))]
        made = store.lease(name, count, seconds, [mac for mac in order if among is None or mac in among])
        if isinstance(made, int):
            raise AnswerNo(f"{made} boards are free, not {count}; ./gossamer cluster leases lists the leases")
        number, macs = made
        store.note("info", f"lease {number}: {name} has {count} boards for {common.duration(seconds)}")
    click.echo(f"lease {number}: {', '.join(map(mac_text, macs))} for {common.duration(seconds)}")


@click.command()
@common.STATE
@common.JSON
def leases(state: str | None, as_json: bool) -> None:
    """List the leases."""
    from gossamer.shell import mac_text

    with common.opened(state) as store:
        found = store.leases()
    if as_json:
        listed = [one | {"boards": [mac_text(mac) for mac in one["boards"]]} for one in found]
        click.echo(json.dumps(listed, indent=2))
        return
    rows: list[Sequence[str]] = [("LEASE", "USER", "LEFT", "BOARDS")]
    for one in found:
        left = common.duration(one["until"] - time.time())
        rows.append((str(one["id"]), one["user"], left, " ".join(map(mac_text, one["boards"]))))
    common.print_rows(rows)


@click.command()
@click.argument("number", type=click.IntRange(0, 1 << 62), metavar="LEASE")
@common.STATE
@common.USER
def release(number: int, state: str | None, user: str | None) -> None:
    """End a lease before its time."""
    name = common.user_name(user)
    with common.opened(state) as store:
        owners = {one["id"]: one["user"] for one in store.leases()}
        if number not in owners:
            raise InputError(f"no lease {number}; ./gossamer cluster leases lists them")
        if owners[number] != name:
            raise InputError(f"lease {number} is {owners[number]}'s; --user {owners[number]} ends it all the same")
        store.release(number)
        store.note("info", f"lease {number} of {name} was released")


@click.command()
@click.argument("board", metavar="ADDRESS")
@common.STATE
def readmit(board: str, state: str | None) -> None:
    """End the quarantine of the board with ADDRESS."""
    from gossamer.shell import mac_text, parse_mac

    mac = parse_mac(board)
    with common.opened(state) as store:
        if not store.readmit(mac):
            raise InputError(f"board {mac_text(mac)} is in no quarantine; ./gossamer cluster list shows those that are")
        store.note("info", f"board {mac_text(mac)} was readmitted")


@click.command()
@click.option("--port", required=True, metavar="PORT", help="The network interface of the boards.")
@click.option("--keys", "key_file", required=True, metavar="FILE", help="The boards' keys.")
@common.STATE
@click.option("--run-as", "user", metavar="USER", help="The user who runs it; otherwise yourself.")
@_HTTP
@_SENSORS
def unit(port: str, key_file: str, state: str | None, user: str | None, http: str, hwmon: tuple[str, ...]) -> None:
    """Print a unit of systemd that runs the manager of this checkout as a service.

    \b
    Example, as root:
      ./gossamer cluster unit --port eth0 --keys keys.json > /etc/systemd/system/gossamer-cluster.service
      systemctl enable --now gossamer-cluster
    """
    from gossamer import paths

    _http(http)
    _sensors(hwmon)
    if not Path(key_file).is_file():  # it may be made later, and the unit be for another machine
        click.echo(f"note: {key_file}: no such file; the manager does not start without it", err=True)
    types = os.environ.get("GOSSAMER_ETHERTYPES")
    site = f"Environment=GOSSAMER_ETHERTYPES={_escaped(types)}\n" if types else ""
    words = ["cluster", "manager", "--port", port, "--keys", str(Path(key_file).absolute()), "--http", http]
    words += ["--state", str(common.state_path(state).absolute())]
    for one in hwmon:
        words += ["--hwmon", one]
    # The system's Python starts a checkout, whose environment may be made anew meanwhile.
    start = paths.command()
    if not paths.INSTALLED:
        start[0] = shutil.which("python3") or "/usr/bin/python3"
    command = " ".join(map(_quoted, [*start, *words]))
    page = _escaped(str(paths.ROOT / "docs" / "cluster.md"))
    documentation = "" if paths.INSTALLED else f"Documentation=file://{page}\n"
    name = common.user_name(user)
    # No PrivateTmp: the socket of a simulated cluster is in the folder for temporary files.
    click.echo(f"""\
[Unit]
Description=Gossamer's manager of boards on Ethernet
{documentation}After=network.target

[Service]
Type=exec
User={name}
WorkingDirectory={_escaped(str(paths.ROOT))}
ExecStart={command}
Restart=always
RestartSec=1
# Ctrl-C's exit code: how it ends when it is stopped.
SuccessExitStatus=130
KillMode=mixed
TimeoutStopSec=10
Environment=GOSSAMER_PROGRESS=off
{site}# Raw Ethernet frames, and nothing else of root's.
AmbientCapabilities=CAP_NET_RAW
CapabilityBoundingSet=CAP_NET_RAW
NoNewPrivileges=true
ProtectSystem=full
ProtectKernelTunables=true
ProtectControlGroups=true
RestrictSUIDSGID=true
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_PACKET AF_NETLINK
LockPersonality=true

[Install]
WantedBy=multi-user.target""")


def _escaped(text: str) -> str:
    """A value in which % begins no specifier."""
    if "\n" in text or "\0" in text:
        raise InputError(f"{text!r}: a unit of systemd has no lines in its paths")
    return text.replace("%", "%%")


def _quoted(word: str) -> str:
    """A word of ExecStart."""
    escaped = _escaped(word).replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return escaped if re.fullmatch(r"[-\w./:=,%@]+", escaped) else f'"{escaped}"'


COMMANDS = (manager, list_boards, log, lease, leases, release, readmit, unit)

__all__ = ["COMMANDS"]
