# SPDX-License-Identifier: Apache-2.0
"""Existing POLite programs: hosts with PGraph and HostLink, and their devices on threads (``compat/polite``).

``mapping`` is what such a host starts to map its graph; ``staging`` is the folder in which the host runs.
"""

from __future__ import annotations

from gossamer.polite.staging import Placement, Staged, staged

__all__ = ["Placement", "Staged", "staged"]
