# SPDX-License-Identifier: Apache-2.0
"""Imports are acyclic, so that a module can be understood, moved and tested without the others of a cycle."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import networkx

PYTHON = Path(__file__).resolve().parents[2] / "python"


def modules(root: Path) -> dict[str, Path]:
    """Files by the names of their modules."""
    found = {}
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(node: ast.AST, known: dict[str, Path], inside: bool) -> Iterator[str]:
    """Modules that a part of a file imports; `inside`: in functions, too. Imports only for types do not count."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if not inside and isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom) and child.module:
            for alias in child.names:
                whole = f"{child.module}.{alias.name}"
                yield whole if whole in known else child.module
        yield from imported(child, known, inside)


def circles(root: Path, inside: bool) -> set[frozenset[str]]:
    """Sets of modules that import each other, directly or through others."""
    known = modules(root)
    graph = networkx.DiGraph()
    for name, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        graph.add_edges_from(
            (name, other) for other in imported(tree, known, inside) if other in known and other != name
        )
    return {frozenset(circle) for circle in networkx.strongly_connected_components(graph) if len(circle) > 1}


def test_imports_of_modules_and_functions_are_acyclic() -> None:
    assert not circles(PYTHON, inside=True)


def test_import_cycle_is_detected(tmp_path: Path) -> None:
    folder = tmp_path / "part"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "a.py").write_text("from part import b\n")
    (folder / "b.py").write_text("import typing\nif typing.TYPE_CHECKING:\n    import part.a\n")
    assert not circles(tmp_path, inside=True)
    (folder / "c.py").write_text("def f():\n    from part.a import f\n")
    (folder / "b.py").write_text("try:\n    import part.c\nexcept ImportError:\n    pass\n")
    assert not circles(tmp_path, inside=False)
    assert circles(tmp_path, inside=True) == {frozenset({"part.a", "part.b", "part.c"})}
