# SPDX-License-Identifier: Apache-2.0
"""Packages that only some functions need: imported on use, with advice where one is missing."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from gossamer.errors import InputError
from gossamer.paths import INSTALLED

_GROUPS = {"matplotlib": "plot", "networkx": "peers", "scipy": "peers"}
"""The group of ./gossamer setup that installs a package; others are installed with pip."""


def load(module: str, user: str) -> Any:
    """Imports a module for a function; raises InputError, with the command that installs it, if it is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        in_checkout = package in _GROUPS and not INSTALLED
        setup = f"./gossamer setup {_GROUPS[package]}, or " if in_checkout else ""
        raise InputError(
            f"{user} needs {package}, which is not installed; install it with: {setup}"
            f"{sys.executable or 'python3'} -m pip install {package}"
        ) from None


__all__ = ["load"]
