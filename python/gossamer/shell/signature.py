# SPDX-License-Identifier: Apache-2.0
"""Role packages: a role file with its name, version and type of board, signed with Ed25519 (RFC 8032).

    bytes    contents
    0-3      "GSR1"
    4-7      bytes of the description, most significant first
    8-       description, JSON in UTF-8: name, version, board_type, body_bytes, root, signer
    then     signature, 64 bytes, of "gossamer-role" and a zero byte, then bytes 0 to the end of the description
    then     manifest: the first 16 bytes of BLAKE2s-256 of each block of 64 KiB of the body
    then     body: the role file

``root`` is BLAKE2s-256 of the manifest, ``signer`` the public key; both in hexadecimal digits. So the signature covers
every byte of the body. docs/hardware/shell.md says how boards use the manifest.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gossamer_setup
from gossamer.config import constants
from gossamer.errors import InputError
from gossamer.files import parse_json, reason
from gossamer.shell import keys
from gossamer.shell.host import root_of

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAGIC = b"GSR1"
_DOMAIN = b"gossamer-role\0"
_SIGNATURE_BYTES = 64
_MOST_DESCRIPTION = 1 << 16
_FIELDS = {"name": str, "version": str, "board_type": int, "body_bytes": int, "root": str, "signer": str}


@dataclass(frozen=True)
class Package:
    """A role package whose signature and hashes are right."""

    name: str
    version: str
    board_type: int
    root: bytes
    """32 bytes."""
    signer: bytes
    """Public key, 32 bytes."""
    body: bytes
    """The role file."""


def _require() -> None:
    gossamer_setup.require("sign")


def make_key(path: Path) -> Path:
    """Makes a signing key: ``path`` (PKCS 8, for its owner alone) and the public key in OpenSSH's format.

    Returns the path of the public key. Raises InputError if a file exists or cannot be written.
    """
    _require()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = path.with_name(f"{path.name}.pub")
    for one in (path, public):
        if one.exists():
            raise InputError(f"{one}: exists; signing keys are not overwritten, choose another name")
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    keys.write_private(path, pem.decode(), "signing key")
    line = key.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH).decode()
    try:
        public.write_text(f"{line} {path.stem}\n", encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{public}: cannot write the public key: {(error.strerror or str(error)).lower()}") from None
    return public


def read_key(path: Path) -> Ed25519PrivateKey:
    """An Ed25519 key without a passphrase, in PKCS 8 or OpenSSH's format. Raises InputError."""
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    if not path.exists():
        raise InputError(f"{path}: no such signing key; make one with `gossamer cluster key --signing {path}`")
    text = keys.check_private(path, "signing key").encode()
    load = form.load_ssh_private_key if b"OPENSSH" in text else form.load_pem_private_key
    try:
        key = load(text, None)
    except TypeError:
        raise InputError(f"{path}: has a passphrase; write the key without one, in a file of mode 600") from None
    except (ValueError, UnsupportedAlgorithm):
        raise InputError(f"{path}: is not a private key in PEM or OpenSSH's format") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(f"{path}: is not an Ed25519 key; make one with `gossamer cluster key --signing FILE`")
    return key


def read_trust(path: Path) -> dict[bytes, str]:
    """The public keys of a file with lines of OpenSSH's format: their names by their 32 bytes. Raises InputError."""
    _require()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot read the trusted keys: {reason(error)}") from None
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InputError(f"{path}: other users can change the trusted keys; chmod 644 {path}")
    trusted: dict[bytes, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        key: object = None
        with contextlib.suppress(ValueError, UnsupportedAlgorithm):
            key = form.load_ssh_public_key(line.encode())
        if not isinstance(key, Ed25519PublicKey):
            raise InputError(f"{path}:{number}: is not a public Ed25519 key in OpenSSH's format")
        name = line.split(maxsplit=2)[2:] or [f"line {number}"]
        trusted[key.public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)] = name[0].strip()
    return trusted


def _manifest(body: bytes) -> bytes:
    size = 1 << constants.value("shell_block_bytes_log2")
    kept = constants.value("shell_block_hash_bytes")
    return b"".join(hashlib.blake2s(body[at : at + size]).digest()[:kept] for at in range(0, len(body), size))


def sign(body: bytes, key: Ed25519PrivateKey, *, name: str, version: str, board_type: int) -> bytes:
    """The package of a role file."""
    from cryptography.hazmat.primitives import serialization as form

    signer = key.public_key().public_bytes(form.Encoding.Raw, form.PublicFormat.Raw)
    described = json.dumps(
        {
            "name": name,
            "version": version,
            "board_type": board_type,
            "body_bytes": len(body),
            "root": root_of(body).hex(),
            "signer": signer.hex(),
        },
        separators=(",", ":"),
    ).encode()
    if len(described) > _MOST_DESCRIPTION:
        raise InputError("name and version are too long for a role package")
    head = MAGIC + struct.pack(">I", len(described)) + described
    signature: bytes = key.sign(_DOMAIN + head)
    return head + signature + _manifest(body) + body


def is_package(data: bytes) -> bool:
    """Whether bytes begin as a package."""
    return data.startswith(MAGIC)


def _described(where: str, text: bytes) -> dict[str, Any]:
    try:
        found = parse_json(text)
        if not isinstance(found, dict) or found.keys() != _FIELDS.keys():
            raise ValueError
        for field, kind in _FIELDS.items():
            if type(found[field]) is not kind:
                raise ValueError
        if len(bytes.fromhex(found["root"])) != 32 or len(bytes.fromhex(found["signer"])) != 32:
            raise ValueError
    except ValueError:
        raise InputError(f"{where}: is damaged: the description of the role package cannot be read") from None
    return found


def verify(where: str, data: bytes, trusted: Mapping[bytes, str] | None) -> Package:
    """Checks a package: its signature, that its signer is trusted (None: any signer), and the hashes of its body.

    ``where`` names the file in errors. Raises InputError.
    """
    _require()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    if len(data) < 8 or not is_package(data):
        raise InputError(f"{where}: is not a role package; sign a role with `gossamer cluster sign`")
    head = 8 + struct.unpack_from(">I", data, 4)[0]
    if head > 8 + _MOST_DESCRIPTION or head + _SIGNATURE_BYTES > len(data):
        raise InputError(f"{where}: is damaged: it ends within the description of the role package")
    found = _described(where, data[8:head])
    signer = bytes.fromhex(found["signer"])
    if trusted is not None and signer not in trusted:
        raise InputError(f"{where}: is signed with a key that is not trusted, {signer.hex()[:16]}...")
    try:
        Ed25519PublicKey.from_public_bytes(signer).verify(data[head : head + _SIGNATURE_BYTES], _DOMAIN + data[:head])
    except (InvalidSignature, ValueError):
        raise InputError(f"{where}: is damaged: the signature is not that of the description") from None
    size = 1 << constants.value("shell_block_bytes_log2")
    kept = constants.value("shell_block_hash_bytes")
    at = head + _SIGNATURE_BYTES
    body_at = at + kept * -(-found["body_bytes"] // size)
    manifest, body = data[at:body_at], data[body_at:]
    if len(body) != found["body_bytes"]:
        raise InputError(f"{where}: is damaged: {len(body):,} bytes of {found['body_bytes']:,} of the role are there")
    if hashlib.blake2s(manifest).hexdigest() != found["root"]:
        raise InputError(f"{where}: is damaged: the manifest is not the one that was signed")
    actual = _manifest(body)
    for block in range(len(manifest) // kept):
        if manifest[block * kept :][:kept] != actual[block * kept :][:kept]:
            raise InputError(f"{where}: is damaged: bytes {block * size:,} to {min(len(body), (block + 1) * size):,}")
    return Package(found["name"], found["version"], found["board_type"], bytes.fromhex(found["root"]), signer, body)


def accepted(where: str, data: bytes, trust: Path | None) -> tuple[bytes, Package | None]:
    """The role file in ``data``, a package or an unsigned role, under the policy of a file of trusted keys.

    Without that file, unsigned roles and any signer are accepted; a package is checked all the same. With it, a role
    needs a package that one of the keys has signed. Raises InputError.
    """
    trusted = None if trust is None else read_trust(trust)
    if is_package(data):
        package = verify(where, data, trusted)
        return package.body, package
    if trusted is not None:
        raise InputError(f"{where}: is not signed, and {trust} is the file of trusted keys; sign it first")
    return data, None


__all__ = [
    "Package",
    "accepted",
    "is_package",
    "make_key",
    "read_key",
    "read_trust",
    "sign",
    "verify",
]
