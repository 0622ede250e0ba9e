# SPDX-License-Identifier: Apache-2.0
"""Where the command starts inside its environment; turns every outcome into one line and an exit code."""

from __future__ import annotations

import errno
import os
import sys
import time

import click

from gossamer.errors import ExitCode, GossamerError
from gossamer_setup import SetupError
from gossamer_setup._signals import SIGNALS, Stopped

# The environment is at fault, not we, when the system answers with one of these.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
# No file can have such a name, wherever it was given.
_NO_NAME = {errno.ENAMETOOLONG, errno.ELOOP}
_SIGPIPE = 128 + 13


def _say(text: str) -> None:
    # An error is one line, whatever the exception had in it.
    sys.stderr.write(f"gossamer: error: {' '.join(text.split())}\n")


def _report_bug(error: BaseException) -> None:
    """Keeps the traceback in a file, and tells the user where."""
    import traceback

    from gossamer.paths import STATE

    name = f"bug-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    text = "".join(traceback.format_exception(error))
    what = f"{type(error).__name__}: {error}"
    try:
        STATE.mkdir(exist_ok=True)
        (STATE / name).write_text(f"$ {' '.join(sys.argv)}\n{text}", encoding="utf-8", errors="replace")
    except OSError:
        sys.stderr.write(text)
        _say(f"a bug of Gossamer's own: {what}; please report it with the lines above")
    else:
        _say(f"a bug of Gossamer's own: {what}; please report it with the file {STATE / name}")


def run(arguments: list[str] | None = None) -> int:
    """Runs the command and gives its exit code; never raises."""
    if sys.stdout is None:  # closed by whoever started us: nobody wants what we write
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    with SIGNALS.handled():
        code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return code or _SIGPIPE
    except OSError as error:
        _no_room(error)
        return code or int(ExitCode.INPUT)
    return code


def _drop_output() -> None:
    """What is still buffered has nowhere to go, and the interpreter is not to try again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _no_room(error: OSError) -> None:
    if error.filename is None:
        _drop_output()
    _say(f"cannot write {error.filename or 'the output'}: {error.strerror}; make room or choose another place")


def _run(arguments: list[str] | None) -> int:
    try:
        from gossamer.cli import main

        # Not main.main(): it would answer Ctrl-C and a closed pipe in its own way.
        words = sys.argv[1:] if arguments is None else list(arguments)
        with main.make_context("./gossamer", words) as context:
            result = main.invoke(context)
        sys.stdout.flush()
        return result if isinstance(result, int) else int(ExitCode.DONE)
    except GossamerError as error:
        _say(str(error))
        return int(error.exit_code)
    except SetupError as error:
        _say(str(error))
        return error.exit_code
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(f"{error.format_message()}\n")
        return int(ExitCode.INPUT)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "./gossamer"
        _say(f"{error.format_message().rstrip('.')}; see {path} --help")
        return int(ExitCode.INPUT)
    except click.ClickException as error:
        _say(error.format_message())
        return int(ExitCode.INPUT)
    except (KeyboardInterrupt, click.Abort):
        sys.stderr.write("gossamer: interrupted\n")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone, quietly so do we, as any program in a pipe does.
        _drop_output()
        return _SIGPIPE
    except MemoryError:
        _say("there is not enough memory for this on this machine")
        return int(ExitCode.INPUT)
    except Stopped as error:
        sys.stderr.write("gossamer: stopped by a signal\n")
        return int(str(error.code))
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(bool(error.code))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            _no_room(error)
            return int(ExitCode.INPUT)
        if isinstance(error, OSError) and error.errno in _NO_NAME and error.filename is not None:
            _say(f"{error.filename}: {error.strerror}; no file has such a name")
            return int(ExitCode.INPUT)
        _report_bug(error)
        return int(ExitCode.BUG)


if __name__ == "__main__":
    sys.exit(run())
