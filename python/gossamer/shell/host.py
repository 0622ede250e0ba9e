# SPDX-License-Identifier: Apache-2.0
"""Boards on Ethernet: discovery, sessions, configuration, memory, kernels and messages.

    with Host("eth0", keys={mac: key}) as host:
        for board in host.discover():
            host.open(board.mac)
        host.configure([board.mac for board in host.discover()], role_bytes)

docs/hardware/shell.md has the protocol; the work is done in C++ (src/shell/host.h).
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gossamer.config import constants
from gossamer.errors import InputError, RunDied
from gossamer.shell import _native

BROADCAST = (1 << 48) - 1
_MOST_BOARDS = 4096
_REQUESTS = 3
_MOST_CYCLES, _MOST_RESULT = 1 << 63, 1 << 32


def parse_mac(text: str) -> int:
    """An Ethernet address as a number; InputError if the text is none."""
    if not re.fullmatch(r"[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}", text):
        raise InputError(f"{text}: not an Ethernet address; write it as 02:00:00:00:00:01")
    return int(text.replace(":", ""), 16)


def mac_text(mac: int) -> str:
    """An Ethernet address as text, lower case."""
    return ":".join(f"{mac >> shift & 255:02x}" for shift in range(40, -8, -8))


def root_of(role: bytes) -> bytes:
    """The 32 bytes that name a role: the hash of the hashes of its blocks."""
    size = 1 << constants.value("shell_block_bytes_log2")
    kept = constants.value("shell_block_hash_bytes")
    blocks = (role[at : at + size] for at in range(0, len(role), size))
    return hashlib.blake2s(b"".join(hashlib.blake2s(block).digest()[:kept] for block in blocks)).digest()


class BoardKey(bytes):
    """A board's key that is being renewed, and the ``next`` one: the board accepts at least one of them."""

    next: bytes

    def __new__(cls, key: bytes, following: bytes) -> BoardKey:
        """``key`` with ``following`` as the next one, 32 bytes each."""
        made = super().__new__(cls, key)
        made.next = following
        return made


@dataclass(frozen=True)
class BoardInfo:
    """What a board announces."""

    mac: int
    owner: int | None
    """Address of the host that has a session with the board."""
    serial: int
    vendor: int
    product: int
    board_type: int
    state: str
    """A name of the enumeration shell_state."""
    mtu: int
    """Bytes of a frame after its Ethernet header."""
    sink_rate: int
    """KB/s."""
    image_max: int
    """Bytes of the largest role file."""
    memory_bytes: int
    streams: int
    boot: int
    role: str
    """The first 16 bytes of the role's root hash in hexadecimal digits; empty without a role."""
    age_ms: int
    """Milliseconds since the last announcement."""


class BoardError(RunDied):
    """A board has rejected a request, or has not answered; ``status`` is a name of shell_status, or ``impossible`` for
    an answer that no board gives."""

    def __init__(self, mac: int, what: str, status: str) -> None:
        super().__init__(f"board {mac_text(mac)}: {what}: {status_text(status)}")
        self.mac, self.status = mac, status


_REASONS = {
    "bad_tag": "the key is not the board's, or the board was reset; check the key file, then open the session again",
    "not_owner": "another host has a session with it; wait for its end or take the board over",
    "timed_out": "no answer; check the cable and the power",
    "out_of_order": "an earlier step is missing; configure a role, then load input, then start",
    "no_role": "no role is loaded; configure one",
    "bad_image": "the role is for another type of board, too large, or damaged",
    "bad_address": "the address is outside of the board's memory or registers",
    "config_failed": "the board could not load the role or store the key; the previous one is kept",
    "role_failed": "the role's kernel reported a failure",
    "bad_version": "the board has another version of the protocol; update its shell",
    "impossible": "the board has reported values that no board has; update or check its shell",
}


def status_text(status: str) -> str:
    """What a name of shell_status means, and what to do. A number is one that this host does not know."""
    if status.isdecimal():
        return f"{_REASONS['impossible']} (status {status})"
    return _REASONS.get(status, status)


class Host:
    """A port of this machine, and the sessions on it. Not for several threads at once.

    ``port`` is a network interface (needs CAP_NET_RAW), or the socket of a simulated switch. ``keys`` has the 32 bytes
    of each board's key by address; ``mac`` is the address at a switch (random), while an interface has its own;
    ``ethertypes`` are nine numbers in the order of the enumeration ethertype; by default those of the site, from the
    environment variable GOSSAMER_ETHERTYPES.
    Raises InputError if the port cannot be opened.
    """

    def __init__(
        self,
        port: str,
        keys: Mapping[int, bytes] | None = None,
        ethertypes: Sequence[int] | None = None,
        *,
        mac: int | None = None,
    ) -> None:
        self._lib = _native.lib()
        self.keys = dict(keys or {})
        self._announced: set[int] = set()
        self._memory: dict[int, int] = {}
        """The most bytes of memory that a board has announced: announcements have no tag, so others may be forged."""
        # Bit 1 of the first byte: an address that no manufacturer has assigned.
        own = 0x02 << 40 | secrets.randbits(40) if mac is None else mac
        types = None
        if ethertypes is not None:
            if len(ethertypes) != 9 or not all(0x0600 <= one <= 0xFFFF for one in ethertypes):
                raise InputError("ethertypes: nine numbers from 0x600 to 0xFFFF are needed")
            types = (ctypes.c_uint16 * 9)(*ethertypes)
        self._host = self._lib.gs_shell_open(os.fsencode(port), own, types)
        if not self._host:
            raise InputError(self._text())
        self.mac = int(self._lib.gs_shell_mac(self._host))
        self.mtu = int(self._lib.gs_shell_mtu(self._host))

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    def free(self) -> None:
        """Closes the port; sessions end by their leases."""
        if self._host:
            self._lib.gs_shell_free(self._host)
            self._host = None

    def _text(self) -> str:
        return str(self._lib.gs_shell_error().decode(errors="replace"))

    def _status(self, code: int) -> str:
        if code < 0:
            raise RunDied(self._text())
        names = {number: name for name, number in constants.enumeration("shell_status").values.items()}
        return names.get(code, str(code))

    def _check(self, mac: int, what: str, code: int) -> None:
        if (status := self._status(code)) != "ok":
            raise BoardError(mac, what, status)

    @property
    def bytes_sent(self) -> int:
        """Bytes of all frames that this host has sent."""
        return int(self._lib.gs_shell_bytes_sent(self._host))

    def missing(self, mac: int) -> int | None:
        """Chunks that a board misses of the role that it is being configured with; None before it has reported."""
        found = int(self._lib.gs_shell_missing(self._host, mac))
        return None if found < 0 else found

    def traffic(self, mac: int) -> tuple[int, int]:
        """Bytes of frames to a station (`BROADCAST`: to all) and from it."""
        found = _native.Traffic()
        self._lib.gs_shell_count_bytes(self._host, mac, found)
        return int(found.sent), int(found.received)

    def unreadable(self, least: int = 1) -> dict[int, str]:
        """Stations that speak the shell's EtherTypes but have never announced themselves readably, with the reason.

        ``least`` is the number of damaged frames from which on a station is listed: addresses may be damaged too.
        """
        found = (_native.Unreadable * _MOST_BOARDS)()
        count = self._lib.gs_shell_list_unreadable(self._host, found, _MOST_BOARDS)
        ours = constants.value("shell_version")
        return {
            one.mac: f"speaks version {one.version} of the protocol, this host version {ours}; update the older one"
            if one.reason == 1
            else "answers with frames that are damaged or no frames of a shell; check its cable and its shell"
            for one in found[: min(count, _MOST_BOARDS)]
            if one.mac not in self._announced and (one.reason == 1 or one.frames >= least)
        }

    def discover(self, wait: float = 0.3) -> list[BoardInfo]:
        """All boards that have announced themselves, after a request and ``wait`` seconds; on longer waits the request
        is repeated, since it may be lost."""
        for _ in range(_REQUESTS - 1 if wait >= 0.3 else 0):
            if self._lib.gs_shell_discover(self._host, int(wait / _REQUESTS * 1000), None, 0) < 0:
                raise RunDied(self._text())
        found = (_native.Announcement * _MOST_BOARDS)()
        last = wait / _REQUESTS if wait >= 0.3 else wait
        count = self._lib.gs_shell_discover(self._host, int(last * 1000), found, _MOST_BOARDS)
        if count < 0:
            raise RunDied(self._text())
        states = {number: name for name, number in constants.enumeration("shell_state").values.items()}
        for one in found[: min(count, _MOST_BOARDS)]:
            self._announced.add(one.mac)
            self._memory[one.mac] = max(self._memory.get(one.mac, 0), one.memory_bytes)
        return [
            BoardInfo(
                mac=one.mac,
                owner=one.owner or None,
                serial=one.serial,
                vendor=one.vendor,
                product=one.product,
                board_type=one.board_type,
                state=states.get(one.state, str(one.state)),
                mtu=one.mtu,
                sink_rate=one.sink_rate,
                image_max=one.image_max_kib << 10,
                memory_bytes=one.memory_bytes,
                streams=one.streams,
                boot=one.boot,
                role=bytes(one.role).hex() if any(one.role) else "",
                age_ms=one.age_ms,
            )
            for one in found[: min(count, _MOST_BOARDS)]
        ]

    def pump(self, seconds: float) -> None:
        """Handles frames for some time: acknowledgements, heartbeats, announcements."""
        self._lib.gs_shell_pump(self._host, int(seconds * 1000))

    def open(self, mac: int, *, lease: float = 10.0, take_over: bool = False, timeout: float = 3.0) -> bytes:
        """Opens a session; the board ends it if it receives nothing for ``lease`` seconds. Returns the key that the
        board has accepted: of a `BoardKey`, the key itself or the next one.

        Raises BoardError: another key, another owner, no answer; InputError if no key is known.
        """
        key = self.keys.get(mac)
        if key is None:
            raise InputError(f"board {mac_text(mac)}: no key; add it to the key file with `gossamer cluster key`")
        owner = ctypes.c_uint64()
        following = [key.next] if isinstance(key, BoardKey) else []
        for one in (bytes(key), *following):
            code = self._lib.gs_shell_session(
                self._host, mac, one, int(lease * 1000), take_over, int(timeout * 1000), owner
            )
            if self._status(code) != "bad_tag":
                break
        self._check(mac, "no session", code)
        return one

    def rekey(self, mac: int, salt: bytes) -> None:
        """Makes a board derive its next key from its key and 32 bytes of ``salt`` (`keys.renewed`)."""
        if len(salt) != constants.value("shell_key_bytes"):
            raise InputError(f"a salt has {constants.value('shell_key_bytes')} bytes; this has {len(salt)}")
        self._check(mac, "no new key", self._lib.gs_shell_rekey(self._host, mac, salt))

    def age(self, mac: int) -> float | None:
        """Seconds since the last valid frame of a session; None without one, or if the board no longer knows it."""
        found = int(self._lib.gs_shell_age(self._host, mac))
        return None if found < 0 else found / 1000

    def drop(self, mac: int) -> None:
        """Forgets a session without a frame; the board ends it by its lease."""
        self._lib.gs_shell_drop(self._host, mac)

    def close(self, mac: int) -> None:
        """Ends a session."""
        self._lib.gs_shell_close(self._host, mac)

    def configure(
        self,
        macs: Sequence[int],
        role: bytes,
        board_type: int = 1,
        *,
        load: bool = True,
        unicast: bool = False,
        group: int = BROADCAST,
        drop_after: float = 3.0,
        bytes_per_s: float = 0.0,
        progress: Callable[[int, int, int], object] | None = None,
    ) -> dict[int, tuple[str, float]]:
        """Configures boards with a role file, all at once; by board, its status and the seconds until it was done.

        ``progress`` gets chunks sent, chunks in all, and boards done. It may use the host for boards that are not
        configured, but neither open nor end sessions. ``unicast`` sends to one after the other.
        A board that does not answer for ``drop_after`` seconds is given up; the others are not held up.
        """
        count = len(macs)
        statuses, seconds = (ctypes.c_int * count)(), (ctypes.c_double * count)()
        called = _native.Progress(lambda sent, total, done: progress(sent, total, done) and None if progress else None)
        code = self._lib.gs_shell_configure(
            self._host, (ctypes.c_uint64 * count)(*macs), count, role, len(role), board_type,
            int(load) | int(unicast) << 1, group, int(drop_after * 1000), bytes_per_s, called, statuses, seconds,
        )  # fmt: skip
        if code < 0:
            raise RunDied(self._text())
        return {
            mac: (self._status(status), second) for mac, status, second in zip(macs, statuses, seconds, strict=True)
        }

    def write(self, mac: int, address: int, data: bytes) -> None:
        """Stores bytes in a board's memory; returns when the board has confirmed them."""
        self._check(mac, "write", self._lib.gs_shell_write(self._host, mac, address, data, len(data)))

    def read(self, mac: int, address: int, count: int) -> bytes:
        """``count`` bytes of a board's memory."""
        buffer = ctypes.create_string_buffer(count)
        self._check(mac, "read", self._lib.gs_shell_read(self._host, mac, address, buffer, count))
        return buffer.raw

    def write_registers(self, mac: int, values: Mapping[int, int]) -> None:
        """Sets registers of the role, by byte address; all or none."""
        flat = [number for pair in values.items() for number in pair]
        code = self._lib.gs_shell_write_registers(self._host, mac, (ctypes.c_uint32 * len(flat))(*flat), len(values))
        self._check(mac, "registers", code)

    def read_register(self, mac: int, address: int) -> int:
        """A register of the role."""
        value = ctypes.c_uint32()
        self._check(mac, "register", self._lib.gs_shell_read_register(self._host, mac, address, value))
        return value.value

    def start(self, mac: int, kernel: int = 0, run: int = 1) -> None:
        """Starts a kernel; ``run`` is a number of the caller's that names this run."""
        self._check(mac, "start", self._lib.gs_shell_start(self._host, mac, kernel, run))

    def start_all(self, macs: Sequence[int], kernel: int = 0, run: int = 1) -> None:
        """Starts a kernel on several boards with one broadcast frame."""
        for mac, status in self.start_each(macs, kernel, run).items():
            if status != "ok":
                raise BoardError(mac, "start", status)

    def start_each(self, macs: Sequence[int], kernel: int = 0, run: int = 1) -> dict[int, str]:
        """Starts a kernel on several boards with one broadcast frame; the status of each."""
        count = len(macs)
        statuses = (ctypes.c_int * count)()
        code = self._lib.gs_shell_start_all(self._host, (ctypes.c_uint64 * count)(*macs), count, kernel, run, statuses)
        if code < 0:
            raise RunDied(self._text())
        return {mac: self._status(status) for mac, status in zip(macs, statuses, strict=True)}

    def wait(self, mac: int, run: int = 1, timeout: float = 60.0) -> tuple[int, int]:
        """Waits for the end of a run: its clock cycles, and the bytes of its result."""
        end = _native.RunEnd()
        self._check(mac, "run", self._lib.gs_shell_wait(self._host, mac, run, int(timeout * 1000), end))
        # A board with the right key may be defect, and a buffer of this size is made for the result.
        if end.cycles >= _MOST_CYCLES or end.result_bytes > self._memory.get(mac, _MOST_RESULT):
            raise BoardError(mac, "run", "impossible")
        return int(end.cycles), int(end.result_bytes)

    def result(self, mac: int, count: int, run: int = 1) -> bytes:
        """``count`` bytes of the result of a run that has ended."""
        try:
            buffer = ctypes.create_string_buffer(count)
        except (MemoryError, OverflowError):
            raise BoardError(mac, "result", "impossible") from None
        self._check(mac, "result", self._lib.gs_shell_result(self._host, mac, run, 0, buffer, count))
        return buffer.raw

    def finish(self, mac: int, run: int = 1) -> None:
        """Ends a run whose result is no longer needed, so that the next can start."""
        self._check(mac, "finish", self._lib.gs_shell_finish(self._host, mac, run))

    def send(self, mac: int, stream: int, packet: bytes, timeout: float = 5.0) -> None:
        """Sends a packet to the role on a stream."""
        code = self._lib.gs_shell_send(self._host, mac, stream, packet, len(packet), int(timeout * 1000))
        self._check(mac, f"stream {stream}", code)

    def receive(self, mac: int, stream: int, timeout: float = 5.0) -> bytes | None:
        """The role's next packet on a stream; None if none arrives in time."""
        buffer = ctypes.create_string_buffer(1 << 16)
        count = self._lib.gs_shell_receive(self._host, mac, stream, buffer, len(buffer), int(timeout * 1000))
        if count == -1:
            raise RunDied(self._text())
        return buffer.raw[:count] if count >= 0 else None

    def status(self, mac: int) -> dict[str, int | str] | None:
        """The counters of the board's last status; None before the first."""
        found = _native.Status()
        if not self._lib.gs_shell_last_status(self._host, mac, found):
            return None
        states = {number: name for name, number in constants.enumeration("shell_state").values.items()}
        counters = {name: getattr(found, name) for name, *_ in _native.Status._fields_ if name != "reserved"}
        return counters | {"state": states.get(found.state, str(found.state))}


__all__ = [
    "BROADCAST",
    "BoardError",
    "BoardInfo",
    "BoardKey",
    "Host",
    "mac_text",
    "parse_mac",
    "root_of",
    "status_text",
]
