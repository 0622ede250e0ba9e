# SPDX-License-Identifier: Apache-2.0
"""FuseSoC core descriptions (CAPI2) of a design."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A parameter of the top module that FuseSoC users can set."""

    name: str
    default: int
    doc: str


@dataclass(frozen=True)
class Core:
    """A core: its name, its files relative to the .core file, and its top module."""

    vlnv: str
    """Vendor, library, name and version, separated by colons."""
    description: str
    comments: Sequence[str]
    """Comment lines for the head of the file."""
    files: Sequence[str]
    """Source files, in compilation order."""
    headers: Sequence[tuple[str, str]]
    """Include files, each with its include folder."""
    top: str
    parameters: Sequence[Parameter] = ()
    waivers: Sequence[str] = ()
    """Files with waivers of Verilator, for the lint."""


def text(core: Core) -> str:
    """The content of the .core file."""
    return "\n".join(_lines(core)) + "\n"


def _lines(core: Core) -> Iterator[str]:
    yield "CAPI=2:"
    yield "# SPDX-License-Identifier: Apache-2.0"
    yield from (f"# {comment}" for comment in core.comments)
    yield f"name: {core.vlnv}"
    yield f"description: {core.description}"
    yield ""
    yield "filesets:"
    yield "  rtl:"
    yield "    files:"
    yield from (f"      - {path}: {{is_include_file: true, include_path: {folder}}}" for path, folder in core.headers)
    yield from (f"      - {path}" for path in core.files)
    yield "    file_type: systemVerilogSource"
    if core.waivers:
        yield "  waivers:"
        yield "    files:"
        yield from (f"      - {path}" for path in core.waivers)
        yield "    file_type: vlt"
    yield ""
    yield "targets:"
    yield "  default: &default"
    yield "    filesets: [rtl]"
    yield f"    toplevel: {core.top}"
    if core.parameters:
        yield f"    parameters: [{', '.join(one.name for one in core.parameters)}]"
    yield "  # Lint with Verilator: fusesoc run --target lint"
    yield "  lint:"
    yield "    <<: *default"
    if core.waivers:
        yield "    filesets: [waivers, rtl]"
    yield "    flow: lint"
    yield "    flow_options: {tool: verilator, mode: lint-only, verilator_options: [-Wno-fatal]}"
    if core.parameters:
        yield ""
        yield "parameters:"
    for one in core.parameters:
        yield f"  {one.name}:"
        yield "    datatype: int"
        yield f"    default: {one.default}"
        yield "    paramtype: vlogparam"
        yield f"    description: {one.doc}"


__all__ = ["Core", "Parameter", "text"]
