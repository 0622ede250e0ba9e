# SPDX-License-Identifier: Apache-2.0
"""Views of simulations: ``snapshots`` reads counters, ``dashboard`` shows them as text, ``html_report`` as HTML."""

from __future__ import annotations

__all__: list[str] = []
