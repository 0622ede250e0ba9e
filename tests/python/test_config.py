# SPDX-License-Identifier: Apache-2.0
"""Configurations: the shipped ones are the papers' machines, and every wrong one gets its line."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from gossamer import config, paths
from gossamer.config._schema import Config, derived_docs, knobs
from gossamer.config._source import extra, range_text, read
from gossamer.errors import InputError

DE5 = (paths.CONFIG / "de5.toml").read_text()


def error_of(path: Path) -> str:
    """The one line that the file gets."""
    with pytest.raises(InputError) as caught:
        config.load(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


def line_of(text: str, marker: str) -> int:
    """The line that a marker is in, found by nothing but counting line ends."""
    assert text.count(marker) == 1, f"{marker!r} must be there once"
    return text[: text.index(marker)].count("\n") + 1


def wrong(tmp_path: Path, text: str) -> str:
    """The error of a file, without the folder that it is in."""
    path = tmp_path / "x.toml"
    path.write_text(text)
    return error_of(path).replace(str(path), "x.toml")


# --------------------------------------------------------------- what ships


def test_the_designs_configurations_are_there() -> None:
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


def test_de5_is_the_papers_machine() -> None:
    """Numbers of FPL 2019, figures 1, 2, 4, 9 and 13, worked out by hand there."""
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
    # Figure 9: 7.8 GB/s are 30.3 % of the DRAM, 13.0 GB/s are 90.0 % of the SRAM (rounded there).
    assert de5.dram_mbytes_per_s == pytest.approx(7_800 / 0.303, rel=0.01)
    assert de5.sram_mbytes_per_s == pytest.approx(13_000 / 0.900, rel=0.01)
    assert de5.link_bits_per_kilocycle == 5 * 8 * 1000
    assert de5.links.flight_cycles == 100


def test_de5_128_is_figure_13() -> None:
    big = config.load("de5-128")
    assert (big.cores, big.threads, big.fpus, big.caches) == (128, 2048, 16, 16)
    assert big.cache_bytes == 64 * 1024
    assert big.clock_hz == 210_000_000
    assert big.threads_per_tile == 64


def test_smi520n_is_the_smi_papers_board() -> None:
    board = config.load("smi520n")
    assert board.memory.dram.count == 4
    assert board.memory.dram.port_bytes == 64
    assert board.link_count == 4
    assert board.links.rate_mbps == 40_000
    assert board.stream.packet_bytes == 32
    assert board.stream_payload_bytes == 28


def test_later_machine_of_the_papers_can_be_written(tmp_path: Path) -> None:
    """128 KB caches of 16 ways at 240 MHz (multicast paper, II A), as docs/configuration.md shows."""
    guide = (paths.ROOT / "docs" / "configuration.md").read_text()
    example = guide.split("```toml\n# mine.toml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "mine.toml").write_text(example)
    mine = config.load(tmp_path / "mine.toml")
    assert (mine.name, mine.base) == ("mine", "de5")
    assert mine.cache_bytes == 128 * 1024
    assert mine.cache.ways == 16
    assert mine.clock_hz == 240_000_000
    assert mine.threads == 1024


def test_derived_widths_number_what_they_should() -> None:
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


def test_base_gives_what_the_file_does_not(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('base = "de5"\ndescription = "mine"\n[core]\nthreads_per_core = 8\n')
    mine, de5 = config.load(tmp_path / "mine.toml"), config.load("de5")
    assert mine.core.threads_per_core == 8
    assert mine.core.instr_mem_bytes == de5.core.instr_mem_bytes
    assert mine.links == de5.links


def test_base_may_be_a_file_beside_it_and_have_a_base_itself(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text('base = "tiny"\ndescription = "low"\n[links]\nflight_cycles = 7\n')
    (tmp_path / "high.toml").write_text('base = "low"\ndescription = "high"\n[links]\nwindow_frames = 8\n')
    high = config.load(tmp_path / "high.toml")
    assert (high.links.flight_cycles, high.links.window_frames) == (7, 8)
    assert high.mesh == config.load("tiny").mesh


def test_own_file_may_take_the_name_of_its_base(tmp_path: Path) -> None:
    (tmp_path / "de5.toml").write_text('base = "de5"\ndescription = "mine"\n[links]\nflight_cycles = 7\n')
    assert config.load(tmp_path / "de5.toml").links.flight_cycles == 7


def test_base_cannot_stand_on_itself(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('description = "a"\nbase = "b.toml"\n')
    (tmp_path / "b.toml").write_text('base = "a.toml"\ndescription = "b"\n')
    text = error_of(tmp_path / "a.toml")
    assert "b.toml:1: base: a.toml leads back" in text


def test_fault_in_the_base_is_the_bases(tmp_path: Path) -> None:
    (tmp_path / "low.toml").write_text('description = "low"\nbase = "tiny"\n\n[links]\nflight_cycels = 7\n')
    (tmp_path / "high.toml").write_text('base = "low"\ndescription = "high"\n')
    text = error_of(tmp_path / "high.toml")
    assert text.endswith("low.toml:5: links.flight_cycels: unknown key; did you mean flight_cycles?")


def test_changed_value_is_to_blame_and_not_the_base(tmp_path: Path) -> None:
    text = wrong(tmp_path, 'base = "de5"\ndescription = "x"\n[core]\nthreads_per_core = 32\n')
    assert text == (
        "x.toml:4: core.threads_per_core: 4 cores of 32 threads are 128 threads a mailbox, "
        "more than the 64 that a multicast mask names"
    )


# ------------------------------------------------------------------- errors

HEAD = 'base = "de5"\ndescription = "x"\n'

WRONG = {
    # name: (text after HEAD with `#!` in the line to be blamed, what the error says after file and line)
    "misspelt": (
        "[core]\nthread_per_core = 16 #!",
        "core.thread_per_core: unknown key; did you mean threads_per_core?",
    ),
    "misspelt table": ("[cors] #!\nthreads_per_core = 16", "cors: unknown key; did you mean core?"),
    "wrong table": ("[core]\nways = 8 #!", "core.ways: unknown key; it belongs in [cache]"),
    "nothing like it": (
        "[mesh]\nzzz = 8 #!",
        "mesh.zzz: unknown key; known here: width, height, buffer_flits",
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
        "fpu.cores_per_fpu: is 8, which does not divide the 36 cores",
    ),
    "caches of a DRAM": (
        "[cache]\ncaches_per_dram = 4 #!",
        "cache.caches_per_dram: 64 cores with 4 a cache have 16 caches, but 2 DRAM with 4 caches each",
    ),
    "DRAM of the caches": (
        "[memory.dram]\ncount = 4 #!",
        "memory.dram.count: 64 cores with 4 a cache have 16 caches",
    ),
    "SRAM": (
        "[memory.sram]\ncount = 3 #!",
        "memory.sram.count: is 3, which the memory ports (one for each of 2 DRAM)",
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
        "memory.dram.bytes: is 1048576, less than 64 banks of one row",
    ),
    "ras": ("[memory.dram]\nras = 5 #!", "memory.dram.ras: is 5, shorter than activate to read (rcd is 11)"),
    "faw": (
        "[memory.dram]\nfaw = 4 #!",
        "memory.dram.faw: is 4, shorter than one activate to the next (rrd is 5)",
    ),
    "refresh": ("[memory.dram]\nrefi = 208 #!", "memory.dram.refi: is 208: nothing but refresh fits in"),
    "tables": (
        "[router]\ntable_bytes = 0x1_0000_0000\n[memory.dram]\nbytes = 0x1000_0000 #!",
        "router.table_bytes: is ",
    ),
    "switch": (
        "[mesh]\nbuffer_flits = 4 #!",
        "mesh.buffer_flits: is 4, but a packet enters a switch only when complete: up to 5 flits",
    ),
    "expander": (
        "[router]\nbuffer_flits = 4 #!",
        "router.buffer_flits: is 4, less than the longest packet (5 flits",
    ),
    "columns": ("[router]\nmesh_ports = 5 #!", "router.mesh_ports: is 5, but the mesh has 4 columns"),
    "beat": (
        "[router]\nbeat_bytes = 64 #!",
        "router.beat_bytes: is 64, but config/constants lays out beats of 32",
    ),
    "link twice": ('[links]\nnames = [\n"a",\n"b",\n"a", #!\n]', "links.names[2]: a is there twice"),
    "link name": ('[links]\nnames = ["a b"] #!', 'links.names[0]: "a b" is no name'),
    "frame": (
        "[links]\nframe_bytes = 555 #!",
        "links.frame_bytes: is 555, but the longest packet (33 flits) takes 556 bytes with its headers",
    ),
    "long frame": (
        "[links]\nframe_bytes = 8156 #!",
        "links.frame_bytes: is 8156, but a sender keeps two frames in 16384 bytes; give 8155 at most",
    ),
    "window": (
        "[links]\nwindow_frames = 128 #!",
        "links.window_frames: is 128, must be 2 to 64: a frame's map names 64 others",
    ),
    "window of one": ("[links]\nwindow_frames = 1 #!", "links.window_frames: is 1, must be 2 to 64"),
    "odd packet": (
        "[stream]\npacket_bytes = 256 #!",
        "stream.packet_bytes: is 256, which holds 252 elements of a byte",
    ),
    "dma": ("[match]\ndma = true #!", "match.dma: needs an engine in each tile (in_tiles is false)"),
    "line of the dma": (
        "[match]\ndma = true #!\nin_tiles = true\n[cache]\nline_bytes = 64",
        "match.dma: needs packets of 71 bytes for a part of a line of 64 (64 bytes with 4 flits here)",
    ),
    "lists": ("[match]\nlists = 64 #!\nlist_entries = 32", "match.lists: is 64, more lists than entries"),
    "twice": (
        "[core]\nthreads_per_core = 4\nthreads_per_core = 8 #!",
        "core.threads_per_core: given twice (first in line 4); keep one",
    ),
    "table twice": (
        "[core]\nthreads_per_core = 4\n[core] #!\ncores_per_instr_mem = 1",
        "core: given twice (first in line 3); keep one",
    ),
    "not TOML": ("[core]\nthreads_per_core = = 4 #!", "not valid TOML: "),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_file(case: str, tmp_path: Path) -> None:
    text, says = WRONG[case]
    text = HEAD + text + "\n"
    got = wrong(tmp_path, text)
    if case in ("FPU", "row", "tables"):
        # The file gives several of the keys that clash; the first of them is named.
        assert says in got and got.startswith("x.toml:"), got
    else:
        assert got.startswith(f"x.toml:{line_of(text, '#!')}: {says}"), got


def every_number() -> list[str]:
    """Key of every number that has a least or a greatest value."""
    de5 = config.load("de5")
    return [knob.key for knob in knobs(de5) if range_text(knob.field) and isinstance(knob.value, (int, float))]


@pytest.mark.parametrize("key", every_number())
def test_every_number_has_its_limits(key: str, tmp_path: Path) -> None:
    """One past either limit is refused, at its line, with the limit in the message."""
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
        got = wrong(tmp_path, text)
        assert got.startswith(f"x.toml:5: {key}: is {value}, must be {limits['ge']} to {limits['le']}"), got
    if extra(field).get("pow2"):
        for value in (limits["ge"], limits["le"]):
            assert value & (value - 1) == 0, f"{key}: its limit {value} is no power of two itself"


def test_every_key_is_needed(tmp_path: Path) -> None:
    """A file without base that leaves out any one line of de5 is told which key and what it means."""
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
            got = wrong(tmp_path, text)
            assert got.startswith(f"x.toml:{tables.get(table, 1)}: {full}: missing ("), got
            assert got.endswith("add it, or name a `base` that has it"), got
            checked += 1
    assert checked == len(list(knobs(config.load("de5")))) + 1


def test_missing_table(tmp_path: Path) -> None:
    assert wrong(tmp_path, 'description = "x"\n').startswith("x.toml:1: board: missing (board and part)")


def test_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_bytes(b'description = "x"\n# caf\xe9\n')
    assert error_of(tmp_path / "x.toml").endswith("x.toml:2: not UTF-8 text; save a configuration as UTF-8")


def test_end_of_file_in_the_middle(tmp_path: Path) -> None:
    assert wrong(tmp_path, "[core]\nx = [1,\n").startswith("x.toml:2: not valid TOML: ")


def test_absurd_nesting_is_no_stack_trace(tmp_path: Path) -> None:
    assert "x.toml" in wrong(tmp_path, "x = " + "[" * 100_000 + "\n")


def test_damaged_files_are_never_a_stack_trace(tmp_path: Path, size: Any, seed: int) -> None:
    """Files with letters lost, doubled, swapped: either still right or one clear line."""
    rng = random.Random(seed)
    texts = [path.read_text() for path in sorted(paths.CONFIG.rglob("*.toml")) if path.parent.name != "constants"]
    right = 0
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
            right += 1
        except InputError as error:
            assert "\n" not in str(error), f"case {number}: {error}"
            assert ".toml" in str(error), f"case {number}: {error}"
    assert 0 < right < count


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n"])
def test_empty_file(text: str, tmp_path: Path) -> None:
    assert wrong(tmp_path, text).startswith("x.toml:1: description: missing")


def test_bytes_of_other_systems_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_bytes(("\ufeff" + HEAD + "[board]\nclock_mhz = 5\n").replace("\n", "\r\n").encode())
    assert config.load(path).board.clock_mhz == 5
    path.write_bytes((HEAD + "[board]\nclock_mhz = 5000\n").replace("\n", "\r\n").encode())
    assert "x.toml:4: board.clock_mhz: is 5000" in error_of(path)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("de6", "no configuration named de6 in config; did you mean de5?"),
        ("zzz", "no configuration named zzz in config; there are de5, "),
        ("no/such.toml", "no/such.toml: cannot read a configuration: no such file or directory"),
        ("config/", "cannot read a configuration: is a directory"),
    ],
)
def test_no_such_configuration(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(paths.ROOT)
    with pytest.raises(InputError) as caught:
        config.load(name)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("base", "says"),
    [
        ('"de6"', "base: no configuration is named de6; did you mean de5?"),
        ('"zzz"', "base: no configuration is named zzz; there are de5, "),
        ("5", "base: must be the name of a configuration in quotes"),
        ('"sub/no.toml"', "base: there is no file "),
    ],
)
def test_no_such_base(base: str, says: str, tmp_path: Path) -> None:
    got = wrong(tmp_path, f'description = "x"\n\nbase = {base}\n')
    assert got.startswith(f"x.toml:3: {says}"), got


# -------------------------------------------------------------- from Python


def test_configurations_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        config.load("de5").core.threads_per_core = 8


def test_the_model_checks_combinations_without_a_file() -> None:
    data: dict[str, Any] = dict(read(paths.CONFIG / "de5.toml", "a configuration").data)
    data["mailbox"] = {**data["mailbox"], "cores_per_mailbox": 8}
    with pytest.raises(ValidationError, match="128 threads a mailbox"):
        Config.model_validate(data)


def test_importing_costs_no_pydantic() -> None:
    """`run` on the cpu engine must not wait for pydantic."""
    code = (
        "import sys, gossamer.config as c, gossamer.cli.config; c.names(); c.cluster_names();"
        "sys.exit(any(m in sys.modules for m in ('pydantic', 'tree_sitter', 'numpy')))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=paths.ROOT / "python")


def test_everything_announced_is_there() -> None:
    for name in config.__all__:
        assert getattr(config, name) is not None
    with pytest.raises(AttributeError):
        config.nothing_of_that_name  # noqa: B018
