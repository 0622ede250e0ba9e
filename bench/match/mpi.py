# SPDX-License-Identifier: Apache-2.0
"""Rows ``mpi.*``: what MPI costs on the overlay, counted by its own threads on a simulated board."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from gossamer.bench import Context, Reference, Row
from gossamer.errors import RunDied
from gossamer.paths import ROOT

ISEND = "mpi.isend-instr"
RECV = "mpi.recv-instr"
PINGPONG = "mpi.pingpong-cycles"
BANDWIDTH = "mpi.bandwidth-share"
NAMES = (ISEND, RECV, PINGPONG, BANDWIDTH)
GROUPS = ("core", "rtl")
CONFIG, ENGINES = "tiny-mpi", "tiny-match"
"""Boards whose ranks match in software, and with engines."""
_CLUSTERS = {CONFIG: "mpi4", ENGINES: "match4"}
MESSAGE = 1 << 20
"""Bytes of the long message."""
_PROGRAMS = ROOT / "bench" / "match" / "programs"


def measure(context: Context) -> Iterator[Row]:
    """Each row asked for."""
    if context.wants(ISEND):
        lines = _lines("isend.c", r"(\d+) (\d+) (\d+)", "--config", CONFIG)
        found = {int(size): (int(own), int(full)) for size, own, full in lines}
        own, full = found[4]
        yield context.row(
            ISEND,
            own,
            "instructions",
            reference={"what": "MPICH, average of an MPI_Isend", "value": 253.0, "unit": "instructions"},
            ratio=253.0 / own,
            configuration=CONFIG,
            bytes=4,
            with_arguments=full,
            by_bytes={str(size): value for size, (value, _) in found.items()},
            most=60,
        )
    if context.wants(RECV):
        counts = {config: dict(_lines("recv.c", r"(\d+) (\d+)", "--config", config)) for config in _CLUSTERS}
        yield context.row(
            RECV,
            int(counts[ENGINES]["4"]),
            "instructions",
            configuration=ENGINES,
            bytes=4,
            by_bytes={size: int(value) for size, value in counts[ENGINES].items()},
            in_software={size: int(value) for size, value in counts[CONFIG].items()},
        )
    if context.wants(PINGPONG):
        cycles = {
            config: dict(_lines("pingpong.c", r"(\d+) bytes: (\d+) cycles", "--cluster", cluster))
            for config, cluster in _CLUSTERS.items()
        }
        from gossamer import config as configs

        yield context.row(
            PINGPONG,
            int(cycles[ENGINES]["4"]),
            "cycles",
            configuration=ENGINES,
            cluster=_CLUSTERS[ENGINES],
            bytes=4,
            by_bytes={size: int(value) for size, value in cycles[ENGINES].items()},
            in_software={size: int(value) for size, value in cycles[CONFIG].items()},
            flights=2 * configs.load(ENGINES).links.flight_cycles,
        )
    if context.wants(BANDWIDTH):
        yield _bandwidth(context)


def _bandwidth(context: Context) -> Row:
    """One message of a megabyte between two boards, from the call of MPI_Send to the answer that it has come."""
    from gossamer import config as configs

    config = configs.load(ENGINES)
    where = ("--cluster", _CLUSTERS[ENGINES])
    ((_, cycles),) = _lines("bandwidth.c", r"(\d+) bytes: (\d+) cycles", *where, arguments=(str(MESSAGE),))
    line = config.link_bits_per_kilocycle / 8000
    # docs/hardware/link.md: four flits for a thread take 67 bytes in a row of others, a frame 20 bytes beside them.
    best = line * 64 / 67 * (config.links.frame_bytes - 20) / (config.links.frame_bytes + config.links.overhead_bytes)
    rate = MESSAGE / int(cycles)
    beside: Reference = {"what": "packets of 4 flits that fill a link", "value": best, "unit": "bytes a cycle"}
    return context.row(
        BANDWIDTH,
        rate / best,
        "of a link's payload",
        reference=beside,
        least=0.8,
        configuration=ENGINES,
        cluster=_CLUSTERS[ENGINES],
        bytes=MESSAGE,
        cycles=int(cycles),
        bytes_a_cycle=round(rate, 3),
        of_line_rate=round(rate / line, 3),
    )


def _lines(program: str, form: str, *where: str, arguments: tuple[str, ...] = ()) -> list[Any]:
    """What a program of two ranks writes in a form, as texts; on a cluster each rank has a board."""
    command = [sys.executable, str(ROOT / "gossamer"), "mpi", "run", str(_PROGRAMS / program), "-n", "2"]
    command += ["--engine", "rtl", *where, *(("--", *arguments) if arguments else ())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"{program}: {done.stderr.strip()[-500:]}")
    lines = [found.groups() for line in done.stdout.splitlines() if (found := re.fullmatch(form, line))]
    if not lines:
        raise RunDied(f"{program}: no line of figures in what it wrote: {done.stdout.strip()[-500:]!r}")
    return lines


__all__ = ["GROUPS", "NAMES", "measure"]
