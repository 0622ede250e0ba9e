# SPDX-License-Identifier: Apache-2.0
"""Benchmarks: rows and the context of a suite (``rows``), memory use, HTML pages, runs of applications on boards."""

from __future__ import annotations

from gossamer.bench.rows import Context, Reference, Row, cpu_model, machine_info, write_rows

__all__ = ["Context", "Reference", "Row", "cpu_model", "machine_info", "write_rows"]
