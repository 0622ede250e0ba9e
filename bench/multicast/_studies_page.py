# SPDX-License-Identifier: Apache-2.0
"""The page of the multicast paper's studies as the timing model predicts them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gossamer.bench import Row, page

_MEASURES = {
    "cycles": "time, times less",
    "mesh_bytes": "bytes between tiles,\ntimes fewer",
    "link_bytes": "bytes between boards,\ntimes fewer",
}


def draw(path: Path, rows: Sequence[Row], modes: Sequence[str], scale: str) -> None:
    """Writes the page. ``modes``: those of multicast; the first is the reference of the others."""
    page.prepare()
    table = [["row", *(f"{key}, {mode}" for key in ("cycles", "link bytes") for mode in modes), "validated error"]]
    for row in rows:
        cells = [f"{row.config[key][mode]:,}" for key in ("cycles", "link_bytes") for mode in modes]
        table.append([row.name, *cells, f"{row.config['error']:.1%}" if "error" in row.config else ""])
    words = (
        f"6 x 8 boards of de5, predicted by the timing model with {scale} of the multicast paper's million tasks (its "
        "Fig. 5). Gains are relative to messages to single threads: above 1 is better. The paper's curves are a "
        "picture; its text says that time approaches ten times at a fan-out of 25 and a hundred at 100 without "
        "locality, by keys (dotted). Radii that hold too few tasks for the fan-out are left out."
    )
    page.write(path, "The multicast paper's studies", words, _figure(rows, modes), table)


def _figure(rows: Sequence[Row], modes: Sequence[str]) -> Any:
    from matplotlib.ticker import FormatStrFormatter, NullFormatter

    studied = [row for row in rows if "radius" in row.config]
    apps = list(dict.fromkeys(row.config["app"] for row in studied))
    picture = page.figure(13, 9)
    charts = picture.subplots(3, len(apps) + 1, squeeze=False)
    for line, (key, label) in zip(charts, _MEASURES.items(), strict=True):
        for axes, app in zip(line, apps, strict=False):
            for number, fan_out in enumerate((25, 100)):
                of = [row for row in studied if (row.config["app"], row.config["fan_out"]) == (app, fan_out)]
                for mode, style in zip(modes[1:], ("o--", "s-"), strict=False):
                    gains = [row.config[key][modes[0]] / max(1, row.config[key][mode]) for row in of]
                    axes.plot([row.config["radius"] for row in of], gains, style, color=f"C{number}",
                              label=f"{mode}, fan-out {fan_out}")  # fmt: skip
                if key == "cycles" and app != "izhikevich":
                    axes.axhline((10, 100)[number], linestyle=":", color=f"C{number}")
            axes.set(xscale="log", yscale="log", xlabel="radius", ylabel=label, title=app)
            axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
            low, high = axes.get_ylim()
            axes.yaxis.set_minor_formatter(FormatStrFormatter("%g") if high < 10 * low else NullFormatter())
            axes.grid(alpha=0.3)
        axes = line[-1]
        for app, style in (("dpd", "o-"), ("dpd-gals", "s--")):
            of = [row for row in rows if row.config["app"] == app]
            for mode in modes:
                axes.plot([row.config["cells"] for row in of], [row.config[key][mode] for row in of], style,
                          label=f"{app}, {mode}")  # fmt: skip
        axes.set(xlabel="cells", ylabel=key.replace("_", " "), title="DPD")
        axes.grid(alpha=0.3)
    for axes in (charts[0][0], charts[0][-1]):
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=6)
    return picture


__all__ = ["draw"]
