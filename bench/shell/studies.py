# SPDX-License-Identifier: Apache-2.0
"""SAF's Tables II to IV, recomputed from the prices, powers and times that the paper states, with the paper's figures
as references. Nothing here is measured.

Table II: a board costs 749.99 USD and a host 1,099.99; Noctua has a host for each board, ESSPER one for two boards. At
20 boards the paper prints 20 hosts for ESSPER, and the cost of 10. Switches and network cards are not in the table.

Table III: four boards work for ten hours, and four more may join. A cluster must start over to use them, or goes on
without them, whichever is shorter. A board has 22 mW of static and 46 mW of dynamic power; SAF adds 10 mW to keep the
waiting boards configurable. The paper does not say whether that is for all four or for each; its energies are those of
10 mW in all. Neither reading has the static power of the waiting boards, so the rows have a third energy with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gossamer.bench import Context, Row, page
from gossamer.paths import BUILD

BOARD_USD, HOST_USD = 749.99, 1099.99
TABLE2 = {
    1: (1849.98, 1849.98, 1849.98, 0.0),
    2: (3699.96, 2599.97, 2599.97, 0.0),
    4: (7399.92, 5199.94, 4099.95, 21.15),
    8: (14799.84, 10399.88, 7099.91, 31.73),
    12: (22199.76, 15599.82, 10099.87, 35.26),
    16: (29599.68, 20799.76, 13099.83, 37.02),
    20: (36999.60, 25999.70, 16099.79, 38.08),
}
"""By boards, the paper's costs of Noctua, ESSPER and SAF in USD, and SAF's savings in percent."""
BASE, ADDED, HOURS = 4, 4, 10.0
STATIC_W, DYNAMIC_W, WAITING_W = 0.022, 0.046, 0.010
TABLE3 = {
    0: (5.0, 9.79, 5.0, 9.79, 0.0, 0.0),
    10: (6.0, 10.77, 5.5, 9.83, 8.33, 8.74),
    20: (7.0, 11.75, 6.0, 9.86, 14.29, 16.05),
    30: (8.0, 12.73, 6.5, 9.90, 18.75, 22.23),
    40: (9.0, 13.71, 7.0, 9.94, 22.22, 27.53),
    50: (10.0, 9.79, 7.5, 9.97, 25.0, -1.82),
    60: (10.0, 9.79, 8.0, 10.01, 20.0, -2.23),
    70: (10.0, 9.79, 8.5, 10.04, 15.0, -2.53),
    80: (10.0, 9.79, 9.0, 10.08, 10.0, -2.94),
    90: (10.0, 9.79, 9.5, 10.12, 5.0, -3.35),
    100: (10.0, 9.79, 10.0, 9.79, 0.0, 0.0),
}
"""By percent completed, the paper's hours and kJ of a cluster and of SAF, and its reductions of both in percent."""
TABLE4 = {
    "ALMs": (43_994, 49_861),
    "registers": (85_173, 99_579),
    "memory bits": (6_111_846, 7_155_056),
}
"""By resource, the vendor's shell with PTRANS, and SAF's shell with it: the difference is what SAF adds."""
_COSTS = {f"study.cost.{boards}": boards for boards in TABLE2}
_TIMES = {f"study.time.{percent}": percent for percent in TABLE3}
_ENERGIES = {f"study.energy.{percent}": percent for percent in TABLE3}
_AREAS = {f"study.saf-adds.{what.replace(' ', '-')}": what for what in TABLE4}
NAMES = (*_COSTS, *_TIMES, *_ENERGIES, *_AREAS)
PAGE = BUILD / "bench" / "shell-studies.html"
"""Where the figures are drawn."""


def cost(boards: int, hosts: int) -> float:
    """USD of boards and hosts."""
    return boards * BOARD_USD + hosts * HOST_USD


def hosts(boards: int) -> dict[str, int]:
    """Hosts of each architecture."""
    return {"Noctua": boards, "ESSPER": -(-boards // 2), "SAF": 1}


def times(percent: int) -> tuple[float, float, bool]:
    """Hours of a cluster and of SAF if boards are added at ``percent`` of the work; whether the cluster starts over."""
    before = HOURS * percent / 100
    again = before + HOURS * BASE / (BASE + ADDED)
    return min(again, HOURS), before + (HOURS - before) * BASE / (BASE + ADDED), again < HOURS


def energies(percent: int) -> tuple[float, dict[str, float]]:
    """kJ of a cluster, and of SAF by what the waiting boards use."""
    cluster_h, saf_h, again = times(percent)
    before = HOURS * percent / 100
    power = STATIC_W + DYNAMIC_W
    few, all_of_them = 3.6 * power * BASE, 3.6 * power * (BASE + ADDED)
    cluster = few * before + all_of_them * (cluster_h - before) if again else few * HOURS
    working = few * before + all_of_them * (saf_h - before)
    # At 100 %, no boards are added.
    waits = before if percent < 100 else 0.0
    return cluster, {
        "10 mW in all": working + 3.6 * WAITING_W * waits,
        "10 mW per board": working + 3.6 * WAITING_W * ADDED * waits,
        "10 mW in all, and static power": working + 3.6 * (WAITING_W + STATIC_W * ADDED) * waits,
    }


def rows(context: Context, *, path: Path | None = PAGE) -> Iterator[Row]:
    """The rows asked for, and the page if it has a path."""
    for name, boards in _COSTS.items():
        if context.wants(name):
            yield _cost(context, name, boards)
    for name, percent in _TIMES.items():
        if context.wants(name):
            yield _time(context, name, percent)
    for name, percent in _ENERGIES.items():
        if context.wants(name):
            yield _energy(context, name, percent)
    for name, what in _AREAS.items():
        if context.wants(name):
            before, after = TABLE4[what]
            yield context.row(
                name, float(after - before), what, vendor_shell=before, saf_shell=after,
                share_of_vendor_shell=(after - before) / before,
            )  # fmt: skip
    if path is not None:
        draw(path)


def _cost(context: Context, name: str, boards: int) -> Row:
    count = hosts(boards)
    usd = {who: round(cost(boards, of), 2) for who, of in count.items()}
    saved = 100 * (1 - usd["SAF"] / min(usd["Noctua"], usd["ESSPER"]))
    paper = dict(zip(("Noctua", "ESSPER", "SAF"), TABLE2[boards], strict=False))
    more: dict[str, Any] = {"paper_prints_hosts": {"ESSPER": 20}} if boards == 20 else {}
    return context.row(
        name, saved, "% less", reference={"what": "paper", "value": TABLE2[boards][3], "unit": "%"},
        boards=boards, hosts=count, usd=usd, paper_usd=paper, **more,
    )  # fmt: skip


def _time(context: Context, name: str, percent: int) -> Row:
    cluster, saf, again = times(percent)
    paper = TABLE3[percent]
    return context.row(
        name, saf, "h", reference={"what": "paper", "value": paper[2], "unit": "h"}, cluster_h=cluster,
        paper_cluster_h=paper[0], reduction=100 * (1 - saf / cluster), paper_reduction=paper[4],
        cluster_starts_over=again,
    )  # fmt: skip


def _energy(context: Context, name: str, percent: int) -> Row:
    cluster, saf = energies(percent)
    paper = TABLE3[percent]
    return context.row(
        name, saf["10 mW in all"], "kJ", reference={"what": "paper", "value": paper[3], "unit": "kJ"},
        cluster_kj=cluster, paper_cluster_kj=paper[1], saf_kj=saf,
        reduction={how: 100 * (1 - kj / cluster) for how, kj in saf.items()}, paper_reduction=paper[5],
    )  # fmt: skip


def draw(path: Path) -> None:
    """Writes the page."""
    page.prepare()
    table = [["boards", "Noctua USD", "ESSPER USD", "SAF USD", "saved", "paper"]]
    for boards, paper in TABLE2.items():
        usd = {who: cost(boards, of) for who, of in hosts(boards).items()}
        saved = 100 * (1 - usd["SAF"] / min(usd["Noctua"], usd["ESSPER"]))
        table.append([str(boards), *(f"{one:,.2f}" for one in usd.values()), f"{saved:.2f} %", f"{paper[3]:.2f} %"])
    table.append(["completed", "cluster h", "SAF h", "cluster kJ", "SAF kJ (in all / per board)", "paper kJ"])
    for percent, printed in TABLE3.items():
        cluster, saf, _ = times(percent)
        kj, of = energies(percent)
        both = f"{of['10 mW in all']:.2f} / {of['10 mW per board']:.2f}"
        table.append([f"{percent} %", f"{cluster:g}", f"{saf:g}", f"{kj:.2f}", both, f"{printed[3]:.2f}"])
    words = (
        "SAF's Tables II and III, recomputed from the prices and powers that the paper states; crosses are the figures "
        "that it prints. Table IV: SAF adds "
        + ", ".join(f"{after - before:,} {what}" for what, (before, after) in TABLE4.items())
        + " to the vendor's shell."
    )
    page.write(path, "SAF's tables", words, figure(), table)


def figure() -> Any:
    """The picture, of matplotlib: costs, times, energies."""

    picture = page.figure(12, 4)
    costs, hours, energy = picture.subplots(1, 3)
    colours = {"Noctua": "#c9772b", "ESSPER": "#4f9d69", "SAF": "#2171b5"}
    for number, (who, colour) in enumerate(colours.items()):
        costs.plot(list(TABLE2), [cost(n, hosts(n)[who]) / 1000 for n in TABLE2], "-", color=colour, label=who)
        costs.plot(list(TABLE2), [paper[number] / 1000 for paper in TABLE2.values()], "x", color=colour)
    costs.set(xlabel="boards", ylabel="thousands of USD", title="Table II: boards and hosts", ylim=(0, None))
    costs.set_xticks(list(TABLE2))
    percents = list(TABLE3)
    hours.plot(percents, [times(p)[0] for p in percents], "-", color=colours["Noctua"], label="cluster")
    hours.plot(percents, [times(p)[1] for p in percents], "-", color=colours["SAF"], label="SAF")
    hours.plot(percents, [paper[0] for paper in TABLE3.values()], "x", color=colours["Noctua"])
    hours.plot(percents, [paper[2] for paper in TABLE3.values()], "x", color=colours["SAF"])
    hours.set(xlabel="percent completed when boards are added", ylabel="hours", title="Table III: time", ylim=(0, None))
    energy.plot(percents, [energies(p)[0] for p in percents], "-", color=colours["Noctua"], label="cluster")
    for how, style in zip(energies(50)[1], ("-", "--", ":"), strict=True):
        energy.plot(percents, [energies(p)[1][how] for p in percents], style, color=colours["SAF"], label=f"SAF, {how}")
    energy.plot(percents, [paper[1] for paper in TABLE3.values()], "x", color=colours["Noctua"])
    energy.plot(percents, [paper[3] for paper in TABLE3.values()], "x", color=colours["SAF"])
    energy.set(xlabel="percent completed when boards are added", ylabel="kJ", title="Table III: energy", ylim=(9, 17))
    for axes in (costs, hours, energy):
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
    return picture


__all__ = ["NAMES", "cost", "draw", "energies", "figure", "hosts", "rows", "times"]
