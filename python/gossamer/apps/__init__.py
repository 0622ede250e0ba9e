# SPDX-License-Identifier: Apache-2.0
"""Applications: finding, compiling and loading them (``app``), running them (``runner``), runs that resume after their
graph has changed (``resumable``), and results (``results``)."""

from __future__ import annotations

from gossamer.apps.app import (
    ABI_VERSION,
    COMMAND_WORDS,
    FLAGS,
    App,
    Column,
    Numbers,
    Parameter,
    about,
    distributed,
    example,
    failed_at,
    find,
    load,
    names,
    vertex,
)

__all__ = [
    "ABI_VERSION",
    "COMMAND_WORDS",
    "FLAGS",
    "App",
    "Column",
    "Numbers",
    "Parameter",
    "about",
    "distributed",
    "example",
    "failed_at",
    "find",
    "load",
    "names",
    "vertex",
]
