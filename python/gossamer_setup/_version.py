# SPDX-License-Identifier: Apache-2.0
"""The version, here alone: the command, the package and pyproject.toml read it."""

from __future__ import annotations

VERSION = "0.1.0"
