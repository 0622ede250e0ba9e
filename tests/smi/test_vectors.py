# SPDX-License-Identifier: Apache-2.0
"""OpenCL's vectors and built-in functions in device files, compared with NumPy and Python's arithmetic.

All cases are statements of one kernel, so they cost one compilation. Each assigns to `r`, whose elements the kernel
stores.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gossamer import smi
from gossamer.errors import InputError

F, I32 = np.float32, np.int32
V = np.array([1.5, -2.25, 3.0, 0.5], F)
W = np.array([0.5, 4.0, -3.0, 0.5], F)
G = np.array([2.0, -1.0, 7.0], F)
H = np.arange(8).astype(F) * F(1.25)
J = np.array([7, -3, 2**31 - 1, 0], I32)
L = np.array([2, 5, 4, -9], I32)
B = np.array([250, 3, 128, 7], np.uint8)
S = np.array([-32768, 300, -5, 32767], np.int16)
K = F(2.5)
DECLARATIONS = """
  const float4 v = (float4)(1.5f, -2.25f, 3.0f, 0.5f), w = (float4)(0.5f, 4.0f, -3.0f, 0.5f);
  const float3 g = (float3)(2.0f, -1.0f, 7.0f);
  float8 h; for (int i = 0; i < 8; i++) h[i] = i * 1.25f;
  const int4 j = (int4)(7, -3, 2147483647, 0), l = (int4)(2, 5, 4, -9);
  const uchar4 b = (uchar4)(250, 3, 128, 7);
  const short4 s = (short4)(-32768, 300, -5, 32767);
  const float k = data[0]; const int n = 3;
"""
MACROS = """
#define VEC(a) (float4)((a), 2.0f, 3.0f, 4.0f)
#define SPLAT(a) ((float4)(a))
#define SECOND(a) ((a).y)
#define PUT(a, value) (a).xz = (value)
#define ELEMENT float
#define VTYPE float4
"""


def mask(truth: Any) -> Any:
    return -np.asarray(truth).astype(int)


def wrapped(values: Any, kind: Any) -> Any:
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(kind)


# Type of r, statement, expected elements.
CASES: list[tuple[str, str, Any]] = [
    # Scalars become vectors.
    ("float4", "r = 0;", np.zeros(4)),
    ("float4", "r = k;", np.full(4, K)),
    ("float4", "r = v * k;", V * K),
    ("float4", "r = k - v;", K - V),
    ("float4", "r = v * 2 + 1;", V * 2 + 1),
    ("float4", "r = v / n;", V / F(3)),
    ("float4", "r = v; r *= k; r += 1; r -= w;", V * K + 1 - W),
    ("float3", "r = g * 2.0f;", G * 2),
    ("int4", "r = j / 2 % 5;", [3, -1, 1073741823 % 5, 0]),
    ("int4", "r = j + 1;", wrapped(J.astype(np.int64) + 1, I32)),
    ("int4", "r = j << 1 | l & 7 ^ ~l;", [(int(a) << 1 | (int(c) & 7) ^ ~int(c)) for a, c in
                                          zip(wrapped(J.astype(np.int64) * 2, I32) // 2, L, strict=True)]),
    ("uchar4", "r = b + (uchar)10;", wrapped(B.astype(int) + 10, np.uint8)),
    ("short4", "r = -s;", wrapped(-S.astype(int), np.int16)),
    ("uint4", "r = (uint4)(1) - 2u;", [2**32 - 1] * 4),
    ("long2", "r = (long2)(1, -1) << 40;", [1 << 40, -(1 << 40)]),
    ("double2", "r = (double2)(0.1, 0.2) * 3;", np.array([0.1, 0.2]) * 3),
    # Comparisons and logic give -1 and 0.
    ("int4", "r = v > w;", mask(V > W)),
    ("int4", "r = v <= 0.5f;", mask(V <= 0.5)),
    ("int4", "r = v == w;", mask(V == W)),
    ("int4", "r = v != 3;", mask(V != 3)),
    ("char4", "r = b >= (uchar)128;", mask(B >= 128)),
    ("short4", "r = s < (short)0;", mask(S < 0)),
    ("int4", "r = !j;", mask(J == 0)),
    ("int4", "r = j && l;", mask((J != 0) & (L != 0))),
    ("int4", "r = (v > 0) || (w > 0);", mask((V > 0) | (W > 0))),
    # Selection.
    ("float4", "r = v > w ? v : w;", np.where(V > W, V, W)),
    ("float4", "r = v > 1 ? v : 0;", np.where(V > 1, V, 0)),
    ("float4", "r = v > 1 ? 1.0f : w;", np.where(V > 1, 1, W)),
    ("float4", "r = n > 2 ? v : w;", V),
    ("float4", "r = n > 3 ? v : (float4)(0);", np.zeros(4)),
    ("int4", "r = l > 3 ? j : -j;", np.where(L > 3, J, -J)),
    ("float4", "r = select(v, w, l);", np.where(L < 0, W, V)),
    ("float4", "r = select(v, w, v > w);", np.where(V > W, W, V)),
    ("float4", "r = bitselect(v, w, (float4)(0));", V),
    # Built-in functions, also with scalars.
    ("float4", "r = max(v, 2.f);", np.maximum(V, 2)),
    ("float4", "r = min(v, w);", np.minimum(V, W)),
    ("float4", "r = fmax(v, k);", np.maximum(V, K)),
    ("float4", "r = fmin(v, NAN);", V),
    ("float4", "r = clamp(v, 0.f, 1.f);", np.clip(V, 0, 1)),
    ("float4", "r = clamp(v, w, w + 1);", np.minimum(np.maximum(V, W), W + 1)),
    ("int4", "r = max(j, 1);", np.maximum(J, 1)),
    ("int4", "r = clamp(j, -1, 5);", np.clip(J, -1, 5)),
    ("uchar4", "r = min(b, (uchar)100);", np.minimum(B, 100)),
    ("float4", "r = mix(v, w, 0.25f);", V + (W - V) * F(0.25)),
    ("float4", "r = mix(v, w, w);", V + (W - V) * W),
    ("float4", "r = fma(v, w, v);", (V.astype(float) * W + V).astype(F)),
    ("float4", "r = fma(v, (float4)(k), w);", (V.astype(float) * K + W).astype(F)),
    ("float4", "r = mad(v, w, w);", V * W + W),
    ("float4", "r = fabs(v);", np.abs(V)),
    ("float4", "r = sqrt(fabs(v));", np.sqrt(np.abs(V))),
    ("float4", "r = floor(v) + ceil(w) + trunc(v) + rint(w) + round(v);",
     np.floor(V) + np.ceil(W) + np.trunc(V) + np.rint(W) + np.array([2, -2, 3, 1], F)),
    ("float4", "r = step(0.f, v) + step(v, w);", (V >= 0).astype(F) + (W >= V)),
    ("float4", "r = sign(v);", np.sign(V)),
    ("float4", "r = smoothstep(0.f, 2.f, v);", [t * t * (3 - 2 * t) for t in np.clip(V / F(2), 0, 1)]),
    ("float4", "r = degrees(v) - radians(w);", np.degrees(V) - np.radians(W)),
    ("float4", "r = pow(fabs(v), 2.f) + pown(v, 2);", 2 * V * V),
    ("float4", "r = copysign(v, w);", np.copysign(V, W)),
    ("float4", "r = fmod(v, w) + remainder(v, w);", [math.fmod(a, c) + math.remainder(a, c) for a, c in
                                                     zip(V.tolist(), W.tolist(), strict=True)]),
    ("float4", "r = ldexp(v, 3) + ldexp(w, l);", V * 8 + np.ldexp(W, L)),
    ("float", "r = dot(v, w);", [((V[0] * W[0] + V[1] * W[1]) + V[2] * W[2]) + V[3] * W[3]]),
    ("float3", "r = cross(g, v.xyz);", np.cross(G, V[:3])),
    ("float", "r = length((float2)(3, 4)) + distance(g, g);", [5]),
    ("float2", "r = normalize((float2)(3, 4));", np.array([3, 4], F) / F(5)),
    ("float4", "float4 e; r = fract(v, &e) + e;", V),
    ("int4", "int4 e; float4 m = frexp(v, &e); r = e;", np.frexp(V)[1]),
    ("float4", "float4 e; r = modf(v, &e) * 100 + e;", np.modf(V)[0] * 100 + np.modf(V)[1]),
    ("int4", "r = isless(v, w);", mask(V < W)),
    ("int4", "r = isnan(v / 0 - v / 0) + isfinite(v);", [-2] * 4),
    ("int", "r = isnan(k) + 2 * isequal(k, 2.5f) + 4 * signbit(-k);", [6]),
    ("int", "r = any(v > w) + 2 * all(v > w) + 4 * all(v == v);", [5]),
    # Integers.
    ("uint4", "r = abs(j);", np.abs(J.astype(int))),
    ("int4", "r = add_sat(j, l);", np.clip(J.astype(int) + L, -(2**31), 2**31 - 1)),
    ("short4", "r = sub_sat(s, (short4)(1));", np.clip(S.astype(int) - 1, -(2**15), 2**15 - 1)),
    ("uchar4", "r = hadd(b, (uchar4)(7)) + rhadd(b, (uchar4)(0));",
     wrapped((B.astype(int) + 7 >> 1) + (B.astype(int) + 1 >> 1), np.uint8)),
    ("int4", "r = mul_hi(j, l);", [int(a) * int(c) >> 32 for a, c in zip(J, L, strict=True)]),
    ("int4", "r = mad24(l, l, j);", wrapped(L.astype(int) ** 2 + J, I32)),
    ("int4", "r = clz(l) + popcount(l);", [30 + 1, 29 + 2, 29 + 1, 0 + bin(2**32 - 9).count("1")]),
    ("uchar4", "r = rotate(b, (uchar4)(3));", [((int(a) << 3 | int(a) >> 5) & 255) for a in B]),
    ("ushort4", "r = upsample(b, b.wzyx);", [int(a) << 8 | int(c) for a, c in zip(B, B[::-1], strict=True)]),
    ("uchar4", "r = abs_diff(b, (uchar4)(100));", np.abs(B.astype(int) - 100)),
    # Conversions and bits.
    ("int4", "r = convert_int4(v);", np.trunc(V)),
    ("int4", "r = convert_int4_rte(v) + 10 * convert_int4_rtn(v) + 100 * convert_int4_rtp(v);",
     np.rint(V) + 10 * np.floor(V) + 100 * np.ceil(V)),
    ("float4", "r = convert_float4(j);", J.astype(F)),
    ("float4", "r = convert_float4_rtz(j);", [7, -3, 2147483520, 0]),
    ("uchar4", "r = convert_uchar4_sat(s);", np.clip(S, 0, 255)),
    ("uchar4", "r = convert_uchar4(s);", wrapped(S, np.uint8)),
    ("char4", "r = convert_char4_sat_rte(v * 100);", np.clip(np.rint(V * 100), -128, 127)),
    ("double4", "r = convert_double4(v);", V),
    ("float3", "r = convert_float3((int3)(1, 2, 3));", [1, 2, 3]),
    ("int4", "r = as_int4(v);", V.view(I32)),
    ("float4", "r = as_float4(as_uint4(v) & 0x7fffffff);", np.abs(V)),
    ("ushort8", "r = as_ushort8(v);", V.view(np.uint16)),
    ("uint", "r = as_uint(k);", [int(K.view(np.uint32))]),
    # Literals, also in macros.
    ("float4", "r = VEC(k);", [2.5, 2, 3, 4]),
    ("float4", "r = VEC(SECOND(v)) + SPLAT(k);", np.array([-2.25, 2, 3, 4]) + 2.5),
    ("float4", "r = (VTYPE)(k);", np.full(4, K)),
    ("float4", "r = (float4)(v.xy, g.yz);", [1.5, -2.25, -1, 7]),
    ("float8", "r = (float8)(v, k, g);", [*V, K, *G]),
    ("float4", "r = (float4)(g, 1);", [*G, 1]),
    ("float4", "r = (float4){1, 2, 3, 4};", [1, 2, 3, 4]),
    ("int4", "r = (int4)(n);", [3] * 4),
    # Elements.
    ("float4", "r = v; r.xy = w.zw;", [W[2], W[3], V[2], V[3]]),
    ("float4", "r = v; r.zx = (float2)(8, 9);", [9, V[1], 8, V[3]]),
    ("float4", "r = v; r.lo = r.hi; r.w = 1;", [V[2], V[3], V[2], 1]),
    ("float4", "r = v; r.even = 0; r.odd += 1;", [0, V[1] + 1, 0, V[3] + 1]),
    ("float4", "r = v; r.s0 = r.s3; r.S12 *= k;", [V[3], V[1] * K, V[2] * K, V[3]]),
    ("float4", "r = v; PUT(r, 7.0f);", [7, V[1], 7, V[3]]),
    ("float4", "r = v.wzyx + w.xxxx;", V[::-1] + W[0]),
    ("float8", "r = h; r.s0246 = v; r.hi.lo = 0;", [V[0], H[1], V[1], H[3], 0, 0, V[3], H[7]]),
    ("float2", "r = h.hi.odd;", H[[5, 7]]),
    ("float3", "r = g.zyx; r.xy = r.yx;", [G[1], G[2], G[0]]),
    ("float3", "r = v.xyz + g;", V[:3] + G),
    ("float", "float3 a[2]; a[0] = g; a[1] = g * 2; r = a[1].z + sizeof(a[0]);", [30]),
    ("float4", "r = v; r[n] = k;", [*V[:3], K]),
    ("float4", "r = shuffle(v, (uint4)(3, 2, 1, 0));", V[::-1]),
    ("float4", "r = shuffle2(v, w, (uint4)(0, 4, 1, 5));", [V[0], W[0], V[1], W[1]]),
    ("float4", "float a[8]; vstore4(v, 0, a); vstore3(g, 1, a + 1); a[7] = 0; r = vload4(1, a);", [*G, 0]),
]  # fmt: skip


def program(cases: list[tuple[str, str, Any]]) -> str:
    text = f"#include <smi.h>\n{MACROS}\n__kernel void cases(__global const float* restrict data, "
    text += f"__global double* restrict out) {{\n{DECLARATIONS}"
    for at, (kind, statement, _) in enumerate(cases):
        width = kind.lstrip("abcdefghijklmnopqrstuvwxyz")
        store = f"for (int i = 0; i < {width}; i++) out[{16 * at} + i] = r[i];" if width else f"out[{16 * at}] = r;"
        text += f"  {{ {kind} r; {statement} {store} }}\n"
    return text + "}\n"


def test_vectors_match_numpy(tmp_path: Path) -> None:
    file, data, out = tmp_path / "cases.cl", tmp_path / "data", tmp_path / "out"
    file.write_text(program(CASES))
    np.array([2.5], F).tofile(data)
    assert smi.run([str(file)], arguments=[f"data={data}", f"out={16 * len(CASES)}:{out}"]).code == 0
    found = np.fromfile(out).reshape(-1, 16)
    for got, (kind, statement, want) in zip(found, CASES, strict=True):
        expected = np.asarray(want, dtype=float)
        if kind.startswith("float"):
            # A result in double is rounded once; only degrees and radians may differ in the last place.
            expected = expected.astype(F).astype(float)
        same = np.allclose(got[: len(expected)], expected, rtol=2e-7 if "degrees" in statement else 0, atol=0)
        assert same, f"{statement} {got[: len(expected)]}, expected {expected}"


MATH: dict[str, Callable[[float], float]] = {
    **{name: getattr(math, name) for name in
       ("acosh", "asinh", "atan", "cbrt", "cos", "cosh", "erf", "erfc", "exp", "exp2", "expm1", "log", "log10", "log1p",
        "log2", "sin", "sinh", "sqrt", "tan", "tanh", "lgamma") if hasattr(math, name)},
    "tgamma": math.gamma, "rsqrt": lambda x: 1 / math.sqrt(x), "exp10": lambda x: 10.0**x,
    "sinpi": lambda x: math.sin(math.pi * x), "cospi": lambda x: math.cos(math.pi * x),
    "atanpi": lambda x: math.atan(x) / math.pi, "native_exp": math.exp, "half_sqrt": math.sqrt,
    "acos": lambda x: math.acos(x / 4), "asin": lambda x: math.asin(x / 4), "atanh": lambda x: math.atanh(x / 4),
}  # fmt: skip


def test_mathematical_functions_match_python(tmp_path: Path) -> None:
    """In float and double, for vectors of each width."""
    file, out = tmp_path / "math.cl", tmp_path / "out"
    text = "#include <smi.h>\n__kernel void all(__global float* restrict out, __global double* restrict more) {\n"
    scaled = ("acos", "asin", "atanh")
    for at, name in enumerate(MATH):
        by = " / 4" if name in scaled else ""
        for base, width in ((0, 2), (2, 3), (5, 4)):
            numbers = ", ".join(f"{1.0625 + 0.25 * (base + i)}" for i in range(width))
            text += f"  vstore{width}({name}((float{width})({numbers}){by}), 0, out + {16 * at + base});\n"
            if not name.startswith(("native", "half")):
                text += f"  vstore{width}({name}((double{width})({numbers}){by}), 0, more + {16 * at + base});\n"
    file.write_text(text + "}\n")
    size = 16 * len(MATH)
    words = [f"out={size}:{out}", f"more={size}:{tmp_path / 'more'}"]
    assert smi.run([str(file)], arguments=words).code == 0
    single, double = np.fromfile(out, F).reshape(-1, 16), np.fromfile(tmp_path / "more").reshape(-1, 16)
    points = [1.0625 + 0.25 * i for i in range(9)]
    for at, (name, function) in enumerate(MATH.items()):
        want = [function(x) for x in points]
        assert np.allclose(single[at, :9], want, rtol=1e-6, atol=2e-7), name
        if not name.startswith(("native", "half")):
            assert np.allclose(double[at, :9], want, rtol=1e-14, atol=4e-16), name


INTEGERS = {"char": 8, "uchar": -8, "short": 16, "ushort": -16, "int": 32, "uint": -32, "long": 64, "ulong": -64}


def literal(number: float) -> str:
    """A number in C; the least long has no literal of its own."""
    if isinstance(number, int) and number < -(2**62):
        return f"{number + 1} - 1"
    return f"{number!r}{'ul' * (isinstance(number, int) and number > 2**62)}"


def test_conversions_match_python(tmp_path: Path) -> None:
    """From each type to each integer type, with saturation and every rounding mode."""
    values: dict[str, list[float]] = {
        "float": [2.5, -2.5, 1e10, -1e10, 0.4999, -0.75, 127.5, 3e38],
        "double": [2.5, -3.5, 1e19, -1e19, 254.5, 0, 65535.5, 0.1],
    }
    for name, bits in INTEGERS.items():
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if bits > 0 else (0, 2**-bits - 1)
        values[name] = [least, most, 0, 1, max(least, -7), 100, most // 2, least // 2]
    rounds: dict[str, Callable[[float], int]] = {"": math.trunc, "_rte": round, "_rtn": math.floor, "_rtp": math.ceil}
    text = "#include <smi.h>\n"
    for name, numbers in values.items():
        written = ", ".join(map(literal, numbers))
        text += f"__constant {name} from_{name}[8] = {{{written}}};\n"
    text += "__kernel void all(__global long* restrict out) {\n  long at = 0;\n"
    want = []
    for to, bits in INTEGERS.items():
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if bits > 0 else (0, 2**-bits - 1)
        for name, numbers in values.items():
            for mode, rounded in rounds.items():
                text += f"  {{ const {to}8 r = convert_{to}8_sat{mode}(vload8(0, from_{name}));"
                text += " for (int i = 0; i < 8; i++) out[at++] = r[i]; }\n"
                exact = [float(F(one)) if name == "float" else one for one in numbers]
                want += [min(max(rounded(one), least), most) for one in exact]
    file, out = tmp_path / "all.cl", tmp_path / "out"
    file.write_text(text + "}\n")
    assert smi.run([str(file)], arguments=[f"out={len(want)}:{out}"]).code == 0
    found = np.fromfile(out, np.uint64).tolist()
    assert found == [one % 2**64 for one in want]


def test_directed_rounding_to_float_brackets_the_number(tmp_path: Path) -> None:
    numbers = [2**53 + 1, -(2**53) - 1, 2**24 + 1, 16777219, -(2**62) - 12345, 1, 0, 99999999999]
    text = "#include <smi.h>\n__kernel void all(__global const long* restrict in, __global float* restrict out) {\n"
    text += "  const long8 x = vload8(0, in);\n"
    for at, mode in enumerate(("_rte", "_rtz", "_rtp", "_rtn")):
        text += f"  vstore8(convert_float8{mode}(x), {at}, out);\n"
    (tmp_path / "all.cl").write_text(text + "}\n")
    np.array(numbers, np.int64).tofile(tmp_path / "in")
    words = [f"in={tmp_path / 'in'}", f"out=32:{tmp_path / 'out'}"]
    assert smi.run([str(tmp_path / "all.cl")], arguments=words).code == 0
    nearest, zero, up, down = np.fromfile(tmp_path / "out", F).reshape(4, 8)
    for at, x in enumerate(numbers):
        low, high = int(down[at]), int(up[at])
        assert low <= x <= high and np.nextafter(down[at], F(np.inf)) >= up[at]
        assert int(zero[at]) == (low if x >= 0 else high)
        assert abs(int(nearest[at]) - x) == min(x - low, high - x)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("float2 r = v;", "incompatible type"),
        ("int4 r = v;", "incompatible type"),
        ("v.xx = 1;", "not assignable"),
        ("float4 r = v * 0.5;", "greater rank"),
        ("float r = get_global_id(0);", "work-items are not supported"),
        ("float3 r = convert_float3(v);", "no matching function"),
    ],
)
def test_what_opencl_forbids_is_rejected_at_its_line(line: str, said: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.cl"
    bad.write_text(f"#include <smi.h>\n__kernel void k(int n) {{\n  float4 v = 0;\n  {line}\n}}\n")
    with pytest.raises(InputError, match=r"bad\.cl:4: ") as error:
        smi.run([str(bad)], arguments=["n=1"])
    assert said in str(error.value) and "__private" not in str(error.value)


def test_printf_prints_vectors(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "say.cl").write_text(
        "#include <smi.h>\n__kernel void say(const float4 v, const int3 n) {\n"
        '  printf("%v4hlf %v3d|%5.1f %% %s %ld\\n", v, n, 2.25f, "text", 5000000000l);\n}\n'
    )
    assert smi.run([str(tmp_path / "say.cl")], arguments=["v=1.5,2,-3,0x1p3", "n=7"]).code == 0
    assert capfd.readouterr().out == "1.500000,2.000000,-3.000000,8.000000 7,7,7|  2.2 % text 5000000000\n"
