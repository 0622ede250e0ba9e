#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundled graph: the binary packages of a Debian release and their dependencies.

    tools/debian_graph.py -o data/debian12.adj.gz
    tools/debian_graph.py Packages.xz --release InRelease -o data/debian12.adj.gz

Without a file it reads the package index that ``apt-get update`` has stored on this machine
(Debian 12, main, amd64) and the signed release file of the same archive. The same index
produces the same text, byte for byte. Only the standard library is needed.

The rules, also in data/README.md:

- A vertex is a binary package of the index. If the index lists several versions, the
  highest counts, as for apt.
- An edge A -> B means that A needs B by Depends or Pre-Depends. Versions count: a package
  satisfies ``B (>= 2)`` only if its version does.
- Of alternatives (``B | C``) the first that the release can satisfy counts.
- A package of that name has precedence over packages that provide the name. Among providers:
  first one that A depends on anyway, then by the archive's priority (required, important,
  standard, others), then the first by name. Names with fewer providers are resolved first.
- No parallel edges and no self-loops. Dependencies that no package of the index satisfies are
  omitted and counted in the file's header.
"""

from __future__ import annotations

import argparse
import bz2
import functools
import gzip
import hashlib
import lzma
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path

APT_HELPER = "/usr/lib/apt/apt-helper"
PRIORITIES = {"required": 0, "important": 1, "standard": 2}
WANTED = frozenset({"Package", "Version", "Depends", "Pre-Depends", "Provides", "Priority"})
DEPENDENCY = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9+.\-]*)(?::[a-z0-9-]+)?"
    r"(?:\s*\(\s*(?P<relation><<|<=|=|>=|>>|<|>)\s*(?P<version>[^\s)]+)\s*\))?"
)


class BadIndex(Exception):
    """The input is invalid; the message is one line for the user."""


# ---------------------------------------------------------------------------------------
# Versions, as Debian Policy 5.6.12 orders them


def _weight(character: str) -> int:
    """Sort weight of a character: a tilde before the end of the part, letters before other characters."""
    if character == "~":
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _part_key(part: str) -> tuple[tuple[int, ...], ...]:
    """Sort key of an upstream version or a revision: alternating runs of non-digits and digits.

    A run of non-digits ends with 0, the weight of the end, so that ``~`` sorts before it.
    """
    key: list[tuple[int, ...]] = []
    for letters, digits in re.findall(r"(\D*)(\d*)", part or "0"):  # no revision counts as revision 0
        key.append((*(_weight(c) for c in letters), 0))
        key.append((int(digits or "0"),))
    return tuple(key)


@functools.cache
def version_key(version: str) -> tuple[int, tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]:
    """Sorts as ``dpkg --compare-versions`` does: epoch, upstream version, revision."""
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    if not epoch.isdecimal():
        raise BadIndex(f"version {version!r} has an epoch that is not a number")
    upstream, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "")
    return int(epoch), _part_key(upstream), _part_key(revision)


def satisfies(version: str, relation: str, bound: str) -> bool:
    """Whether ``version`` satisfies, for example, ``>= bound``. A single < or > is the old spelling of <= or >=."""
    have, want = version_key(version), version_key(bound)
    if relation == "<<":
        return have < want
    if relation in ("<=", "<"):
        return have <= want
    if relation == "=":
        return have == want
    if relation in (">=", ">"):
        return have >= want
    return have > want


# ---------------------------------------------------------------------------------------
# The package index


@dataclass(frozen=True, slots=True)
class Relation:
    """One alternative: a name and an optional version constraint."""

    name: str
    relation: str = ""
    version: str = ""


@dataclass(slots=True)
class Package:
    """The fields of one stanza that the graph needs."""

    name: str
    version: str
    priority: int
    depends: list[list[Relation]] = field(default_factory=list)  # all of: one of
    provides: list[Relation] = field(default_factory=list)


def stanzas(lines: Sequence[str], where: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The stanzas of a package index, each with its first line; only WANTED fields."""
    fields: dict[str, str] = {}
    start, current = 1, ""
    for number, line in enumerate(lines, 1):
        if number % 65536 == 0 and sys.stderr.isatty():
            print(f"\rreading the index: {100 * number // len(lines)} %", end="", file=sys.stderr)
        if not line.strip():
            if fields:
                yield start, fields
            fields, current = {}, ""
            continue
        if line[0] in " \t":
            if current in WANTED:
                fields[current] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        if not colon:
            raise BadIndex(f"{where}:{number}: not a 'Field: value' line; is this a Packages file?")
        if not fields:
            start = number
        current = name
        if name in WANTED:
            fields[name] = value.strip()
    if fields:
        yield start, fields
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)


def relations(text: str, where: str) -> list[list[Relation]]:
    """Parses ``a (>= 1) | b, c`` into [[a, b], [c]]."""
    groups: list[list[Relation]] = []
    for group in text.split(","):
        if not group.strip():
            continue
        alternatives = []
        for alternative in group.split("|"):
            match = DEPENDENCY.fullmatch(alternative.strip())
            if not match:
                raise BadIndex(f"{where}: cannot read the dependency {alternative.strip()!r}")
            alternatives.append(Relation(match["name"], match["relation"] or "", match["version"] or ""))
        groups.append(alternatives)
    return groups


def read_index(lines: Sequence[str], where: str) -> dict[str, Package]:
    """The packages of an index by name, the highest version of each."""
    packages: dict[str, Package] = {}
    for line, fields in stanzas(lines, where):
        location = f"{where}:{line}"
        if "Package" not in fields or "Version" not in fields:
            raise BadIndex(f"{location}: the stanza lacks Package or Version; is this a Packages file?")
        name, version = fields["Package"], fields["Version"]
        known = packages.get(name)
        if known and version_key(known.version) >= version_key(version):
            continue
        package = Package(name, version, PRIORITIES.get(fields.get("Priority", ""), 3))
        for key in ("Pre-Depends", "Depends"):
            package.depends += relations(fields.get(key, ""), f"{location}: {name}")
        package.provides = [group[0] for group in relations(fields.get("Provides", ""), f"{location}: {name}")]
        packages[name] = package
    if not packages:
        raise BadIndex(f"{where}: contains no package; is this a Packages file?")
    return packages


# ---------------------------------------------------------------------------------------
# The graph


@dataclass(slots=True)
class Edges:
    """Targets by source, both in the order of names, and counts of special cases."""

    targets: dict[str, list[str]]
    unmet: int = 0  # groups of alternatives that no package of the index satisfies
    virtual: int = 0  # groups satisfied through a name that another package provides


def make_edges(packages: Mapping[str, Package]) -> Edges:
    """Resolves every dependency by the rules at the top of this file."""
    providers: dict[str, list[tuple[Package, str]]] = {}
    for package in packages.values():
        for offer in package.provides:
            providers.setdefault(offer.name, []).append((package, offer.version))

    def named(wanted: Relation) -> Package | None:
        """The package of that name, if its version satisfies the relation."""
        package = packages.get(wanted.name)
        if package and (not wanted.relation or satisfies(package.version, wanted.relation, wanted.version)):
            return package
        return None

    def providing(wanted: Relation) -> list[Package]:
        """Every package that provides the name; a name provided without a version satisfies no version constraint."""
        return [
            package
            for package, version in providers.get(wanted.name, ())
            if not wanted.relation or (version and satisfies(version, wanted.relation, wanted.version))
        ]

    edges = Edges({})
    for name in sorted(packages):
        targets: set[str] = set()
        choices: list[list[Package]] = []
        for group in packages[name].depends:
            for alternative in group:
                if target := named(alternative):
                    targets.add(target.name)
                    break
                if choice := providing(alternative):
                    edges.virtual += 1
                    choices.append(choice)
                    break
            else:
                edges.unmet += 1
        # Provided names are resolved last, after the dependencies by name are known.
        choices.sort(key=len)
        for choice in choices:
            names = {package.name for package in choice}
            if name not in names and not names & targets:
                targets.add(min(choice, key=lambda package: (package.priority, package.name)).name)
        targets.discard(name)
        edges.targets[name] = sorted(targets)
    return edges


# ---------------------------------------------------------------------------------------
# Files


def apt_index() -> tuple[Path, Path | None]:
    """apt's index of bookworm main for amd64, and the release file of the same archive."""
    try:
        listed = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(CODENAME) $(COMPONENT) $(ARCHITECTURE) $(FILENAME)",
             "Created-By: Packages"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
    except (OSError, subprocess.CalledProcessError) as error:
        raise BadIndex(f"apt-get indextargets failed ({error}); name a Packages file instead") from error
    for line in listed.splitlines():
        codename, component, architecture, name = line.split(maxsplit=3)
        path = Path(name)
        if (codename, component, architecture) != ("bookworm", "main", "amd64") or not path.is_file():
            continue
        release = path.with_name(path.name.split(f"_{component}_binary-")[0] + "_InRelease")
        return path, release if release.is_file() else None
    raise BadIndex("apt has no index of bookworm main amd64; run apt-get update, or name a Packages file")


def read_bytes(path: Path) -> bytes:
    """The decompressed file, according to its first bytes: gzip, xz, bzip2, apt's formats (lz4, zstd), or plain."""
    data = path.read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"\xfd7zXZ"):
            return lzma.decompress(data)
        if data.startswith(b"BZh"):
            return bz2.decompress(data)
        if data.startswith((b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd")):
            done = subprocess.run([APT_HELPER, "cat-file", str(path)], capture_output=True, check=True)
            return done.stdout
    except (OSError, EOFError, ValueError, lzma.LZMAError, subprocess.CalledProcessError) as error:
        raise BadIndex(f"{path}: cannot be decompressed ({error}); fetch it again") from error
    return data


def release_facts(release: Path | None, digest: str) -> tuple[str, str]:
    """The release's name and date, if its list of checksums contains that of the index."""
    if release is None:
        return "release unknown", "date unknown"
    text = release.read_text(encoding="utf-8")
    if f" {digest} " not in text:
        raise BadIndex(f"{release}: does not list the SHA-256 of the index {digest}; use both files of the same day")
    fields = dict(re.findall(r"^(Origin|Version|Codename|Date): (.+)$", text, re.MULTILINE))
    try:
        date = parsedate_to_datetime(fields["Date"]).date().isoformat()
        return f"{fields['Origin']} {fields['Version']} ({fields['Codename']})", date
    except (KeyError, ValueError) as error:
        raise BadIndex(f"{release}: no Origin, Version, Codename, Date; is it an InRelease file?") from error


def adjacency_text(edges: Edges, release: str, date: str, digest: str) -> str:
    """The graph as text; the header describes it without any other file."""
    rows = edges.targets
    header = f"""\
# gossamer adjacency list
# Each line: a vertex, then the vertices that its edges lead to. Every vertex has a line of its own.
# An edge A B: the binary package A depends on the binary package B (Depends, Pre-Depends).
# source: {release}, main, amd64, package index
# date: {date}
# index-sha256: {digest}
# vertices: {len(rows)}
# edges: {sum(map(len, rows.values()))}
# dependencies met by a provided name: {edges.virtual}
# dependencies that nothing in the index meets, left out: {edges.unmet}
# made by: tools/debian_graph.py (rules: data/README.md)
# licence: names of packages and which needs which are facts of the package index; no text of it is copied
"""
    return header + "".join(" ".join((name, *targets)) + "\n" for name, targets in rows.items())


def compress(text: bytes, name: str) -> bytes:
    """Compresses according to the output's extension, independently of date and machine."""
    if name.endswith(".xz"):
        return lzma.compress(text, check=lzma.CHECK_CRC32, preset=9 | lzma.PRESET_EXTREME)
    if name.endswith(".gz"):
        return gzip.compress(text, compresslevel=9, mtime=0)
    return text


def write_whole(path: Path, data: bytes) -> None:
    """Writes the file atomically."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit code (0 done, 2 invalid input)."""
    parser = argparse.ArgumentParser(description="Make the graph of a Debian release's package dependencies.")
    packages_help = "a Packages file: plain, gz, xz, bz2, lz4 or zst (default: apt's)"
    parser.add_argument("packages", nargs="?", type=Path, metavar="PACKAGES", help=packages_help)
    release_help = "the InRelease file that lists its hash, for name and date of the release"
    parser.add_argument("--release", type=Path, metavar="FILE", help=release_help)
    output_help = "output: NAME.adj, NAME.adj.gz or NAME.adj.xz"
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=output_help)
    options = parser.parse_args(arguments)
    try:
        index, release = (options.packages, None) if options.packages else apt_index()
        raw = read_bytes(index)
        digest = hashlib.sha256(raw).hexdigest()
        facts = release_facts(options.release or release, digest)
        try:
            packages = read_index(raw.decode().split("\n"), str(index))
        except UnicodeDecodeError as error:
            raise BadIndex(f"{index}: not UTF-8 text; is this a Packages file?") from error
        edges = make_edges(packages)
        text = adjacency_text(edges, *facts, digest)
        packed = compress(text.encode(), options.output.name)
        write_whole(options.output, packed)
    except (BadIndex, OSError) as error:
        print(f"debian_graph: {error}", file=sys.stderr)
        return 2
    count = sum(map(len, edges.targets.values()))
    print(f"{options.output}: {len(edges.targets)} packages, {count} dependencies, {len(packed)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
