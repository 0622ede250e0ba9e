# SPDX-License-Identifier: Apache-2.0
"""Compiles for this machine: builds are described as steps, run by Ninja, and kept under ``build/KEY``.

    def steps(plan: builds.Plan) -> None:
        objects = [plan.compile(source, flags) for source in sources]
        plan.link("program", objects, ["-pthread"])

    folder = builds.kept("programs/NAME-TAG", steps, failed)

A folder is built again when a file that its compilers read has changed. The check costs one ``stat`` per file, so a
warm start runs no build system. Everything else that a build depends on (flags, defines) is in the folder's name.

Each compilation is looked up in the user's cache first (`step_cache`), and each finished one is noted in a journal, so
that an interrupted build resumes with the first step that had not finished.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer import processes, progress, step_cache
from gossamer.errors import GossamerError, InputError
from gossamer.paths import BUILD, INSTALLED, ROOT
from gossamer_setup import SetupError, _system

_SYSTEM = ("/usr/include/", "/usr/lib", "/usr/share/")
"""Where files are the system's: they change with its packages. Programs of users may be elsewhere below /usr."""

Failed = Callable[[str, Path], GossamerError]
"""Makes an error from the output of the tools; the path is that of the log with all output."""


def macros(defines: Sequence[str]) -> list[str]:
    """The compiler's flags for a user's macros. Raises InputError for a macro without a name."""
    for define in defines:
        if not re.match(r"[A-Za-z_]\w*(\(.*\))?(=|$)", define):
            raise InputError(f"-D {define}: is not a macro; give NAME or NAME=VALUE")
    return [f"-D{define}" for define in defines]


# ---- The compiler ------------------------------------------------------------------


def compiler() -> list[str]:
    """The C++ compiler, its path first, with the arguments that ``$CXX`` may have (``ccache g++``, ``g++ -m64``).

    Without ``$CXX`` the first of g++, c++, clang++ on the path. Raises InputError if none is installed.
    """
    return _compiler("CXX", _system.COMPILERS, "C++", "g++")


def c_compiler() -> list[str]:
    """The C compiler in the same way: ``$CC``, else the first of gcc, cc, clang on the path."""
    return _compiler("CC", ("gcc", "cc", "clang"), "C", "gcc")


def _compiler(variable: str, names: Sequence[str], language: str, package: str) -> list[str]:
    try:
        found = _system.compiler(variable, names)
    except SetupError as error:
        raise InputError(str(error)) from None
    if found is None:
        what = f"what is not in the wheel is compiled on first use, and no {language} compiler"
        if not INSTALLED:
            what = f"no {language} compiler"
        raise InputError(f"{what} found; install one: apt-get install {package}")
    return found


def header(name: str, path: str, text: str) -> Path:
    """An include folder ``build/NAME-TAG`` with a generated header at ``path``."""
    folder = build_dir() / f"{name}-{tag(text)}"
    target = folder / path
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{os.getpid()}.h")
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    return folder


def user_level(flags: Sequence[str], variable: str = "GOSSAMER_OPTIMISE") -> list[str]:
    """Compiler options for a user's own C++: ``flags``, with the optimisation level of the environment's ``variable``
    if it is set (0 to 3, or g).

    A lower level compiles in half the time, and a debugger sees every variable. Raises InputError for another value.
    """
    level = os.environ.get(variable, "")
    if level not in ("", "0", "1", "2", "3", "g"):
        raise InputError(f"{variable} is {level!r}; it must be 0, 1, 2, 3 or g, as in -O2")
    return [f"-O{level}" if level and re.fullmatch("-O[0-3g]", word) else word for word in flags]


def toolchain_key() -> str:
    """Twelve hex digits that change with the compiler, its arguments or the CPU's features.

    Where no compiler is installed, those of the last build: what is built runs without a compiler.
    """
    try:
        return key_of(tuple(compiler()))
    except InputError:
        last = _last_toolchain() if not os.environ.get("CXX", "").strip() else None
        if last is None:
            raise
        return last


_LAST = "last-toolchain"


def _last_toolchain() -> str | None:
    """The key of the last build of this checkout whose folder is still there."""
    try:
        name = (BUILD / _LAST).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return None
    return name if re.fullmatch("[0-9a-f]{12}", name) and (BUILD / name).is_dir() else None


def _note_toolchain() -> None:
    key = toolchain_key()
    if _last_toolchain() != key:
        partial = BUILD / f"{_LAST}.{os.getpid()}"
        partial.write_text(f"{key}\n", encoding="ascii")
        os.replace(partial, BUILD / _LAST)


@functools.cache
def key_of(words: tuple[str, ...]) -> str:
    """The same of another compiler."""
    text = ""
    for at, word in enumerate(words):
        # With a wrapper (ccache g++) the compiler itself is an argument.
        path = shutil.which(word)
        if path and (not at or not word.startswith("-")):
            path = os.path.realpath(path)
            info = os.stat(path)
            text += f"{path} {info.st_size} {info.st_mtime_ns}\n"
        else:
            text += f"{word}\n"
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="ascii", errors="replace") as cpu:
        text += next((line for line in cpu if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


def build_dir() -> Path:
    """Where this machine's builds of this checkout live."""
    return BUILD / toolchain_key()


@contextlib.contextmanager
def lock(name: str) -> Iterator[None]:
    """One build of ``name`` at a time, across processes. A wait is reported, as progress is.

    Raises InputError where the file system does not let us build.
    """
    folder = build_dir()
    path = folder / f"{name}.lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with open(path, "a+", encoding="ascii") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                handle.seek(0)
                holder = handle.read(40).strip()
                who = f"process {holder}" if holder.isdigit() else "another process"
                what = name if len(name) <= _NAME_SHOWN else f"{name[:_NAME_SHOWN]}..."
                if os.environ.get("GOSSAMER_PROGRESS") != "off":
                    print(f"gossamer: waiting for {who}, which builds {what}", file=sys.stderr, flush=True)
                fcntl.flock(handle, fcntl.LOCK_EX)
            handle.truncate(0)
            handle.write(f"{os.getpid()}\n")
            handle.flush()
            yield
    except OSError as error:
        # Without a file the error may be of anything in the block, such as a signal to another process.
        ours = error.filename is not None and f"{error.filename}{os.sep}".startswith(f"{BUILD}{os.sep}")
        if error.errno not in _FULL and not (ours and error.errno in _NO_BUILD):
            raise
        raise InputError(cannot_build(error, folder)) from None


_NAME_SHOWN = 60
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_BUILD = _FULL | {errno.EROFS, errno.EACCES, errno.EPERM}
"""Errors of the file system that holds the builds."""


def cannot_build(error: OSError, folder: Path) -> str:
    """The message for an error of the file system that holds the builds."""
    if error.errno in _FULL:
        return f"{error.filename or folder}: {error.strerror}; free space on that disk and call again"
    advice = f"make {ROOT} writable, or copy it to where it can be written"
    if INSTALLED:
        advice = "name another folder for caches: XDG_CACHE_HOME"
    return f"something must be built, and {error.filename or folder} cannot be written: {error.strerror}; {advice}"


def tag(*parts: str) -> str:
    """Twelve hex digits that change with any of the parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


# ---- Steps -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Step:
    target: Path
    inputs: tuple[Path, ...]
    """All inputs but those that the compiler reports in ``rule``."""
    rule: Path | None
    text: tuple[str, ...]
    """The step in Ninja's language."""
    cached: step_cache.Step | None
    """The step for the user's cache; only compilations have one."""


class Plan:
    """The steps of one folder. Targets are names in it, where the commands run as well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.steps: list[_Step] = []

    def compile(
        self,
        source: Path,
        flags: Sequence[str],
        target: str | None = None,
        needs: Sequence[Path] = (),
        *,
        tool: Sequence[str] | None = None,
        keep_said: bool = False,
    ) -> str:
        """One file to an object, or with other flags (-shared, -x c++-header) to ``target``; returns the target.

        ``needs`` are dependencies that the compiler does not report. ``tool`` is another compiler than
        that of C++. With ``keep_said`` its warnings are there (`said`) for as long as the target is.
        """
        target = target or f"{len(self.steps)}-{plain(source.stem)}.o"
        rule = f"{target}.d"
        words = [*(tool or compiler()), *flags, "-MMD", "-MF", rule, "-MT", target, "-o", target]
        words += step_cache.neutral_flags()
        if target.endswith(".o"):
            words.append("-c")
        # The compiler searches headers in the folder of the source under the name that it was given.
        file = os.path.abspath(source)
        cached = None
        # A precompiled header is large, and is made faster than it is copied.
        if not target.endswith(".gch"):
            key = key_of(tuple(tool or compiler()))
            report = _said(target) if keep_said else None
            cached = step_cache.Step(self.folder, target, (*words, file), tuple(map(str, needs)), key, report)
        return self._step(target, [*words, file], [file, *map(str, needs)], rule, keep_said=keep_said, cached=cached)

    def link(self, target: str, objects: Sequence[str | Path], flags: Sequence[str] = ()) -> str:
        """Objects and libraries to a program, or with -shared to a shared object."""
        return self._step(target, [*compiler(), "-o", target, *map(str, objects), *flags], list(map(str, objects)))

    def archive(self, target: str, objects: Sequence[str], tool: Sequence[str] = ("ar",)) -> str:
        """Objects to a static library."""
        return self._step(target, [*tool, "rcs", target, *objects], list(objects), anew=True)

    def run(self, target: str, command: Sequence[str], inputs: Sequence[str | Path]) -> str:
        """Any other command that makes the target of the inputs."""
        return self._step(target, list(command), list(map(str, inputs)))

    def _step(
        self,
        target: str,
        command: list[str],
        inputs: list[str],
        rule: str | None = None,
        *,
        anew: bool = False,
        keep_said: bool = False,
        cached: step_cache.Step | None = None,
    ) -> str:
        for word in (*command, str(self.folder)):
            if "\n" in word:
                raise InputError(f"{word!r}: has a line feed in it, which no build can do with; rename it")
        line = shlex.join(command)
        if anew:  # an archive is only ever added to
            line = f"rm -f {shlex.quote(target)} && {line}"
        if keep_said:
            kept = shlex.quote(_said(target))
            line = f"{line} 2>{kept} || {{ code=$?; cat {kept} >&2; exit $code; }}"
        # A variable may contain any character; in a list of files | and : have a meaning.
        named = [f"in{len(self.steps)}_{at}" for at in range(len(inputs))]
        text = [f"{name} = {one.replace('$', '$$')}" for name, one in zip(named, inputs, strict=True)]
        text.append(f"build {target}: run {' '.join(f'${name}' for name in named)}")
        text.append(f"  command = {line.replace('$', '$$')}")
        if rule:
            text.append(f"  depfile = {rule}")
        files = tuple(Path(os.path.normpath(self.folder / one)) for one in inputs)
        self.steps.append(_Step(self.folder / target, files, self.folder / rule if rule else None, tuple(text), cached))
        return target

    def text(self, without: Collection[Path] = ()) -> str:
        """The steps in Ninja's language, but those whose targets are finished."""
        steps = (line for step in self.steps if step.target not in without for line in step.text)
        return "\n".join(["rule run", "  command = $command", "  description = $out", *steps, ""])


def _said(target: str) -> str:
    return f"{target}.said"


def said(folder: Path, target: str) -> str:
    """The warnings of the compiler that made a target, as `Plan.compile` has kept them."""
    try:
        return (folder / _said(target)).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def plain(name: str) -> str:
    """A name with letters, digits, _ and - alone."""
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in name)


def kept(
    name: str,
    steps: Callable[[Plan], object],
    failed: Failed,
    *,
    begin: Callable[[], object] = lambda: None,
    title: str | None = None,
) -> Path:
    """The folder ``name`` of this machine's builds, built by the steps where it is not up to date.

    ``begin`` is called before a build. ``title`` names the build in its progress. Raises the error that ``failed``
    makes of a failure.
    """
    folder = build_dir() / name
    if fresh(folder):
        return folder
    with lock(name.replace("/", "-")):
        if fresh(folder):
            return folder
        begin()
        folder.mkdir(parents=True, exist_ok=True)
        # From here on the folder does not count as up to date, however this process ends.
        with contextlib.suppress(FileNotFoundError):
            os.replace(_stamp(folder), _before(folder))
        plan = Plan(folder)
        steps(plan)
        finished = _drop_stale(plan)
        begun = time.time_ns()
        compilations = [step for step in plan.steps if step.rule and step.target not in finished]
        with progress.steps(title or f"building {name.split('/')[-1]}", len(compilations)) as bar:
            finished |= _restore(plan, compilations, begun, bar)
            _write_whole(folder / "build.ninja", plan.text(finished))
            log = folder / "errors.log"
            log.unlink(missing_ok=True)
            wrong = _run_steps(plan, begun, bar)
            if wrong is not None and not any(line.startswith("FAILED: ") for line in wrong.splitlines()):
                # Ninja cannot read its log of a run that was killed: build everything.
                _drop_all(plan)
                _write_whole(folder / "build.ninja", plan.text())
                wrong = _run_steps(plan, begun, bar)
        if wrong is not None:
            log.write_text(wrong, encoding="utf-8", errors="replace")
            if os.strerror(errno.ENOSPC) in wrong:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
            raise failed(step_cache.real_text(_of_the_tools(wrong)), log)
        made = {step.target for step in plan.steps}
        read = {str(file) for step in plan.steps for file in step.inputs if file not in made}
        rules = [step.rule for step in plan.steps if step.rule]
        remember(folder, rules, sorted(map(Path, read)), begun=begun)
        _before(folder).unlink(missing_ok=True)
        _journal(folder).unlink(missing_ok=True)
        _note_toolchain()
    return folder


def _write_whole(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", errors="surrogateescape")


def _restore(plan: Plan, compilations: Sequence[_Step], begun: int, bar: progress.Bar) -> set[Path]:
    """Brings the targets of compilations from the user's cache; returns those that it had."""
    found: set[Path] = set()
    for step in compilations:
        files = step.cached.restore() if step.cached is not None else None
        if files is not None and step.rule is not None:
            step.rule.write_text(_rule(step.target.name, files), encoding="utf-8", errors="surrogateescape")
            _note(plan.folder, step, begun)
            found.add(step.target)
            bar.update(1)
    return found


def _run_steps(plan: Plan, begun: int, bar: progress.Bar) -> str | None:
    """Runs the steps that are not finished; the tools' output if one failed."""
    by_target = {str(step.target.relative_to(plan.folder)): step for step in plan.steps}

    def finished(target: str) -> None:
        step = by_target.get(target)
        if step is None or step.rule is None or not step.target.exists():
            return
        bar.update(1)
        if _note(plan.folder, step, begun) and step.cached is not None:
            step.cached.store(_files_of(plan.folder, step.rule))

    return _ninja(plan.folder, finished)


# ---- The journal: what an interrupted build has finished ------------------------------


def _journal(folder: Path) -> Path:
    """A line of JSON for each compilation that a build has finished: its target, and the state of each file it read."""
    return folder / "journal.jsonl"


def _note(folder: Path, step: _Step, begun: int) -> bool:
    """Notes a finished compilation; False if a file that it read may have changed meanwhile."""
    assert step.rule is not None
    try:
        files = {*map(str, step.inputs), *_files_of(folder, step.rule)}
        states = {file: state(file) for file in files}
    except OSError:
        return False
    now = time.time_ns()
    sure = not any(begun <= when <= now for _, when in states.values())
    if sure:
        with open(_journal(folder), "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(json.dumps({"target": step.target.name, "files": states}) + "\n")
    return sure


def _noted(folder: Path) -> dict[str, dict[str, list[int]]]:
    """The journal: by target, the files that its compilation read and their states."""
    found: dict[str, dict[str, list[int]]] = {}
    try:
        lines = _journal(folder).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return found
    for line in lines:
        # The last line of a build that was killed may be cut.
        with contextlib.suppress(ValueError, KeyError, TypeError):
            entry = json.loads(line)
            found[entry["target"]] = dict(entry["files"])
    return found


def _drop_stale(plan: Plan) -> set[Path]:
    """Removes the targets whose inputs have changed; returns the compilations that are finished and stay.

    Ninja compares times alone, so to it a file that was replaced by an older one has not changed.
    """
    noted = _noted(plan.folder)
    try:
        before = json.loads(_before(plan.folder).read_text())
    except (OSError, ValueError):
        before = None
    finished: set[Path] = set()
    for step in plan.steps:
        known = noted.get(step.target.name) if step.rule else None
        if known is None and before is None:
            # A build without a record of what it read: the target may be half written.
            step.target.unlink(missing_ok=True)
            continue
        read = {str(file) for file in step.inputs}
        if step.rule:
            with contextlib.suppress(OSError):
                read |= set(_files_of(plan.folder, step.rule))
        if known is not None:
            stale = not read <= known.keys() or any(not _is(file, known[file]) for file in known)
        else:
            stale = any(file in before and not _is(file, before[file]) for file in read)
        if stale:
            step.target.unlink(missing_ok=True)
        elif step.rule and known is not None and step.target.exists():
            finished.add(step.target)
    return finished


def _drop_all(plan: Plan) -> None:
    for left in (".ninja_log", ".ninja_deps"):
        (plan.folder / left).unlink(missing_ok=True)
    _journal(plan.folder).unlink(missing_ok=True)
    for step in plan.steps:
        step.target.unlink(missing_ok=True)
        if step.rule:
            step.rule.unlink(missing_ok=True)


def _ninja(folder: Path, finished: Callable[[str], object]) -> str | None:
    """Runs the steps; the output if one failed. Ninja ends its commands when it is ended itself.

    ``finished`` is called with each target when its step has succeeded.
    """
    own = Path(sys.executable).parent / "ninja"
    ninja = str(own) if own.exists() else shutil.which("ninja")
    if not ninja:
        raise InputError("ninja is missing; run: ./gossamer setup core")
    jobs = len(os.sched_getaffinity(0))
    # Ninja prints this before each finished step; it announces a failed step by FAILED.
    environment = {**os.environ, "NINJA_STATUS": _STATUS}
    kept: list[str] = []
    waiting: str | None = None

    def line(text: str) -> None:
        nonlocal waiting
        if text.startswith(_STATUS):
            if waiting is not None:
                finished(waiting)
            waiting = text.removeprefix(_STATUS).strip()
        else:
            if text.startswith("FAILED: "):
                waiting = None
            kept.append(text)

    code = processes.run_lines([ninja, f"-j{jobs}"], line, cwd=folder, env=environment)
    if waiting is not None and code == 0:
        finished(waiting)
    return None if code == 0 else "\n".join(kept)


_STATUS = "gossamer-step: "


def _of_the_tools(said: str) -> str:
    """The output of the tools, without Ninja's lines about target and command."""
    lines = iter(said.splitlines())
    found: list[str] = []
    for line in lines:
        if line.startswith("FAILED: "):
            next(lines, None)
        elif not line.startswith("ninja: "):
            found.append(line)
    return "\n".join(found) or said


# ---- Whether it is up to date --------------------------------------------------------


def _stamp(folder: Path) -> Path:
    return folder / "stamp.json"


def _before(folder: Path) -> Path:
    """The stamp of the previous build, while another build is in progress."""
    return folder / "stamp-before.json"


def stamp(folder: Path) -> Path:
    """A file that changes whenever the folder is made anew: for what depends on it."""
    return _stamp(folder)


def state(path: str) -> list[int]:
    """What changes when a file does: its size, and when it was written."""
    info = os.stat(path)
    return [info.st_size, info.st_mtime_ns]


def _is(path: str, known: list[int]) -> bool:
    try:
        return state(path) == known
    except OSError:
        return False


def fresh(folder: Path) -> bool:
    """Whether no file that the last compilation read has changed."""
    try:
        known = json.loads(_stamp(folder).read_text())
        return all(_is(path, before) for path, before in known.items())
    except (OSError, ValueError):
        return False


def remember(folder: Path, rules: Sequence[Path], more: Sequence[str | Path] = (), *, begun: int) -> None:
    """What a compilation read, for `fresh`: what the compilers' dependency files name, and `more`.

    A file that has changed since the compilation began (nanoseconds since 1970) may have been read before or after: it
    is noted as one that has changed.
    """
    files = {os.path.abspath(path) for path in more}
    # Clang writes a backslash as a slash.
    real = {parent.replace("\\", "/"): parent for parent in map(os.path.dirname, files) if "\\" in parent}
    real |= {file.replace("\\", "/"): file for file in files if "\\" in file}
    for rule in rules:
        for file in _files_of(folder, rule):
            if not os.path.exists(file) and file not in real:
                parent, name = os.path.split(file)
                file = os.path.join(real.get(parent, parent), name)
            files.add(real.get(file, file))
    partial = _stamp(folder).with_suffix(".part")
    # A file that does not exist under the given name counts as changed.
    states = {
        file: state(file) if os.path.exists(file) else [-1, 0] for file in sorted(files) if not file.startswith(_SYSTEM)
    }
    now = time.time_ns()
    unsure = {file: [-1, when] for file, (_, when) in states.items() if begun <= when <= now}
    partial.write_text(json.dumps(states | unsure))
    os.replace(partial, _stamp(folder))


def _files_of(folder: Path, rule: Path) -> list[str]:
    """The files that a dependency file names, as the commands of the folder see them."""
    text = rule.read_text(encoding="utf-8", errors="surrogateescape")
    return [os.path.normpath(folder / file) for file in read_by(text)]


def _rule(target: str, files: Sequence[str]) -> str:
    """A dependency file as `read_by` reads it."""

    def escaped(name: str) -> str:
        # Backslashes before a blank are doubled; one more escapes the blank.
        name = re.sub(r"(\\*)([ \t])", lambda found: found[1] * 2 + "\\" + found[2], name)
        return name.replace("#", "\\#").replace("$", "$$")

    return f"{target}: {' '.join(map(escaped, files))}\n"


def read_by(rule: str) -> list[str]:
    """The files after the colon of a compiler's dependency file, in Make's syntax: a backslash escapes blanks, # and :,
    a backslash before a blank is doubled, and $$ is a dollar."""
    _, _, rest = rule.replace("\\\n", " ").partition(":")
    files: list[str] = []
    name = ""
    at = 0
    while at < len(rest):
        letter = rest[at]
        at += 1
        if letter.isspace():
            files += [name] if name else []
            name = ""
        elif letter == "\\":
            slashes = 1
            while at < len(rest) and rest[at] == "\\":
                slashes, at = slashes + 1, at + 1
            follows = rest[at] if at < len(rest) else ""
            if follows in (" ", "\t"):
                # Each pair is one backslash of the name; the odd one is for the blank.
                name += "\\" * (slashes // 2)
                if slashes % 2:
                    name, at = name + follows, at + 1
            elif follows in ("#", ":") and slashes:
                name, at = name + "\\" * (slashes - 1) + follows, at + 1
            else:
                name += "\\" * slashes
        elif letter == "$" and rest[at : at + 1] == "$":
            name, at = name + "$", at + 1
        else:
            name += letter
    return files + ([name] if name else [])


__all__ = [
    "Failed",
    "Plan",
    "build_dir",
    "c_compiler",
    "compiler",
    "fresh",
    "header",
    "kept",
    "key_of",
    "lock",
    "plain",
    "read_by",
    "remember",
    "said",
    "stamp",
    "state",
    "tag",
    "toolchain_key",
]
