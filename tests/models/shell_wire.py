# SPDX-License-Identifier: Apache-2.0
"""The shell's RTL on a wire that is exact to the cycle (models/shell/wire.cc), and a host in Python.

The frames are those of `shell.shell_frames`, which shares no code with the product.
"""

from __future__ import annotations

import functools
import hashlib
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from shell import shell_frames as frames
from shell.shell_frames import Frame

import models
from gossamer.hdl import sources, verilate
from gossamer.paths import INCLUDE
from gossamer.shell import _build, _firmware

BOARD, HOST = bytes.fromhex("020000000101"), bytes.fromhex("020000007701")
KEY = bytes(range(32))
OVERHEAD = 24
"""Bytes of the wire that a MAC adds to a frame: preamble 8, checksum 4, gap 12."""
LEAST = 60
"""Bytes of the shortest frame without its checksum."""
_QUIET = 6000
"""Cycles after which the firmware has answered what it was sent."""


@functools.cache
def program() -> Path:
    """Raises InputError if it cannot be built."""
    design = sources.listing(_build.SIMULATION / "sim_shell.f")
    include = [_build.SIMULATION, _build.SOURCES.parent, INCLUDE, _build.constants()]
    return verilate.model(
        "gs_sim_shell", design, [models.FOLDER / "shell" / "wire.cc"], include=include, cxx=["-std=c++20"]
    )


@dataclass(frozen=True)
class Run:
    """What a run of frames showed; times in cycles."""

    out: list[tuple[int, bytes]]
    """The board's frames, each with the cycle of its last byte."""
    first: int
    last: int
    lost: int
    paused: int
    delivered: list[tuple[int, int, bytes]]
    """Packets that the role got, each with the cycle of its last word and its stream."""


class Board:
    """A board with a role and an open session."""

    def __init__(self, memory: int = 1 << 20, latency: int = 30, stalls: int = 0, seed: int = 1) -> None:
        """Memory in bytes, its latency in cycles; ``stalls`` of 16 cycles, a channel of the memory stalls."""
        command = [program(), f"+firmware={_firmware.shell()}", BOARD.hex(), KEY.hex()]
        numbers = (memory, latency, stalls, seed)
        self.process = subprocess.Popen(
            [*map(str, command), *map(str, numbers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.memory, self.seq, self.session, self.key = memory, 1, 0x1122334455667788, bytes(32)
        (announced,) = [frames.parse(one) for _, one in self.run(quiet=300_000).out]
        assert announced.kind == frames.ANNOUNCE
        self.open(announced.session)
        self.load(b"role" * 100)

    def close(self) -> None:
        self.process.communicate()

    def open(self, challenge: int) -> None:
        self.seq = 1
        payload = struct.pack(">QII", self.session, 60_000, 0)
        self.add(Frame(BOARD, HOST, frames.OPEN, payload, session=challenge).bytes(KEY))
        answers = [frames.parse(one) for _, one in self.run(quiet=300_000).out]
        assert frames.OPENED in [one.kind for one in answers], answers
        self.key = frames.session_key(KEY, BOARD, HOST, challenge, self.session)

    def load(self, role: bytes) -> None:
        """Configures the board with an image of one block."""
        manifest = hashlib.blake2s(role).digest()[:16]
        root = hashlib.blake2s(manifest).digest()
        chunks = [manifest.ljust(1344, b"\0"), role]
        about = struct.pack(">QIHBBII", len(role), 0, 1344, 1, 0, len(chunks), len(manifest)) + root + bytes(8)
        self.add(self.command(frames.BEGIN, about, flags=8))
        binding = int.from_bytes(root[:8], "big")
        for number, chunk in enumerate(chunks):
            data = Frame(frames.BROADCAST, HOST, frames.DATA, chunk, offset=number, binding=binding)
            self.add(data.bytes(), gap=2000)
        answers = [frames.parse(one) for _, one in self.run(quiet=300_000).out]
        assert (frames.LOADED, 0) in [(one.kind, one.status) for one in answers], answers

    def command(self, kind: int, payload: bytes = b"", **fields: int) -> bytes:
        """The next command, sealed."""
        seq = fields.pop("sequence", self.seq)
        self.seq = seq + 1
        fields.setdefault("session", self.session)
        return Frame(BOARD, HOST, kind, payload, sequence=seq, **fields).bytes(self.key)

    def add(self, data: bytes, gap: int = OVERHEAD) -> int:
        """A frame that waits for `run`; its cycles on the wire."""
        data = data.ljust(LEAST, b"\0")
        self._say(f"frame {gap} {data.hex()}")
        return len(data) + gap

    def run(self, quiet: int = _QUIET) -> Run:
        self._say(f"run {quiet}")
        out, delivered = [], []
        while (words := self._line().split())[0] != "end":
            if words[0] == "out":
                out.append((int(words[1]), bytes.fromhex(words[2])))
            else:
                delivered.append((int(words[1]), int(words[2]), bytes.fromhex(words[3].strip("-"))))
        first, last, lost, paused = map(int, words[1:])
        return Run(out, first, last, lost, paused, delivered)

    def role(self, streams: int, wanted: int = 15, echo: bool = False) -> None:
        """Streams of the role, a mask of those for which it accepts packets, whether it sends back what it gets."""
        self._say(f"role {streams} {wanted} {int(echo)}")

    def send(self, stream: int, packet: bytes) -> None:
        """A packet of the role."""
        self._say(f"send {stream} {packet.hex() or '-'}")

    def milliseconds(self, cycles: int) -> None:
        """Cycles of a millisecond from now on."""
        self._say(f"ms {cycles}")

    def end_kernel(self) -> None:
        self._say("done 0")

    def packet(self, stream: int, seq: int, payload: bytes, run: int = 1, acknowledge: int = 1, **fields: int) -> bytes:
        """A packet of the host, sealed."""
        fields.setdefault("session", self.session)
        kind = fields.pop("kind", frames.PACKET)
        frame = Frame(
            BOARD, HOST, kind, payload, sequence=seq, offset=stream, binding=run, acknowledge=acknowledge, **fields
        )
        return frame.bytes(self.key)

    def read(self, at: int, count: int) -> bytes:
        """Bytes of the board's memory."""
        self._say(f"read {at} {count}")
        return bytes.fromhex(self._line())

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def _line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the simulation has ended: {self.process.wait()}")
        if "%Error" in line:
            raise AssertionError(line)
        return line


def burst(board: Board, length: int, count: int, every: int) -> tuple[float, Run]:
    """Writes of ``length`` bytes without a pause, one in ``every`` with an answer: bytes accepted over cycles, which is
    less than 1 if the board has not executed all of them. A frame's cycles are those of its bytes on the wire."""
    data = pattern(length)
    slots = (board.memory - length) // max(length, 1)
    before = board.seq
    sizes = []
    for n in range(count):
        flags = 8 if n % every == every - 1 else 0
        frame = board.command(frames.WRITE, data[n % 251], offset=n % slots * length, flags=flags)
        sizes.append(board.add(frame))
    run = board.run()
    answers = [frames.parse(one) for _, one in run.out]
    good = [one.acknowledge - before for one in answers if one.kind == frames.STORED and one.status == 0]
    done = max(good, default=0)
    for n in range(max(0, done - min(slots, 300)), done):
        assert board.read(n % slots * length, length) == data[n % 251], (length, n)
    return sum(sizes[:done]) / sum(sizes), run


def pattern(length: int) -> list[bytes]:
    """Payloads of ``length`` bytes, which differ if it is not 0."""
    return [bytes((n + 7 * k) % 256 for k in range(length)) for n in range(251)]


def message_burst(board: Board, length: int, count: int, run: int) -> tuple[float, Run]:
    """Packets of ``length`` bytes to stream 0 of a new run without a pause: bytes of those that the role got, in order
    and unchanged, over cycles."""
    data = pattern(length)
    board.role(1)
    board.add(board.command(frames.START, binding=run), gap=3000)
    board.run()
    sizes = [board.add(board.packet(0, n + 1, data[n % 251], run)) for n in range(count)]
    found = board.run()
    done = 0
    for _, stream, packet in found.delivered:
        assert (stream, packet) == (0, data[done % 251]), done
        done += 1
    credited = [one for one in (frames.parse(data) for _, data in found.out) if one.kind == frames.CREDIT]
    assert done == 0 or credited[-1].acknowledge == done + 1
    end_run(board, run)
    return sum(sizes[:done]) / sum(sizes), found


def packet_burst(board: Board, length: int, count: int, run: int) -> tuple[float, Run]:
    """Packets of ``length`` bytes of the role, as fast as it can send them: bytes over cycles between the first and the
    last of the board's frames, if the host gets all of them, in order and unchanged. It acknowledges them in time."""
    data = pattern(length)
    board.role(1)
    board.add(board.command(frames.START, binding=run), gap=3000)
    board.run()
    for n in range(count):
        board.send(0, data[n % 251])
    cycles = frames.HEADER + length + OVERHEAD
    # The host acknowledges half of a window at once, some frames after it has received it.
    for n in range(0, count, 16):
        credit = board.packet(0, 0, b"", run, acknowledge=n + 1, kind=frames.CREDIT)
        board.add(credit, gap=(16 if n else 20) * cycles - len(credit))
    found = board.run()
    sent = [(at, frames.parse(one)) for at, one in found.out if one[16] == frames.PACKET]
    assert [one.sequence for _, one in sent[:count]] == list(range(1, count + 1))
    assert all(one.payload == data[n % 251] for n, (_, one) in enumerate(sent[:count]))
    assert all(frames.tag_is_right(one, board.key) for _, one in found.out)
    share = cycles * (count - 1) / (sent[count - 1][0] - sent[0][0])
    end_run(board, run)
    return share, found


def image_burst(board: Board, size: int, chunk: int) -> tuple[float, Run]:
    """The chunks of an image of ``size`` bytes to all boards without a pause: bytes of those that the board has taken
    over cycles. It must confirm that it has loaded an image of which no chunk is missing."""
    role = b"".join(hashlib.blake2s(struct.pack(">IIQ", size, chunk, n)).digest() for n in range(size // 32))
    hashes = [hashlib.blake2s(role[at : at + 65536]).digest()[:16] for at in range(0, len(role), 65536)]
    manifest = b"".join(hashes)
    root = hashlib.blake2s(manifest).digest()
    padded = manifest.ljust(-len(manifest) % chunk + len(manifest), b"\0") + role
    chunks = [padded[at : at + chunk] for at in range(0, len(padded), chunk)]
    about = struct.pack(">QIHBBII", len(role), 0, chunk, 1, 0, len(chunks), len(manifest)) + root + bytes(8)
    board.add(board.command(frames.BEGIN, about, flags=8))
    # The guard erases its marks.
    begun = [frames.parse(one) for _, one in board.run(quiet=300_000).out]
    assert (frames.BEGUN, 0) in [(one.kind, one.status) for one in begun], begun
    binding = int.from_bytes(root[:8], "big")
    sizes = [
        board.add(Frame(frames.BROADCAST, HOST, frames.DATA, data, offset=n, binding=binding).bytes())
        for n, data in enumerate(chunks)
    ]
    found = board.run(quiet=200_000)
    query = Frame(BOARD, HOST, frames.QUERY, offset=0, binding=binding, sequence=1 << 31)
    board.add(query.bytes())
    answers = [frames.parse(one) for _, one in (*found.out, *board.run(quiet=400_000).out)]
    missing = 0
    for one in answers:
        if one.kind == frames.REPORT:
            missing = struct.unpack_from(">I", one.payload, 4)[0]
    assert missing or (frames.LOADED, 0) in [(one.kind, one.status) for one in answers], answers
    return 1 - missing * (chunk + frames.HEADER + OVERHEAD) / sum(sizes), found


def end_run(board: Board, run: int) -> None:
    board.end_kernel()
    board.run(60_000)
    board.add(board.command(frames.FINISH, binding=run))
    assert frames.DONE in [frames.parse(one).kind for _, one in board.run(60_000).out]
