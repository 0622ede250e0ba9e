# SPDX-License-Identifier: Apache-2.0
"""Configuration of many boards at once, compared with a raw broadcast, multicast file transfer and SAF's figures.

Boards are software twins, each a process in a network namespace with one end of a veth pair, whose other end is at a
Linux bridge. Each measurement starts new twins, and measurements that are compared are interleaved.
"""

from __future__ import annotations

import contextlib
import functools
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gossamer_setup
from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.paths import BUILD
from gossamer.shell import mac_text, namespaces, root_of
from gossamer.shell.manager import Manager
from gossamer.shell.namespaces import PORT, Lan
from gossamer.shell.store import Store

from . import _page, _peers
from ._boards import KEY, image, on_lan, on_switch, raw_seconds, slowed

BOARDS = 20
BYTES = 97_400_000
"""SAF's bitstream of PTRANS."""
LOSS = 0.01
LOSS_BYTES = 20_000_000
REPEAT = 5
COUNTS = (1, 2, 5, 10, 20)
PAGE = BUILD / "bench" / "shell-configure.html"
"""Where Figure 6 is drawn."""
_SHARE, _GROWTH, _LOSS = f"configure.share-of-raw.n{BOARDS}", "configure.growth", "configure.loss-ratio"
_STRAGGLER, _JUMBO = "configure.straggler", "configure.jumbo"
_PEERS: dict[str, Callable[[Lan, int, bytes], float]] = {
    "configure.vs-uftp": _peers.uftp,
    "configure.vs-udpcast": _peers.udpcast,
}
_DISCOVER, _HOTPLUG = "discover.20-s", "hotplug.s"
_FIGURE6 = {f"configure.figure6.n{count}": count for count in COUNTS}
NAMES = (_SHARE, _GROWTH, _LOSS, *_PEERS, _STRAGGLER, _JUMBO, _DISCOVER, _HOTPLUG, *_FIGURE6)
_ON_LAN = (_SHARE, _GROWTH, *_PEERS, _STRAGGLER, _JUMBO, _DISCOVER, _HOTPLUG, *_FIGURE6)

PAPER_ETHERNET, PAPER_PCIE, PAPER_SEND = 17.76, 12.3, 15.67
"""Seconds of SAF's Figure 6: its broadcast, one board over PCIe, and the bitstream over the network to the hosts."""


def paper(count: int) -> dict[str, float]:
    """Figure 6 for ``count`` boards, in seconds: a device tree of PCIe one after the other, hosts of two boards each to
    which the bitstream is sent first, and SAF."""
    hosts = PAPER_PCIE if count == 1 else 2 * PAPER_PCIE + (PAPER_SEND if count > 2 else 0.0)
    return {"pcie_tree": PAPER_PCIE * count, "pcie_hosts": hosts, "saf": PAPER_ETHERNET}


@functools.cache
def _image(size: int, seed: int = 1) -> bytes:
    return image(size, seed)


def _configure(lan: Lan, count: int, slow: str | None = None, reserve: int = BYTES) -> tuple[float, float]:
    """Seconds of a configuration in all, and seconds until the boards that keep up were done.

    ``slow``: the last board is "dead", or runs a tenth of the time ("slow"). ``reserve``: bytes of memory that boards
    have for images from the start. Raises RunDied if a board fails.
    """
    data = _image(BYTES)
    with on_lan(lan, count, reserve) as boards:
        host = boards.opened()
        with host:
            begun = time.monotonic()
            last = boards.processes[-1]
            if slow == "dead":
                last.kill()
            with slowed(last, 0.1) if slow == "slow" else contextlib.nullcontext():
                results = host.configure(boards.macs, data)
            seconds = time.monotonic() - begun
    good = boards.macs if slow is None else boards.macs[:-1]
    failed = {mac_text(mac): results[mac][0] for mac in good if results[mac][0] != "ok"}
    if failed:
        raise RunDied(f"configuring boards failed: {failed}")
    return seconds, max(results[mac][1] for mac in good)


def rows(context: Context) -> Iterator[Row]:
    """Every row asked for, as it is measured."""
    if context.wants(_LOSS):
        yield _loss(context)
    if not any(context.wants(name) for name in _ON_LAN):
        return
    if (why := namespaces.missing()) is not None:
        yield from (context.skip(name, why) for name in _ON_LAN if context.wants(name))
        return
    repeat = context.repeat or REPEAT
    if context.wants(_DISCOVER):
        yield _discover(context, repeat)
    if context.wants(_HOTPLUG):
        yield _hotplug(context, repeat)
    with Lan(BOARDS) as lan:
        if any(context.wants(name) for name in (_SHARE, _GROWTH, *_PEERS)):
            yield from _broadcasts(context, lan, repeat)
        if context.wants(_STRAGGLER):
            yield _straggler(context, lan, repeat)
        if context.wants(_JUMBO):
            yield _jumbo(context, lan, repeat)
    if any(context.wants(name) for name in _FIGURE6):
        yield from _figure6(context, repeat)


def _goal(value: float, unit: str, least: bool) -> Reference:
    return {"what": "at least" if least else "at most", "value": value, "unit": unit}


def _broadcasts(context: Context, lan: Lan, repeat: int) -> Iterator[Row]:
    """Raw broadcasts, configurations and peers, in turns."""
    peers = {name: run for name, run in _PEERS.items() if context.wants(name)}
    missing: dict[str, str] = {}
    raw_one: list[float] = []
    raw_all: list[float] = []
    one: list[float] = []
    every: list[float] = []
    fresh: list[float] = []
    theirs: dict[str, list[float]] = {name: [] for name in peers}
    received = 1.0
    with Lan(1) as small:
        for _ in range(repeat):
            if context.wants(_SHARE) or context.wants(_GROWTH):
                seconds, share = raw_seconds(lan, BOARDS, BYTES)
                raw_all.append(seconds)
                received = min(received, share)
                every.append(_configure(lan, BOARDS)[0])
            if context.wants(_GROWTH):
                raw_one.append(raw_seconds(small, 1, BYTES)[0])
                one.append(_configure(small, 1)[0])
            if peers:
                # Their receivers make the memory of their files as well.
                fresh.append(_configure(lan, BOARDS, reserve=0)[0])
            for name, run in peers.items():
                try:
                    theirs[name].append(run(lan, BOARDS, _image(BYTES)))
                except gossamer_setup.SetupError as error:
                    missing[name] = str(error)
    about: dict[str, Any] = {"boards": BOARDS, "bytes": BYTES, "repeat": repeat}
    if raw_all:
        raw, ours = statistics.median(raw_all), statistics.median(every)
        about |= {"seconds": round(ours, 3), "raw_seconds": round(raw, 3), "raw_received": received}
    if context.wants(_SHARE):
        value = raw / ours
        yield context.row(_SHARE, value, "of raw", reference=_goal(0.5, "of raw", True), ratio=value / 0.5, **about)
    if context.wants(_GROWTH):
        alone, raw_alone = statistics.median(one), statistics.median(raw_one)
        value = ours / alone / (raw / raw_alone)
        about |= {"seconds_n1": round(alone, 3), "raw_seconds_n1": round(raw_alone, 3)}
        yield context.row(_GROWTH, value, "of raw", reference=_goal(1.1, "of raw", False), ratio=1.1 / value, **about)
    for name in peers:
        if name in missing:
            yield context.skip(name, missing[name], "times")
            continue
        seconds = statistics.median(theirs[name])
        what = name.removeprefix("configure.vs-")
        goodput: Reference = {"what": what, "value": BYTES / seconds / 1e6, "unit": "MB/s"}
        ours = statistics.median(fresh)
        yield context.row(name, BYTES / ours / 1e6, "MB/s", reference=goodput, ratio=seconds / ours, least_ratio=2.0,
                          boards=BOARDS, bytes=BYTES, repeat=repeat)  # fmt: skip


def _loss(context: Context) -> Row:
    """Bytes are counted, so the load of the machine does not matter: the switch holds what boards do not read."""
    data = _image(LOSS_BYTES)
    sent: dict[float, int] = {}
    for loss in (0.0, LOSS):
        # The queue holds the whole image, so that no frame is lost but by chance.
        with on_switch(BOARDS, "--loss", str(loss), "--queue", str(2 * LOSS_BYTES)) as boards, boards.opened() as host:
            before = host.bytes_sent
            results = host.configure(boards.macs, data, drop_after=20.0)
            sent[loss] = host.bytes_sent - before
        if {status for status, _ in results.values()} != {"ok"}:
            raise RunDied(f"configuring boards failed: {results}")
    value = sent[LOSS] / sent[0.0]
    return context.row(_LOSS, value, "of lossless", reference=_goal(1.03, "of lossless", False), ratio=1.03 / value,
                       boards=BOARDS, bytes=LOSS_BYTES, loss=LOSS, resending=1 - (1 - LOSS) ** BOARDS + 1)  # fmt: skip


def _straggler(context: Context, lan: Lan, repeat: int) -> Row:
    found: dict[str | None, list[float]] = {None: [], "slow": [], "dead": []}
    for _ in range(repeat):
        for slow, values in found.items():
            values.append(_configure(lan, BOARDS, slow=slow)[1])
    medians = {slow: statistics.median(values) for slow, values in found.items()}
    value = max(medians["slow"], medians["dead"]) / medians[None]
    return context.row(
        _STRAGGLER, value, "of none", reference=_goal(1.1, "of none", False), ratio=1.1 / value, boards=BOARDS,
        bytes=BYTES, repeat=repeat, seconds=round(medians[None], 3), seconds_slow=round(medians["slow"], 3),
        seconds_dead=round(medians["dead"], 3),
    )  # fmt: skip


def _jumbo(context: Context, lan: Lan, repeat: int) -> Row:
    small: list[float] = []
    large: list[float] = []
    raw: dict[int, list[float]] = {lan.mtu: [], 9000: []}
    with Lan(BOARDS, 9000) as jumbo:
        for _ in range(repeat):
            small.append(_configure(lan, BOARDS)[0])
            large.append(_configure(jumbo, BOARDS)[0])
            for each in (lan, jumbo):
                raw[each.mtu].append(raw_seconds(each, BOARDS, BYTES)[0])
    value = statistics.median(small) / statistics.median(large)
    # What copying alone gains is all that a protocol can gain here.
    gain = statistics.median(raw[lan.mtu]) / statistics.median(raw[9000])
    return context.row(
        _JUMBO, value, "times", reference=_goal(3.0, "times", True), ratio=value / 3.0, boards=BOARDS, bytes=BYTES,
        repeat=repeat, seconds=round(statistics.median(large), 3), seconds_1500=round(statistics.median(small), 3),
        raw=round(gain, 2),
    )  # fmt: skip


def _discover(context: Context, repeat: int) -> Row:
    """From a host that opens its port to the announcements of all boards."""
    seconds: list[float] = []
    with Lan(BOARDS) as lan, on_lan(lan, BOARDS) as boards:
        boards.opened().free()
        for _ in range(repeat):
            begun = time.monotonic()
            with boards.host() as host:
                while not {board.mac for board in host.discover(0.01)} >= set(boards.macs):
                    if time.monotonic() - begun > 30:
                        raise RunDied("boards do not announce themselves")
                seconds.append(time.monotonic() - begun)
    value = statistics.median(seconds)
    return context.row(_DISCOVER, value, "s", reference=_goal(1.0, "s", False), ratio=1.0 / value, boards=BOARDS,
                       repeat=repeat)  # fmt: skip


def _hotplug(context: Context, repeat: int) -> Row:
    """From the cable of a fourth board to its first result, while a job runs on three."""
    seconds = [_plugged() for _ in range(repeat)]
    value = statistics.median(seconds)
    return context.row(_HOTPLUG, value, "s", reference=_goal(2.0, "s", False), ratio=2.0 / value, boards=4,
                       repeat=repeat)  # fmt: skip


def _plugged() -> float:
    role = _image(1_000_000)
    with Lan(4) as lan, tempfile.TemporaryDirectory(prefix="gossamer-shell-") as name, on_lan(lan, 4) as boards:
        state = Path(name) / "state.sqlite"
        lan.set_link(4, False)
        made: list[Manager] = []
        failures: list[BaseException] = []
        ready = threading.Event()

        def manage() -> None:
            try:
                with lan.inside(0):
                    made.append(Manager(PORT, dict.fromkeys(boards.macs, KEY), state))
                ready.set()
                made[0].run()
            except BaseException as error:
                failures.append(error)
            finally:
                ready.set()

        thread = threading.Thread(target=manage)
        thread.start()
        ready.wait(30)
        store = Store(state)
        try:
            words = (8192).to_bytes(4, "little") * 4096
            tasks = [({0: 8192, 4: len(words)}, [(8192, words)])] * 20_000
            job = store.submit("bench", role, root_of(role).hex(), 1, 1, 20.0, tasks)
            new = boards.macs[-1]

            def done() -> set[int]:
                return {mac for mac, board in store.boards().items() if board["tasks"]}

            _wait(lambda: done() >= set(boards.macs[:3]), failures, "three boards have no task done")
            if new in done():
                raise RunDied("a board without a cable has done a task")
            begun = time.monotonic()
            lan.set_link(4, True)
            _wait(lambda: new in done(), failures, "the fourth board has no task done")
            took = time.monotonic() - begun
            state_of = next(one["state"] for one in store.jobs() if one["id"] == job)
            if state_of not in ("waiting", "running"):
                raise RunDied(f"the job was {state_of} before the fourth board had joined")
            return took
        finally:
            made[0].stop()
            thread.join()
            store.close()


def _wait(condition: Callable[[], bool], failures: list[BaseException], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        if failures:
            raise failures[0]
        if time.monotonic() > end:
            raise RunDied(f"{what} after 60 s")
        time.sleep(0.01)


def _figure6(context: Context, repeat: int) -> Iterator[Row]:
    """Ours and the three curves of the paper, which measured real boards with 10 Gbit/s."""
    found: list[Row] = []
    for name, count in _FIGURE6.items():
        if not context.wants(name):
            continue
        with Lan(count) as lan:
            value = statistics.median(_configure(lan, count)[0] for _ in range(repeat))
        theirs = paper(count)
        # At one board SAF loses to PCIe.
        saf = {f"paper_{key}_s": seconds for key, seconds in theirs.items()}
        least = min(theirs["pcie_tree"], theirs["pcie_hosts"])
        row = context.row(
            name, value, "s", reference={"what": "SAF, Figure 6", "value": PAPER_ETHERNET, "unit": "s"},
            ratio=PAPER_ETHERNET / value, boards=count, bytes=BYTES, repeat=repeat, **saf,
            paper_saf_over_pcie=round(least / PAPER_ETHERNET, 2),
        )  # fmt: skip
        found.append(row)
        yield row
    _page.write(PAGE, found, paper, BOARDS)


__all__ = ["NAMES", "paper", "rows"]
