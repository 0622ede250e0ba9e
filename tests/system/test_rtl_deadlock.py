# SPDX-License-Identifier: Apache-2.0
"""A deadlock report names the cause of blocked messages: threads, queues, boards, links."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Command

import gossamer_setup
from gossamer import config as configs

HEAD = "#include <gossamer/device.h>\n#include <tinsel.h>\n"
TINY = configs.load("tiny")


@pytest.fixture(scope="module", autouse=True)
def simulators() -> None:
    gossamer_setup.require("rtl")
    from gossamer.engines import _rtl_build

    _rtl_build.cluster(TINY)


def lines(command: Command, folder: Path, body: str, *words: str) -> list[str]:
    """The output of a program that deadlocks."""
    source = folder / "prog.c"
    source.write_text(HEAD + body, encoding="utf-8")
    done = command("run", source, "--engine", "rtl", *words)
    assert done.returncode == 4 and not done.stdout
    found = done.stderr.splitlines()
    assert found[-1].startswith("gossamer: error: ") and ": deadlock: " in found[-1]
    return found


# Threads send to the other board or tile and do not receive, until all slots are full.
SENDERS = """int main(void) {
  const uint32_t threads = gossamerThreads(), boards = GOSSAMER_BOARDS, board = gossamerBoard();
  tinselSetLen(4);
  for (uint32_t i = 0; i < 999; ++i) {
    tinselWaitUntil(TINSEL_CAN_SEND);
    const uint32_t to = (gossamerThread() + 1 + i) % threads;
    tinselSend((int)gossamerAddressOn((board + 1) % boards, to), tinselSendSlot());
  }
  return 0;
}
"""

# All other threads send three messages to thread 5 of the last board, which does not receive any.
ONE_QUEUE = """int main(void) {
  if (gossamerThread() != 5 || gossamerBoard() + 1 != GOSSAMER_BOARDS) {
    for (int i = 0; i < 3; ++i) {
      tinselWaitUntil(TINSEL_CAN_SEND);
      tinselSend((int)gossamerAddressOn(GOSSAMER_BOARDS - 1, 5), tinselSendSlot());
    }
  }
  for (;;) tinselWaitUntil(0);
  return 0;
}
"""


def test_deadlock_names_full_slots_and_blocked_links_of_both_boards(command: Command, tmp_path: Path) -> None:
    _, full, behind, last = lines(command, tmp_path, SENDERS, "--cluster", "pair")
    every = "(board a, tiles 0,0, 1,0; board b, tiles 0,0, 1,0)"
    assert full == f"full: all message slots {every}: messages for these threads wait until a slot is freed"
    assert behind.startswith(f"blocked by them, messages wait at routers {every}; in the switch of board a from ")
    for part in ("in the switch of board b from ", "to leave board a over link a:", "at board b off link b:"):
        assert part in behind, behind
    assert last.endswith(": deadlock: all threads that run (0-63) wait for each other: messages are blocked")


@pytest.mark.parametrize("words", [("--config", "tiny"), ("--one-tile", "--config", "tiny")])
def test_deadlock_names_full_message_slots_of_tiles(command: Command, tmp_path: Path, words: tuple[str, ...]) -> None:
    _, full, *behind, last = lines(command, tmp_path, SENDERS, *words)
    tiles = "" if "--one-tile" in words else " (tiles 0,0, 1,0)"
    assert full == f"full: all message slots{tiles}: messages for these threads wait until a slot is freed"
    assert [line.startswith("blocked by them, messages wait at routers (tile") for line in behind] == [True] * bool(
        tiles
    )
    assert last.endswith("wait for each other: messages are blocked")


def test_deadlock_names_the_full_queue_of_a_thread(command: Command, tmp_path: Path) -> None:
    found = lines(command, tmp_path, ONE_QUEUE, "--cluster", "pair")
    depth = TINY.mailbox.queue_depth
    full = (
        f"full: the queue of thread 37 (board b, tile 0,0): {depth} messages wait to be received, and the next one "
        "blocks all messages for its tile"
    )
    assert full in found, found
    assert sum(line.startswith("full: ") for line in found) == 1
    (behind,) = [line for line in found if line.startswith("blocked by them, messages wait ")]
    assert "blocked by them, messages wait at routers (board b, tile" in behind and "board a" not in behind, behind
    assert "in the switch of board b from link b:" in behind, behind


def test_deadlock_without_messages_names_no_queue(command: Command, tmp_path: Path) -> None:
    body = "int main(void) { tinselWaitUntil(TINSEL_CAN_RECV); return 0; }"
    (_, last) = lines(command, tmp_path, body, "--cluster", "pair")
    assert last.endswith("deadlock: all threads that run (0-63) wait for messages, and none is in flight")


def test_deadlock_names_the_cut_links(command: Command, tmp_path: Path) -> None:
    body = """int main(void) {
      for (int i = 0; i < 3000; ++i) __asm__ volatile("");
      tinselWaitUntil(TINSEL_CAN_SEND);
      if (!gossamerBoard()) tinselSend((int)gossamerAddressOn(1, gossamerThread()), tinselSendSlot());
      else tinselWaitUntil(TINSEL_CAN_RECV);
      return 0;
    }"""
    words = ("--cluster", "pair", "--cut", "a:north@1000", "--cut", "a:east@1000")
    found = lines(command, tmp_path, body, *words)
    assert found[-1].endswith(
        "wait for messages, and none is in flight; link a:east - b:west, a:north - b:south are down"
    )


RUN = """#include <HostLink.h>
int main() {
  HostLink hostLink;
  hostLink.boot("code.v", "data.v");
  hostLink.go();
  uint32_t msg[TinselWordsPerMsg];
  hostLink.recv(msg);
}
"""


@pytest.mark.parametrize("words", [("--cluster", "pair"), ("--config", "tiny")])
def test_deadlock_with_a_host_names_queues_and_the_host_call(
    command: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The same program started by a host that waits for a message: the same queues, and the host's call."""
    # In programs with a host the length is the number of flits minus one.
    (tmp_path / "prog.c").write_text(HEAD + SENDERS.replace("SetLen(4)", "SetLen(3)"), encoding="utf-8")
    (tmp_path / "Run.cpp").write_text(RUN, encoding="utf-8")
    done = command("run", tmp_path, "--engine", "rtl", *words)
    assert done.returncode == 4 and not done.stdout
    *_, full, behind, last = done.stderr.splitlines()
    cluster = "pair" in words
    every = "(board a, tiles 0,0, 1,0; board b, tiles 0,0, 1,0)" if cluster else "(tiles 0,0, 1,0)"
    assert full == f"full: all message slots {every}: messages for these threads wait until a slot is freed"
    if cluster:
        assert behind.startswith(f"blocked by them, messages wait at routers {every}; in the switch of board a from ")
        for part in ("in the switch of board b from ", "to leave board a over link a:", "at board b off link b:"):
            assert part in behind, behind
    else:
        assert behind.startswith("blocked by them, messages wait at routers (tile")
    threads = "0-63" if cluster else "0-31"
    assert last.endswith(
        f"Run.cpp: deadlock: the host waits in HostLink::recv, all threads that run ({threads}) wait for each "
        "other: messages are blocked"
    )
