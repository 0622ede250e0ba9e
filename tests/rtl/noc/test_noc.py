# SPDX-License-Identifier: Apache-2.0
"""Routers and whole meshes without tiles: random traffic against a model, latencies, shares, blocked networks."""

from __future__ import annotations

import subprocess
from pathlib import Path

import models
import pytest
from conftest import current_size

from gossamer import config as configs
from gossamer.config import Config
from gossamer.hdl import prove, sources, verilate

HERE = Path(__file__).parent
HARNESS_FOLDER = models.FOLDER / "noc"
# Meshes: those of configurations, and others by width, height and flits of a buffer (full rate needs 6).
MESHES = {"quad": None, "de5": None, "3x2": (3, 2, 6), "5x1": (5, 1, 5)}
MODES = ("random", "pairs", "full", "fair", "block")


def config_of(name: str, folder: Path) -> Config:
    shape = MESHES[name]
    if shape is None:
        return configs.load(name)
    width, height, flits = shape
    path = folder / f"mesh{name}.toml"
    path.write_text(
        f'base = "tiny"\ndescription = "a mesh for tests"\n[mesh]\nwidth = {width}\nheight = {height}\n'
        f"buffer_flits = {flits}\n[router]\nmesh_ports = 2\n[cache]\ncaches_per_dram = {width * height}\n"
    )
    return configs.load(path)


def build(top: str, config: Config) -> Path:
    width, ports = config.mesh.width, config.router.mesh_ports
    exits = ",".join(str((2 * number + 1) * width // (2 * ports)) for number in range(ports))
    values = {
        "WIDTH": width,
        "HEIGHT": config.mesh.height,
        "DEPTH": config.mesh.buffer_flits,
        "PORTS": ports,
        "EXITS": exits,
    }
    router = ["-DNOC_ROUTER"] if top == "router_top" else []
    return verilate.model(
        top,
        sources.blocks("noc/mesh.f", config=config) + [HARNESS_FOLDER / "mesh.vlt", HARNESS_FOLDER / f"{top}.sv"],
        [HARNESS_FOLDER / "main.cc"],
        # Inputs change after the falling edge, when a clock gate has already decided.
        defines={"GS_NO_CLOCK_GATES": 1},
        optimise="-Og",
        include=[models.INCLUDE],
        cxx=[*(f"-DNOC_{name}={value}" for name, value in values.items()), *router],
    )


def run(simulator: Path, *arguments: object) -> dict[str, float]:
    done = subprocess.run([simulator, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines() if " " in line}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("meshes")


SIZE = current_size()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SIZE.pick(["3x2"], ["3x2", "de5"], ["3x2", "de5", "5x1"]))
def test_router_delivers_traffic_at_any_mesh_position(name: str, mode: str, folder: Path, seed: int) -> None:
    """One router at any position of a mesh."""
    if name == "5x1" and mode in ("pairs", "full"):
        pytest.skip("its buffers are too small for the full rate")
    cycles = SIZE.pick(10_000, 100_000, 3_000_000)
    run(build("router_top", config_of(name, folder)), mode, seed, *([cycles] if mode == "random" else []))


@pytest.mark.default_cases("3x2-fair", seconds=60, adds="traffic between pairs, and the other meshes")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SIZE.pick(["3x2"], ["3x2", "de5"], list(MESHES)))
def test_mesh_delivers_traffic_of_every_mode(name: str, mode: str, folder: Path, seed: int) -> None:
    if name == "5x1" and mode in ("pairs", "full"):
        pytest.skip("its buffers are too small for the full rate")
    if name == "de5" and mode == "fair" and SIZE.pick(True, True, False):
        pytest.skip("only in --full")  # a minute; smaller meshes have the same arbiters
    cycles = SIZE.pick(4_000, 10_000 if name == "de5" else 30_000, 1_000_000)
    run(build("mesh_top", config_of(name, folder)), mode, seed, *([cycles] if mode == "random" else []))


@pytest.mark.parametrize(("top", "depth"), [("prove_input", 2), ("prove_output", 2), ("prove_local", 2)])
def test_proof(top: str, depth: int) -> None:
    """By induction: no flit is lost, duplicated, changed or misplaced; no buffer overflows; no input starves."""
    files = sources.blocks("noc/mesh.f", config=configs.load("quad")) + [HERE / f"{top}.sv"]
    proof = prove.prove(top, files, depth=depth)
    assert proof.passed, f"{proof.reason}; see {proof.log}"
