# SPDX-License-Identifier: Apache-2.0
"""Existing POLite programs on the engine cpu: the host, and its devices as a shared object.

Both are compiled from the same sources as for the hardware. User functions differ between them if a header tests
TINSEL, so they must not share symbols, and the shared object exports only its main.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer import builds, device, native, processes
from gossamer.device import _sources
from gossamer.errors import InputError, RunDied, signal_name
from gossamer.hosts import hostlink
from gossamer.hosts.hostlink import POLITE
from gossamer.paths import INCLUDE
from gossamer.polite.staging import staged

if TYPE_CHECKING:
    from gossamer.config import Config

_FLAGS = ("-std=gnu++20", "-O3", "-march=native", "-mtune=generic", "-g1", "-fPIC", "-fno-semantic-interposition")
_WHO = re.compile(r"\b(tinselId|tinselMyBridgeId|printf|puts|putchar|puthex|tinselUartTryPut)\b")
"""Calls whose result depends on the thread that runs a device."""
_POLL = 0.1
"""Seconds between two checks of the timeout."""


def build(
    given: Sequence[str], config: Config, defines: Sequence[str] = (), *, includes: Sequence[str] = ()
) -> hostlink.Program:
    """Builds host and devices; the devices are ``devices.so`` in the program's working folder."""
    parts = hostlink.split(given, includes)
    if not parts.polite:
        raise InputError(f"{parts.host[0]}: has no PGraph, so its threads do not run devices; run it with --engine rtl")
    if not parts.devices:
        raise InputError(f"{parts.host[0]}: has no program for threads; run it with --engine rtl")
    if len(parts.devices) > 1:
        several = ", ".join(str(files[0]) for files in parts.devices.values())
        raise InputError(f"{parts.host[0]}: has one PGraph for several programs for threads: {several}; keep one")
    folders = [*includes, *(one for one in given if os.path.isdir(one))]
    binary = hostlink.host_binary(parts.host, config, device.ALONE, defines, folders, "cpu")
    ((name, sources),) = parts.devices.items()
    devices = _devices(sources, config, defines, folders)
    run = binary.parent / "run"
    run.mkdir(parents=True, exist_ok=True)
    hostlink.link(run, {"devices.so": devices, **{path.name: path for path in parts.data}})
    defined = (*defines, *([hostlink.HEARS] if parts.sends else []))
    recipe = hostlink.Recipe(name, sources, config, defined, tuple(folders), device.ALONE, 1, {})
    return hostlink.Program(str(parts.host[0]), binary, run, {}, (), recipe)


def _devices(sources: Sequence[Path], config: Config, defines: Sequence[str], folders: Sequence[str]) -> Path:
    """The devices and the engine that runs them, as a shared object."""
    library = native.ensure_built()
    ours = [POLITE / "cpu", POLITE, device.headers(config), INCLUDE]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in hostlink.reached(sources, folders)]
    flags = [
        *builds.user_level(_FLAGS),
        "-DTINSEL",
        "-DGOSSAMER_COMPAT",
        *(["-DGOSSAMER_POLITE_WHO"] if any(map(_WHO.search, texts)) else []),
        *builds.macros(defines),
        *_sources.search(list(folders)),
        *(f"-I{one}" for one in ours),
        "-idirafter",  # headers of threads, searched after C's own headers
        str(hostlink.DEVICE),
    ]

    def steps(plan: builds.Plan) -> None:
        # As for hosts, C sources are compiled as C++.
        tool, script = device.single_precision(builds.compiler())
        own = [*flags, *device.TINSEL_ARITHMETIC]
        objects = [plan.compile(path.resolve(), ["-x", "c++", *own], needs=[script], tool=tool) for path in sources]
        objects.append(plan.compile(POLITE / "cpu" / "device.cc", ["-x", "c++", *flags]))
        exported = plan.folder / "exported"
        exported.write_text("{ global: main; gossamer_polite_job; local: *; };\n")
        words = ["-shared", f"-Wl,-rpath,{library.parent}", f"-Wl,--version-script={exported}", "-Wl,-Bsymbolic"]
        plan.link("devices.so", [*objects, library], [*words, "-pthread"])

    tag = builds.tag(*(str(path.resolve()) for path in sources), *flags, *device.TINSEL_ARITHMETIC, str(library))
    name = f"hostprograms/devices-{builds.plain(sources[0].stem)}-{tag}"
    return builds.kept(name, steps, hostlink.failed_in(sources)) / "devices.so"


def run(program: hostlink.Program, arguments: Sequence[str], *, threads: int = 0, timeout: float | None = None) -> int:
    """Runs a program to its end and returns its exit code. Raises RunDied if it crashes or does not end in time."""
    with staged(program) as stage:
        here = stage.program
        environment = {
            **os.environ,
            "GOSSAMER_POLITE": str(here.folder),
            "GOSSAMER_THREADS": str(threads),
            "GOSSAMER_POLITE_DEVICES": str((here.folder / "devices.so").resolve()),
            "GOSSAMER_POLITE_HEARS": str(int(here.recipe is not None and here.recipe.hears)),
        }
        command = [str(program.binary), *(hostlink.argument(one, here.folder) for one in arguments)]
        begun = time.monotonic()

        def check_timeout() -> None:
            if timeout is not None and time.monotonic() - begun > timeout:
                raise RunDied(f"{program.name}: did not end within {timeout:g} s (--timeout)")

        every = None if timeout is None else _POLL
        code = processes.run_attended(command, cwd=here.folder, env=environment, look=check_timeout, every=every)
        if code == -signal.SIGINT:
            raise KeyboardInterrupt
        stage.ended_well = code >= 0 and not (here.folder / "failed").exists()
    if code < 0:
        raise RunDied(f"{program.name}: the host program was killed by {signal_name(-code)}")
    return code


__all__ = ["build", "run"]
