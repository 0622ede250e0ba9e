# SPDX-License-Identifier: Apache-2.0
"""Checks across keys: values of a configuration that are valid alone but not together.

Each violation lists the keys involved, the key that the message is about first. The error points to the file that
sets one of these keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gossamer.config import constants
from gossamer.config._parameters import Parameters

Violation = tuple[str, str]
"""Keys separated by blanks, and the message."""


def violations(config: Parameters) -> Iterator[Violation]:
    """All violations, the most informative first."""
    yield from _text(config)
    yield from _tile(config)
    yield from _board(config)
    yield from _memory(config)
    yield from _fabric(config)
    yield from _links(config)
    yield from _stream(config)
    yield from _match(config)


def _text(config: Parameters) -> Iterator[Violation]:
    for key, text in (
        ("description", config.description),
        ("board.name", config.board.name),
        ("board.part", config.board.part),
    ):
        if not text.isprintable():
            yield key, "must be one line of printable text"


def _tile(config: Parameters) -> Iterator[Violation]:
    """Threads and messages of one tile."""
    core, box = config.core, config.mailbox
    most = constants.layout("link_tile").field("mask").bits
    if config.threads_per_tile > most:
        what = f"{box.cores_per_mailbox} cores of {core.threads_per_core} threads are {config.threads_per_tile}"
        keys = "mailbox.cores_per_mailbox core.threads_per_core"
        yield keys, f"{what} threads a mailbox, more than the {most} bits of a multicast mask"
    payload = constants.layout("flit").field("payload").bits // 8
    if box.flit_bytes != payload:
        yield (
            "mailbox.flit_bytes",
            f"is {box.flit_bytes}, but the flit of config/constants carries {payload} bytes",
        )
    if config.max_message_bytes > box.slot_bytes:
        what = f"{box.max_flits} flits of {box.flit_bytes} bytes are {config.max_message_bytes} bytes"
        keys = "mailbox.max_flits mailbox.slot_bytes mailbox.flit_bytes"
        yield keys, f"{what}, longer than a message slot of {box.slot_bytes} (slot_bytes)"
    most = 1 << constants.layout("link_header").field("flits").bits
    if box.max_flits > most:
        yield "mailbox.max_flits", f"is {box.max_flits}, but a link header encodes at most {most}"


def _board(config: Parameters) -> Iterator[Violation]:
    """Units that cores share, and addresses of tiles."""
    sizes = "mesh.width mesh.height mailbox.cores_per_mailbox"
    for key, per in (
        ("fpu.cores_per_fpu", config.fpu.cores_per_fpu),
        ("cache.cores_per_cache", config.cache.cores_per_cache),
        ("core.cores_per_instr_mem", config.core.cores_per_instr_mem),
    ):
        if config.cores % per:
            yield f"{key} {sizes}", f"is {per}, which does not divide the number of cores of the board, {config.cores}"
    count, per = config.memory.dram.count, config.cache.caches_per_dram
    if config.caches != per * count:
        has = (
            f"the board has {config.caches} caches (cores: {config.cores}, cores per cache: "
            f"{config.cache.cores_per_cache})"
        )
        keys = f"cache.caches_per_dram memory.dram.count cache.cores_per_cache {sizes}"
        yield keys, f"{has}, but its DRAMs serve {per * count} (DRAMs: {count}, caches per DRAM: {per})"
    for key, size, field in (
        ("mesh.width", config.mesh.width, "tile_x"),
        ("mesh.height", config.mesh.height, "tile_y"),
    ):
        most = 1 << constants.layout("address_thread").field(field).bits
        if size > most:
            yield key, f"is {size}, but an address encodes at most {most}"


def _memory(config: Parameters) -> Iterator[Violation]:
    line, dram, sram = config.cache.line_bytes, config.memory.dram, config.memory.sram
    if sram.count % dram.count:
        keys = "memory.sram.count memory.dram.count"
        yield keys, f"is {sram.count}, must be a multiple of memory.dram.count ({dram.count}): each DRAM has one port"
    if line % dram.port_bytes:
        keys = "cache.line_bytes memory.dram.port_bytes"
        yield keys, f"is {line}, not a multiple of the width of a memory port ({dram.port_bytes} bytes)"
    if dram.port_bytes < 4:
        yield "memory.dram.port_bytes", f"is {dram.port_bytes}, less than a word of 4 bytes"
    burst = config.dram_burst_bytes
    if dram.row_bytes < burst:
        keys = "memory.dram.row_bytes memory.dram.bus_bits memory.dram.burst_length"
        yield keys, f"is {dram.row_bytes}, less than a burst of {burst} bytes"
    if dram.bytes < dram.row_bytes * dram.banks:
        keys = "memory.dram.bytes memory.dram.row_bytes memory.dram.banks"
        yield keys, f"is {dram.bytes}, less than one row ({dram.row_bytes} bytes) in every bank (banks: {dram.banks})"
    if dram.ras < dram.rcd:
        keys = "memory.dram.ras memory.dram.rcd"
        yield keys, f"is {dram.ras}, less than activate to read (rcd is {dram.rcd})"
    if dram.faw < dram.rrd:
        keys = "memory.dram.faw memory.dram.rrd"
        yield keys, f"is {dram.faw}, less than activate to activate (rrd is {dram.rrd})"
    if dram.refi <= dram.rfc:
        keys = "memory.dram.refi memory.dram.rfc"
        yield keys, f"is {dram.refi}, must be greater than rfc ({dram.rfc}): refresh would take all cycles"
    table = config.router.table_bytes
    if table > config.dram_total_bytes // 2:
        keys = "router.table_bytes memory.dram.bytes memory.dram.count"
        yield keys, f"is {table}, more than half of the board's DRAM ({config.dram_total_bytes} bytes)"


def _fabric(config: Parameters) -> Iterator[Violation]:
    """Buffers that hold the longest packet, and the mesh columns of the multicast router."""
    router, mesh = config.router, config.mesh
    packet = config.mailbox.max_flits + 1
    if mesh.buffer_flits < packet:
        keys = "mesh.buffer_flits mailbox.max_flits"
        why = f"a packet enters a switch only when complete: up to {packet} flits with its mask"
        yield keys, f"is {mesh.buffer_flits}, but {why}"
    if config.mailbox.slots_per_thread < 4:
        slots = config.mailbox.slots_per_thread
        yield "mailbox.slots_per_thread", f"is {slots}, but a thread has two of them, so no slot would be free"
    if router.buffer_flits < packet:
        keys = "router.buffer_flits mailbox.max_flits"
        yield keys, f"is {router.buffer_flits}, less than the longest packet ({packet} flits with its mask)"
    if router.mesh_ports > mesh.width:
        yield "router.mesh_ports mesh.width", f"is {router.mesh_ports}, more than mesh.width ({mesh.width})"
    most = 1 << constants.layout("switch_entry").field("port").bits
    if config.switch_ports > most:
        has = f"{router.mesh_ports} exits, {config.link_count} links and {config.local_ports} local ports"
        keys = "router.mesh_ports links.names stream.ports match.on_board"
        yield keys, f"is {router.mesh_ports}, but a switch has at most {most} ports ({has} are {config.switch_ports})"


def _stream(config: Parameters) -> Iterator[Violation]:
    stream = config.stream
    ends = stream.ports + stream.blocks * stream.block_edges
    if ends > 256:
        yield (
            "stream.blocks stream.ports",
            f"is {stream.blocks}, but a board has at most 256 streaming ports, not {ends}",
        )
    if stream.blocks and not stream.ports:
        yield "stream.blocks stream.ports", f"is {stream.blocks}, but stream.ports is 0"
    sizes = {1: 4, 2: 4, 3: 8, 4: 1, 5: 2, 6: 8, 7: 2}
    widest = max((size for kind, size in sizes.items() if stream.block_types >> kind & 1), default=1)
    if stream.blocks and widest > stream.width_bytes:
        keys = "stream.block_types stream.width_bytes"
        yield keys, f"has types of {widest} bytes, but stream.width_bytes is {stream.width_bytes}"


def _links(config: Parameters) -> Iterator[Violation]:
    links = config.links
    for number, name in enumerate(links.names):
        key = f"links.names.{number}"
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            yield key, f'"{name}" is not a valid name; use lower-case letters, digits and _, a letter first'
        for other in links.names[:number]:
            # Generated names drop the underscores.
            if name.replace("_", "") == other.replace("_", ""):
                yield key, f"{name} is listed twice" + (f" (as {other})" if other != name else "")
    if links.names:
        yield from _frames(links.frame_bytes, links.window_frames)


def _frames(size: int, window: int) -> Iterator[Violation]:
    """A frame of a link holds whole packets in words of 8 bytes; the sender's ring holds two of the longest frames."""
    # A frame's header, map of frames and checksum enclose its packets.
    around = constants.layout("link_frame").bytes + 8 + 4
    flits, flit = constants.value("fabric_max_flits"), constants.layout("flit").field("payload").bits // 8
    least = around + -(-(constants.layout("link_whole").bytes + flits * flit) // 8) * 8
    if size < least:
        what = f"the longest packet ({flits} flits) takes {least} bytes with its headers"
        yield "links.frame_bytes", f"is {size}, but {what}; set {least} or more"
    ring = constants.value("link_ring_words")
    most = around + (ring - 16) // 2 * 8 + 7
    if size > most:
        what = f"a sender must hold two frames in {8 * ring} bytes"
        yield "links.frame_bytes", f"is {size}, but {what}; set {most} or less"
    slots = constants.value("link_slots")
    if not 2 <= window <= slots:
        yield "links.window_frames", f"is {window}, must be 2 to {slots}: the map of a frame has {slots} bits"


def _match(config: Parameters) -> Iterator[Violation]:
    """The match engine and its DMA engine."""
    match = config.match
    if match.lists > match.list_entries:
        keys = "match.lists match.list_entries"
        yield keys, f"is {match.lists}, more than list_entries ({match.list_entries}): each list needs an entry"
    if match.in_tiles and match.on_board:
        keys = "match.on_board match.in_tiles"
        yield keys, f"is {match.on_board}, but the engines are in the tiles (in_tiles is true); choose one of the two"
    used = "match.on_board" if match.on_board else "match.in_tiles"
    if (match.in_tiles or match.on_board) and (match.cam_entries < 2 or match.list_entries < 8):
        keys = f"{used} match.cam_entries match.list_entries"
        has = f"{match.cam_entries} and {match.list_entries} here"
        yield keys, f"needs cam_entries of 2 or more and list_entries of 8 or more ({has})"
    # Half of a thread's queue is for packets of the engine. A thread holds two more slots, and one keeps others going.
    window = config.match_window
    short = config.mailbox.queue_depth < 4 or config.mailbox.slots_per_thread < window + 3
    if (match.in_tiles or match.on_board) and short:
        keys = f"{used} mailbox.queue_depth mailbox.slots_per_thread"
        has = f"{config.mailbox.queue_depth} and {config.mailbox.slots_per_thread} here"
        yield keys, f"needs queue_depth of 4 or more and slots_per_thread of {window + 3} or more for it ({has})"
    if match.on_board > config.tiles:
        keys = "match.on_board mesh.width mesh.height"
        yield keys, f"is {match.on_board}, more than the {config.tiles} tiles of the board: each engine serves some"
    most = 256
    if match.on_board and config.match_ranks > most:
        keys = "match.on_board mesh.width mesh.height mailbox.cores_per_mailbox core.threads_per_core"
        has = f"{config.match_ranks} threads of the board each"
        yield keys, f"is {match.on_board}, so each engine serves {has}; an engine serves at most {most}"
    if match.dma and not match.in_tiles:
        yield "match.dma match.in_tiles", "needs an engine in each tile (in_tiles is false)"
    # A DMA engine writes whole lines. A core sends the bytes before the first one in one packet after an 8-byte header.
    most = config.cache.line_bytes - 1 + 8
    if match.dma and config.max_message_bytes < most:
        keys = "match.dma mailbox.max_flits mailbox.flit_bytes cache.line_bytes"
        has = f"{config.max_message_bytes} bytes with {config.mailbox.max_flits} flits"
        yield keys, f"needs packets of {most} bytes for part of a {config.cache.line_bytes}-byte line ({has} here)"
