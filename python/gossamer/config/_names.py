# SPDX-License-Identifier: Apache-2.0
"""Names of the configurations and clusters in ``config/``."""

from __future__ import annotations

import re

from gossamer import paths


def names() -> list[str]:
    """Names of the hardware configurations in ``config/``, sorted."""
    return sorted(path.stem for path in paths.CONFIG.glob("*.toml"))


def cluster_names() -> list[str]:
    """Names of the cluster topologies in ``config/clusters/``, sorted."""
    return sorted(path.stem for path in (paths.CONFIG / "clusters").glob("*.toml"))


def clusters_of() -> dict[str, str]:
    """The clusters in ``config/clusters/`` whose boards have one configuration, and its name."""
    found = {}
    for name in cluster_names():
        text = (paths.CONFIG / "clusters" / f"{name}.toml").read_text(encoding="utf-8")
        of = re.search(r'^config = "([^"]+)"', text, re.MULTILINE)
        if of:
            found[name] = of[1]
    return found


__all__ = ["cluster_names", "clusters_of", "names"]
