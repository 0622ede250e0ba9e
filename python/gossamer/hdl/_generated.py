# SPDX-License-Identifier: Apache-2.0
"""Passes over Verilator's C++ that make it faster without a change of its results.

``selections``: the branches of a model depend on simulated activity, so they are often mispredicted; a short ``if``
without ``else`` becomes a selection, ``x = c ? new : x``.

``together``: an evaluation of many instances of one model, part by part. A model is straight-line code that exceeds a
first-level instruction cache; each part fits, and evaluates all instances before the next part is fetched.

The passes match the code of the pinned version of Verilator. They leave unknown code unchanged, and ``together``
raises InputError for it.
"""

from __future__ import annotations

import re
from pathlib import Path

from gossamer.errors import InputError

_STATEMENTS = 2
"""Maximum number of assignments of a branch that becomes selections; a longer one is faster as a branch."""
_LENGTH = 120
"""Maximum length of an assigned expression in characters, with shortened names."""
_IF = re.compile(r"\n( +)if \(")
_ASSIGNED = re.compile(r"\s*vlSelfRef\.(\w+)(\[\d+U?\])?\s*=\s*(?!=)")
_CALL = re.compile(r"\b(?:VL_(?!EXTEND|REDXOR|SHIFT|CONCAT|ONEHOT|COUNTONES)\w+|V(?!L_)\w+)\s*\(")
_INTEGER = re.compile(r"^\s*(?:[CSIQ]Data/\*\d+:\d+\*/ (\w+);|VL_(?:IN|OUT)(?:8|16|64)?\((\w+),)", re.MULTILINE)
_WORDS = re.compile(
    r"^\s*(?:VlWide<\d+>/\*\d+:\d+\*/ (\w+);|VL_(?:IN|OUT)W\((\w+),"
    r"|VlUnpacked<[CSIQ]Data/\*\d+:\d+\*/, \d+> (\w+);)",
    re.MULTILINE,
)
_LOCAL = re.compile(r"    (?:[CSIQ]Data/\*\d+:\d+\*/|VlWide<\d+>/\*\d+:\d+\*/) \w+;")
_CLOSING = {"(": ")", "{": "}"}


def fast(model: Path) -> list[Path]:
    """The files of a model with code that runs in every cycle, in order."""
    return sorted(path for path in model.glob("V*.cpp") if "Slow" not in path.name and "_vm_classes_" not in path.name)


def slow(model: Path) -> list[Path]:
    """The files of a model with code that runs once."""
    return sorted(path for path in model.glob("V*.cpp") if "Slow" in path.name and "_vm_classes_" not in path.name)


def integers(header: str) -> frozenset[str]:
    """The integer members in a model's header, and as ``name[]`` the members with integer elements."""
    single = {"".join(names) for names in _INTEGER.findall(header)}
    return frozenset(single | {"".join(names) + "[]" for names in _WORDS.findall(header)})


def select(model: Path) -> int:
    """Turns short branches of a model's files into selections; returns their number."""
    names: frozenset[str] = frozenset()
    for header in model.glob("V*.h"):
        names |= integers(header.read_text())
    count = 0
    for path in fast(model):
        if "___" not in path.stem:
            continue
        text, changed = selections(path.read_text(), names)
        path.write_text(text)
        count += changed
    return count


def selections(text: str, names: frozenset[str]) -> tuple[str, int]:
    """The text with short branches as selections, and their number; ``names`` are its ``integers``."""
    out: list[str] = []
    at = count = 0
    while (found := _IF.search(text, at)) is not None:
        condition = found.end() - 1
        body = _end(text, condition) + 2
        if not text.startswith(" {", body - 1):
            out.append(text[at : found.end()])
            at = found.end()
            continue
        end = _end(text, body)
        assigned = _assignments(text[body + 1 : end], names)
        if not assigned or text.startswith(" else", end + 1) or "LIKELY" in text[condition:body]:
            out.append(text[at : found.end()])
            at = found.end()
            continue
        indent = found.group(1)
        out += [
            text[at : found.start()],
            f"\n{indent}{{",
            f"\n{indent}    const bool gs_if = {text[condition : body - 1]};",
        ]
        for to, value in assigned:
            # Computed unconditionally, so that the compiler does not make a branch of it again.
            out.append(f"\n{indent}    {{ const auto gs_new = {value}; {to} = gs_if ? gs_new : {to}; }}")
        out.append(f"\n{indent}}}")
        at = end + 1
        count += 1
    out.append(text[at:])
    return "".join(out), count


def together(model: Path, top: str) -> str:
    """C++ of ``void gs_eval_together(V<top>* const* models, unsigned count, bool inputs)``, to append to ``fast``.

    It is equivalent to ``eval`` of each model. The models must have been evaluated once, and may only be connected
    through their ports. Without ``inputs`` only the clock may have changed since the last call; the function then omits
    the evaluation of logic that depends on inputs only.
    """
    root = f"V{top}___024root"
    _check_inputs(model, top, root)
    head = f"void {root}___eval_nba({root}* vlSelf) {{\n"
    for path in fast(model):
        text = path.read_text()
        begin = text.find(head)
        if begin >= 0:
            break
    else:
        raise InputError(f"{top}: Verilator's C++ has no {root}___eval_nba")
    lines = text[begin + len(head) : text.index("\n}\n", begin)].splitlines()
    place = lines.index("    // Body")
    parts: list[str] = []
    part: list[str] = []
    for line in lines[place + 1 :]:
        part.append(line)
        if len(part) == 1 and line != "    {" and not line.startswith("    if (("):
            raise InputError(f"{top}: Verilator's C++ has an unknown form: {line.strip()}")
        if line == "    }":
            parts += _calls(part, root) or ["\n".join(part)]
            part = []
    local = [line for line in lines[:place] if _LOCAL.fullmatch(line)]
    loops = "".join(
        f"        for (unsigned i = 0; i < count; ++i) {{\n    {root}* const vlSelf = models[i]->rootp;\n"
        f"    auto& vlSelfRef = *vlSelf;\n    V{top}__Syms* const vlSymsp VL_ATTR_UNUSED = vlSelf->vlSymsp;\n{text}\n"
        "        }\n"
        for text in parts
    )
    return _TOGETHER.format(top=f"V{top}", root=root, local="\n".join(local), loops=loops)


_TOGETHER = """
void gs_eval_together({top}* const* models, unsigned count, bool inputs) {{
    for (unsigned i = 0; inputs && i < count; ++i) {{
        {root}* const root = models[i]->rootp;
        root->__VicoFirstIteration = 1U;
        while ({root}___eval_phase__ico(root)) root->__VicoFirstIteration = 0U;
    }}
    for (bool more = true; more;) {{
        more = false;
        for (unsigned i = 0; i < count; ++i) {{
            {root}* const root = models[i]->rootp;
            while ({root}___eval_phase__act(root)) {{}}
            more |= {root}___trigger_anySet__act(root->__VnbaTriggered);
        }}
        if (!more) break;
{local}
{loops}
        for (unsigned i = 0; i < count; ++i) {root}___trigger_clear__act(models[i]->rootp->__VnbaTriggered);
    }}
}}
"""


def _check_inputs(model: Path, top: str, root: str) -> None:
    """InputError if logic that is evaluated for inputs depends on the clock."""
    function = re.compile(rf"^void {root}___ico_\w+\({root}\* vlSelf\) \{{\n(.*?)^\}}", re.DOTALL | re.MULTILINE)
    for path in fast(model):
        for body in function.findall(path.read_text()):
            if re.search(r"\bvlSelfRef\.clk_i\b", body):
                raise InputError(f"{top}: logic that depends on inputs also depends on the clock")


def _calls(part: list[str], root: str) -> list[str]:
    """A part that consists of calls only, split into one part for each; an empty list for any other part."""
    body = part[1:-1]
    if not all(re.fullmatch(rf"        {root}___nba_\w+\(vlSelf\);", line) for line in body):
        return []
    return ["\n".join([part[0], call, part[-1]]) for call in body]


def _end(text: str, at: int) -> int:
    """The position of the bracket that closes the one at ``at``. Brackets in the model's strings are balanced."""
    opening = text[at]
    closing = _CLOSING[opening]
    depth = 0
    for found in re.compile(rf"[{re.escape(opening + closing)}]").finditer(text, at):
        depth += 1 if found.group() == opening else -1
        if not depth:
            return found.start()
    raise InputError("Verilator's C++ has a bracket that is never closed")


def _assignments(body: str, names: frozenset[str]) -> list[tuple[str, str]]:
    """The targets and values of a branch's assignments; empty if the branch has other statements, or too many."""
    found: list[tuple[str, str]] = []
    for statement in body.split(";"):
        if not statement.strip():
            continue
        to = _ASSIGNED.match(statement)
        if to is None:
            return []
        value = statement[to.end() :].strip()
        if to.group(1) + ("[]" if to.group(2) else "") not in names:
            return []
        # A call may have side effects, a division may fail.
        if any(mark in value for mark in ("{", '"', "/ ", "%")) or _CALL.search(value):
            return []
        if len(re.sub(r"\s|__DOT__\w+", "", value)) > _LENGTH:
            return []
        found.append((to.group(0).split("=")[0].strip(), value))
    return found if len(found) <= _STATEMENTS else []


__all__ = ["fast", "integers", "select", "selections", "slow", "together"]
