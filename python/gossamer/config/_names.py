# SPDX-License-Identifier: Apache-2.0
"""Names of the configurations and clusters in ``config/``."""

from __future__ import annotations

from gossamer import paths


def names() -> list[str]:
    """Names of the hardware configurations in ``config/``, sorted."""
    return sorted(path.stem for path in paths.CONFIG.glob("*.toml"))


def cluster_names() -> list[str]:
    """Names of the cluster topologies in ``config/clusters/``, sorted."""
    return sorted(path.stem for path in (paths.CONFIG / "clusters").glob("*.toml"))


__all__ = ["cluster_names", "names"]
