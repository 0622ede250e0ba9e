# SPDX-License-Identifier: Apache-2.0
"""Where things are in a checkout. Nothing is written outside of it but caches."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
STATE = ROOT / ".gossamer"
"""The command's own environment and caches; deleting it costs only time."""
BUILD = ROOT / "build"
"""Compiled and generated files; never committed."""
APPS = ROOT / "apps"
CONFIG = ROOT / "config"
DATA = ROOT / "data"
INCLUDE = ROOT / "include"


def app_headers(name: str | None = None) -> list[Path]:
    """The headers of the applications, or of one name: each ``apps/FAMILY/NAME.h`` where NAME begins with FAMILY.

    Variants of an application share its folder. Other headers in the folder are no applications.
    """
    found = (path for path in APPS.glob("*/*.h") if path.stem.startswith(path.parent.name))
    return sorted(path for path in found if name in (None, path.stem))
