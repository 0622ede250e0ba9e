# SPDX-License-Identifier: Apache-2.0
"""The board under test, for tests of any board."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell.shell_board import KINDS, Board
from shell.shell_cluster import Cluster


def _run(kind: str, folder: Path) -> Iterator[Board]:
    folder.mkdir(exist_ok=True)
    cluster = Cluster(folder)
    try:
        board = Board(KINDS[kind], cluster)
        try:
            yield board
        finally:
            board.close()
    finally:
        cluster.end()


_JUMBO = pytest.mark.tier("all", seconds=6, adds="frames of 9,000 bytes")
_SLOW = pytest.mark.tier("all", seconds=6, adds="the shell's RTL, whose frames are those of the twin")


_MARKS = {"rtl": _SLOW, "jumbo": _JUMBO}


@pytest.fixture(params=[pytest.param(kind, marks=_MARKS.get(kind, ())) for kind in KINDS])
def board(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Board]:
    """A board of each kind. A test that has passed runs again with a twin, whose transcript must be the same.

    GOSSAMER_SHELL_TRANSCRIPTS=DIR keeps the transcripts as DIR/KIND/TEST.json.
    """
    transcript = None
    for made in _run(request.param, tmp_path / request.param):
        yield made
        if made.compared:
            transcript = made.transcript
    if to := os.environ.get("GOSSAMER_SHELL_TRANSCRIPTS"):
        file = Path(to) / request.param / f"{request.function.__name__}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(map(json.dumps, made.transcript)) + "\n", encoding="utf-8")
    if transcript is None or getattr(request.node, "shell_failed", True):
        return
    names = set(inspect.signature(request.function).parameters) - {"board"}
    arguments = {name: request.node.funcargs[name] for name in names}
    # Lengths of the longest frames are in the transcripts.
    for twin in _run("jumbo" if request.param == "jumbo" else "twin", tmp_path / "reference"):
        request.function(**arguments, board=twin)
        for number, (one, other) in enumerate(zip(transcript, twin.transcript, strict=False)):
            assert one == other, f"frame {number} of the transcripts of {request.param} and twin"
        assert len(transcript) == len(twin.transcript)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.shell_failed = report.failed  # type: ignore[attr-defined]
    return report
