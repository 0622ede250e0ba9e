# SPDX-License-Identifier: Apache-2.0
"""PTRANS on 1 to 20 simulated boards: strong and weak scaling, from the broadcast that starts all boards to the end of
the last one with its arguments loaded before, and end to end.

Twenty boards on one machine share its processors, so the native role waits until the hardware's cycles have passed at
100 MHz (examples/ptrans/ptrans.c; tests/rtl/role compares the cycles with the hardware's). The scaling that is measured
is thus that of protocol, start and results over a real time of the role, not that of the machine's processors. The
memory of the model has no refresh and no page misses. Each board repeats its part, so that the run of one board takes
about eight seconds; NumPy checks all of C.
"""

from __future__ import annotations

import contextlib
import itertools
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gossamer.bench import Context, Reference, Row, page
from gossamer.errors import InputError
from gossamer.paths import BUILD
from gossamer.shell import Host, _build, mac_text, ptrans

COUNTS = (1, 2, 4, 8, 12, 16, 20)
ROWS, COLUMNS = 7680, 480
"""Of C in strong scaling: a multiple of all numbers of boards, in tiles."""
BLOCK = 384
"""Rows of each board, and columns, of weak scaling."""
SECONDS = {"strong": 8.0, "weak": 1.0}
"""Modelled time of one board."""
LEAST = {"strong": 18.0, "weak": 19.0}
BOUNDED = tuple(f"ptrans.{how}.20" for how in LEAST)
CURVES = tuple(f"ptrans.{how}.{boards}" for how in LEAST for boards in COUNTS[1:-1])
END_TO_END = tuple(f"ptrans.{how}.{boards}.end-to-end" for how in LEAST for boards in COUNTS[1:])
NAMES = (*CURVES, *BOUNDED, *END_TO_END)
PAGE = BUILD / "bench" / "shell-ptrans.html"
"""Where the curves of SAF's Figure 7 are drawn."""
_FIRST_MAC = 0x02_67_73_00_00_00
_KEY = bytes(32)
_REPEATS = 3
_NUMBERS = itertools.count(1)


@contextlib.contextmanager
def boards(count: int, memory: int) -> Iterator[tuple[Host, list[int]]]:
    """Simulated boards that have the role of PTRANS and sessions, and their host."""
    programs = _build.folder()
    with tempfile.TemporaryDirectory(prefix="gossamer-bench-") as name, contextlib.ExitStack() as stack:
        socket = str(Path(name) / "switch")
        switch = subprocess.Popen([programs / "shell_switch", socket], stdout=subprocess.PIPE, text=True)
        assert switch.stdout is not None
        stack.callback(_end, switch)
        if switch.stdout.readline() != "ready\n":
            raise InputError("the simulated switch has not started")
        macs = [_FIRST_MAC + number for number in range(1, count + 1)]
        for mac in macs:
            words = ["--port", socket, "--mac", mac_text(mac), "--key", _KEY.hex(), "--memory", str(memory)]
            stack.callback(_end, subprocess.Popen([programs / "shell_twin", *words]))
        host = stack.enter_context(Host(socket, dict.fromkeys(macs, _KEY)))
        host.discover(1.0)
        for mac in macs:
            host.open(mac, lease=3600.0)  # boards that have no part wait for long
        failed = [mac for mac, (status, _) in host.configure(macs, ptrans.role()).items() if status != "ok"]
        if failed:
            raise InputError(f"{len(failed)} of {count} boards have not loaded the role")
        yield host, macs


def _end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def measure(host: Host, macs: Sequence[int], how: str, count: int, repeats: int) -> ptrans.Run:
    """The least of each time, on the first ``count`` boards. Raises InputError if C is not NumPy's.

    Boards and host share a few processors, and other processes on them only ever add time.
    """
    rows, columns = (ROWS, COLUMNS) if how == "strong" else (BLOCK * count, BLOCK)
    a, b = ptrans.matrices(rows, columns, seed=count)
    found = []
    for _ in range(repeats):
        found.append(ptrans.run(host, macs[:count], a, b, repeat=passes(how), number=next(_NUMBERS)))
        if wrong := ptrans.check(a, b, found[-1].result):
            raise InputError(f"PTRANS on {count} boards: {wrong} elements are wrong")
    return ptrans.Run(
        written=min(run.written for run in found),
        executed=min(run.executed for run in found),
        fetched=min(run.fetched for run in found),
        cycles=found[0].cycles,
        result=found[0].result,
    )


def passes(how: str) -> int:
    """How often each board repeats its part."""
    return round(SECONDS[how] * ptrans.CLOCK_HZ / (ROWS * COLUMNS if how == "strong" else BLOCK * BLOCK))


def rows(context: Context, *, path: Path = PAGE) -> Iterator[Row]:
    """The rows asked for; the page if any."""
    if not any(context.wants(name) for name in NAMES):
        return
    repeats = context.repeat or _REPEATS
    memory = ptrans.Part(0, ROWS, COLUMNS).memory_bytes
    shown: list[Row] = []
    with boards(COUNTS[-1], memory) as (host, macs):
        for how in LEAST:
            wanted = [
                count
                for count in COUNTS[1:]
                if context.wants(f"ptrans.{how}.{count}") or context.wants(f"ptrans.{how}.{count}.end-to-end")
            ]
            if not wanted:
                continue
            single = measure(host, macs, how, 1, repeats)
            for count in wanted:
                run = measure(host, macs, how, count, repeats)
                for row in _rows(context, how, count, single, run, repeats):
                    shown.append(row)
                    yield row
    draw(path, shown)


def _rows(context: Context, how: str, count: int, single: ptrans.Run, run: ptrans.Run, repeats: int) -> Iterator[Row]:
    scale = count if how == "weak" else 1
    gain = scale * single.executed / run.executed
    whole = scale * single.total / run.total
    # The host writes and reads one board after the other, so these times do not scale.
    about: dict[str, Any] = {
        "boards": count,
        "scaling": how,
        "elements": run.result.size,
        "repetitions": passes(how),
        "runs": repeats,
        "role_time": "modelled: cycles of the hardware at 100 MHz, waited for by the native role",
        "clock_hz": ptrans.CLOCK_HZ,
        "cycles": max(run.cycles),
        "seconds": {"written": run.written, "executed": run.executed, "fetched": run.fetched},
        "seconds_1": {"written": single.written, "executed": single.executed, "fetched": single.fetched},
        "overhead_s": run.executed - max(run.cycles) / ptrans.CLOCK_HZ,
    }
    if context.wants(name := f"ptrans.{how}.{count}"):
        if count == COUNTS[-1]:
            least: Reference = {"what": "at least", "value": LEAST[how], "unit": "times"}
            yield context.row(name, gain, "times", reference=least, ratio=gain / LEAST[how], **about)
        else:
            linear: Reference = {"what": "linear", "value": float(count), "unit": "times"}
            yield context.row(name, gain, "times", reference=linear, ratio=gain / count, **about)
    if context.wants(name := f"ptrans.{how}.{count}.end-to-end"):
        # Without any overhead of the boards, the host would still write and read for this long.
        bound = scale * single.total / (run.written + run.fetched + max(run.cycles) / ptrans.CLOCK_HZ)
        limit: Reference = {"what": "bound of host and transfer", "value": bound, "unit": "times"}
        yield context.row(name, whole, "times", reference=limit, ratio=whole / bound, **about)


def draw(path: Path, rows: Sequence[Row]) -> None:
    """Writes the page of the rows."""
    page.prepare()
    table = [["row", "times", "reference", "written s", "executed s", "fetched s"]]
    for row in rows:
        assert row.value is not None and row.reference is not None
        seconds = row.config["seconds"].values()
        about = f"{row.reference['what']} {row.reference['value']:.2f}"
        table.append([row.name, f"{row.value:.2f}", about, *(f"{one:.3f}" for one in seconds)])
    words = (
        "PTRANS on simulated boards, relative to one board. The role's time is modelled: the cycles of the hardware at "
        "100 MHz, which each board waits for. From the broadcast that starts all boards to the end of the last one, "
        "the curve is almost linear, as in SAF's Figure 7, which has no figures. End to end, one host writes the "
        "matrices to one board after the other and reads the result; the bound is that time and the cycles alone."
    )
    page.write(path, "PTRANS on 1 to 20 boards", words, figure(rows), table)


def figure(rows: Sequence[Row]) -> Any:
    """The picture, of matplotlib: strong and weak scaling."""

    picture = page.figure(10, 4.5)
    for axes, how in zip(picture.subplots(1, 2), LEAST, strict=True):
        axes.plot((1, COUNTS[-1]), (1, COUNTS[-1]), "k:", label="linear")
        for whole, style, label in (
            (False, "o-", "broadcast start to last end"),
            (True, "s-", "end to end"),
        ):
            of = [r for r in rows if r.config["scaling"] == how and r.name.endswith("end-to-end") == whole]
            counts = [1, *(row.config["boards"] for row in of)]
            axes.plot(counts, [1.0, *(row.value for row in of)], style, label=label, markersize=4)
            if whole:
                limits = [1.0, *(row.reference["value"] if row.reference else None for row in of)]
                axes.plot(counts, limits, color="#cccccc", linewidth=6, zorder=1, label="bound of host and transfer")
        axes.set(xlabel="boards", ylabel="times as fast as one board", title=f"{how} scaling", ylim=(0, None))
        axes.set_xticks(COUNTS)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return picture


__all__ = ["COUNTS", "NAMES", "boards", "draw", "figure", "measure", "passes", "rows"]
