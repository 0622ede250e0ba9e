# SPDX-License-Identifier: Apache-2.0
"""Finding and loading configurations, each merged over its base."""

from __future__ import annotations

import os
from pathlib import Path

from gossamer import paths
from gossamer.config._names import cluster_names, clusters_of, names
from gossamer.config._schema import Config
from gossamer.config._source import Source, near, over, read, shown, validate
from gossamer.errors import InputError


def find(name_or_path: str | os.PathLike[str], folder: Path, known: list[str], what: str) -> Path:
    """The file of a name in `folder`; a path is returned unchanged."""
    text = os.fspath(name_or_path)
    if "/" in text or text.endswith(".toml"):
        return Path(text)
    path = folder / f"{text}.toml"
    if not path.is_file():
        guess = _of_the_other_kind(text, what) or near(text, known) or f"; known names: {', '.join(known)}"
        raise InputError(f"no {what} named {text} in {shown(folder)}{guess}")
    return path


def _of_the_other_kind(text: str, what: str) -> str:
    """The end of a message, if a name is that of a cluster where a configuration is wanted, or the reverse."""
    if what == "configuration" and text in cluster_names():
        return f"; {text} is a cluster: --cluster {text}"
    if what == "cluster" and text in names():
        boards = [name for name, of in clusters_of().items() if of == text]
        also = f"; clusters of its boards: {', '.join(boards)}" if boards else ""
        return f"; {text} is the configuration of a board: --config {text}{also}"
    return ""


def load_config(name_or_path: str | os.PathLike[str]) -> Config:
    """See `gossamer.config.load`."""
    path = find(name_or_path, paths.CONFIG, names(), "configuration")
    config = validate(Config, _with_base(path, ()))
    config._name = path.stem
    return config


def _with_base(path: Path, above: tuple[Path, ...]) -> Source:
    """The file merged over its base, which is merged over its own base, and so on."""
    source = read(path, "a configuration")
    base = source.own.get("base")
    if base is None:
        return source
    if not isinstance(base, str):
        source.fail(("base",), f'must be the name of a configuration in quotes, as in base = "{names()[0]}"')
    below = _base_path(source, base)
    chain = (*above, path.resolve())
    if below.resolve() in chain:
        source.fail(("base",), f"{base} has the base {shown(below)}; a configuration cannot be its own base")
    return over(source, _with_base(below, chain))


def _base_path(source: Source, base: str) -> Path:
    """The file of a base: in the folder of the file that names it, or a name in ``config/``."""
    if "/" in base or base.endswith(".toml"):
        path = source.path.parent / base
        if not path.is_file():
            source.fail(("base",), f"the file {shown(path)} does not exist")
        return path
    sibling = source.path.parent / f"{base}.toml"
    if sibling.is_file() and sibling.resolve() != source.path.resolve():
        return sibling
    path = paths.CONFIG / f"{base}.toml"
    if not path.is_file():
        guess = near(base, names()) or f"; known names: {', '.join(names())}"
        source.fail(("base",), f"no configuration named {base}{guess}")
    return path
