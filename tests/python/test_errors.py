# SPDX-License-Identifier: Apache-2.0
"""What messages say of errors."""

from __future__ import annotations

import signal

from gossamer.errors import signal_name


def test_signals_without_a_name_are_numbers() -> None:
    """A program may die of any; Python knows no names of most of the real-time ones."""
    names = {number: signal_name(number) for number in range(1, signal.SIGRTMAX + 1)}
    assert names[signal.SIGKILL] == "SIGKILL" and names[signal.SIGRTMIN + 1] == f"signal {signal.SIGRTMIN + 1}"
    assert len(set(names.values())) == signal.SIGRTMAX
