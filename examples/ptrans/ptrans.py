# SPDX-License-Identifier: Apache-2.0
"""PTRANS on the simulated boards that run: C = B + transpose of A, distributed over all of them, checked with NumPy.

    ./gossamer cluster sim up 4
    PYTHONPATH=python .gossamer/env/bin/python examples/ptrans/ptrans.py [SIDE [REPETITIONS]]

SIDE is the number of rows and columns, a multiple of 32.
"""

import sys
from pathlib import Path

from gossamer.errors import GossamerError, InputError
from gossamer.shell import Host, keys, ptrans, simulation


def main(side: int, repeat: int) -> int:
    running = simulation.running()
    if running is None:
        raise InputError("no simulated cluster runs; start one with ./gossamer cluster sim up 4")
    with Host(running.socket, keys.read(Path(running.keys))) as host:
        boards = sorted(board.mac for board in host.discover())
        ptrans.split(side, side, len(boards))  # a wrong size is found before sessions are open
        for mac in boards:
            host.open(mac)
        host.configure(boards, ptrans.role())
        a, b = ptrans.matrices(side, side, seed=1)
        found = ptrans.run(host, boards, a, b, repeat=repeat)
        for mac in boards:
            host.close(mac)
    wrong = ptrans.check(a, b, found.result)
    print(f"{len(boards)} boards, {side} x {side} elements: {wrong} wrong")
    print(f"cycles of the first board: {found.cycles[0]:,}")
    print(f"written in {found.written:.3f} s, executed in {found.executed:.3f} s, read in {found.fetched:.3f} s")
    return int(wrong != 0)


if __name__ == "__main__":
    try:
        words = [int(word) for word in sys.argv[1:3]]
        sys.exit(main(*words, *(1024, 10)[len(words) :]))
    except ValueError:
        sys.exit("SIDE and REPETITIONS must be numbers")
    except GossamerError as error:
        print(f"ptrans: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
