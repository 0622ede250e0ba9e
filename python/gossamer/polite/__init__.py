# SPDX-License-Identifier: Apache-2.0
"""Existing POLite programs: hosts with PGraph and HostLink, and their devices on threads (``compat/polite``).

A host starts ``mapping`` to map its graph; ``staging`` prepares the folder in which the host runs.
"""

from __future__ import annotations

from gossamer.polite.staging import Placement, Staged, staged

__all__ = ["Placement", "Staged", "staged"]
