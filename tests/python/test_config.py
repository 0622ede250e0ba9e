# SPDX-License-Identifier: Apache-2.0
"""Configurations: the shipped ones match the papers' machines, and every error has file, line and key."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal, get_origin

import pytest
from pydantic import BaseModel, ValidationError

from gossamer import config, paths
from gossamer.config._schema import Config, derived_docs, knobs
from gossamer.config._source import extra, range_text, read
from gossamer.errors import InputError

DE5 = (paths.CONFIG / "de5.toml").read_text()


def error_of(path: Path) -> str:
    """The error line for a file."""
    with pytest.raises(InputError) as caught:
        config.load(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


def line_of(text: str, marker: str) -> int:
    """The line of a marker, found only by counting line ends."""
    assert text.count(marker) == 1, f"{marker!r} must occur once"
    return text[: text.index(marker)].count("\n") + 1


def error_for(tmp_path: Path, text: str) -> str:
    """The error for a file, without its folder."""
    path = tmp_path / "x.toml"
    path.write_text(text)
    return error_of(path).replace(str(path), "x.toml")


# --------------------------------------------------------------- shipped configurations


def test_configurations_of_the_design_are_shipped() -> None:
    assert {"tiny", "quad", "ecp5", "de5", "de5-128", "smi520n"} <= set(config.names())


@pytest.mark.parametrize("name", config.names())
def test_shipped_configuration_is_valid_and_named(name: str) -> None:
    loaded = config.load(name)
    assert loaded.name == name
    assert loaded.description
    for knob in knobs(loaded):
        assert knob.doc, f"{knob.key} has no meaning"
        if isinstance(knob.value, (int, float)) and not isinstance(knob.value, bool):
            assert knob.unit or knob.key.endswith("_id"), f"{knob.key} has no unit"
            assert range_text(knob.field), f"{knob.key} has no range"


def test_de5_matches_the_paper() -> None:
    """Figures of FPL 2019 (1, 2, 4, 9 and 13), computed by hand."""
    de5 = config.load("de5")
    assert de5.core.threads_per_core == 16
    assert de5.fpu.cores_per_fpu == 4
    assert de5.cache.cores_per_cache == 4
    assert de5.cache.caches_per_dram == 8
    assert de5.mailbox.max_flits == 4
    assert de5.mailbox.flit_bytes == 16
    assert de5.mailbox.slots_per_thread == 16
    assert (de5.cores, de5.threads, de5.fpus, de5.caches) == (64, 1024, 16, 16)
    assert de5.cache_bytes == 64 * 1024
    assert de5.scratchpad_bytes == 64 * 1024
    assert de5.clock_hz == 250_000_000
    assert (de5.memory.dram.count, de5.memory.dram.bytes) == (2, 4 * 1024**3)
    assert (de5.memory.sram.count, de5.memory.sram.bytes) == (4, 8 * 1024**2)
    # Figure 9 (rounded): 7.8 GB/s are 30.3 % of the DRAM bandwidth, 13.0 GB/s are 90.0 % of the SRAM bandwidth.
    assert de5.dram_mbytes_per_s == pytest.approx(7_800 / 0.303, rel=0.01)
    assert de5.sram_mbytes_per_s == pytest.approx(13_000 / 0.900, rel=0.01)
    assert de5.link_bits_per_kilocycle == 5 * 8 * 1000
    assert de5.links.flight_cycles == 100


def test_de5_128_matches_figure_13() -> None:
    big = config.load("de5-128")
    assert (big.cores, big.threads, big.fpus, big.caches) == (128, 2048, 16, 16)
    assert big.cache_bytes == 64 * 1024
    assert big.clock_hz == 210_000_000
    assert big.threads_per_tile == 64


def test_smi520n_matches_the_smi_paper() -> None:
    board = config.load("smi520n")
    assert board.memory.dram.count == 4
    assert board.memory.dram.port_bytes == 64
    assert board.link_count == 4
    assert board.links.rate_mbps == 40_000


def test_guides_example_matches_the_multicast_paper(tmp_path: Path) -> None:
    """128 KB caches of 16 ways at 240 MHz (multicast paper, II A), in the example of docs/configuration.md."""
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    example = guide.split("```toml\n# mine.toml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "mine.toml").write_text(example)
    mine = config.load(tmp_path / "mine.toml")
    assert (mine.name, mine.base) == ("mine", "de5")
    assert mine.cache_bytes == 128 * 1024
    assert mine.cache.ways == 16
    assert mine.clock_hz == 240_000_000
    assert mine.threads == 1024


def test_derived_widths_are_minimal() -> None:
    for name in config.names():
        one = config.load(name)
        for width in (derived for derived in derived_docs() if derived.startswith("log2_")):
            base = width.removeprefix("log2_")
            homes: list[BaseModel] = [one, one.core, one.cache, one.mailbox]
            count = (
                next(getattr(home, base) for home in homes if hasattr(home, base))
                if not base.startswith("mesh")
                else getattr(one.mesh, base.removeprefix("mesh_"))
            )
            bits = getattr(one, width)
            assert 2**bits >= count
            assert bits == 0 or 2 ** (bits - 1) < count


# -------------------------------------------------------------------- bases


def test_base_provides_omitted_values(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "de5"\ndescription = "mine"\n[core]\nthreads_per_core = 8\n')
    mine, de5 = config.load(tmp_path / "mine.toml"), config.load("de5")
    assert mine.core.threads_per_core == 8
    assert mine.core.instr_mem_bytes == de5.core.instr_mem_bytes
    assert mine.links == de5.links


def test_base_may_be_a_file_of_the_same_folder_with_a_base(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text('base = "tiny"\ndescription = "low"\n[links]\nflight_cycles = 7\n')
    (tmp_path / "high.toml").write_text('base = "low"\ndescription = "high"\n[links]\nwindow_frames = 8\n')
    high = config.load(tmp_path / "high.toml")
    assert (high.links.flight_cycles, high.links.window_frames) == (7, 8)
    assert high.mesh == config.load("tiny").mesh


def test_file_may_have_the_name_of_its_base(tmp_path: Path) -> None:
    (tmp_path / "de5.toml").write_text('base = "de5"\ndescription = "mine"\n[links]\nflight_cycles = 7\n')
    assert config.load(tmp_path / "de5.toml").links.flight_cycles == 7


def test_cyclic_bases_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('description = "a"\nbase = "b.toml"\n')
    (tmp_path / "b.toml").write_text('base = "a.toml"\ndescription = "b"\n')
    text = error_of(tmp_path / "a.toml")
    assert "b.toml:1: base: a.toml has the base" in text


def test_error_in_a_base_is_reported_in_the_base(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text('description = "low"\nbase = "tiny"\n\n[links]\nflight_cycels = 7\n')
    (tmp_path / "high.toml").write_text('base = "low"\ndescription = "high"\n')
    text = error_of(tmp_path / "high.toml")
    assert text.endswith("low.toml:5: links.flight_cycels: unknown key; did you mean flight_cycles?")


def test_violation_is_reported_at_the_changed_value_not_in_the_base(tmp_path: Path) -> None:
    text = error_for(tmp_path, 'base = "de5"\ndescription = "x"\n[core]\nthreads_per_core = 32\n')
    assert text == (
        "x.toml:4: core.threads_per_core: 4 cores of 32 threads are 128 threads a mailbox, "
        "more than the 64 bits of a multicast mask"
    )


# ------------------------------------------------------------------- errors

HEAD = 'base = "de5"\ndescription = "x"\n'

WRONG = {
    # name: (text after HEAD with `#!` in the reported line, the error after file and line)
    "misspelt": (
        "[core]\nthread_per_core = 16 #!",
        "core.thread_per_core: unknown key; did you mean threads_per_core?",
    ),
    "misspelt table": ("[cors] #!\nthreads_per_core = 16", "cors: unknown key; did you mean core?"),
    "wrong table": ("[core]\nways = 8 #!", "core.ways: unknown key; it belongs in [cache]"),
    "nothing like it": (
        "[mesh]\nzzz = 8 #!",
        "mesh.zzz: unknown key; known keys: width, height, buffer_flits",
    ),
    "text for a number": (
        '[core]\nthreads_per_core = "16" #!',
        'core.threads_per_core: is "16", must be a whole number',
    ),
    "fraction": (
        "[core]\nthreads_per_core = 16.5 #!",
        "core.threads_per_core: is 16.5, must be a whole number",
    ),
    "truth for a number": (
        "[mesh]\nwidth = true #!",
        "mesh.width: is true, must be a whole number, 1 to 16 tiles",
    ),
    "number for text": ("[board]\nname = 5 #!", 'board.name: is 5, must be text in quotes, as in "de5"'),
    "number for a table": ("core = 5 #!", "core: is 5, must be a table"),
    "number for a list": ("[links]\nnames = 4 #!", "links.names: is 4, must be a list"),
    "number in a list": (
        "[links]\nnames = [\n'a',\n4, #!\n]",
        "links.names[1]: is 4, must be text in quotes",
    ),
    "too big": (
        "[core]\nthreads_per_core = 64 #!",
        "core.threads_per_core: is 64, must be 2 to 32, a power of two threads",
    ),
    "too small": ("[core]\nthreads_per_core = 1 #!", "core.threads_per_core: is 1, must be 2 to 32"),
    "no power": ("[cache]\nways = 12 #!", "cache.ways: is 12, must be a power of two (8 or 16)"),
    "infinite": ("[board]\nclock_mhz = inf #!", "board.clock_mhz: is Infinity, must be a finite number"),
    "no such kind": (
        '[memory.dram]\nkind = "ddr5" #!',
        'memory.dram.kind: is "ddr5", must be one of sdr, ddr3, ddr4',
    ),
    "width of a link": ("[links]\ndatapath_bytes = 4 #!", "links.datapath_bytes: is 4, must be one of 2, 8"),
    "datapath of the switch": (
        '[switch]\ndatapath = "ring" #!',
        'switch.datapath: is "ring", must be one of crossbar, shared',
    ),
    "two lines": ('[board]\nname = "a\\nb" #!', "board.name: must be one line of printable text"),
    "threads": (
        "[mailbox]\ncores_per_mailbox = 8 #!",
        "mailbox.cores_per_mailbox: 8 cores of 16 threads are 128 threads a mailbox, more than the 64",
    ),
    "long message": (
        "[mailbox]\nmax_flits = 8 #!",
        "mailbox.max_flits: 8 flits of 16 bytes are 128 bytes, longer than a message slot of 64",
    ),
    "short slot": (
        "[mailbox]\nslot_bytes = 32 #!",
        "mailbox.slot_bytes: 4 flits of 16 bytes are 64 bytes, longer",
    ),
    "flit": (
        "[mailbox]\nflit_bytes = 8 #!",
        "mailbox.flit_bytes: is 8, but the flit of config/constants carries 16",
    ),
    "FPU": (
        "[mesh]\nwidth = 3 #!\nheight = 3\n[router]\nmesh_ports = 2\n[fpu]\ncores_per_fpu = 8",
        "fpu.cores_per_fpu: is 8, which does not divide the number of cores of the board, 36",
    ),
    "caches of a DRAM": (
        "[cache]\ncaches_per_dram = 4 #!",
        "cache.caches_per_dram: the board has 16 caches (cores: 64, cores per cache: 4), but its DRAMs serve 8 ",
    ),
    "DRAM of the caches": (
        "[memory.dram]\ncount = 4 #!",
        "memory.dram.count: the board has 16 caches (cores: 64, ",
    ),
    "SRAM": (
        "[memory.sram]\ncount = 3 #!",
        "memory.sram.count: is 3, must be a multiple of memory.dram.count (2)",
    ),
    "line": (
        "[memory.dram]\nport_bytes = 64 #!",
        "memory.dram.port_bytes: cache.line_bytes is 32, not a multiple",
    ),
    "row": (
        "[memory.dram]\nbus_bits = 512 #!\nrow_bytes = 256",
        "memory.dram.row_bytes: is 256, less than a burst",
    ),
    "rows": (
        "[memory.dram]\nbytes = 0x10_0000 #!\nbanks = 64\nrow_bytes = 65536",
        "memory.dram.bytes: is 1048576, less than one row (65536 bytes) in every bank",
    ),
    "ras": ("[memory.dram]\nras = 5 #!", "memory.dram.ras: is 5, less than activate to read (rcd is 11)"),
    "faw": (
        "[memory.dram]\nfaw = 4 #!",
        "memory.dram.faw: is 4, less than activate to activate (rrd is 5)",
    ),
    "refresh": ("[memory.dram]\nrefi = 208 #!", "memory.dram.refi: is 208, must be greater than rfc (208)"),
    "tables": (
        "[router]\ntable_bytes = 0x1_0000_0000\n[memory.dram]\nbytes = 0x1000_0000 #!",
        "router.table_bytes: is ",
    ),
    "switch": (
        "[mesh]\nbuffer_flits = 4 #!",
        "mesh.buffer_flits: is 4, but a packet enters a switch only when complete: up to 5 flits",
    ),
    "slots": (
        "[mailbox]\nslots_per_thread = 2 #!",
        "mailbox.slots_per_thread: is 2, but a thread has two of them, so no slot would be free",
    ),
    "memory port": (
        "[memory.dram]\nport_bytes = 2 #!",
        "memory.dram.port_bytes: is 2, less than a word of 4 bytes",
    ),
    "expander": (
        "[router]\nbuffer_flits = 4 #!",
        "router.buffer_flits: is 4, less than the longest packet (5 flits",
    ),
    "columns": ("[router]\nmesh_ports = 5 #!", "router.mesh_ports: is 5, more than mesh.width (4)"),
    "streaming ports": (
        "[stream]\nports = 257 #!",
        "stream.ports: is 257, must be 0 to 256 ports",
    ),
    "ports of blocks": (
        "[stream]\nports = 250\nblocks = 2 #!",
        "stream.blocks: is 2, but a board has at most 256 streaming ports, not 258",
    ),
    "blocks without ports": ("[stream]\nblocks = 1 #!", "stream.blocks: is 1, but stream.ports is 0"),
    "types of blocks": (
        "[stream]\nports = 1\nblocks = 1\nwidth_bytes = 4\nblock_types = 0xfe #!",
        "stream.block_types: has types of 8 bytes, but stream.width_bytes is 4",
    ),
    "ports of the switch": (
        "[mesh]\nwidth = 16\n[router]\nmesh_ports = 16 #!\n[cache]\ncaches_per_dram = 32\n[links]\nnames = ["
        + ", ".join(f'"l{link}"' for link in range(14))
        + "]\n[stream]\nports = 1",
        "router.mesh_ports: is 16, but a switch has at most 32 ports (16 exits, 14 links and 3 local ports are 33)",
    ),
    "link twice": ('[links]\nnames = [\n"a",\n"b",\n"a", #!\n]', "links.names[2]: a is listed twice"),
    "link name": ('[links]\nnames = ["a b"] #!', 'links.names[0]: "a b" is not a valid name'),
    "frame": (
        "[links]\nframe_bytes = 555 #!",
        "links.frame_bytes: is 555, but the longest packet (33 flits) takes 556 bytes with its headers",
    ),
    "long frame": (
        "[links]\nframe_bytes = 8156 #!",
        "links.frame_bytes: is 8156, but a sender must hold two frames in 16384 bytes; set 8155 or less",
    ),
    "window": (
        "[links]\nwindow_frames = 128 #!",
        "links.window_frames: is 128, must be 2 to 64: the map of a frame has 64 bits",
    ),
    "window of one": ("[links]\nwindow_frames = 1 #!", "links.window_frames: is 1, must be 2 to 64"),
    "removed key": (
        "[router]\nbeat_bytes = 32 #!",
        "router.beat_bytes: removed, because no hardware reads it; delete the line",
    ),
    "removed table": (
        "[shell] #!\nports = 16",
        "shell: removed, because no hardware reads it; delete the table",
    ),
    "renamed key": ("[match]\nmover = false #!", "match.mover: renamed: dma; write dma instead of mover"),
    "dma": ("[match]\ndma = true #!", "match.dma: needs an engine in each tile (in_tiles is false)"),
    "line of the dma": (
        "[match]\ndma = true #!\nin_tiles = true\n[cache]\nline_bytes = 64",
        "match.dma: needs packets of 71 bytes for part of a 64-byte line (64 bytes with 4 flits here)",
    ),
    "engines in tiles and at the board": (
        "[match]\non_board = 1 #!\nin_tiles = true",
        "match.on_board: is 1, but the engines are in the tiles (in_tiles is true); choose one of the two",
    ),
    "more engines than tiles": (
        "[match]\non_board = 64 #!",
        "match.on_board: is 64, more than the ",
    ),
    "engine at the board without entries": (
        "[match]\non_board = 1 #!\nlist_entries = 4\nlists = 1",
        "match.on_board: needs cam_entries of 2 or more and list_entries of 8 or more",
    ),
    "engines that are no power of two": ("[match]\non_board = 3 #!", "match.on_board: is 3, must be a power of two"),
    "lists": ("[match]\nlists = 64 #!\nlist_entries = 32", "match.lists: is 64, more than list_entries (32)"),
    "twice": (
        "[core]\nthreads_per_core = 4\nthreads_per_core = 8 #!",
        "core.threads_per_core: defined twice (first in line 4); keep one",
    ),
    "table twice": (
        "[core]\nthreads_per_core = 4\n[core] #!\ncores_per_instr_mem = 1",
        "core: defined twice (first in line 3); keep one",
    ),
    "not TOML": ("[core]\nthreads_per_core = = 4 #!", "not valid TOML: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_error_has_line_key_and_reason(case: str, tmp_path: Path) -> None:
    text, says = WRONG[case]
    text = HEAD + text + "\n"
    got = error_for(tmp_path, text)
    if case in ("FPU", "row", "tables"):
        # The file sets several of the keys involved; the error names the first.
        assert says in got and got.startswith("x.toml:"), got
    else:
        assert got.startswith(f"x.toml:{line_of(text, '#!')}: {says}"), got


def every_number() -> list[str]:
    """Keys of all numbers with a range."""
    found = [knob for knob in knobs(config.load("de5")) if isinstance(knob.value, (int, float))]
    return [knob.key for knob in found if range_text(knob.field) and get_origin(knob.field.annotation) is not Literal]


@pytest.mark.parametrize("key", every_number())
def test_values_outside_their_range_are_rejected(key: str, tmp_path: Path) -> None:
    """One below the minimum and one above the maximum are errors at their line, with the range in the message."""
    *section, name = key.split(".")
    holder: type[BaseModel] = Config
    for part in section:
        inner = holder.model_fields[part].annotation
        assert isinstance(inner, type)
        holder = inner
    field = holder.model_fields[name]
    limits = {which: getattr(rule, which) for rule in field.metadata for which in ("ge", "le") if hasattr(rule, which)}
    assert set(limits) == {"ge", "le"}, f"{key} has no limit on one side"
    for which, value in (("ge", limits["ge"] - 1), ("le", limits["le"] + 1)):
        text = f"{HEAD}[{'.'.join(section)}]\n\n{name} = {value} # {which}\n"
        got = error_for(tmp_path, text)
        assert got.startswith(f"x.toml:5: {key}: is {value}, must be {limits['ge']} to {limits['le']}"), got
    if extra(field).get("pow2"):
        for value in (limits["ge"], limits["le"]):
            assert value & (value - 1) == 0, f"{key}: its limit {value} is not a power of two"


def test_file_without_base_needs_every_key(tmp_path: Path) -> None:
    """A file without base that omits one line of de5 gets an error with the key and its meaning."""
    table = ""
    tables: dict[str, int] = {}
    checked = 0
    lines = DE5.splitlines()
    for number, line in enumerate(lines, 1):
        if line.startswith("["):
            table = line[1 : line.index("]")]
            tables[table] = number
        elif "=" in line.split("#")[0]:
            key = line.split("=")[0].strip()
            full = f"{table}.{key}" if table else key
            text = "\n".join(lines[: number - 1] + ["#"] + lines[number:]) + "\n"
            got = error_for(tmp_path, text)
            assert got.startswith(f"x.toml:{tables.get(table, 1)}: {full}: missing ("), got
            assert got.endswith("add it, or set `base` to a configuration that has it"), got
            checked += 1
    assert checked == len(list(knobs(config.load("de5")))) + 1


def test_missing_table_is_reported(tmp_path: Path) -> None:
    assert error_for(tmp_path, 'description = "x"\n').startswith("x.toml:1: board: missing (board and part)")


def test_invalid_utf8_is_reported_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b'description = "x"\n# caf\xe9\n')
    assert error_of(tmp_path / "x.toml").endswith("x.toml:2: not UTF-8 text; save a configuration as UTF-8")


def test_truncated_file_is_reported_at_its_last_line(tmp_path: Path) -> None:
    assert error_for(tmp_path, "[core]\nx = [1,\n").startswith("x.toml:2: not valid TOML: ")


def test_deep_nesting_is_an_error(tmp_path: Path) -> None:
    assert "x.toml" in error_for(tmp_path, "x = " + "[" * 100_000 + "\n")


def test_corrupted_files_load_or_raise_one_line(tmp_path: Path, size: Any, seed: int) -> None:
    """Files with deleted, doubled or swapped characters either load or raise an error of one line."""
    rng = random.Random(seed)
    texts = [path.read_text() for path in sorted(paths.CONFIG.rglob("*.toml")) if path.parent.name != "constants"]
    loaded = 0
    count = size.pick(100, 500, 5_000)
    for number in range(count):
        text = rng.choice(texts)
        for _ in range(rng.randrange(1, 4)):
            at, upto = sorted(rng.randrange(len(text) + 1) for _ in range(2))
            upto = min(upto, at + rng.randrange(1, 20))
            bit = text[at:upto]
            new = rng.choice(["", bit * 2, bit[::-1], rng.choice("[]{}=\"'.,#\n-0\0é"), bit.upper()])
            text = text[:at] + new + text[upto:]
        path = tmp_path / "x.toml"
        path.write_text(text)
        try:
            (config.load_cluster if "topology" in text else config.load)(path)
            loaded += 1
        except InputError as error:
            assert "\n" not in str(error), f"case {number}: {error}"
            assert ".toml" in str(error), f"case {number}: {error}"
    assert 0 < loaded < count


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n"])
def test_empty_file_lacks_its_description(text: str, tmp_path: Path) -> None:
    assert error_for(tmp_path, text).startswith("x.toml:1: description: missing")


def test_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(("\ufeff" + HEAD + "[board]\nclock_mhz = 5\n").replace("\n", "\r\n").encode())
    assert config.load(path).board.clock_mhz == 5
    path.write_bytes((HEAD + "[board]\nclock_mhz = 5000\n").replace("\n", "\r\n").encode())
    assert "x.toml:4: board.clock_mhz: is 5000" in error_of(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("de6", "no configuration named de6 in config; did you mean de5?"),
        ("zzz", "no configuration named zzz in config; known names: de5, "),
        ("no/such.toml", "no/such.toml: cannot read a configuration: no such file or directory"),
        ("config/", "cannot read a configuration: is a directory"),
    ],
)
def test_unknown_configuration_is_reported(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(paths.ROOT)
    with pytest.raises(InputError) as caught:
        config.load(name)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ('"de6"', "base: no configuration named de6; did you mean de5?"),
        ('"zzz"', "base: no configuration named zzz; known names: de5, "),
        ("5", "base: must be the name of a configuration in quotes"),
        ('"sub/no.toml"', "base: the file "),
    ],
)
def test_invalid_base_is_reported(base: str, says: str, tmp_path: Path) -> None:
    got = error_for(tmp_path, f'description = "x"\n\nbase = {base}\n')
    assert got.startswith(f"x.toml:3: {says}"), got


# -------------------------------------------------------------- from Python


def test_configurations_are_immutable() -> None:
    with pytest.raises(ValidationError):
        config.load("de5").core.threads_per_core = 8


def test_model_checks_combinations_without_a_file() -> None:
    data: dict[str, Any] = dict(read(paths.CONFIG / "de5.toml", "a configuration").data)
    data["mailbox"] = {**data["mailbox"], "cores_per_mailbox": 8}
    with pytest.raises(ValidationError, match="128 threads a mailbox"):
        Config.model_validate(data)


def test_import_does_not_load_pydantic() -> None:
    """`run` on the cpu engine must start without the import of pydantic."""
    code = (
        "import sys, gossamer.config as c, gossamer.cli.config; c.names(); c.cluster_names();"
        "sys.exit(any(m in sys.modules for m in ('pydantic', 'tree_sitter', 'numpy')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=paths.ROOT / "python")


def test_every_exported_name_exists() -> None:
    for name in config.__all__:
        assert getattr(config, name) is not None
    with pytest.raises(AttributeError):
        config.nothing_of_that_name  # noqa: B018
