# SPDX-License-Identifier: Apache-2.0
"""The ledger of proofs: a committed file with a digest of everything that a proof depends on, once it has passed.

In the tiers ``quick`` and ``default`` of the tests a proof that the ledger holds is not run again; ``--all`` and
``--full`` always prove. ``./gossamer test --all --record-proofs`` writes the ledger anew.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os

from gossamer.paths import ROOT

FILE = ROOT / "tests" / "proofs.json"
_RECORD = "GOSSAMER_RECORD_PROOFS"
"""The environment variable that names a file to which passed proofs are appended, a line each: digest, label."""


@functools.cache
def _known() -> frozenset[str]:
    try:
        return frozenset(json.loads(FILE.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return frozenset()


def holds(identity: str) -> bool:
    """Whether a proof needs no run: the tier leaves out what has not changed, and the ledger has its digest."""
    return os.environ.get("GOSSAMER_TEST_TIER") in ("quick", "default") and identity in _known()


def record(identity: str, label: str) -> None:
    """Notes that a proof has passed, where the environment asks for it."""
    if path := os.environ.get(_RECORD):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{identity} {label}\n")


def write(lines: str, *, whole: bool) -> None:
    """Writes the ledger from the lines that ``record`` has written.

    ``whole``: all proofs have run, so digests that were not recorded are dropped.
    """
    found = dict(line.split(" ", 1) for line in lines.splitlines() if " " in line)
    if not whole:
        with contextlib.suppress(FileNotFoundError, ValueError):
            found = {**json.loads(FILE.read_text(encoding="utf-8")), **found}
    text = ",\n".join(f"  {json.dumps(key)}: {json.dumps(label)}" for key, label in sorted(found.items()))
    FILE.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


__all__ = ["FILE", "holds", "record", "write"]
