// SPDX-License-Identifier: Apache-2.0
#include "gossamer/mapper/pack.h"

#include <cstddef>
#include <vector>

namespace {

constexpr std::size_t kMostOpen = 4096;  // keys with room that are looked at

}  // namespace

extern "C" uint32_t gs_pack_keys(const uint64_t* masks, uint64_t count, uint32_t* keys) {
  struct Open {
    uint32_t key;
    uint64_t used;
  };
  std::vector<Open> open;  // ascending by key
  uint64_t all = 0;        // threads that receive anything
  for (uint64_t i = 0; i < count; ++i) all |= masks[i];
  uint32_t next = 0;
  for (uint64_t i = 0; i < count; ++i) {
    std::size_t at = 0;
    while (at < open.size() && (open[at].used & masks[i])) ++at;
    if (at == open.size()) {
      // The lowest key is the one that is filled best: it makes room.
      if (open.size() == kMostOpen) {
        open.erase(open.begin());
        --at;
      }
      open.push_back({next++, 0});
    }
    open[at].used |= masks[i];
    keys[i] = open[at].key;
    if (open[at].used == all) open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return next;
}
