# SPDX-License-Identifier: Apache-2.0
"""Modules of a design in RTLIL that are synthesised separately, each distinct module once.

`read_slang` makes a module for every instance. Two modules are equal if their texts and those of all modules below are
equal, except for the paths of their instances and the numbers that Yosys generates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_COUNTED = re.compile(r"\$\w+\$\d+")
_USED = re.compile(r"^  cell \\(\S+) ", re.MULTILINE)
_ATTRIBUTE = re.compile(r"^\s*attribute \\(?:src|hdlname|scopename) .*\n", re.MULTILINE)


@dataclass(frozen=True)
class Part:
    """A set of equal modules."""

    names: tuple[str, ...]
    """One for each instance."""
    text: str
    """Their normalized text with all modules below; equal texts synthesise to equal cells."""


def modules(rtlil: str) -> dict[str, str]:
    """The text of each module, by its name."""
    found: dict[str, str] = {}
    for text in re.split(r"^(?=module \\)", rtlil, flags=re.MULTILINE)[1:]:
        body = text[: text.index("\nend\n") + 5]
        found[body.split("\n", 1)[0].removeprefix("module \\")] = body
    return found


def parts(rtlil: str, apart: Sequence[str]) -> list[Part]:
    """The instances of the modules ``apart``, grouped by equality.

    Raises ValueError if one of ``apart`` is not in the design.
    """
    design = modules(rtlil)
    groups: dict[str, list[str]] = {}
    for wanted in apart:
        names = [name for name in design if name.partition("$")[0] == wanted]
        if not names:
            raise ValueError(f"the design has no module {wanted}")
        for name in names:
            groups.setdefault(_common(name, design), []).append(name)
    return [Part(tuple(names), text) for text, names in groups.items()]


def _common(name: str, design: Mapping[str, str]) -> str:
    """The text of a module and of all modules below it, without parts that differ between instances."""
    path = name.partition("$")[2]
    order, pending = [name], [name]
    while pending:
        for used in _USED.findall(design[pending.pop()]):
            if used in design and used not in order:
                order.append(used)
                pending.append(used)
    text = _ATTRIBUTE.sub("", "".join(design[one] for one in order))
    if path:
        text = text.replace(path, "")
    numbers: dict[str, str] = {}
    return _COUNTED.sub(lambda found: numbers.setdefault(found[0], f"${len(numbers)}"), text)


__all__ = ["Part", "modules", "parts"]
