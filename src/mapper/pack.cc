// SPDX-License-Identifier: Apache-2.0
#include "gossamer/mapper/pack.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t kWindow = 4096;  // slots before the end that the search covers

}  // namespace

extern "C" uint32_t gs_pack_keys(uint64_t count, const uint64_t* first, const uint32_t* sender, const uint8_t* thread,
                                 const uint32_t* units, uint32_t* keys) {
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
  for (uint64_t list = first[0]; list < first[count]; ++list) all |= uint64_t{1} << thread[list];
  std::size_t low = 0;  // all slots before it are used
  std::size_t after = 0;
  for (uint64_t i = 0; i < count; ++i) {
    need.clear();
    for (uint64_t list = first[i]; list < first[i + 1]; ++list) {
      if (need.size() < units[list]) need.resize(units[list]);
      for (uint32_t unit = 0; unit < units[list]; ++unit) need[unit] |= uint64_t{1} << thread[list];
    }
    std::size_t at = after;
    if (i == 0 || sender[i] != sender[i - 1] || !fits(at)) {
      while (low < used.size() && used[low] == all) ++low;
      at = std::max(low, used.size() - std::min(used.size(), kWindow));
      while (!fits(at)) ++at;
    }
    after = at + need.size();
    if (used.size() < after) used.resize(after);
    for (std::size_t unit = 0; unit < need.size(); ++unit) used[at + unit] |= need[unit];
    keys[i] = static_cast<uint32_t>(at);
  }
  return static_cast<uint32_t>(used.size());
}
