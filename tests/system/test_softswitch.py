# SPDX-License-Identifier: Apache-2.0
"""The event loop of threads, with vertices that withdraw send requests while they wait in the queue."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import ROOT

import gossamer as gs
import gossamer_setup
from gossamer import apps
from gossamer import config as configs
from gossamer.apps import runner
from gossamer.engines.rtl_vertices import Hardware

FICKLE = ROOT / "tests" / "fixtures" / "vertices" / "fickle.h"
FLOODED = FICKLE.with_name("flooded.h")
MOST_WISHES = 40


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(configs.load("tiny"))


@pytest.mark.tier("all", seconds=14, adds="random sequences of requests to the softswitch")
@pytest.mark.parametrize("pad", [0, 1, 3])
def test_each_send_request_is_served_or_cancelled_once(pad: int, seed: int) -> None:
    """States of 10, 12 and 16 bytes: different odd factors and powers of two, from which lists are located."""
    random = np.random.default_rng(seed)
    vertices, fanout = 320, 3
    targets = random.integers(vertices, size=(vertices, fanout)).astype(np.uint32)
    targets.sort(axis=1)
    graph = gs.Graph.from_csr(np.arange(vertices + 1) * fanout, targets.ravel(), name="random")
    got = runner.run(apps.load(FICKLE, [f"PAD={pad}"]), graph, engine=Hardware(config="tiny"))
    wished, sent, dropped, heard = (
        got.columns[name].astype(np.int64) for name in ("wished", "sent", "dropped", "heard")
    )
    assert (wished == sent + dropped).all()
    assert (heard == np.bincount(targets.ravel(), np.repeat(sent, fanout), minlength=vertices)).all()
    # A vertex that still receives has stopped requesting, so every message has met one of three cases.
    assert ((heard == dropped + wished - 1) | (wished == MOST_WISHES)).all()
    assert dropped.sum() > vertices and sent.sum() > vertices
    assert got.stats["sends"] == sent.sum()


@pytest.mark.parametrize("multicast", ["none", "local"])
def test_flooded_vertex_sends_within_a_bounded_number_of_receives(multicast: str) -> None:
    """Seven of eight threads of two tiles send to one vertex without end."""
    vertices = 128
    others = np.arange(1, vertices)
    hub = np.zeros_like(others)
    graph = gs.Graph.from_arrays(np.concatenate([others, hub]), np.concatenate([hub, others]), vertices=vertices)
    hardware = Hardware(config="tiny", multicast=multicast, max_cycles=2_000_000)
    got = runner.run(apps.load(FLOODED), graph, engine=hardware)
    assert got.columns["stopped"].all()
    # Receives before its sends, bounded for each of its messages.
    assert 0 < got.columns["late"][0] <= 32 * (vertices if multicast == "none" else 2)
