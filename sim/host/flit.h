// SPDX-License-Identifier: Apache-2.0
/// A flit as models represent it: the layout `flit` of config/constants/fabric.toml in six 32-bit words, the payload in
/// the first four.
#pragma once

#include <gossamer/config.h>

#include <array>
#include <bit>
#include <cstdint>

namespace gossamer::sim {

constexpr unsigned kFlitWords = 6;

/// One flit.
struct Flit {
  std::array<uint32_t, kFlitWords> words{};

  unsigned kind() const { return field(config::Flit::kKindLsb, config::Flit::kKindBits); }
  bool last() const { return field(config::Flit::kLastLsb, config::Flit::kLastBits) != 0; }
  unsigned network() const { return field(config::Flit::kVnetLsb, config::Flit::kVnetBits); }
  uint32_t& dest() { return words[4]; }
  uint32_t dest() const { return words[4]; }
  bool is(config::FlitKind what) const { return static_cast<config::FlitKind>(kind()) == what; }
  /// Kind of the destination address.
  config::Endpoint endpoint() const {
    using Address = config::AddressKey;
    return static_cast<config::Endpoint>(dest() >> Address::kKindLsb & ((1U << Address::kKindBits) - 1));
  }
  /// Number of threads that receive the packet that begins with this flit.
  unsigned receivers() const {
    if (!is(config::FlitKind::Mask)) return 1;
    return static_cast<unsigned>(std::popcount(words[0]) + std::popcount(words[1]));
  }

 private:
  unsigned field(unsigned lsb, unsigned bits) const { return words[lsb / 32] >> lsb % 32 & ((1U << bits) - 1); }
};
static_assert(sizeof(Flit) == 4 * kFlitWords);
static_assert(config::Flit::kDestLsb == 128 && config::Flit::kBits <= 32 * kFlitWords);

}  // namespace gossamer::sim
