// SPDX-License-Identifier: Apache-2.0
/// The engine of a multicast router in the timing model (rtl/multicast/gs_multicast_engine.sv).
//
// A message with a key is replaced by copies, one for each record of the key. Records are read beat by beat through a
// direct-mapped cache, a lookup a cycle; 16 beats of arriving messages, and 16 of indirections, are looked up before
// they are needed. Copies leave in the order of the records, a flit a cycle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "gossamer/model/engine.h"
#include "model/calendar.h"

namespace gossamer::model {

/// The records of a board.
struct Records {
  const gs_model_record* records = nullptr;
  const uint32_t* begins = nullptr;  // of each beat from `first`, its first record; one more for the end
  uint32_t first = 0;                // number of the first beat
};

class MulticastEngine {
 public:
  static constexpr double kLookup = 2;  // cycles from a lookup to the record

  /// A packet without a key, of which the last flit is at `t`. Returns when that flit leaves.
  double pass(double t, double flits) {
    free_ = std::max(free_, t - flits) + flits;
    return free_;
  }

  /// A message whose last flit is at `whole`, with `body` flits after its key's, which are `apart` cycles apart.
  /// `read(t)` returns when a beat that is requested from the memory at `t` arrives; `copy(record, t)` receives each
  /// copy, whose last flit leaves at `t`. `port` is the router's output, which all of its engines share.
  template <class Read, class Copy>
  void expand(uint32_t key, double whole, double body, double apart, const Records& tables, Calendar& port,
              gs_model_router_counters& counters, const Read& read, const Copy& copy) {
    ++counters.messages;
    double after = whole - body * apart;
    int stream = 0;
    uint32_t indirections = 0;
    while (key) {
      const uint32_t beat = key >> GS_MODEL_KEY_BEATS, count = key & ((1u << GS_MODEL_KEY_BEATS) - 1);
      key = 0;
      for (uint32_t i = 0; i < count; ++i) {
        Stream& its = streams_[stream];
        double& slot = its.slots[its.next++ % kSlots];
        const double asked = lookup_ = std::max({after, lookup_ + 1, slot});
        double ready = asked + kLookup;
        ++counters.lookups;
        Line& line = cache_[(beat + i) % kLines];
        if (line.beat == beat + i && line.at <= asked) {
          ++counters.hits;
        } else {
          ready = read(ready);
          line = {beat + i, ready};
        }
        slot = free_ = std::max(free_, ready);
        const uint32_t at = beat + i - tables.first;
        for (uint32_t r = tables.begins[at]; r < tables.begins[at + 1]; ++r) {
          const gs_model_record& record = tables.records[r];
          if (record.kind == GS_MODEL_RECORD_INDIRECT) {
            if (++indirections < kMostIndirections) key = record.key;
            after = free_;
            stream = 1;
            continue;
          }
          const double flits = body + (record.kind == GS_MODEL_RECORD_THREAD ? 0 : 1);
          free_ = port.take(std::max(free_, whole + kLookup - flits), flits, 1);
          ++counters.copies;
          copy(record, free_);
        }
      }
    }
  }

 private:
  static constexpr uint32_t kLines = 512, kSlots = 16;  // CacheW and SlotW of gs_board_network.sv
  static constexpr uint32_t kMostIndirections = 4096;
  struct Line {
    uint32_t beat = ~0u;
    double at = 0;  // when it was filled
  };
  struct Stream {
    std::array<double, kSlots> slots{};  // when the beat in each is read
    uint32_t next = 0;
  };
  std::vector<Line> cache_ = std::vector<Line>(kLines);
  Stream streams_[2];
  double lookup_ = -1, free_ = 0;
};

}  // namespace gossamer::model
