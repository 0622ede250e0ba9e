# SPDX-License-Identifier: Apache-2.0
"""Guests: several programs of different kinds that use one simulated cluster at the same time (docs/guests.md)."""

from gossamer.guests._file import Guest, Guests, is_file, read

__all__ = ["Guest", "Guests", "is_file", "read"]
