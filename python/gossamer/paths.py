# SPDX-License-Identifier: Apache-2.0
"""Where things are, in a checkout or in an installed package (`gossamer_setup._places` finds them).

Nothing is written outside of a checkout but caches, and nothing into an installed package.
"""

from __future__ import annotations

from pathlib import Path

from gossamer_setup import _places

INSTALLED = _places.INSTALLED
"""Whether this is an installed package, not a checkout."""
ROOT = Path(_places.ROOT).resolve()
"""The checkout, or the folder of the package that has the same folders."""
PYTHON = Path(_places.PYTHON).resolve()
"""The folder of Gossamer's Python packages."""
STATE = ROOT / ".gossamer" if not INSTALLED else Path(_places.STATE)
"""The command's own environment and caches; deleting it costs only time."""
BUILD = ROOT / "build" if not INSTALLED else Path(_places.BUILD)
"""Compiled and generated files; never committed."""
APPS = ROOT / "apps"
CONFIG = ROOT / "config"
DATA = ROOT / "data"
INCLUDE = ROOT / "include"


def command() -> list[str]:
    """The first words of a command line that starts this Gossamer."""
    return _places.command()


def app_headers(name: str | None = None) -> list[Path]:
    """The headers of the applications, or of one name: each ``apps/FAMILY/NAME.h`` where NAME begins with FAMILY.

    Variants of an application share its folder. Other headers in the folder are no applications.
    """
    found = (path for path in APPS.glob("*/*.h") if path.stem.startswith(path.parent.name))
    return sorted(path for path in found if name in (None, path.stem))
