# SPDX-License-Identifier: Apache-2.0
"""Signals that are held back: each takes effect once, where it was held."""

from __future__ import annotations

import os
import signal

import pytest

from gossamer_setup._signals import SIGNALS


def test_a_signal_is_not_kept_when_what_held_it_fails() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), SIGNALS.held():
        os.kill(os.getpid(), signal.SIGINT)
        raise FileNotFoundError
    with SIGNALS.held():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_a_signal_that_is_held_ends_what_follows() -> None:
    reached = False
    with pytest.raises(KeyboardInterrupt), SIGNALS.held():
        os.kill(os.getpid(), signal.SIGINT)
        reached = True
    assert reached
