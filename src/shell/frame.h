// SPDX-License-Identifier: Apache-2.0
/// Frames of the Ethernet shell: 14 bytes of Ethernet header, 50 of shell header, payload. docs/hardware/shell.md has
/// the protocol, config/constants/shell the layouts.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gossamer/shell_constants.h"
#include "shell/blake2s.h"

namespace gossamer::shell {

/// An Ethernet address.
struct Mac {
  std::array<uint8_t, 6> bytes{};

  auto operator<=>(const Mac&) const = default;
  /// Its 48 bits as a number, first byte most significant.
  uint64_t number() const;
  static Mac of(uint64_t number);
  /// "02:00:00:00:00:01"; empty if the text is not an address.
  static std::optional<Mac> parse(const std::string& text);
  std::string text() const;
  bool group() const { return bytes[0] & 1; }
};

inline constexpr Mac kBroadcast{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

/// The EtherTypes of a site: those of Table I of SAF unless configured otherwise.
struct EtherTypes {
  std::array<uint16_t, 9> of = {0x80EF, 0x80AA, 0x80AB, 0x80DD, 0x80DB, 0x80CC, 0x80CB, 0x88B5, 0x88B6};

  /// The EtherType of a kind; 0 if the kind has none.
  uint16_t for_kind(ShellKind kind) const;
  bool contains(uint16_t type) const;

  /// The site's: nine numbers of four hexadecimal digits in the environment variable GOSSAMER_ETHERTYPES, separated by
  /// commas, in the order of the enumeration ethertype. Without it, the default. Throws std::invalid_argument if it has
  /// other text, a number below 0600, the type of IPv4, ARP, VLAN tags or IPv6, or one number twice: a host or board
  /// would take other traffic for its own.
  static EtherTypes site();
};

/// A frame, decoded. `payload` refers to the bytes that were decoded, or that will be encoded.
struct Frame {
  Mac to, from;
  ShellHeader header;
  std::span<const uint8_t> payload;
};

/// Why a frame was dropped.
enum class Drop { None, Short, Type, Version, Length, Check, Kind };

/// Whether a command of this kind changes a board, so that its tag and session are checked.
bool tagged(ShellKind kind);

/// Writes a frame to `out`: length, check and, with a key, tag are set. A frame has at least 64 bytes, so Ethernet adds
/// no padding; receivers accept it.
void encode(const Frame& frame, const EtherTypes& types, const Blake2s* keyed, std::vector<uint8_t>& out);

/// Reads a frame, with its checksum; the tag is not checked.
Drop decode(std::span<const uint8_t> bytes, const EtherTypes& types, Frame& frame);

/// Whether the tag of an encoded frame is that of a key. Takes the same time for any wrong tag.
bool tag_matches(std::span<const uint8_t> bytes, const Blake2s& keyed);

/// CRC-32 of IEEE 802.3, continued from `crc` (0 at the beginning).
uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc = 0);

/// The key of a session: BLAKE2s of both addresses, the board's challenge and the host's nonce, keyed with the
/// board's key.
Key session_key(const Key& board, const Mac& board_mac, const Mac& host_mac, uint64_t challenge, uint64_t nonce);

/// Big-endian numbers within payloads.
void put(std::vector<uint8_t>& to, uint64_t value, unsigned bytes);
uint64_t get(std::span<const uint8_t> from, size_t at, unsigned bytes);

/// A layout as bytes, first field first.
template <class Layout>
std::array<uint8_t, Layout::kBits / 8> bytes_of(const Layout& layout) {
  std::array<uint8_t, Layout::kBits / 8> to;
  const auto words = layout.pack();
  for (unsigned i = 0; i < to.size(); i++)
    to[i] = static_cast<uint8_t>(words.word[(to.size() - 1 - i) / 8] >> (8 * ((to.size() - 1 - i) % 8)));
  return to;
}

/// The layout of bytes; `from` has at least as many as it.
template <class Layout>
Layout layout_of(std::span<const uint8_t> from) {
  Words<Layout::kBits> words;
  constexpr unsigned kBytes = Layout::kBits / 8;
  for (unsigned i = 0; i < kBytes; i++)
    words.word[(kBytes - 1 - i) / 8] |= static_cast<uint64_t>(from[i]) << (8 * ((kBytes - 1 - i) % 8));
  return Layout::unpack(words);
}

}  // namespace gossamer::shell
