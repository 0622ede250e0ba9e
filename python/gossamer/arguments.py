# SPDX-License-Identifier: Apache-2.0
"""Types of arguments of the Python interface, checked before a function runs.

``@accepts(threads=or_none(WHOLE))`` makes a call with a wrong argument raise an InputError that names function and
argument, instead of an error from within. Arguments that are not named are not checked.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

import numpy as np

from gossamer.errors import InputError

_P = ParamSpec("_P")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Kind:
    """What an argument may be."""

    types: tuple[type, ...]
    said: str
    """What to give, for the message."""


@runtime_checkable
class _Array(Protocol):
    """An array of any library: NumPy's, a column of pandas."""

    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...


def or_none(kind: Kind) -> Kind:
    """The same, or None."""
    return replace(kind, types=(*kind.types, type(None)))


WHOLE = Kind((int, np.integer), "a whole number")
FLAG = Kind((bool, int, np.bool_), "True or False")
TEXT = Kind((str,), "text")
PATH = Kind((str, os.PathLike), "a path")
LABEL = Kind((str, int, float, np.generic), "the label of one vertex")
LABELS = Kind((Sequence, np.ndarray), "a list or an array of labels")
SOME_LABELS = Kind((str, int, Sequence, _Array), "the label of a vertex, or a list or an array of labels")
NUMBERS = Kind((int, float, Sequence, _Array), "a number, or a list or an array of numbers")


def accepts(**kinds: Kind) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator that checks arguments by name. Costs about a microsecond a call."""

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        names = list(inspect.signature(function).parameters)
        missing = kinds.keys() - set(names)
        assert not missing, f"{function.__qualname__} has no argument {missing}"

        @functools.wraps(function)
        def checked(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for name, value in zip(names, args, strict=False):
                if name in kinds and not isinstance(value, kinds[name].types):
                    _reject(function.__qualname__, name, value, kinds[name])
            for name, value in kwargs.items():
                if name in kinds and not isinstance(value, kinds[name].types):
                    _reject(function.__qualname__, name, value, kinds[name])
            return function(*args, **kwargs)

        return checked

    return decorate


def _reject(function: str, name: str, value: Any, kind: Kind) -> None:
    given = "None" if value is None else f"a value of type {type(value).__name__}"
    raise InputError(f"{function}: {name}: {given} is not supported; give {kind.said}")


def numeric(where: str, name: str, values: Any) -> Any:
    """An array of integers or real numbers. Raises InputError, which names function and argument, for other values."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # rows of different lengths
        array = np.empty((), object)
    if array.dtype.kind not in "iufb" and array.size:
        raise InputError(f"{where}: {name}: must be an array of numbers")
    return array


__all__ = [
    "FLAG",
    "LABEL",
    "LABELS",
    "NUMBERS",
    "PATH",
    "SOME_LABELS",
    "TEXT",
    "WHOLE",
    "Kind",
    "accepts",
    "numeric",
    "or_none",
]
