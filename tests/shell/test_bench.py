# SPDX-License-Identifier: Apache-2.0
"""The boards of the suite `shell` start; its rows take minutes, so they are measured by `./gossamer bench shell`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from gossamer.shell import Host

SUITE = "bench_of_the_shell"
"""The suite's name here: `shell` is this folder of tests."""


@pytest.fixture
def suite() -> Iterator[str]:
    folder = ROOT / "bench" / "shell"
    spec = importlib.util.spec_from_file_location(
        SUITE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    sys.modules[SUITE] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[SUITE])
    yield SUITE
    for name in [name for name in sys.modules if name.split(".")[0] == SUITE]:
        del sys.modules[name]


def test_boards_of_the_benchmarks_start(suite: str, tmp_path: Path) -> None:
    """Those of PTRANS with their role; those of the elastic job are plugged in one by one."""
    ptrans, elastic = (importlib.import_module(f"{suite}.{name}") for name in ("ptrans", "elastic"))
    with ptrans.boards(2, 1 << 22) as (host, macs):
        assert {board.state for board in host.discover(0.5)} == {"ready"} and len(macs) == 2
    cluster = elastic._Cluster(tmp_path)
    try:
        cluster.plug(1)
        with Host(cluster.socket, {}) as host:
            assert len(host.discover(2.0)) == 1
    finally:
        cluster.end()
