# SPDX-License-Identifier: Apache-2.0
"""Entry point of the command inside its environment; maps every outcome to one line and an exit code."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import time

import click

from gossamer.errors import ExitCode, GossamerError
from gossamer_setup import SetupError, launch
from gossamer_setup._installed import spoken
from gossamer_setup._places import NAME
from gossamer_setup._signals import SIGNALS, Stopped

# Errors of the environment, not bugs.
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}
# Errors of a file name that no file can have.
_NO_NAME = {errno.ENAMETOOLONG, errno.ELOOP}
# The file system or its owner forbids it.
_NO_ACCESS = {errno.EACCES, errno.EPERM}
_SIGPIPE = 128 + 13


def _print_error(text: str) -> None:
    # An error is one line, even if the text of the exception has several.
    sys.stderr.write(f"gossamer: error: {spoken(' '.join(text.split()))}\n")


def _report_bug(error: BaseException) -> None:
    """Saves the traceback in a file, and prints its path."""
    import traceback

    from gossamer.paths import STATE

    name = f"bug-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    text = "".join(traceback.format_exception(error))
    what = f"{type(error).__name__}: {error}"
    try:
        STATE.mkdir(parents=True, exist_ok=True)
        (STATE / name).write_text(f"$ {' '.join(sys.argv)}\n{text}", encoding="utf-8", errors="replace")
    except OSError:
        sys.stderr.write(text)
        _print_error(f"a bug of Gossamer's own: {what}; please report it with the lines above")
    else:
        _print_error(f"a bug of Gossamer's own: {what}; please report it with the file {STATE / name}")


def run(arguments: list[str] | None = None) -> int:
    """Runs the command and returns its exit code; never raises."""
    if sys.stdout is None:  # closed by the parent process, so output is discarded
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    with SIGNALS.handled():
        code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return code or _SIGPIPE
    except OSError as error:
        _report_write_error(error)
        return code or int(ExitCode.INPUT)
    return code


def _drop_output() -> None:
    """Redirects buffered output to /dev/null, so that the interpreter does not fail again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _report_write_error(error: OSError) -> None:
    if error.filename is None:
        _drop_output()
    if error.errno == errno.EROFS and error.filename is not None:
        _report_no_access(error)
        return
    _print_error(f"cannot write {error.filename or 'the output'}: {error.strerror}; free space or choose another file")


def _report_no_access(error: OSError) -> None:
    from gossamer.paths import BUILD, INSTALLED, ROOT, STATE

    name = os.path.abspath(os.fsdecode(error.filename))
    own = any(name == str(place) or name.startswith(f"{place}/") for place in (BUILD, STATE))
    advice = f"make {ROOT} writable, or copy it to where it can be written"
    if INSTALLED or not own:
        advice = "change its permissions" + (", or name another folder for caches: XDG_CACHE_HOME" if own else "")
    _print_error(f"{error.filename}: {error.strerror}; {advice}")


def _signal_behind(error: BaseException) -> BaseException | None:
    """The signal that has caused an error: some code makes another exception of any that it meets."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, KeyboardInterrupt | Stopped):
        seen = seen.__cause__
    return seen


def _usage(error: click.UsageError) -> str:
    """click's message in one line, with our names of its types."""
    text = error.format_message().rstrip(".")
    for kind, name in (("integer", "a whole number"), ("float", "a number")):
        text = text.replace(f"a valid {kind} range", name).replace(f"a valid {kind}", name)
    if error.ctx is None:
        return f"{text}; see {NAME} --help"
    if text.startswith("No such command ") and isinstance(error.ctx.command, click.Group):
        text += f"; there are: {', '.join(error.ctx.command.list_commands(error.ctx))}"
    return f"{text}; see {error.ctx.command_path} --help"


def _run(arguments: list[str] | None) -> int:
    try:
        # ./gossamer holds Ctrl-C back while it starts this program.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        from gossamer.cli import main

        # Not main.main(), which handles Ctrl-C and a closed pipe itself.
        words = sys.argv[1:] if arguments is None else list(arguments)
        with main.make_context(NAME, words) as context:
            result = main.invoke(context)
        sys.stdout.flush()
        return result if isinstance(result, int) else int(ExitCode.DONE)
    except GossamerError as error:
        _print_error(str(error))
        return int(error.exit_code)
    except SetupError as error:
        _print_error(str(error))
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return int(ExitCode.INPUT)
    except click.UsageError as error:
        _print_error(_usage(error))
        return int(ExitCode.INPUT)
    except click.ClickException as error:
        _print_error(error.format_message())
        return int(ExitCode.INPUT)
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("gossamer: interrupted\n")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has ended; exit silently, as any program in a pipe does.
        _drop_output()
        return _SIGPIPE
    except MemoryError:
        _print_error("this machine does not have enough memory for this command")
        return int(ExitCode.INPUT)
    except Stopped as error:
        sys.stderr.write("gossamer: stopped by a signal\n")
        return int(str(error.code))
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(bool(error.code))
    except Exception as error:
        stop = _signal_behind(error)
        if stop is not None:
            sys.stderr.write(f"gossamer: {'stopped by a signal' if isinstance(stop, Stopped) else 'interrupted'}\n")
            return int(str(stop.code)) if isinstance(stop, Stopped) else int(ExitCode.INTERRUPTED)
        if isinstance(error, OSError) and error.errno in _NO_SPACE:
            _report_write_error(error)
            return int(ExitCode.INPUT)
        if isinstance(error, OSError) and error.errno in _NO_ACCESS and error.filename is not None:
            _report_no_access(error)
            return int(ExitCode.INPUT)
        if isinstance(error, OSError) and error.errno in _NO_NAME and error.filename is not None:
            _print_error(f"{error.filename}: {error.strerror}; choose another file name")
            return int(ExitCode.INPUT)
        _report_bug(error)
        return int(ExitCode.BUG)


def _main() -> int:
    try:
        return run()
    except KeyboardInterrupt:  # after the command's own handler
        return int(ExitCode.INTERRUPTED)
    finally:
        # The command is finished; Ctrl-C must not print how the interpreter ends.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        # The end of the interpreter would search all objects for unreachable cycles, twice: half of the computation
        # between the end of the last rank and that of the command.
        gc.freeze()
        # CPython kills itself by SIGINT where Ctrl-C has ended an exec() (of a dataclass), unless another one follows.
        exec("")


def main() -> int:
    """The command ``gossamer`` of an installed package; returns the exit code."""
    try:
        return launch(sys.argv[1:], run)
    except KeyboardInterrupt:  # before the command's own handler
        sys.stderr.write("gossamer: interrupted\n")
        return int(ExitCode.INTERRUPTED)
    finally:
        # As in _main.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        gc.freeze()
        exec("")


if __name__ == "__main__":
    sys.exit(_main())
