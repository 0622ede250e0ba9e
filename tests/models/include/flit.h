// SPDX-License-Identifier: Apache-2.0
/// A flit as the harnesses of routers and boards see it, and the containers made of it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

namespace flit_test {

using Wide = unsigned __int128;
using Payload = std::array<uint32_t, 4>;
using Beat = std::array<uint32_t, 8>;

struct Flit {
  unsigned kind = 0, vnet = 0;
  unsigned tags = 0;  ///< job, epoch and wave, at the positions that the harness's top defines
  bool last = false;
  uint32_t dest = 0;
  Payload payload{};

  auto operator<=>(const Flit&) const = default;

  /// The payload as one number.
  Wide wide() const {
    Wide all = 0;
    for (unsigned w = 4; w--;) all = all << 32 | payload[w];
    return all;
  }
  /// `count` bits of the payload, 1 to 64, from bit `from` on.
  uint64_t bits(unsigned from, unsigned count) const {
    return static_cast<uint64_t>(wide() >> from) & (count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1);
  }
};
using Packet = std::vector<Flit>;

}  // namespace flit_test
