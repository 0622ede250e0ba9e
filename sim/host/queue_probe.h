// SPDX-License-Identifier: Apache-2.0
/// Finds the queues that hold messages in a deadlock, from registers that queues.vlt makes public. Nothing is read
/// before a run has deadlocked.
#pragma once

#include <cstdint>
#include <vector>

#include "probe.h"
#include "records.h"

namespace gossamer::sim {

class QueueProbe {
 public:
  /// Queues of the tiles in one context, from number `first` on.
  static void tiles(VerilatedContext& context, unsigned first, unsigned count, std::vector<OccupiedQueue>& all) {
    const auto sets = Probe::scopes(context, "push_queue_q");
    const auto sets_each = static_cast<unsigned>(sets.size()) / count;
    for (unsigned i = 0; i < sets.size(); ++i) {
      if (!value(*sets[i], "push_valid_q")) continue;
      const uint32_t thread = value(*sets[i], "push_queue_q") * sets_each + i % sets_each;
      all.push_back({first + i / sets_each, OccupiedQueue::Thread, thread, 1});
    }
    const auto mailboxes = Probe::scopes(context, "slots_unused");
    for (unsigned i = 0; i < mailboxes.size(); ++i) {
      if (!value(*mailboxes[i], "slots_unused")) all.push_back({first + i, OccupiedQueue::Slots, 0, 1});
    }
    inputs(context, "some_q", first, count, OccupiedQueue::Router, all);
  }

  /// Queues of a board outside of its tiles.
  static void board(VerilatedContext& context, unsigned number, unsigned links, std::vector<OccupiedQueue>& all) {
    inputs(context, "head_valid_q", number, 1, OccupiedQueue::Switch, all);
    // In the order of names, each link's receive store precedes its send store.
    const auto stores = Probe::scopes(context, "front_q");
    for (unsigned i = 0; i < stores.size() && i < 2 * links; ++i) {
      const uint32_t channels = value(*stores[i], "front_q");
      if (channels) all.push_back({number, i % 2 ? OccupiedQueue::Sender : OccupiedQueue::Receiver, i / 2, channels});
    }
  }

 private:
  static void inputs(VerilatedContext& context, const char* name, unsigned first, unsigned count,
                     OccupiedQueue::What what, std::vector<OccupiedQueue>& all) {
    const auto found = Probe::scopes(context, name);
    const auto each = static_cast<unsigned>(found.size()) / count;
    for (unsigned i = 0; i < found.size(); ++i) {
      const uint32_t channels = value(*found[i], name);
      if (channels) all.push_back({first + i / each, what, i % each, channels});
    }
  }

  /// A register of up to 32 bits.
  static uint32_t value(const VerilatedVarNameMap& vars, const char* name) {
    const auto found = vars.find(name);
    if (found == vars.end()) fatal("the registers of queues are not as expected");
    const void* data = found->second.datap();
    switch (found->second.entSize()) {
      case 1: return *static_cast<const uint8_t*>(data);
      case 2: return *static_cast<const uint16_t*>(data);
      case 4: return *static_cast<const uint32_t*>(data);
      default: fatal("a register of a queue is too wide");
    }
  }
};

}  // namespace gossamer::sim
