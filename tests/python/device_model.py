# SPDX-License-Identifier: Apache-2.0
"""Runs a device program on tests/fixtures/device/model.cc, an independent instruction-set model."""

from __future__ import annotations

import functools
import random
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "device"
PROGRAMS = ROOT / "programs"


@dataclass
class Ran:
    """The outcome of a run."""

    text: dict[int, str] = field(default_factory=dict)
    """Output of each thread."""
    codes: dict[int, int] = field(default_factory=dict)
    """Exit codes of the stopped threads."""
    traps: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Cause, pc and value of the trapped threads."""
    emitted: list[tuple[int, int]] = field(default_factory=list)
    end: str = ""

    def lines(self) -> list[tuple[int, str]]:
        """All output lines, each with its thread."""
        return [(thread, line) for thread, text in sorted(self.text.items()) for line in text.splitlines()]


@functools.cache
def executable() -> Path:
    """The model's executable, compiled if it is not up to date."""
    from gossamer import builds, native

    source = FIXTURES / "model.cc"
    folder = native.build_dir() / "tests"
    binary = folder / f"device_model-{source.stat().st_mtime_ns}"
    with native.lock("device_model"):
        if not binary.exists():
            folder.mkdir(parents=True, exist_ok=True)
            command = [*builds.compiler(), "-std=c++20", "-O2", "-frounding-math", "-Wall", "-Wextra", "-Werror"]
            subprocess.run([*command, str(source), "-o", str(binary)], check=True)
    return binary


def run(
    source: Path | Sequence[Path],
    folder: Path,
    config: str = "tiny",
    threads: int | None = None,
    seed: int = 1,
    defines: Sequence[str] = (),
    steps: int = 60_000_000,
    optimize: str | None = None,
) -> Ran:
    """Builds a program and runs it on the first ``threads`` threads of a tile (default: all)."""
    import gossamer.config
    from gossamer import device

    machine = gossamer.config.load(config)
    image = device.build(source, machine, defines, optimize=optimize)
    path = folder / f"image-{random.randrange(1 << 40):x}"
    with open(path, "w", encoding="ascii") as file:
        for at, word in enumerate(image.instructions):
            file.write(f"i {4 * at:x} {word:x}\n")
        for segment in image.segments:
            for at, byte in enumerate(segment.data):
                if byte:
                    file.write(f"d {segment.address + at:x} {byte:x}\n")
    box = machine.mailbox
    numbers = [threads or machine.threads_per_tile, machine.core.threads_per_core, box.slots_per_thread]
    numbers += [box.queue_depth, box.slot_bytes, machine.cache.line_bytes, box.max_flits, seed, steps]
    done = subprocess.run(
        [str(executable()), str(path), *map(str, numbers)], capture_output=True, text=True, check=True, timeout=300
    )
    path.unlink()
    return _read(done.stdout)


def _read(output: str) -> Ran:
    ran = Ran()
    lines = output.splitlines()
    ran.end = lines[-1] if lines else ""
    for line in lines[:-1]:
        kind, *fields = line.split()
        values = [int(fields[0]), *(int(field, 16) for field in fields[1:])]
        if kind == "put":
            ran.text[values[0]] = ran.text.get(values[0], "") + chr(values[1])
        elif kind == "stop":
            ran.codes[values[0]] = values[1]
        elif kind == "trap":
            ran.traps[values[0]] = (int(fields[1]), int(fields[2], 16), int(fields[3], 16))
        elif kind == "emit":
            ran.emitted.append((values[0], values[1]))
    return ran
