# SPDX-License-Identifier: Apache-2.0
"""The table of sub-commands: one line of help each, and the groups each one needs.

It is separate from the commands, so the first page of help, and the error for a
misspelt name, need no imports and no environment.
"""

from __future__ import annotations

from gossamer_setup._places import INSTALLED, NAME
from gossamer_setup._version import VERSION as VERSION

ENTRY_POINTS: dict[str, dict[str, str]] = {
    "networkx.backends": {"gossamer": "gossamer.networkx_backend:backend"},
    "networkx.backend_info": {"gossamer": "gossamer.networkx_backend:get_info"},
}
"""The package's entry points besides the command, by group; pyproject.toml has the same for wheels."""

# name: (what it does, groups it needs before it says what its options are; more it asks for itself)
COMMANDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "run": ("Run an application on a graph.", ("core",)),
    "diff": ("Compare two results.", ("core",)),
    "report": ("Write a page about a run, or compare runs.", ("core",)),
    "new": ("Write a vertex of your own, with a test.", ("core",)),
    "graph": ("Inspect, convert and generate graphs.", ("core",)),
    "config": ("Show and check hardware configurations and clusters.", ("core",)),
    "top": ("Show the activity of a running simulation.", ("core",)),
    "mpi": ("Run MPI programs, here or on simulated boards.", ("core",)),
    "smi": ("Run kernels that send each other streaming messages.", ("core",)),
    "polite": ("Run existing POLite programs, here or on simulated boards.", ("core",)),
    "cluster": ("Discover and configure boards on Ethernet, real or simulated.", ("core",)),
    "routes": ("Make and check the routes between boards.", ("core",)),
    "test": ("Run the tests.", ("core",)),
    "bench": ("Measure performance and compare it with peers.", ("core",)),
    "reproduce": ("Compare this project with the five papers: one page.", ("core",)),
    "setup": ("Install dependencies, or pack them for a machine without a network.", ()),
    "wheel": ("Build the wheel and the source archive.", ("core",)),
    "clean": ("Remove build products.", ()),
    "doctor": ("Check this installation, and print the command that fixes each fault.", ()),
}

CHECKOUT_COMMANDS: dict[str, str] = {
    "test": "the tests are in a checkout of Gossamer; run a test of your own with: python -m pytest FILE",
    "bench": "the benchmarks are in a checkout of Gossamer; this is an installed package",
    "reproduce": "the page about the papers is made in a checkout of Gossamer; this is an installed package",
    "setup": "this is an installed package; pip installs what is missing, for instance: pip install 'gossamer[rtl]'",
    "wheel": "the wheel is built from a checkout of Gossamer, and this is an installed package",
}
"""Commands that an installed package does not have, and what it says instead."""

EXAMPLES = """\
  ./gossamer run pagerank                       rank the packages of Debian by their dependencies
  ./gossamer run pagerank web.mtx.gz --top 5    a graph of your own
  ./gossamer graph info web.mtx.gz              the properties of a graph file
  ./gossamer doctor                             check the installation
"""


def help_text() -> str:
    """The first page of help."""
    width = max(map(len, COMMANDS))
    shown = {name: about for name, (about, _) in COMMANDS.items() if not (INSTALLED and name in CHECKOUT_COMMANDS)}
    lines = [f"  {name:<{width}}  {summary}" for name, summary in shown.items()]
    text = (
        "Usage: ./gossamer [--version] [--help] COMMAND [ARGUMENTS]...\n\n"
        "Gossamer runs programs made of many small parts that exchange small messages:\n"
        "on this machine, and on clusters of FPGAs.\n\n"
        "Commands:\n" + "\n".join(lines) + "\n\nExamples:\n" + EXAMPLES + "\n"
        "./gossamer COMMAND --help describes one command.\n"
        "Exit codes: 0 done; 1 the answer is no; 2 wrong input or environment; 4 the run aborted;\n"
        "70 a bug in Gossamer; 130 Ctrl-C.\n"
    )
    return text.replace("./gossamer", NAME)


def unknown_command(name: str) -> str:
    """One line for an unknown command, with the nearest known name."""
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"{NAME} --help lists them"
    return f"no such command: {name!r}; {hint}"
