# SPDX-License-Identifier: Apache-2.0
"""Set-up of the command: runs on a bare Python 3.10, with nothing installed.

``./gossamer`` calls ``launch``. Code in the environment calls ``require`` for a group of dependencies.
Costly modules are imported only when a group must be installed: a warm start checks two small files
and executes the command.
"""

from __future__ import annotations

import os
import sys

from gossamer_setup import _env
from gossamer_setup._commands import CHECKOUT_COMMANDS, COMMANDS, VERSION, help_text, unknown_command
from gossamer_setup._env import ROOT, SetupError
from gossamer_setup._places import INSTALLED, NAME

TYPE_CHECKING = False  # as typing has it, without the cost of importing it on every start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn


def require(*groups: str) -> None:
    """Installs groups of dependencies in the present environment if they are missing.

    An installed package installs nothing. Raises SetupError if they are missing there, if they cannot be installed, or
    if this Python is not the environment of a checkout.
    """
    names = _env.check_groups(list(groups))
    if INSTALLED:
        from gossamer_setup._installed import require as check

        check(names)
        return
    env = _env.env_dir()
    if all(_env.installed(env, group) for group in names) and _inside(env):
        return
    if not _inside(env):
        raise SetupError(
            f"this needs the groups {', '.join(names)}, and {sys.executable} is not Gossamer's own Python; "
            "use ./gossamer, or .gossamer/env/bin/python after ./gossamer setup"
        )
    from gossamer_setup._install import ensure

    ensure(names)
    import importlib

    importlib.invalidate_caches()


def program(name: str, package: str) -> str:
    """The path of a program of a Debian package; as root, installs the package if it is missing.

    Raises SetupError, with the line that installs it, if it is not there.
    """
    from gossamer_setup import _system

    return _system.program(name, package)


def boost() -> None:
    """Checks that Boost.Context is installed; as root, installs its Debian package if it is missing.

    Raises SetupError, with the line that installs it, if it is not there.
    """
    from gossamer_setup import _system

    _system.library(*_system.BOOST)


def _inside(env: str) -> bool:
    return os.path.realpath(sys.prefix) == os.path.realpath(env)


def _open_what_is_closed() -> None:
    """Opens closed standard streams on /dev/null, so that no other file gets their numbers."""
    import fcntl

    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            # A shell between the caller and this process may have opened its own file there, for reading.
            if not number or fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY:
                os.fstat(number)
                continue
        except OSError:
            pass
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, number)
        os.set_inheritable(number, True)
        if null != number:
            os.close(null)
        setattr(sys, name, open(number, "w" if number else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def launch(arguments: list[str], run: Callable[[list[str]], int] | None = None) -> int:
    """Runs the command: in this interpreter if it needs no environment, else in the environment.

    ``run`` is for an installed package: it runs all but what needs no import.
    """
    import signal

    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _open_what_is_closed()
        code = _launch(arguments, run)
        sys.stdout.flush()
        return code
    except SetupError as error:
        from gossamer_setup._installed import spoken

        sys.stderr.write(f"gossamer: error: {spoken(str(error))}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("gossamer: interrupted\n")
        return 130
    except BrokenPipeError:
        # The reader of the output has closed the pipe, so buffered output is discarded too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except OSError as error:
        if error.filename is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(
            f"gossamer: error: cannot write the output: {error.strerror}; free space or choose another file\n"
        )
        return 2


def _launch(arguments: list[str], run: Callable[[list[str]], int] | None) -> int:
    if os.name != "posix" or not sys.platform.startswith("linux"):
        raise SetupError(f"Gossamer runs on Linux; this is {sys.platform}")
    command = arguments[0] if arguments else "--help"
    if command in ("--help", "-h", "help"):
        sys.stdout.write(help_text())
        sys.stdout.flush()
        return 0
    if command == "--version":
        print(f"gossamer {VERSION}")
        return 0
    if command.startswith("-"):
        raise SetupError(f"no such option: {command}; {NAME} --help shows what there is")
    if command not in COMMANDS:
        raise SetupError(unknown_command(command))
    if INSTALLED and command in CHECKOUT_COMMANDS:
        raise SetupError(CHECKOUT_COMMANDS[command])
    if run is not None:
        return run(arguments)
    _use_borrowed_python(arguments)
    if command in ("setup", "doctor", "clean"):
        return run_here(command, arguments[1:])
    env = _env.env_dir()
    summary, groups = COMMANDS[command]
    if not all(_env.installed(env, group) for group in groups):
        if arguments[1:] in (["--help"], ["-h"]):
            # A request for help must not install packages.
            print(f"./gossamer {command}: {summary}\nIts options are shown after: ./gossamer setup {' '.join(groups)}")
            return 0
        from gossamer_setup._install import ensure

        ensure(list(groups))
    return _hand_over(_env.env_python(env), arguments)


def _use_borrowed_python(arguments: list[str]) -> None:
    """Starts again with the Python of the checkout's environment, where this one has none."""
    if arguments[0] in ("doctor", "clean") or "--own-python" in arguments[1:]:
        return
    python = _env.borrowed()
    if python is None:
        return
    if arguments[0] == "setup":
        sys.stderr.write(
            f"gossamer: using the environment of {python}, which this checkout has; "
            f"--own-python makes one for {_env.base_python()}\n"
        )
    _exec(python, [os.path.join(ROOT, "gossamer"), *arguments])


def _exec(python: str, arguments: list[str]) -> NoReturn:
    """Replaces this process. Ctrl-C is held back until the next program can answer it."""
    import signal

    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        os.execv(python, [python, *arguments])
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _hand_over(python: str, arguments: list[str]) -> NoReturn:
    # Isolated: neither the user's modules nor a file in the current folder can replace Gossamer's.
    without_bytecode = ["-B"] if sys.dont_write_bytecode else []
    _exec(python, ["-I", *without_bytecode, "-m", "gossamer", *arguments])


def run_here(command: str, arguments: list[str]) -> int:
    """Runs a sub-command that must work without an environment."""
    if command == "doctor":
        from gossamer_setup._doctor import main as doctor

        return doctor(arguments)
    if command == "clean":
        from gossamer_setup._clean import main as clean

        return clean(arguments)
    from gossamer_setup._setup import main as setup

    return setup(arguments)


__all__ = [
    "COMMANDS",
    "ROOT",
    "VERSION",
    "SetupError",
    "boost",
    "help_text",
    "launch",
    "program",
    "require",
    "run_here",
]
