# SPDX-License-Identifier: Apache-2.0
"""Calls in a user's sources after template instantiation.

libclang lists a template as its text; an instantiation is only reachable through a reference to it. The walk therefore
starts outside templates and follows references, also through library templates: `std::make_unique<smi::sender<int>>`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gossamer.paths import INCLUDE
from gossamer.smi._compile import COMPAT
from gossamer.smi._parse import Parsed

_TEMPLATES = ("FUNCTION_TEMPLATE", "CLASS_TEMPLATE", "CLASS_TEMPLATE_PARTIAL_SPECIALIZATION")
_FUNCTIONS = ("FUNCTION_DECL", "CXX_METHOD", "CONSTRUCTOR", "DESTRUCTOR", "CONVERSION_FUNCTION")
_CLASSES = ("CLASS_DECL", "STRUCT_DECL", "UNION_DECL")
_REFERENCES = ("CALL_EXPR", "DECL_REF_EXPR", "MEMBER_REF_EXPR")


@dataclass(frozen=True)
class Found:
    """An expression, and the location of it, or of its cause, in a user's file."""

    cursor: Any
    at: Any
    """A location in a user's file."""


@dataclass
class Calls:
    """Calls and templates of a source."""

    found: list[Found]
    """Calls, and references to functions; those in templates once for each instantiation."""
    templates: list[Any]
    """The user's templates, as text."""


def read(parsed: Parsed) -> Calls:
    """All calls in a source and in the user's files that it includes, also in functions without a caller."""
    walk = _Walk()
    for top in parsed.unit.cursor.get_children():
        if walk.of_user(top.location):
            walk.visit(top, None)
    while walk.todo:
        cursor, at = walk.todo.pop()
        walk.visit(cursor, at)
    return Calls(walk.found, walk.templates)


@dataclass
class _Walk:
    found: list[Found] = field(default_factory=list)
    templates: list[Any] = field(default_factory=list)
    todo: list[tuple[Any, Any]] = field(default_factory=list)
    seen: set[tuple[str, int]] = field(default_factory=set)
    users: dict[str, tuple[bool, bool]] = field(default_factory=dict)

    def of_user(self, location: Any) -> bool:
        return not location.is_in_system_header and self._of(location)[0]

    def _of(self, location: Any) -> tuple[bool, bool]:
        """Whether a location is in a user's file, and whether it is in a file of this project."""
        if location.file is None:
            return False, False
        name = location.file.name
        if name not in self.users:
            real = Path(name).resolve()
            ours = any(real.is_relative_to(folder.resolve()) for folder in (INCLUDE, COMPAT))
            self.users[name] = not ours, ours
        return self.users[name]

    def visit(self, cursor: Any, at: Any) -> None:
        """``at``: for code outside of users' files, the location in a user's file that led here."""
        kind = cursor.kind.name
        if kind in _TEMPLATES:
            if self.of_user(cursor.location):
                self.templates.append(cursor)
            return
        here = cursor.location if self.of_user(cursor.location) else at
        if kind in _REFERENCES:
            if kind in ("CALL_EXPR", "DECL_REF_EXPR") and here is not None:
                self.found.append(Found(cursor, here))
            self._follow(cursor, here)
        for child in cursor.get_children():
            self.visit(child, here)

    def _follow(self, cursor: Any, at: Any) -> None:
        target = cursor.referenced
        kind = target.kind.name if target is not None else ""
        # The constructors of this project's channel classes already identify their channels.
        if kind in _FUNCTIONS and not (kind == "CONSTRUCTOR" and self._of(target.location)[1]):
            self._instance(target, at)

    def _instance(self, function: Any, at: Any) -> None:
        if not _instantiated(function):
            return
        definition = function.get_definition()
        if definition is None:
            return
        key = definition.get_usr(), definition.hash
        if key not in self.seen:
            self.seen.add(key)
            self.todo.append((definition, at))


def _instantiated(cursor: Any) -> bool:
    """Whether a declaration is a template instantiation, or is inside one."""
    while cursor is not None and cursor.kind.name in (*_FUNCTIONS, *_CLASSES):
        if _has_template(cursor):
            return True
        cursor = cursor.semantic_parent
    return False


def _has_template(cursor: Any) -> bool:
    from clang import cindex

    return cindex.conf.lib.clang_getSpecializedCursorTemplate(cursor) is not None
