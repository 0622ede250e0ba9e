# SPDX-License-Identifier: Apache-2.0
"""TOML files with positions: values from tomllib, lines from a syntax tree.

tomllib returns values without positions; tree-sitter returns positions without
values. A valid file needs tomllib only; tree-sitter runs when an error needs the
line of a key.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args, get_origin

from gossamer import paths
from gossamer.errors import InputError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails
    from tree_sitter import Node

Loc = tuple[str | int, ...]
"""The path of a value in a file: keys and list indices from the root."""

ModelT = TypeVar("ModelT", bound="BaseModel")


def shown(path: Path) -> str:
    """The path as the user would type it: relative to the current folder or the checkout, if it is within one."""
    path = path.resolve()
    for root in (Path.cwd(), paths.ROOT):
        if path.is_relative_to(root):
            return str(path.relative_to(root))
    return str(path)


def key_text(loc: Loc) -> str:
    """``("links", "names", 2)`` as text: ``links.names[2]``."""
    text = ""
    for part in loc:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def near(word: str, known: Iterable[str]) -> str:
    """The end of a message that names the closest known word, or an empty text."""
    match = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {match[0]}?" if match else ""


@dataclass(frozen=True, eq=False)
class Source:
    """One TOML file, merged over its base (if it names one)."""

    path: Path
    text: str
    own: Mapping[str, Any]
    """The data of this file alone."""
    data: Mapping[str, Any]
    """The data of this file merged over its base."""
    base: Source | None = None

    @functools.cached_property
    def lines(self) -> dict[Loc, int]:
        """The line of every key, table and list element of this file.

        A table that only dotted names mention is at the line of the first mention.
        """
        found: dict[Loc, int] = {}
        mentioned: dict[Loc, int] = {}
        for loc, line, defines in _positions(self.text):
            (found if defines else mentioned).setdefault(loc, line)
        return mentioned | found

    def where(self, loc: Loc) -> tuple[Path, int]:
        """File and line of `loc`, or of the innermost table around it that exists.

        The file that contains the longest prefix of `loc` wins; of two with equal
        prefixes, the derived file wins over its base.
        """
        best: tuple[int, Path, int] = (0, self.path, 1)
        source: Source | None = self
        while source is not None:
            for length in range(len(loc), best[0], -1):
                line = source.lines.get(loc[:length])
                if line is not None:
                    best = (length, source.path, line)
                    break
            source = source.base
        return best[1], best[2]

    def fail(self, loc: Loc, message: str) -> NoReturn:
        """Raises InputError with file, line and key of `loc`, and the message."""
        path, line = self.where(loc)
        key = key_text(loc)
        raise InputError(f"{shown(path)}:{line}: {key}: {message}" if key else f"{shown(path)}:{line}: {message}")


def read(path: Path, what: str) -> Source:
    """Reads one TOML file. `what` names it in errors ("a configuration")."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(f"{shown(path)}: cannot read {what}: {reason}") from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"{shown(path)}:{line}: not UTF-8 text; save {what} as UTF-8") from None
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        _fail_syntax(path, text, str(error))
    except RecursionError:
        raise InputError(f"{shown(path)}: lists or tables are nested too deeply") from None
    return Source(path=path, text=text, own=data, data=data)


def over(child: Source, base: Source) -> Source:
    """`child` merged over `base`: tables merge key by key, any other value replaces that of the base."""

    def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
        merged = dict(below)
        for key, value in above.items():
            old = merged.get(key)
            both = isinstance(old, Mapping) and isinstance(value, Mapping)
            merged[key] = merge(old, value) if both and old is not None else value
        return merged

    return Source(path=child.path, text=child.text, own=child.own, data=merge(base.data, child.own), base=base)


def validate(model: type[ModelT], source: Source, drop: Iterable[str] = ()) -> ModelT:
    """The file's data as `model`, or InputError at the first error."""
    from pydantic import ValidationError

    dropped = set(drop)
    data = {key: value for key, value in source.data.items() if key not in dropped}
    try:
        return model.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False)
        # A misspelt key causes an error for the unknown key and one for the missing key; report the first.
        details.sort(key=lambda one: one["type"] != "extra_forbidden")
        _fail_detail(model, source, details[0])


def range_text(field: FieldInfo) -> str:
    """The allowed values of a field as text: ``2 to 32, a power of two``."""
    low = high = None
    for rule in field.metadata:
        low = getattr(rule, "ge", low)
        high = getattr(rule, "le", high)
    if get_args(field.annotation) and all(isinstance(one, (str, int)) for one in get_args(field.annotation)):
        return ", ".join(str(one) for one in get_args(field.annotation))
    parts = []
    if low is not None and high is not None:
        parts.append(f"{low}" if low == high else f"{low} to {high}")
    elif low is not None:
        parts.append(f"at least {low}")
    elif high is not None:
        parts.append(f"at most {high}")
    if extra(field).get("pow2"):
        parts.append("a power of two")
    return ", ".join(parts)


def extra(field: FieldInfo) -> Mapping[str, Any]:
    """The unit and other annotations of a field."""
    notes = field.json_schema_extra
    return notes if isinstance(notes, Mapping) else {}


# ---------------------------------------------------------------- positions


def _parse(text: str) -> Node:
    import tree_sitter
    import tree_sitter_toml

    language = tree_sitter.Language(tree_sitter_toml.language())
    return tree_sitter.Parser(language).parse(text.encode("utf-8")).root_node


def _key_parts(node: Node) -> list[str]:
    """The parts of a bare, quoted or dotted key."""
    if node.type == "dotted_key":
        return [part for child in node.children for part in _key_parts(child)]
    text = (node.text or b"").decode("utf-8")
    if node.type == "bare_key":
        return [text]
    if node.type == "quoted_key":
        try:
            return [text[1:-1] if text.startswith("'") else str(json.loads(text))]
        except ValueError:
            # TOML has escapes that JSON lacks; no key of the schemas needs them.
            return [text[1:-1]]
    return []


_KEYS = ("bare_key", "quoted_key", "dotted_key")


def _positions(text: str) -> Iterator[tuple[Loc, int, bool]]:
    """Path and line of every key and list element, and whether it defines a value there.

    The last item distinguishes a duplicate key from a table that dotted names mention again.
    """

    def line(node: Node) -> int:
        return int(node.start_point[0]) + 1

    def value(node: Node, at: Loc) -> Iterator[tuple[Loc, int, bool]]:
        if node.type == "array":
            index = 0
            for child in node.children:
                if child.is_named and child.type != "comment":
                    yield (*at, index), line(child), True
                    yield from value(child, (*at, index))
                    index += 1
        elif node.type == "inline_table":
            for child in node.children:
                if child.type == "pair":
                    yield from pair(child, at)

    def pair(node: Node, at: Loc) -> Iterator[tuple[Loc, int, bool]]:
        parts = _key_parts(node.children[0])
        for upto in range(1, len(parts)):
            yield (*at, *parts[:upto]), line(node), False
        here = (*at, *parts)
        yield here, line(node), True
        # A comment after the value is also a child of the pair.
        yield from value(next(one for one in reversed(node.children) if one.type != "comment"), here)

    arrays: dict[Loc, int] = {}

    def table_place(parts: list[str], new_element: bool) -> Loc:
        at: Loc = ()
        for number, part in enumerate(parts):
            at = (*at, part)
            if number == len(parts) - 1 and new_element:
                arrays[at] = arrays.get(at, -1) + 1
            if at in arrays:
                at = (*at, arrays[at])
        return at

    for node in _parse(text).children:
        if node.type == "pair":
            yield from pair(node, ())
        elif node.type in ("table", "table_array_element"):
            keys = [child for child in node.children if child.type in _KEYS]
            if not keys:
                continue
            at = table_place(_key_parts(keys[0]), node.type == "table_array_element")
            for upto in range(1, len(at)):
                yield at[:upto], line(node), False
            yield at, line(node), True
            for child in node.children:
                if child.type == "pair":
                    yield from pair(child, at)


def _fail_syntax(path: Path, text: str, message: str) -> NoReturn:
    """Raises the error for invalid TOML at its line; for a duplicate key, with the name of the key."""
    match = re.search(r" \(at line (\d+), column \d+\)", message)
    if match:
        line = int(match.group(1))
    else:
        line = max(1, len(text.rstrip("\n").split("\n")))
    what = re.sub(r" \(at [^)]*\)$", "", message)
    if not re.search(r"overwrite|twice|immutable", what):
        raise InputError(f"{shown(path)}:{line}: not valid TOML: {what[:1].lower()}{what[1:]}")
    seen: dict[Loc, int] = {}
    for loc, at_line, defines in _positions(text):
        if defines and loc in seen:
            raise InputError(
                f"{shown(path)}:{at_line}: {key_text(loc)}: defined twice (first in line {seen[loc]}); keep one"
            )
        if defines:
            seen[loc] = at_line
    raise InputError(f"{shown(path)}:{line}: a key or a table is defined twice; keep one")


# ------------------------------------------------------------------- errors


def _inner(annotation: Any) -> Any:
    """The element type of a list, tuple or dict annotation, or the model itself."""
    if get_origin(annotation) in (list, tuple):
        return get_args(annotation)[0]
    if get_origin(annotation) is dict:
        return get_args(annotation)[1]
    return annotation


def _models_on(model: type[BaseModel], loc: Loc) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    """The model that contains `loc`, and the field at `loc`; None if it does not exist."""
    from pydantic import BaseModel

    holder: Any = model
    field: FieldInfo | None = None
    for number, part in enumerate(loc):
        last = number == len(loc) - 1
        if isinstance(holder, type) and issubclass(holder, BaseModel):
            field = holder.model_fields.get(str(part))
            if last or field is None:
                return holder, field
            holder = field.annotation
        else:
            holder = _inner(holder)
    return None, field


_WANTED = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": 'text in quotes, as in "de5"',
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "dict_type": "a table",
}


def _fail_detail(model: type[BaseModel], source: Source, detail: ErrorDetails) -> NoReturn:
    """Raises InputError for one of pydantic's errors, in terms of the file."""
    loc: Loc = tuple(detail["loc"])
    kind = detail["type"]
    context: Mapping[str, Any] = detail.get("ctx") or {}
    if kind == "combination":
        _fail_combination(source, [(*loc, *key) for key in context["keys"]], detail["msg"])
    holder, field = _models_on(model, loc)
    name = str(loc[-1]) if loc else ""
    if kind == "extra_forbidden":
        former = getattr(holder, "former_keys", {})
        if name in former:
            source.fail(loc, former[name])
        known = list(holder.model_fields) if holder is not None else []
        guess = near(name, known)
        if not guess:
            homes = [
                section
                for section, inner in model.model_fields.items()
                if name in getattr(_inner(inner.annotation), "model_fields", {})
            ]
            guess = f"; it belongs in [{homes[0]}]" if homes else f"; known keys: {', '.join(known)}"
        source.fail(loc, f"unknown key{guess}")
    allowed = range_text(field) if field is not None else ""
    unit = f" {extra(field).get('unit')}" if field is not None and extra(field).get("unit") else ""
    if kind == "missing":
        meaning = f" ({field.description})" if field is not None and field.description else ""
        based = ", or set `base` to a configuration that has it" if "base" in model.model_fields else ""
        source.fail(loc, f"missing{meaning}; add it{based}")
    given = _toml_text(detail["input"])
    if kind in _WANTED:
        limits = f", {allowed}{unit}" if allowed else ""
        source.fail(loc, f"is {given}, must be {_WANTED[kind]}{limits}")
    if kind == "literal_error":
        source.fail(loc, f"is {given}, must be one of {allowed}{near(str(detail['input']), allowed.split(', '))}")
    if allowed and kind in ("greater_than_equal", "less_than_equal"):
        source.fail(loc, f"is {given}, must be {allowed}{unit}")
    source.fail(loc, f"is {given}: {detail['msg'][:1].lower()}{detail['msg'][1:]}")


def _fail_combination(source: Source, keys: list[Loc], message: str) -> NoReturn:
    """Reports the first of `keys` that the file itself sets, else that its base sets, and so on.

    A file that changes one value over a consistent base caused the violation, not the base.
    """
    blamed = keys[0]
    below: Source | None = source
    while below is not None:
        own = [key for key in keys if key in below.lines]
        if own:
            blamed = own[0]
            break
        below = below.base
    if blamed != keys[0] and message.startswith("is "):
        message = f"{key_text(keys[0])} {message}"
    source.fail(blamed, message)


def _toml_text(value: Any) -> str:
    """A value as short text, close to its spelling in the file."""
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "a list"
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:36] + '..."'
