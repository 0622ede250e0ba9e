# SPDX-License-Identifier: Apache-2.0
"""Files of board keys: JSON, from each board's address to its 32 bytes in hexadecimal digits."""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from gossamer.errors import InputError
from gossamer.shell.host import mac_text, parse_mac

_BYTES = 32


def read(path: Path) -> dict[int, bytes]:
    """The keys of a file, by address.

    Raises InputError if others than its owner may read it, or if it is not a file of keys.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such key file; make one with `gossamer cluster key {path} ADDRESS...`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the keys: {error}") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path}: other users can read the keys; chmod 600 {path}")
    keys: dict[int, bytes] = {}
    try:
        entries = json.loads(text)
        for name, value in entries.items():
            key = bytes.fromhex(value)
            if len(key) != _BYTES:
                raise InputError(f"{path}: the key of {name} has {len(key)} bytes; it must have {_BYTES}")
            keys[parse_mac(name)] = key
    except (ValueError, AttributeError, TypeError):
        raise InputError(f"{path}: is not a key file: a JSON object from addresses to hexadecimal keys") from None
    return keys


def write(path: Path, keys: dict[int, bytes]) -> None:
    """Writes a file that only its owner may read, whole or not at all."""
    text = json.dumps({mac_text(mac): key.hex() for mac, key in sorted(keys.items())}, indent=2) + "\n"
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        partial.unlink(missing_ok=True)
        with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot write the keys: {(error.strerror or str(error)).lower()}") from None


def make(macs: Iterable[int], known: dict[int, bytes] | None = None, *, rotate: bool = False) -> dict[int, bytes]:
    """``known`` with a new random key for each address that has none; with ``rotate`` for each address."""
    keys = dict(known or {})
    for mac in macs:
        if rotate or mac not in keys:
            keys[mac] = secrets.token_bytes(_BYTES)
    return keys


__all__ = ["mac_text", "make", "read", "write"]
