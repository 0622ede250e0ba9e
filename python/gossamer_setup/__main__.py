# SPDX-License-Identifier: Apache-2.0
"""Starts the command of an installed package by the path of this file (`_places.command`)."""

from __future__ import annotations

import sys

from gossamer.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
