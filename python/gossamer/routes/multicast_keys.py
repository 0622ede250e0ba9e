# SPDX-License-Identifier: Apache-2.0
"""Tables of the multicast routers for the deadlock check: keys, beats of records, and the branches of keys.

Layouts are those of ``route_*`` in ``config/constants/fabric.toml``. The file is JSON::

    {"format": "gossamer-keys 1", "topology": "<hash>",
     "boards": {"x0y0": {"first": 0, "beats": ["<64 hex digits>", ...]}},
     "roots": [["x0y0", <key>], ...],
     "turns": [["x0y0", 2, 0, 1, 1], ...]}

A beat is a number, most significant digit first; `first` is the number of the first beat in memory. Roots are the keys
that threads and hosts of a board send. Turns are those of trees that no route takes: from a board's link and virtual
channel to a link and virtual channel of the board at the other end. They are optional.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gossamer.config import Cluster, constants
from gossamer.config._source import shown
from gossamer.errors import InputError

_SLOT, _SLOTS = 48, 240
"""Bits of a record slot, and of all slots of a beat."""
WIDE = ("thread_word", "thread_double", "tile", "tile_half")
"""Kinds of records that take two slots."""


@dataclass(frozen=True)
class KeyTables:
    """Beats of each board's router, and the keys that endpoints send to it."""

    beats: Mapping[int, Mapping[int, int]]
    """Beats by board and number."""
    roots: tuple[tuple[int, int], ...]
    """(board, key)."""
    path: str = "keys"
    turns: tuple[tuple[int, int, int, int, int], ...] = ()
    """(board, link, virtual channel, link and virtual channel of the board at the other end)."""


@dataclass(frozen=True)
class Branch:
    """The copies that a key makes on a board, for one channel of arrival and one level of indirection."""

    board: int
    came: tuple[int, int, int] | None
    """(board, link, virtual channel) of arrival; None from this board's own rim."""
    depth: int
    key: int
    local: bool
    """Whether copies are sent to tiles of this board."""
    links: tuple[tuple[int, int], ...]
    """(link, virtual channel) of copies to other boards."""
    indirect: bool
    where: str
    """Board and key as text, for error messages."""


def load(path: str | os.PathLike[str], cluster: Cluster, topology: str) -> KeyTables:
    """Reads a file of keys for a cluster. Raises InputError."""
    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{shown(path)}: cannot read keys: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise InputError(f"{shown(path)}:{line}: not valid JSON: {getattr(error, 'msg', error)}") from None
    except RecursionError:
        raise InputError(f"{shown(path)}:1: not valid JSON: nested too deeply") from None
    if not isinstance(data, dict) or data.get("format") != "gossamer-keys 1":
        raise InputError(f'{shown(path)}:1: not tables of keys: "format" must be "gossamer-keys 1"')
    if data.get("topology") != topology:
        raise InputError(f"{shown(path)}:1: keys for another topology; generate keys for this one")
    names = {board.name: board.index for board in cluster.boards}
    try:
        beats = {
            names[name]: {int(held["first"]) + at: int(text, 16) for at, text in enumerate(held["beats"])}
            for name, held in data["boards"].items()
        }
        roots = tuple((names[name], int(key)) for name, key in data["roots"])
        turns = tuple((names[name], int(a), int(b), int(c), int(d)) for name, a, b, c, d in data.get("turns", ()))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{shown(path)}:1: {type(error).__name__.lower()} {error}: see docs/routes.md") from None
    return KeyTables(beats, roots, shown(path), turns)


def _bits(value: int, layout: str, field: str) -> int:
    one = constants.layout(layout).field(field)
    return value >> one.lsb & (1 << one.bits) - 1


def branches(cluster: Cluster, keys: KeyTables, vcs: int) -> list[Branch]:
    """All branches that are reachable from the roots: each key once per channel of arrival.

    Raises InputError for a key with missing beats, a malformed record, a tile or link that does not exist, and a cycle
    of indirections.
    """
    far: dict[tuple[int, int], int] = {}
    for cable in cluster.cables:
        far[cable.a, cable.a_link] = cable.b
        far[cable.b, cable.b_link] = cable.a
    done: dict[tuple[int, tuple[int, int, int] | None, int, int], Branch] = {}
    queue: list[tuple[int, tuple[int, int, int] | None, tuple[int, ...]]] = [
        (board, None, (key,)) for board, key in keys.roots
    ]
    while queue:
        board, came, chain = queue.pop()
        place = board, came, len(chain) - 1, chain[-1]
        if place in done:
            continue
        where = f"{keys.path}: board {cluster.boards[board].name}, key 0x{chain[-1]:08x}"
        local, indirect, links = False, False, []
        for kind, record in _records(cluster, keys, board, chain[-1], where):
            if kind == "router":
                link, key = _bits(record, "route_router", "link"), _bits(record, "route_router", "key")
                vc = _bits(record, "route_router", "vc")
                if (board, link) not in far:
                    raise InputError(f"{where}: a record sends to link {link}, where there is no cable")
                if vc >= vcs:
                    raise InputError(f"{where}: a record names virtual channel {vc}, there are {vcs}")
                links.append((link, vc))
                queue.append((far[board, link], (board, link, vc), (key,)))
            elif kind == "indirect":
                key = _bits(record, "route_indirect", "key")
                if key in chain:
                    raise InputError(f"{where}: indirections form a cycle at key 0x{key:08x}")
                indirect = True
                queue.append((board, came, (*chain, key)))
            else:
                local = True
                layout = "route_tile" if kind.startswith("tile") else "route_thread"
                layout = f"route_{kind}" if kind in ("thread_word", "thread_double") else layout
                x, y = _bits(record, layout, "tile_x"), _bits(record, layout, "tile_y")
                mesh = cluster.boards[board].config.mesh
                if x >= mesh.width or y >= mesh.height:
                    raise InputError(f"{where}: a record names tile ({x},{y}) of {mesh.width} x {mesh.height}")
        done[place] = Branch(board, came, len(chain) - 1, chain[-1], local, tuple(sorted(set(links))), indirect, where)
    return [done[place] for place in sorted(done, key=lambda one: (one[0], one[1] or (-1, -1, -1), one[2], one[3]))]


def _records(cluster: Cluster, keys: KeyTables, board: int, key: int, where: str) -> list[tuple[str, int]]:
    """(kind, record) of every record of a key; the key of a pin without destinations has no beats, or empty ones."""
    kinds = {value: name for name, value in constants.enumeration("route_record").values.items()}
    first, count = _bits(key, "route_key", "beat"), _bits(key, "route_key", "beats")
    held = keys.beats.get(board, {})
    found = []
    for number in range(first, first + count):
        if number not in held:
            raise InputError(f"{where}: there is no beat {number}")
        beat = held[number]
        slots, left = _bits(beat, "route_beat", "records"), _bits(beat, "route_beat", "count")
        at = 0
        for _ in range(left):
            # The kind is in the top bits of a record's first slot, also for a record of two slots.
            kind = kinds.get(slots >> at + _SLOT - 3 & 7) if at < _SLOTS else None
            if kind is None:
                raise InputError(f"{where}: beat {number} has a malformed record")
            size = _SLOT * (2 if kind in WIDE else 1)
            if at + size > _SLOTS:
                raise InputError(f"{where}: beat {number} has more records than slots")
            found.append((kind, slots >> at & (1 << size) - 1))
            at += size
    return found
