# SPDX-License-Identifier: Apache-2.0
"""Files of board keys: JSON, from each board's address to its 32 bytes in hexadecimal digits.

While a key is being renewed, the value is ``{"key": HEX, "next": HEX}``: the board accepts one of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import InputError
from gossamer.files import parse_json, reason
from gossamer.shell.host import BoardError, BoardKey, mac_text, parse_mac

if TYPE_CHECKING:
    from gossamer.shell.host import Host

_BYTES = 32
_RENEWAL = b"gossamer-rekey"


def check_private(path: Path, what: str) -> str:
    """The text of a file that only its owner may read; ``what`` names its contents. Raises InputError."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the {what}: {reason(error)}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path}: other users can read the {what}; chmod 600 {path}")
    return text


def write_private(path: Path, text: str, what: str) -> None:
    """Writes a file that only its owner may read, whole or not at all, and on disk when this returns.

    Raises InputError.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.unlink(missing_ok=True)
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot write the {what}: {(error.strerror or str(error)).lower()}") from None


def read(path: Path) -> dict[int, bytes]:
    """The keys of a file, by address; those that are being renewed are of type `BoardKey`.

    Raises InputError if others than its owner may read it, or if it is not a file of keys.
    """
    if not path.exists():
        raise InputError(f"{path}: no such key file; make one with `gossamer cluster key {path} ADDRESS...`")
    text = check_private(path, "keys")
    keys: dict[int, bytes] = {}
    try:
        for name, value in parse_json(text).items():
            parts = [value["key"], value["next"]] if isinstance(value, dict) else [value]
            both = [bytes.fromhex(part) for part in parts]
            for key in both:
                if len(key) != _BYTES:
                    raise InputError(f"{path}: the key of {name} has {len(key)} bytes; it must have {_BYTES}")
            keys[parse_mac(name)] = BoardKey(both[0], both[1]) if len(both) > 1 else both[0]
    except (ValueError, AttributeError, TypeError, KeyError):
        raise InputError(f"{path}: is not a key file: a JSON object from addresses to hexadecimal keys") from None
    return keys


def write(path: Path, keys: Mapping[int, bytes]) -> None:
    """Writes a file that only its owner may read, whole or not at all."""
    values = {
        mac_text(mac): {"key": key.hex(), "next": key.next.hex()} if isinstance(key, BoardKey) else key.hex()
        for mac, key in sorted(keys.items())
    }
    write_private(path, json.dumps(values, indent=2) + "\n", "keys")


def make(macs: Iterable[int], known: Mapping[int, bytes] | None = None, *, rotate: bool = False) -> dict[int, bytes]:
    """``known`` with a new random key for each address that has none; with ``rotate`` for each address."""
    keys = dict(known or {})
    for mac in macs:
        if rotate or mac not in keys:
            keys[mac] = secrets.token_bytes(_BYTES)
    return keys


def renewed(key: bytes, salt: bytes) -> bytes:
    """The key that a board derives from its ``key`` and the ``salt`` of a rekey command (docs/hardware/shell.md)."""
    return hashlib.blake2s(salt + _RENEWAL, key=key).digest()


def rotate(
    path: Path,
    host: Host,
    macs: Iterable[int],
    *,
    take_over: bool = False,
    told: Callable[[int], object] = lambda _: None,
) -> dict[int, str]:
    """Renews the keys of boards, and their file; by board, why its key was not renewed, or an empty text.

    Each next key is in the file before its board gets the salt, and the old one until the board has opened a session
    with the next. So a rotation that is interrupted at any moment loses no board, and the next rotation continues it.
    ``told`` is called after each board. Raises InputError if the file cannot be used.
    """
    keys, ends = read(path), {}
    for mac in macs:
        if mac not in keys:
            raise InputError(f"{path}: has no key for board {mac_text(mac)}")
        try:
            # An earlier rotation may have been interrupted: this uses the key that the board accepts.
            old = host.open(mac, take_over=take_over)
            salt = secrets.token_bytes(_BYTES)
            keys[mac] = BoardKey(old, renewed(old, salt))
            write(path, keys)
            host.rekey(mac, salt)
            host.close(mac)
            host.keys[mac] = renewed(old, salt)
            host.open(mac, take_over=take_over)
            keys[mac] = host.keys[mac]
            write(path, keys)
            host.close(mac)
            ends[mac] = ""
        except BoardError as error:
            ends[mac] = str(error)
        told(mac)
    return ends


__all__ = ["check_private", "mac_text", "make", "read", "renewed", "rotate", "write", "write_private"]
