# SPDX-License-Identifier: Apache-2.0
"""Where Gossamer's files are: the one resolver, for a checkout and for an installed package.

A checkout is the folder above ``python/``. An installed package has the same folders in ``gossamer/tree/``, as far as
programs read them (`PACKAGED`), and writes to the user's cache folder, because its own may be read-only. It imports
nothing costly: every start of the command reads it.
"""

from __future__ import annotations

import os
import sys

from gossamer_setup._version import VERSION

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder of the packages ``gossamer`` and ``gossamer_setup``."""
_FILES = os.path.join(PYTHON, "gossamer", "tree")
INSTALLED = os.path.isdir(_FILES)
"""Whether this is an installed package, not a checkout."""
ROOT = _FILES if INSTALLED else os.path.dirname(PYTHON)
"""The folder that has apps/, config/, include/ and so on."""

NAME = "gossamer" if INSTALLED else "./gossamer"
"""The command, as users type it."""

PACKAGED = (
    "LICENSE",
    "apps",
    "compat",
    "config",
    "data",
    "device",
    "examples",
    "host",
    "include",
    "programs",
    "requirements",
    "rtl",
    "sim",
    "src",
)
"""The folders and files of a checkout that an installed package has, too: all that its programs read."""
CHECKOUT_ONLY = ("bench", "docs", "gossamer", "ip", "pyproject.toml", "tests", "tools")
"""Those that only commands of a checkout read (`_commands.CHECKOUT_COMMANDS`)."""


def cache_base() -> str:
    """The folder of the user's caches, ``$XDG_CACHE_HOME`` or ``~/.cache``."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rule: a relative path is ignored.
    return home if os.path.isabs(home) else os.path.join(os.path.expanduser("~"), ".cache")


def checksum(text: str) -> str:
    """Eight hex digits of a text."""
    import zlib

    return f"{zlib.crc32(text.encode('utf-8', 'surrogateescape')):08x}"


def _state() -> str:
    if not INSTALLED:
        return os.path.join(ROOT, ".gossamer")
    # An update in the same place must not use the builds of the version before it.
    return os.path.join(cache_base(), f"gossamer-{VERSION}-{checksum(ROOT)}")


STATE = _state()
"""Environments and states of this checkout or package; deleting it costs only time."""
BUILD = os.path.join(STATE, "build") if INSTALLED else os.path.join(ROOT, "build")
"""What is compiled and generated."""


def command() -> list[str]:
    """The first words of a command line that starts this Gossamer, with this Python."""
    if INSTALLED:
        # Not -m: with it, a folder gossamer/ in the current folder would replace the package.
        return [sys.executable, os.path.join(PYTHON, "gossamer_setup", "__main__.py")]
    return [sys.executable, os.path.join(ROOT, "gossamer")]
