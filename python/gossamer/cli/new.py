# SPDX-License-Identifier: Apache-2.0
"""``./gossamer new``: writes a template of a vertex with a test."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from pathlib import Path

import click

from gossamer import apps, files
from gossamer.errors import ExitCode, InputError
from gossamer.paths import INSTALLED
from gossamer_setup._places import NAME

_VERTEX = """\
/// The vertices of {name}: each vertex receives the greatest value of all vertices from which a path leads to it.
#pragma once

#include <gossamer/polite.h>

/// The state of a vertex. Fixed widths and no pointers, so that it is the same on every machine.
struct {kind}State {{
  uint32_t value;
}};

struct {kind}Vertex : gossamer::PVertex<{kind}State, gossamer::None, uint32_t> {{
  /// Called once, at the start. Pin 0 has all out-edges of the vertex.
  void init() {{ *readyToSend = gossamer::Pin(0); }}

  /// Writes the message, some time after the vertex has requested to send.
  void send(uint32_t* message) {{
    *message = s->value;
    *readyToSend = gossamer::No;
  }}

  /// Called for each message and edge, in any order.
  void recv(const uint32_t* message, const gossamer::None*) {{
    if (*message <= s->value) return;
    s->value = *message;
    *readyToSend = gossamer::Pin(0);
  }}
}};

GOSSAMER_VERTEX({kind}Vertex)

#if __STDC_HOSTED__  // for the host only: parameters, initial states, results
#include <gossamer/app.h>

struct {kind}App : gossamer::Application<{kind}Vertex> {{
  static constexpr const char* name = "{name}";
  static constexpr const char* summary = "the greatest value that reaches each vertex";

  uint32_t first = 0;

  void parameters(gossamer::Parameters& p) {{
    p.integer("first", first, 0, 1000000, "the value of the first vertex; each following vertex has one more");
  }}
  void init(const gossamer::VertexInfo& v, {kind}State& s) {{ s.value = first + v.index; }}
  void results(gossamer::Columns<{kind}State>& c) {{
    c.add("value", "the greatest value that reached the vertex", [](const {kind}State& s) {{ return s.value; }});
  }}
}};
GOSSAMER_APPLICATION({kind}App)
#endif
"""

_TEST = '''\
"""Compares {name} with a plain loop, on the engines of this machine and with random orders of messages."""

import random
from pathlib import Path

import pytest

import gossamer as gs

HEADER = Path(__file__).with_name("{name}.h")


def expected(vertices, edges, first):
    value = [first + v for v in range(vertices)]
    for _ in range(vertices):
        for a, b in edges:
            value[b] = max(value[b], value[a])
    return value


@pytest.mark.parametrize("seed", range(10))
def test_{word}(seed):
    draw = random.Random(seed)
    vertices = draw.randint(1, 60)
    edges = [(draw.randrange(vertices), draw.randrange(vertices)) for _ in range(draw.randint(0, 2 * vertices))]
    graph = gs.Graph.from_arrays([a for a, _ in edges], [b for _, b in edges], vertices=vertices)
    for how in ({{"threads": 1}}, {{"threads": 2}}, {{"engine": "shuffle", "seed": seed}}):
        assert gs.run(HEADER, graph, first=seed, **how).values.tolist() == expected(vertices, edges, seed)
'''

_LONGEST = 64


@click.command(short_help="Write a template of a vertex, with a test.")
@click.argument("name", metavar="NAME")
def command(name: str) -> int:
    """Create the folder NAME with a working vertex as a template for your own, and a test of it.

    NAME may be a path, whose last part names the application: lower-case letters, digits and dashes.

    \b
    Examples:
      ./gossamer new rumour
      ./gossamer new ~/work/rumour
    """
    try:
        folder = Path(name).expanduser()
    except RuntimeError:
        raise InputError(f"{name}: no such user; write ./{name} for a folder of that name") from None
    word = folder.name
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", word):
        raise InputError(
            f"{name}: an application's name is lower-case letters, digits and single dashes, a letter first"
        )
    if len(word) > _LONGEST:
        raise InputError(f"{word}: is too long for an application's name, which has at most {_LONGEST} letters")
    if word in apps.names():
        raise InputError(f"{name}: an application {word} exists already; use another name")
    if os.path.lexists(folder):
        raise InputError(f"{folder}: exists already; use another name, or remove it")
    names = {
        "name": word,
        "kind": "".join(part.capitalize() for part in word.split("-")),
        "word": word.replace("-", "_"),
    }
    header, test = folder / f"{word}.h", folder / f"test_{names['word']}.py"
    missing = [parent for parent in (folder, *folder.parents) if not os.path.lexists(parent)]
    try:
        folder.mkdir(parents=True)
        files.write_whole(header, _VERTEX.format(**names).encode())
        files.write_whole(test, _TEST.format(**names).encode())
    except (OSError, InputError) as error:
        # Half a template would block the next try.
        for path in (header, test):
            with contextlib.suppress(OSError):
                path.unlink()
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()
        if isinstance(error, InputError):
            raise
        raise InputError(f"{folder}: cannot be created: {error.strerror}; choose another place") from None
    click.echo(f"wrote {header} and {test}")
    click.echo(f"next:  {NAME} run {shlex.quote(str(header))} gen:grid:width=4,height=4")
    tests = "python -m pytest" if INSTALLED else "./gossamer test"
    click.echo(f"       {tests} {shlex.quote(str(test))}")
    return int(ExitCode.DONE)
