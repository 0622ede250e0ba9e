# SPDX-License-Identifier: Apache-2.0
"""``./gossamer run APP --engine rtl``: what the words ask of the simulated hardware, and what is shown of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from gossamer.cli import _program_report
from gossamer.cli._program_arguments import Request
from gossamer.errors import InputError

if TYPE_CHECKING:
    from gossamer.engines.rtl_vertices import Hardware

HELP = """Options of --engine rtl, beside those:
  -c, --config NAME     configuration of the board: a name or a file (default quad)
      --cluster NAME    all boards of a cluster: a name (pair, quad4, ...) or a file
      --mapping NAME    how vertices are mapped to threads: metis (default), kahypar,
                        bfs, random, direct
      --multicast NAME  local (default): one message to all threads of a tile that
                        have receivers; none: one message to each thread; full: as
                        local, and one for all on other boards, copied by routers
      --max-steps N     give up after so many steps
      --max-cycles N    give up after so many cycles
      --watchdog N      give up after so many cycles without an instruction
      --workers N       threads of this machine that simulate
      --report FILE     write a page (HTML): figures, maps of tiles and links by use
      --trace FILE, --trace-size MB, --least-wait N, --waves FILE, --tile X,Y,
      --routes FILE, --frame-loss RATE, --cut LINK@CYCLE, --seed N: as for programs
                        (./gossamer run prog.c --help)
"""


class Asked:
    """The hardware that the words ask for. Raises InputError for what is wrong with them."""

    def __init__(self, app: str, options: Mapping[str, Sequence[str]]) -> None:
        from gossamer import mapper
        from gossamer.engines import rtl, rtl_cluster, rtl_vertices

        self._request = request = Request(programs=[app], options={name: list(got) for name, got in options.items()})
        request.config = rtl_vertices.CONFIG
        self._page = request.file("report")
        waves = request.file("waves")
        if waves is not None and waves.suffix != ".fst":
            raise InputError(f"{waves}: waves are written as FST; give a name that ends with .fst")
        config, cluster = request.hardware()
        for name in ("routes", "frame-loss", "cut", "seed"):
            if name in request.options and cluster is None:
                raise InputError(f"--{name}: is for clusters; name one with --cluster")
        settings = request.views(waves, request.file("trace"))
        settings |= {"workers": request.number("workers", 1), "tile": request.tile(config, cluster)}
        plan = None
        if cluster is not None:
            tables = request.one("routes")
            plan = rtl_cluster.Plan(cluster, rtl_cluster.read_tables(cluster, tables) if tables else None)
            cut, seed = request.options.get("cut", []), request.number("seed", 0)
            rtl_cluster.cuts(plan, cut)
            settings |= {"frame_loss": request.share("frame-loss"), "cut": cut, "seed": 1 if seed is None else seed}
        watchdog = request.number("watchdog", 0)
        self._progress = _Progress(app)
        self.engine: Hardware = rtl_vertices.Hardware(
            config=config,
            plan=plan,
            mapping=request.one_of("mapping", mapper.METHODS),
            multicast=request.one_of("multicast", rtl_vertices.MULTICAST),
            max_steps=request.number("max-steps", 1) or 0,
            max_cycles=request.number("max-cycles", 1),
            watchdog=rtl.WATCHDOG if watchdog is None else watchdog,
            settings=settings,
            on_phase=self._progress.show,
        )

    def show(self) -> None:
        """What a run has left to be seen, after its end however it ended."""
        self._progress.clear()
        for note in self.engine.notes:
            click.echo(note, err=True)
        if self._page is not None and self.engine.done is not None:
            _program_report.write(
                self._request, self.engine.machine.config, self.engine.done, self.engine.simulated, self._page
            )


class _Progress:
    """A line on a terminal: what is being done, and how much of it is."""

    def __init__(self, app: str) -> None:
        self._app = app
        self._shown = False
        self._last = 0.0

    def show(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if not sys.stderr.isatty() or now - self._last < 0.1:
            return
        self._last, self._shown = now, True
        how_far = f"{done:,} of {total:,}" if total else f"{done:,}"
        sys.stderr.write(f"\r{self._app}: {what} {how_far} \x1b[K")
        sys.stderr.flush()

    def clear(self) -> None:
        """Takes the line away."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            self._shown = False


__all__ = ["HELP", "Asked"]
