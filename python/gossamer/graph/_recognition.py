# SPDX-License-Identifier: Apache-2.0
"""Formats that are recognized by content or extension: those of Python's readers, and known ones that are not read.

Without the latter, most of these files would be read as edge lists of words, because any two words on a line are an
edge. Each is rejected with its name and advice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gossamer.errors import InputError

_UNPACK = "unpack it first"
_CSV = "export the edges as CSV"
_CONVERT = "convert it to GraphML, GML or an edge list, for instance with Gephi or NetworkX"

_MAGIC: Final = (
    (b"PAR1", "a Parquet file", _CSV),
    (b"ARROW1", "an Arrow file", _CSV),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 or MATLAB 7.3 file", "write the matrix with scipy.io.mmwrite"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", "read it with scipy.io.loadmat and write it with scipy.io.mmwrite"),
    (b"\x93NUMPY", "a NumPy array", "write a sparse matrix with scipy.sparse.save_npz"),
    (b"SQLite format 3\0", "an SQLite database", _CSV),
    (b"%PDF-", "a PDF document", "name the file with the graph"),
    (b"\x89PNG", "a picture", "name the file with the graph"),
    (b"\xff\xd8\xff", "a picture", "name the file with the graph"),
    (b"\x7fELF", "a program", "name the file with the graph"),
    (b"\xd0\xcf\x11\xe0", "an Office document", _CSV),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"\x1f\x9d", "a file compressed with compress (.Z)", "uncompress it first"),
    (b"\x04\x22\x4d\x18", "a file compressed with lz4", "unpack it first: lz4 -d"),
    (b"RDX", "an R workspace", _CSV),
    (b"RDA", "an R workspace", _CSV),
)  # fmt: skip
_PICKLE = re.compile(rb"\x80[\x02-\x05][\x80-\xff}\]c\x95(]")

_TEXTS: Final = (
    (rb"version https?://git-lfs", "a Git LFS pointer", "fetch the file itself: git lfs pull"),
    (rb"<(!doctype\s+html|html|head|body)\b", "a web page (HTML)", "fetch the file itself, not the page about it"),
    (rb"<(\?xml|!doctype|!--|\w+[\s>/])", "XML", _CONVERT),
    (rb"<https?://", "RDF triples", "write the subjects and objects as an edge list"),
    (rb"@(prefix|base)\b", "RDF in Turtle", "write the subjects and objects as an edge list"),
    (rb"(strict\s+)?(di)?graph(\s+(\"[^\"]*\"|[\w.-]+))?\s*\{", "Graphviz DOT",
     "convert it: gv2gml FILE.dot > FILE.gml"),
    (rb"(graph|flowchart)\s+(TD|TB|BT|LR|RL)\b", "a Mermaid diagram", _CONVERT),
    (rb"@startuml\b", "a PlantUML diagram", _CONVERT),
    (rb"%YAML|---\s*(\n|$)", "YAML", _CONVERT),
    (rb"nodedef\s*>", "GDF", _CONVERT),
    (rb"leda\.graph\b", "LEDA", _CONVERT),
    (rb"dl(\s+\w+\s*=|\s*\n|\s*,)", "UCINET DL", _CONVERT),
    (rb"\*\s*(node|tie)\s+(data|properties)", "VNA (NetDraw)", _CONVERT),
    (rb"\*(partition|vector|matrix|arcs|edges|permutation|cluster)\b", "a part of a Pajek project",
     "give a network that begins with *Vertices"),
    (rb">>(graph6|sparse6|digraph6|planar_code)<<", "graph6 or sparse6", "convert it with networkx.read_graph6"),
    (rb"(weighted)?adjacencygraph\s*\n", "Ligra's adjacency graph", "write the edges as an edge list"),
    (rb"33d32945\s+stp", "SteinLib STP", "write its lines E as an edge list"),
    (rb"%?(bvgraph|#\s*bvgraph)", "the properties of a WebGraph", "write the graph with its ArcListASCIIGraph"),
    (rb"\{\\rtf", "a document", "name the file with the graph"),
    (rb"http/[12]", "the answer of a web server", "fetch the file itself"),
    (rb"-----begin ", "a key or a signed message", "name the file with the graph"),
    (rb"(insert\s+into|create\s+table|--\s*mysql dump)", "SQL", _CSV),
    (rb"#!", "a script", "name the file with the graph"),
    (rb"(from:|received:|mime-version:|content-type:)", "a mail message", "name the file with the graph"),
)  # fmt: skip
_COMPILED: Final = tuple((re.compile(start, re.IGNORECASE), what, advice) for start, what, advice in _TEXTS)

_XML_ROOTS: Final = {
    "gexf": "GEXF", "svg": "a picture (SVG)", "kml": "KML", "osm": "OpenStreetMap XML", "rdf": "RDF/XML",
    "html": "a web page (HTML)", "dynetml": "DyNetML", "graph": "XGMML", "mxfile": "a diagram of draw.io",
    "gxl": "GXL", "opml": "OPML", "gpx": "GPX", "error": "the error message of a server",
}  # fmt: skip
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z][\w.-]*)")

_ENDINGS: Final = {
    ".lgl": ("LGL", "write an edge list, for instance with igraph"),
    ".dot": ("Graphviz DOT", "convert it: gv2gml FILE.dot > FILE.gml"),
    ".gv": ("Graphviz DOT", "convert it: gv2gml FILE.gv > FILE.gml"),
    ".gexf": ("GEXF", _CONVERT),
    ".gdf": ("GDF", _CONVERT),
    ".tgf": ("the Trivial Graph Format", _CONVERT),
    ".tlp": ("Tulip's format", _CONVERT),
    ".dl": ("UCINET DL", _CONVERT),
    ".vna": ("VNA (NetDraw)", _CONVERT),
    ".yaml": ("YAML", _CONVERT),
    ".yml": ("YAML", _CONVERT),
    ".toml": ("TOML", _CONVERT),
    ".xml": ("XML", _CONVERT),
    ".html": ("a web page", "fetch the file itself"),
    ".md": ("a text document", "name the file with the graph"),
    ".g6": ("graph6", "convert it with networkx.read_graph6"),
    ".s6": ("sparse6", "convert it with networkx.read_sparse6"),
    ".d6": ("digraph6", "convert it with networkx"),
    ".clu": ("a partition of Pajek", "name the .net file"),
    ".vec": ("a vector of Pajek", "name the .net file"),
    ".multiline_adjlist": ("NetworkX's multi-line adjacency list", "write it with networkx.write_edgelist(data=False)"),
    ".col": ("a DIMACS colouring problem", "write its lines e as an edge list"),
    ".xlsx": ("an Excel workbook", _CSV),
    ".pickle": ("a Python pickle", "write the graph with networkx.write_gml"),
    ".gpickle": ("a Python pickle", "write the graph with networkx.write_gml"),
    ".pkl": ("a Python pickle", "write the graph with networkx.write_gml"),
} | dict.fromkeys(
    (".hb", ".rb", ".rua", ".rsa", ".pua", ".psa", ".rra", ".cua", ".csa"),
    ("Harwell-Boeing", "convert it with scipy.io.hb_read and scipy.io.mmwrite"),
)  # fmt: skip

_HARWELL_BOEING = re.compile(rb"[RCPIQ][SUHZR][AEC]\s+\d+\s+\d+\s+\d+", re.IGNORECASE)
_DIMACS = re.compile(rb"(?:[ \t]*(?:c(?:[ \t][^\n]*)?)?\r?\n)*[ \t]*p[ \t]+([a-z]+)", re.IGNORECASE)
_NETWORKX = re.compile(rb"(?:#[^\n]*\n)?# GMT \w{3} \w{3} +\d+ [\d:]+ \d{4}\s*\n")
_TAGGED = re.compile(
    rb"(?:[ \t]*(?:[#%][^\n]*)?\r?\n)*([aeE])[ \t]+\d+[ \t]+\d+[^\n]*\n(?:\1[ \t]+\d+[ \t]+\d+[^\n]*(?:\n|\Z))+[^\n]*\Z"
)
_KEY = re.compile(rb"(?:[\"']?[\w.-]+[\"']?[ \t]*:(?:[ \t][^\n]*)?|- [^\n]*)\r?\n", re.IGNORECASE)


_OURS = re.compile(rb"# Nodes: \d+ Edges: \d+")
_COMMENTS = re.compile(rb"(?:[ \t]*(?:[#%][^\n]*)?\r?\n)*")
_GML_PIECE = re.compile(rb'\s+|#[^\n]*|[A-Za-z_]\w*\s+(?:"[^"]*"|[-+.\d]+(?=\s))')
_GML_GRAPH = re.compile(rb"graph\s*\[", re.IGNORECASE)
_GRAPHML = re.compile(rb"<(?:[\w.-]+:)?graphml\b")


def is_own_list(head: bytes) -> bool:
    """Whether a file with these first bytes is an edge list that write_graph wrote, with any words as vertices."""
    return _OURS.match(head) is not None


def is_gml(head: bytes) -> bool:
    """Whether a file with these first bytes is GML."""
    at = 0
    while not _GML_GRAPH.match(head, at):
        piece = _GML_PIECE.match(head, at)
        if piece is None:
            return False
        at = piece.end()
    return True


def is_graphml(head: bytes) -> bool:
    """Whether a file with these first bytes is GraphML."""
    return head.lstrip().startswith(b"<") and _GRAPHML.search(head) is not None


def is_pajek(head: bytes) -> bool:
    """Whether a file with these first bytes is a network of Pajek."""
    for line in head.split(b"\n"):
        text = line.strip().lower()
        if text and not text.startswith(b"%"):
            return text.startswith((b"*network", b"*vertices"))
    return False


def is_json(head: bytes) -> bool:
    """Whether a file with these first bytes is meant as JSON."""
    return head.lstrip().startswith((b"{", b"[")) and not head.lstrip().startswith(b"{\\rtf")


def is_npz(head: bytes) -> bool:
    """Whether a file with these first bytes is a NumPy archive: a zip file whose first member is an array."""
    size = int.from_bytes(head[26:28], "little")
    return head.startswith(b"PK\x03\x04") and head[30 : 30 + size].endswith(b".npy")


def _line(head: bytes, at: int) -> int:
    return head.count(b"\n", 0, at) + 1


def reject_content(head: bytes, name: str) -> None:
    """Raises InputError if a file with these first bytes has a known format that is not read, whatever its name."""
    for magic, what, advice in _MAGIC:
        if head.startswith(magic):
            raise InputError(f"{name}: {what}, not a graph in text form; {advice}")
    if _PICKLE.match(head):
        raise InputError(f"{name}: a Python pickle; write the graph with networkx.write_gml or networkx.write_graphml")
    if head.startswith(b"PK\x03\x04"):
        office = any(part in head[:4096] for part in (b"[Content_Types].xml", b"xl/", b"mimetypeapplication/vnd.oasis"))
        what = "a spreadsheet or document" if office else "a zip archive"
        raise InputError(f"{name}: {what}; {_CSV if office else _UNPACK}")
    begin = _skipped(head)
    line = _line(head, begin)
    for start, what, advice in _COMPILED:
        if start.match(head, begin):
            if what == "XML":
                roots = [root[1].decode().lower() for root in _ROOT.finditer(head, begin)]
                what = _XML_ROOTS.get(roots[0] if roots else "", "XML of an unknown kind")
            raise InputError(f"{name}:{line}: {what}, which is not read; {advice}")
    banner = head[begin : begin + 40].lower()
    if re.match(rb"%*\s*matrix\s*market", banner):
        raise InputError(f"{name}:{line}: {_banner(head, begin)}")
    lines = head.split(b"\n", 4)
    if len(lines) > 3 and _HARWELL_BOEING.match(lines[2].strip()):
        raise InputError(f"{name}:3: Harwell-Boeing, which is not read; convert it with scipy.io.hb_read and mmwrite")


def _skipped(head: bytes) -> int:
    """The position after blanks and the comments of programming languages."""
    return len(head) - len(re.sub(rb"\A(\s+|//[^\n]*\n|/\*.*?\*/)*", b"", head, count=1, flags=re.DOTALL))


def _banner(head: bytes, begin: int) -> str:
    """The fault in a Matrix Market banner that the reader does not recognize."""
    if begin:
        return "text before the Matrix Market banner; %%MatrixMarket must be the first bytes of the file"
    return "a Matrix Market banner must start with %%MatrixMarket, with two '%' and as one word; correct it"


def reject_mtx(head: bytes, name: str) -> None:
    """Raises InputError for a .mtx without its banner."""
    at = head[:4096].lower().find(b"%matrixmarket")
    if at >= 0:
        raise InputError(f"{name}:{_line(head, at)}: {_banner(head, at)}")
    raise InputError(
        f"{name}:1: a .mtx must start with %%MatrixMarket; if the rest is a matrix, add the banner, such as: "
        "%%MatrixMarket matrix coordinate real general"
    )


def reject_ending(suffix: str, name: str) -> None:
    """Raises InputError if files with this extension have a known format that is not read."""
    if suffix in _ENDINGS:
        what, advice = _ENDINGS[suffix]
        raise InputError(f"{name}: {what} by its extension, which is not read; {advice}, or give its --format")


def is_networkx_adjlist(head: bytes) -> bool:
    """Whether NetworkX's write_adjlist wrote the file; write_multiline_adjlist writes the same comments."""
    return _NETWORKX.match(head) is not None and not any(count == 1 for count, _ in _edge_data(head))


def _edge_data(head: bytes) -> Iterator[tuple[int, int]]:
    """Lines that end with NetworkX's attributes in braces: the number of words before them, and the line."""
    if b"{" not in head:
        return
    for number, line in enumerate(head.split(b"\n"), 1):
        before, brace, after = line.partition(b"{")
        apart = before.endswith((b" ", b"\t", b","))
        if brace and apart and after.rstrip().endswith(b"}") and not before.lstrip().startswith((b"#", b"%")):
            yield len(before.replace(b",", b" ").split()), number


def reject_list(head: bytes, name: str) -> None:
    """Raises InputError for text that is similar to an edge list but has another known format."""
    found = _DIMACS.match(head)
    if found:
        kind = found[1].decode().lower()
        line = _line(head, found.start(1))
        raise InputError(f"{name}:{line}: a DIMACS problem 'p {kind}'; of these, only shortest paths (p sp) are read")
    found = _TAGGED.match(head)
    if found:
        raise InputError(
            f"{name}:{_line(head, found.start(1))}: each line begins with {found[1].decode()!r} before the vertices, "
            "as in DIMACS or gSpan; choose columns: --columns 2,3"
        )
    for count, line in _edge_data(head):
        if count == 1:
            raise InputError(
                f"{name}:{line}: NetworkX's multi-line adjacency list, which is not read; write the graph with "
                "networkx.write_edgelist(data=False)"
            )
        if count == 2:
            raise InputError(
                f"{name}:{line}: NetworkX's edge data in braces; write the graph with "
                "networkx.write_weighted_edgelist, or with write_edgelist(data=False)"
            )
    comments = _COMMENTS.match(head)
    found = _KEY.match(head, comments.end() if comments else 0)
    if found:
        raise InputError(
            f"{name}:{_line(head, found.start())}: keys and values, such as YAML, instead of edges; write an edge list"
        )
    if b"#" not in head:
        return
    lines = [line.split() for line in head.split(b"\n")[:-1]]
    _reject_lgl(lines, name)
    _reject_tgf(lines, name)


def _reject_lgl(lines: list[list[bytes]], name: str) -> None:
    """LGL: a comment "# vertex" precedes the neighbours of each vertex, one or two columns."""
    heads: set[bytes] = set()
    neighbours: set[bytes] = set()
    first = 0
    for number, words in enumerate(lines, 1):
        if not words:
            continue
        if words[0] == b"#" and len(words) == 2:
            first = first or number
            heads.add(words[1])
        elif words[0].startswith((b"#", b"%")) or len(words) > 2 or not heads:
            return
        else:
            neighbours.add(words[0])
    if len(heads) > 1 and heads & neighbours:
        raise InputError(f"{name}:{first}: LGL, which is not read; write an edge list, for instance with igraph")


def _reject_tgf(lines: list[list[bytes]], name: str) -> None:
    """The Trivial Graph Format: vertices with labels, a line "#", edges."""
    if lines.count([b"#"]) != 1:
        return
    at = lines.index([b"#"])
    before = [words[0] for words in lines[:at] if words]
    after = [words[:2] for words in lines[at + 1 :] if words]
    if not before or len(set(before)) < len(before) or any(word.startswith((b"#", b"%")) for word in before):
        return
    if all(len(ends) == 2 and set(ends) <= set(before) for ends in after):
        raise InputError(f"{name}:{at + 1}: the Trivial Graph Format, which is not read; {_CONVERT}")


__all__ = [
    "is_gml",
    "is_graphml",
    "is_json",
    "is_networkx_adjlist",
    "is_npz",
    "is_own_list",
    "is_pajek",
    "reject_content",
    "reject_ending",
    "reject_list",
    "reject_mtx",
]
