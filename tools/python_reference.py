# SPDX-License-Identifier: Apache-2.0
"""Writes docs/python-reference.md, the reference of the Python interface, from signatures and docstrings.

.gossamer/env/bin/python -I tools/python_reference.py [PAGE]
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gossamer as gs
from gossamer import files
from gossamer.graph import CSR
from gossamer.networkx_backend import Call, recorded

PAGE = Path(__file__).resolve().parents[1] / "docs" / "python-reference.md"

_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# Python reference

For users. Generated from the docstrings by `tools/python_reference.py`; [programming](programming.md#from-python) has
examples, and [NetworkX](networkx.md) describes the backend. `import gossamer as gs` gives the first part.
"""

_OTHER = {"gossamer.graph": [CSR], "gossamer.networkx_backend": [recorded, Call]}
"""Classes and functions outside of ``gossamer`` that results and graphs lead to."""


def page() -> str:
    """The page."""
    parts = [_HEAD, "## gossamer\n"]
    public = [(name, getattr(gs, name)) for name in gs.__all__ if not name.startswith("__")]
    functions = [(name, one) for name, one in public if not inspect.isclass(one)]
    classes = [(name, one) for name, one in public if inspect.isclass(one)]
    errors = [pair for pair in classes if issubclass(pair[1], (Exception, Warning))]
    for name, one in functions:
        parts += _function(f"gs.{name}", one, "###")
    for name, one in classes:
        if (name, one) not in errors:
            parts += _class(f"gs.{name}", one)
    parts += ["### Errors and warnings\n", "| class | meaning |\n|---|---|"]
    parts += [f"| `gs.{name}` | {_text(one).splitlines()[0]} |" for name, one in errors]
    for module, things in _OTHER.items():
        parts += [f"\n## {module}\n"]
        for one in things:
            parts += _class(one.__name__, one) if inspect.isclass(one) else _function(one.__name__, one, "###")
    return "\n".join(parts).rstrip() + "\n"


def _text(thing: Any) -> str:
    """A docstring for Markdown."""
    return re.sub(r"``([^`]+)``", r"`\1`", inspect.getdoc(thing) or "").strip()


def _body(thing: Any) -> str:
    """A docstring; example code in it becomes a block."""
    lines: list[str] = []
    in_code = False
    for line in _text(thing).splitlines():
        code = bool(re.match(r"(with |    |import |\w+\.\w+\(.*\)  #|\w+  #)", line))
        if code != in_code and (code or line.strip()):
            lines += ["```python"] if code else ["```", ""]
            in_code = code
        lines.append(line)
    return "\n".join(lines + (["```"] if in_code else []))


def _function(name: str, function: Any, level: str) -> Iterator[str]:
    # Annotations are texts, so they are printed in quotation marks; defaults keep theirs.
    signature = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(function)))
    signature = re.sub(r"\((self|cls)(, )?", "(", signature, count=1)
    yield f"{level} {name}\n"
    yield f"```python\n{_wrapped(name + signature)}\n```\n"
    yield f"{_body(function)}\n"


def _wrapped(signature: str) -> str:
    """A signature on one line if it fits, otherwise with a line for each argument."""
    if len(signature) <= 110:
        return signature
    begin = signature.index("(") + 1
    end = signature.rindex(")")
    parts, depth, start = [], 0, begin
    for at in range(begin, end):
        depth += (signature[at] in "([{") - (signature[at] in ")]}")
        if signature[at] == "," and depth == 0:
            parts.append(signature[start:at].strip())
            start = at + 1
    parts.append(signature[start:end].strip())
    return signature[:begin] + "\n" + "".join(f"    {part},\n" for part in parts) + signature[end:]


def _class(name: str, kind: Any) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"{_body(kind)}\n"
    rows = [*_attributes(kind), *_properties(kind)]
    if rows:
        yield "| attribute | type | meaning |\n|---|---|---|"
        yield from (f"| `{attribute}` | `{of}` | {text} |" for attribute, of, text in rows)
        yield ""
    for attribute, value in vars(kind).items():
        function = value.__func__ if isinstance(value, classmethod) else value
        if inspect.isfunction(function) and not attribute.startswith("_"):
            yield from _function(f"{name.removeprefix('gs.')}.{attribute}", getattr(kind, attribute), "####")


def _properties(kind: Any) -> Iterator[tuple[str, str, str]]:
    for name, value in vars(kind).items():
        if isinstance(value, property) and not name.startswith("_"):
            returns = str(value.fget.__annotations__.get("return", "")).replace("'", "").replace("|", "\\|")
            yield name, returns, " ".join(_text(value).split())


def _attributes(kind: Any) -> Iterator[tuple[str, str, str]]:
    """Annotated attributes, with the string after each in the source as its text."""
    source = inspect.getsource(kind)
    for found in re.finditer(
        r'^    (\w+): ([^\n=]+?)(?: = [^\n]+)?\n(?:    """(.*?)"""\n)?', source, re.MULTILINE | re.DOTALL
    ):
        name, of, text = found[1], found[2].strip('"'), found[3] or ""
        if not name.startswith("_") and "    def " not in source[: found.start()]:
            yield name, of.replace("|", "\\|"), re.sub(r"``([^`]+)``", r"`\1`", " ".join(text.split()))


def main(arguments: list[str]) -> None:
    """Writes the page."""
    files.write_whole(Path(arguments[0]) if arguments else PAGE, page().encode())


if __name__ == "__main__":
    main(sys.argv[1:])
