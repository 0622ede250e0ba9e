# SPDX-License-Identifier: Apache-2.0
"""Rates of the mailbox: flits out and in at once, pointers that a message to all threads is dealt out in.

Flits: half of the threads send messages of full length one after the other, the network brings as many as it can for
the other half, which receives and releases them: three requests a message, as programs make that find
messages waiting. Pointers: messages to all threads, from the first to the last that is dealt out.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator

import models

from gossamer import config as configs
from gossamer.bench import Context, Row
from gossamer.errors import RunDied
from gossamer.hdl import sources, verilate

FLITS = "mailbox.flits-per-cycle"
POINTERS = "mailbox.pointers-per-cycle"
NAMES = (FLITS, POINTERS)
CONFIG = "de5"
_HARNESS = models.FOLDER / "mailbox"


def measure(context: Context) -> Iterator[Row]:
    """Both rows, from one simulation; the rates do not depend on the machine."""
    if not any(context.wants(name) for name in NAMES):
        return
    found = rates(CONFIG)
    if context.wants(FLITS):
        value = min(found["out"], found["in"])
        yield context.row(
            FLITS,
            value,
            "flits/cycle",
            reference={"what": "one flit a cycle each way", "value": 1.0, "unit": "flits/cycle"},
            ratio=value,
            configuration=CONFIG,
            out=found["out"],
            into=found["in"],
            least=0.9,
        )
    if context.wants(POINTERS):
        yield context.row(
            POINTERS,
            found["pointers"],
            "pointers/cycle",
            reference={"what": "4 sets of virtual queues, one pointer each", "value": 4.0, "unit": "pointers/cycle"},
            ratio=found["pointers"] / 4.0,
            configuration=CONFIG,
            least=4.0,
        )


def rates(configuration: str) -> dict[str, float]:
    """Flits ``in`` and ``out`` a cycle, and ``pointers``, of a configuration's mailbox."""
    config = configs.load(configuration)
    shape = {
        "Threads": config.threads_per_tile,
        "CoreBits": config.mailbox.cores_per_mailbox.bit_length() - 1,
        "SlotsPerThread": config.mailbox.slots_per_thread,
        "SlotBytes": config.mailbox.slot_bytes,
        "MaxFlits": config.mailbox.max_flits,
        "QueueDepth": config.mailbox.queue_depth,
        "SendSlots": 2,
        "Multicast": 1,
    }
    # SlotBytes of the model is MAILBOX_SLOT_BYTES of its harness.
    words = {re.sub("[A-Z]", r"_\g<0>", name).upper(): value for name, value in shape.items()}
    simulator = verilate.model(
        "mailbox_top",
        sources.blocks("mailbox", "idle", config=config) + [_HARNESS / "mailbox_top.sv"],
        # The harness of the tests, all of it.
        sorted(_HARNESS.glob("*.cc")),
        parameters=shape,
        include=[models.INCLUDE],
        optimise="-O1",
        cxx=[f"-DMAILBOX{word}={value}" for word, value in words.items()],
    )
    done = subprocess.run([simulator, "rates", "1"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunDied(f"the mailbox's rates: {done.stderr.strip()[-500:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[0])
    return found


__all__ = ["NAMES", "measure", "rates"]
