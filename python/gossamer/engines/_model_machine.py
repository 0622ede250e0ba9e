# SPDX-License-Identifier: Apache-2.0
"""The machine of the timing model: its latencies and rates, the memories of its boards, and the vertex's handlers."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer import builds, mapper
from gossamer.apps.app import failed_at
from gossamer.config import constants
from gossamer.engines import _model_abi as abi
from gossamer.mapper.multicast_tables import BEAT_BYTES, MulticastTables
from gossamer.paths import CONFIG, INCLUDE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from gossamer.apps import App
    from gossamer.config import Config
    from gossamer.engines.rtl_cluster import Plan

TIMING = CONFIG / "model" / "timing.toml"
_SOURCE = """\
// SPDX-License-Identifier: Apache-2.0
// Generated: the handlers of a vertex for the timing model.
#define GOSSAMER_MODEL_VERTEX_HEADER
#include "{header}"
#include <gossamer/model/handlers.h>
GOSSAMER_MODEL_HANDLERS(GossamerVertex)
"""
# Freestanding, as for the hardware's threads: without the application's descriptor.
_FLAGS = ("-std=c++20", "-O3", "-march=native", "-g1", "-fPIC", "-shared", "-ffreestanding", "-ffp-contract=off")


def handlers(app: App) -> ctypes.CDLL:
    """The compiled handlers of an application's vertex. Raises InputError if they do not compile."""
    flags = [*_FLAGS, f"-I{INCLUDE}", *(f"-D{define}" for define in app.defines)]
    tag = builds.tag(str(app.path), *flags)

    def steps(plan: builds.Plan) -> None:
        source = plan.folder / "handlers.cc"
        source.write_bytes(os.fsencode(_SOURCE.format(header=app.path)))
        plan.compile(source, flags, "handlers.so")

    folder = builds.kept(f"model/{builds.plain(app.path.stem)}-{tag}", steps, failed_at(app.path))
    return ctypes.CDLL(str(folder / "handlers.so"))


@functools.cache
def constants_of_timing() -> dict[str, dict[str, float]]:
    """The constants of config/model/timing.toml, by section and name."""
    with open(TIMING, "rb") as file:
        return tomllib.load(file)


def timing(config: Config, **changed: float) -> dict[str, float]:
    """The latencies and rates of a configuration, by the names of ``gs_model_timing``; ``changed`` replaces some."""
    its = constants_of_timing()
    latency, memory, rate, message = its["latency"], its["memory"], its["rate"], its["message"]
    dram, sram, links = config.memory.dram, config.memory.sram, config.links
    clock = config.board.clock_mhz
    command = dram.rate_mts / 2 / clock
    """Command clocks of the DRAM in a cycle."""
    line = config.cache.line_bytes
    transfer = line / (dram.bus_bits / 8 * dram.rate_mts / clock)
    activates = max(dram.faw / 4, dram.rrd) / command if dram.faw else dram.rrd / command
    open_row = (dram.rcd + dram.cl + dram.burst_length / 2) / command
    found = {name: latency[name] for name in abi.TIMING if name in latency}
    found |= {name: memory[name] for name in ("write_back", "sram_write_back")}
    beats = line / dram.port_bytes
    found["port_line"] = beats
    found["dram_miss"] = memory["dram_path"] + dram.controller_latency + open_row
    found["record_read"] = its["router"]["record_path"] + dram.controller_latency + open_row
    found["dram_line"] = max(transfer, activates) / memory["dram_share"]
    found["dram_dirty"] = memory["dram_dirty"]
    found["sram_miss"] = memory["sram_path"] + (sram.read_latency if sram.count else 0)
    for name in ("dram_miss", "sram_miss", "write_back", "sram_write_back"):
        found[name] += beats - 1
    chips = max(1, sram.count // dram.count)
    sram_bytes = 2 * sram.data_bits / 8 * sram.clock_mhz / clock * chips if sram.count else 1.0
    found["sram_line"] = line / sram_bytes / memory["sram_share"]
    found |= {"cache_request": rate["cache_request"], "core_issue": rate["core_issue"], "fpu_request": 1.0, "flit": 1.0}
    found |= {
        "local_message": message["local"], "mesh_message": message["mesh"], "hop": message["hop"],
        "send_busy": message["send_busy"],
    }  # fmt: skip
    barrier, link, run = its["barrier"], its["link"], its["run"]
    found |= {"barrier": barrier["detect"], "release": barrier["release"], "words": barrier["words"]}
    bytes_a_cycle = links.rate_mbps / 8 / clock
    found["link"] = links.flight_cycles + link["latency"]
    found["control_link"] = links.flight_cycles + barrier["link"]
    found |= {"word_link": barrier["word_link"], "again": barrier["again"]}
    found |= {"link_store": link["store"], "board_entry": link["entry"], "key_early": its["router"]["early"]}
    found["link_flit"] = config.mailbox.flit_bytes / bytes_a_cycle / link["share"]
    found["link_frame"] = link["packet_bytes"] / bytes_a_cycle / link["share"]
    found |= {name: run[name] for name in ("begin", "begin_tile", "begin_thread", "end_thread", "end")}
    assert not (unknown := changed.keys() - found.keys()), unknown
    return found | changed


class Memories:
    """The images of all DRAMs and SRAMs, in this process."""

    def __init__(self, tables: mapper.Tables, machine: mapper.Machine, most_steps: int) -> None:
        layout = tables.layout
        count = machine.memories
        self._bytes: list[tuple[int, Any, int, Any]] = []
        self.structs = (abi.Memory * count)()
        base = int(tables.headers.min())
        sram_at, sram_end = machine.sram
        slots = tables.slots
        memory_of = machine.memory_of(np.arange(machine.threads))
        queue = layout.offset * (slots + 1)
        parts = [
            (tables.states_at, layout.state * slots),
            (tables.flags_at, layout.flags * slots),
            (tables.queues_at, queue),
        ]
        low = base // 64 * 64
        for memory in range(count):
            here = memory_of == memory
            ends = [int((at + size)[here].max()) for at, size in parts]
            fast = max([end for end in ends if end <= sram_end], default=sram_at)
            end = base + int(tables.bytes[memory]) + 4096
            end = max([end, *(one for one in ends if one > sram_end)])
            dram, sram = np.zeros(end - low, np.uint8), np.zeros(fast - sram_at + 64, np.uint8)
            self._bytes.append((low, dram, sram_at, sram))
            its = self.structs[memory]
            its.dram_at, its.sram_at = low, sram_at
            its.dram, its.sram = dram.ctypes.data, sram.ctypes.data
            its.dram_bytes, its.sram_bytes = len(dram), len(sram)
        for memory, address, data in tables.images(most_steps):
            # Records of routers are after all that threads access; the model has them in another form.
            if data and (tables.multicast_tables is None or address != tables.multicast_tables.base):
                self._at(memory, address, len(data))[:] = np.frombuffer(data, np.uint8)

    def _at(self, memory: int, address: int, size: int) -> Any:
        low, dram, sram_at, sram = self._bytes[memory]
        at, data = (address - low, dram) if address >= low else (address - sram_at, sram)
        return data[at : at + size]

    def read(self, memory: int, address: int, size: int) -> bytes:
        """Bytes of a memory."""
        return bytes(self._at(memory, address, size))

    @property
    def total(self) -> int:
        """Bytes of all images."""
        return sum(len(dram) + len(sram) for _, dram, _, sram in self._bytes)


def machine_struct(
    machine: mapper.Machine,
    plan: Plan | None,
    layout: mapper.Layout,
    pins: int,
    multicast: bool,
    barriers: int,
    records: Records | None = None,
) -> tuple[abi.Machine, list[Any]]:
    """The struct of a machine, and the arrays that it points to."""
    config, boards = machine.config, machine.boards
    numbers = machine.numbers or tuple(range(boards))
    board_of = np.zeros(1 << 12, np.uint32)
    board_of[list(numbers)] = np.arange(boards)
    next_board = np.zeros((boards, boards), np.uint32)
    next_link = np.zeros((boards, boards), np.uint32)
    depth, start_links = np.zeros(boards, np.uint32), np.zeros(boards, np.uint32)
    links, vcs = 1, 1
    next_vc, far_board, far_link = np.zeros_like(next_board), np.zeros((boards, 1), np.uint32), None
    if plan is not None and boards > 1:
        links, vcs = plan.links, plan.tables.vcs
        far_board, far_link = np.zeros((boards, links), np.uint32), np.zeros((boards, links), np.uint32)
        for at, link, to, there, _ in plan.wires({}):
            far_board[at, link], far_link[at, link] = to, there
        for at in range(boards):
            start_links[at] = len(plan.route(plan.hosts[0], at)) - 1 if at != plan.hosts[0] else 0
            for to in range(boards):
                if at != to:
                    next_board[at, to] = plan.route(at, to)[1]
                    next_link[at, to] = plan.link(at, int(plan.tables.port[at, to]))
                    next_vc[at, to] = plan.tables.vc[at, to]
        tree = plan.tree(plan.middle())
        for board in tree.boards():
            if board in tree.parent:
                depth[board] = depth[tree.parent[board]] + 1
    memories = machine.memories // boards
    its = abi.Machine(
        boards=boards, tiles=machine.board_tiles, width=config.mesh.width, memories=memories,
        threads=machine.tile_threads, cores=machine.tile_threads // config.core.threads_per_core,
        cores_per_cache=config.cache.cores_per_cache, cores_per_fpu=config.fpu.cores_per_fpu,
        ways=config.cache.ways, sets=config.cache.sets_per_thread, line_bytes=config.cache.line_bytes,
        flit_bytes=config.mailbox.flit_bytes, queue_depth=config.mailbox.queue_depth,
        buffer_flits=config.mesh.buffer_flits, inflight=config.cache.inflight,
        # A thread holds two: it sends from one.
        slots=machine.tile_threads * (config.mailbox.slots_per_thread - 2),
        flag_bytes=layout.flags, offset_bytes=layout.offset, edge_bytes=layout.edge, value_at=layout.value,
        list_bytes=layout.list, unit=layout.unit, pins=pins, multicast=int(multicast), barriers=barriers,
        thread_bits=config.log2_threads_per_tile, x_bits=config.log2_mesh_width, y_bits=config.log2_mesh_height,
        host_kind=constants.enumeration("endpoint")["host"],
        board_of=board_of.ctypes.data, numbers=len(board_of), next_board=next_board.ctypes.data,
        next_link=next_link.ctypes.data, links=links, depth=depth.ctypes.data, start_links=start_links.ctypes.data,
        exits=config.router.mesh_ports,
    )  # fmt: skip
    kept = [board_of, next_board, next_link, depth, start_links]
    if records is not None and far_link is not None:
        its.records, its.beats = records.records.ctypes.data, records.beats.ctypes.data
        its.board_beats, its.first_beat = records.board_beats.ctypes.data, records.first
        its.next_vc, its.far_board, its.far_link = (one.ctypes.data for one in (next_vc, far_board, far_link))
        its.vcs = vcs
        kept += [records.records, records.beats, records.board_beats, next_vc, far_board, far_link]
    return its, kept


class Records:
    """The records of all boards' multicast routers, as the timing model reads them."""

    def __init__(self, tables: MulticastTables, config: Config, boards: int) -> None:
        images = dict(tables.images())
        sizes = [len(images.get(board, b"")) // BEAT_BYTES for board in range(boards)]
        halves = np.frombuffer(b"".join(images.get(board, b"") for board in range(boards)), "<u2")
        halves = halves.reshape(-1, BEAT_BYTES // 2)
        self.board_beats = np.append(0, np.cumsum(sizes)).astype(np.uint32)
        """Of each board, its first beat in ``beats``."""
        self.first = (tables.base - constants.value("dram_base")) // BEAT_BYTES
        """The number of a board's first beat in routing keys."""
        kinds = {number: name for name, number in constants.enumeration("route_record").values.items()}
        slots = halves[:, 1:].reshape(len(halves), -1, 3).astype(np.uint64)
        fields = slots[..., 0] | slots[..., 1] << np.uint64(16) | slots[..., 2] << np.uint64(32)
        count = halves[:, 0].astype(np.int64)
        at = np.zeros(len(halves), np.int64)
        number, beat, low, high = [], [], [], []
        rows = np.arange(len(halves))
        wide = np.isin(np.arange(1 << 3), [n for n, name in kinds.items() if name in _WIDE])
        padded = np.concatenate([fields, np.zeros((len(fields), 1), np.uint64)], axis=1)
        for record in range(int(count.max(initial=0))):
            its = rows[count > record]
            first = padded[its, at[its]]
            number.append(np.full(len(its), record))
            beat.append(its)
            low.append(first)
            high.append(padded[its, at[its] + 1])
            at[its] += 1 + wide[(first >> np.uint64(45)).astype(np.int64)]
        none: list[Any] = [np.empty(0, np.uint64)]
        where, order = (np.concatenate(one or none).astype(np.int64) for one in (beat, number))
        by_beat = np.lexsort((order, where))
        self.beats = np.searchsorted(where[by_beat], np.arange(len(halves) + 1)).astype(np.uint32)
        """Of each beat, its first record; one more for the end."""
        self.records = _decoded(
            np.concatenate(low or none)[by_beat], np.concatenate(high or none)[by_beat], kinds, config
        )
        """``abi.RECORD`` of each."""


_WIDE = ("thread_word", "thread_double", "tile", "tile_half")
"""Kinds of records with two slots."""
_LAYOUTS = {
    "thread_word": ("route_thread_word", "thread"), "tile_half": ("route_tile", "tile"),
    "router": ("route_router", "router"), "indirect": ("route_indirect", "indirect"),
}  # fmt: skip
"""The kinds of records that the mapper makes: their layouts, and their kinds in the model."""


def _decoded(low: Any, high: Any, kinds: Mapping[int, str], config: Config) -> Any:
    """Records from their two slots of 48 bits."""
    found = np.zeros(len(low), abi.RECORD)
    kind = (low >> np.uint64(45)).astype(np.int64)
    for code in np.unique(kind).tolist():
        its = kind == code
        layout, mine = _LAYOUTS[kinds[code]]
        fields = constants.layout(layout)

        def get(name: str, fields: Any = fields, its: Any = its) -> Any:
            slot, lsb = divmod(fields.field(name).lsb, 48)
            mask = np.uint64((1 << fields.field(name).bits) - 1)
            return (high if slot else low)[its] >> np.uint64(lsb) & mask

        rows = found[its]
        rows["kind"] = abi.RECORD_KINDS.index(mine)
        if mine in ("router", "indirect"):
            rows["key"] = get("key")
        else:
            rows["key"] = get("word")
            rows["tile"] = get("tile_y") * np.uint64(config.mesh.width) + get("tile_x")
        if mine == "router":
            rows["tile"], rows["channel"] = get("link"), get("vc")
        elif mine == "tile":
            rows["mask"] = get("mask_low") | get("mask_high") << np.uint64(16)
        elif mine == "thread":
            rows["mask"] = np.uint64(1) << get("thread")
        found[its] = rows
    return found


def lines_struct(lines: Mapping[str, list[tuple[int, bool]]]) -> Any:
    """The lines that each event touches, as an array of ``gs_model_lines``."""
    found = (abi.Lines * len(abi.LINES_OF))()
    for its, event in zip(found, abi.LINES_OF, strict=True):
        its.count = len(lines[event])
        for at, (line, store) in enumerate(lines[event]):
            its.line[at], its.store[at] = line, store
    return found


__all__ = ["Memories", "handlers", "lines_struct", "machine_struct", "timing"]
