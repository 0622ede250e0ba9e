# SPDX-License-Identifier: Apache-2.0
"""``./gossamer cluster``: jobs and results."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli import _cluster_common as common
from gossamer.errors import AnswerNo, InputError, RunDied

if TYPE_CHECKING:
    from gossamer.shell.store import Store

_OWNER = click.option("--owner", help="Name of the job's owner; otherwise the user.")
_POLL = 0.05
_PATIENCE = 30.0
"""Seconds that ``run`` waits for a manager that has ended, since a service restarts it."""


def _submit(store: Store, file: str, owner: str | None) -> tuple[int, int]:
    """Stores the job of a file; its number and the number of its tasks."""
    from gossamer.shell import job, root_of

    one = job.read(Path(file))
    number = store.submit(
        common.user_name(owner), one.role, root_of(one.role).hex(), one.board_type, one.kernel, one.timeout, one.tasks
    )
    return number, len(one.tasks)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@common.STATE
@_OWNER
def submit(file: str, state: str | None, owner: str | None) -> None:
    """Submit the job that FILE describes, and print its number."""
    with common.opened(state) as store:
        click.echo(_submit(store, file, owner)[0])


@click.command(name="run")
@click.argument("file", type=click.Path(dir_okay=False))
@common.STATE
@_OWNER
@click.option("--to", "folder", type=click.Path(file_okay=False),
              help="Folder for the results, TASK.bin each; otherwise they are printed.")  # fmt: skip
def run_job(file: str, state: str | None, owner: str | None, folder: str | None) -> None:
    """Run the job that FILE describes: submit it, wait with progress, and fetch the results.

    Ctrl-C cancels the job.
    """
    with common.opened(state) as store:
        common.published(store)
        if folder is not None:
            _make_folder(Path(folder))
        number, _ = _submit(store, file, owner)
        try:
            _wait(store, number)
        except (KeyboardInterrupt, RunDied):
            store.cancel(number)
            raise
        _deliver(store, number, folder)


def _wait(store: Store, number: int) -> str:
    """Waits for the end of a job with progress; its state. Raises RunDied if the manager is gone for long."""
    from gossamer import progress
    from gossamer.shell.locks import manager_runs

    ended = 0
    counts = store.counts(number)
    alive = time.monotonic()
    with progress.steps(f"job {number}", sum(counts.values())) as bar:
        while store.job_state(number) in ("waiting", "running"):
            time.sleep(_POLL)
            counts = store.counts(number)
            now = sum(count for state, count in counts.items() if state not in ("waiting", "running"))
            bar.update(now - ended)
            ended = now
            if manager_runs(store.path):
                alive = time.monotonic()
            elif time.monotonic() - alive > _PATIENCE:
                raise RunDied(f"job {number}: the manager has ended; start it with ./gossamer cluster manager")
    return store.job_state(number)


@click.command()
@common.STATE
@common.JSON
def jobs(state: str | None, as_json: bool) -> None:
    """List the jobs, newest first."""
    with common.opened(state) as store:
        found = store.jobs()
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    common.print_rows([("JOB", "OWNER", "STATE", "DONE", "FAILED", "TASKS"), *map(row_of, found)])


def row_of(one: Mapping[str, Any]) -> tuple[str, ...]:
    """The cells of a job: number, owner, state, tasks done, failed, in all."""
    tasks = one["tasks"]
    counts = (str(tasks.get("done", 0)), str(tasks.get("failed", 0)), str(sum(tasks.values())))
    return (str(one["id"]), one["owner"], one["state"], *counts)


def _known(store: Store, number: int) -> None:
    if store.job_state(number) == "":
        raise InputError(f"no job {number}; ./gossamer cluster jobs lists them")


@click.command()
@click.argument("number", type=click.IntRange(0, (1 << 62)), metavar="[JOB]", required=False)
@common.STATE
@common.BOARDS
@click.option("--wait", is_flag=True, help="Wait for the end of the job.")
@click.option("--to", "folder", type=click.Path(file_okay=False),
              help="Write a file TASK.bin, or ADDRESS.bin, for each result to DIR.")  # fmt: skip
def results(number: int | None, state: str | None, boards: str | None, wait: bool, folder: str | None) -> None:
    """Print results as hexadecimal digits, or write them to files.

    With JOB, those of its tasks; otherwise of each board the result of its last exec.
    """
    with common.opened(state) as store:
        if number is None:
            _board_results(store, boards, folder)
            return
        if boards is not None:
            raise InputError("--boards: is for results of exec, which have no JOB")
        _known(store, number)
        if wait:
            _wait(store, number)
        _deliver(store, number, folder)


def _deliver(store: Store, number: int, folder: str | None) -> None:
    found, ended = store.results(number), store.job_state(number)
    if folder is not None:
        _write(folder, {f"{one['number']}.bin": one["result"] for one in found if one["state"] == "done"})
    else:
        rows: list[Sequence[str]] = [("TASK", "STATE", "CYCLES", "RESULT")]
        for one in found:
            text = one["result"].hex() if one["result"] is not None else one["error"] or "-"
            rows.append((str(one["number"]), one["state"], str(one["cycles"] or "-"), text))
        common.print_rows(rows)
    if ended == "failed":
        errors = [one["error"] for one in found if one["state"] == "failed"]
        raise AnswerNo(f"job {number} has failed: {len(errors)} of {len(found)} tasks; the first: {errors[0]}")
    if ended == "cancelled":
        raise AnswerNo(f"job {number} was cancelled; ./gossamer cluster log says why")


def _board_results(store: Store, boards: str | None, folder: str | None) -> None:
    from gossamer.shell import mac_text

    found = store.runs()
    wanted = sorted(found) if boards is None else common.addresses(boards)
    for mac in wanted:
        if mac not in found:
            raise InputError(f"board {mac_text(mac)} has no result; ./gossamer cluster exec runs a kernel on it")
    if not wanted:
        raise InputError("no board has a result; ./gossamer cluster exec runs a kernel")
    if folder is not None:
        _write(folder, {
            f"{mac_text(mac).replace(':', '-')}.bin": found[mac]["result"]
            for mac in wanted if found[mac]["error"] is None
        })  # fmt: skip
    else:
        rows: list[Sequence[str]] = [("ADDRESS", "KERNEL", "CYCLES", "RESULT")]
        for mac in wanted:
            one = found[mac]
            rows.append((mac_text(mac), str(one["kernel"]), str(one["cycles"]),
                         one["error"] or (one["result"] or b"").hex() or "-"))  # fmt: skip
        common.print_rows(rows)
    if failed := [found[mac]["error"] for mac in wanted if found[mac]["error"] is not None]:
        raise AnswerNo(failed[0])


def _make_folder(target: Path) -> None:
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot write the results: {(error.strerror or str(error)).lower()}") from None


def _write(folder: str, files: Mapping[str, bytes | None]) -> None:
    target = Path(folder)
    _make_folder(target)
    try:
        for name, data in files.items():
            (target / name).write_bytes(data or b"")
    except OSError as error:
        raise InputError(f"{folder}: cannot write the results: {(error.strerror or str(error)).lower()}") from None


@click.command()
@click.argument("number", type=click.IntRange(0, 1 << 62), metavar="JOB")
@common.STATE
def cancel(number: int, state: str | None) -> None:
    """Cancel a job: its tasks that wait are not run."""
    with common.opened(state) as store:
        _known(store, number)
        if not store.cancel(number):
            raise InputError(f"job {number} has ended already")


COMMANDS = (submit, run_job, jobs, results, cancel)

__all__ = ["COMMANDS", "row_of"]
