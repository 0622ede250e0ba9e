# SPDX-License-Identifier: Apache-2.0
"""Dissipative particle dynamics, compared with an all-pairs program without cells, and with physics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from conftest import Command, Size
from dpd_pairs import Box, simulate
from made_graphs import graph_of

import gossamer as gs

APPS = ("dpd", "dpd-gals")
ENGINES = (("cpu", 1), ("cpu", 2), ("shuffle", 1))


def box(sides: tuple[int, int, int]) -> gs.Graph:
    width, height, depth = sides
    return gs.read_graph(f"gen:cube:width={width},height={height},depth={depth},neighbours=26,around=yes")


def words(asked: Box) -> dict[str, Any]:
    width, height, depth = asked.sides
    how = {name: getattr(asked, name) for name in ("steps", "density", "repulsion", "friction", "temperature", "dt")}
    return {"width": width, "height": height, "depth": depth, "noise-seed": asked.seed, **how}


@pytest.mark.default_cases("dpd", seconds=10, adds="the variant without barriers")
@pytest.mark.parametrize("app", APPS)
def test_particles_match_the_all_pairs_program_bit_for_bit(app: str, size: Size, seed: int) -> None:
    random = np.random.default_rng(seed)
    cases = [Box((3, 3, 3), steps=0), Box((4, 3, 5), steps=12, dt=0.04), Box((3, 3, 3), steps=15, density=0.3)]
    for _ in range(size.pick(0, 1, 20)):
        width, height, depth = (int(side) for side in random.integers(3, 6, 3))
        one = Box(
            (width, height, depth),
            steps=int(random.integers(1, 25)),
            density=float(random.uniform(1, 3)),
            friction=float(random.uniform(0, 20)),
            repulsion=float(random.uniform(20, 60)),
            seed=int(random.integers(1 << 32)),
        )
        cases.append(one)
    moved = 0
    for asked in cases:
        want = simulate(asked)
        moved += want.crossings
        for engine, threads in ENGINES:
            got = gs.run(app, box(asked.sides), engine=engine, threads=threads, **words(asked))
            assert (got.columns["particles"] == want.particles).all(), (asked, engine)
            assert (got.columns["digest"] == want.digest).all(), (asked, engine)
            assert np.allclose(got.columns["kinetic"], want.kinetic, rtol=0, atol=1e-4)
            assert np.allclose(got.columns["potential"], want.potential, rtol=0, atol=1e-4)
            assert got.stats["steps"] == (2 * asked.steps + 1 if app == "dpd" else 1)
    assert moved > 20, "too few particles went from cell to cell for a test"


def test_momentum_is_conserved_exactly() -> None:
    """The initial total momentum is zero, and it stays zero with friction and noise."""
    asked = Box((3, 4, 5), steps=60, density=2.55)
    got = gs.run("dpd", box(asked.sides), **words(asked)).columns
    assert got["particles"].sum() == 153
    for axis in "xyz":
        assert got[f"momentum-{axis}"].sum() == 0 and np.abs(got[f"momentum-{axis}"]).max() > 0.1


def test_energy_is_conserved_without_friction() -> None:
    """The sum of kinetic and potential energy is constant, with an error of second order in the step."""
    drift = []
    for dt in (0.01, 0.005):
        energy = []
        for steps in (0, round(0.4 / dt)):
            asked = Box((4, 4, 4), steps=steps, friction=0.0, dt=dt)
            got = gs.run("dpd", box(asked.sides), **words(asked)).columns
            energy.append((got["kinetic"].sum(), got["potential"].sum()))
        (before, at_rest), (behind, after) = energy
        assert abs(behind - before) > 0.2 * before
        drift.append(abs(behind + after - before - at_rest) / (before + at_rest))
    assert drift[0] < 1e-3 and drift[1] < drift[0] / 3, drift


def test_temperature_converges_to_the_parameter() -> None:
    """Overlapping particles heat the box at the start; noise and friction reach equilibrium."""
    for temperature in (0.5, 2.0):
        ends = []
        for seed in range(4):
            asked = Box((5, 5, 5), steps=200, dt=0.03, temperature=temperature, seed=seed)
            got = gs.run("dpd", box(asked.sides), **words(asked)).columns
            ends.append(got["kinetic"].sum() / (1.5 * got["particles"].sum()))
        # 375 particles: a standard deviation of 4 % in one end, 2 % in the mean of four.
        assert abs(np.mean(ends) / temperature - 1) < 0.1, (temperature, ends)


def test_graph_that_is_not_a_box_is_rejected(command: Command) -> None:
    cube = "gen:cube:width=4,height=4,depth=4,neighbours=26,around=yes"
    for graph, options, why in [
        ("gen:grid:width=8,height=8", (), "use gen:cube:width=W,height=H,depth=D,neighbours=26,around=yes"),
        ("gen:cube:width=4,height=4,depth=4,neighbours=26", (), "1664 edges, the graph has 64 and"),
        (cube, ("--width", "8", "--height", "8", "--depth", "1"), "a box of 8 x 8 x 1 cells; --width, --height"),
        (cube, ("--width", "8", "--height", "4", "--depth", "4"), "cells has 128 vertices"),
    ]:
        done = command("run", "dpd", graph, *options)
        assert done.returncode == 2 and why in done.stderr, done.stderr
        assert done.stderr.count("gossamer: error:") == 1


@pytest.mark.parametrize("app", APPS)
def test_invalid_simulation_raises_no_answer(app: str) -> None:
    with pytest.raises(gs.NoAnswer, match=r"crosses a cell in a step; use a smaller --dt"):
        gs.run(app, box((3, 3, 3)), steps=20, dt=0.1, temperature=100.0)
    with pytest.raises(gs.NoAnswer, match=r"more than 16 particles in a cell"):
        gs.run(app, box((3, 3, 3)), steps=200, density=8.0, repulsion=0.0, temperature=5.0, dt=0.05)
    sources = np.repeat(np.arange(27), 26)
    away = np.tile(np.arange(1, 27), 27)
    for targets in ((sources + away) % 27, np.where(away == 7, sources, (sources + away) % 27)):
        given = graph_of(27, (sources, targets))
        if (targets == sources).any():
            with pytest.raises(gs.NoAnswer, match="the neighbours of a cell differ from those in the box"):
                gs.run(app, given, steps=3)
        else:  # 27 cells that all know each other are a box
            assert math.isfinite(gs.run(app, given, steps=3).columns["kinetic"].sum())
