# SPDX-License-Identifier: Apache-2.0
"""Hardware configurations, clusters and the constants that all languages share.

``config/`` is the one source of truth. This package validates it against a schema and
generates the SystemVerilog package and the C++ header from it:

    import gossamer.config as config
    de5 = config.load("de5")             # a Config; de5.core.threads_per_core == 16
    rack = config.load_cluster("rack48") # a Cluster; len(rack.cables) == 82
    config.generate(de5, "build/de5")    # gossamer_pkg.sv and gossamer/config.h

Constants that all configurations share (CSRs, packet layouts, EtherTypes, error
codes) are in ``gossamer.config.constants``.

Importing this package is fast: the first call that needs the schema imports it,
and pydantic with it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.config._names import cluster_names, clusters_of, names

if TYPE_CHECKING:
    from gossamer.config._cluster import Board, Cable, Cluster, Host
    from gossamer.config._schema import Config

__all__ = [
    "Board",
    "Cable",
    "Cluster",
    "Config",
    "Host",
    "cluster_names",
    "clusters_of",
    "generate",
    "generate_constants",
    "load",
    "load_cluster",
    "names",
]

_LAZY = {
    "Board": "_cluster",
    "Cable": "_cluster",
    "Cluster": "_cluster",
    "Host": "_cluster",
    "Config": "_schema",
}


def __getattr__(name: str) -> object:
    """The classes, imported on first access."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"gossamer.config.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load(name_or_path: str | os.PathLike[str]) -> Config:
    """Reads and checks a hardware configuration.

    A text with a slash or the extension ``.toml`` is a file; any other text is a
    name in ``config/``. Raises InputError with file, line and key.
    """
    from gossamer.config._load import load_config

    return load_config(name_or_path)


def load_cluster(name_or_path: str | os.PathLike[str]) -> Cluster:
    """Reads and checks a cluster topology, with the configurations of its boards.

    A text with a slash or the extension ``.toml`` is a file; any other text is a
    name in ``config/clusters/``. Raises InputError with file, line and key.
    """
    from gossamer.config._cluster import load_cluster_file

    return load_cluster_file(name_or_path)


def generate(config: Config, outdir: str | os.PathLike[str], lang: str = "all") -> list[Path]:
    """Writes ``gossamer_pkg.sv`` (lang "sv") and ``gossamer/config.h`` (lang "cpp") below outdir.

    Returns the files. Each write is atomic. A file whose content would not change
    is not written, so builds that depend on it do not run again.
    """
    from gossamer.config._generate import generate_files

    return generate_files(config, Path(outdir), lang)


def generate_constants(name: str, outdir: str | os.PathLike[str], lang: str = "all") -> list[Path]:
    """Writes ``gossamer_NAME_pkg.sv`` (lang "sv") and ``gossamer/NAME_constants.h`` (lang "cpp") below outdir: the
    constants of ``config/constants/NAME``, which no configuration changes.

    Returns the files, written as `generate` writes them. Raises InputError if there is no such folder.
    """
    from gossamer.config._generate import constants_files

    return constants_files(name, Path(outdir), lang)
