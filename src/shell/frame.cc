// SPDX-License-Identifier: Apache-2.0
#include "shell/frame.h"

#if defined(__PCLMUL__) && defined(__SSE4_1__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace gossamer::shell {
namespace {

constexpr size_t kHead = shell_frame_header_bytes;
constexpr size_t kEthernet = 14;
constexpr size_t kCheckAt = 52, kTagAt = 56;

/// Eight tables, so that eight bytes take one step.
constexpr auto kCrc = [] {
  std::array<std::array<uint32_t, 256>, 8> table{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t value = i;
    for (unsigned bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xEDB88320U : 0);
    table[0][i] = value;
  }
  for (uint32_t i = 0; i < 256; i++)
    for (unsigned k = 1; k < 8; k++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
  return table;
}();

#if defined(__PCLMUL__) && defined(__SSE4_1__)
/// CRC of a multiple of 16 bytes, at least 64: the message is folded by carry-less multiplications, 64 bytes a step
/// (V. Gopal et al., "Fast CRC computation for generic polynomials using PCLMULQDQ", Intel 2009, bit-reflected).
uint32_t fold_crc(const uint8_t* at, size_t bytes, uint32_t crc) {
  const auto load = [](const uint8_t* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  const auto fold = [](__m128i value, __m128i by, __m128i with) {
    const __m128i low = _mm_clmulepi64_si128(value, by, 0x00), high = _mm_clmulepi64_si128(value, by, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), with);
  };
  // Powers of x modulo the polynomial, for shifts by 512 and 128 bits and the reduction to 64 and 32 bits.
  const __m128i by512 = _mm_set_epi64x(0x1C6E41596, 0x154442BD4), by128 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
  const __m128i by64 = _mm_set_epi64x(0, 0x163CD6124), barrett = _mm_set_epi64x(0x1F7011641, 0x1DB710641);
  const __m128i low32 = _mm_setr_epi32(~0, 0, ~0, 0);
  __m128i x[4] = {_mm_xor_si128(load(at), _mm_cvtsi32_si128(static_cast<int>(crc))), load(at + 16), load(at + 32),
                  load(at + 48)};
  for (at += 64, bytes -= 64; bytes >= 64; at += 64, bytes -= 64)
    for (unsigned i = 0; i < 4; i++) x[i] = fold(x[i], by512, load(at + 16 * i));
  __m128i sum = x[0];
  for (unsigned i = 1; i < 4; i++) sum = fold(sum, by128, x[i]);
  for (; bytes; at += 16, bytes -= 16) sum = fold(sum, by128, load(at));
  sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by128, 0x10));
  sum = _mm_xor_si128(_mm_srli_si128(sum, 4), _mm_clmulepi64_si128(_mm_and_si128(sum, low32), by64, 0x00));
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, low32), barrett, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low32), barrett, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1));
}
#endif

/// The bytes that the tag covers: the first 64 with check and tag as 0. The check covers the tag.
std::array<uint8_t, kHead> covered(std::span<const uint8_t> bytes, size_t zeros_to) {
  std::array<uint8_t, kHead> head;
  std::copy_n(bytes.begin(), kHead, head.begin());
  std::fill(head.begin() + kCheckAt, head.begin() + static_cast<ptrdiff_t>(zeros_to), uint8_t{0});
  return head;
}

uint64_t tag_of(std::span<const uint8_t> bytes, size_t length, const Blake2s& keyed) {
  Blake2s state = keyed;
  state.update(covered(bytes, kHead));
  state.update(bytes.subspan(kHead, length));
  return get(state.finish(), 0, 8);
}

}  // namespace

uint64_t Mac::number() const { return get(bytes, 0, 6); }

Mac Mac::of(uint64_t number) {
  Mac mac;
  for (unsigned i = 0; i < 6; i++) mac.bytes[i] = static_cast<uint8_t>(number >> (40 - 8 * i));
  return mac;
}

std::optional<Mac> Mac::parse(const std::string& text) {
  Mac mac;
  int end = 0;
  const int found = std::sscanf(text.c_str(), "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac.bytes[0], &mac.bytes[1],
                                &mac.bytes[2], &mac.bytes[3], &mac.bytes[4], &mac.bytes[5], &end);
  if (found != 6 || static_cast<size_t>(end) != text.size() || text.size() != 17) return std::nullopt;
  return mac;
}

std::string Mac::text() const {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2], bytes[3], bytes[4],
                bytes[5]);
  return text;
}

uint16_t EtherTypes::for_kind(ShellKind kind) const {
  const auto number = static_cast<unsigned>(kind);
  switch (number >> 3) {
    case 0x0:
    case 0x1: return of[0];
    case 0x2: return of[1];
    case 0x3: return of[2];
    case 0x4: return of[3];
    case 0x5: return of[4];
    case 0x6: return of[5];
    case 0x7: return of[6];
    case 0x8: return of[7];
    case 0x9: return of[8];
    default: return 0;
  }
}

EtherTypes EtherTypes::site() {
  EtherTypes types;
  const char* value = std::getenv("GOSSAMER_ETHERTYPES");
  if (!value) return types;
  const std::string text = value;
  const auto fail = [&](const std::string& why) {
    throw std::invalid_argument("GOSSAMER_ETHERTYPES=" + text + ": " + why);
  };
  size_t count = 0;
  for (size_t at = 0; at <= text.size(); count++) {
    const size_t end = std::min(text.find(',', at), text.size());
    const std::string digits = text.substr(at, end - at);
    if (count == types.of.size() || digits.size() != 4 ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      fail("must be nine numbers of four hexadecimal digits, separated by commas");
    types.of[count] = static_cast<uint16_t>(std::stoul(digits, nullptr, 16));
    constexpr std::array<uint16_t, 4> others{0x0800, 0x0806, 0x8100, 0x86DD};
    if (types.of[count] < 0x0600) fail(digits + " is a length, not an EtherType; those begin at 0600");
    if (std::ranges::find(others, types.of[count]) != others.end()) fail(digits + " is used by other protocols");
    if (std::find(types.of.begin(), types.of.begin() + count, types.of[count]) != types.of.begin() + count)
      fail(digits + " is there twice");
    at = end + 1;
  }
  if (count != types.of.size()) fail("must be nine numbers of four hexadecimal digits, separated by commas");
  return types;
}

bool EtherTypes::contains(uint16_t type) const { return std::ranges::find(of, type) != of.end(); }

bool tagged(ShellKind kind) {
  switch (kind) {
    case ShellKind::Announce:
    case ShellKind::Solicit:
    case ShellKind::AskStatus:
    case ShellKind::Status:
    case ShellKind::Error:
    case ShellKind::Data:
    case ShellKind::Repair:
    case ShellKind::Query:
    case ShellKind::Fire:
    case ShellKind::LinkFrame: return false;
    default: return true;
  }
}

uint32_t crc32(std::span<const uint8_t> bytes, uint32_t crc) {
  crc = ~crc;
  size_t at = 0;
#if defined(__PCLMUL__) && defined(__SSE4_1__)
  if (bytes.size() >= 64) {
    at = bytes.size() / 16 * 16;
    crc = fold_crc(bytes.data(), at, crc);
  }
#endif
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    for (unsigned i = 8; i--;) word = word << 8 | bytes[at + i];
    word ^= crc;
    crc = 0;
    for (unsigned i = 0; i < 8; i++) crc ^= kCrc[7 - i][word >> (8 * i) & 255];
  }
  for (; at < bytes.size(); at++) crc = crc >> 8 ^ kCrc[0][(crc ^ bytes[at]) & 255];
  return ~crc;
}

void put(std::vector<uint8_t>& to, uint64_t value, unsigned bytes) {
  for (unsigned i = bytes; i--;) to.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

uint64_t get(std::span<const uint8_t> from, size_t at, unsigned bytes) {
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++) value = value << 8 | from[at + i];
  return value;
}

void encode(const Frame& frame, const EtherTypes& types, const Blake2s* keyed, std::vector<uint8_t>& out) {
  out.clear();
  out.insert(out.end(), frame.to.bytes.begin(), frame.to.bytes.end());
  out.insert(out.end(), frame.from.bytes.begin(), frame.from.bytes.end());
  put(out, types.for_kind(frame.header.kind), 2);
  ShellHeader header = frame.header;
  header.version = shell_version;
  header.length = static_cast<uint16_t>(frame.payload.size());
  header.check = 0;
  header.tag = 0;
  const auto bytes = bytes_of(header);
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.insert(out.end(), frame.payload.begin(), frame.payload.end());
  const uint64_t tag = keyed ? tag_of(out, frame.payload.size(), *keyed) : 0;
  for (unsigned i = 0; i < 8; i++) out[kTagAt + i] = static_cast<uint8_t>(tag >> (56 - 8 * i));
  const uint32_t check = crc32(out);
  for (unsigned i = 0; i < 4; i++) out[kCheckAt + i] = static_cast<uint8_t>(check >> (24 - 8 * i));
}

Drop decode(std::span<const uint8_t> bytes, const EtherTypes& types, Frame& frame) {
  if (bytes.size() < kEthernet || !types.contains(static_cast<uint16_t>(get(bytes, 12, 2)))) return Drop::Type;
  if (bytes.size() < kHead) return Drop::Short;
  std::copy_n(bytes.begin(), 6, frame.to.bytes.begin());
  std::copy_n(bytes.begin() + 6, 6, frame.from.bytes.begin());
  frame.header = layout_of<ShellHeader>(bytes.subspan(kEthernet));
  if (frame.header.version != shell_version) return Drop::Version;
  if (frame.header.length > bytes.size() - kHead) return Drop::Length;
  frame.payload = bytes.subspan(kHead, frame.header.length);
  if (crc32(frame.payload, crc32(covered(bytes, kTagAt))) != frame.header.check) return Drop::Check;
  if (types.for_kind(frame.header.kind) != get(bytes, 12, 2) || !name_of(frame.header.kind)) return Drop::Kind;
  return Drop::None;
}

bool tag_matches(std::span<const uint8_t> bytes, const Blake2s& keyed) {
  const size_t length = get(bytes, 18, 2);
  return tag_of(bytes, length, keyed) == get(bytes, kTagAt, 8);
}

Key session_key(const Key& board, const Mac& board_mac, const Mac& host_mac, uint64_t challenge, uint64_t nonce) {
  std::vector<uint8_t> bytes;
  put(bytes, board_mac.number(), 6);
  put(bytes, host_mac.number(), 6);
  put(bytes, challenge, 8);
  put(bytes, nonce, 8);
  return blake2s(board, bytes);
}

}  // namespace gossamer::shell
