# SPDX-License-Identifier: Apache-2.0
"""The schema of a hardware configuration: all tables, derived values, and checks across keys."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, PrivateAttr, model_validator
from pydantic.fields import FieldInfo

from gossamer.config._checks import violations
from gossamer.config._parameters import Parameters
from gossamer.config._sections import inconsistent
from gossamer.config._source import extra


class Config(Parameters):
    """A hardware configuration, checked."""

    _name: str = PrivateAttr(default="unnamed")

    @property
    def name(self) -> str:
        """The file's name without its extension."""
        return self._name

    @model_validator(mode="after")
    def _consistent(self) -> Config:
        for keys, message in violations(self):
            raise inconsistent(keys, message)
        return self


class Knob:
    """One key of a configuration with its value, as listings and generators use it."""

    def __init__(self, path: tuple[str, ...], field: FieldInfo, value: Any) -> None:
        self.path = path
        self.key = ".".join(path)
        self.value = value
        self.unit = str(extra(field).get("unit", ""))
        self.doc = field.description or ""
        self.field = field


def knobs(config: Config) -> Iterator[Knob]:
    """All values of the tables, in the order of the schema."""

    def walk(section: BaseModel, path: tuple[str, ...]) -> Iterator[Knob]:
        for name, field in type(section).model_fields.items():
            value = getattr(section, name)
            if isinstance(value, BaseModel):
                yield from walk(value, (*path, name))
            elif path:
                yield Knob((*path, name), field, value)

    yield from walk(config, ())


@functools.lru_cache(maxsize=1)
def derived_docs() -> dict[str, tuple[str, str]]:
    """Meaning and unit of every derived value."""
    docs = {}
    for name, member in vars(Parameters).items():
        if isinstance(member, property) and member.__doc__ and member.__doc__.endswith("]"):
            doc, _, unit = member.__doc__[:-1].rpartition(" [")
            docs[name] = (doc, unit)
    return docs


def section_docs(config: Config) -> dict[tuple[str, ...], str]:
    """The description of each table of a configuration, by its path."""
    docs: dict[tuple[str, ...], str] = {}

    def walk(section: BaseModel, path: tuple[str, ...]) -> None:
        for name in type(section).model_fields:
            value = getattr(section, name)
            if isinstance(value, BaseModel):
                here = (*path, name)
                docs[here] = (type(value).__doc__ or "").strip()
                walk(value, here)

    walk(config, ())
    return docs
