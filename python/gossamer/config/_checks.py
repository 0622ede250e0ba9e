# SPDX-License-Identifier: Apache-2.0
"""Values of a configuration that are fine one by one and impossible together.

Each complaint comes with the keys that it takes, the one it is about first:
the file that gives one of them is the file to blame.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gossamer.config import constants

if TYPE_CHECKING:
    from gossamer.config._schema import Config

Complaint = tuple[str, str]
"""Keys separated by blanks, and what is wrong."""


def complaints(config: Config) -> Iterator[Complaint]:
    """Everything that cannot be, the most telling first."""
    yield from _text(config)
    yield from _tile(config)
    yield from _board(config)
    yield from _memory(config)
    yield from _fabric(config)
    yield from _links(config)
    yield from _endpoints(config)


def _text(config: Config) -> Iterator[Complaint]:
    for key, text in (
        ("description", config.description),
        ("board.name", config.board.name),
        ("board.part", config.board.part),
    ):
        if not text.isprintable():
            yield key, "must be one line of printable text"


def _tile(config: Config) -> Iterator[Complaint]:
    """Threads and messages of one tile."""
    core, box = config.core, config.mailbox
    most = constants.layout("link_tile").field("mask").bits
    if config.threads_per_tile > most:
        what = f"{box.cores_per_mailbox} cores of {core.threads_per_core} threads are {config.threads_per_tile}"
        keys = "mailbox.cores_per_mailbox core.threads_per_core"
        yield keys, f"{what} threads a mailbox, more than the {most} that a multicast mask names"
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
        yield "mailbox.max_flits", f"is {box.max_flits}, but the header on a link counts to {most}"


def _board(config: Config) -> Iterator[Complaint]:
    """Units that cores share, and addresses of tiles."""
    sizes = "mesh.width mesh.height mailbox.cores_per_mailbox"
    for key, per in (
        ("fpu.cores_per_fpu", config.fpu.cores_per_fpu),
        ("cache.cores_per_cache", config.cache.cores_per_cache),
        ("core.cores_per_instr_mem", config.core.cores_per_instr_mem),
    ):
        if config.cores % per:
            yield f"{key} {sizes}", f"is {per}, which does not divide the {config.cores} cores of the board"
    count, per = config.memory.dram.count, config.cache.caches_per_dram
    if config.caches != per * count:
        has = f"{config.cores} cores with {config.cache.cores_per_cache} a cache have {config.caches} caches"
        keys = f"cache.caches_per_dram memory.dram.count cache.cores_per_cache {sizes}"
        yield keys, f"{has}, but {count} DRAM with {per} caches each serve {per * count}"
    for key, size, field in (
        ("mesh.width", config.mesh.width, "tile_x"),
        ("mesh.height", config.mesh.height, "tile_y"),
    ):
        most = 1 << constants.layout("address_thread").field(field).bits
        if size > most:
            yield key, f"is {size}, but an address names {most} at most"


def _memory(config: Config) -> Iterator[Complaint]:
    line, dram, sram = config.cache.line_bytes, config.memory.dram, config.memory.sram
    if sram.count % dram.count:
        keys = "memory.sram.count memory.dram.count"
        yield (
            keys,
            f"is {sram.count}, which the memory ports (one for each of {dram.count} DRAM) cannot share",
        )
    if line % dram.port_bytes:
        keys = "cache.line_bytes memory.dram.port_bytes"
        yield keys, f"is {line}, not a multiple of what a memory port moves ({dram.port_bytes} bytes)"
    burst = config.dram_burst_bytes
    if dram.row_bytes < burst:
        keys = "memory.dram.row_bytes memory.dram.bus_bits memory.dram.burst_length"
        yield keys, f"is {dram.row_bytes}, less than a burst of {burst} bytes"
    if dram.bytes < dram.row_bytes * dram.banks:
        keys = "memory.dram.bytes memory.dram.row_bytes memory.dram.banks"
        yield keys, f"is {dram.bytes}, less than {dram.banks} banks of one row ({dram.row_bytes} bytes) each"
    if dram.ras < dram.rcd:
        keys = "memory.dram.ras memory.dram.rcd"
        yield keys, f"is {dram.ras}, shorter than activate to read (rcd is {dram.rcd})"
    if dram.faw < dram.rrd:
        keys = "memory.dram.faw memory.dram.rrd"
        yield keys, f"is {dram.faw}, shorter than one activate to the next (rrd is {dram.rrd})"
    if dram.refi <= dram.rfc:
        keys = "memory.dram.refi memory.dram.rfc"
        yield keys, f"is {dram.refi}: nothing but refresh fits in (rfc is {dram.rfc})"
    table = config.router.table_bytes
    if table > config.dram_total_bytes // 2:
        keys = "router.table_bytes memory.dram.bytes memory.dram.count"
        yield keys, f"is {table}, more than half of the board's DRAM ({config.dram_total_bytes} bytes)"


def _fabric(config: Config) -> Iterator[Complaint]:
    """Room for the longest packet, and where the multicast router sits."""
    router, mesh = config.router, config.mesh
    packet = config.mailbox.max_flits + 1
    if mesh.buffer_flits < packet:
        keys = "mesh.buffer_flits mailbox.max_flits"
        why = f"a packet enters a switch only when complete: up to {packet} flits with its mask"
        yield keys, f"is {mesh.buffer_flits}, but {why}"
    if router.buffer_flits < packet:
        keys = "router.buffer_flits mailbox.max_flits"
        yield keys, f"is {router.buffer_flits}, less than the longest packet ({packet} flits with its mask)"
    if router.mesh_ports > mesh.width:
        yield "router.mesh_ports mesh.width", f"is {router.mesh_ports}, but the mesh has {mesh.width} columns"
    beat = constants.layout("route_beat").bytes
    if router.beat_bytes != beat:
        yield (
            "router.beat_bytes",
            f"is {router.beat_bytes}, but config/constants lays out beats of {beat} bytes",
        )


def _links(config: Config) -> Iterator[Complaint]:
    links = config.links
    for number, name in enumerate(links.names):
        key = f"links.names.{number}"
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            yield key, f'"{name}" is no name; use small letters, digits and _, a letter first'
        for other in links.names[:number]:
            # Generated names drop the underscores.
            if name.replace("_", "") == other.replace("_", ""):
                yield key, f"{name} is there twice" + (f" (as {other})" if other != name else "")
    if links.names:
        yield from _frames(links.frame_bytes, links.window_frames)
    most = 1 << (constants.layout("shell_header").field("seq").bits - 1)
    if config.shell.window_frames > most:
        what = f"is {config.shell.window_frames}, more than half the sequence numbers ({most})"
        yield "shell.window_frames", f"{what}: old would look new"


def _frames(size: int, window: int) -> Iterator[Complaint]:
    """Frames of a link: whole packets in words of 8 bytes, two of the longest frames in the sender's ring."""
    # Head, map of frames and check sum stand around the packets of a frame.
    around = constants.layout("link_frame").bytes + 8 + 4
    flits, flit = constants.value("fabric_max_flits"), constants.layout("flit").field("payload").bits // 8
    least = around + -(-(constants.layout("link_whole").bytes + flits * flit) // 8) * 8
    if size < least:
        what = f"the longest packet ({flits} flits) takes {least} bytes with its headers"
        yield "links.frame_bytes", f"is {size}, but {what}; give {least} or more"
    ring = constants.value("link_ring_words")
    most = around + (ring - 16) // 2 * 8 + 7
    if size > most:
        yield "links.frame_bytes", f"is {size}, but a sender keeps two frames in {8 * ring} bytes; give {most} at most"
    slots = constants.value("link_slots")
    if not 2 <= window <= slots:
        yield "links.window_frames", f"is {window}, must be 2 to {slots}: a frame's map names {slots} others"


def _endpoints(config: Config) -> Iterator[Complaint]:
    """Streams and the match engine."""
    stream, match = config.stream, config.match
    header = constants.layout("stream_header")
    most = 1 << header.field("port").bits
    if stream.ports > most:
        yield "stream.ports", f"is {stream.ports}, but a stream header names {most} at most"
    if stream.packet_bytes % config.mailbox.flit_bytes:
        yield (
            "stream.packet_bytes",
            f"is {stream.packet_bytes}, not whole flits of {config.mailbox.flit_bytes} bytes",
        )
    most = (1 << header.field("valid").bits) - 1
    if config.stream_payload_bytes > most:
        what = f"is {stream.packet_bytes}, which holds {config.stream_payload_bytes} elements of a byte"
        yield "stream.packet_bytes", f"{what}, but its header counts to {most}"
    if match.lists > match.list_entries:
        keys = "match.lists match.list_entries"
        yield keys, f"is {match.lists}, more lists than entries (list_entries is {match.list_entries})"
    if match.in_tiles and (match.cam_entries < 2 or match.list_entries < 8):
        keys = "match.in_tiles match.cam_entries match.list_entries"
        yield keys, f"needs a CAM of 2 entries and 8 behind it ({match.cam_entries} and {match.list_entries} here)"
    # Half of a thread's queue is for packets of the engine. A thread holds two slots besides; one keeps others going.
    window = config.match_window
    if match.in_tiles and (config.mailbox.queue_depth < 4 or config.mailbox.slots_per_thread < window + 3):
        keys = "match.in_tiles mailbox.queue_depth mailbox.slots_per_thread"
        has = f"{config.mailbox.queue_depth} and {config.mailbox.slots_per_thread} here"
        yield keys, f"needs queues of 4 messages, and {window + 3} slots a thread for queues that deep ({has})"
    if match.dma and not match.in_tiles:
        yield "match.dma match.in_tiles", "needs an engine in each tile (in_tiles is false)"
    # A DMA engine writes whole lines. A core sends the bytes before the first one in one packet after an 8-byte header.
    most = config.cache.line_bytes - 1 + 8
    if match.dma and config.max_message_bytes < most:
        keys = "match.dma mailbox.max_flits mailbox.flit_bytes cache.line_bytes"
        has = f"{config.max_message_bytes} bytes with {config.mailbox.max_flits} flits"
        yield keys, f"needs packets of {most} bytes for a part of a line of {config.cache.line_bytes} ({has} here)"
