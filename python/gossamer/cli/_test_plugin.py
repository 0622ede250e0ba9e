# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest for ``./gossamer test``: names each test that fails at once, as pytest does at the end, and says
how far a session came that a signal stopped."""

from __future__ import annotations

from typing import Any

_collected = 0
_ended = 0
_failed = 0
_reporter: Any = None


def pytest_collection_finish(session: Any) -> None:
    """The tests that will run; with workers each of them collects all."""
    global _collected
    _collected = max(_collected, len(session.items))


def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """The same, from a worker."""
    global _collected
    _collected = max(_collected, len(ids))


pytest_xdist_node_collection_finished.pytest_impl = {"optionalhook": True}  # type: ignore[attr-defined]


def pytest_sessionstart(session: Any) -> None:
    """After all plugins have registered theirs."""
    global _reporter
    _reporter = session.config.pluginmanager.get_plugin("terminalreporter")


def pytest_runtest_logreport(report: Any) -> None:
    """Once for each phase of a test."""
    global _ended, _failed
    if report.outcome == "failed" and _reporter is not None:
        _reporter.write(f"\nfailed: {report.nodeid}\n")
    _failed += report.outcome == "failed"
    _ended += report.when == "teardown"


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int) -> None:
    """After a signal, pytest's exit status is 2."""
    if exitstatus == 2:
        of = f" of {_collected}" if _collected else ""
        terminalreporter.write_line(f"gossamer: stopped after {_ended}{of} tests, {_failed} failed")
