# SPDX-License-Identifier: Apache-2.0
"""Agreement of the results of two engines, judged by ``./gossamer diff``.

Both results are written to files as ``./gossamer run --output`` writes them, and the command compares the files.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gossamer.apps import runner
from gossamer.apps.results import Result
from gossamer.cli import _run_output, diff
from gossamer.errors import ExitCode

Side = Result | Path | Mapping[str, Any]
"""A result, a file with one, or columns whose rows are numbered."""


def check(first: Side, second: Side, *, absolute: float = 0.0, relative: float = 0.0) -> None:
    """Fails with the output of the command unless two results agree.

    Values are equal, or within a tolerance. Of two Results the tolerance is the application's, as for
    ``./gossamer run --shuffle``; it may not be given too.
    """
    text = differences(first, second, absolute=absolute, relative=relative)
    assert not text, text


def differences(first: Side, second: Side, *, absolute: float = 0.0, relative: float = 0.0) -> str:
    """What the command prints about results that differ; empty if they agree. Tolerances as of ``check``."""
    with tempfile.TemporaryDirectory() as folder:
        files = [_file(side, Path(folder) / f"{name}.npz") for name, side in (("first", first), ("second", second))]
        if not (isinstance(first, Result) and isinstance(second, Result)):
            return _compared(*files, "--absolute", str(absolute), "--relative", str(relative))
        assert not absolute and not relative, "the tolerance of results is the application's"
        if not any(runner.tolerances(first, name)[1] for name in first.columns):
            return _compared(*files)
        # The floor of a tolerance differs between columns.
        return "".join(_compared(*files, *_tolerances(first, name), "--column", name) for name in first.columns)


def _tolerances(result: Result, column: str) -> Iterator[str]:
    for option, value in zip(("--absolute", "--relative"), runner.tolerances(result, column), strict=True):
        yield from (option, repr(value))


def _file(side: Side, path: Path) -> Path:
    if isinstance(side, Path):
        return side
    if isinstance(side, Result):
        _run_output.writer(path)(side)
        return path
    columns = {name: np.asarray(values) for name, values in side.items()}
    count = len(next(iter(columns.values())))
    np.savez(path, vertex=np.arange(count), **columns)
    return path


def _compared(first: Path, second: Path, *options: str) -> str:
    """The output of ``./gossamer diff`` if it ends with the exit code for a difference; empty for agreement."""
    output, code = io.StringIO(), 0
    with contextlib.redirect_stdout(output):
        try:
            diff.command.main([str(first), str(second), *options], standalone_mode=False)
        except SystemExit as end:
            code = int(end.code or 0)
    assert code in (0, ExitCode.NO), code
    assert f" {'differ' if code else 'agree'}: " in output.getvalue()
    return output.getvalue() if code else ""


__all__ = ["check", "differences"]
