# SPDX-License-Identifier: Apache-2.0
"""Checks multicast trees of a host before it writes them: ``python -m gossamer.polite.trees PLAN TREES CALL HOST``.

HOST is the process number of the host, which starts this process; this process ends with it. CALL is the called
function, for error messages. PLAN is the pickled cluster with the routing tables in use. TREES is a binary file that
``host/src/trees.cc`` writes, for each board: the number of its first beat, the size of the beats in bytes, the number
of keys (32 bits each); the keys, which a thread of the board may send; the beats.

Trees may take any turns as long as channel dependencies stay acyclic: the turns of all trees and routes are checked
together.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from gossamer import routes
from gossamer.config import constants
from gossamer.engines._rtl_plan import Plan
from gossamer.errors import InputError
from gossamer.polite import _program
from gossamer.routes.multicast_keys import WIDE, branches

_BEAT = constants.layout("route_beat").bits // 8
_SLOT = constants.layout("route_router").bits


class _Beats(Mapping[int, int]):
    """A board's beats by number, with links as the configuration numbers them; decoded on demand."""

    def __init__(self, first: int, data: bytes, links: Mapping[int, int]) -> None:
        self._first, self._data, self._links = first, data, links

    def __len__(self) -> int:
        return len(self._data) // _BEAT

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._first, self._first + len(self)))

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and 0 <= number - self._first < len(self)

    def __getitem__(self, number: int) -> int:
        at = (number - self._first) * _BEAT
        return _renumbered(int.from_bytes(self._data[at : at + _BEAT], "little"), self._links)


def _renumbered(beat: int, links: Mapping[int, int]) -> int:
    """A beat with the links of its records renumbered."""
    layout, router = constants.layout("route_beat"), constants.layout("route_router")
    count, slots, link = layout.field("count"), layout.field("records"), router.field("link")
    kinds = constants.enumeration("route_record").values
    wide = {kinds[name] for name in WIDE}
    at = slots.lsb
    for _ in range(beat >> count.lsb & (1 << count.bits) - 1):
        kind = beat >> at + _SLOT - 3 & 7
        if kind == kinds["router"]:
            shift, mask = at + link.lsb, (1 << link.bits) - 1
            was = beat >> shift & mask
            beat += links.get(was, mask) - was << shift
        at += 2 * _SLOT if kind in wide else _SLOT
    return beat


def _read(plan: Plan, path: Path, call: str) -> routes.KeyTables:
    data, at = path.read_bytes(), 0

    def words(count: int) -> list[int]:
        nonlocal at
        at += 4 * count
        return [int.from_bytes(data[end - 4 : end], "little") for end in range(at - 4 * count + 4, at + 4, 4)]

    beats, roots = {}, []
    for board in range(plan.boards):
        first, size, keys = words(3)
        roots += [(board, key) for key in words(keys)]
        links = {plan.link(board, link): link for link, _, _ in plan.cluster.neighbours(board)}
        beats[board] = _Beats(first, data[at : at + size], links)
        at += size
    return routes.KeyTables(beats, tuple(roots), call)


def check(plan: Plan, keys: routes.KeyTables) -> None:
    """Raises InputError for trees that can deadlock, or that routers cannot process."""
    far = {}
    for board in range(plan.boards):
        far.update({(board, link): other for link, other, _ in plan.cluster.neighbours(board)})
    turns = {
        (*branch.came, link, lane)
        for branch in branches(plan.cluster, keys, plan.tables.vcs)
        if branch.came is not None
        for link, lane in branch.links
        if branch.came[:2] in far
    }
    report = routes.check(
        plan.topology, plan.tables, keys=routes.KeyTables(keys.beats, keys.roots, keys.path, tuple(sorted(turns)))
    )
    if report.safe:
        return
    if not report.ring:
        raise InputError(str(report.fault))
    ring = [name.replace(" (mailbox)", "") for name in report.ring if not name.startswith("the expander")]
    shown = [*ring[:6], *(["..."] if len(ring) > 6 else []), "the first"]
    raise InputError(
        f"{keys.path}: messages in these trees can deadlock: {' waits for '.join(shown)}; nothing was written; use "
        "only turns that routes take (docs/hostlink.md)"
    )


def main(arguments: list[str]) -> int:
    """Runs the check. Returns the exit code; errors are printed as one line."""
    plan, trees, call, host = arguments

    def work() -> None:
        known: Plan = pickle.loads(Path(plan).read_bytes())
        check(known, _read(known, Path(trees), call))

    return _program.ended(host, work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
