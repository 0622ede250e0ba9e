# SPDX-License-Identifier: Apache-2.0
"""What tile and board cost without multicast, with local multicast, and with multicast routers as well.

ALUTs of a Cyclone V, by Yosys, with the parameters of `de5`: each part by itself, and a board as their sum. A board's
MACs and controllers of DRAM and SRAM are not in it; the papers' are. Without local multicast there are no barriers
that compute either, since both use masks. Switch and multicast router also as cells of an ECP5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gossamer import config as configs
from gossamer.bench import Context, Reference, Row
from gossamer.config import Config
from gossamer.hdl import sources, synth

HERE = Path(__file__).parent
CONFIG = "de5"
# By the multicast paper's Figure 6, in ALMs, of two ALUTs each.
_PAPER = {"unicast": 155_935, "local": 173_718, "distributed": 197_445}
_WITH = {"unicast": "without multicast", "local": "with local multicast", "distributed": "with multicast routers too"}
TILES = {kind: f"area.tile-{kind}.cyclonev" for kind in ("unicast", "local")}
BOARDS = {kind: f"area.board-{kind}.cyclonev" for kind in _PAPER}
ECP5_CONFIG = "ecp5"
_ECP5 = {"switch": "area.switch.ecp5", "multicast": "area.multicast.ecp5"}
_ECP5_PARTS = {
    # block: its top, and modules that are synthesised by themselves
    "switch": ("area_switch", ("gs_switch_ingress", "gs_switch_egress")),
    "multicast": ("gs_multicast", ("gs_multicast_engine", "gs_channel_buffer")),
}
NAMES = (*TILES.values(), *BOARDS.values(), *_ECP5.values())
GROUPS = ("test", "rtl", "synth")


@dataclass(frozen=True)
class Part:
    """A module, its parameters, and how many a board has."""

    top: str
    lists: tuple[str, ...]
    count: int
    parameters: Mapping[str, int]
    more: tuple[Path, ...] = ()

    def luts(self, config: Config) -> synth.LutReport:
        """Kept by content."""
        return synth.luts(self.top, sources.blocks(*self.lists, config=config) + self.more, "cyclonev", self.parameters)


def parts(config: Config, kind: str) -> dict[str, Part]:
    """All parts of a board, by name."""
    exits, links = config.router.mesh_ports, len(config.links.names)
    routers = exits + links + 1
    rooms = config.memory.dram.count
    # Records are one more reader of the first DRAM.
    caches = config.cache.caches_per_dram
    keyed = kind == "distributed"
    found = {
        "tile": Part("gs_tile", ("tile",), config.tiles, {"Multicast": int(kind != "unicast")}),
        "mesh router": Part("gs_mesh_router", ("noc/router.f",), config.tiles, {}),
        "tile's port of the mesh": Part("gs_mesh_local", ("noc/mesh.f",), config.tiles, {}),
        "memory": Part("area_memory", ("tile", "memory"), rooms - keyed, {"Ports": caches}, (HERE / "area_memory.sv",)),
        "switch": Part("area_switch", ("switch",), 1, {}, (HERE / "area_switch.sv",)),
        "link": Part("gs_link", ("link",), links, {}),
        "link's ingress": Part("gs_link_ingress", ("switch",), links, {}),
        "link's egress": Part("gs_link_egress", ("switch",), links, {}),
        "control unit": Part(
            "gs_board_control",
            ("tile", "board/fabric.f"),
            1,
            {"Links": links, "Ports": exits + links + 2, "Routers": routers, "HostPort": exits + links + 1},
        ),
        "host's port": Part("gs_host_port", ("tile", "board/fabric.f"), 1, {}),
        "idle detection": Part("gs_board_job", ("tile", "board/fabric.f"), 1, {"Links": links, "Routers": routers}),
    }
    if keyed:
        found["memory with records"] = Part(
            "area_memory", ("tile", "memory"), 1, {"Ports": caches + 1}, (HERE / "area_memory.sv",)
        )
        found["multicast router"] = Part("gs_multicast", ("multicast",), exits + 1, {"Vcs": 1})
        found["multicast router of a link"] = Part("gs_multicast", ("multicast",), links, {"Vcs": 2})
    return found


def measure(context: Context) -> Iterator[Row]:
    """Each row as synthesis ends, which takes an hour the first time; results are kept by content."""
    config = configs.load(CONFIG)
    for kind, name in TILES.items():
        if context.wants(name):
            report = parts(config, kind)["tile"].luts(config)
            yield context.row(
                name,
                float(report.luts),
                "ALUTs",
                # All of a board, its memory and links with it: no ratio.
                reference=_paper(kind, config.tiles, "a sixteenth of all of Tinsel's board"),
                configuration=CONFIG,
                multicast=_WITH[kind],
                **_rest(report),
            )
    for kind, name in BOARDS.items():
        if context.wants(name):
            yield _board(context, name, kind, config)
    for block, name in _ECP5.items():
        if context.wants(name):
            yield _alone(context, name, block)


def _rest(report: synth.LutReport) -> dict[str, Any]:
    return {"ffs": report.ffs, "block_rams": report.block_rams, "dsps": report.dsps}


def _paper(kind: str, share: int, what: str) -> Reference:
    alms = _PAPER[kind]
    return {
        "what": f"{what} {_WITH[kind]}: {alms:,} ALMs of a Stratix V a board, two ALUTs each",
        "value": 2 * alms / share,
        "unit": "ALUTs",
    }


def _board(context: Context, name: str, kind: str, config: Config) -> Row:
    reports = {what: (part.count, part.luts(config)) for what, part in parts(config, kind).items()}
    total = sum(count * report.luts for count, report in reports.values())
    return context.row(
        name,
        float(total),
        "ALUTs",
        reference=_paper(kind, 1, "Tinsel's board"),
        ratio=2 * _PAPER[kind] / total,
        configuration=CONFIG,
        multicast=_WITH[kind],
        ffs=sum(count * report.ffs for count, report in reports.values()),
        block_rams=sum(count * report.block_rams for count, report in reports.values()),
        dsps=sum(count * report.dsps for count, report in reports.values()),
        parts={what: {"count": count, "aluts": report.luts} for what, (count, report) in reports.items()},
        left_out="MACs, controllers of DRAM and SRAM",
    )


def _alone(context: Context, name: str, block: str) -> Row:
    """Cells by Yosys. What a block has several of is synthesised by itself: the whole switch takes 20 minutes."""
    config = configs.load(ECP5_CONFIG)
    top, apart = _ECP5_PARTS[block]
    part = {one.top: one for one in parts(config, "distributed").values()}[top]
    files = sources.blocks(*part.lists, config=config) + part.more
    report = synth.luts(top, files, "ecp5", part.parameters, apart=apart)
    about: dict[str, Any] = dict(part.parameters)
    return context.row(
        name,
        float(report.luts),
        "cells",
        configuration=config.name,
        part="ECP5, counted by Yosys",
        by_themselves=list(apart),
        **about,
        **_rest(report),
    )


__all__ = ["GROUPS", "NAMES", "measure"]
