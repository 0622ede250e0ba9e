# SPDX-License-Identifier: Apache-2.0
"""Rows of benchmarks, and the context in which a suite measures them.

A suite is a folder ``bench/<suite>/`` whose ``__init__.py`` defines ``rows(context)``, which yields a ``Row`` (or a
list of rows) after each measurement, and either ``NAMES`` or ``expand(context)``: the names of all rows of the suite.
A suite calls ``context.wants(name)`` before it measures, and yields ``context.skip(name, why)`` for a row that it
cannot measure.
"""

from __future__ import annotations

import json
import math
import os
import platform
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypedDict

from gossamer.files import write_whole

_BOUND_NAMES = ("bound", "goal", "at most", "at least")
"""Names of references that are required bounds, not peers or papers."""


class Reference(TypedDict):
    """The reference of a row: a paper's figure, or a peer measured in the same run."""

    what: str
    value: float | None
    unit: str


@dataclass
class Row:
    """One measured figure. ``ratio`` > 1 always means better than the reference.

    Shares and overheads are fractions. ``skipped`` is the reason why there is no value.
    """

    suite: str
    name: str
    value: float | None
    unit: str
    config: dict[str, Any] = field(default_factory=dict)
    reference: Reference | None = None
    ratio: float | None = None
    skipped: str | None = None
    least_ratio: float | None = None
    """The required minimum of ``ratio``; None if none is required."""

    @property
    def missed(self) -> str | None:
        """The bound that the row violates; None if it meets all bounds.

        Bounds are ``least_ratio``, a reference that is itself a bound, and ``most`` and ``least`` in ``config``.
        """
        if self.skipped is not None:
            return None
        least = self.least_ratio
        if least is None and self.reference is not None and self.reference["what"] in _BOUND_NAMES:
            least = 1.0
        if least is not None and not (self.ratio is not None and self.ratio >= least):
            return f"the ratio must be at least {least:g}"
        for key, sign in (("most", 1.0), ("least", -1.0)):
            bound = self.config.get(key)
            if bound is not None and not (self.value is not None and sign * self.value <= sign * float(bound)):
                return f"it must be at {key} {bound:g}"
        return None

    def as_json(self) -> dict[str, Any]:
        """The row as JSON; values that are not finite become null."""
        reference = None
        if self.reference is not None:
            reference = dict(self.reference, value=_finite(self.reference["value"]))
        row: dict[str, Any] = {
            "suite": self.suite,
            "name": self.name,
            "value": _finite(self.value),
            "unit": self.unit,
            "config": self.config,
            "reference": reference,
            "ratio": _finite(self.ratio),
        }
        if self.skipped is not None:
            row["skipped"] = self.skipped
        return row


def _finite(value: float | None) -> float | None:
    if value is None:
        return None
    number = float(value)
    return number if math.isfinite(number) else None


@dataclass
class Context:
    """The user's selection: which rows, with what data and peers, how often."""

    suite: str
    only: str | None = None
    data: Path | None = None
    peers: Mapping[str, Path] = field(default_factory=dict)
    repeat: int | None = None
    """Number of measurements per row; None: the suite decides."""
    machine: Mapping[str, Any] = field(default_factory=dict)
    full: bool = False
    """Whether long rows are measured too; otherwise a suite skips them."""
    scale: Fraction | None = None
    """The share of the papers' vertices at which a suite predicts their studies; None: its other rows."""

    def wants(self, name: str) -> bool:
        """Whether a row is to be measured."""
        return self.only is None or re.search(self.only, name) is not None

    def row(
        self,
        name: str,
        value: float | None,
        unit: str,
        *,
        reference: Reference | None = None,
        ratio: float | None = None,
        least_ratio: float | None = None,
        **config: Any,
    ) -> Row:
        """A measured row; its configuration includes the machine."""
        config = {**self.machine, **config}
        return Row(self.suite, name, value, unit, config, reference, ratio, least_ratio=least_ratio)

    def skip(self, name: str, why: str, unit: str = "", **config: Any) -> Row:
        """A row that cannot be measured here, and why."""
        return Row(self.suite, name, None, unit, {**self.machine, **config}, skipped=why)

    def data_file(self, name: str) -> Path | None:
        """A file in the user's ``--data`` folder; None if it does not exist."""
        path = self.data / name if self.data is not None else None
        return path if path is not None and path.exists() else None


def cpu_model() -> str:
    """The name of the processor in /proc/cpuinfo."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.machine()
    found = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def machine_info() -> dict[str, Any]:
    """The machine, the compiler and the date, on which figures depend."""
    from gossamer_setup._system import compiler, compiler_version

    path = compiler()
    return {
        "cpu": cpu_model(),
        "cores": len(os.sched_getaffinity(0)),
        "compiler": compiler_version(path) if path else "none",
        "date": time.strftime("%Y-%m-%d"),
    }


def write_rows(path: Path, rows: list[Row]) -> None:
    """Writes the file of rows, whole or not at all."""
    text = "[\n" + ",\n".join(json.dumps(row.as_json(), sort_keys=False) for row in rows) + "\n]\n"
    write_whole(path, text.encode())


__all__ = ["Context", "Reference", "Row", "machine_info", "write_rows"]
