# SPDX-License-Identifier: Apache-2.0
"""The arguments of ``./gossamer run``: application, options, parameters of the application, graph.

click cannot parse them: the application defines its parameters and which of them take a value, and it is compiled only
after its name is known.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.errors import InputError
from gossamer.paths import app_headers

if TYPE_CHECKING:
    from gossamer.apps import App

VALUES = {
    "--engine": "engine",
    "-e": "engine",
    "--threads": "threads",
    "-t": "threads",
    "--ranks": "ranks",
    "-n": "ranks",
    "--hosts": "hosts",
    "--checkpoint": "checkpoint",
    "--checkpoint-every": "checkpoint-every",
    "--restart": "restart",
    "--partition": "partition",
    "--top": "top",
    "-k": "top",
    "--output": "output",
    "-o": "output",
    "--stats": "stats",
    "--shuffle": "shuffle",
    "--format": "format",
    "--columns": "columns",
    "--define": "define",
    "-D": "define",
}
DISTRIBUTED = ("ranks", "hosts", "checkpoint", "checkpoint-every", "restart", "partition")
"""Options of the engine ``distributed`` only."""
HARDWARE = (
    "config", "cluster", "routes", "frame-loss", "cut", "seed", "waves", "trace", "trace-size", "report", "least-wait",
    "max-cycles", "watchdog", "workers", "tile", "mapping", "multicast", "max-steps", "port", "keys", "role",
)  # fmt: skip
"""Options of the engines ``rtl`` and ``board`` only."""
ON_HARDWARE = ("rtl", "model", "board", "guest", "fast")
"""Engines that run programs for threads of the overlay."""
VALUES |= {f"--{name}": name for name in HARDWARE} | {"-c": "config"}
"""Options that take a value."""
FLAGS = {"--undirected": "undirected", "--dedupe": "dedupe", "--no-loops": "no-loops", "-h": "help", "--help": "help"}
"""Options without a value."""
PROGRAMS = (".cpp", ".cc", ".cxx")
"""Endings of programs with a host of their own."""
_HEADERS = (".h", ".hh", ".hpp")
PASSED_THROUGH = "gossamer.passed_through"
"""Key in ``click.Context.meta`` of the arguments after ``--``."""


class PassThroughCommand(click.Command):
    """Stores the arguments after ``--`` in the context; click itself would only drop the ``--``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[PASSED_THROUGH] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


def first_plain(words: Sequence[str], values: Collection[str]) -> int | None:
    """The position of the application or program: the first argument that is neither an option nor an option's value.

    ``values`` are the options that take a value. After an unknown option, perhaps a parameter, an argument may be that
    option's value: it counts as the application only if it names one.
    """
    unsure: int | None = None
    skip = maybe = -1
    for at, word in enumerate(words):
        if at == skip:
            continue
        if word in values:
            # The value of --stats is optional for a program of a tile.
            if word != "--stats" or not words[at + 1 : at + 2] or not words[at + 1].endswith((*PROGRAMS, ".c", ".S")):
                skip = at + 1
        elif word.startswith("-") and len(word) > 1:
            known = "=" in word or word in FLAGS or word[:2] in values
            maybe = -1 if known else at + 1
        elif at != maybe or _is_app(word) or word.endswith(PROGRAMS):
            return at
        elif unsure is None:
            unsure = at
    return unsure


def _is_app(word: str) -> bool:
    return word.endswith(_HEADERS) or bool(app_headers(word))


@dataclass
class Request:
    """The parsed arguments."""

    options: dict[str, list[str]] = field(default_factory=dict)
    flags: set[str] = field(default_factory=set)
    parameters: dict[str, str | list[str]] = field(default_factory=dict)
    app: str = ""
    graph: str | None = None
    compiled: App | None = None

    @classmethod
    def of_app(cls, words: Sequence[str]) -> Request:
        """Parses the arguments of an application, and compiles it."""
        request = cls()
        at = first_plain(words, VALUES)
        if at is None:
            request._read(words, None)
            return request
        request.app = words[at]
        from gossamer import apps

        request.compiled = apps.load(request.app, _defines(words))
        request._read([*words[:at], *words[at + 1 :]], request.compiled)
        return request

    @classmethod
    def of_program(cls, words: Sequence[str]) -> Request:
        """Parses the arguments before a program with a host of its own."""
        request = cls()
        request._read(words, None)
        wrong = [f"--{name}" for name in (*request.options, *sorted(request.flags)) if name not in _FOR_PROGRAMS]
        if wrong:
            raise InputError(f"{wrong[0]}: not for a program with a host of its own, whose arguments follow its name")
        return request

    def _read(self, words: Sequence[str], app: App | None) -> None:
        queue = iter(words)
        for word in queue:
            name, equals, value = word.partition("=")
            if word.startswith("--") and equals and name in VALUES:
                self._take(VALUES[name], value)
            elif word in VALUES:
                taken = next(queue, None)
                if taken is None:
                    raise InputError(f"{word}: needs a value; see ./gossamer run --help")
                self._take(VALUES[word], taken)
            elif word in FLAGS:
                self.flags.add(FLAGS[word])
            elif word[:2] in VALUES and word[:2] != "--" and len(word) > 2:
                self._take(VALUES[word[:2]], word[2:])
            elif word.startswith("--") and app is not None:
                parameter = app.parameter(name[2:])
                if not equals and parameter.kind == "flag":
                    value = "1"
                elif not equals:
                    # An argument with a single leading - is a value here: a negative number, or a label.
                    value = next(queue, "--")
                    if value.startswith("--"):
                        raise InputError(
                            f"{word}: needs a value; see ./gossamer run {self.app} --help (or write {word}=VALUE)"
                        )
                if parameter.kind in ("vertices", "shares"):
                    before = self.parameters.get(parameter.name, [])
                    self.parameters[parameter.name] = [*before, value]
                else:
                    self.parameters[parameter.name] = value
            elif word.startswith("-") and len(word) > 1:
                raise InputError(f"no such option: {word}; see ./gossamer run --help")
            elif app is None:
                raise InputError(f"{word!r}: precedes the program but is not an option; write it after the program")
            elif equals and name in (p.name for p in app.parameters) and not Path(word).exists():
                raise InputError(f"{word!r}: {name} is a parameter of {app.name}: write --{word}")
            elif self.graph is not None:
                raise InputError(f"{word!r}: a graph is given already, {self.graph!r}")
            else:
                self.graph = word

    def _take(self, option: str, value: str) -> None:
        self.options.setdefault(option, []).append(value)

    def one(self, name: str, default: str | None = None) -> str | None:
        """The last value of an option; ``default`` if it is not given."""
        values = self.options.get(name)
        return values[-1] if values else default

    def number(self, name: str, default: int, low: int, high: int = 2**63 - 1) -> int:
        """The value of an option as an integer from ``low`` to ``high``."""
        text = self.one(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdecimal()) or not low <= int(text) <= high:
            upper = "up" if high == 2**63 - 1 else f"to {high}"
            raise InputError(f"--{name}: {text!r} is no whole number from {low} {upper}")
        return int(text)


_FOR_PROGRAMS = {"engine", "threads", "shuffle", "seed", "define", "help"}


def _defines(words: Sequence[str]) -> list[str]:
    """The values of --define, which are needed to compile the application before the other arguments can be parsed."""
    request = Request()
    queue = iter(words)
    for word in queue:
        if word in VALUES:
            value = next(queue, None)
            if VALUES[word] == "define" and value is not None:
                request._take("define", value)
        elif word.startswith("--define="):
            request._take("define", word.partition("=")[2])
        elif word.startswith("-D"):
            request._take("define", word[2:])
    return request.options.get("define", [])
