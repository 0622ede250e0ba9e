# SPDX-License-Identifier: Apache-2.0
"""Number agreement in messages."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "", *, grouped: bool = False) -> str:
    """``1 board``, ``2 boards``; ``plural`` for a noun that does not take an s. ``2,000 boards`` if grouped."""
    return f"{f'{number:,}' if grouped else number} {noun if number == 1 else plural or f'{noun}s'}"


__all__ = ["counted"]
