# SPDX-License-Identifier: Apache-2.0
"""Finding and loading configurations, each laid over its base."""

from __future__ import annotations

import os
from pathlib import Path

from gossamer import paths
from gossamer.config._names import names
from gossamer.config._schema import Config
from gossamer.config._source import Source, near, over, read, shown, validate
from gossamer.errors import InputError


def find(name_or_path: str | os.PathLike[str], folder: Path, known: list[str], what: str) -> Path:
    """The file of a name in `folder`, or the path itself if it is one."""
    text = os.fspath(name_or_path)
    if "/" in text or text.endswith(".toml"):
        return Path(text)
    path = folder / f"{text}.toml"
    if not path.is_file():
        guess = near(text, known) or f"; there are {', '.join(known)}"
        raise InputError(f"no {what} named {text} in {shown(folder)}{guess}")
    return path


def load_config(name_or_path: str | os.PathLike[str]) -> Config:
    """See `gossamer.config.load`."""
    path = find(name_or_path, paths.CONFIG, names(), "configuration")
    config = validate(Config, _with_base(path, ()))
    config._name = path.stem
    return config


def _with_base(path: Path, above: tuple[Path, ...]) -> Source:
    """The file over its base, over that one's base, and so on."""
    source = read(path, "a configuration")
    base = source.own.get("base")
    if base is None:
        return source
    if not isinstance(base, str):
        source.fail(("base",), f'must be the name of a configuration in quotes, as in base = "{names()[0]}"')
    below = _base_path(source, base)
    chain = (*above, path.resolve())
    if below.resolve() in chain:
        source.fail(("base",), f"{base} leads back to {shown(below)}; a base cannot stand on itself")
    return over(source, _with_base(below, chain))


def _base_path(source: Source, base: str) -> Path:
    """A base is a file beside the one that names it, or a name in ``config/``."""
    if "/" in base or base.endswith(".toml"):
        path = source.path.parent / base
        if not path.is_file():
            source.fail(("base",), f"there is no file {shown(path)}")
        return path
    beside = source.path.parent / f"{base}.toml"
    if beside.is_file() and beside.resolve() != source.path.resolve():
        return beside
    path = paths.CONFIG / f"{base}.toml"
    if not path.is_file():
        guess = near(base, names()) or f"; there are {', '.join(names())}"
        source.fail(("base",), f"no configuration is named {base}{guess}")
    return path
