# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of runs of the engine ``distributed``: written at step boundaries, read by any number of ranks.

A checkpoint is a folder ``step-N``, with a file of each rank and ``checkpoint.json``, which describes them. It is
written under another name, flushed to the disk, and then renamed; older ones are removed afterwards. So whenever a job
is killed, the last whole checkpoint is complete. A file has the rank's rows of each saved part
(``gs_saved_part`` of include/gossamer/distributed/share.h), without headers; ``checkpoint.json`` has their positions.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.apps import App, Numbers
from gossamer.distributed.shares import Share
from gossamer.distributed.transport import Array, Ranks
from gossamer.engines import _abi
from gossamer.errors import InputError
from gossamer.files import parse_json

INTERVAL = 100
"""Steps between checkpoints by default."""
_FORMAT = 2
_NAME = re.compile(r"step-(\d{12})")
_ABOUT = "checkpoint.json"
_BLOCK = 1 << 20
_READ = 1 << 24


@dataclass(frozen=True)
class Settings:
    """What the command line asks for."""

    folder: Path | None = None
    """Where to write checkpoints."""
    interval: int = INTERVAL
    """Steps between two."""
    restart: Path | None = None
    """The folder from whose last checkpoint the run continues."""

    def check(self) -> None:
        """Raises InputError for a folder that cannot be used. All ranks may call it before any of them writes."""
        if self.restart is not None and last(self.restart) is None:
            what = "has no checkpoint" if self.restart.is_dir() else "no such folder"
            raise InputError(f"{self.restart}: {what}; give --restart the folder of an earlier --checkpoint")
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be created: {error.strerror}; choose another folder") from None
        if not os.access(self.folder, os.W_OK | os.X_OK):
            raise InputError(f"{self.folder}: cannot write there; choose another folder")
        there = last(self.folder)
        if there is not None and (self.restart is None or not self.folder.samefile(self.restart)):
            raise InputError(
                f"{self.folder}: has {there.name} of an earlier run; continue it with --restart {self.folder}, or use "
                "an empty folder"
            )


def last(folder: Path) -> Path | None:
    """The last whole checkpoint in a folder."""
    found = []
    with contextlib.suppress(OSError):
        found = [one for one in folder.iterdir() if _NAME.fullmatch(one.name)]
    return max(found, key=lambda one: one.name, default=None)


def identity(ranks: Ranks, app: App, share: Share, numbers: Numbers) -> dict[str, Any]:
    """What must be the same when a run continues: application, arguments and graph. All ranks call it."""
    source = hashlib.sha256(app.path.read_bytes())
    source.update(repr((app.defines, app.state_bytes, app.message_bytes, app.edge_bytes)).encode())
    arguments = {one.name: numbers.get(one.name, one.default) for one in app.parameters}
    return {
        "application": app.name,
        "source": source.hexdigest(),
        "arguments": json.loads(json.dumps(arguments)),
        "vertices": share.whole.vertices,
        "edges": share.whole.edges,
        "graph": share.fingerprint or fingerprint(ranks, share),
    }


def fingerprint(ranks: Ranks, share: Share) -> str:
    """A hash of all edges with their weights, the same for every distribution of them over ranks.

    The share has ranges of vertices."""
    rows = share.into
    first = np.uint32(share.cuts[ranks.rank])
    total = np.uint64(0)
    ends = rows.offsets.astype(np.int64, copy=False)
    for begin in range(0, len(rows.targets), _BLOCK):
        stop = min(begin + _BLOCK, len(rows.targets))
        low = int(np.searchsorted(ends, begin, side="right")) - 1
        high = int(np.searchsorted(ends, stop, side="left"))
        lengths: Array = np.diff(np.clip(ends[low : high + 1], begin, stop))
        receivers = np.repeat(np.arange(low, high, dtype=np.uint32), lengths) + first
        word = _mixed(_mixed((rows.targets[begin:stop] + first).astype(np.uint64)) + receivers.astype(np.uint64))
        if rows.weights is not None and len(rows.weights):
            weights = rows.weights[begin:stop]
            word = _mixed(word + weights.view(f"u{weights.dtype.itemsize}").astype(np.uint64))
        total += word.sum(dtype=np.uint64)
    return f"{sum(ranks.gather(int(total))) % 2**64:016x}"


def _mixed(word: Array) -> Array:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014), on an array of uint64."""
    word = word + np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = word ^ (word >> np.uint64(31))
    return mixed


class Checkpoints:
    """Writes and restores the checkpoints of a run, for the C interface. All ranks construct it together."""

    def __init__(self, ranks: Ranks, settings: Settings, app: App, share: Share, numbers: Numbers) -> None:
        """Reads the checkpoint to continue from. Raises InputError if it belongs to another run, or is damaged."""
        self._ranks, self._settings, self._share = ranks, settings, share
        self._identity = identity(ranks, app, share, numbers)
        self.failure: BaseException | None = None
        """The error of a callback."""
        self._restored: dict[str, Array] = {}
        if settings.restart is not None:
            self._read(settings.restart)

        def save(_context: int, step: int, parts: Any, count: int) -> int:
            try:
                self._save(step, [parts[index] for index in range(count)])
            except BaseException as error:
                self.failure = error
                return 1
            return 0

        def restore(_context: int, name: bytes, size: int) -> int | None:
            found = self._restored.get(name.decode())
            if found is None or found.nbytes != size:
                return None
            return int(found.ctypes.data)

        interval = settings.interval if settings.folder is not None else 0
        self.table = _abi.Checkpoints(
            interval, int(settings.restart is not None), None, _abi.SaveFunction(save), _abi.RestoreFunction(restore)
        )

    # ---- Writing -------------------------------------------------------------------

    def _save(self, step: int, parts: list[_abi.SavedPart]) -> None:
        assert self._settings.folder is not None
        folder = self._settings.folder
        aside = folder / f".step-{step:012}.part"
        self._together(lambda: _empty(folder, aside) if self._ranks.rank == 0 else None, folder)
        try:
            written = self._together(lambda: self._write(aside / f"rank-{self._ranks.rank}", parts), folder)
        except InputError:  # on all ranks, after the last of them has written
            if self._ranks.rank == 0:
                shutil.rmtree(aside, ignore_errors=True)
            raise

        def publish() -> None:
            if self._ranks.rank:
                return
            about = {"format": _FORMAT, "step": step, **self._identity, "files": written}
            text = json.dumps(about, indent=1)
            sealed = json.dumps({"crc": zlib.crc32(text.encode()), "checkpoint": text})
            with open(aside / _ABOUT, "w", encoding="utf-8") as file:
                file.write(sealed)
                file.flush()
                os.fsync(file.fileno())
            _flush(aside)
            whole = folder / f"step-{step:012}"
            os.rename(aside, whole)
            _flush(folder)
            for one in list(folder.iterdir()):
                if _NAME.fullmatch(one.name) and one.name < whole.name:
                    # Renamed first, so that a partly removed one is never taken for a checkpoint.
                    old = one.with_name(f".{one.name}.old")
                    os.rename(one, old)
                    shutil.rmtree(old, ignore_errors=True)

        self._together(publish, folder)

    def _together(self, work: Any, folder: Path) -> list[Any]:
        """Calls ``work`` on all ranks, and returns all results. Raises InputError on all ranks if it fails on one."""
        result, failed = None, None
        try:
            result = work()
        except OSError as error:
            failed = f"{folder}: cannot write a checkpoint: {error.strerror}; free space, or choose another folder"
        everywhere = self._ranks.gather((result, failed))
        for _, why in everywhere:
            if why is not None:
                raise InputError(why)
        return [one for one, _ in everywhere]

    def _write(self, path: Path, parts: list[_abi.SavedPart]) -> dict[str, Any]:
        """Writes this rank's file; returns what `checkpoint.json` says about it."""
        cuts, ranks, indices = self._share.cuts, self._ranks, self._share.indices
        first, rows = int(cuts[ranks.rank]), int(cuts[ranks.rank + 1] - cuts[ranks.rank])
        there: dict[str, Any] = {}
        size = crc = 0
        with open(path, "xb") as file:

            def put(address: int | None, count: int) -> int:
                nonlocal size, crc
                at = size
                for begin in range(0, count, _READ):
                    block = (ctypes.c_uint8 * min(_READ, count - begin)).from_address(int(address or 0) + begin)
                    file.write(block)
                    crc = zlib.crc32(block, crc)
                size += count
                return at

            where: dict[str, Any] = {"first": first, "rows": rows}
            if indices is not None:
                where = {"indices": put(indices.ctypes.data, indices.nbytes), "rows": rows}
            for part in parts:
                name = part.name.decode()
                if not part.rows:
                    if ranks.rank == 0:
                        there[name] = {"at": put(part.bytes, part.row_bytes), "bytes": part.row_bytes}
                elif part.offsets:
                    offsets_at = put(part.offsets, 8 * (rows + 1))
                    offsets = (ctypes.c_uint64 * (rows + 1)).from_address(int(part.offsets))
                    there[name] = {"offsets": offsets_at, "at": put(part.bytes, offsets[rows])}
                else:
                    there[name] = {"row": part.row_bytes, "at": put(part.bytes, rows * part.row_bytes)}
            file.flush()
            os.fsync(file.fileno())
        return {"file": path.name, **where, "bytes": size, "crc": crc, "parts": there}

    # ---- Reading -------------------------------------------------------------------

    def _read(self, folder: Path) -> None:
        """Reads this rank's rows of the last checkpoint of a folder."""
        whole, about, error = self._ranks.broadcast(self._opened(folder) if self._ranks.rank == 0 else None)
        if error is None:
            files = about["files"][self._ranks.rank :: self._ranks.count]
            errors = self._ranks.gather(next((text for text in (_damage(whole, one) for one in files) if text), None))
            error = next((text for text in errors if text), None)
        if error is not None:
            raise InputError(error)
        first, end = (int(self._share.cuts[self._ranks.rank + k]) for k in (0, 1))
        mine = self._share.indices if self._share.indices is not None else np.arange(first, end, dtype=np.uint32)
        restored: dict[str, Any] = {}
        ragged: dict[str, list[tuple[Array, Array, Array, Array]]] = {}
        for file in about["files"]:
            data = np.memmap(whole / file["file"], np.uint8, "r") if file["bytes"] else np.empty(0, np.uint8)
            here, there = _common(mine, file, data)
            for name, part in file["parts"].items():
                begin = int(part["at"])
                if "bytes" in part:
                    restored[name] = np.array(data[begin : begin + part["bytes"]])
                elif "row" in part:
                    width = int(part["row"])
                    if name not in restored:
                        restored[name] = np.empty((len(mine), width), np.uint8)
                    saved = data[begin : begin + file["rows"] * width].reshape(file["rows"], width)
                    restored[name][here] = saved[there]
                else:
                    at = part["offsets"]
                    rows = np.frombuffer(data[at : at + 8 * (file["rows"] + 1)].tobytes(), np.uint64).astype(np.int64)
                    ragged.setdefault(name, []).append((here, rows[there], rows[there + 1], data[begin:]))
        for name, pieces in ragged.items():
            lengths = np.zeros(len(mine), np.int64)
            for here, low, high, _ in pieces:
                lengths[here] = high - low
            ends = np.cumsum(lengths)
            array = np.empty(int(ends[-1]), np.uint8)
            for here, low, high, data in pieces:
                array[_elements(ends[here] - lengths[here], high - low)] = data[_elements(low, high - low)]
            restored[name] = array
        self._restored = restored

    def _opened(self, folder: Path) -> tuple[Path | None, dict[str, Any], str | None]:
        """The last checkpoint, what it says about itself, and why it is none of this run."""
        whole = last(folder)
        if whole is None:
            return None, {}, f"{folder}: has no checkpoint; give --restart the folder of an earlier --checkpoint"
        try:
            sealed = parse_json((whole / _ABOUT).read_bytes())
            text = str(sealed["checkpoint"])
            if zlib.crc32(text.encode()) != sealed["crc"]:
                raise ValueError
            about: dict[str, Any] = parse_json(text)
        except (OSError, ValueError, KeyError, TypeError):
            return whole, {}, f"{whole / _ABOUT}: is damaged; remove {whole} and start again"
        if about.get("format") != _FORMAT:
            return whole, {}, f"{whole}: was written by another version of Gossamer; start again"
        for key, what in _DIFFERENT.items():
            if about[key] != self._identity[key]:
                detail = _detail(about[key], self._identity[key]) if key in _SHOWN else ""
                return (
                    whole,
                    {},
                    f"{whole}: is a checkpoint of {what}{detail}; repeat that run's command with --restart",
                )
        return whole, about, None


_DIFFERENT = {
    "application": "another application",
    "source": "another version of the application",
    "vertices": "another graph: its number of vertices differs",
    "edges": "another graph: its number of edges differs",
    "graph": "another graph: its edges differ",
    "arguments": "a run with other arguments",
}
_SHOWN = ("application", "vertices", "edges", "arguments")


def _detail(saved: Any, here: Any) -> str:
    """The first difference, in parentheses."""
    if isinstance(saved, dict):
        name = next(name for name in {**saved, **here} if saved.get(name) != here.get(name))
        return f" ({name} {saved.get(name)}, here {here.get(name)})"
    return f" ({saved}, here {here})"


def _common(mine: Array, file: dict[str, Any], data: Array) -> tuple[Array, Array]:
    """The rows of a rank's vertices, whose indices are ``mine``, that a file has: their positions here and there."""
    if "indices" not in file:
        first = file["first"]
        low, high = np.searchsorted(mine, (first, first + file["rows"]))
        return np.arange(low, high), mine[low:high].astype(np.int64) - first
    begin = file["indices"]
    its = np.frombuffer(data[begin : begin + 4 * file["rows"]].tobytes(), np.uint32)
    _, here, there = np.intersect1d(mine, its, assume_unique=True, return_indices=True)
    return here, there


def _elements(begins: Array, lengths: Array) -> Array:
    """The numbers begin .. begin + length - 1 of each row, one after the other."""
    before = np.cumsum(lengths) - lengths
    found: Array = np.repeat(begins - before, lengths) + np.arange(int(lengths.sum()))
    return found


def _empty(folder: Path, aside: Path) -> None:
    """Removes what killed jobs have left, and creates the folder of a checkpoint."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in list(folder.iterdir()):
        if re.fullmatch(r"\.step-\d{12}(\.part|\.old)", one.name):
            shutil.rmtree(one)
    aside.mkdir()


def _flush(folder: Path) -> None:
    """Flushes a folder's entries to the disk."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _damage(whole: Path, about: dict[str, Any]) -> str | None:
    """Why a file of a checkpoint is not as it was written."""
    path = whole / about["file"]
    try:
        crc = size = 0
        for block in _blocks(path):
            crc = zlib.crc32(block, crc)
            size += len(block)
    except OSError as error:
        return f"{path}: cannot be read: {error.strerror}; remove {whole} and start again"
    if size != about["bytes"] or crc != about["crc"]:
        return f"{path}: is damaged; remove {whole} and start again"
    return None


def _blocks(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(_READ):
            yield block


__all__ = ["INTERVAL", "Checkpoints", "Settings", "fingerprint", "identity", "last"]
