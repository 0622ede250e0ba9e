# SPDX-License-Identifier: Apache-2.0
"""Maps the boards' parts of a large graph in parallel, with one process per processor.

METIS uses one processor and holds Python's global lock. A worker is a new Python process that reads parts from its
standard input and writes the vertices' threads to its standard output, both pickled; it ends when its input closes.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import GossamerError
from gossamer.paths import PYTHON

if TYPE_CHECKING:
    from gossamer.mapper.levels import Undirected


def on_boards(
    graph: Undirected,
    parts: Iterable[NDArray[np.int64]],
    shape: tuple[int, int],
    method: str,
    seed: int,
    tile_done: Callable[[], object],
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """For each part, in order, its vertices and their threads on the board; ``shape`` as in ``split.on_threads``.

    ``tile_done`` is called once per tile, by one thread at a time.
    """
    lock = threading.Lock()

    def report_tile() -> None:
        with lock:
            tile_done()

    with contextlib.ExitStack() as stack:
        free: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        count = len(os.sched_getaffinity(0))
        workers = [stack.enter_context(_Worker()) for _ in range(count)]
        for worker in workers:
            free.put(worker)

        def mapped(members: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
            worker = free.get()
            try:
                return members, worker.threads(graph.part(members), shape, method, seed, report_tile)
            finally:
                free.put(worker)

        pool = stack.enter_context(ThreadPoolExecutor(count))
        try:
            yield from pool.map(mapped, parts)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.end()
            raise


class _Worker:
    """A worker process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(PYTHON)},
            # Ctrl-C in a terminal signals the whole process group; the parent ends this process.
            start_new_session=True,
        )

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        with contextlib.suppress(BrokenPipeError):
            self._process.__exit__(None, None, None)

    def end(self) -> None:
        """Kills the process, which has no state to save."""
        self._process.kill()

    def threads(
        self, graph: Undirected, shape: tuple[int, int], method: str, seed: int, tile_done: Callable[[], object]
    ) -> NDArray[np.int64]:
        """The threads of the vertices of a board's part."""
        into, out = self._process.stdin, self._process.stdout
        assert into is not None and out is not None
        try:
            pickle.dump((graph.arrays(), shape, method, seed), into, protocol=5)
            into.flush()
            while True:
                found = pickle.load(out)
                if found is not None:
                    return np.asarray(found, np.int64)
                tile_done()
        except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
            raise GossamerError(f"a process of the mapper ended with code {self._process.wait()}") from error


def serve() -> None:
    """The main loop of a worker."""
    from gossamer.mapper.levels import Undirected
    from gossamer.mapper.split import on_threads

    into, out = sys.stdin.buffer, sys.stdout.buffer

    def send(what: Any) -> None:
        pickle.dump(what, out, protocol=5)
        out.flush()

    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            arrays, shape, method, seed = pickle.load(into)
            send(on_threads(Undirected.from_arrays(*arrays), shape, method, seed, lambda: send(None)))


__all__ = ["on_boards", "serve"]
