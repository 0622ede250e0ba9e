# SPDX-License-Identifier: Apache-2.0
"""Tiers of tests: which tests run in which, in what order, and that the default tier reaches every part."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import durations
import pytest
from conftest import ROOT, TIERS, Command

from gossamer import apps
from gossamer_setup import COMMANDS

FACTOR = 6.0
"""A stated time and a measured one may differ by this factor: machines and their load differ."""
LONG = 120.0
"""Seconds of processor time above which a test of the default tier must say what it adds."""
ENGINES = ("cpu", "shuffle", "rtl")

_DUMP = """
import json, os
from conftest import tier_of

def pytest_collection_finish(session):
    items = []
    for item in session.items:
        mark = item.get_closest_marker("tier") or item.get_closest_marker("default_cases")
        about = dict(mark.kwargs) if mark else {}
        of_cases = item.get_closest_marker("tier") is None and mark is not None
        name = item.originalname
        items.append({"id": item.nodeid, "tier": tier_of(item), "about": about, "function": name, "cases": of_cases})
    with open(os.environ["DUMP_FILE"], "w") as file:
        json.dump(items, file)
"""


@pytest.fixture(scope="session")
def items(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """All tests of all tiers, collected once in a separate process."""
    folder = tmp_path_factory.mktemp("collect")
    (folder / "dump_items.py").write_text(_DUMP)
    found: dict[str, dict[str, Any]] = {}
    # The parameters of some tests depend on the tier.
    for tier in ("default", "full"):
        environment = {
            **os.environ,
            "GOSSAMER_TEST_TIER": tier,
            "DUMP_FILE": str(folder / tier),
            "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT / "tests")]),
        }
        command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "dump_items"]
        done = subprocess.run(
            [*command, "tests"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        for item in json.loads((folder / tier).read_text()):
            found.setdefault(item["id"], {**item, "runs": tier})
    return list(found.values())


pytestmark = pytest.mark.xdist_group("tiers")


def function_of(item: dict[str, Any]) -> str:
    return f"{item['id'].split('::')[0]}::{item['function']}"


def test_every_marker_of_cases_leaves_a_case_in_the_default_tier(items: list[dict[str, Any]]) -> None:
    """A pattern that matches no case would leave the test out."""
    marked = {function_of(item) for item in items if item["cases"]}
    assert sorted(marked - {function_of(item) for item in items if runs(item)}) == []


def test_every_marker_states_measured_time_and_added_coverage(items: list[dict[str, Any]]) -> None:
    wrong = []
    of_function: dict[str, list[str]] = defaultdict(list)
    for item in items:
        of_function[function_of(item)].append(item["id"])
    for item in items:
        about, measured = item["about"], durations.known().get(item["id"])
        if item["tier"] == "default" and not about:
            continue
        if set(about) != {"seconds", "adds"} or len(str(about.get("adds", "")).split()) < 3:
            wrong.append(f"{item['id']}: its marker must have seconds=... and adds='...'")
        elif measured is not None and not item["cases"]:
            # A marker of a function states the time of all its cases.
            stated, seconds = max(float(about["seconds"]), 1.0), max(*measured, 1.0)
            together = sum(max(durations.known().get(other, (0.0, 0.0))) for other in of_function[function_of(item)])
            if not any(stated / FACTOR <= one <= stated * FACTOR for one in (seconds, together)):
                wrong.append(f"{item['id']}: its marker states {stated} s, it takes {seconds} s")
    assert not wrong, "\n".join(wrong)


def test_long_default_tier_tests_state_what_they_add(items: list[dict[str, Any]]) -> None:
    long = [item["id"] for item in items if item["tier"] == "default" and not item["about"]]
    long = [name for name in long if durations.known().get(name, (0.0, 0.0))[1] > LONG]
    assert not long, "give these a marker tier, with seconds and what they add:\n" + "\n".join(long)


ABOVE = {
    "tests/cpp/test_distributed_mutants.py": "tests/cpp/test_cpp.py",
    "tests/python/test_distributed_sanitizers.py": "tests/python/test_distributed.py",
    "tests/rtl/board/test_network.py": "tests/rtl/board/test_fabric.py",
    "tests/rtl/board/test_saturate.py": "tests/rtl/switch/test_switch.py",
    "tests/rtl/stream/test_generated_cluster.py": "tests/rtl/stream/test_generated.py",
}
"""Files without a test of the default tier, and the file whose default tests have the same modules as subject."""


def test_every_higher_tier_test_has_a_lower_tier_test_in_its_file(items: list[dict[str, Any]]) -> None:
    """No subject is tested only by --all."""
    lowest: dict[str, int] = defaultdict(lambda: len(TIERS))
    for item in items:
        file = item["id"].split("::")[0]
        lowest[file] = min(lowest[file], TIERS.index(item["tier"]))
    default = TIERS.index("default")
    assert sorted(file for file, tier in lowest.items() if tier > default) == sorted(ABOVE)
    assert all(lowest[file] <= default for file in ABOVE.values())


def names_of_blocks() -> list[str]:
    return sorted(path.name for path in (ROOT / "rtl").iterdir() if any(path.glob("*.sv")))


def test_default_tier_tests_every_block(items: list[dict[str, Any]]) -> None:
    tested = {item["id"].split("/")[2] for item in items if item["id"].startswith("tests/rtl/") and runs(item)}
    # Packages without a module of their own are tested with the blocks that use them.
    without = {"fabric"}
    assert [block for block in names_of_blocks() if block not in tested | without] == []


def runs(item: dict[str, Any]) -> bool:
    return TIERS.index(item["tier"]) <= TIERS.index("default") and item["runs"] == "default"


def sources(items: list[dict[str, Any]]) -> str:
    """The ids of the tests of the default tier, and the texts of their functions."""
    texts: list[str] = []
    by_file: dict[str, set[str]] = defaultdict(set)
    for item in items:
        if runs(item):
            texts.append(item["id"])
            by_file[item["id"].split("::")[0]].add(item["function"])
    for file, functions in by_file.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        for block in re.split(r"^(?=(?:@|def |async def ))", text, flags=re.MULTILINE):
            name = re.search(r"^def (\w+)", block, re.MULTILINE)
            if name is None or not name[1].startswith("test_") or name[1] in functions:
                texts.append(block)
    return "\n".join(texts)


def test_default_tier_runs_every_application_and_every_engine(items: list[dict[str, Any]]) -> None:
    text = sources(items)
    for name in apps.names():
        assert re.search(rf"[\"\[-]{re.escape(name)}[\"\]-]", text), f"no default-tier test runs {name}"
    for engine in ENGINES:
        assert re.search(rf"[\"\[-]{engine}[\"\]-]", text), f"no default-tier test runs the engine {engine}"


def test_default_tier_runs_every_command(items: list[dict[str, Any]]) -> None:
    text = sources(items)
    for name in COMMANDS:
        assert re.search(rf"\bcommand\(\s*\"{name}\"|\./gossamer {name}\b|\"{name}\",", text), (
            f"no default-tier test runs ./gossamer {name}"
        )


# ---- The order ------------------------------------------------------------------------


class Item:
    """The part of a test that determines its order."""

    def __init__(self, name: str, **marks: str) -> None:
        self.nodeid = name
        self.marks = {kind: getattr(pytest.mark, kind)(value).mark for kind, value in marks.items()}

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marks.get(name)


def test_builds_run_first_then_the_longest_and_groups_stay_together(monkeypatch: pytest.MonkeyPatch) -> None:
    times = {"short": 1.0, "long": 50.0, "half": 20.0, "other half": 40.0, "build": 5.0}
    monkeypatch.setattr(durations, "known", lambda: {name: (wall, wall) for name, wall in times.items()})
    items: list[Any] = [Item("new"), Item("short"), Item("half", xdist_group="g"), Item("long")]
    items += [Item("other half", xdist_group="g"), Item("build", builds="tiny")]
    durations.sort(items)
    assert [item.nodeid for item in items] == ["build", "half", "other half", "long", "short", "new"]


def test_all_tests_of_a_group_run_on_one_worker(tmp_path: Path) -> None:
    """As ``./gossamer test`` runs them; the ids of the reports do not have the group."""
    (tmp_path / "test_own.py").write_text(
        "import os, time\nimport pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def built():\n"
        "    print('built on', os.environ['PYTEST_XDIST_WORKER'])\n"
        "@pytest.mark.xdist_group('shared')\n"
        "@pytest.mark.parametrize('case', ['a@b', *'cdefgh'])\n"
        "def test_of_the_group(case, built): time.sleep(0.1)\n"
        "@pytest.mark.parametrize('case', range(40))\n"
        "def test_of_none(case): time.sleep(0.02)\n"
    )
    words = [sys.executable, "-m", "pytest", "-v", "-rP", "-p", "conftest", "-p", "no:cacheprovider", "-c", os.devnull]
    words += ["--numprocesses=2", "--dist=loadgroup", "--no-loadscope-reorder", f"--rootdir={tmp_path}", "test_own.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ran = re.findall(r"\[(gw\d)\].* PASSED test_own\.py::(\w+)\[.*?\](\S*)", done.stdout)
    assert len(ran) == 47 and {rest for _, _, rest in ran} == {""}, done.stdout
    assert len({worker for worker, name, _ in ran if name == "test_of_the_group"}) == 1
    assert {worker for worker, _, _ in ran} == {"gw0", "gw1"}
    assert done.stdout.count("built on") == 1


# ---- The command ----------------------------------------------------------------------


def test_test_name_without_match_gets_similar_names(command: Command) -> None:
    done = command("test", "test_tierz", "--jobs", "1")
    assert done.returncode == 2 and done.stderr.count("gossamer: error:") == 1
    assert "no test has 'test_tierz' in its name; close to it: test_tiers" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_failing_test_is_named_before_the_others_end(jobs: str, tmp_path: Path, command: Command) -> None:
    own = tmp_path / "test_own.py"
    own.write_text("def test_one():\n    assert 0\ndef test_two(): pass\n")
    done = command("test", own, "--jobs", jobs)
    assert done.returncode == 1
    assert re.search(r"^failed: .*test_own\.py::test_one$", done.stdout.split("FAILURES")[0], re.MULTILINE), done.stdout


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_tests_report_their_progress(number: int, tmp_path: Path) -> None:
    """The signal is sent to the whole process group, as by a terminal, or to the command."""
    own = tmp_path / "test_slow.py"
    own.write_text(
        "import time, pathlib\ndef test_one(): pass\n"
        f"def test_two():\n    pathlib.Path({str(tmp_path / 'begun')!r}).touch()\n    time.sleep(60)\n"
    )
    child = subprocess.Popen(
        [sys.executable, str(ROOT / "gossamer"), "test", str(own), "--jobs", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    begun = time.monotonic()
    while not (tmp_path / "begun").exists() and time.monotonic() < begun + 60:
        time.sleep(0.05)
    if number == signal.SIGINT:  # as a terminal does it
        os.killpg(child.pid, number)
    else:
        child.send_signal(number)
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert "could not be collected" not in said and "Traceback" not in said.split("KeyboardInterrupt")[-1]
    assert "gossamer: stopped after 1" in said, said
