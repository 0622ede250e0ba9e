// SPDX-License-Identifier: Apache-2.0
#include "gossamer/mapper/pack.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t kWindow = 4096;  // slots before the end that the search covers
constexpr std::size_t kLarge = 65536;  // slots of a table above which a second arrangement is tried

/// The lists of all messages: the arguments of gs_pack_keys.
struct Messages {
  uint64_t count;
  const uint64_t* first;
  const uint32_t* sender;
  const uint8_t* thread;
  const uint32_t* units;

  uint64_t bit(uint64_t list) const { return uint64_t{1} << thread[list]; }
};

/// Places one message after the other, in the gaps near the end of the tables.
std::size_t inOrder(const Messages& its, uint32_t* keys) {
  std::vector<uint64_t> used;  // by slot: the threads whose table has an entry there
  std::vector<uint64_t> need;  // the same for the message, by slot after its first
  const auto fits = [&](std::size_t at) {
    const std::size_t end = std::min(need.size(), used.size() - std::min(used.size(), at));
    for (std::size_t i = 0; i < end; ++i) {
      if (used[at + i] & need[i]) return false;
    }
    return true;
  };
  uint64_t all = 0;  // threads that receive anything
  for (uint64_t list = its.first[0]; list < its.first[its.count]; ++list) all |= its.bit(list);
  std::size_t low = 0;  // all slots before it are used
  std::size_t after = 0;
  for (uint64_t i = 0; i < its.count; ++i) {
    need.clear();
    for (uint64_t list = its.first[i]; list < its.first[i + 1]; ++list) {
      if (need.size() < its.units[list]) need.resize(its.units[list]);
      for (uint32_t unit = 0; unit < its.units[list]; ++unit) need[unit] |= its.bit(list);
    }
    std::size_t at = after;
    if (i == 0 || its.sender[i] != its.sender[i - 1] || !fits(at)) {
      while (low < used.size() && used[low] == all) ++low;
      at = std::max(low, used.size() - std::min(used.size(), kWindow));
      while (!fits(at)) ++at;
    }
    after = at + need.size();
    if (used.size() < after) used.resize(after);
    for (std::size_t unit = 0; unit < need.size(); ++unit) used[at + unit] |= need[unit];
    keys[i] = static_cast<uint32_t>(at);
  }
  return used.size();
}

/// Places all messages of a sender in the lowest gap that the tables of all their receivers have. With neighbours
/// alone as receivers, senders that have none in common use the same slots; in order of the senders, each would be
/// placed after the one before it.
std::size_t bySender(const Messages& its, uint32_t* keys) {
  std::vector<uint64_t> used;
  for (uint64_t i = 0; i < its.count;) {
    uint64_t end = i, receivers = 0;
    std::size_t size = 0;
    for (; end < its.count && its.sender[end] == its.sender[i]; ++end) {
      uint32_t longest = 0;
      for (uint64_t list = its.first[end]; list < its.first[end + 1]; ++list) {
        longest = std::max(longest, its.units[list]);
        receivers |= its.bit(list);
      }
      keys[end] = static_cast<uint32_t>(size);
      size += longest;
    }
    std::size_t at = 0;
    for (std::size_t slot = 0; slot < used.size() && slot - at < size; ++slot) {
      if (used[slot] & receivers) at = slot + 1;
    }
    if (used.size() < at + size) used.resize(at + size);
    for (std::size_t slot = at; slot < at + size; ++slot) used[slot] |= receivers;
    for (; i < end; ++i) keys[i] += static_cast<uint32_t>(at);
  }
  return used.size();
}

}  // namespace

extern "C" uint32_t gs_pack_keys(uint64_t count, const uint64_t* first, const uint32_t* sender, const uint8_t* thread,
                                 const uint32_t* units, uint32_t* keys) {
  const Messages its{count, first, sender, thread, units};
  std::size_t size = inOrder(its, keys);
  if (size > kLarge) {
    std::vector<uint32_t> other(count);
    if (const std::size_t found = bySender(its, other.data()); found < size) {
      std::copy(other.begin(), other.end(), keys);
      size = found;
    }
  }
  return static_cast<uint32_t>(size);
}
