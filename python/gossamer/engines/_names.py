# SPDX-License-Identifier: Apache-2.0
"""Names of engines that commands compare before they import the engine, which takes a third of a second."""

from __future__ import annotations

from typing import Final

BOARD: Final = "board"
GUEST: Final = "guest"
"""That of the programs of a file of guests, which the host of the guests gives to their commands."""
