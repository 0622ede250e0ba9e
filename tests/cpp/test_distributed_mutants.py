# SPDX-License-Identifier: Apache-2.0
"""Which errors in the delivery of messages between ranks tests/cpp/distributed.cc finds: each of these changes of one
place in the engine must make it fail."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from gossamer import native
from gossamer.builds import compiler

ROOT = Path(__file__).resolve().parents[2]
ENGINE = ROOT / "include" / "gossamer" / "distributed"
SEEDS = ("1", "2")


class Mutant(NamedTuple):
    """A text that occurs once in a header of the engine, and its replacement."""

    header: str
    text: str
    replacement: str


MUTANTS = {
    "one-wave-decides": Mutant(
        "async.h",
        "const uint64_t received = std::exchange(received_before_, static_cast<uint64_t>(reduction_[1].word))",
        "const uint64_t received = static_cast<uint64_t>(reduction_[1].word)",
    ),
    "waves-compare-the-same-count": Mutant(
        "async.h", "if (sent == received) break;", "if (sent <= received || sent == sent_buffers_) break;"
    ),
    "contributes-with-kept-messages": Mutant("async.h", "} else if (!worked && !kept) {", "} else if (!worked) {"),
    "contributes-while-busy": Mutant("async.h", "} else if (!worked && !kept) {", "} else if (!kept) {"),
    "kept-is-not-reported": Mutant("async.h", "      kept = true;\n", ""),
    "sends-before-the-last-is-received": Mutant(
        "async.h", "!ranks_.table().sent(requests_[rank])) {\n      kept = true;", "false) {\n      kept = true;"
    ),
    "does-not-count-a-received-buffer": Mutant(
        "async.h", "    ++received_buffers_;\n", "    if (rank) ++received_buffers_;\n"
    ),
    "counts-a-buffer-that-is-kept": Mutant(
        "async.h", "    if (!some) continue;\n", "    if (!some) continue;\n    ++sent_buffers_;\n"
    ),
    "counts-messages-to-itself": Mutant(
        "buffers.h", "        ++mine.deliveries;\n", "        ++mine.deliveries;\n        ++sent_buffers_;\n"
    ),
    "receives-buffers-of-the-next-step": Mutant("engine.h", "epoch_ % 2 ? kAsyncOdd : kAsyncEven", "kAsyncEven"),
    "does-not-list-vertices-that-many-messages-wake": Mutant(
        "async.h", "if (!unpack<true>(rank)) enlisted = false;", "unpack<true>(rank);"
    ),
    "does-not-list-vertices-after-many-have-sent": Mutant(
        "async.h", "        deliverMany();\n        enlisted = false;\n", "        deliverMany();\n"
    ),
    "does-not-list-a-vertex-that-a-message-wakes": Mutant(
        "engine.h", "if constexpr (!hasPriority && Listed) list_.push_back(v);", ""
    ),
    "does-not-queue-a-vertex-that-a-message-wakes": Mutant(
        "engine.h", "if (now != No && (before == No || x.priority() != rank)) enqueue(v, x.priority());", "(void)rank;"
    ),
    "does-not-list-a-vertex-that-sends-again": Mutant("round.h", "if (ready_.test(v)) list_.push_back(v);", ""),
    "forgets-messages-of-ghosts": Mutant("async.h", "    push(own_, net_.all());\n", ""),
    "delivers-messages-of-ghosts-twice": Mutant(
        "async.h", "    push(own_, net_.all());\n  }\n  forgetMessages();", "    push(own_, net_.all());\n  }"
    ),
    "does-not-see-kept-messages-along-one-edge": Mutant("async.h", " || !singles_[rank].empty();", ";"),
    "drops-kept-messages-along-one-edge": Mutant("async.h", "    packSingles(rank, send_[rank]);\n", ""),
    "overwrites-a-buffer-in-flight": Mutant(
        "async.h",
        "    ++sent_buffers_;\n",
        "    ++sent_buffers_;\n    if (!send_[rank].empty()) send_[rank].back() ^= 1;\n",
    ),
}


def program(folder: Path, mutant: Mutant | None) -> Path:
    """tests/cpp/distributed.cc, compiled with a changed header that precedes the engine's own."""
    if mutant is not None:
        text = (ENGINE / mutant.header).read_text(encoding="utf-8")
        assert text.count(mutant.text) == 1, f"{mutant.header}: {mutant.text!r} does not occur once"
        changed = folder / "gossamer" / "distributed" / mutant.header
        changed.parent.mkdir(parents=True)
        changed.write_text(text.replace(mutant.text, mutant.replacement), encoding="utf-8")
    library = native.ensure_built()
    built = folder / "distributed"
    flags = ["-std=c++20", "-O0", "-pthread", f"-I{folder}", f"-I{ROOT / 'include'}", f"-I{ROOT / 'src'}"]
    source = str(Path(__file__).with_name("distributed.cc"))
    command = [*compiler(), *flags, source, str(library), f"-Wl,-rpath,{library.parent}", "-o", str(built)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return built


def found(built: Path) -> bool:
    """Whether a run with one of the seeds fails."""
    environment = {**os.environ, "GOSSAMER_TEST_TIER": "all"}
    for seed in SEEDS:
        done = subprocess.run([built, seed], env=environment, capture_output=True, timeout=600, check=False)
        if done.returncode:
            return True
    return False


@pytest.mark.tier("all", seconds=300, adds="errors in the delivery between ranks are found")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", MUTANTS)
def test_an_error_in_the_delivery_between_ranks_is_found(name: str, tmp_path: Path) -> None:
    assert found(program(tmp_path, MUTANTS[name]))
