# SPDX-License-Identifier: Apache-2.0
"""Ports opened in C++ templates: those of each instantiation, or an error at the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.errors import InputError
from gossamer.smi import ports

HEADERS = ("gossamer/smi/smi.hpp", "functional", "memory", "optional", "vector")
BEGIN = "".join(f"#include <{header}>\n" for header in HEADERS)

TEMPLATES = """
template <class T, int Port>
void run(int n) {
  smi::sender<T> out(n, 1, Port);
  SMI_Channel in = SMI_Open_recv_channel(n, smi::datatype<T>(), 0, Port + 1, SMI_COMM_WORLD);
  (void)in;
}
template <class T>
struct Halo {
  smi::sender<T> out;
  explicit Halo(int n) : out(n, 1, 10) {}
  void more() { smi::receiver<T> in(3, 1, 11); }
  void never() { smi::receiver<T> in(3, 1, 99); }
  template <class U> void inner() { SMI_Open_send_channel_ad(1, SMI_CHAR, 1, sizeof(U) + 20, SMI_COMM_WORLD, Depth); }
  enum { Depth = sizeof(T) };
};
template <int P> struct Opener {
  void operator()(int) const { SMI_Open_send_channel(1, SMI_SHORT, 1, P, SMI_COMM_WORLD); }
};
template <class F> void call(F f) { f(3); }
template <int P> void pointed(int n) { smi::receiver<long> in(n, 0, P); }
template <int P> void explicitly() { SMI_Barrier(P, SMI_COMM_WORLD); }
template <class T> void passed(smi::sender<T>& to) { to.push(T()); }
void constant(int n) { smi::sender<int> first(n, 1, 40); smi::sender<int> copy = first; copy.push(1); }
"""
USES = """
int main() {
  run<float, 3>(4);
  run<int, 5>(4);
  Halo<double> halo(3);
  halo.more();
  halo.inner<long>();
  smi::start("k", Opener<30>(), 1);
  std::function<void(int)> later = Opener<31>();
  call([](auto x) { smi::sender<decltype(x)> s(1, 1, 32); s.push(x); });
  smi::start("pointed", pointed<33>, 5);
  explicitly<34>();
  constant(1);
  return 0;
}
"""


def ports_of(text: str, folder: Path) -> list[tuple[int, str, str | None, int | None]]:
    (folder / "one.cpp").write_text(BEGIN + text)
    (program,) = ports.read([str(folder / "one.cpp")])
    return [(one.port, one.operation, one.type, one.degree) for one in program.ports]


def test_each_instantiation_opens_its_ports(tmp_path: Path) -> None:
    assert ports_of(TEMPLATES.replace("  void never() { smi::receiver<T> in(3, 1, 99); }\n", "") + USES, tmp_path) == [
        (3, "send", "float", None), (4, "receive", "float", None), (5, "send", "int", None),
        (6, "receive", "int", None), (10, "send", "double", None), (11, "receive", "double", None),
        (28, "send", "char", 8), (30, "send", "short", None), (31, "send", "short", None), (32, "send", "int", None),
        (33, "receive", "long", None), (34, "barrier", None, None), (40, "send", "int", None),
    ]  # fmt: skip


ERRORS = {
    "unused member": (
        TEMPLATES + USES,
        r"one\.cpp:18: opens a port in a template that no visible code",
    ),
    "unused template": (
        "template <int P> void run(int n) {\n  SMI_Open_send_channel(n, SMI_INT, 1, P, SMI_COMM_WORLD);\n}\n"
        "int main() { return 0; }\n",
        r"one\.cpp:7: the port is not constant",
    ),
    "channel made by a library": (
        "int main() {\n  auto p = std::make_unique<smi::sender<short>>(4, 1, 11);\n}\n",
        r"one\.cpp:7: the port is not constant",
    ),
    "in an optional": (
        "int main() {\n  std::optional<smi::receiver<char>> o;\n  o.emplace(4, 1, 12);\n}\n",
        r"one\.cpp:8: the port is not constant",
    ),
    "in a list": (
        "int main() {\n  std::vector<smi::sender<int>> v;\n  v.emplace_back(4, 1, 13);\n}\n",
        r"one\.cpp:8: the port is not constant",
    ),
    "by a user's template": (
        "template <class T, class... A> T made(A... a) { return T(a...); }\n"
        "int main() { made<smi::sender<int>>(1, 1, 3); }\n",
        r"one\.cpp:6: the port is not constant",
    ),
    "by a pointer": (
        "int main() {\n  auto open = SMI_Open_send_channel;\n  open(1, SMI_INT, 1, 2, SMI_COMM_WORLD);\n}\n",
        r"one\.cpp:7: SMI_Open_send_channel is not called here",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_ports_that_are_not_constant_are_rejected(case: str, tmp_path: Path) -> None:
    text, message = ERRORS[case]
    with pytest.raises(InputError, match=message):
        ports_of(text, tmp_path)


def test_copies_in_a_container_open_no_port(tmp_path: Path) -> None:
    """Only the constructor with a port opens a channel."""
    text = "int main() {\n  std::vector<smi::sender<int>> v;\n  v.push_back(smi::sender<int>(4, 1, 13));\n}\n"
    assert ports_of(text, tmp_path) == [(13, "send", "int", None)]
