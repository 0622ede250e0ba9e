# SPDX-License-Identifier: Apache-2.0
"""The files of a design: tops, all RTL below them, headers for hosts, and project files for other tools."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from gossamer.config import Config
from gossamer.errors import InputError
from gossamer.files import parse_json, write_whole
from gossamer.hdl import fusesoc
from gossamer.smi.hardware import _top
from gossamer.smi.hardware._design import Board, Design, Endpoint

_PACKAGES = "gossamer_pkg.sv"
_TABLES = "tables.json"
_LIST = "written.json"
"""Names the files in a folder that the generator has written, each with the digest of its content."""


def write(design: Design, folder: str | os.PathLike[str], config: Config | None = None) -> list[Path]:
    """Writes a design into a folder, which is created; unchanged files are not rewritten. Returns the files.

    Files of an earlier design that this one lacks are removed, if they are as they were written.

    All RTL is copied, so the folder is self-contained. The package is that of a configuration (``smi520n``); the stream
    RTL uses only constants that all configurations share.
    """
    from gossamer import config as configs
    from gossamer.hdl import sources

    config = config or configs.load("smi520n")
    place = Path(folder)
    blocks = ["stream/board.f", "stream/collectives.f", "stream/config.f", "stream/address.f"]
    if design.options.counters:
        blocks.append("stream/counters.f")
    found = sources.blocks(*blocks, config=config)
    copies = {f"rtl/{path.name}": path for path in (*found.files, *found.headers())}
    texts: dict[str, bytes] = {name: path.read_bytes() for name, path in copies.items()}
    listed = [f"rtl/{path.name}" for path in found.verilog]
    headers = [f"rtl/{path.name}" for path in found.headers()]
    for board in design.boards:
        files = [*listed, f"{board.name}.sv"]
        texts[f"{board.name}.sv"] = _top.top(design, board).encode()
        texts[f"{board.name}.h"] = _header(design, board).encode()
        texts[f"{board.name}.f"] = _lines(["// SPDX-License-Identifier: Apache-2.0", "+incdir+rtl", *files])
        texts[f"{board.name}.core"] = _core(board, files, headers)
        texts[f"{board.name}_vivado.tcl"] = _vivado(board, files, headers)
        texts[f"{board.name}.qip"] = _quartus(files, headers)
    texts["design.json"] = (json.dumps(as_json(design), indent=1) + "\n").encode()
    try:
        (place / "rtl").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: cannot be created: {error.strerror}; choose another folder") from None
    old, new = _listed(place), {name: _digest(text) for name, text in texts.items()}
    if _TABLES in old and _is_of(place / _TABLES, design):
        new[_TABLES] = old[_TABLES]
    # First both: so the list names all that an interrupted run has written.
    _list(place, {**old, **new})
    for name, digest in old.items():
        if name not in new:
            _remove(place / name, digest)
    _list(place, new)
    written = []
    for name, text in texts.items():
        path = place / name
        if not (path.is_file() and path.read_bytes() == text):
            write_whole(path, text)
        written.append(path)
    return written


def write_tables(design: Design, topology: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Path:
    """Writes ``tables.json``: the ranks; by board name, the design's links that its cables use, and the addresses and
    words that a host writes into the board."""
    from gossamer.smi.hardware._boot import links, tables

    ranks, words, _ = tables(design, topology)
    path = Path(folder) / _TABLES
    text = {
        "design": design.number,
        "ranks": [
            {"rank": one.rank, "board": name, "design": one.design, "slot": one.slot}
            for one in ranks
            for name in [list(words)[one.board]]
        ],
        "links": links(design, topology),
        "boards": {name: [list(pair) for pair in pairs] for name, pairs in words.items()},
    }
    data = (json.dumps(text) + "\n").encode()
    _list(path.parent, {**_listed(path.parent), _TABLES: _digest(data)})
    write_whole(path, data)
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _listed(place: Path) -> dict[str, str]:
    """The files that an earlier run has written into a folder, with their digests; none if its list is damaged."""
    try:
        found = parse_json((place / _LIST).read_bytes())
    except (OSError, ValueError):
        return {}
    files = found.get("files") if isinstance(found, dict) else None
    if not isinstance(files, dict):
        return {}
    return {
        name: digest
        for name, digest in files.items()
        if isinstance(digest, str) and not Path(name).is_absolute() and ".." not in Path(name).parts
    }


def _list(place: Path, files: Mapping[str, str]) -> None:
    text = {"about": "Files that ./gossamer smi generate has written here, with SHA-256.", "files": dict(files)}
    data = (json.dumps(text, indent=1, sort_keys=True) + "\n").encode()
    path = place / _LIST
    if not (path.is_file() and path.read_bytes() == data):
        write_whole(path, data)


def _remove(path: Path, digest: str) -> None:
    """Removes a file that an earlier run has written, unless it is another one now."""
    with contextlib.suppress(OSError):
        if path.is_file() and not path.is_symlink() and _digest(path.read_bytes()) == digest:
            path.unlink()


def _is_of(tables: Path, design: Design) -> bool:
    """Whether tables of an earlier run are those of the design, and still valid."""
    try:
        found = parse_json(tables.read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("design") == design.number


def as_json(design: Design) -> dict[str, object]:
    """The description of a design for tools."""
    return {
        "number": design.number,
        "stride": design.stride,
        "options": {
            "links": design.options.links,
            "edges": design.options.edges,
            "ranks": design.options.ranks,
            "boards": design.options.boards,
            "counters": design.options.counters,
        },
        "boards": [
            {
                "name": board.name,
                "slots": [
                    {
                        "program": slot.program,
                        "endpoints": [
                            {
                                "port": one.port,
                                "operation": one.operation,
                                "type": one.type,
                                "reduction": one.reduction,
                                "sends": one.sends,
                                "receives": one.receives,
                                "bytes": one.bytes,
                                "depth": one.depth,
                                "index": one.index,
                                "signals": _top.prefix(board, at) + one.name,
                                "where": one.where,
                            }
                            for one in slot.endpoints
                        ],
                    }
                    for at, slot in enumerate(board.slots)
                ],
            }
            for board in design.boards
        ],
    }


def _header(design: Design, board: Board) -> str:
    name = board.name.upper()
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* Generated by ./gossamer smi generate; do not edit. Constants of this board for its host. */",
        f"#ifndef GOSSAMER_SMI_BOARD_{name}_H",
        f"#define GOSSAMER_SMI_BOARD_{name}_H",
        "",
        "#include <gossamer/smi/board.h>",
        "",
        f"#define {name}_LINKS {design.options.links}",
        f"#define {name}_SLOTS {len(board.slots)}",
        f"#define {name}_EDGES {design.options.edges}",
        f"#define {name}_RANKS {design.options.ranks}",
    ]
    ports = _top.streaming_ports(design, board)
    for at, (slot, one, edge) in enumerate(ports):
        if one.collective:
            continue
        assert edge == 0
        title = f"{name}_{_top.prefix(board, slot).upper()}PORT{one.port}"
        lines.append(f"#define {title} {at} /* {one.type}, {one.where} */")
        lines.append(f"#define {title}_INDEX {one.index}")
        lines.append(f"#define {title}_DEPTH {one.depth}")
    lines += [
        "",
        "/* Streaming ports in their order, for recordings. */",
        f"static const char* const {board.name}_streams[] = {{",
        *(f"    {json.dumps(json.dumps(_stream(*one)))}," for one in ports),
        "};",
        "",
        f"static const struct gossamer_smi_design {board.name}_design = {{",
        f"    0x{design.number:08x}u, {design.stride}, {len(ports)}, {design.options.links}, {len(board.slots)},"
        f" {design.options.edges}, {design.options.ranks},",
        f'    {int(design.options.counters)}, "{board.name}", {board.name}_streams,',
        "};",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def _stream(slot: int, one: Endpoint, edge: int) -> dict[str, object]:
    """What a streaming port is, for a recording of the host."""
    about = {"slot": slot, "port": one.port, "operation": one.operation, "type": one.type}
    return {**about, "edge": edge} if one.collective else about


def _lines(lines: list[str]) -> bytes:
    return ("\n".join(lines) + "\n").encode()


def _core(board: Board, files: list[str], headers: list[str]) -> bytes:
    core = fusesoc.Core(
        vlnv=f"gossamer:smi:{board.name}:0.1.0",
        description=f"Streaming ports of {' and '.join(slot.program for slot in board.slots)}",
        comments=("Generated by ./gossamer smi generate; do not edit.",),
        files=files,
        headers=[(path, "rtl") for path in headers],
        top=board.name,
    )
    return fusesoc.text(core).encode()


def _vivado(board: Board, files: list[str], headers: list[str]) -> bytes:
    return _lines(
        [
            "# SPDX-License-Identifier: Apache-2.0",
            "# Generated by ./gossamer smi generate; do not edit. In a project: source it.",
            "set here [file dirname [file normalize [info script]]]",
            *(f"add_files -norecurse [list $here/{path}]" for path in (*headers, *files)),
            *(f"set_property file_type {{Verilog Header}} [get_files $here/{path}]" for path in headers),
            *(f"set_property is_global_include true [get_files $here/{path}]" for path in headers),
            f"# The top is {board.name}; its streams are named as AXI interfaces are.",
        ]
    )


def _quartus(files: list[str], headers: list[str]) -> bytes:
    here = "[file join $::quartus(qip_path)"
    return _lines(
        [
            "# SPDX-License-Identifier: Apache-2.0",
            "# Generated by ./gossamer smi generate; do not edit. In a project: add this file.",
            f'set_global_assignment -name SEARCH_PATH {here} "rtl"]',
            *(f'set_global_assignment -name SYSTEMVERILOG_FILE {here} "{path}"]' for path in (*headers, *files)),
        ]
    )
