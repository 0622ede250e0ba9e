# SPDX-License-Identifier: Apache-2.0
"""Where things are in a checkout. Nothing is written outside of it but caches."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The checkout."""
STATE = ROOT / ".gossamer"
"""The command's own environment and caches; deleting it costs only time."""
BUILD = ROOT / "build"
"""What is compiled or generated; never committed."""
APPS = ROOT / "apps"
CONFIG = ROOT / "config"
DATA = ROOT / "data"
INCLUDE = ROOT / "include"
