# SPDX-License-Identifier: Apache-2.0
"""Host programs: those written for HostLink (``hostlink``), those with a PGraph (``pgraph``), and MPI's launcher."""

from __future__ import annotations

__all__: list[str] = []
