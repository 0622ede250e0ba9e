# SPDX-License-Identifier: Apache-2.0
"""Raw device programs on whole clusters: payload of the links, barriers, steps, and how long a cluster takes to boot.

All links are those of the RTL, with wires that have the cluster's flight and rate; preamble, gap and check sums count.
Clusters of `de5` are large: a row's `took_s` is how long its run took, without the building of the simulator, and
what takes far longer than the rest is measured only with ``--full``.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from gossamer import config as configs
from gossamer import device
from gossamer.bench import Context, Reference, Row
from gossamer.config import Cluster
from gossamer.errors import RunDied
from gossamer.paths import ROOT

from ._run import PROGRAMS, run

SHARE, LOSSY = "links.payload-share", "links.payload-share-lossy"
STEP, SUM, BOOT = "idle.step.3x4", "barrier.sum.3x4", "boot.duo12-s"
BARRIERS = {
    # name: cluster, cycles at most, cycles of the paper's
    "barrier.3x2": ("box", 900.0, 6250.0),
    "barrier.3x4": ("duo12", 1200.0, 9615.0),
    "barrier.6x8": ("rack48", 2600.0, None),
}
LARGEST = "barrier.6x8"
NAMES = (SHARE, LOSSY, *BARRIERS, STEP, SUM, BOOT)
GROUPS = ("test", "rtl")
CLUSTER = "duo12"
COUNT = 32
"""Messages that each thread sends over its link."""
ROUNDS, STEPS = 32, 8
LOSS = 0.01
SECONDS = 60.0
PAPER: Reference = {"what": "Tinsel's links between boards, 4 flits", "value": 32.1 / 42.5, "unit": "of line rate"}


def measure(context: Context) -> Iterator[Row]:
    """Each row as its run ends."""
    for name, least, loss in ((SHARE, 0.85, 0.0), (LOSSY, 0.80, LOSS)):
        if context.wants(name):
            yield _links(context, name, least, loss)
    for name, (named, most, paper) in BARRIERS.items():
        if not context.wants(name):
            continue
        if name == LARGEST and not context.full:
            yield context.skip(name, f"{named} has 768 tiles: an hour; with --full", "cycles", cluster=named)
            continue
        reference: Reference | None = None
        if paper is not None:
            reference = {"what": "Tinsel's, in a loop on tinselIdle", "value": paper, "unit": "cycles"}
        yield _loop(context, name, named, "barrier.c", ROUNDS, (), reference, most=most)
    if context.wants(STEP):
        cluster = configs.load_cluster(CLUSTER)
        yield _loop(context, STEP, CLUSTER, "step.c", STEPS, (), None, most=2200.0, payload_bound=_step_bound(cluster))
    if context.wants(SUM):
        yield _loop(context, SUM, CLUSTER, "barrier.c", ROUNDS, ("SUM",), None, most=1500.0)
    if context.wants(BOOT):
        yield _boot(context)


def _about(cluster: Cluster, began: float) -> dict[str, Any]:
    return {
        "cluster": cluster.name,
        "configuration": cluster.boards[0].config.name,
        "boards": len(cluster.boards),
        "threads": cluster.threads,
        "took_s": round(time.perf_counter() - began, 1),
    }


def _links(context: Context, name: str, least: float, loss: float) -> Row:
    """All links full both ways, by messages of the greatest length."""
    cluster = configs.load_cluster(CLUSTER)
    config = cluster.boards[0].config
    began = time.perf_counter()
    told = run(cluster, "links.c", [f"COUNT={COUNT}"], frame_loss=loss)
    # A quarter of a board's threads sends over each link.
    length = config.mailbox.max_flits * config.mailbox.flit_bytes
    payload = config.threads // 4 * COUNT * length
    share = payload / told.value / (config.link_bits_per_kilocycle / 8000)
    return context.row(
        name,
        share,
        "of line rate",
        reference=PAPER,
        ratio=share * 42.5 / 32.1,
        least=least,
        links=len(cluster.cables),
        cycles=told.value,
        payload_gbs=round(2 * len(cluster.cables) * payload / told.value * config.clock_hz / 1e9, 2),
        message_flits=config.mailbox.max_flits,
        # So many frames are lost on the wire, and as many damaged.
        **({"frames_lost": loss, "frames_damaged": loss} if loss else {}),
        **_about(cluster, began),
    )


def _loop(
    context: Context,
    name: str,
    named: str,
    program: str,
    rounds: int,
    defines: tuple[str, ...],
    reference: Reference | None,
    **more: Any,
) -> Row:
    """Cycles of a round."""
    cluster = configs.load_cluster(named)
    began = time.perf_counter()
    value = run(cluster, program, [f"ROUNDS={rounds}", *defines]).value / rounds
    ratio = reference["value"] / value if reference is not None and reference["value"] is not None else None
    return context.row(
        name, value, "cycles", reference=reference, ratio=ratio, rounds=rounds, **more, **_about(cluster, began)
    )


def _step_bound(cluster: Cluster) -> float:
    """Cycles that the messages' payload alone takes on the wires of the board with the fewest links."""
    config = cluster.boards[0].config
    links = min(len(cluster.neighbours(board.index)) for board in cluster.boards)
    return config.threads * config.mailbox.flit_bytes / (links * config.link_bits_per_kilocycle / 8000)


def _boot(context: Context) -> Row:
    """From the command, as a user types it, to the first instruction, which tells that it has run."""
    cluster = configs.load_cluster(CLUSTER)
    config = cluster.boards[0].config
    shape = (cluster.width or len(cluster.boards), cluster.height or 1)
    # Compiled, and the simulator built, before the time is taken.
    image = device.build(PROGRAMS / "boot.c", config, boards=shape)
    from gossamer.engines.rtl_cluster import Cluster as Simulated

    Simulated(cluster).close()
    command = [sys.executable, str(ROOT / "gossamer"), "run", str(PROGRAMS / "boot.c")]
    began = time.perf_counter()
    child = subprocess.Popen(
        [*command, "--engine", "rtl", "--cluster", CLUSTER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    first = child.stdout.readline()
    seconds = time.perf_counter() - began
    _, said = child.communicate()
    if child.returncode or "emit" not in first:
        raise RunDied(f"boot.c did not end well on {CLUSTER}: exit code {child.returncode}: {said.strip()[-300:]}")
    return context.row(
        BOOT,
        seconds,
        "s",
        reference={"what": "at most", "value": SECONDS, "unit": "s"},
        ratio=SECONDS / seconds,
        most=SECONDS,
        code_bytes=4 * len(image.instructions),
        data_bytes_a_board=sum(part.size for part in image.segments),
        **_about(cluster, began),
    )


__all__ = ["GROUPS", "NAMES", "measure"]
